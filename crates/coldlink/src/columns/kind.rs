//! What users may say about the columns of their tables, as TOML: for nodes a kind each, with its options; for links which are which.
//!
//! `coldlink inspect GRAPH --schema` prints what was found out; edited, it is given back with `--columns FILE`. Columns
//! that it does not name are found out as before.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::vectors::{TokenVectors, VectorsError, VectorsProblem};

/// Buckets of a column whose values are hashed, unless said otherwise.
const BUCKETS: u32 = 1 << 14;
/// The most buckets that may be asked for; each is a row of the encoder's first layer.
const MOST_BUCKETS: u32 = 1 << 22;

/// Kinds of columns, by the columns' names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Columns {
    /// The column of names.
    pub id: Option<String>,
    /// The column whose texts stand beside names; an empty name says that none does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub show: Option<String>,
    /// The other columns.
    #[serde(default)]
    pub columns: BTreeMap<String, ColumnKind>,
    /// Those of the edge table, where their names do not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edges: Option<EdgeColumns>,
    /// What is said about relations, by their names; the only one may be without a name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub relations: BTreeMap<String, RelationOptions>,
    /// Token vectors that were opened, by what columns call them.
    #[serde(skip)]
    pub vectors: BTreeMap<String, Arc<TokenVectors>>,
}

/// What is said about a relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RelationOptions {
    /// Whether its links have a direction.
    pub directed: bool,
}

/// Which columns of an edge table are which; those that are not said are found by their names. An empty name says that there is no
/// such column.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EdgeColumns {
    /// The names of the first ends.
    pub source: Option<String>,
    /// The names of the second ends.
    pub target: Option<String>,
    /// How much links count.
    pub weight: Option<String>,
    /// When they appeared.
    pub time: Option<String>,
    /// What they mean.
    pub relation: Option<String>,
}

/// How the cells of a column are read, and what is made of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ColumnKind {
    /// A number.
    Numeric {
        /// What it is measured in.
        #[serde(default)]
        scale: Scale,
        /// What stands before its decimals.
        #[serde(default)]
        decimal: Decimal,
    },
    /// `true` or `false`, `yes` or `no`, 1 or 0.
    Boolean {},
    /// One of some values.
    Categorical {
        /// Values that fewer rows have count as one, `(other)`.
        #[serde(default = "default_rare")]
        rare: u32,
        /// With more different values than this they are hashed into buckets.
        #[serde(default = "default_limit")]
        limit: u32,
        /// The number of buckets.
        #[serde(default = "default_buckets")]
        buckets: u32,
        /// What of a cell is its value.
        #[serde(default)]
        part: CellPart,
    },
    /// Several values: `a|b|c`, or a list in JSON.
    MultiValued {
        /// Values that fewer rows have count as one, `(other)`.
        #[serde(default = "default_rare_among_several")]
        rare: u32,
        /// With more different values than this they are hashed into buckets.
        #[serde(default = "default_several_limit")]
        limit: u32,
        /// The number of buckets.
        #[serde(default = "default_buckets")]
        buckets: u32,
        /// What stands between the values of a text.
        #[serde(default)]
        separator: Separator,
    },
    /// Words.
    Text {
        /// The most frequent words that are kept.
        #[serde(default = "default_vocabulary")]
        vocabulary: u32,
        /// Words that fewer rows have are left out.
        #[serde(default = "default_rare")]
        rare: u32,
        /// Words that are left out as saying nothing.
        #[serde(default)]
        stop_words: StopWords,
        /// What a word counts.
        #[serde(default)]
        weights: WordWeights,
        /// Whether words are hashed into buckets instead of listed.
        #[serde(default)]
        hashed: bool,
        /// The number of buckets.
        #[serde(default = "default_buckets")]
        buckets: u32,
        /// Whether the parts of words such as `snake_case` count as words as well. Schemas from before there were parts do not say
        /// it, and have none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parts: Option<bool>,
        /// Whether a word is the same attribute in all texts that share words and have the same options. Schemas from before there
        /// were shared words do not say it, and have none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        shared: Option<bool>,
        /// A file of static token vectors, by which the text becomes a vector beside its words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        encoder: Option<String>,
        /// The tokenizer of these; `tokenizer.json` beside them, where it is not said.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tokenizer: Option<String>,
    },
    /// A date, with or without a time: its age, and its place in the year, the week and the day.
    DateTime {
        /// Whether `05/04/2024` is in May or in April.
        #[serde(default)]
        order: DateOrder,
    },
    /// A list of numbers, as many in every row: a text embedding made elsewhere, say.
    Vector {
        /// How many; as many as the first list has, where it is not said.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        size: Option<u32>,
    },
    /// The type of the node.
    Type {},
    /// Nothing is made of it.
    Ignore {},
}

