//! Links as they are written: a table for people, CSV, or JSON lines in the form that every front end hands out.

use std::io::{self, Write};

use coldlink::model::{Direction, Explanation, Link, Model};
use coldlink::text::printable;

use crate::output::terminal_width;
use crate::tables::{Columns, percent};

/// Attributes that a line for people names.
const SHOWN: usize = 3;
/// What adds less than this to a score is no reason.
const LEAST: f64 = 0.005;

/// How links are written.
#[derive(Clone, Copy)]
pub enum Format {
    /// For people.
    Table,
    /// Comma-separated values.
    Csv,
    /// An object on each line.
    Jsonl,
}

/// Which columns CSV and tables have.
#[derive(Clone, Copy, Default)]
pub struct Shape {
    /// Whether links have ranks: lists do, pairs do not.
    pub ranked: bool,
    /// Whether targets may be new nodes.
    pub mixed: bool,
    /// Whether links have named relations.
    pub relation: bool,
    /// Whether links have directions.
    pub direction: bool,
    /// Whether links have probabilities.
    pub probable: bool,
    /// Whether links have titles of both ends.
    pub titled: bool,
    /// Whether links are explained.
    pub explained: bool,
}

/// Writes links as they come.
pub struct LinkWriter<'a> {
    shape: Shape,
    rows: Rows<'a>,
}

