//! How the columns of a node table become attributes, and new rows the same attributes.
//!
//! A schema is fitted on all rows of a table when it is loaded, which is safe for any split: it takes from them only
//! which columns are numeric and which words occur, no statistic and no link. Whatever weighs or scales attributes
//! is fitted later, on training rows alone; until then numeric columns are used as they are.

use std::collections::{BTreeSet, HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::error::{LineProblem, LoadError};
use super::table::Table;
use crate::graph::{AttributeNames, Attributes};

/// Separates the values of a cell that has several.
const BETWEEN_VALUES: char = '|';

/// A column of texts that has more different ones than this, in more than half of the rows, says nothing that two
/// nodes could share (titles, addresses) and is left out.
const MOST_CATEGORIES_WHEN_NEARLY_UNIQUE: usize = 50;

/// A fitted description: from the columns of a table to attribute columns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schema {
    /// The column of names.
    pub id: String,
    /// The other columns, in the order of their attributes.
    pub columns: Vec<ColumnSchema>,
}

/// What becomes of one column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColumnSchema {
    /// Its name in the header.
    pub name: String,
    /// How its cells are read.
    #[serde(flatten)]
    pub kind: ColumnKind,
}

/// How the cells of a column are read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ColumnKind {
    /// One attribute, called `column`: the number as it stands; an empty cell is 0.
    Numeric,
    /// Words separated by `|`, or a single one: an attribute of value 1 for each, called `column=word`.
    MultiValued {
        /// All words, sorted.
        vocabulary: Vec<String>,
    },
    /// No attribute: without a name, empty, or a text that nearly every row has to itself.
    Ignored,
}

impl Schema {
    /// Finds out what each column is. The names are in the column `id`, `node` or `name`, or else in the first.
    pub fn fit(table: &Table) -> Result<Self, LoadError> {
        let header = table.header();
        let named = |name: &str| header.iter().position(|column| column.eq_ignore_ascii_case(name));
        let id = ["id", "node", "name"].iter().find_map(|name| named(name)).unwrap_or(0);
        let others = (0..header.len()).filter(|&column| column != id);
        let fitted = others
            .map(|column| Ok(ColumnSchema { name: header[column].clone(), kind: ColumnKind::fit(table, column)? }));
        Ok(Schema { id: header[id].clone(), columns: fitted.collect::<Result<_, LoadError>>()? })
    }

    /// The attributes of a table's rows, and how many values of theirs the schema does not know.
    pub fn apply(&self, table: &Table) -> Result<(Attributes, usize), LoadError> {
        let readers = self.readers(table)?;
        let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        let (mut entries, mut unknown) = (Vec::new(), 0);
        for row in 0..table.rows() {
            for reader in &readers {
                entries.clear();
                unknown += reader.read(table, row, &mut entries)?;
                columns.extend(entries.iter().map(|entry| entry.0));
                values.extend(entries.iter().map(|entry| entry.1));
            }
            offsets.push(columns.len() as u64);
        }
        let names = AttributeNames(self.attribute_names());
        let attributes = Attributes::from_parts(names.0.len(), offsets.into(), columns.into(), values.into(), names);
        Ok((attributes.expect("readers give sorted columns and finite values"), unknown))
    }

    /// How many attributes there are.
    pub fn width(&self) -> usize {
        self.columns.iter().map(|column| column.kind.width()).sum()
    }

    /// What the attributes are called: `column`, or `column=word`.
    pub fn attribute_names(&self) -> Vec<String> {
        let mut names = Vec::with_capacity(self.width());
        for ColumnSchema { name, kind } in &self.columns {
            match kind {
                ColumnKind::Numeric => names.push(name.clone()),
                ColumnKind::MultiValued { vocabulary } => {
                    names.extend(vocabulary.iter().map(|word| format!("{name}={word}")));
                }
                ColumnKind::Ignored => {}
            }
        }
        names
    }

    /// The columns that become no attribute, except one without a name.
    pub fn ignored(&self) -> Vec<String> {
        let named = self.columns.iter().filter(|column| !column.name.is_empty());
        let ignored = named.filter(|column| column.kind == ColumnKind::Ignored);
        ignored.map(|column| column.name.clone()).collect()
    }

    fn readers(&self, table: &Table) -> Result<Vec<ColumnReader<'_>>, LoadError> {
        let mut first = 0;
        let mut readers = Vec::new();
        for ColumnSchema { name, kind } in &self.columns {
            let words = match kind {
                ColumnKind::Numeric => None,
                ColumnKind::MultiValued { vocabulary } => {
                    Some(vocabulary.iter().zip(first..).map(|(word, attribute)| (word.as_str(), attribute)).collect())
                }
                ColumnKind::Ignored => continue,
            };
            readers.push(ColumnReader { column: table.find(name)?, first, words });
            first += kind.width() as u32;
        }
        Ok(readers)
    }
}

