//! `POST /v1/links`: the most likely links of new nodes, or further ones of known nodes.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use coldlink::dataset::GivenLink;
use coldlink::graph::NodeId;
use coldlink::index::Hit;
use coldlink::model::{Among, Asked, Direction, Link, NAMED_ATTRIBUTES, Query};
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

use crate::body::{Body, objects, whole, word};
use crate::error::{ApiError, Code, ErrorBody};
use crate::limits::{Limits, check_asked, check_count, check_explained, check_most};
use crate::rows::{Given, Node};
use crate::served::Served;
use crate::state::Server;
use crate::work::{Answer, Deadline};

/// New nodes that are worked on before the time is looked at.
const PER_ROUND: usize = 64;

/// New nodes or known ones, and which of their links are asked for.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LinksRequest {
    /// The new nodes; none where known ones are asked about.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Vec<Node>, required = false, min_items = 1)]
    nodes: Option<Vec<Node>>,
    /// Names of known nodes that are asked about instead: for links that they do not have yet.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Vec<String>, required = false, min_items = 1)]
    known: Option<Vec<String>>,
    /// Links that the new nodes have already, each with a known node. They count, and are not found again.
    #[serde(default, deserialize_with = "given_objects")]
    #[schema(value_type = Vec<GivenLink>, required = false)]
    links: Option<Vec<GivenLink>>,
    /// How many links of each node.
    #[serde(default = "ten", deserialize_with = "whole")]
    #[schema(minimum = 1, default = 10)]
    k: usize,
    /// Where to look for targets.
    #[serde(default, deserialize_with = "word")]
    among: Among,
    /// The share of each node's links that lead to new candidates at least: to other new nodes or, among known ones, to nodes without
    /// links.
    #[serde(default)]
    #[schema(minimum = 0, maximum = 1, default = 0)]
    explore: f64,
    /// The relation, where links mean several things; without it, links of all relations.
    #[serde(default)]
    relation: Option<String>,
    /// Which way links run, seen from the new nodes, where links have a direction; `out` unless given.
    #[serde(default)]
    direction: Option<Direction>,
    /// Names of nodes that are no candidates.
    #[serde(default)]
    exclude: Vec<String>,
    /// The node type of targets; without it, types that are linked with the new node's.
    #[serde(default, rename = "type")]
    node_type: Option<String>,
    /// What known candidates must have, by column: a value, several as `comedy,drama` of which one will do, or of a column of numbers `<20`,
    /// `>=20`, `10..20` or `10,15`.
    #[serde(default, rename = "where")]
    filters: BTreeMap<String, String>,
    /// Whether to explain each link.
    #[serde(default)]
    explain: bool,
    /// Whether to place the new nodes on the map, and say which of the targets are linked.
    #[serde(default)]
    map: bool,
    /// The popularity weight: from 1, which leaves the order as scored, down to 0, which ranks as if popularity had no effect.
    #[serde(default = "one")]
    #[schema(minimum = 0, maximum = 1, default = 1)]
    popularity: f64,
    /// The share of linked pairs that probabilities are stated for; the training graph's unless given.
    #[serde(default)]
    base_rate: Option<f64>,
    /// Whether links have the titles of both ends, where the model has any.
    #[serde(default)]
    show: bool,
}

/// What is given must be a list: without one, nothing stands there.
fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<Vec<T>>, D::Error> {
    Vec::deserialize(deserializer).map(Some)
}

fn given_objects<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<Vec<T>>, D::Error> {
    objects(deserializer).map(Some)
}

fn ten() -> usize {
    10
}

fn one() -> f64 {
    1.0
}

/// The links that were found.
#[derive(Serialize, ToSchema)]
pub struct LinksAnswer {
    /// By source, in the order of the request; those of a source best first.
    links: Vec<Link>,
    /// The new nodes on the map, in the order of the request, where that is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    map: Option<Vec<OnMap>>,
    /// What the user should know about the request.
    notes: Vec<String>,
}

/// A new node on the map.
#[derive(Serialize, ToSchema)]
pub struct OnMap {
    /// The new node.
    source: String,
    /// Where it lies.
    place: [f64; 2],
    /// Which of its targets are linked with one another, by their ranks.
    between: Vec<[usize; 2]>,
}

