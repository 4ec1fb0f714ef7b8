//! A graph with attributes and names: what loading yields.

use serde::{Deserialize, Serialize};

use crate::columns::{Finding, Mismatches, Schema};
use crate::graph::{Attributes, Cleaned, Graph, Names, NodeId, PLAIN, Relation, RoleGraph, Roles, Texts, UNKNOWN_TIME};
use crate::hint::Hint;
use crate::text::{all_quoted, quoted};

/// A graph, a row of attributes for each node, and the nodes' names.
#[derive(Clone, Debug, PartialEq)]
pub struct Dataset {
    /// Where it came from, for reports: a file's or folder's name without its ending.
    pub name: String,
    /// The links, whatever they mean and without their directions.
    pub graph: Graph,
    /// The same with relations and directions, where they have any.
    pub relations: Option<RoleGraph>,
    /// The attributes, a row for each node of `graph`.
    pub attributes: Attributes,
    /// The names, one for each node of `graph`.
    pub names: Names,
    /// What is shown beside the names, in their order: texts of the column that the schema says.
    pub titles: Option<Texts>,
    /// How table columns became attributes, so that new rows become the same ones; `None` for formats without columns.
    pub schema: Option<Schema>,
    /// What loading noticed and ignored.
    pub notes: Notes,
}

/// What loading noticed and ignored; front ends report each in one line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notes {
    /// Self-loops, duplicates and reciprocal links.
    pub cleaned: Cleaned,
    /// The input gave links a direction, which is dropped.
    pub directed: bool,
    /// Links dropped because an end has no row (only when asked for).
    pub unknown_ends: usize,
    /// Rows of the node table that were there twice.
    #[serde(default)]
    pub repeated_rows: usize,
    /// Ends of links that are written in another way than the node they name.
    #[serde(default)]
    pub other_forms: Option<OtherForms>,
    /// Columns of the node table that became no attribute: texts that nearly every row has to itself, or nothing at all.
    pub ignored_columns: Vec<String>,
    /// Columns of the edge table that say nothing of links here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unused_link_columns: Vec<String>,
    /// What cells of the node table say that could not be used, a line each.
    #[serde(default)]
    pub cells: Vec<String>,
    /// What was found out about the columns of the node table.
    #[serde(default)]
    pub columns: Vec<Finding>,
}

impl Notes {
    /// Columns that became no attribute, a line for each reason.
    fn left_out(&self) -> Vec<String> {
        let reason = |name: &str| {
            let found = self.columns.iter().find(|finding| finding.column == name);
            found.map_or("empty, or almost every row has its own text", |finding| finding.reason.as_str())
        };
        let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
        for name in self.ignored_columns.iter().map(String::as_str) {
            match reasons.iter_mut().find(|(known, _)| *known == reason(name)) {
                Some((_, names)) => names.push(name),
                None => reasons.push((reason(name), vec![name])),
            }
        }
        let line = |(reason, names): (&str, Vec<&str>)| {
            let s = if names.len() == 1 { "" } else { "s" };
            format!("left out column{s} {}: {reason}", all_quoted(&names))
        };
        reasons.into_iter().map(line).collect()
    }

    /// What may be wrong with columns, a line each.
    fn doubts(&self) -> impl Iterator<Item = String> + '_ {
        let line =
            |finding: &Finding| finding.doubt.as_ref().map(|doubt| format!("column `{}`: {doubt}", finding.column));
        self.columns.iter().filter_map(line)
    }
}

/// Ends of links that are written in another way than the nodes they name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OtherForms {
    /// How many.
    pub ends: usize,
    /// One of them.
    pub written: String,
    /// The name of its node.
    pub name: String,
}

/// Nodes that are not in the graph: what predictions are asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct NewNodes {
    /// Their names.
    pub names: Names,
    /// What is shown beside the names, where the rows have it.
    pub titles: Option<Texts>,
    /// Their attributes, in the columns of the graph's.
    pub attributes: Attributes,
    /// What was not expected in their rows.
    pub mismatches: Mismatches,
}

impl NewNodes {
    /// What the user should know about them, a line each.
    pub fn notes(&self) -> Vec<String> {
        self.mismatches.notes()
    }
}

/// One end of a pair that a score is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// A node of the graph that was trained on.
    Known(NodeId),
    /// A row of the new nodes.
    New(NodeId),
}

