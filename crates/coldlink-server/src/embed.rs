//! `POST /v1/embed`: the vectors of new nodes, for use elsewhere.

use std::sync::Arc;

use axum::extract::State;
use coldlink::graph::NodeId;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::body::Body;
use crate::error::{ApiError, ErrorBody};
use crate::limits::Limits;
use crate::rows::{Given, Node};
use crate::served::Served;
use crate::state::Server;
use crate::work::Answer;

/// New nodes.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct EmbedRequest {
    /// The new nodes.
    #[schema(min_items = 1)]
    nodes: Vec<Node>,
}

/// Their vectors.
#[derive(Serialize, ToSchema)]
pub struct EmbedAnswer {
    /// Numbers in a vector.
    width: usize,
    /// One of each node, in the order of the request.
    embeddings: Vec<Embedding>,
    /// What the user should know about the nodes.
    notes: Vec<String>,
}

/// The vector of one node.
#[derive(Serialize, ToSchema)]
pub struct Embedding {
    /// The node.
    node: String,
    /// Its attribute embedding.
    embedding: Vec<f32>,
}

/// Embed new nodes
#[utoipa::path(
    post, path = "/v1/embed", tag = "new nodes", request_body = EmbedRequest,
    responses((status = 200, description = "the vectors", body = EmbedAnswer), (status = "4XX", description = "the request is wrong", body = ErrorBody), (status = 503, description = "too much to do", body = ErrorBody))
)]
pub async fn embed(State(server): State<Arc<Server>>, body: Body) -> Result<Answer, ApiError> {
    let limits = server.limits().clone();
    server.answer(move |served, _| embed_nodes(served, body.parse()?, &limits)).await
}

fn embed_nodes(served: &Served, request: EmbedRequest, limits: &Limits) -> Result<EmbedAnswer, ApiError> {
    let Given { new, notes, .. } = Given::read(served, request.nodes, limits.nodes)?;
    let asked = served.model.ask(new)?;
    let (names, rows) = (&asked.new_nodes().names, &asked.encoded().embeddings.attributes);
    let embedding =
        |row: usize| Embedding { node: names.get(row as NodeId).into_owned(), embedding: rows.row(row).to_vec() };
    Ok(EmbedAnswer { width: rows.columns(), embeddings: (0..rows.rows()).map(embedding).collect(), notes })
}
