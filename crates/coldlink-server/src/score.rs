//! `POST /v1/score`: how likely given links are.

use std::sync::Arc;

use axum::extract::State;
use coldlink::dataset::{GivenLink, PairQuery};
use coldlink::model::{Link, NAMED_ATTRIBUTES, Told};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::body::{Body, objects};
use crate::error::{ApiError, ErrorBody};
use crate::limits::{Limits, check_count, check_explained, check_most};
use crate::rows::{Given, Node};
use crate::served::Served;
use crate::state::Server;
use crate::work::{Answer, Deadline};

/// Pairs that are scored before the time is looked at.
const PER_ROUND: usize = 1_000;
/// Pairs that are explained before.
const EXPLAINED_PER_ROUND: usize = 50;

/// New nodes, and pairs with them.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ScoreRequest {
    /// The new nodes.
    #[schema(min_items = 1)]
    nodes: Vec<Node>,
    /// Links that the new nodes have already, each with a known node.
    #[serde(default, deserialize_with = "objects")]
    links: Vec<GivenLink>,
    /// The pairs to score.
    #[serde(deserialize_with = "objects")]
    #[schema(min_items = 1)]
    pairs: Vec<PairQuery>,
    /// The share of linked pairs that probabilities are stated for; the training graph's unless given.
    #[serde(default)]
    base_rate: Option<f64>,
    /// Whether to explain the scores of pairs whose source is a new node.
    #[serde(default)]
    explain: bool,
    /// Whether pairs have the titles of both ends, where the model has any.
    #[serde(default)]
    show: bool,
}

/// The scores.
#[derive(Serialize, ToSchema)]
pub struct ScoreAnswer {
    /// The pairs with their scores, in the order of the request.
    links: Vec<Link>,
    /// What the user should know about the request.
    notes: Vec<String>,
}

/// Score given pairs of nodes
#[utoipa::path(
    post, path = "/v1/score", tag = "new nodes", request_body = ScoreRequest,
    responses((status = 200, description = "the scores", body = ScoreAnswer), (status = "4XX", description = "the request is wrong", body = ErrorBody), (status = 503, description = "too much to do", body = ErrorBody))
)]
pub async fn score(State(server): State<Arc<Server>>, body: Body) -> Result<Answer, ApiError> {
    let limits = server.limits().clone();
    server.answer(move |served, deadline| score_pairs(served, body.parse()?, &limits, deadline)).await
}

fn score_pairs(
    served: &Served,
    request: ScoreRequest,
    limits: &Limits,
    deadline: Deadline,
) -> Result<ScoreAnswer, ApiError> {
    let ScoreRequest { nodes, links, pairs, base_rate, explain, show } = request;
    check_count("pairs", pairs.len(), limits.pairs)?;
    let model = &served.model;
    let Given { new, notes, .. } = Given::read(served, nodes, limits.nodes)?;
    check_most("links", links.len(), limits.pairs)?;
    let asked = model.ask_linked(new, &links)?;
    // Of all pairs at once, so that an error has the number of its pair in the request.
    model.resolve_pairs(&asked, &pairs)?;
    check_explained(if explain { pairs.len() } else { 0 }, limits)?;
    let base_rate = model.checked_base_rate(base_rate)?;
    let told = Told { base_rate, explain: explain.then_some(NAMED_ATTRIBUTES), show };
    let per_round = if explain { EXPLAINED_PER_ROUND } else { PER_ROUND };
    let mut links = Vec::with_capacity(pairs.len());
    for pairs in pairs.chunks(per_round) {
        deadline.check()?;
        links.extend(model.scored_pairs(&asked, pairs, told)?);
    }
    Ok(ScoreAnswer { links, notes })
}
