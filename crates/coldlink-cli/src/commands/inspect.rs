//! `coldlink inspect`: what is in a graph or a model.

use clap::Args;
use coldlink::columns::{ColumnKind, EdgeColumns, Schema};
use coldlink::config::Term;
use coldlink::dataset::Dataset;
use coldlink::graph::NodeId;
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
        Ok(dataset) if args.schema => print_exact(schema_text(dataset.schema.as_ref(), args.graph.columns()?.edges)?),
        Ok(dataset) => {
            let about = AboutGraph::of(&dataset);
            if args.json { print_json(&about) } else { print(about.text()) }
        }
        Err(error) if is_model(&error) => {
            let (model, problem) = Model::open_indexed(args.graph.path())?;
            if args.schema {
                return print_exact(schema_text(model.schema(), None)?);
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
    attributes: usize,
    /// The node types that have it, if not all do.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    of: Vec<String>,
}

impl Column {
    fn kind_text(&self) -> String {
        if self.of.is_empty() { self.kind.to_owned() } else { format!("{} of {}", self.kind, self.of.join(", ")) }
    }
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
        AboutGraph {
            format: FileFormat::Graph.name(),
            name: dataset.name.clone(),
            nodes: graph.nodes(),
            links: graph.links(),
            degree: Spread::of(nodes().map(|node| graph.degree(node)).collect()),
            nodes_without_links: without_links,
            attributes: attributes.width(),
            attribute_entries: attributes.entries(),
            attributes_per_node: Spread::of(nodes().map(|node| attributes.iter_row(node).count()).collect()),
            attribute_density: attributes.density(),
            nodes_without_attributes: without_attributes,
            columns: dataset.schema.as_ref().map(columns).unwrap_or_default(),
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
        for column in &self.columns {
            let made = column.attributes;
            let made = if made > 0 { format!(", {}", count(made, "attribute")) } else { String::new() };
            facts.add(format!("column `{}`", column.name), column.kind_text() + &made);
        }
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
fn schema_text(schema: Option<&Schema>, edges: Option<EdgeColumns>) -> anyhow::Result<String> {
    let schema = schema.ok_or_else(|| {
        Failure::new("there are no columns: attributes were given as numbers")
            .hint("only node tables (.csv, .tsv, .jsonl, .parquet) have columns")
    })?;
    let columns = coldlink::columns::Columns { edges, ..schema.to_columns() };
    Ok(format!("{SCHEMA_HEAD}{}", columns.to_toml()))
}

const SCHEMA_HEAD: &str = "\
# What the columns of the node table are. Edit, and give back with `--columns FILE`; a column that is left
# out here is found out anew.
#   numeric       scale = standard | quantile | none
#   boolean
#   categorical   values that fewer than `rare` nodes have count as one; more than `limit` values are hashed
#   multi-valued  a|b|c or a JSON list; likewise
#   text          the `vocabulary` most frequent words; stop_words = none | english; weights = tf-idf | binary
#   date-time     its age, and its place in the year, the week and the day
#   vector        a list of numbers, as a text embedding made elsewhere
#   type          the node type: links are found among nodes of types that are linked
#   ignore
# Which columns of the edge table are which, where they are not called source and target or the like:
#   [edges]
#   source = \"buyer\"
#   target = \"product\"
#   weight = \"count\"      if there is one; links of weight 0 are none

";

fn columns(schema: &Schema) -> Vec<Column> {
    let column = |name: &String, kind, attributes, of| Column { name: name.clone(), kind, attributes, of };
    let others = schema.columns.iter().map(|of| match &of.kind {
        ColumnKind::Ignore {} => column(&of.name, "not used", 0, Vec::new()),
        kind => column(&of.name, kind.name(), of.width(), of.of.clone()),
    });
    [column(&schema.id, "names of nodes", 0, Vec::new())].into_iter().chain(others).collect()
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
            nodes_without_links: model.embeddings().warm.iter().filter(|seen| !**seen).count(),
            columns: model.schema().map(columns).unwrap_or_default(),
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
