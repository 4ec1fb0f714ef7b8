//! New nodes as requests give them: objects with a key for each column of the model.

use std::collections::{BTreeSet, HashSet};

use coldlink::columns::{Mismatches, Schema};
use coldlink::dataset::NewNodes;
use coldlink::graph::{Attributes, Names};
use coldlink::load::{Objects, new_nodes};
use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::openapi::schema::{AdditionalProperties, ObjectBuilder};
use utoipa::openapi::{RefOr, Schema as ApiSchema};
use utoipa::{PartialSchema, ToSchema};

use crate::columns::{Column, Takes, columns};
use crate::error::{ApiError, Code};
use crate::limits::check_count;
use crate::served::Served;

/// The largest number there may be; the document says so.
pub(crate) const MOST: f64 = 3.4e38;
/// Keys that are named when they are left out.
const NAMED: usize = 5;

/// A new node: its name, and a value for each column. For a model that knows columns by number only, `id` and `attributes`.
#[derive(Clone, Debug, Deserialize)]
#[serde(transparent)]
pub struct Node(Map<String, Value>);

impl PartialSchema for Node {
    /// Any object; the document of a model says which keys.
    fn schema() -> RefOr<ApiSchema> {
        ObjectBuilder::new().additional_properties(Some(AdditionalProperties::FreeForm(true))).into()
    }
}

impl ToSchema for Node {}

/// New nodes that were understood.
pub struct Given {
    /// The nodes.
    pub new: NewNodes,
    /// What the user should know about them.
    pub notes: Vec<String>,
    /// Whether each was given a name.
    pub named: Vec<bool>,
}

impl Given {
    /// Reads the nodes of a request.
    pub fn read(served: &Served, nodes: Vec<Node>, most: usize) -> Result<Self, ApiError> {
        check_count("nodes", nodes.len(), most)?;
        let mut unknown = BTreeSet::new();
        let (new, named, empty) = match served.model.schema() {
            Some(schema) => by_column(schema, &columns(served), nodes, &mut unknown)?,
            None => by_number(served.model.loaded_width(), nodes, &mut unknown)?,
        };
        let mut notes = new.notes();
        notes.extend(left_out(&unknown));
        let s = if empty == 1 { "" } else { "s" };
        notes.extend((empty > 0).then(|| format!("{empty} new node{s} of which nothing is known but the name")));
        Ok(Given { new, notes, named })
    }
}

/// New nodes, whether each was given a name, and how many have no value.
type Read = (NewNodes, Vec<bool>, usize);

fn left_out(unknown: &BTreeSet<String>) -> Option<String> {
    let names: Vec<String> = unknown.iter().take(NAMED).map(|key| format!("`{}`", short(key))).collect();
    let more = if unknown.len() > NAMED { ", …" } else { "" };
    let s = if unknown.len() == 1 { "" } else { "s" };
    (!names.is_empty()).then(|| format!("ignored key{s} that the model does not know: {}{more}", names.join(", ")))
}

/// As rows of a table with the columns of the schema; a key that is missing is an empty cell.
fn by_column(
    schema: &Schema,
    columns: &[Column],
    nodes: Vec<Node>,
    unknown: &mut BTreeSet<String>,
) -> Result<Read, ApiError> {
    // A title of which nothing else is made.
    let shown = schema.show.as_ref().filter(|show| columns.iter().all(|column| column.name != **show));
    let mut rows = Vec::with_capacity(nodes.len());
    let (mut named, mut empty) = (Vec::with_capacity(nodes.len()), 0);
    for (place, Node(mut object)) in nodes.into_iter().enumerate() {
        let name = name_of(&mut object, &schema.id, place)?;
        named.push(!name.is_empty());
        let mut row = Map::from_iter([(schema.id.clone(), Value::String(name))]);
        empty += usize::from(columns.iter().all(|column| object.get(&column.name).is_none_or(is_nothing)));
        for column in columns {
            let value = object.remove(&column.name).unwrap_or(Value::Null);
            check_cell(column, &value, place)?;
            row.insert(column.name.clone(), value);
        }
        if let Some(title) =
            shown.and_then(|show| object.remove(show)).filter(|title| !title.is_object() && !title.is_array())
        {
            row.extend(shown.map(|show| (show.clone(), title)));
        }
        // What nothing is made of may be there, or not.
        object.retain(|key, _| schema.column(key).is_none());
        unknown.extend(object.into_iter().map(|(key, _)| key));
        rows.push(row);
    }
    let header = std::iter::once(schema.id.clone()).chain(columns.iter().map(|column| column.name.clone()));
    let header = header.chain(shown.cloned());
    let mut new = new_nodes(&Objects::with_header(header.collect(), rows)?, schema, false)?;
    if let Some((node, problem)) = &new.mismatches.first_unreadable {
        return Err(bad_node((*node as usize).saturating_sub(1), problem, "omit what is unknown"));
    }
    new.mismatches.missing_columns.clear();
    Ok((new, named, empty))
}

