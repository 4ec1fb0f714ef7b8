//! `coldlink predict`: the most likely links of new nodes or of known ones, or the scores of given pairs.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use coldlink::dataset::{End, GivenLink, PairQuery};
use coldlink::load::{LineProblem, LoadError, load_given_links, load_names, load_pairs};
use coldlink::model::{Among, Asked, Direction, Model, NAMED_ATTRIBUTES, Query, QueryError, Told};

use super::{Common, share};
use crate::failure::Failure;
use crate::files::Files;
use crate::input::{NewOptions, load_new_nodes, open_indexed_model, open_model};
use crate::links::{self, LinkWriter, Shape};
use crate::output::{note, write_to};
use crate::progress::Tally;
use crate::tables::count;

/// New nodes, or pairs, that are worked on at a time; what is found is written before the next.
const PER_ROUND: usize = 4_096;

/// Find the most likely links of new nodes, or further ones of known nodes
#[derive(Args)]
#[command(after_help = "\
Examples:
  coldlink predict papers.model --new new-papers.csv
  coldlink predict papers.model --new new-papers.csv --top 100 -o links.csv
  coldlink predict papers.model --new new-papers.csv --top 3 --explain
  coldlink predict papers.model --new new-papers.csv --among both --exclude retracted.csv
  coldlink predict papers.model --new new-papers.csv --among both --explore 0.3
  coldlink predict shop.model --new users.csv --type item --where category=book,film --where 'price<20'
  coldlink predict packages.model --new mine.csv --direction in
  coldlink predict papers.model --new new-papers.csv --pairs pairs.csv --format jsonl
  coldlink predict papers.model --new new-papers.csv --links first-citations.csv
  coldlink predict papers.model --known names.csv --top 5
  coldlink predict papers.model --new new-papers.csv --show title -o links.csv

New nodes are a table with the columns of the nodes.csv the model was trained on, or an .npz file
with the arrays attr_*; `--new /dev/stdin` reads them from a pipe. Pairs are a table with the columns source,target: the name of a new node and
of a known one. A target may be new as well; a third column `known` (true or false) says which,
should both have that name.

`--links` are links that new nodes have already: a table with the columns source,target and, where
links have several relations, relation. One end is a new node, the other a known one. They count as
evidence, and are not found again. `--known` asks about nodes of the model instead: a table whose
first column names them. It finds links that they do not have yet.

`--where` takes a value, several of which one will do (`genre=comedy,drama`), and of a column of
numbers `price<20`, `price>=20`, `price=10..20` or `price=10,15`. Repeated, all must hold. Quote what
the shell would read: 'price<20'.

A title stands beside names on a terminal where the nodes have one: a column such as `title`, `name`
or `label`, or the one that `show = \"COLUMN\"` names in the file of `--columns` when the model is
trained. `--show` puts it into files as well, as source_title and target_title.

`--explore 0.3` keeps three of ten places for new candidates, the best of them: for the other new
nodes or, among known nodes, for those without links, such as `coldlink add` makes.

A score is the log-odds of a link. The probability beside it holds for the share of linked pairs in
the training graph, or for `--base-rate`. `--explain` splits a score into what each attribute adds,
what links of similar nodes add, what the target's popularity adds, and a baseline; with what the
base rate adds (links are rare), the parts sum to the log-odds of the probability. Models of the
presets `paper` and `authors-code` rank links but give no probabilities.")]
pub struct Predict {
    /// The model
    model: PathBuf,
    /// The new nodes: a table or an .npz file
    #[arg(long, value_name = "FILE", required_unless_present = "known")]
    new: Option<PathBuf>,
    /// Ask about these nodes of the model instead: a table whose first column names them
    #[arg(long, value_name = "FILE", conflicts_with_all = ["new", "links", "pairs", "among"])]
    known: Option<PathBuf>,
    /// Links that the new nodes have already: a table with the columns source,target and perhaps relation
    #[arg(long, value_name = "FILE")]
    links: Option<PathBuf>,
    /// How many links to find for each new node
    #[arg(long, value_name = "K", default_value_t = 10)]
    top: usize,
    /// Where to look for targets: among known nodes, the other new nodes, or both
    #[arg(long, value_name = "WHERE", default_value = "known", conflicts_with = "pairs")]
    among: Where,
    /// Share of each list that is kept for new candidates at least: other new nodes, and known nodes without links
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, conflicts_with = "pairs")]
    explore: f64,
    /// Find links of this relation only, where links mean several things
    #[arg(long, value_name = "NAME")]
    relation: Option<String>,
    /// Which way links run, seen from the new nodes, where links have a direction [default: out]
    #[arg(long, value_name = "WAY", conflicts_with = "pairs")]
    direction: Option<Way>,
    /// Nodes that must not be found: a table whose first column names them
    #[arg(long, value_name = "FILE", conflicts_with = "pairs")]
    exclude: Option<PathBuf>,
    /// Find nodes of this type only [default: types that are linked with the new node's]
    #[arg(long = "type", value_name = "TYPE", conflicts_with = "pairs")]
    node_type: Option<String>,
    /// Find only known nodes with this value or number, as category=book, 'price<20' or price=10..20; may be repeated
    #[arg(long = "where", value_name = "CONDITION", value_parser = condition, conflicts_with = "pairs")]
    filters: Vec<(String, String)>,
    /// Score these pairs instead
    #[arg(long, value_name = "FILE", conflicts_with = "top")]
    pairs: Option<PathBuf>,
    /// Popularity weight: 1 ranks as scored, 0 ranks as if popularity had no effect; models without probabilities ignore it
    #[arg(long, value_name = "SHARE", default_value_t = 1.0, value_parser = share, conflicts_with = "pairs")]
    popularity: f32,
    /// Share of linked pairs that probabilities hold for [default: the training graph's]
    #[arg(long, value_name = "SHARE")]
    base_rate: Option<f64>,
    /// Explain each link: which attributes speak for it and against it, and which known nodes are most similar
    #[arg(long)]
    explain: bool,
    /// Show this column beside names; the model keeps one [default: a title on a terminal, none in files]
    #[arg(long, value_name = "COLUMN")]
    show: Option<String>,
    #[command(flatten)]
    reading: NewOptions,
    /// Score every node, even if there is an index beside the model
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
    /// Known nodes
    Known,
    /// The other new nodes
    New,
    /// All of them
    Both,
}

