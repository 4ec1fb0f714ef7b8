//! `coldlink inspect`: what is in a graph or a model.

use clap::Args;
use coldlink::columns::{ColumnKind, Columns as Said, Finding, Schema, Values};
use coldlink::config::Term;
use coldlink::dataset::Dataset;
use coldlink::graph::{Attributes, NodeId};
use coldlink::index::AboutIndex;
use coldlink::load::LoadError;
use coldlink::model::{Model, Summary};
use coldlink::score::{PairWeights, ScoreWeights};
use coldlink::storage::{FileFormat, FileProblem};
use coldlink::text::printable;
use serde::Serialize;

use super::Common;
use super::index::found;
use crate::failure::Failure;
use crate::input::{GraphArgs, empty_rows};
use crate::output::{print, print_exact, print_json};
use crate::progress::quality;
use crate::tables::{Columns, Facts, count, percent, whole};

/// Show what is in a graph or a model
#[derive(Args)]
#[command(after_help = "\
Examples:
  coldlink inspect papers/
  coldlink inspect papers.model --json
  coldlink inspect papers/ --schema > columns.toml    the kind of each column, ready to edit
  coldlink inspect papers/ --columns columns.toml     the same graph with the edited kinds")]
pub struct Inspect {
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Print the kind of each column as TOML, to edit and pass to `--columns`
    #[arg(long, conflicts_with = "json")]
    schema: bool,
    #[command(flatten)]
    graph: GraphArgs,
}

/// Runs the command.
pub fn run(args: &Inspect, _: &Common) -> anyhow::Result<()> {
    match args.graph.load_silently() {
        Ok(dataset) if args.schema => print_exact(schema_text(dataset.schema.as_ref(), args.graph.columns()?)?),
        Ok(dataset) => {
            let about = AboutGraph::of(&dataset);
            if args.json { print_json(&about) } else { print(about.text()) }
        }
        Err(error) if is_model(&error) => {
            let (model, problem) = Model::open_indexed(args.graph.path())?;
            if args.schema {
                return print_exact(schema_text(model.schema(), Said::default())?);
            }
            let about = AboutModel::of(model, problem.map(|problem| format!("{:#}", anyhow::Error::from(problem))));
            if args.json { print_json(&about) } else { print(about.text()) }
        }
        Err(error) => match error.downcast_ref() {
            Some(LoadError::UnknownFormat { path }) => {
                let failure = Failure::new(format!("`{}` is neither a graph nor a model", path.display()));
                let graphs = LoadError::UnknownFormat { path: path.clone() }.hint().map(|hint| hint.to_string());
                Err(failure.hint(format!("{}; `coldlink train` writes models", graphs.unwrap_or_default())).into())
            }
            _ => Err(error),
        },
    }
}

/// Whether what was loaded as a graph is a model.
fn is_model(error: &anyhow::Error) -> bool {
    match error.downcast_ref() {
        Some(LoadError::File(file)) => matches!(file.problem, FileProblem::Format { found: FileFormat::Model, .. }),
        _ => false,
    }
}

#[derive(Serialize)]
struct AboutGraph {
    format: &'static str,
    name: String,
    nodes: usize,
    links: usize,
    degree: Spread,
    nodes_without_links: usize,
    attributes: usize,
    attribute_entries: usize,
    attributes_per_node: Spread,
    attribute_density: f64,
    nodes_without_attributes: usize,
    columns: Vec<Column>,
    warnings: Vec<String>,
}

/// How a number is spread over nodes.
#[derive(Serialize)]
struct Spread {
    min: usize,
    median: f64,
    mean: f64,
    max: usize,
}

/// A column of the node table.
#[derive(Serialize)]
struct Column {
    name: String,
    kind: &'static str,
    /// The token vectors that make a vector of its texts; its words are another column of this name.
    #[serde(skip_serializing_if = "Option::is_none")]
    encoder: Option<String>,
    attributes: usize,
    /// Whether its texts stand beside names where nodes are shown.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    shown: bool,
    /// Whether its words are those of the first text.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    shares_words: bool,
    /// The node types that have it, if not all do.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    of: Vec<String>,
    /// Why it is of its kind, some of its cells, and those that could not be read.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    found: Option<Found>,
}

/// What loading found out about a column.
#[derive(Serialize)]
struct Found {
    reason: String,
    samples: Vec<String>,
    odd_cells: usize,
    odd_examples: Vec<String>,
}

