//! `coldlink predict`: the most likely links of new nodes, or the scores of given pairs.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use coldlink::dataset::End;
use coldlink::graph::{Attributes, Names, NodeId};
use coldlink::load::{load_excluded, load_pairs};
use coldlink::model::{Among, Model, Newcomers, Wish};
use serde::Serialize;

use super::{Common, share};
use crate::input::{load_new_nodes, open_indexed_model, open_model};
use crate::output::{check_writable, write_to};
use crate::progress::Tally;
use crate::tables::{Columns, count};

/// New nodes, or pairs, that are worked on at a time; what is found is written before the next.
const PER_ROUND: usize = 4_096;

/// Find the most likely links of nodes that are not in the graph
#[derive(Args)]
#[command(after_help = "\
Examples:
  coldlink predict papers.model --new new-papers.csv
  coldlink predict papers.model --new new-papers.csv --top 100 -o links.csv
  coldlink predict papers.model --new new-papers.csv --top 3 --explain
  coldlink predict papers.model --new new-papers.csv --among both --exclude retracted.csv
  coldlink predict shop.model --new users.csv --candidates item --where category=book
  coldlink predict papers.model --new new-papers.csv --pairs pairs.csv --format jsonl

New nodes are a table with the columns of the nodes.csv that was trained on, or an .npz file with
the arrays attr_*. Pairs are a table with the columns new,seen: the name of a new node and of one of
the graph. The second may be a new one as well; call its column other_new if a node of the graph
could have that name.
A score is the log-odds of a link, and its probability stands beside it, for the share of linked
pairs in the training graph or the one given by `--base-rate`. With `--explain`, a score is taken
apart into what each attribute adds, what links of similar nodes add (similar), what the other
node's number of links adds (popular), and what every pair gets (rest). With the presets `paper` and
`authors-code` scores tell which links are likelier, and there is no probability.")]
pub struct Predict {
    /// The model
    model: PathBuf,
    /// The new nodes: a table or an .npz file
    #[arg(long, value_name = "FILE")]
    new: PathBuf,
    /// How many links to find for each new node
    #[arg(long, value_name = "K", default_value_t = 10)]
    top: usize,
    /// Where to look for them: among nodes of the graph, the other new nodes, or both
    #[arg(long, value_name = "WHERE", default_value = "seen", conflicts_with = "pairs")]
    among: Where,
    /// Nodes that are not to be found: a table whose first column names them
    #[arg(long, value_name = "FILE", conflicts_with = "pairs")]
    exclude: Option<PathBuf>,
    /// Find nodes of this kind only [default: kinds that are linked with the new node's]
    #[arg(long, value_name = "KIND", conflicts_with = "pairs")]
    candidates: Option<String>,
    /// Find only nodes of the graph that have this value; may be given several times
    #[arg(long = "where", value_name = "COLUMN=VALUE", value_parser = equation, conflicts_with = "pairs")]
    values: Vec<(String, String)>,
    /// Score these pairs instead
    #[arg(long, value_name = "FILE", conflicts_with = "top")]
    pairs: Option<PathBuf>,
    /// How much it counts that a node has many links already: from 1, as much as it helps, down to 0, where all that
    /// popularity alone would explain is taken off the order; without effect on models without probabilities
    #[arg(long, value_name = "SHARE", default_value_t = 1.0, value_parser = share, conflicts_with = "pairs")]
    popularity: f32,
    /// The share of linked pairs among all that probabilities are stated for [default: that of the training graph]
    #[arg(long, value_name = "SHARE", value_parser = base_rate)]
    base_rate: Option<f64>,
    /// Say for each link which attributes of the new node speak for it and which against, and which seen nodes it is most like
    #[arg(long, conflicts_with = "pairs")]
    explain: bool,
    /// Refuse rows with other columns, unknown values or cells that cannot be read, instead of telling how many there are
    #[arg(long)]
    strict_input: bool,
    /// Score every node, even where there is an index beside the model
    #[arg(long)]
    exact: bool,
    /// How to write [default: by the ending of the output file; table on a terminal; else csv]
    #[arg(long)]
    format: Option<Format>,
    /// The file to write [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Where {
    /// Nodes of the graph
    Seen,
    /// The other new nodes
    New,
    /// All of them
    Both,
}

impl From<Where> for Among {
    fn from(place: Where) -> Self {
        match place {
            Where::Seen => Among::Seen,
            Where::New => Among::New,
            Where::Both => Among::Both,
        }
    }
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    Table,
    Csv,
    Jsonl,
}

fn equation(text: &str) -> Result<(String, String), String> {
    let parts = text.split_once('=').map(|(column, value)| (column.trim().to_owned(), value.trim().to_owned()));
    parts
        .filter(|parts| !parts.0.is_empty())
        .ok_or_else(|| "must be a column and a value, such as `category=book`".to_owned())
}

