//! Whether a column tells node types: that is seen from the links.
//!
//! Users do not link to users: of a node type that has links, some join none of its own nodes. Categories are the other way round;
//! most links stay within one. So a column is taken for one of node types where a value that many link ends have joins no two nodes,
//! though by chance many links would.

use super::kind::{CellPart, ColumnKind};
use super::rules::Finding;
use super::schema::{Column, Schema, Values};
use crate::graph::{Attributes, Graph, NodeId};

/// Node types at most, for a column that is not said to tell them.
const MOST_TYPES: usize = 20;
/// Links that would join two nodes of a value by chance, from which on it means something that none does.
const BY_CHANCE: f64 = 20.0;
/// The share of link ends that must have such a value.
const SHARE: f64 = 0.2;
/// The share of link ends that may have no value.
const UNTOLD: f64 = 0.01;
/// Links that would join two nodes of one value by chance, from which on a column is taken for it at once if none does.
const CERTAIN: f64 = 100.0;
/// Columns of these names are taken for it at once as well; of other columns it is proposed.
const NAMES: [&str; 7] = ["type", "kind", "label", "node_kind", "node_label", "entity", "entity_type"];

/// A column that looks as if it told node types.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TypeColumn {
    pub name: String,
    /// A value that no two linked nodes share.
    pub value: String,
    /// Whether no value at all is shared, though many would be by chance.
    pub is_certain: bool,
}

impl TypeColumn {
    /// The first such column, those that are called so before others; none where a column is said to tell node types.
    pub fn find(schema: &Schema, attributes: &Attributes, graph: &Graph) -> Option<Self> {
        if schema.type_column().is_some() || graph.links() == 0 {
            return None;
        }
        let mut columns: Vec<(&Column, u32)> = schema.placed().filter(|(column, _)| may_tell(column)).collect();
        columns.sort_by_key(|(column, _)| !is_name(&column.name));
        columns.into_iter().find_map(|(column, first)| {
            let Values::Listed(values) = &column.values else { return None };
            let (apart, is_certain) = value_apart(first, values.len(), attributes, graph)?;
            Some(TypeColumn { name: column.name.clone(), value: values[apart].clone(), is_certain })
        })
    }

    /// Whether it is one beyond doubt: its name says the same, or all links do.
    pub fn is_taken(&self) -> bool {
        self.is_certain || is_name(&self.name)
    }

    /// Says in what was found out about the column why it was taken, or how it could be.
    pub fn tell(&self, finding: &mut Finding) {
        let reason = format!("no link joins two nodes of `{}`", self.value);
        finding.doubt = Some(if self.is_taken() {
            finding.reason = match self.is_certain {
                true => "it tells node types: no link joins two nodes of one value".to_owned(),
                false => format!("its name says that it tells node types, and {reason}"),
            };
            format!("taken for the node type: {reason}; `kind = \"categorical\"` undoes it")
        } else {
            format!("looks like a node type: {reason}; `kind = \"type\"` takes it for one")
        });
    }
}

fn is_name(name: &str) -> bool {
    NAMES.iter().any(|known| name.eq_ignore_ascii_case(known))
}

fn may_tell(column: &Column) -> bool {
    let is_few = matches!(&column.values, Values::Listed(values) if (2..=MOST_TYPES).contains(&values.len()));
    is_few && matches!(column.kind, ColumnKind::Categorical { part: CellPart::Whole, .. })
}

/// The value that most link ends have of those that join no two nodes, and whether no value does, beyond chance.
fn value_apart(first: u32, values: usize, attributes: &Attributes, graph: &Graph) -> Option<(usize, bool)> {
    let value = |node: NodeId| {
        let columns = attributes.row(node).0;
        let place = columns.partition_point(|&column| column < first);
        columns.get(place).map(|&column| (column - first) as usize).filter(|&value| value < values)
    };
    let of: Vec<Option<usize>> = (0..graph.nodes() as NodeId).map(value).collect();
    let (mut ends, mut within, mut untold) = (vec![0_usize; values], vec![0_usize; values], 0_usize);
    for (a, b) in graph.iter_links() {
        let both = [of[a as usize], of[b as usize]];
        untold += both.iter().filter(|value| value.is_none()).count();
        both.into_iter().flatten().for_each(|value| ends[value] += 1);
        if let [Some(a), Some(b)] = both {
            within[a] += usize::from(a == b);
        }
    }
    let all = 2.0 * graph.links() as f64;
    let is_apart = |&value: &usize| {
        let share = ends[value] as f64 / all;
        within[value] == 0 && share >= SHARE && share * share * all / 2.0 >= BY_CHANCE
    };
    let by_chance = ends.iter().map(|&ends| (ends as f64 / all).powi(2)).sum::<f64>() * all / 2.0;
    let is_certain = untold == 0 && within.iter().all(|&links| links == 0) && by_chance >= CERTAIN;
    let apart = (0..values).filter(is_apart).max_by_key(|&value| ends[value]);
    apart.filter(|_| untold as f64 <= UNTOLD * all).map(|value| (value, is_certain))
}
