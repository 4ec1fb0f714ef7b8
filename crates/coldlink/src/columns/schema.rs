//! How the columns of a node table become attributes, and new rows the same attributes.
//!
//! A schema lists what the cells of a table may say: kinds of columns, their values, and which kinds of nodes have them. It is taken
//! from all rows, those that a split hides included: what a column is does not depend on which rows are looked at. It holds no
//! number that is fitted, and no link. Which values are frequent enough, means, deviations and word weights are
//! fitted later, on training rows alone ([`Preparation`](crate::split::Preparation)); what is to be fitted to which
//! attributes stands in their [`Block`]s.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::kind::{ColumnKind, Columns, Scale, WordWeights};
use super::times;
use crate::graph::{Attributes, Block, Fitting, NodeId, NodeTypes};

/// From the columns of a table to attribute columns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schema {
    /// The column of names.
    pub id: String,
    /// The other columns, in the order of their attributes.
    pub columns: Vec<Column>,
}

/// What becomes of one column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Stored", into = "Stored")]
pub struct Column {
    /// Its name in the header.
    pub name: String,
    /// How its cells are read.
    pub kind: ColumnKind,
    /// What they may say.
    pub values: Values,
    /// Whether a missing number, and a value that is not known, are attributes of their own; not so in files of the first version.
    pub tells_missing: bool,
    /// The kinds of nodes that have such a column, where not all do: for the others it is neither empty nor missing.
    pub of: Vec<String>,
}

/// What the cells of a column may say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Values {
    /// Nothing that would have to be listed.
    None,
    /// These values, sorted.
    Listed(Vec<String>),
    /// Anything, in so many buckets.
    Hashed(u32),
    /// So many numbers.
    Numbers(u32),
}

impl Column {
    /// How many attributes it becomes.
    pub fn width(&self) -> usize {
        let values = match &self.values {
            Values::None => 0,
            Values::Listed(values) => values.len() + usize::from(self.has_other()),
            Values::Hashed(count) | Values::Numbers(count) => *count as usize,
        };
        match self.kind {
            ColumnKind::Numeric { .. } => 1 + usize::from(self.tells_missing),
            ColumnKind::Boolean {} => 2,
            ColumnKind::DateTime {} => times::PARTS + 1,
            ColumnKind::Ignore {} => 0,
            _ => values,
        }
    }

    /// Whether nodes of a kind have it. Nodes whose kind is not said may have any.
    pub(super) fn is_of(&self, kind: &str) -> bool {
        self.of.is_empty() || kind.is_empty() || self.of.iter().any(|known| known == kind)
    }

    /// Whether values that are rare or not known count as one of their own, the last of its attributes.
    pub(super) fn has_other(&self) -> bool {
        let grouped = matches!(self.kind, ColumnKind::Categorical { .. } | ColumnKind::MultiValued { .. });
        grouped && self.tells_missing && matches!(self.values, Values::Listed(_))
    }