impl Column {
    fn kind_text(&self) -> String {
        let by = self.encoder.as_ref().map(|encoder| format!(" by `{}`", printable(encoder))).unwrap_or_default();
        let of = if self.of.is_empty() { String::new() } else { format!(" of {}", self.of.join(", ")) };
        format!("{}{by}{of}", self.kind)
    }

    /// The kind and the number of attributes with the reason; then, a line each, some cells and the odd ones.
    fn add_to(&self, facts: &mut Facts) {
        let made = match self.attributes {
            _ if self.shares_words => ", the same attributes as other texts".to_owned(),
            0 => String::new(),
            attributes => format!(", {}", count(attributes, "attribute")),
        };
        let reason = self.found.as_ref().map(|found| format!(": {}", found.reason)).unwrap_or_default();
        let shown = if self.shown { "; stands beside names" } else { "" };
        facts.add(format!("column `{}`", self.name), self.kind_text() + &made + &reason + shown);
        let Some(Found { samples, odd_cells, odd_examples, .. }) = &self.found else { return };
        if !samples.is_empty() {
            facts.add("", format!("such as {}", quoted(samples)));
        }
        if *odd_cells > 0 {
            let s = if *odd_cells == 1 { "s" } else { "" };
            facts.add("", format!("{} count{s} as missing: {}", count(*odd_cells, "odd cell"), quoted(odd_examples)));
        }
    }
}

/// Columns whose values few nodes share, a line each.
fn lonely_values(schema: &Schema, attributes: &Attributes) -> Vec<String> {
    let mut counts = vec![0_usize; attributes.sparse_width()];
    attributes.columns().iter().for_each(|&column| counts[column as usize] += 1);
    let warn = |column: &coldlink::columns::Column| {
        let (name, values) = (&column.name, column.width());
        let first = schema.column(name)?.1 as usize;
        let of_values = matches!(column.kind, ColumnKind::Categorical { .. } | ColumnKind::MultiValued { .. });
        let is_lonely = || 2 * values > counts[first..first + values].iter().sum();
        (of_values && values > MANY_VALUES && is_lonely()).then(|| {
            let values = count(values, "value");
            format!("column `{name}` has {values}, most for one node only; `kind = \"text\"` compares nodes by words")
        })
    };
    schema.columns.iter().filter_map(warn).collect()
}

/// Values of a column that are not many, however few nodes there are.
const MANY_VALUES: usize = 50;

/// The starts of cells.
fn quoted(cells: &[String]) -> String {
    const MOST: usize = 30;
    let quote = |cell: &String| match cell.char_indices().nth(MOST) {
        Some((end, _)) => format!("`{}…`", cell[..end].trim_end()),
        None => format!("`{cell}`"),
    };
    cells.iter().map(quote).collect::<Vec<_>>().join(", ")
}

impl AboutGraph {
    fn of(dataset: &Dataset) -> Self {
        let (graph, attributes) = (&dataset.graph, &dataset.attributes);
        let nodes = || 0..graph.nodes() as NodeId;
        let without_links = nodes().filter(|&node| graph.degree(node) == 0).count();
        let without_attributes = empty_rows(attributes);
        let mut warnings = dataset.notes_in_words();
        if without_links > 0 {
            let nodes = count(without_links, "node");
            warnings.push(format!("{nodes} without links: known by attributes alone"));
        }
        if without_attributes > 0 {
            let nodes = count(without_attributes, "node");
            warnings.push(format!("{nodes} without attributes: nothing can be told about such new nodes"));
        }
        let columns = dataset.schema.as_ref().map(|schema| columns(schema, &dataset.notes.columns)).unwrap_or_default();
        warnings.extend(dataset.schema.iter().flat_map(|schema| lonely_values(schema, attributes)));
        AboutGraph {
            format: FileFormat::Graph.name(),
            name: dataset.name.clone(),
            nodes: graph.nodes(),
            links: dataset.links().0.links(),
            degree: Spread::of(nodes().map(|node| graph.degree(node)).collect()),
            nodes_without_links: without_links,
            attributes: attributes.width(),
            attribute_entries: attributes.entries(),
            attributes_per_node: Spread::of(nodes().map(|node| attributes.iter_row(node).count()).collect()),
            attribute_density: attributes.density(),
            nodes_without_attributes: without_attributes,
            columns,
            warnings,
        }
    }

