//! `GET /openapi.json`: the OpenAPI document, with the columns of the model that is served.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use coldlink::model::BASE_RATES;
use serde_json::{Map, Value, json};
use utoipa::OpenApi;

use crate::columns::{Column, Takes, columns, example};
use crate::error::ErrorBody;
use crate::rows::MOST;
use crate::served::Served;
use crate::state::Server;

/// What stands above all paths.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "coldlink",
        description = "Links of nodes that a graph has never seen, from their attributes alone.",
        license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0")
    ),
    components(schemas(ErrorBody)),
    tags(
        (name = "new nodes", description = "queries about nodes that the model does not have"),
        (name = "nodes", description = "the known nodes, which links are found among"),
        (name = "server", description = "what is served")
    )
)]
pub struct Head;

/// Serves the document that fits the model of the moment.
pub async fn document(State(server): State<Arc<Server>>) -> Response {
    let served = server.current();
    let document = served.document.get_or_init(|| Bytes::from(fitting(&server, &served).to_string())).clone();
    ([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))], document).into_response()
}

/// The document of the handlers, with what only the model and the options know.
fn fitting(server: &Server, served: &Served) -> Value {
    let mut document =
        serde_json::to_value(crate::api().merge(crate::open_to_all()).into_openapi()).unwrap_or_default();
    let mut set = |pointer: &str, key: &str, value: Value| {
        if let Some(Value::Object(place)) = document.pointer_mut(pointer) {
            place.insert(key.to_owned(), value);
        }
    };
    let limits = server.limits();
    set("/components/schemas", "Node", node(served, false));
    set("/components/schemas", "NamedNode", node(served, true));
    set("/components/schemas/AddRequest/properties/nodes", "items", json!({"$ref": "#/components/schemas/NamedNode"}));
    for request in ["LinksRequest", "ScoreRequest", "EmbedRequest", "AddRequest"] {
        set(&format!("/components/schemas/{request}/properties/nodes"), "maxItems", json!(limits.nodes));
    }
    set("/components/schemas/LinksRequest/properties/known", "maxItems", json!(limits.nodes));
    let of_known = json!({"required": ["known"], "properties": {"nodes": false, "links": false}});
    let of_new = json!({"required": ["nodes"], "properties": {"known": false}});
    set("/components/schemas/LinksRequest", "oneOf", json!([of_new, of_known]));
    for request in ["LinksRequest", "ScoreRequest"] {
        set(&format!("/components/schemas/{request}/properties/links"), "maxItems", json!(limits.pairs));
        let base_rate = format!("/components/schemas/{request}/properties/base_rate");
        set(&base_rate, "minimum", json!(BASE_RATES.start()));
        set(&base_rate, "maximum", json!(BASE_RATES.end()));
    }
    set("/components/schemas/LinksRequest/properties/k", "maximum", json!(limits.k));
    set("/components/schemas/ScoreRequest/properties/pairs", "maxItems", json!(limits.pairs));
    set("/paths/~1v1~1nodes/get/parameters/1/schema", "maximum", json!(limits.names));
    let new = example(served);
    let name = new.get(id_of(served)).cloned().unwrap_or_default();
    let known = served.model.names().get(0);
    let pairs = json!([{"source": name, "target": known}]);
    set("/components/schemas/LinksRequest", "examples", json!([{"nodes": [new], "k": 5, "explain": true}]));
    set("/components/schemas/ScoreRequest", "examples", json!([{"nodes": [new], "pairs": pairs}]));
    set("/components/schemas/EmbedRequest", "examples", json!([{"nodes": [new]}]));
    set("/paths/~1v1~1nodes~1{name}/get/parameters/0", "example", json!(known));
    if server.options.token.is_some() {
        set("", "security", json!([{"token": []}]));
        set("/components", "securitySchemes", json!({"token": {"type": "http", "scheme": "bearer"}}));
    }
    document
}

/// A new node as this model takes it.
fn node(served: &Served, named: bool) -> Value {
    let id = id_of(served);
    let name = match named {
        true => json!({"type": ["string", "number"], "pattern": not_blank(), "description": "the node's name"}),
        false => json!({"type": ["string", "number", "null"], "description": "the node's name"}),
    };
    let mut properties = Map::from_iter([(id.to_owned(), name)]);
    for column in columns(served) {
        let cell = cell(&column);
        properties.insert(column.name, cell);
    }
    if served.model.schema().is_none() {
        let last = served.model.loaded_width().saturating_sub(1);
        let about = format!("values by the numbers of attributes, 0 to {last}; others are 0");
        let names = numbers_up_to(last);
        let attributes = json!({
            "type": "object", "description": about,
            "propertyNames": {"pattern": names}, "additionalProperties": cell_of_number("number"),
        });
        properties.insert("attributes".to_owned(), attributes);
    }
    let required = if named { vec![id] } else { vec![] };
    json!({
        "type": "object", "description": "a new node: its name, and a value for each column; what is missing is unknown",
        "properties": properties, "required": required, "additionalProperties": true,
    })
}

/// A pattern for texts with more than white space, written out because dialects differ in what `\S` is.
fn not_blank() -> String {
    let blank: String = ('\0'..=char::MAX).filter(|letter| letter.is_whitespace()).collect();
    format!("[^{blank}]")
}

/// The key of a node's name.
fn id_of(served: &Served) -> &str {
    served.model.schema().map_or("id", |schema| &schema.id)
}

fn cell(column: &Column) -> Value {
    let scalar = ["string", "number", "boolean", "null"];
    match column.takes {
        Takes::Number => cell_of_number("a number, or nothing where it is not known"),
        Takes::Flag => json!({"type": ["boolean", "null"]}),
        Takes::Date => {
            json!({"type": ["string", "null"], "format": "date", "description": "a date; a time may follow"})
        }
        Takes::Vector => json!({
            "type": ["array", "null"], "items": {"type": "number", "minimum": -MOST, "maximum": MOST},
            "minItems": column.numbers, "maxItems": column.numbers,
        }),
        Takes::Choice => json!({"type": scalar, "description": "one value"}),
        Takes::Words => json!({
            "description": "values, as a list or with | between them",
            "anyOf": [{"type": scalar}, {"type": "array", "items": {"type": scalar}}],
        }),
        Takes::Text => json!({"type": scalar, "description": "a text"}),
    }
}

/// What 32 bits can hold.
fn cell_of_number(about: &str) -> Value {
    json!({"type": ["number", "null"], "minimum": -MOST, "maximum": MOST, "description": about})
}

/// A pattern for whole numbers, exact up to the number of digits that are all allowed.
fn numbers_up_to(last: usize) -> String {
    let digits = last.to_string().len();
    match digits {
        1 => format!("^[0-{last}]$"),
        _ => format!("^(0|[1-9][0-9]{{0,{}}})$", digits - 2),
    }
}