fn base_rate(text: &str) -> Result<f64, String> {
    let value = text.parse().ok().filter(|share| *share > 0.0 && *share < 1.0);
    value.ok_or_else(|| "must be a number above 0 and below 1".to_owned())
}

/// Runs the command.
pub fn run(args: &Predict, common: &Common) -> anyhow::Result<()> {
    if let Some(output) = &args.output {
        check_writable(output, &[&args.model, &args.new])?;
    }
    let model = if args.exact { open_model(&args.model)? } else { open_indexed_model(&args.model, common)? };
    let new = load_new_nodes(&args.new, &model, args.strict_input, common)?;
    let names = BothNames { new: &new.names, seen: &model.names };
    let newcomers = model.meet(&new.attributes);
    let (mut excluded, unknown) = match &args.exclude {
        Some(path) => load_excluded(path, names.new, names.seen)?,
        None => (Vec::new(), 0),
    };
    if unknown > 0 && !common.quiet {
        eprintln!("note: {} of `--exclude` not found", count(unknown, "name"));
    }
    let kind = args.candidates.as_deref().map(|name| model.node_type(name)).transpose()?;
    for (column, value) in &args.values {
        excluded.extend(model.without_value(column, value)?);
    }
    excluded.sort_unstable();
    excluded.dedup();
    let odds = Odds { model: &model, base_rate: args.base_rate.unwrap_or_else(|| model.base_rate()) };
    match &args.pairs {
        None => write_to(args.output.as_deref(), |out| {
            let mut writer = RowWriter::new(args, odds, out);
            let (among, popularity) = (args.among.into(), args.popularity);
            let wish = Wish { count: args.top, among, excluded: &excluded, kind, popularity };
            let mut tally = args.tally(common, new.names.len(), "new nodes");
            let reasons = Reasons::new(&model, &new.attributes, &newcomers);
            best_links(&model, &newcomers, wish, |node, hits| {
                tally.add(1);
                let found: Vec<Found> = hits
                    .iter()
                    .map(|&(number, score)| {
                        let other = names.end(number);
                        Found { other, score, because: args.explain.then(|| reasons.of(node, other)) }
                    })
                    .collect();
                writer.links(&names, node, &found)
            })?;
            writer.finish()
        }),
        Some(path) => {
            let pairs = load_pairs(path, names.new, names.seen)?;
            write_to(args.output.as_deref(), |out| {
                let mut writer = RowWriter::new(args, odds, out);
                let mut tally = args.tally(common, pairs.len(), "pairs");
                for pairs in pairs.chunks(PER_ROUND) {
                    tally.add(pairs.len());
                    writer.pairs(&names, pairs, &model.score_pairs(&newcomers, pairs))?;
                }
                writer.finish()
            })
        }
    }
}

impl Predict {
    /// A bar would tear rows apart that go to the same terminal.
    fn tally(&self, common: &Common, total: usize, unit: &'static str) -> Tally {
        let rows_on_terminal = self.output.is_none() && io::stdout().is_terminal();
        Tally::new(common.quiet || rows_on_terminal, total, unit)
    }

    fn format(&self) -> Format {
        let ending = self.output.as_ref().and_then(|path| path.extension()).map(|ending| ending.to_string_lossy());
        match (self.format, ending.as_deref()) {
            (Some(format), _) => format,
            (None, Some("jsonl")) => Format::Jsonl,
            (None, None) if self.output.is_none() && io::stdout().is_terminal() => Format::Table,
            (None, _) => Format::Csv,
        }
    }
}

/// A found link.
struct Found {
    other: End,
    score: f32,
    /// Where it is asked for.
    because: Option<Because>,
}

/// Why a link was found, as it is written.
#[derive(Serialize)]
struct Because {
    /// The attributes that add or take most.
    attributes: Vec<Part>,
    /// All others together.
    other_attributes: f64,
    similar: f64,
    popular: f64,
    rest: f64,
    most_similar: Vec<SimilarNode>,
}

#[derive(Serialize)]
struct Part {
    name: String,
    adds: f64,
}

#[derive(Serialize)]
struct SimilarNode {
    seen: String,
    cosine: f32,
}

/// Attributes that are named for each link.
const NAMED: usize = 5;
/// Of these, as many for people.
const SHOWN: usize = 3;

/// Says why links were found.
struct Reasons<'a> {
    model: &'a Model,
    attributes: &'a Attributes,
    new: &'a Newcomers,
    names: Vec<String>,
}

impl<'a> Reasons<'a> {
    fn new(model: &'a Model, attributes: &'a Attributes, new: &'a Newcomers) -> Self {
        let names = model.attribute_names();
        Reasons { model, attributes, new, names }
    }

