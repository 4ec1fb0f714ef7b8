//! How the columns of a node table become attributes, and new rows the same attributes.
//!
//! A schema lists what the cells of a table may say: kinds of columns, their values, and which node types have them. It is taken
//! from all rows, those that a split hides included: what a column is does not depend on which rows are looked at. It holds no
//! number that is fitted, and no link. Which values are frequent enough, means, deviations and word weights are
//! fitted later, on training rows alone ([`Preparation`](super::Preparation)); what is to be fitted to which
//! attributes is in their [`Block`]s.
//!
//! Attributes are numbered column by column in the order of the table, the sparse ones first and the dense ones after them.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::encoding::{Encoding, FIT_OF_MISSING};
use super::kind::{ColumnKind, Columns};
use super::vectors::TokenVectors;
use crate::graph::{Block, Fitting};

/// From the columns of a table to attribute columns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schema {
    /// The column of names.
    pub id: String,
    /// The column whose texts, titles, stand beside names where nodes are shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub show: Option<String>,
    /// The other columns, in the order of the table.
    pub columns: Vec<Column>,
}

/// What becomes of one column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    /// Its name in the header.
    pub name: String,
    /// How its cells are read.
    #[serde(rename = "options")]
    pub kind: ColumnKind,
    /// What they may say.
    #[serde(default, skip_serializing_if = "Values::is_none")]
    pub values: Values,
    /// The node types that have such a column, where not all do: for the others it is neither empty nor missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub of: Vec<String>,
    /// What makes vectors of its texts, where `kind` names an encoder: files keep it in sections of its own.
    #[serde(skip)]
    pub vectors: Option<Arc<TokenVectors>>,
}

/// What the cells of a column may say.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Values {
    /// Nothing that would have to be listed.
    #[default]
    None,
    /// These values, sorted.
    Listed(Vec<String>),
    /// Anything, in so many buckets.
    Hashed(u32),
    /// So many numbers, as sparse attributes: fewer than half of the rows have them.
    Numbers(u32),
    /// So many numbers, in the dense part.
    Dense(u32),
    /// The words of the first column of this kind.
    Shared,
}

impl Values {
    fn is_none(&self) -> bool {
        *self == Values::None
    }
}

impl Column {
    /// How many attributes it becomes.
    pub fn width(&self) -> usize {
        match (self.kind.encoding(), &self.values) {
            (Encoding::Parts(parts), _) => parts.parts.len() + 1,
            (Encoding::Nothing, _) | (_, Values::None | Values::Shared) => 0,
            (_, Values::Listed(values)) => values.len() + usize::from(self.has_other()),
            (_, Values::Hashed(count) | Values::Numbers(count) | Values::Dense(count)) => *count as usize,
        }
    }

    /// Whether its attributes are called by what cells say: by values or words.
    pub fn has_named_values(&self) -> bool {
        matches!(self.values, Values::Listed(_))
    }

    /// Whether its attributes are in the dense part.
    pub fn is_dense(&self) -> bool {
        matches!(self.values, Values::Dense(_))
    }

    /// Whether nodes of a type have it. Nodes whose type is not known may have any.
    pub(super) fn belongs_to(&self, node_type: &str) -> bool {
        self.of.is_empty() || node_type.is_empty() || self.of.iter().any(|known| known == node_type)
    }

    /// Whether values that are rare or not known count as one of their own, the last of its attributes.
    pub(super) fn has_other(&self) -> bool {
        matches!(self.kind.encoding(), Encoding::Values(column) if column.other)
            && matches!(self.values, Values::Listed(_))
    }

    /// Whether a value counts the more the oftener a cell has it.
    pub(super) fn counts_repetitions(&self) -> bool {
        matches!(self.kind.encoding(), Encoding::Values(column) if column.counted)
    }

    /// Whether it becomes no attribute.
    pub fn is_ignored(&self) -> bool {
        self.width() == 0 && self.values != Values::Shared
    }

