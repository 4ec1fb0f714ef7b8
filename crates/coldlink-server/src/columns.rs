//! The columns of a model's schema as forms and documents need them.

use coldlink::graph::NodeId;
use coldlink::load::{Column as Known, ColumnKind, Values};
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
    /// One or several words, as a list or with `|` between them.
    Words,
    /// One of some values.
    Value,
    /// A date or a time.
    Date,
    /// A list of numbers.
    Numbers,
    /// A text.
    Text,
}

/// A column of the node table that was trained on.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct Column {
    /// Its name: a key of a new node.
    pub name: String,
    /// What it takes.
    pub takes: Takes,
    /// Values that the model knows: all, or some of very many.
    pub values: Vec<String>,
    /// How many values it knows.
    pub known_values: usize,
}

/// The columns that say something about a node.
pub fn columns(served: &Served) -> Vec<Column> {
    served.model.schema.iter().flat_map(|schema| &schema.columns).filter_map(describe).collect()
}

/// The only place that knows the kinds of columns.
fn describe(column: &Known) -> Option<Column> {
    let takes = match column.kind {
        ColumnKind::Ignore {} => return None,
        ColumnKind::Numeric { .. } => Takes::Number,
        ColumnKind::MultiValued { .. } => Takes::Words,
        ColumnKind::Categorical { .. } | ColumnKind::Boolean {} | ColumnKind::Type {} => Takes::Value,
        ColumnKind::DateTime {} => Takes::Date,
        ColumnKind::Vector {} => Takes::Numbers,
        ColumnKind::Text { .. } => Takes::Text,
    };
    let flags = ["true", "false"].map(str::to_owned);
    let values = match (&column.values, takes) {
        (Values::Listed(values), Takes::Words | Takes::Value) => values,
        _ if column.kind == ColumnKind::Boolean {} => &flags[..],
        _ => &[],
    };
    let step = values.len().div_ceil(MOST_VALUES).max(1);
    let shown = values.iter().step_by(step).cloned().collect();
    Some(Column { name: column.name.clone(), takes, values: shown, known_values: values.len() })
}

/// A new node that could be asked about: made like one of the model's.
pub fn example(served: &Served) -> Value {
    let attributes = typical_attributes(served);
    let Some(schema) = &served.model.schema else {
        let numbers = attributes.iter().map(|column| (column.to_string(), json!(1.0)));
        return json!({"id": "a new node", "attributes": Map::from_iter(numbers)});
    };
    let names: Vec<String> = attributes.iter().map(|&column| served.attribute_name(column)).collect();
    let mut node = Map::from_iter([(schema.id.clone(), json!("a new node"))]);
    for column in columns(served) {
        let start = format!("{}=", column.name);
        let mut words: Vec<&str> = names.iter().filter_map(|name| name.strip_prefix(&start)).collect();
        if words.is_empty() {
            words = column.values.iter().take(1).map(String::as_str).collect();
        }
        words.truncate(EXAMPLE_VALUES);
        let value = match (column.takes, &words[..]) {
            (_, []) => Value::Null,
            (Takes::Text, words) => json!(words.join(" ")),
            (Takes::Value, [first, ..]) => json!(first),
            (_, words) => json!(words),
        };
        node.insert(column.name, value);
    }
    Value::Object(node)
}

/// The attributes of a node that has a few of them.
fn typical_attributes(served: &Served) -> Vec<u32> {
    let Some(memory) = &served.model.memory else { return Vec::new() };
    let rows = memory.words.rows();
    let linked = (0..rows).filter(|&node| memory.graph.degree(node as NodeId) > 0).take(LOOKED_AT);
    let count = |&node: &usize| memory.words.row(node).len();
    let best = linked.min_by_key(|node| count(node).abs_diff(EXAMPLE_VALUES));
    best.map(|node| memory.words.row(node).iter().map(|entry| entry.index).collect()).unwrap_or_default()
}