/// A pair whose score is asked for, by names.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PairQuery {
    /// The name of a new node, or else of a known one.
    pub source: String,
    /// The name of a known node, or else of a new one.
    pub target: String,
    /// Whether the target is a known node; without it, known nodes come first.
    #[serde(default)]
    pub known: Option<bool>,
    /// The relation; the first one unless given.
    #[serde(default)]
    pub relation: Option<String>,
}

/// A link of a new node, by names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct GivenLink {
    /// The name of one end; the one that the link runs from, where links have a direction.
    pub source: String,
    /// The name of the other.
    pub target: String,
    /// The relation, which must be said where links mean several things.
    #[serde(default)]
    pub relation: Option<String>,
}

/// What can be wrong with a link of a new node.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LinkProblem {
    /// A name of nobody.
    #[error("there is neither a new node nor a known one `{}`", quoted(.name))]
    UnknownNode {
        /// The name.
        name: String,
    },
    /// An end of a held-out link that is nobody.
    #[error("there is neither a new node nor a known one `{}`", quoted(.name))]
    NoSuchNode {
        /// The name.
        name: String,
    },
    /// A link that the model would have to be trained on.
    #[error("`{}` and `{}` are both known nodes", quoted(.source_name), quoted(.target))]
    BothKnown {
        /// One end.
        source_name: String,
        /// The other.
        target: String,
    },
    /// A link that says nothing about known nodes.
    #[error("`{}` and `{}` are both new nodes", quoted(.source_name), quoted(.target))]
    BothNew {
        /// One end.
        source_name: String,
        /// The other.
        target: String,
    },
    /// No such relation.
    #[error("there is no relation `{}`", quoted(.name))]
    UnknownRelation {
        /// As it was given.
        name: String,
        /// Those there are.
        known: Vec<String>,
    },
    /// Several relations, of which none is named.
    #[error("the link has no relation")]
    NoRelation {
        /// Those there are.
        known: Vec<String>,
    },
}

impl LinkProblem {
    /// What to do about it.
    pub fn hint(&self) -> Option<Hint> {
        Some(match self {
            LinkProblem::UnknownNode { .. } => Hint::new("one end is a new node, the other a node of the model"),
            LinkProblem::NoSuchNode { .. } => {
                Hint::new("name nodes of the model | give the row of the new node as well")
            }
            LinkProblem::BothKnown { .. } => {
                Hint::new("leave it out: the model learns links of known nodes when it is trained")
            }
            LinkProblem::BothNew { .. } => Hint::new("leave it out: only links with known nodes say something"),
            LinkProblem::UnknownRelation { known, .. } if known.is_empty() => {
                Hint::new("this model has one relation without a name; leave `relation` out")
            }
            LinkProblem::UnknownRelation { known, .. } | LinkProblem::NoRelation { known } => {
                Hint::text(format!("relations are `{}`", known.join("`, `")))
            }
        })
    }
}

/// A share of all attributes' squared size from which on one attribute leaves the others no say.
const DOMINATING: f64 = 0.9;

impl Dataset {
    /// What is trained on: the links between role nodes, and the roles.
    pub fn links(&self) -> (&Graph, &Roles) {
        match &self.relations {
            Some(relations) => (&relations.graph, &relations.roles),
            None => (&self.graph, &PLAIN),
        }
    }