    fn text(&self) -> String {
        let mut facts = Facts::default();
        facts.add("nodes", whole(self.nodes));
        facts.add("links", whole(self.links));
        facts.add("links a node", self.degree.text());
        facts.add("nodes without links", whole(self.nodes_without_links));
        facts.add("attributes", whole(self.attributes));
        facts.add("attributes a node", self.attributes_per_node.text());
        facts.add("attribute density", percent(self.attribute_density));
        facts.add("nodes without attributes", whole(self.nodes_without_attributes));
        self.columns.iter().for_each(|column| column.add_to(&mut facts));
        let warnings: String = self.warnings.iter().map(|warning| format!("note: {}\n", printable(warning))).collect();
        format!("graph `{}`\n{facts}{warnings}", printable(&self.name))
    }
}

impl Spread {
    fn of(mut values: Vec<usize>) -> Self {
        values.sort_unstable();
        let at = |place: usize| values.get(place).copied().unwrap_or(0);
        let (half, sum) = (values.len() / 2, values.iter().sum::<usize>());
        let below = if values.len().is_multiple_of(2) { half.saturating_sub(1) } else { half };
        Spread {
            min: at(0),
            median: (at(below) + at(half)) as f64 / 2.0,
            mean: sum as f64 / values.len().max(1) as f64,
            max: at(values.len().saturating_sub(1)),
        }
    }

    fn text(&self) -> String {
        let Spread { min, median, mean, max } = self;
        format!("mean {mean:.2}, median {median}, from {} to {}", whole(*min), whole(*max))
    }
}

/// The kinds of columns with their options, and what there is to choose from.
fn schema_text(schema: Option<&Schema>, said: Said) -> anyhow::Result<String> {
    let schema = schema.ok_or_else(|| {
        Failure::new("there are no columns: attributes were given as numbers")
            .hint("only node tables (.csv, .tsv, .jsonl, .parquet) have columns")
    })?;
    let mut columns = Said { edges: said.edges, ..schema.to_columns() };
    // A schema names no folder of token vectors.
    columns.columns.extend(said.columns.into_iter().filter(|(_, kind)| kind.encoder().is_some()));
    Ok(format!("{SCHEMA_HEAD}{}", columns.to_toml()))
}

const SCHEMA_HEAD: &str = "\
# What the columns of the node table are. Edit, and give back with `--columns FILE`; a column that is left
# out here is found out anew.
#   numeric       scale = standard | quantile | none; decimal = point | comma: what `1.234` is
#   boolean
#   categorical   values that fewer than `rare` nodes have count as one; more than `limit` values are hashed;
#                 part = whole | domain | starts: what of an address or a postal code counts
#   multi-valued  a|b|c or a JSON list; likewise; separator = | or ; or ,
#   text          the `vocabulary` most frequent words; stop_words = none | english; weights = tf-idf | binary;
#                 parts: whether those of `snake_case` count as well; shared: whether a word is the same attribute in all texts;
#                 encoder = \"FILE.safetensors\": token vectors, with tokenizer.json beside them or tokenizer = \"FILE\"
#   date-time     its age, and its place in the year, the week and the day; order = month-first | day-first
#   vector        a list of numbers, as a text embedding made elsewhere
#   type          the node type: links are found among nodes of types that are linked
#   ignore
# show = \"title\" is the column whose texts stand beside names; show = \"\" is none.
# Which columns of the edge table are which, where they are not called source and target or the like:
#   [edges]
#   source = \"buyer\"
#   target = \"product\"
#   weight = \"count\"      how much links count, 0 for none; several rows of one link add up
#   time = \"date\"         when they appeared, as dates or numbers
#   relation = \"field\"    what they mean; each may have [relations.NAME] with directed = true or false
#   what is left out is found by its usual name, and an empty name (\"\") says that there is none

";

fn columns(schema: &Schema, findings: &[Finding]) -> Vec<Column> {
    let found = |name: &str| {
        let finding = findings.iter().find(|finding| finding.column == name)?.clone();
        let Finding { reason, samples, odd, examples, .. } = finding;
        Some(Found { reason, samples, odd_cells: odd, odd_examples: examples })
    };
    let others = schema.columns.iter().map(|of| {
        let kind = if of.kind == (ColumnKind::Ignore {}) { "not used" } else { of.kind.name() };
        let shares_words = of.values == Values::Shared;
        let (name, attributes, node_types) = (of.name.clone(), of.width(), of.of.clone());
        let encoder = of.kind.encoder().map(str::to_owned);
        // What was found out stands beside its words.
        let found = found(&name).filter(|_| encoder.is_none());
        let shown = schema.show.as_ref() == Some(&name) && encoder.is_none();
        Column { found, name, kind, encoder, shown, attributes, shares_words, of: node_types }
    });
    let (name, kind) = (schema.id.clone(), "names of nodes");
    let names = Column {
        name,
        kind,
        encoder: None,
        shown: false,
        attributes: 0,
        shares_words: false,
        of: Vec::new(),
        found: None,
    };
    [names].into_iter().chain(others).collect()
}