#[derive(Clone, Copy, ValueEnum)]
enum Way {
    /// From the new node to others
    Out,
    /// From others to the new node
    In,
    /// Either way
    Both,
}

impl From<Way> for Direction {
    fn from(way: Way) -> Self {
        match way {
            Way::Out => Direction::Out,
            Way::In => Direction::In,
            Way::Both => Direction::Both,
        }
    }
}

impl From<Where> for Among {
    fn from(place: Where) -> Self {
        match place {
            Where::Known => Among::Known,
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

/// What is wrong in a line of a table.
fn at(path: &Path, line: u64, problem: LineProblem) -> anyhow::Error {
    LoadError::Line { path: path.to_owned(), line, problem }.into()
}

/// The column and its condition: what comes after `=`, or what begins with `<` or `>`.
fn condition(text: &str) -> Result<(String, String), String> {
    let parts = text.find(['=', '<', '>']).map(|place| text.split_at(place));
    let parts = parts.map(|(column, rest)| (column.trim(), rest.strip_prefix('=').unwrap_or(rest).trim()));
    let parts = parts.filter(|(column, rest)| !column.is_empty() && !rest.is_empty());
    let expected = || "must be COLUMN=VALUE, as `category=book`, or of numbers `price<20` or `price=10..20`".to_owned();
    parts.map(|(column, rest)| (column.to_owned(), rest.to_owned())).ok_or_else(expected)
}

impl Predict {
    /// What it reads and writes.
    pub fn files(&self) -> Files {
        let tables = [&self.new, &self.known, &self.links, &self.exclude, &self.pairs];
        let inputs = tables.into_iter().map(Option::as_ref).chain([Some(&self.model)]);
        Files::default().reads_any(inputs.flatten()).writes_any(&self.output)
    }
}

/// Runs the command.
pub fn run(args: &Predict, common: &Common) -> anyhow::Result<()> {
    let model = if args.exact { open_model(&args.model)? } else { open_indexed_model(&args.model, common)? };
    args.check_shown(&model)?;
    let asked = args.ask(&model, common)?;
    match &args.pairs {
        Some(path) => score(args, &model, &asked, load_pairs(path)?, common),
        None => find(args, &model, &asked, common),
    }
}

fn find(args: &Predict, model: &Model, asked: &Asked, common: &Common) -> anyhow::Result<()> {
    let shape = args.shape(model);
    let query = model.resolve(asked, &args.query(shape)?)?;
    if !common.quiet {
        query.notes().iter().for_each(note);
    }
    write_to(args.output.as_deref(), |out| {
        let mut writer = LinkWriter::new(args.format(), shape, out)?;
        let mut tally = args.tally(common, asked.len(), "new nodes");
        for first in (0..asked.len()).step_by(PER_ROUND) {
            for links in model.links(asked, &query, first..asked.len().min(first + PER_ROUND)) {
                tally.add(1);
                writer.write(&links)?;
            }
        }
        writer.finish()
    })
}

fn score(
    args: &Predict,
    model: &Model,
    asked: &Asked,
    pairs: Vec<(u64, PairQuery)>,
    common: &Common,
) -> anyhow::Result<()> {
    let (lines, mut pairs): (Vec<u64>, Vec<PairQuery>) = pairs.into_iter().unzip();
    pairs.iter_mut().for_each(|pair| pair.relation = args.relation.clone());
    // All names are looked up before anything is written.
    let ends = model.resolve_pairs(asked, &pairs).map_err(|error| args.at_line(error, &lines))?;
    let shape = args.shape(model);
    let told = Told {
        base_rate: model.checked_base_rate(args.base_rate)?,
        explain: args.explain.then_some(NAMED_ATTRIBUTES),
        show: shape.titled,
    };
    if args.explain && !common.quiet {
        note_unexplained(&ends);
    }
    write_to(args.output.as_deref(), |out| {
        let mut writer = LinkWriter::new(args.format(), shape, out)?;
        let mut tally = args.tally(common, pairs.len(), "pairs");
        for pairs in pairs.chunks(PER_ROUND) {
            tally.add(pairs.len());
            writer.write(&model.scored_pairs(asked, pairs, told).map_err(io::Error::other)?)?;
        }
        writer.finish()
    })
}

/// Says which pairs have no explanation.
fn note_unexplained(ends: &[(End, End)]) {
    let known = ends.iter().filter(|ends| matches!(ends.0, End::Known(_))).count();
    if known > 0 {
        let (pairs, are) = (count(known, "pair"), if known == 1 { "is" } else { "are" });
        note(format!("{pairs} with a known source {are} not explained: explanations are of new nodes"));
    }
}

impl Predict {
    /// Whether the model has what shall stand beside names.
    fn check_shown(&self, model: &Model) -> anyhow::Result<()> {
        let (Some(asked), shown) = (&self.show, model.shown_column()) else { return Ok(()) };
        if Some(asked.as_str()) == shown {
            return Ok(());
        }
        let failure = match shown {
            Some(shown) => Failure::new(format!("the model has texts of column `{shown}` to show, none of `{asked}`")),
            None => Failure::new("the model has no texts to show beside names"),
        };
        let train = format!("train again with `show = \"{asked}\"` in the file of `--columns`");
        Err(failure.hint(shown.map_or(train.clone(), |shown| format!("use `--show {shown}`, or {train}"))).into())
    }

    /// What is asked about: new nodes, perhaps with links, or known ones.
    fn ask(&self, model: &Model, common: &Common) -> anyhow::Result<Asked> {
        if let Some(path) = &self.known {
            let (lines, names): (Vec<u64>, Vec<String>) = load_names(path)?.into_iter().unzip();
            return model.ask_known(&names).map_err(|error| match error {
                QueryError::NotKnown { place, name } => at(path, lines[place - 1], LineProblem::NotKnown { name }),
                other => other.into(),
            });
        }
        let path =
            self.new.as_deref().ok_or_else(|| Failure::new("no nodes given").hint("name a table with `--new`"))?;
        let new = load_new_nodes(path, model, &self.reading, common)?;
        let Some(path) = &self.links else { return Ok(model.ask(new)?) };
        let (lines, links): (Vec<u64>, Vec<GivenLink>) = load_given_links(path)?.into_iter().unzip();
        model.ask_linked(new, &links).map_err(|error| match error {
            QueryError::Link { link, problem } => at(path, lines[link - 1], problem.into()),
            other => other.into(),
        })
    }

    fn query(&self, shape: Shape) -> Result<Query, LoadError> {
        Ok(Query {
            count: self.top,
            among: self.among.into(),
            explore: self.explore,
            relation: self.relation.clone(),
            direction: self.direction.map(Direction::from),
            exclude: self.excluded()?,
            node_type: self.node_type.clone(),
            filters: self.filters.clone(),
            popularity: f64::from(self.popularity),
            base_rate: self.base_rate,
            explain: self.explain.then_some(NAMED_ATTRIBUTES),
            show: shape.titled,
        })
    }

    fn excluded(&self) -> Result<Vec<String>, LoadError> {
        let names = self.exclude.as_deref().map(load_names).transpose()?.unwrap_or_default();
        Ok(names.into_iter().map(|(_, name)| name).collect())
    }

    fn shape(&self, model: &Model) -> Shape {
        let ranked = self.pairs.is_none();
        let of_model = Shape::of(model);
        let for_people = matches!(self.format(), links::Format::Table);
        Shape {
            ranked,
            mixed: !ranked || self.among != Where::Known,
            titled: of_model.titled && (for_people || self.show.is_some()),
            explained: self.explain,
            ..of_model
        }
    }

    /// An unknown name of a pair, with its line in the table.
    fn at_line(&self, error: QueryError, lines: &[u64]) -> anyhow::Error {
        let (QueryError::UnknownNode { pair, what, name }, Some(path)) = (&error, &self.pairs) else {
            return error.into();
        };
        at(path, lines[pair - 1], LineProblem::NoSuchNode { what, name: name.clone() })
    }

    /// A bar would tear rows apart that go to the same terminal.
    fn tally(&self, common: &Common, total: usize, unit: &'static str) -> Tally {
        let rows_on_terminal = self.output.is_none() && io::stdout().is_terminal();
        Tally::new(common.quiet || rows_on_terminal, total, unit)
    }

    fn format(&self) -> links::Format {
        let ending = self.output.as_ref().and_then(|path| path.extension()).map(|ending| ending.to_string_lossy());
        match (self.format, ending.as_deref()) {
            (Some(Format::Table), _) => links::Format::Table,
            (Some(Format::Csv), _) => links::Format::Csv,
            (Some(Format::Jsonl), _) | (None, Some("jsonl")) => links::Format::Jsonl,
            (None, None) if self.output.is_none() && io::stdout().is_terminal() => links::Format::Table,
            (None, _) => links::Format::Csv,
        }
    }
}