impl ColumnKind {
    fn fit(table: &Table, column: usize) -> Result<Self, LoadError> {
        let cells = || table.column(column).filter(|cell| !cell.is_empty());
        let numbers = || cells().map_while(|cell| cell.parse::<f64>().ok());
        if table.header()[column].is_empty() || cells().next().is_none() {
            return Ok(ColumnKind::Ignored);
        }
        if numbers().count() == cells().count() && numbers().any(f64::is_finite) {
            (0..table.rows()).try_for_each(|row| number(table, row, column).map(drop))?;
            return Ok(ColumnKind::Numeric);
        }
        if !cells().any(|cell| cell.contains(BETWEEN_VALUES)) {
            let different = cells().collect::<HashSet<_>>().len();
            if different > MOST_CATEGORIES_WHEN_NEARLY_UNIQUE && 2 * different > table.rows() {
                return Ok(ColumnKind::Ignored);
            }
        }
        let vocabulary: BTreeSet<&str> = cells().flat_map(words).collect();
        Ok(ColumnKind::MultiValued { vocabulary: vocabulary.into_iter().map(str::to_owned).collect() })
    }

    fn width(&self) -> usize {
        match self {
            ColumnKind::Numeric => 1,
            ColumnKind::MultiValued { vocabulary } => vocabulary.len(),
            ColumnKind::Ignored => 0,
        }
    }
}

/// Reads the cells of one column of a given table.
struct ColumnReader<'a> {
    column: usize,
    first: u32,
    /// The attribute of each word; `None` for a numeric column.
    words: Option<HashMap<&'a str, u32>>,
}

impl ColumnReader<'_> {
    /// Adds a cell's attributes, sorted, and returns how many of its words are not known.
    fn read(&self, table: &Table, row: usize, entries: &mut Vec<(u32, f32)>) -> Result<usize, LoadError> {
        let Some(known) = &self.words else {
            let value = number(table, row, self.column)?;
            entries.extend((value != 0.0).then_some((self.first, value)));
            return Ok(0);
        };
        let mut unknown = 0;
        for word in words(table.cell(row, self.column)) {
            match known.get(word) {
                Some(&attribute) => entries.push((attribute, 1.0)),
                None => unknown += 1,
            }
        }
        entries.sort_unstable_by_key(|entry| entry.0);
        entries.dedup_by_key(|entry| entry.0);
        Ok(unknown)
    }
}

fn words(cell: &str) -> impl Iterator<Item = &str> {
    cell.split(BETWEEN_VALUES).map(str::trim).filter(|word| !word.is_empty())
}

/// A cell of a numeric column; empty is 0.
fn number(table: &Table, row: usize, column: usize) -> Result<f32, LoadError> {
    let cell = table.cell(row, column);
    if cell.is_empty() {
        return Ok(0.0);
    }
    let named = || (table.header()[column].clone(), cell.to_owned());
    let not_a_number = |_| table.line_problem(row, LineProblem::not_a_number(named()));
    let value = cell.parse::<f64>().map_err(not_a_number)? as f32;
    let not_finite = || table.line_problem(row, LineProblem::not_finite(named()));
    value.is_finite().then_some(value).ok_or_else(not_finite)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> Table {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("nodes.csv");
        std::fs::write(&path, text).unwrap();
        Table::read(&path).unwrap()
    }

    fn check(text: &str, expected: &[(&str, ColumnKind)]) -> Schema {
        let schema = Schema::fit(&table(text)).unwrap();
        let columns: Vec<_> = schema.columns.iter().map(|column| (column.name.as_str(), column.kind.clone())).collect();
        assert_eq!(columns, expected);
        schema
    }

    fn words(words: &[&str]) -> ColumnKind {
        ColumnKind::MultiValued { vocabulary: words.iter().map(|&word| word.to_owned()).collect() }
    }

    #[test]
    fn a_column_is_what_its_cells_are() {
        let schema = check(
            "year,id,words,kind,empty,codes\n1999,a,x|y,talk,,1\n,b,y,paper,,2|3\n-1e3,c,,,,\n",
            &[
                ("year", ColumnKind::Numeric),
                ("words", words(&["x", "y"])),
                ("kind", words(&["paper", "talk"])),
                ("empty", ColumnKind::Ignored),
                ("codes", words(&["1", "2", "3"])),
            ],
        );
        assert_eq!((schema.id.as_str(), schema.width()), ("id", 8));
    }

    #[test]
    fn texts_that_are_nearly_all_different_are_left_out() {
        let rows: String = (0..51).map(|row| format!("{row},title {row},group {}\n", row % 2)).collect();
        let schema = check(
            &format!("paper,title,group\n{rows}"),
            &[("title", ColumnKind::Ignored), ("group", words(&["group 0", "group 1"]))],
        );
        assert_eq!(schema.ignored(), ["title"]);
    }

    #[test]
    fn a_schema_survives_being_stored() {
        let schema = Schema::fit(&table("id,x,y,z\na,1,b|'c,\nd,,\"e = \"\"é\"\"\",\n")).unwrap();
        let stored = toml::to_string(&schema).unwrap();
        assert_eq!(toml::from_str::<Schema>(&stored).unwrap(), schema);
    }

    #[test]
    fn a_word_given_twice_counts_once() {
        let table = table("id,words\na,y|x||y\n");
        let (attributes, unknown) = Schema::fit(&table).unwrap().apply(&table).unwrap();
        assert_eq!((attributes.row(0), unknown), ((&[0, 1][..], &[1.0, 1.0][..]), 0));
    }
}