    /// What the user should know about it, a line each.
    pub fn notes_in_words(&self) -> Vec<String> {
        let notes = &self.notes;
        let mut lines = Vec::new();
        let mut ignored = |number: usize, what: &str, which: &str| {
            if number > 0 {
                let s = if number == 1 { "" } else { "s" };
                lines.push(format!("ignored {number} {what}{s}{which}"));
            }
        };
        ignored(notes.cleaned.self_loops, "self-loop", "");
        let added_up = self.links().0.weights().is_some();
        if !added_up {
            ignored(notes.cleaned.duplicates, "repeated link", "");
        }
        ignored(notes.unknown_ends, "link", " of nodes without a row");
        ignored(notes.repeated_rows, "repeated row", " of nodes");
        if let Some(OtherForms { ends, written, name }) = &notes.other_forms {
            let (written, name) = (quoted(written), quoted(name));
            lines.push(format!(
                "{ends} ends of links are written in another way than their nodes, as `{written}` for `{name}`"
            ));
        }
        if notes.directed {
            lines.push("ignored the direction of links".to_owned());
        }
        lines.extend(self.relations.as_ref().map(|relations| in_words(relations.roles.relations())));
        lines.extend(weights_in_words(self.links().0, notes.cleaned.duplicates));
        lines.extend(times_in_words(self.links().0));
        if !notes.unused_link_columns.is_empty() {
            let one = notes.unused_link_columns.len() == 1;
            let (s, are, they_are) = if one { ("", "is", "it is") } else { ("s", "are", "they are") };
            let columns = all_quoted(&notes.unused_link_columns);
            lines.push(format!(
                "column{s} {columns} of the links {are} not used: nothing says that {they_are} a weight, a time or a relation"
            ));
        }
        lines.extend(notes.left_out());
        lines.extend(notes.cells.iter().cloned());
        lines.extend(notes.doubts());
        lines.extend(self.dominating_attribute());
        lines
    }

    /// Numbers far larger than all others, as years beside words, leave those no say.
    fn dominating_attribute(&self) -> Option<String> {
        let attributes = &self.attributes;
        if !attributes.blocks().is_empty() {
            return None;
        }
        let mut squares = vec![0.0_f64; attributes.width()];
        for (&column, &value) in attributes.columns().iter().zip(attributes.values()) {
            squares[column as usize] += f64::from(value).powi(2);
        }
        let total: f64 = squares.iter().sum();
        let (column, largest) = squares.iter().copied().enumerate().max_by(|a, b| a.1.total_cmp(&b.1))?;
        let share = largest / total;
        if attributes.width() < 2 || share.is_nan() || share < DOMINATING {
            return None;
        }
        let name = attributes.names().0.get(column).map_or_else(|| column.to_string(), |name| format!("`{name}`"));
        let why = format!("attribute {name} makes up {:.1} % of the squared length of all rows", 100.0 * share);
        Some(format!("{why} and drowns out the others; scale it to about 0 to 1, or remove it"))
    }
}

/// What weights links have, in one line.
fn weights_in_words(graph: &Graph, repeated: usize) -> Option<String> {
    let weights = graph.weights()?;
    let [least, most] = ends(weights.iter().map(|&weight| f64::from(weight)));
    let added = match repeated {
        0 => String::new(),
        1 => ", those of 1 repeated link added up".to_owned(),
        _ => format!(", those of {repeated} repeated links added up"),
    };
    Some(format!("links have weights from {least} to {most}{added}: strong links count more"))
}

/// From when to when links appeared, in one line.
fn times_in_words(graph: &Graph) -> Option<String> {
    let known = || graph.times().unwrap_or_default().iter().copied().filter(|&time| time != UNKNOWN_TIME);
    known().next()?;
    let [first, last] = ends(known());
    let unknown = graph.links() - known().count() / 2;
    let without = if unknown == 0 { String::new() } else { format!(", {unknown} of {} without one", graph.links()) };
    Some(format!("links have times from {first} to {last}{without}: the protocol `temporal` splits by them"))
}

/// The least and the largest of some numbers, as people write them.
fn ends(numbers: impl Iterator<Item = f64>) -> [String; 2] {
    let widened = |[least, most]: [f64; 2], number: f64| [least.min(number), most.max(number)];
    // As many digits as a 32-bit number has, or as make an hour of a year.
    let rounded = |number: f64| format!("{}", (number * 1e4).round() / 1e4);
    let text = |number: f64| if number.abs() < 1e-3 { format!("{number}") } else { rounded(number) };
    numbers.fold([f64::INFINITY, f64::NEG_INFINITY], widened).map(text)
}

/// Which relations there are and which of them have a direction, in one line.
fn in_words(relations: &[Relation]) -> String {
    if let [only] = relations {
        let of = if only.name.is_empty() { String::new() } else { format!(" of `{}`", only.name) };
        return format!("links{of} are directed: they run from a source to a target");
    }
    let named = |relation: &Relation| {
        let direction = if relation.directed { "directed" } else { "undirected" };
        format!("`{}` ({direction})", relation.name)
    };
    format!("links have {} relations: {}", relations.len(), relations.iter().map(named).collect::<Vec<_>>().join(", "))
}
