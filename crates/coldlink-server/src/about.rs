//! `GET /v1/model` and `GET /healthz`: what is served, and whether.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use coldlink::graph::{Relation, Roles};
use coldlink::model::Summary;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::columns::{Column, columns, example};
use crate::error::{ApiError, ErrorBody};
use crate::limits::Limits;
use crate::served::Served;
use crate::state::Server;
use crate::work::Answer;

/// What is served.
#[derive(Serialize, ToSchema)]
pub struct ModelAnswer {
    /// The version of coldlink.
    version: &'static str,
    /// The checksum of the model's file: the same model has the same.
    fingerprint: String,
    /// How the model came to be.
    #[schema(value_type = Object)]
    summary: Summary,
    /// All its settings.
    #[schema(value_type = Object)]
    config: Value,
    /// The share of the ten best links that is found through the index, where there is one; else every node is scored.
    #[serde(skip_serializing_if = "Option::is_none")]
    index_recall: Option<f64>,
    /// Whether its links have probabilities.
    probabilities: bool,
    /// The key of a new node's name.
    id: String,
    /// The other keys of a new node; none where the model knows attributes by number only.
    columns: Vec<Column>,
    /// A new node that could be asked about.
    #[schema(value_type = Object)]
    example: Value,
    /// What links mean, where they have a direction or mean several things.
    relations: Vec<RelationAnswer>,
    /// Whether nodes can be added.
    read_only: bool,
    /// How much a request may ask for.
    limits: Limits,
}

/// What links mean.
#[derive(Serialize, ToSchema)]
pub struct RelationAnswer {
    /// What it is called; empty where there is only one and nobody named it.
    name: String,
    /// Whether its links have a direction.
    directed: bool,
}

/// See what the model is, and what a new node looks like
#[utoipa::path(
    get, path = "/v1/model", tag = "server",
    responses((status = 200, description = "the model", body = ModelAnswer), (status = "4XX", description = "the request is wrong", body = ErrorBody), (status = 503, description = "too much to do", body = ErrorBody))
)]
pub async fn model(State(server): State<Arc<Server>>) -> Result<Answer, ApiError> {
    let (limits, read_only) = (server.limits().clone(), server.options.read_only);
    server.answer(move |served, _| about(served, limits, read_only)).await
}

fn about(served: &Served, limits: Limits, read_only: bool) -> Result<ModelAnswer, ApiError> {
    let model = &served.model;
    let id = model.schema().map_or("id", |schema| &schema.id).to_owned();
    Ok(ModelAnswer {
        version: env!("CARGO_PKG_VERSION"),
        fingerprint: served.fingerprint.clone(),
        summary: model.summary().clone(),
        config: serde_json::to_value(model.config()).map_err(|_| ApiError::internal())?,
        index_recall: model.index().map(|index| index.recall),
        probabilities: model.gives_probabilities(),
        id,
        columns: columns(served),
        example: example(served),
        relations: if model.roles().is_plain() { Vec::new() } else { relations(model.roles()) },
        read_only,
        limits,
    })
}

fn relations(roles: &Roles) -> Vec<RelationAnswer> {
    let answer = |relation: &Relation| RelationAnswer { name: relation.name.clone(), directed: relation.directed };
    roles.relations().iter().map(answer).collect()
}

/// That all is well.
#[derive(Serialize, ToSchema)]
pub struct Health {
    /// `ok`.
    status: &'static str,
}

/// Whether the server is there; needs no token
#[utoipa::path(get, path = "/healthz", tag = "server", security(()), responses((status = 200, description = "it is", body = Health)))]
pub async fn health() -> Json<Health> {
    Json(Health { status: "ok" })
}