enum Rows<'a> {
    Table(&'a mut dyn Write),
    Csv(Box<csv::Writer<&'a mut dyn Write>>),
    Jsonl(&'a mut dyn Write),
}

impl<'a> LinkWriter<'a> {
    /// Begins to write; CSV gets its header.
    pub fn new(format: Format, shape: Shape, out: &'a mut dyn Write) -> io::Result<Self> {
        let rows = match format {
            Format::Table => Rows::Table(out),
            Format::Csv => {
                let mut writer = Box::new(csv::Writer::from_writer(out));
                record(&mut writer, shape.header())?;
                Rows::Csv(writer)
            }
            Format::Jsonl => Rows::Jsonl(out),
        };
        Ok(LinkWriter { shape, rows })
    }

    /// Writes links that belong together: those of one source, or some pairs.
    pub fn write(&mut self, links: &[Link]) -> io::Result<()> {
        let shape = self.shape;
        match &mut self.rows {
            Rows::Table(out) => {
                let together = |a: &Link, b: &Link| (&a.relation, a.direction) == (&b.relation, b.direction);
                links.chunk_by(together).try_for_each(|links| table(out, shape, links))
            }
            Rows::Csv(writer) => links.iter().try_for_each(|link| record(writer, shape.cells(link))),
            Rows::Jsonl(out) => links.iter().try_for_each(|link| {
                serde_json::to_writer(&mut *out, link)?;
                out.write_all(b"\n")
            }),
        }
    }

    /// Writes what is left.
    pub fn finish(self) -> io::Result<()> {
        match self.rows {
            Rows::Csv(mut writer) => writer.flush(),
            Rows::Table(out) | Rows::Jsonl(out) => out.flush(),
        }
    }
}

impl Shape {
    /// What links of a model have.
    pub fn of(model: &Model) -> Self {
        let relations = model.roles().relations();
        Shape {
            relation: relations.iter().any(|relation| !relation.name.is_empty()),
            direction: relations.iter().any(|relation| relation.directed),
            probable: model.gives_probabilities(),
            titled: model.shown_column().is_some(),
            ..Shape::default()
        }
    }

    fn header(&self) -> impl Iterator<Item = &'static str> {
        let columns = [
            (true, "source"),
            (self.titled, "source_title"),
            (self.ranked, "rank"),
            (true, "target"),
            (self.titled, "target_title"),
            (self.mixed, "known"),
            (self.relation, "relation"),
            (self.direction, "direction"),
            (true, "score"),
            (self.probable, "probability"),
            (self.explained, "explanation"),
        ];
        columns.into_iter().filter(|column| column.0).map(|column| column.1)
    }

    fn cells(&self, link: &Link) -> Vec<String> {
        let mut cells = vec![link.source.clone()];
        cells.extend(self.titled.then(|| link.source_title.clone().unwrap_or_default()));
        cells.extend(link.rank.filter(|_| self.ranked).map(|rank| rank.to_string()));
        cells.push(link.target.clone());
        cells.extend(self.titled.then(|| link.target_title.clone().unwrap_or_default()));
        cells.extend(self.mixed.then(|| link.known.to_string()));
        cells.extend(self.relation.then(|| link.relation.clone().unwrap_or_default()));
        cells.extend(self.direction.then(|| link.direction.map_or("", Direction::name).to_owned()));
        cells.push(link.score.to_string());
        cells.extend(link.probability.filter(|_| self.probable).map(|probability| probability.to_string()));
        cells.extend(self.explained.then(|| why(link).unwrap_or_default()));
        cells
    }
}

/// What a column of a table for people is called, and what it says of a link.
type TableColumn = (&'static str, fn(&Link) -> String);

impl Shape {
    /// The columns of a table for people. Lists have their source above them.
    fn table_columns(&self) -> Vec<TableColumn> {
        let columns: [(bool, TableColumn); 8] = [
            (self.ranked, ("rank", |link| link.rank.unwrap_or(0).to_string())),
            (!self.ranked, ("source", |link| link.source.clone())),
            (!self.ranked && self.titled, (TITLE, |link| link.source_title.clone().unwrap_or_default())),
            (true, ("target", |link| link.target.clone())),
            (self.titled, (TITLE, |link| link.target_title.clone().unwrap_or_default())),
            (self.mixed, ("pool", |link| if link.known { "known" } else { "new" }.to_owned())),
            (self.probable, ("probability", |link| link.probability.map_or_else(String::new, percent))),
            (true, ("score", |link| format!("{:.3}", link.score))),
        ];
        columns.into_iter().filter(|column| column.0).map(|column| column.1).collect()
    }
}

const TITLE: &str = "title";

/// A table for people: who is asked about, what the columns are, and a line for each link, with the reasons under it.
fn table(out: &mut dyn Write, shape: Shape, links: &[Link]) -> io::Result<()> {
    let columns = shape.table_columns();
    let is_text = |name: &str| name == TITLE || name == "target" || name == "source";
    let places =
        |is: &dyn Fn(&str) -> bool| (0..columns.len()).filter(|&place| is(columns[place].0)).collect::<Vec<_>>();
    let (texts, titles) = (places(&is_text), places(&|name| name == TITLE));
    let mut table = Columns::of_lines(columns.iter().map(|column| column.0), &texts);
    links.iter().for_each(|link| table.line(columns.iter().map(|column| (column.1)(link)), &texts));
    let width = terminal_width();
    if let Some(width) = width {
        table.fit(width, &titles);
    }
    if let Some(first) = links.first().filter(|_| shape.ranked) {
        writeln!(out, "{}", heading(first))?;
    }
    let text = table.to_string();
    let mut lines = text.lines();
    lines.by_ref().take(1).try_for_each(|line| writeln!(out, "{line}"))?;
    for (line, link) in lines.zip(links) {
        writeln!(out, "{line}")?;
        why(link).iter().try_for_each(|why| reasons(out, why, width))?;
    }
    if shape.ranked { writeln!(out) } else { Ok(()) }
}

/// What stands above the links of one source, relation and direction.
fn heading(link: &Link) -> String {
    let arrow = match link.direction {
        Some(Direction::In) => " \u{2190}",
        Some(_) => " \u{2192}",
        None => "",
    };
    let relation = link.relation.as_ref().map(|name| format!(" {name}")).unwrap_or_default();
    let title = link.source_title.as_ref().map(|title| format!("  {title}")).unwrap_or_default();
    printable(&format!("{}{relation}{arrow}{title}", link.source)).into_owned()
}

/// Reasons under a link, in lines that fit.
fn reasons(out: &mut dyn Write, why: &str, width: Option<u16>) -> io::Result<()> {
    const INDENT: usize = 7;
    let most = width.map_or(usize::MAX, |width| usize::from(width).saturating_sub(INDENT).max(20));
    let why = printable(why);
    let mut line = String::new();
    for part in why.split_inclusive(", ") {
        if !line.is_empty() && line.chars().count() + part.trim_end().chars().count() > most {
            writeln!(out, "{:INDENT$}{}", "", line.trim_end())?;
            line.clear();
        }
        line.push_str(part);
    }
    writeln!(out, "{:INDENT$}{line}", "")
}

/// An explanation in a line for people: what distinguishes this link first, then what it shares with others, and what all sums to.
fn why(link: &Link) -> Option<String> {
    let explanation = link.explanation.as_ref()?;
    let (first, others) = explanation.attributes.split_at(explanation.attributes.len().min(SHOWN));
    let others = explanation.other_attributes + others.iter().map(|reason| reason.adds).sum::<f64>();
    let Explanation { own_links, similar_nodes, popularity, baseline, base_rate, .. } = explanation;
    let base_rate = base_rate.unwrap_or(0.0);
    let rarity = if base_rate < 0.0 { "links are rare" } else { "links are frequent" };
    let parts = [
        ("other attributes", others),
        ("own links", own_links.unwrap_or(0.0)),
        ("similar nodes", *similar_nodes),
        ("popularity", *popularity),
        ("baseline", *baseline),
        (rarity, base_rate),
    ];
    let parts = parts.into_iter().filter(|part| part.1.abs() >= LEAST).map(|(name, adds)| format!("{name} {adds:+.2}"));
    let named = first.iter().map(|reason| format!("{} {:+.2}", reason.name, reason.adds));
    let sum = f64::from(link.score) + base_rate;
    let whole = link.probability.map_or_else(String::new, |probability| format!(", or {}", percent(probability)));
    Some(format!("{} = {sum:+.2}{whole}", named.chain(parts).collect::<Vec<_>>().join(", ")))
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
