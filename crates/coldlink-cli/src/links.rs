//! Links as they are written: a table for people, CSV, or JSON lines in the form that every front end hands out.

use std::io::{self, Write};

use coldlink::model::{Direction, Explanation, Link};
use coldlink::text::printable;

use crate::tables::Columns;

/// Attributes that a line for people names.
const SHOWN: usize = 3;

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
#[derive(Clone, Copy)]
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
    fn header(&self) -> impl Iterator<Item = &'static str> {
        let columns = [
            (true, "source"),
            (self.ranked, "rank"),
            (true, "target"),
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
        cells.extend(link.rank.filter(|_| self.ranked).map(|rank| rank.to_string()));
        cells.push(link.target.clone());
        cells.extend(self.mixed.then(|| link.known.to_string()));
        cells.extend(self.relation.then(|| link.relation.clone().unwrap_or_default()));
        cells.extend(self.direction.then(|| link.direction.map_or("", Direction::name).to_owned()));
        cells.push(link.score.to_string());
        cells.extend(link.probability.filter(|_| self.probable).map(|probability| probability.to_string()));
        cells.extend(link.explanation.as_ref().filter(|_| self.explained).map(in_words));
        cells
    }
}

fn table(out: &mut dyn Write, shape: Shape, links: &[Link]) -> io::Result<()> {
    let mut table =
        if shape.ranked { Columns::bare() } else { Columns::new(["target", "source", "score", "probability"]) };
    for link in links {
        let first = if shape.ranked { link.rank.unwrap_or(0).to_string() } else { link.source.clone() };
        let mut cells = vec![link.target.clone(), first];
        cells.extend(shape.mixed.then(|| if link.known { "known" } else { "new" }.to_owned()));
        cells.push(format!("{:.4}", link.score));
        cells.extend(link.probability.map(short));
        match &link.explanation {
            Some(explanation) => table.row_with_text(cells, &in_words(explanation)),
            None => table.row(cells),
        }
    }
    match links.first().filter(|_| shape.ranked) {
        Some(first) => writeln!(out, "{}\n{table}", heading(first)),
        None => write!(out, "{table}"),
    }
}

/// What stands above the links of one source, relation and direction.
fn heading(link: &Link) -> String {
    let arrow = match link.direction {
        Some(Direction::In) => " \u{2190}",
        Some(_) => " \u{2192}",
        None => "",
    };
    let relation = link.relation.as_ref().map(|name| format!(" {name}")).unwrap_or_default();
    printable(&format!("{}{relation}{arrow}", link.source)).into_owned()
}

/// An explanation in a line for people.
fn in_words(explanation: &Explanation) -> String {
    let named = explanation.attributes.iter().take(SHOWN).map(|reason| format!("{} {:+.2}", reason.name, reason.adds));
    let own_links = explanation.own_links.unwrap_or(0.0);
    let parts = [
        ("own links", own_links),
        ("similar nodes", explanation.similar_nodes),
        ("popularity", explanation.popularity),
    ];
    let parts = parts.into_iter().filter(|part| part.1 != 0.0).map(|(name, adds)| format!("{name} {adds:+.2}"));
    named.chain(parts).collect::<Vec<_>>().join(", ")
}

/// Three digits that count, however small.
fn short(probability: f64) -> String {
    if probability >= 0.001 { format!("{probability:.4}") } else { format!("{probability:.2e}") }
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