/// What a number is measured in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// Standard deviations from the mean, five at most.
    #[default]
    Standard,
    /// Its rank, from −1 for the smallest to 1 for the largest.
    Quantile,
    /// As it stands.
    None,
}

/// What stands before the decimals of a number, where it can be read in two ways.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decimal {
    /// A point: `1,234` is more than a thousand.
    #[default]
    Point,
    /// A comma: `1.234` is more than a thousand.
    Comma,
}

/// What of a cell is its value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CellPart {
    /// All of it.
    #[default]
    Whole,
    /// The host of an e-mail address or of a web address.
    Domain,
    /// Its first character, its first two, its first three, and all of it: places whose postal codes start alike are near.
    Starts,
}

/// What stands between the values of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Separator {
    /// `a|b`
    #[default]
    #[serde(rename = "|")]
    Bar,
    /// `a; b`
    #[serde(rename = ";")]
    Semicolon,
    /// `a, b`
    #[serde(rename = ",")]
    Comma,
}

impl Separator {
    /// All of them, from the one that means it most surely.
    pub(super) const ALL: [Separator; 3] = [Separator::Bar, Separator::Semicolon, Separator::Comma];

    /// As it is written.
    pub fn mark(self) -> char {
        match self {
            Separator::Bar => '|',
            Separator::Semicolon => ';',
            Separator::Comma => ',',
        }
    }
}

/// The order of day and month in a date that can be read in two ways.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DateOrder {
    /// `05/04/2024` is in May.
    #[default]
    MonthFirst,
    /// `05/04/2024` is in April.
    DayFirst,
}

/// Words that say nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopWords {
    /// None.
    #[default]
    None,
    /// `the`, `of`, `and` and their like.
    English,
}

/// What a word counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WordWeights {
    /// The more, the oftener it stands in the cell and the fewer rows have it; a cell has length 1.
    #[default]
    TfIdf,
    /// 1.
    Binary,
}

fn default_rare() -> u32 {
    2
}

fn default_rare_among_several() -> u32 {
    1
}

fn default_limit() -> u32 {
    10_000
}

fn default_several_limit() -> u32 {
    100_000
}

fn default_vocabulary() -> u32 {
    20_000
}

fn default_buckets() -> u32 {
    BUCKETS
}

impl ColumnKind {
    /// A number, with the usual options.
    pub fn numeric() -> Self {
        ColumnKind::Numeric { scale: Scale::Standard, decimal: Decimal::Point }
    }

    /// One of some values, with the usual options.
    pub fn categorical() -> Self {
        ColumnKind::by_part(CellPart::Whole)
    }

    /// The same of a part of each cell.
    pub(super) fn by_part(part: CellPart) -> Self {
        ColumnKind::Categorical { rare: default_rare(), limit: default_limit(), buckets: BUCKETS, part }
    }

    /// Several values, with the usual options.
    pub fn multi_valued() -> Self {
        ColumnKind::separated_by(Separator::Bar)
    }

    /// The same with this between them.
    pub(super) fn separated_by(separator: Separator) -> Self {
        let (rare, limit) = (default_rare_among_several(), default_several_limit());
        ColumnKind::MultiValued { rare, limit, buckets: BUCKETS, separator }
    }