#[derive(Serialize)]
struct AboutModel {
    format: &'static str,
    #[serde(flatten)]
    summary: Summary,
    nodes_without_links: usize,
    columns: Vec<Column>,
    /// Of the score's terms, where they are fitted.
    weights: Option<ScoreWeights>,
    /// Where there is one beside the model.
    index: Option<AboutIndex>,
    /// Why one that is there is not used.
    index_problem: Option<String>,
    config: coldlink::Config,
}

impl AboutModel {
    fn of(model: Model, index_problem: Option<String>) -> Self {
        AboutModel {
            format: FileFormat::Model.name(),
            index: model.index().cloned(),
            index_problem,
            nodes_without_links: (0..model.summary().nodes as NodeId).filter(|&node| !model.is_warm(node)).count(),
            columns: model.schema().map(|schema| columns(schema, &[])).unwrap_or_default(),
            summary: model.summary().clone(),
            weights: model.weights().cloned(),
            config: model.config().clone(),
        }
    }

    fn text(&self) -> String {
        let Summary { dataset, nodes, added, links, attributes, seed, preset, steps, validation } = &self.summary;
        let mut facts = Facts::default();
        facts.add("nodes", whole(*nodes));
        facts.add("links", whole(*links));
        facts.add("nodes without links", whole(self.nodes_without_links));
        if *added > 0 {
            facts.add("nodes added later", whole(*added));
        }
        facts.add("attributes", whole(*attributes));
        facts.add("steps", whole(*steps));
        if let Some(validated) = validation {
            facts.add("validation", format!("{} on held-out {}", quality(validated), self.config.validation));
        }
        if let Some(index) = &self.index {
            facts.add("index", format!("of {} nodes, finds {}", whole(index.nodes), found(index)));
        }
        if let Some(problem) = &self.index_problem {
            facts.add("index", format!("not used: {problem}"));
        }
        facts.add("preset", preset);
        facts.add("seed", seed);
        for column in &self.columns {
            facts.add(format!("column `{}`", column.name), column.kind_text());
        }
        let settings: String = self.config.to_toml().lines().map(|line| format!("  {line}\n")).collect();
        let weights = self.weights.as_ref().map(weights_text).unwrap_or_default();
        format!("model of graph `{}`\n{facts}{weights}settings\n{settings}", printable(dataset))
    }
}

/// The weights of the score, a row per term and a column per class of pairs.
fn weights_text(weights: &ScoreWeights) -> String {
    let classes =
        [("cold-warm", &weights.cold_warm), ("cold-cold", &weights.cold_cold), ("warm-warm", &weights.warm_warm)];
    let mut table = Columns::new(["  weight of"].into_iter().chain(classes.map(|(name, _)| name)));
    for term in Term::ALL {
        let weight = |class: &PairWeights| class.terms[term as usize];
        let cells =
            classes.map(|(_, class)| if weight(class) == 0.0 { "–".into() } else { format!("{:.3}", weight(class)) });
        table.row([format!("  {}", term.name())].into_iter().chain(cells));
    }
    let row = |name: &str, cells: [String; 3]| [format!("  {name}")].into_iter().chain(cells);
    table.row(row("intercept", classes.map(|(_, class)| format!("{:.3}", class.intercept))));
    table.row(row("fitted on pairs", classes.map(|(_, class)| whole(class.pairs))));
    let share = percent(weights.prevalence);
    format!("score: log-odds of a link where {share} of the pairs are linked\n{table}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_number_is_the_mean_of_the_middle_two() {
        let spread = Spread::of(vec![4, 1, 2, 9]);
        assert_eq!((spread.min, spread.median, spread.mean, spread.max), (1, 3.0, 4.0, 9));
        assert_eq!(Spread::of(vec![5, 1, 3]).median, 3.0);
    }
}