    /// `name` stands for the column.
    fn attribute_names(&self, name: &str, names: &mut Vec<String>) {
        let Column { kind, values, .. } = self;
        match (kind.encoding(), values) {
            (Encoding::Parts(parts), _) => {
                names.extend(parts.parts.iter().map(|part| match part.name {
                    "" => name.to_owned(),
                    part => format!("{name} ({part})"),
                }));
                names.push(format!("{name} is missing"));
            }
            (Encoding::Nothing, _) | (_, Values::None | Values::Shared) => {}
            (_, Values::Listed(values)) => names.extend(values.iter().map(|value| format!("{name}={value}"))),
            (_, Values::Hashed(buckets)) => names.extend((0..*buckets).map(|bucket| format!("{name}#{bucket}"))),
            (_, Values::Numbers(size) | Values::Dense(size)) => {
                names.extend((0..*size).map(|place| format!("{name}[{place}]")));
            }
        }
        if self.has_other() {
            names.push(format!("{name}=(other)"));
        }
    }

    /// What is fitted to its attributes, `first` being the first of them.
    fn blocks(&self, first: u32, blocks: &mut Vec<Block>) {
        let mut add = |from: u32, width: u32, fit: Fitting| {
            if width > 0 {
                blocks.push(Block { columns: first + from..first + from + width, fit });
            }
        };
        let width = self.width() as u32;
        match (self.kind.encoding(), &self.values) {
            (Encoding::Parts(parts), _) => {
                (0..).zip(parts.parts).for_each(|(place, part)| add(place, 1, part.fit));
                add(width - 1, 1, FIT_OF_MISSING);
            }
            (Encoding::Values(column), Values::Hashed(_)) => add(0, width, column.fit_of_buckets()),
            (Encoding::Values(column), _) => add(0, width, column.fit),
            (Encoding::Vector(_), _) => add(0, width, Fitting::Lengths),
            (Encoding::Encoded, _) => add(0, width, Fitting::Encoded),
            (Encoding::Nothing, _) => {}
        }
    }

    /// Whether what a file says of it can be worked with.
    fn is_sound(&self) -> bool {
        let fits = match self.kind.encoding() {
            Encoding::Parts(_) => self.values == Values::None,
            Encoding::Vector(_) | Encoding::Encoded => matches!(self.values, Values::Numbers(_) | Values::Dense(_)),
            Encoding::Values(_) if self.kind == (ColumnKind::Type {}) => matches!(self.values, Values::Listed(_)),
            Encoding::Values(_) if self.values == Values::Shared => self.kind.shares_words(),
            Encoding::Values(_) => matches!(self.values, Values::Listed(_) | Values::Hashed(_)),
            Encoding::Nothing => self.values == Values::None,
        };
        let sound = match &self.values {
            Values::Listed(values) => values.is_sorted_by(|a, b| a < b),
            Values::None | Values::Shared => true,
            Values::Hashed(count) | Values::Dense(count) => (1..1 << 24).contains(count),
            Values::Numbers(count) => *count < 1 << 24,
        };
        fits && sound
    }
}

impl Schema {
    /// How many attributes there are.
    pub fn width(&self) -> usize {
        self.columns.iter().map(Column::width).sum()
    }

    /// How many of them are in the dense part, after all others.
    pub fn dense_width(&self) -> usize {
        self.columns.iter().filter(|column| column.is_dense()).map(Column::width).sum()
    }

    pub(super) fn sparse_width(&self) -> usize {
        self.width() - self.dense_width()
    }

    /// Every column with its first attribute, in the order of the table.
    pub(super) fn placed(&self) -> impl Iterator<Item = (&Column, u32)> {
        let (mut sparse, mut dense) = (0, self.sparse_width() as u32);
        self.columns.iter().map(move |column| {
            let next = if column.is_dense() { &mut dense } else { &mut sparse };
            let first = *next;
            *next += column.width() as u32;
            (column, first)
        })
    }