fn is_nothing(value: &Value) -> bool {
    value.is_null() || value.as_str().is_some_and(str::is_empty) || value.as_array().is_some_and(Vec::is_empty)
}

/// JSON has types: a text is no number here, even where a table would read it as one.
fn check_cell(column: &Column, value: &Value, place: usize) -> Result<(), ApiError> {
    let is_scalar = !value.is_array() && !value.is_object();
    let (fits, takes) = match column.takes {
        _ if value.is_null() => return Ok(()),
        Takes::Number => (is_number(value), "a number of at most 3.4e38"),
        Takes::Flag => (value.is_boolean(), "true or false"),
        Takes::Date => (value.is_string(), "a date as a text"),
        Takes::Vector => (value.as_array().is_some_and(|all| all.iter().all(is_number)), "a list of numbers"),
        Takes::Choice => (is_scalar, "one value"),
        Takes::Text => (is_scalar, "a text"),
        Takes::Words => (!value.is_object(), "a value or a list of values"),
    };
    let problem = || bad_node(place, format!("column `{}` takes {takes}", short(&column.name)), "omit what is unknown");
    if fits { Ok(()) } else { Err(problem()) }
}

/// Whether this is a number that the document allows.
fn is_number(value: &Value) -> bool {
    value.as_f64().is_some_and(|number| number.abs() <= MOST)
}

/// Takes a node's name out of its object; empty where there is none.
fn name_of(object: &mut Map<String, Value>, key: &str, place: usize) -> Result<String, ApiError> {
    match object.remove(key) {
        None | Some(Value::Null) => Ok(String::new()),
        Some(Value::String(name)) => Ok(name.trim().to_owned()),
        Some(Value::Number(number)) => Ok(number.to_string()),
        Some(_) => Err(bad_node(place, format!("`{key}` must be a text or a number"), "a name is a text")),
    }
}

fn bad_node(place: usize, problem: impl std::fmt::Display, hint: &str) -> ApiError {
    ApiError::new(Code::BadValue, format!("node {}: {problem}", place + 1), hint)
}

/// As `{"id": …, "attributes": {"17": 1.0, …}}`, for a model that was trained on numbered columns.
fn by_number(width: usize, nodes: Vec<Node>, unknown: &mut BTreeSet<String>) -> Result<Read, ApiError> {
    let (mut rows, mut names, mut named) = (Vec::new(), Vec::new(), Vec::new());
    let mut met = HashSet::new();
    for (place, Node(mut object)) in nodes.into_iter().enumerate() {
        let name = name_of(&mut object, "id", place)?;
        named.push(!name.is_empty());
        let name = if name.is_empty() { format!("new {}", place + 1) } else { name };
        if !met.insert(name.clone()) {
            let message = format!("node {}: there is another new node `{}`", place + 1, short(&name));
            return Err(ApiError::new(Code::KnownNode, message, "keep one of the two, or rename it"));
        }
        names.push(name);
        let attributes = match object.remove("attributes") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(attributes)) => attributes,
            Some(_) => {
                return Err(bad_node(place, "`attributes` must be an object", "as {\"attributes\": {\"17\": 1.0}}"));
            }
        };
        rows.push(numbered_row(width, attributes, place)?);
        unknown.extend(object.into_iter().map(|(key, _)| key));
    }
    let empty = rows.iter().filter(|row| row.is_empty()).count();
    let attributes = Attributes::from_rows(width, &rows).map_err(|_| ApiError::internal())?;
    let names = Names::from_texts(names);
    Ok((NewNodes { names, titles: None, attributes, mismatches: Mismatches::default() }, named, empty))
}

fn numbered_row(width: usize, attributes: Map<String, Value>, place: usize) -> Result<Vec<(u32, f32)>, ApiError> {
    let mut row = Vec::with_capacity(attributes.len());
    for (key, value) in attributes {
        // As numbers are written: neither `007` nor `+7`.
        let column = key.parse::<u32>().ok().filter(|column| (*column as usize) < width && column.to_string() == key);
        let column = column.ok_or_else(|| {
            let problem = format!("there is no attribute `{}`", short(&key));
            bad_node(place, problem, &format!("attributes are numbered from 0 to {}", width.saturating_sub(1)))
        })?;
        let number = value.as_f64().filter(|number| number.abs() <= MOST).map(|number| number as f32);
        let number = number.ok_or_else(|| {
            bad_node(place, format!("attribute {column} must be a finite 32-bit number"), "give a number")
        })?;
        row.push((column, number));
    }
    row.sort_by_key(|entry| entry.0);
    row.retain(|entry| entry.1 != 0.0);
    Ok(row)
}

/// Enough of a key to recognise it.
fn short(key: &str) -> String {
    key.chars().take(60).collect()
}