    /// The same for tables that are read now: words have parts and are shared, unless a user says otherwise.
    pub(super) fn of_today(mut self) -> Self {
        if let ColumnKind::Text { parts, shared, .. } = &mut self {
            *parts = parts.or(Some(true));
            *shared = shared.or(Some(true));
        }
        self
    }

    /// Whether its words are attributes that other texts have as well. Repeated words of several cells add up, so words that only
    /// are there or not cannot be shared.
    pub(super) fn shares_words(&self) -> bool {
        matches!(self, ColumnKind::Text { shared: Some(true), weights: WordWeights::TfIdf, encoder: None, .. })
    }

    /// What its token vectors are called. In a schema, such a column is the vectors alone, and its words are a column before it.
    pub fn encoder(&self) -> Option<&str> {
        match self {
            ColumnKind::Text { encoder, .. } => encoder.as_deref(),
            _ => None,
        }
    }

    /// The same by other token vectors, or by none.
    pub(super) fn with_encoder(mut self, name: Option<&str>) -> Self {
        if let ColumnKind::Text { encoder, tokenizer, .. } = &mut self {
            (*encoder, *tokenizer) = (name.map(str::to_owned), None);
        }
        self
    }

    /// Words, with the usual options.
    pub fn text() -> Self {
        ColumnKind::Text {
            vocabulary: default_vocabulary(),
            rare: default_rare(),
            stop_words: StopWords::None,
            weights: WordWeights::TfIdf,
            hashed: false,
            buckets: BUCKETS,
            parts: Some(true),
            shared: Some(true),
            encoder: None,
            tokenizer: None,
        }
    }

    /// What it is called.
    pub fn name(&self) -> &'static str {
        match self {
            ColumnKind::Numeric { .. } => "numeric",
            ColumnKind::Boolean {} => "boolean",
            ColumnKind::Categorical { .. } => "categorical",
            ColumnKind::MultiValued { .. } => "multi-valued",
            ColumnKind::Text { .. } => "text",
            ColumnKind::DateTime { .. } => "date-time",
            ColumnKind::Vector { .. } => "vector",
            ColumnKind::Type {} => "type",
            ColumnKind::Ignore {} => "ignore",
        }
    }

    fn buckets(&self) -> Option<u32> {
        match *self {
            ColumnKind::Categorical { buckets, .. }
            | ColumnKind::MultiValued { buckets, .. }
            | ColumnKind::Text { buckets, .. } => Some(buckets),
            _ => None,
        }
    }
}