    fn attribute_names(&self, names: &mut Vec<String>) {
        let Column { name, kind, values, .. } = self;
        match kind {
            ColumnKind::Numeric { .. } | ColumnKind::Boolean {} => names.push(name.clone()),
            ColumnKind::DateTime {} => {
                names.extend(times::PART_NAMES.iter().map(|part| format!("{name} ({part})")));
            }
            ColumnKind::Ignore {} => return,
            _ => match values {
                Values::None => {}
                Values::Listed(values) => names.extend(values.iter().map(|value| format!("{name}={value}"))),
                Values::Hashed(buckets) => names.extend((0..*buckets).map(|bucket| format!("{name}#{bucket}"))),
                Values::Numbers(size) => names.extend((0..*size).map(|place| format!("{name}[{place}]"))),
            },
        }
        let simple = matches!(kind, ColumnKind::Numeric { .. } | ColumnKind::Boolean {} | ColumnKind::DateTime {});
        if simple && self.tells_missing {
            names.push(format!("{name} is missing"));
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
        match self.kind {
            _ if !self.tells_missing => {}
            ColumnKind::Numeric { scale } => {
                let fit = match scale {
                    Scale::Standard => Fitting::Standardised,
                    Scale::Quantile => Fitting::Ranked,
                    Scale::None => Fitting::Kept { words: false },
                };
                add(0, 1, fit);
                add(1, 1, Fitting::Kept { words: true });
            }
            ColumnKind::DateTime {} => {
                add(0, 1, Fitting::Standardised);
                add(1, width - 2, Fitting::Kept { words: false });
                add(width - 1, 1, Fitting::Kept { words: true });
            }
            ColumnKind::Categorical { rare, .. } | ColumnKind::MultiValued { rare, .. } if self.has_other() => {
                add(0, width, Fitting::Grouped { at_least: rare });
            }
            ColumnKind::Text { vocabulary, rare, weights, .. } => {
                let (at_least, weighed) = (rare, weights == WordWeights::TfIdf);
                add(0, width, Fitting::Words { at_least, most: vocabulary, weighed });
            }
            ColumnKind::Vector {} => add(0, width, Fitting::Lengths),
            _ => add(0, width, Fitting::Kept { words: true }),
        }
    }
}

impl Schema {
    /// How many attributes there are.
    pub fn width(&self) -> usize {
        self.columns.iter().map(Column::width).sum()
    }

    /// What the attributes are called: `column`, `column=value`, `column is missing` and their like.
    pub fn attribute_names(&self) -> Vec<String> {
        let mut names = Vec::with_capacity(self.width());
        self.columns.iter().for_each(|column| column.attribute_names(&mut names));
        names
    }

    /// What is to be fitted to which attributes.
    pub fn blocks(&self) -> Vec<Block> {
        let (mut first, mut blocks) = (0, Vec::new());
        for column in &self.columns {
            column.blocks(first, &mut blocks);
            first += column.width() as u32;
        }
        blocks
    }

    /// The columns that become no attribute, except one without a name.
    pub fn ignored(&self) -> Vec<String> {
        let named = self.columns.iter().filter(|column| !column.name.is_empty());
        named.filter(|column| column.width() == 0).map(|column| column.name.clone()).collect()
    }

    /// The column that says what kind of node each is, and its first attribute.
    pub fn type_column(&self) -> Option<(&Column, u32)> {
        self.first_of(|column| column.kind == ColumnKind::Type {})
    }

    /// What kind of node each row of loaded attributes is, where a column says it and there are not too many kinds.
    pub fn types(&self, attributes: &Attributes) -> Option<Arc<NodeTypes>> {
        let (column, first) = self.type_column()?;
        let Values::Listed(names) = &column.values else { return None };
        let unknown = u8::try_from(names.len()).ok()?;
        let of = |row: usize| {
            let columns = attributes.row(row as NodeId).0;
            let place = columns.partition_point(|&attribute| attribute < first);
            let found = columns.get(place).map(|attribute| attribute - first);
            found.filter(|&kind| kind < u32::from(unknown)).map_or(unknown, |kind| kind as u8)
        };
        NodeTypes::new(names.clone(), (0..attributes.rows()).map(of).collect()).map(Arc::new)
    }

    /// A column by its name, and its first attribute.
    pub fn column(&self, name: &str) -> Option<(&Column, u32)> {
        self.first_of(|column| column.name == name)
    }

    fn first_of(&self, is: impl Fn(&Column) -> bool) -> Option<(&Column, u32)> {
        let place = self.columns.iter().position(is)?;
        let first: usize = self.columns[..place].iter().map(Column::width).sum();
        Some((&self.columns[place], first as u32))
    }

    /// The kinds of all columns, ready to be edited.
    pub fn to_columns(&self) -> Columns {
        let columns = self.columns.iter().filter(|column| !column.name.is_empty());
        Columns {
            id: Some(self.id.clone()),
            columns: columns.map(|column| (column.name.clone(), column.kind)).collect(),
            edges: None,
        }
    }