    fn of(&self, node: NodeId, other: End) -> Because {
        let explained = self.model.explain(self.attributes, self.new, node, other);
        let name =
            |column: u32| self.names.get(column as usize).cloned().unwrap_or_else(|| format!("attribute {column}"));
        let (first, others) = explained.attributes.split_at(explained.attributes.len().min(NAMED));
        let similar =
            |&(node, cosine): &(NodeId, f32)| SimilarNode { seen: self.model.names.get(node).into_owned(), cosine };
        Because {
            attributes: first.iter().map(|&(column, adds)| Part { name: name(column), adds }).collect(),
            other_attributes: others.iter().map(|amount| amount.1).sum(),
            similar: explained.similar_nodes,
            popular: explained.popularity,
            rest: explained.rest,
            most_similar: explained.most_similar.iter().map(similar).collect(),
        }
    }
}

impl Because {
    /// In a line for people.
    fn in_words(&self) -> String {
        let shown = self.attributes.iter().take(SHOWN).map(|part| format!("{} {:+.2}", part.name, part.adds));
        let parts = [("similar", self.similar), ("popular", self.popular)];
        let parts = parts.into_iter().filter(|part| part.1 != 0.0).map(|(name, adds)| format!("{name} {adds:+.2}"));
        shown.chain(parts).collect::<Vec<_>>().join(", ")
    }
}

/// Hands on the best links of each new node, in order.
fn best_links(
    model: &Model,
    new: &Newcomers,
    wish: Wish<'_>,
    mut each: impl FnMut(NodeId, &[(NodeId, f32)]) -> io::Result<()>,
) -> io::Result<()> {
    let nodes = new.embeddings.nodes();
    for first in (0..nodes).step_by(PER_ROUND) {
        let round = first..nodes.min(first + PER_ROUND);
        for (node, hits) in round.clone().zip(model.best_links(new, round, wish)) {
            let found: Vec<_> = hits.iter().map(|hit| (hit.node, hit.score)).collect();
            each(node as NodeId, &found)?;
        }
    }
    Ok(())
}

/// Turns scores into probabilities, where the model can.
#[derive(Clone, Copy)]
struct Odds<'a> {
    model: &'a Model,
    base_rate: f64,
}

impl Odds<'_> {
    fn exist(&self) -> bool {
        self.model.memory.is_some()
    }

    fn of(&self, score: f32) -> Option<f64> {
        self.model.probability(score, self.base_rate)
    }

    /// The numbers of a row, as wide as the head says.
    fn cells(&self, score: f32) -> Vec<String> {
        [Some(score.to_string()), self.of(score).map(short)].into_iter().flatten().collect()
    }

    /// What these numbers are called.
    fn head(&self) -> Vec<String> {
        let names = ["score", "probability"];
        names[..1 + usize::from(self.exist())].iter().map(|name| (*name).to_owned()).collect()
    }

    /// The same for people.
    fn plain_cells(&self, score: f32) -> Vec<String> {
        [Some(format!("{score:.4}")), self.of(score).map(short)].into_iter().flatten().collect()
    }
}

/// Three digits that count, however small.
fn short(probability: f64) -> String {
    if probability >= 0.001 { format!("{probability:.4}") } else { format!("{probability:.2e}") }
}

struct BothNames<'a> {
    new: &'a Names,
    seen: &'a Names,
}

impl BothNames<'_> {
    /// The node of a number, where new ones come after those of the graph.
    fn end(&self, number: NodeId) -> End {
        let seen = self.seen.len() as NodeId;
        if number < seen { End::Seen(number) } else { End::New(number - seen) }
    }

    fn of(&self, end: End) -> String {
        match end {
            End::New(node) => self.new.get(node).into_owned(),
            End::Seen(node) => self.seen.get(node).into_owned(),
        }
    }
}

/// A line of JSON for a found link.
#[derive(Serialize)]
struct Link<'a> {
    new: &'a str,
    rank: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    seen: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    other_new: Option<&'a str>,
    score: f32,
    #[serde(skip_serializing_if = "Option::is_none")]
    probability: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    because: Option<&'a Because>,
}

/// A line of JSON for a pair; the second end is called by what it is.
#[derive(Serialize)]
struct ScoredPair<'a> {
    new: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    seen: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    other_new: Option<&'a str>,
    score: f32,
    #[serde(skip_serializing_if = "Option::is_none")]
    probability: Option<f64>,
}

/// Writes rows as they come.
struct RowWriter<'a> {
    odds: Odds<'a>,
    /// Whether links come with reasons.
    explained: bool,
    /// Whether new nodes may be found.
    mixed: bool,
    rows: Rows<'a>,
}