/// Find the most likely links of new nodes
///
/// A new node needs no links, only attributes. The server keeps nothing of it. Links that it has already go into `links`; nodes of
/// the model are asked about by their names, in `known`.
#[utoipa::path(
    post, path = "/v1/links", tag = "new nodes", request_body = LinksRequest,
    responses((status = 200, description = "the links", body = LinksAnswer), (status = "4XX", description = "the request is wrong", body = ErrorBody), (status = 503, description = "too much to do", body = ErrorBody))
)]
pub async fn links(State(server): State<Arc<Server>>, body: Body) -> Result<Answer, ApiError> {
    let limits = server.limits().clone();
    server.answer(move |served, deadline| find(served, body.parse()?, &limits, deadline)).await
}

fn find(served: &Served, request: LinksRequest, limits: &Limits, deadline: Deadline) -> Result<LinksAnswer, ApiError> {
    let LinksRequest { nodes, known, links, k, map, .. } = request;
    check_count("k", k, limits.k)?;
    let explain = request.explain.then_some(NAMED_ATTRIBUTES);
    let query = Query {
        count: k,
        among: request.among,
        explore: request.explore,
        relation: request.relation,
        direction: request.direction,
        exclude: request.exclude,
        node_type: request.node_type,
        filters: request.filters.into_iter().collect(),
        popularity: request.popularity,
        base_rate: request.base_rate,
        explain,
        show: request.show,
    };
    let model = &served.model;
    let (asked, mut notes) = match (nodes, known, links) {
        (nodes, None, links) => {
            let links = links.unwrap_or_default();
            let Given { new, notes, .. } = Given::read(served, nodes.unwrap_or_default(), limits.nodes)?;
            check_most("links", links.len(), limits.pairs)?;
            (model.ask_linked(new, &links)?, notes)
        }
        (None, Some(known), None) => {
            check_count("known", known.len(), limits.nodes)?;
            (model.ask_known(&known)?, Vec::new())
        }
        _ => {
            let message = "`known` stands beside `nodes` or `links`";
            let hint = "ask about new nodes or about known ones, one at a time";
            return Err(ApiError::new(Code::BadValue, message, hint));
        }
    };
    let query = model.resolve(&asked, &query)?;
    check_links(asked.len().saturating_mul(k).saturating_mul(query.lists()), explain.is_some(), limits)?;
    notes.extend_from_slice(query.notes());
    let mut answer = LinksAnswer { links: Vec::new(), map: map.then(Vec::new), notes };
    for start in (0..asked.len()).step_by(PER_ROUND) {
        deadline.check()?;
        let rows = start..asked.len().min(start + PER_ROUND);
        for (row, hits) in rows.clone().zip(model.hits(&asked, &query, rows)) {
            deadline.check()?;
            answer.links.extend(model.named_links(&asked, &query, row, &hits));
            answer.map.iter_mut().for_each(|map| map.push(on_map(served, &asked, row, &hits)));
        }
    }
    Ok(answer)
}

/// Nodes times k, which no schema can bound: looked at last, so that it is told of good requests alone.
fn check_links(links: usize, explain: bool, limits: &Limits) -> Result<(), ApiError> {
    check_asked("links", links, limits.links, "lower `k`, or send fewer nodes at once")?;
    if explain { check_explained(links, limits) } else { Ok(()) }
}

fn on_map(served: &Served, asked: &Asked, row: usize, hits: &[Hit]) -> OnMap {
    let roles = served.model.roles();
    let source = roles.at(row as NodeId, roles.ends(0).0) as usize;
    OnMap {
        source: asked.new_nodes().names.get(row as NodeId).into_owned(),
        place: served.map().place(asked.encoded().embeddings.attributes.row(source)),
        between: between(served, hits),
    }
}

/// Which targets are linked with one another, by rank.
fn between(served: &Served, hits: &[Hit]) -> Vec<[usize; 2]> {
    let roles = served.model.roles();
    let known = |hit: &Hit| Some(roles.node(hit.node)).filter(|node| (*node as usize) < served.model.summary().nodes);
    let targets: Vec<Option<NodeId>> = hits.iter().map(known).collect();
    let mut pairs = Vec::new();
    for (first, a) in targets.iter().enumerate() {
        let Some(neighbors) = a.map(|node| served.model.neighbors(node)) else { continue };
        for (second, b) in targets.iter().enumerate().skip(first + 1) {
            if b.is_some_and(|node| neighbors.binary_search(&node).is_ok()) {
                pairs.push([first + 1, second + 1]);
            }
        }
    }
    pairs
}