    /// A number that differs between schemas.
    pub fn fingerprint(&self) -> u64 {
        xxh3_64(toml::to_string(self).unwrap_or_default().as_bytes())
    }

    /// The same without listed values that `keeps` refuses, and the attributes that remain.
    pub fn keeping(&self, keeps: impl Fn(u32) -> bool) -> (Schema, Vec<u32>) {
        let (mut first, mut remaining) = (0, Vec::new());
        let mut column = |column: &Column| {
            let all = first..first + column.width() as u32;
            first = all.end;
            let Values::Listed(values) = &column.values else {
                remaining.extend(all);
                return column.clone();
            };
            let kept = values.iter().zip(all.clone()).filter(|(_, attribute)| keeps(*attribute));
            let (values, attributes): (Vec<String>, Vec<u32>) = kept.map(|(value, at)| (value.clone(), at)).unzip();
            remaining.extend(attributes);
            remaining.extend(column.has_other().then_some(all.end - 1));
            Column { values: Values::Listed(values), ..column.clone() }
        };
        let columns = self.columns.iter().map(&mut column).collect();
        (Schema { id: self.id.clone(), columns }, remaining)
    }
}

/// A column as files hold it. The first version knew three kinds, whose names stand for what they meant.
#[derive(Clone, Serialize, Deserialize)]
struct Stored {
    name: String,
    #[serde(flatten)]
    kind: StoredKind,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
enum StoredKind {
    Numeric,
    MultiValued {
        vocabulary: Vec<String>,
    },
    Ignored,
    Column {
        options: ColumnKind,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        values: Option<Vec<String>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        buckets: Option<u32>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        numbers: Option<u32>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        of: Vec<String>,
    },
}

impl From<Stored> for Column {
    fn from(Stored { name, kind }: Stored) -> Self {
        let old = |kind, values| Column { name: name.clone(), kind, values, tells_missing: false, of: Vec::new() };
        match kind {
            StoredKind::Numeric => old(ColumnKind::Numeric { scale: Scale::None }, Values::None),
            StoredKind::MultiValued { vocabulary } => old(ColumnKind::multi_valued(), Values::Listed(vocabulary)),
            StoredKind::Ignored => old(ColumnKind::Ignore {}, Values::None),
            StoredKind::Column { options, values, buckets, numbers, of } => {
                let values = match (values, buckets, numbers) {
                    (Some(values), ..) => Values::Listed(values),
                    (None, Some(buckets), _) => Values::Hashed(buckets),
                    (None, None, Some(numbers)) => Values::Numbers(numbers),
                    (None, None, None) => Values::None,
                };
                Column { name, kind: options, values, tells_missing: true, of }
            }
        }
    }
}

impl From<Column> for Stored {
    fn from(Column { name, kind, values, tells_missing, of }: Column) -> Self {
        let kind = match (tells_missing, kind, values) {
            (false, ColumnKind::Numeric { .. }, _) => StoredKind::Numeric,
            (false, ColumnKind::MultiValued { .. }, Values::Listed(vocabulary)) => {
                StoredKind::MultiValued { vocabulary }
            }
            (false, ..) => StoredKind::Ignored,
            (true, options, values) => {
                let (mut listed, mut buckets, mut numbers) = (None, None, None);
                match values {
                    Values::None => {}
                    Values::Listed(values) => listed = Some(values),
                    Values::Hashed(count) => buckets = Some(count),
                    Values::Numbers(count) => numbers = Some(count),
                }
                StoredKind::Column { options, values: listed, buckets, numbers, of }
            }
        };
        Stored { name, kind }
    }
}

impl Schema {
    /// Whether what a file says can be worked with: values sorted and different, sizes that fit in memory.
    pub(crate) fn is_sound(&self) -> bool {
        let sound = |column: &Column| match &column.values {
            Values::Listed(values) => values.is_sorted_by(|a, b| a < b),
            Values::None => true,
            Values::Hashed(count) => (1..1 << 24).contains(count),
            Values::Numbers(count) => *count < 1 << 24,
        };
        let fits = |column: &Column| match column.kind {
            ColumnKind::Numeric { .. } | ColumnKind::Boolean {} | ColumnKind::DateTime {} => {
                column.values == Values::None
            }
            ColumnKind::Vector {} => matches!(column.values, Values::Numbers(_)),
            ColumnKind::Type {} => matches!(column.values, Values::Listed(_)),
            ColumnKind::Categorical { .. } | ColumnKind::MultiValued { .. } | ColumnKind::Text { .. } => {
                matches!(column.values, Values::Listed(_) | Values::Hashed(_))
            }
            ColumnKind::Ignore {} => true,
        };
        self.columns.iter().all(|column| sound(column) && fits(column)) && self.width() < 1 << 30
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(name: &str, kind: ColumnKind, values: Values) -> Column {
        Column { name: name.into(), kind, values, tells_missing: true, of: Vec::new() }
    }

    fn listed(values: &[&str]) -> Values {
        Values::Listed(values.iter().map(|&value| value.to_owned()).collect())
    }

    fn schema() -> Schema {
        let columns = vec![
            column("price", ColumnKind::Numeric { scale: Scale::Standard }, Values::None),
            column("tags", ColumnKind::multi_valued(), listed(&["a", "é = \"b\""])),
            column("url", ColumnKind::Ignore {}, Values::None),
            column("title", ColumnKind::text(), listed(&["graph", "link"])),
            column("made", ColumnKind::DateTime {}, Values::None),
            column("look", ColumnKind::Vector {}, Values::Numbers(3)),
            column("shop", ColumnKind::categorical(), Values::Hashed(2)),
            column("sort", ColumnKind::Type {}, listed(&["item", "user"])),
        ];
        Schema { id: "id".into(), columns }
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
            columns: vec![column("x", ColumnKind::text(), Values::Hashed(buckets))],
        };
        assert!(hashed(1).is_sound() && !hashed(0).is_sound());
    }

