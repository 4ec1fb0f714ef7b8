//! The columns of a model's schema as forms and documents need them.

use coldlink::columns::{CellPart, ColumnKind, Values};
use coldlink::graph::NodeId;
use serde::Serialize;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use crate::served::Served;

/// Values of a column that are given as a choice.
const MOST_VALUES: usize = 1_000;
/// Values in an example.
const EXAMPLE_VALUES: usize = 5;
/// Nodes that are looked at for a good example.
const LOOKED_AT: usize = 1_000;

/// What a column takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Takes {
    /// A number.
    Number,
    /// `true` or `false`.
    Flag,
    /// One value of some.
    Choice,
    /// One or several values, as a list or with `|` between them.
    Words,
    /// Any text.
    Text,
    /// A date, or a date with a time, as in ISO 8601.
    Date,
    /// A list of so many numbers.
    Vector,
}

/// A column of the node table that was trained on.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct Column {
    /// Its name: a key of a new node.
    pub name: String,
    /// What it takes.
    pub takes: Takes,
    /// Values that the model knows: all, or some of very many; none where any may come.
    pub values: Vec<String>,
    /// How many values it knows.
    pub known_values: usize,
    /// How many numbers it takes, where it takes a list of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub numbers: Option<u32>,
    /// Whether it says of which node type a node is.
    pub tells_type: bool,
    /// The node types that have it; none where all do.
    pub of: Vec<String>,
}

/// The columns that say something about a node.
pub fn columns(served: &Served) -> Vec<Column> {
    let mut columns: Vec<Column> =
        served.model.schema().iter().flat_map(|schema| &schema.columns).filter_map(describe).collect();
    // A text with token vectors is two columns of a schema, its words and its vectors.
    columns.dedup_by(|next, kept| next.name == kept.name);
    columns
}

/// The only place that knows the kinds of columns.
fn describe(column: &coldlink::columns::Column) -> Option<Column> {
    let takes = match column.kind {
        _ if column.is_ignored() => return None,
        ColumnKind::Numeric { .. } => Takes::Number,
        ColumnKind::Boolean {} => Takes::Flag,
        ColumnKind::Categorical { part: CellPart::Whole, .. } | ColumnKind::Type {} => Takes::Choice,
        ColumnKind::MultiValued { .. } => Takes::Words,
        ColumnKind::DateTime { .. } => Takes::Date,
        ColumnKind::Vector { .. } => Takes::Vector,
        _ => Takes::Text,
    };
    let (values, numbers): (&[String], _) = match &column.values {
        Values::Listed(values) => (values, None),
        Values::Numbers(count) | Values::Dense(count) => (&[], Some(*count).filter(|_| takes == Takes::Vector)),
        _ => (&[], None),
    };
    // Single words of texts are no choice.
    let values = if takes == Takes::Text { &[] } else { values };
    let step = values.len().div_ceil(MOST_VALUES).max(1);
    let shown = values.iter().step_by(step).cloned().collect();
    let (name, known_values, tells_type) = (column.name.clone(), values.len(), column.kind == ColumnKind::Type {});
    Some(Column { name, takes, values: shown, known_values, numbers, tells_type, of: column.of.clone() })
}

/// A new node that could be asked about: made like one of the model's.
pub fn example(served: &Served) -> Value {
    let attributes = typical_attributes(served);
    let Some(schema) = served.model.schema() else {
        let numbers = attributes.iter().map(|column| (column.to_string(), json!(1.0)));
        return json!({"id": "a new node", "attributes": Map::from_iter(numbers)});
    };
    let names: Vec<String> = attributes.iter().map(|&column| served.model.attribute_name(column)).collect();
    let words_of = |column: &Column| {
        let start = format!("{}=", schema.column(&column.name).map_or("", |(column, _)| schema.attributes_of(column)));
        let words = names.iter().filter_map(|name| name.strip_prefix(&start)).filter(|word| *word != "(other)");
        words.map(str::to_owned).collect::<Vec<_>>()
    };
    let mut node = Map::from_iter([(schema.id.clone(), json!("a new node"))]);
    let columns = columns(served);
    let node_type = columns.iter().find(|column| column.tells_type);
    let node_type = node_type.and_then(|column| words_of(column).pop().or_else(|| column.values.first().cloned()));
    let has = |column: &Column| column.of.is_empty() || node_type.as_ref().is_none_or(|own| column.of.contains(own));
    for column in columns.into_iter().filter(has) {
        let mut words = words_of(&column);
        if words.is_empty() {
            words = column.values.iter().take(1).cloned().collect();
        }
        words.truncate(EXAMPLE_VALUES);
        let value = match (column.takes, words.first()) {
            (Takes::Words, Some(_)) => json!(words),
            (Takes::Text, Some(_)) => json!(words.join(" ")),
            (Takes::Choice, Some(word)) => json!(word),
            _ => Value::Null,
        };
        node.insert(column.name, value);
    }
    Value::Object(node)
}

/// The attributes of a node that has a few of them.
fn typical_attributes(served: &Served) -> Vec<u32> {
    let (Some(graph), Some(words)) = (served.model.graph(), served.model.words()) else { return Vec::new() };
    let rows = words.rows();
    let linked = (0..rows).filter(|&node| graph.degree(node as NodeId) > 0).take(LOOKED_AT);
    let count = |&node: &usize| words.row(node).len();
    let best = linked.min_by_key(|node| count(node).abs_diff(EXAMPLE_VALUES));
    best.map(|node| words.row(node).iter().map(|entry| entry.index).collect()).unwrap_or_default()
}