    /// The same in the order of their attributes.
    fn in_order(&self) -> impl Iterator<Item = (&Column, u32)> {
        let sparse = self.placed().filter(|(column, _)| !column.is_dense());
        sparse.chain(self.placed().filter(|(column, _)| column.is_dense()))
    }

    /// What the attributes are called: `column`, `column=value`, `column is missing` and their like.
    pub fn attribute_names(&self) -> Vec<String> {
        let mut names = Vec::with_capacity(self.width());
        self.in_order().for_each(|(column, _)| column.attribute_names(self.attributes_of(column), &mut names));
        names
    }

    /// What the attributes of a column are called by: its name, or `text` where columns share them.
    pub fn attributes_of<'a>(&self, column: &'a Column) -> &'a str {
        let shares = |other: &Column| other.values == Values::Shared && other.kind == column.kind;
        if self.columns.iter().any(shares) { column.kind.name() } else { &column.name }
    }

    /// The place of the column whose words another shares.
    pub(super) fn first_with_words_of(&self, column: &Column) -> Option<usize> {
        let is_first = |other: &Column| other.kind == column.kind && other.values != Values::Shared;
        self.columns.iter().position(is_first).filter(|_| column.values == Values::Shared)
    }

    /// What is to be fitted to which attributes.
    pub fn blocks(&self) -> Vec<Block> {
        let mut blocks = Vec::new();
        self.in_order().for_each(|(column, first)| column.blocks(first, &mut blocks));
        blocks
    }

    /// The columns that become no attribute, except one without a name.
    pub fn ignored(&self) -> Vec<String> {
        let named = self.columns.iter().filter(|column| !column.name.is_empty());
        named.filter(|column| column.is_ignored()).map(|column| column.name.clone()).collect()
    }

    /// The column that tells the type of each node, and its first attribute.
    pub fn type_column(&self) -> Option<(&Column, u32)> {
        self.placed().find(|(column, _)| column.kind == ColumnKind::Type {})
    }

    /// The columns of numbers, each with the attribute that has its numbers as they were read.
    pub fn numbers(&self) -> impl Iterator<Item = (&Column, u32)> {
        self.placed().filter(|(column, _)| matches!(column.kind, ColumnKind::Numeric { .. }))
    }

    /// A column by its name, and its first attribute.
    pub fn column(&self, name: &str) -> Option<(&Column, u32)> {
        self.placed().find(|(column, _)| column.name == name)
    }

    /// The kinds of all columns, ready to be edited.
    pub fn to_columns(&self) -> Columns {
        let columns = self.columns.iter().filter(|column| !column.name.is_empty());
        Columns {
            id: Some(self.id.clone()),
            show: self.show.clone(),
            columns: columns.map(|column| (column.name.clone(), column.kind.clone())).collect(),
            ..Columns::default()
        }
    }

    /// The same without listed values that `keeps` refuses and without token vectors of which it keeps nothing, and the attributes that
    /// remain, in rising order.
    pub fn keeping(&self, keeps: impl Fn(u32) -> bool) -> (Schema, Vec<u32>) {
        let mut remaining = Vec::new();
        let mut column = |(column, first): (&Column, u32)| {
            let all = first..first + column.width() as u32;
            if column.kind.encoder().is_some() && !all.clone().any(&keeps) {
                return None;
            }
            let Values::Listed(values) = &column.values else {
                remaining.extend(all);
                return Some(column.clone());
            };
            let kept = values.iter().zip(all.clone()).filter(|(_, attribute)| keeps(*attribute));
            let (values, attributes): (Vec<String>, Vec<u32>) = kept.map(|(value, at)| (value.clone(), at)).unzip();
            remaining.extend(attributes);
            remaining.extend(column.has_other().then_some(all.end - 1));
            Some(Column { values: Values::Listed(values), ..column.clone() })
        };
        let columns = self.placed().filter_map(&mut column).collect();
        remaining.sort_unstable();
        (Schema { id: self.id.clone(), show: self.show.clone(), columns }, remaining)
    }

    /// Whether what a file says can be worked with: values sorted and different, sizes that fit in memory.
    pub(crate) fn is_sound(&self) -> bool {
        let shares = |column: &Column| column.values == Values::Shared;
        let is_before = |place: usize, first: Option<usize>| first.is_some_and(|first| first < place);
        let columns = || self.columns.iter().enumerate();
        self.columns.iter().all(Column::is_sound)
            && columns().all(|(place, column)| !shares(column) || is_before(place, self.first_with_words_of(column)))
            && self.width() < 1 << 30
    }
}