impl Columns {
    /// Reads TOML; or says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let columns: Columns = toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())?;
        columns.checked()
    }

    /// The same if it holds together; or what is wrong with it.
    pub fn checked(self) -> Result<Self, String> {
        for (name, kind) in &self.columns {
            if kind.buckets().is_some_and(|buckets| !(1..=MOST_BUCKETS).contains(&buckets)) {
                return Err(format!("column `{name}`: `buckets` must be from 1 to {MOST_BUCKETS}"));
            }
        }
        let mut tokenizers = BTreeMap::new();
        for (name, kind) in &self.columns {
            let ColumnKind::Text { encoder, tokenizer, .. } = kind else { continue };
            let wrong = match encoder {
                None if tokenizer.is_some() => "`tokenizer` is of use beside `encoder` alone",
                Some(encoder) if tokenizers.insert(encoder, tokenizer).is_some_and(|other| other != tokenizer) => {
                    "another column has the same `encoder` with another `tokenizer`"
                }
                _ => continue,
            };
            return Err(format!("column `{name}`: {wrong}"));
        }
        let types = self.columns.iter().filter(|(_, kind)| **kind == ColumnKind::Type {});
        let types: Vec<&str> = types.map(|(name, _)| name.as_str()).collect();
        if let [first, second, ..] = types[..] {
            return Err(format!("`{first}` and `{second}` are both of kind `type`, but a node has one type"));
        }
        Ok(self)
    }

    /// The files of token vectors and tokenizers that are named, from this folder on.
    pub(crate) fn files(&self, folder: &Path) -> Vec<PathBuf> {
        let of_column = |kind: &ColumnKind| {
            let ColumnKind::Text { encoder: Some(encoder), tokenizer, .. } = kind else { return Vec::new() };
            let vectors = folder.join(encoder);
            let tokenizer = tokenizer.as_ref().map(|tokenizer| folder.join(tokenizer));
            let tokenizer = tokenizer.unwrap_or_else(|| TokenVectors::tokenizer_beside(&vectors));
            vec![vectors, tokenizer]
        };
        self.columns.values().flat_map(of_column).collect()
    }

    /// The same with all token vectors opened, whose files are named from this folder on.
    pub(crate) fn with_vectors(mut self, folder: &Path) -> Result<Self, VectorsError> {
        for kind in self.columns.values() {
            let ColumnKind::Text { encoder: Some(encoder), tokenizer, .. } = kind else { continue };
            if self.vectors.contains_key(encoder) {
                continue;
            }
            let path = folder.join(encoder);
            let tokenizer = tokenizer.as_ref().map(|tokenizer| folder.join(tokenizer));
            let opened = TokenVectors::open(&path, tokenizer.as_deref())?;
            if self.vectors.values().any(|other| other.name() == opened.name()) {
                return Err(VectorsError { path, problem: VectorsProblem::SameName });
            }
            self.vectors.insert(encoder.clone(), Arc::new(opened));
        }
        Ok(self)
    }

    /// The same as text, ready to edit.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_enough_and_options_have_defaults() {
        let read = Columns::parse(
            "id = \"key\"\n[columns]\nprice.kind = \"numeric\"\ntitle = { kind = \"text\", rare = 5 }\n",
        )
        .unwrap();
        assert_eq!(read.id.as_deref(), Some("key"));
        assert_eq!(read.columns["price"], ColumnKind::numeric());
        assert!(matches!(read.columns["title"], ColumnKind::Text { rare: 5, vocabulary: 20_000, .. }));
        assert_eq!(toml::from_str::<Columns>(&read.to_toml()).unwrap(), read);
    }

    #[test]
    fn a_text_of_a_schema_from_before_has_no_parts_of_words_and_shares_none() {
        let old: ColumnKind = toml::from_str("kind = \"text\"").unwrap();
        assert!(matches!(old, ColumnKind::Text { parts: None, shared: None, .. }));
        assert!(matches!(old.of_today(), ColumnKind::Text { parts: Some(true), shared: Some(true), .. }));
        let said: ColumnKind = toml::from_str("kind = \"text\"\nparts = false\nshared = false").unwrap();
        assert_eq!(said.clone().of_today(), said);
    }

    #[test]
    fn what_means_nothing_is_refused() {
        let check = |text: &str, expected: &str| {
            let error = Columns::parse(text).unwrap_err();
            assert!(error.contains(expected), "{error}");
        };
        check("[columns]\nx.kind = \"number\"\n", "unknown variant `number`");
        check("[columns]\nx = { kind = \"boolean\", rare = 3 }\n", "unknown field `rare`");
        check("[columns]\nx = { kind = \"text\", buckets = 0 }\n", "`buckets` must be from 1");
        check("[columns]\na.kind = \"type\"\nb.kind = \"type\"\n", "`a` and `b` are both of kind `type`");
        check("[columns]\na = { kind = \"text\", tokenizer = \"t.json\" }\n", "beside `encoder` alone");
        let twice = "[columns]\na = { kind = \"text\", encoder = \"v\" }\nb = { kind = \"text\", encoder = \"v\", tokenizer = \"t\" }\n";
        check(twice, "column `b`: another column has the same `encoder` with another `tokenizer`");
        check("columns = 3\n", "invalid type");
    }
}
