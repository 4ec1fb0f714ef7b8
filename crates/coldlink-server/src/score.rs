//! `POST /v1/score`: how likely given links are.

use std::sync::Arc;

use axum::extract::State;
use coldlink::dataset::End;
use coldlink::graph::NameIndex;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::body::{Body, object};
use crate::error::{ApiError, Code, ErrorBody};
use crate::limits::{Limits, check_count};
use crate::links::check_finite;
use crate::rows::{Given, Node};
use crate::served::Served;
use crate::state::Server;
use crate::work::{Answer, Deadline};

/// Pairs that are scored before the time is looked at.
const PER_ROUND: usize = 1_000;

/// New nodes, and pairs with them.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ScoreRequest {
    /// The new nodes.
    #[schema(min_items = 1)]
    nodes: Vec<Node>,
    /// The pairs to score.
    #[schema(min_items = 1)]
    pairs: Vec<Pair>,
}

/// A new node and another: one of the model (`seen`), or a new one too (`other_new`).
#[derive(Clone, Deserialize, Serialize, ToSchema)]
#[serde(untagged)]
pub enum Pair {
    /// With a node of the model.
    #[serde(deserialize_with = "object")]
    Seen(SeenPair),
    /// With another new node.
    #[serde(deserialize_with = "object")]
    New(NewPair),
}

/// A new node and one of the model.
#[derive(Clone, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SeenPair {
    /// The name of a new node.
    new: String,
    /// The name of a node of the model.
    seen: String,
}

/// Two new nodes.
#[derive(Clone, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewPair {
    /// The name of a new node.
    new: String,
    /// The name of another new node.
    other_new: String,
}

/// The scores.
#[derive(Serialize, ToSchema)]
pub struct ScoreAnswer {
    /// One of each pair, in the order of the request.
    scores: Vec<Score>,
    /// What the user should know about the nodes.
    notes: Vec<String>,
}

/// How likely a link is.
#[derive(Serialize, ToSchema)]
pub struct Score {
    /// The pair.
    pair: Pair,
    /// The log-odds of the link; of models without probabilities, a number that is larger for likelier links.
    score: f32,
    /// Its probability, where the model has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    probability: Option<f64>,
}

/// Score given pairs of which at least one end is a new node
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
    check_count("pairs", request.pairs.len(), limits.pairs)?;
    let Given { new, notes, .. } = Given::read(served, request.nodes, limits.nodes)?;
    let index = new.names.index();
    let ends: Vec<(End, End)> =
        request.pairs.iter().map(|pair| ends(served, &index, pair)).collect::<Result<_, _>>()?;
    let newcomers = served.model.encode(&new.attributes);
    check_finite(&newcomers)?;
    let base_rate = served.model.base_rate();
    let mut scores = Vec::with_capacity(ends.len());
    for (pairs, ends) in request.pairs.chunks(PER_ROUND).zip(ends.chunks(PER_ROUND)) {
        deadline.check()?;
        for (pair, score) in pairs.iter().zip(served.model.score_pairs(&newcomers, ends)) {
            scores.push(Score { pair: pair.clone(), score, probability: served.model.probability(score, base_rate) });
        }
    }
    Ok(ScoreAnswer { scores, notes })
}

fn ends(served: &Served, new: &NameIndex<'_>, pair: &Pair) -> Result<(End, End), ApiError> {
    let find_new = |name: &str| new.find(name).map(End::New).ok_or_else(|| not_given(name));
    match pair {
        Pair::Seen(SeenPair { new, seen }) => {
            let other = served.find(seen).map(End::Known).ok_or_else(|| ApiError::unknown_node(seen))?;
            Ok((find_new(new)?, other))
        }
        Pair::New(NewPair { new, other_new }) => Ok((find_new(new)?, find_new(other_new)?)),
    }
}

fn not_given(name: &str) -> ApiError {
    let message = format!("`nodes` of the request has no node `{name}`");
    ApiError::new(Code::UnknownNode, message, "give its row in `nodes`; for a node of the model, use `seen`")
}