    #[test]
    fn schemas_of_the_first_version_mean_what_they_meant() {
        let stored = "id = \"id\"\n[[columns]]\nname = \"year\"\nkind = \"numeric\"\n[[columns]]\nname = \"words\"\nkind = \"multi-valued\"\nvocabulary = [\"x\", \"y\"]\n[[columns]]\nname = \"t\"\nkind = \"ignored\"\n";
        let schema: Schema = toml::from_str(stored).unwrap();
        assert_eq!(schema.attribute_names(), ["year", "words=x", "words=y"]);
        assert!(schema.blocks().is_empty(), "nothing is fitted to them");
        assert_eq!(toml::from_str::<Schema>(&toml::to_string(&schema).unwrap()).unwrap(), schema);
    }

    #[test]
    fn names_and_blocks_cover_all_attributes_in_order() {
        let schema = schema();
        assert_eq!(schema.attribute_names().len(), schema.width());
        let blocks = schema.blocks();
        assert!(blocks.windows(2).all(|pair| pair[0].columns.end == pair[1].columns.start));
        assert_eq!(blocks.last().unwrap().columns.end as usize, schema.width());
        assert_eq!(schema.ignored(), ["url"]);
        assert_eq!(schema.type_column().unwrap().1 as usize, schema.width() - 2);
    }

    #[test]
    fn values_that_are_not_kept_are_not_known_any_more() {
        let (kept, attributes) = schema().keeping(|attribute| attribute != 2 && attribute != 5);
        assert_eq!(kept.columns[1].values, listed(&["é = \"b\""]));
        assert_eq!(attributes[..5], [0, 1, 3, 4, 6]);
        assert_eq!(kept.width(), attributes.len());
    }
}