enum Rows<'a> {
    Table(&'a mut dyn Write),
    Csv { writer: Box<csv::Writer<&'a mut dyn Write>>, headed: bool },
    Jsonl(&'a mut dyn Write),
}

impl<'a> RowWriter<'a> {
    fn new(args: &Predict, odds: Odds<'a>, out: &'a mut dyn Write) -> Self {
        let rows = match args.format() {
            Format::Table => Rows::Table(out),
            Format::Csv => Rows::Csv { writer: Box::new(csv::Writer::from_writer(out)), headed: false },
            Format::Jsonl => Rows::Jsonl(out),
        };
        RowWriter { odds, explained: args.explain, mixed: args.among != Where::Seen, rows }
    }

    fn links(&mut self, names: &BothNames, node: NodeId, found: &[Found]) -> io::Result<()> {
        let (new, odds, explained, mixed) = (names.new.get(node), self.odds, self.explained, self.mixed);
        let rows = found.iter().enumerate().map(|(place, link)| (place + 1, names.of(link.other), link));
        let is = |link: &Found| if matches!(link.other, End::Seen(_)) { "seen" } else { "new" };
        let is = |link: &Found| mixed.then(|| is(link).to_owned());
        let words = |link: &Found| link.because.as_ref().map(Because::in_words);
        match &mut self.rows {
            Rows::Table(out) => {
                let mut table = Columns::bare();
                rows.for_each(|(rank, other, link)| {
                    let cells = [other, rank.to_string()].into_iter().chain(is(link));
                    let cells = cells.chain(odds.plain_cells(link.score));
                    match words(link) {
                        Some(words) => table.row_with_text(cells, &words),
                        None => table.row(cells),
                    }
                });
                writeln!(out, "{new}\n{table}")
            }
            Rows::Csv { writer, headed } => {
                if !std::mem::replace(headed, true) {
                    let because = explained.then(|| "because".to_owned());
                    let head = if mixed { &["new", "rank", "other", "is"][..] } else { &["new", "rank", "seen"] };
                    let head = head.iter().map(|name| (*name).to_owned());
                    record(writer, head.chain(odds.head()).chain(because))?;
                }
                for (rank, other, link) in rows {
                    let cells = [new.to_string(), rank.to_string(), other].into_iter().chain(is(link));
                    record(writer, cells.chain(odds.cells(link.score)).chain(words(link)))?;
                }
                Ok(())
            }
            Rows::Jsonl(out) => {
                for (rank, name, Found { other, score, because }) in rows {
                    let (score, because, probability) = (*score, because.as_ref(), odds.of(*score));
                    let (seen, other_new) = seen_or_new(*other, &name);
                    line(out, &Link { new: &new, rank, seen, other_new, score, probability, because })?;
                }
                Ok(())
            }
        }
    }

    fn pairs(&mut self, names: &BothNames, pairs: &[(End, End)], scores: &[f32]) -> io::Result<()> {
        let odds = self.odds;
        let rows =
            pairs.iter().zip(scores).map(|(&(new, other), &score)| (names.of(new), other, names.of(other), score));
        let head = || ["new", "other"].map(str::to_owned).into_iter().chain(odds.head());
        match &mut self.rows {
            Rows::Table(out) => {
                let mut table = Columns::new(head());
                rows.for_each(|(new, _, other, score)| {
                    table.row([new, other].into_iter().chain(odds.plain_cells(score)));
                });
                write!(out, "{table}")
            }
            Rows::Csv { writer, headed } => {
                if !std::mem::replace(headed, true) {
                    record(writer, head())?;
                }
                for (new, _, other, score) in rows {
                    record(writer, [new, other].into_iter().chain(odds.cells(score)))?;
                }
                Ok(())
            }
            Rows::Jsonl(out) => {
                for (new, end, other, score) in rows {
                    let (seen, other_new) = seen_or_new(end, &other);
                    line(out, &ScoredPair { new: &new, seen, other_new, score, probability: odds.of(score) })?;
                }
                Ok(())
            }
        }
    }

    fn finish(self) -> io::Result<()> {
        match self.rows {
            Rows::Csv { mut writer, .. } => writer.flush(),
            Rows::Table(out) | Rows::Jsonl(out) => out.flush(),
        }
    }
}

/// A name as that of a seen node or of a new one.
fn seen_or_new(end: End, name: &str) -> (Option<&str>, Option<&str>) {
    if matches!(end, End::Seen(_)) { (Some(name), None) } else { (None, Some(name)) }
}

/// Writes a row, with the system's own error where there is one: a closed output must be known as such.
fn record<T: AsRef<[u8]>>(
    writer: &mut csv::Writer<&mut dyn Write>,
    row: impl IntoIterator<Item = T>,
) -> io::Result<()> {
    writer.write_record(row).map_err(|error| match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    })
}

fn line(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    out.write_all(b"\n")
}