#[cfg(test)]
mod tests {
    use super::super::kind::DateOrder;
    use super::*;

    fn column(name: &str, kind: ColumnKind, values: Values) -> Column {
        Column { name: name.into(), kind, values, of: Vec::new(), vectors: None }
    }

    fn listed(values: &[&str]) -> Values {
        Values::Listed(values.iter().map(|&value| value.to_owned()).collect())
    }

    fn schema() -> Schema {
        let columns = vec![
            column("price", ColumnKind::numeric(), Values::None),
            column("tags", ColumnKind::multi_valued(), listed(&["a", "é = \"b\""])),
            column("url", ColumnKind::Ignore {}, Values::None),
            column("title", ColumnKind::text(), listed(&["graph", "link"])),
            column("made", ColumnKind::DateTime { order: DateOrder::DayFirst }, Values::None),
            column("look", ColumnKind::Vector { size: None }, Values::Dense(3)),
            column("mood", ColumnKind::Vector { size: None }, Values::Numbers(2)),
            column("shop", ColumnKind::categorical(), Values::Hashed(2)),
            column("sort", ColumnKind::Type {}, listed(&["item", "user"])),
        ];
        Schema { id: "id".into(), show: Some("title".into()), columns }
    }

    #[test]
    fn a_schema_survives_being_stored() {
        let schema = schema();
        let stored = toml::to_string(&schema).unwrap();
        assert_eq!(toml::from_str::<Schema>(&stored).unwrap(), schema);
        assert!(schema.is_sound());
        let columns = schema.to_columns();
        assert_eq!(toml::from_str::<Columns>(&columns.to_toml()).unwrap(), columns);
    }

    #[test]
    fn a_schema_without_buckets_to_hash_into_is_not_sound() {
        let hashed = |buckets| Schema {
            id: "id".into(),
            show: None,
            columns: vec![column("x", ColumnKind::text(), Values::Hashed(buckets))],
        };
        assert!(hashed(1).is_sound() && !hashed(0).is_sound());
    }

    #[test]
    fn names_and_blocks_cover_all_attributes_in_order() {
        let schema = schema();
        assert_eq!(schema.attribute_names().len(), schema.width());
        let blocks = schema.blocks();
        assert!(blocks.windows(2).all(|pair| pair[0].columns.end == pair[1].columns.start));
        assert_eq!(blocks.last().unwrap().columns.end as usize, schema.width());
        assert_eq!(schema.ignored(), ["url"]);
        assert_eq!(schema.type_column().unwrap().1 as usize, schema.width() - 5);
        assert_eq!(schema.column("look").unwrap().1 as usize, schema.width() - 3, "dense attributes come last");
        assert_eq!(schema.attribute_names().last().unwrap(), "look[2]");
    }

    #[test]
    fn values_that_are_not_kept_are_not_known_any_more() {
        let (kept, attributes) = schema().keeping(|attribute| attribute != 2 && attribute != 5);
        assert_eq!(kept.columns[1].values, listed(&["é = \"b\""]));
        assert_eq!(attributes[..5], [0, 1, 3, 4, 6]);
        assert_eq!(kept.width(), attributes.len());
    }
}
