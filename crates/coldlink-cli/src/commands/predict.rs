//! `coldlink predict`: the most likely links of new nodes, or the scores of given pairs.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use coldlink::graph::{Names, NodeId};
use coldlink::index::{ExactIndex, Index};
use coldlink::kernel::Matrix;
use coldlink::load::{End, NewNodes, load_pairs};
use coldlink::model::Model;
use serde::Serialize;

use super::Common;
use crate::input::{load_new_nodes, open_model};
use crate::output::{check_writable, write_to};
use crate::progress::Tally;
use crate::tables::Columns;

/// New nodes, or pairs, that are worked on at a time; what is found is written before the next.
const PER_ROUND: usize = 4_096;

/// Find the most likely links of nodes that are not in the graph
#[derive(Args)]
#[command(after_help = "\
Examples:
  coldlink predict papers.model --new new-papers.csv
  coldlink predict papers.model --new new-papers.csv --top 100 -o links.csv
  coldlink predict papers.model --new new-papers.csv --pairs pairs.csv --format jsonl

New nodes are a table with the columns of the nodes.csv that was trained on, or an .npz file with
the arrays attr_*. Pairs are a table with the columns new,seen: the name of a new node and of one of
the graph. The second may be a new one as well; call its column other_new if a node of the graph
could have that name.
Scores tell which links are likelier; they are not probabilities.")]
pub struct Predict {
    /// The model
    model: PathBuf,
    /// The new nodes: a table or an .npz file
    #[arg(long, value_name = "FILE")]
    new: PathBuf,
    /// How many links to find for each new node
    #[arg(long, value_name = "K", default_value_t = 10)]
    top: usize,
    /// Score these pairs instead
    #[arg(long, value_name = "FILE", conflicts_with = "top")]
    pairs: Option<PathBuf>,
    /// How to write [default: by the ending of the output file; table on a terminal; else csv]
    #[arg(long)]
    format: Option<Format>,
    /// The file to write [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    Table,
    Csv,
    Jsonl,
}

/// Runs the command.
pub fn run(args: &Predict, common: &Common) -> anyhow::Result<()> {
    if let Some(output) = &args.output {
        check_writable(output, &[&args.model, &args.new])?;
    }
    let model = open_model(&args.model)?;
    let new = load_new_nodes(&args.new, &model, common)?;
    let names = BothNames { new: &new.names, seen: &model.names };
    let format = args.format();
    match &args.pairs {
        None => write_to(args.output.as_deref(), |out| {
            let mut writer = RowWriter::new(format, out);
            let mut tally = args.tally(common, new.names.len(), "new nodes");
            best_links(&model, &new, args.top, |node, hits| {
                tally.add(1);
                writer.links(&names, node, hits)
            })?;
            writer.finish()
        }),
        Some(path) => {
            let pairs = load_pairs(path, names.new, names.seen)?;
            let embedded = model.embed_new(&new.attributes);
            write_to(args.output.as_deref(), |out| {
                let mut writer = RowWriter::new(format, out);
                let mut tally = args.tally(common, pairs.len(), "pairs");
                for pairs in pairs.chunks(PER_ROUND) {
                    tally.add(pairs.len());
                    writer.pairs(&names, pairs, &model.score_pairs(&embedded, pairs))?;
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

/// A found link: a node of the graph and its score.
type Found = (NodeId, f32);

/// Hands on the best links of each new node, in order.
fn best_links(
    model: &Model,
    new: &NewNodes,
    count: usize,
    mut each: impl FnMut(NodeId, &[Found]) -> io::Result<()>,
) -> io::Result<()> {
    let index = ExactIndex::new(&model.embeddings, model.lambda());
    let queries = model.embed(&new.attributes);
    for first in (0..queries.rows()).step_by(PER_ROUND) {
        let round = PER_ROUND.min(queries.rows() - first);
        let part = Matrix::from_fn(round, queries.columns(), |row, column| queries.row(first + row)[column]);
        for (row, hits) in index.search(&part, count).iter().enumerate() {
            let found: Vec<Found> = hits.iter().map(|hit| (hit.node, hit.score)).collect();
            each((first + row) as NodeId, &found)?;
        }
    }
    Ok(())
}

struct BothNames<'a> {
    new: &'a Names,
    seen: &'a Names,
}

impl BothNames<'_> {
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
    seen: &'a str,
    score: f32,
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
}

/// Writes rows as they come.
enum RowWriter<'a> {
    Table(&'a mut dyn Write),
    Csv { writer: Box<csv::Writer<&'a mut dyn Write>>, headed: bool },
    Jsonl(&'a mut dyn Write),
}

impl<'a> RowWriter<'a> {
    fn new(format: Format, out: &'a mut dyn Write) -> Self {
        match format {
            Format::Table => RowWriter::Table(out),
            Format::Csv => RowWriter::Csv { writer: Box::new(csv::Writer::from_writer(out)), headed: false },
            Format::Jsonl => RowWriter::Jsonl(out),
        }
    }

    fn links(&mut self, names: &BothNames, node: NodeId, found: &[Found]) -> io::Result<()> {
        let new = names.new.get(node);
        let rows = found.iter().enumerate().map(|(place, &(seen, score))| (place + 1, names.seen.get(seen), score));
        match self {
            RowWriter::Table(out) => {
                let mut table = Columns::bare();
                rows.for_each(|(rank, seen, score)| {
                    table.row([seen.into_owned(), rank.to_string(), format!("{score:.4}")])
                });
                writeln!(out, "{new}\n{table}")
            }
            RowWriter::Csv { writer, headed } => {
                if !std::mem::replace(headed, true) {
                    record(writer, ["new", "rank", "seen", "score"])?;
                }
                for (rank, seen, score) in rows {
                    record(writer, [&*new, rank.to_string().as_str(), &seen, score.to_string().as_str()])?;
                }
                Ok(())
            }
            RowWriter::Jsonl(out) => {
                for (rank, seen, score) in rows {
                    line(out, &Link { new: &new, rank, seen: &seen, score })?;
                }
                Ok(())
            }
        }
    }

    fn pairs(&mut self, names: &BothNames, pairs: &[(End, End)], scores: &[f32]) -> io::Result<()> {
        let rows =
            pairs.iter().zip(scores).map(|(&(new, other), score)| (names.of(new), other, names.of(other), score));
        match self {
            RowWriter::Table(out) => {
                let mut table = Columns::new(["new", "other", "score"]);
                rows.for_each(|(new, _, other, score)| table.row([new, other, format!("{score:.4}")]));
                write!(out, "{table}")
            }
            RowWriter::Csv { writer, headed } => {
                if !std::mem::replace(headed, true) {
                    record(writer, ["new", "other", "score"])?;
                }
                for (new, _, other, score) in rows {
                    record(writer, [new, other, score.to_string()])?;
                }
                Ok(())
            }
            RowWriter::Jsonl(out) => {
                for (new, end, other, &score) in rows {
                    let is_seen = matches!(end, End::Seen(_));
                    let (seen, other_new) = if is_seen { (Some(&*other), None) } else { (None, Some(&*other)) };
                    line(out, &ScoredPair { new: &new, seen, other_new, score })?;
                }
                Ok(())
            }
        }
    }

    fn finish(self) -> io::Result<()> {
        match self {
            RowWriter::Csv { mut writer, .. } => writer.flush(),
            RowWriter::Table(out) | RowWriter::Jsonl(out) => out.flush(),
        }
    }
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
