//! `POST /v1/links`: the most likely links of new nodes.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use coldlink::dataset::End;
use coldlink::graph::NodeId;
use coldlink::index::Hit;
use coldlink::model::{Among, EncodedNodes, Plan};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::body::{Body, whole, word};
use crate::error::{ApiError, Code, ErrorBody};
use crate::explain::{Because, SimilarNode, explain};
use crate::limits::{Limits, check_count};
use crate::rows::{Given, Node};
use crate::served::Served;
use crate::state::Server;
use crate::work::{Answer, Deadline};

/// New nodes that are worked on before the time is looked at.
const PER_ROUND: usize = 64;

/// New nodes, and which links of theirs are looked for.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LinksRequest {
    /// The new nodes.
    #[schema(min_items = 1)]
    nodes: Vec<Node>,
    /// How many links of each.
    #[serde(default = "ten", deserialize_with = "whole")]
    #[schema(minimum = 1, default = 10)]
    k: usize,
    /// Where to look for them.
    #[serde(default, deserialize_with = "word")]
    among: Where,
    /// Names of nodes that are not to be found.
    #[serde(default)]
    exclude: Vec<String>,
    /// The kind of nodes to find; without it, kinds that are linked with the new node's.
    #[serde(default)]
    candidates: Option<String>,
    /// Values that nodes must have to be found, by their columns.
    #[serde(default, rename = "where")]
    values: BTreeMap<String, String>,
    /// Whether to say why each link is likely.
    #[serde(default)]
    explain: bool,
    /// Whether to place the new nodes on the map, and say which of the found nodes are linked.
    #[serde(default)]
    map: bool,
    /// From 1, as scored, down to 0, where a node's many links are no argument for it.
    #[serde(default = "one")]
    #[schema(minimum = 0, maximum = 1, default = 1)]
    popularity: f64,
    /// The share of linked pairs that probabilities are stated for; that of the training graph unless given.
    #[serde(default)]
    #[schema(minimum = 1e-12, maximum = 0.999999)]
    base_rate: Option<f64>,
}

fn ten() -> usize {
    10
}

fn one() -> f64 {
    1.0
}

/// Where links are looked for.
#[derive(Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Where {
    /// Among nodes of the model.
    #[default]
    Seen,
    /// Among the other new nodes of the request.
    New,
    /// Among all of them.
    Both,
}

/// The links that were found.
#[derive(Serialize, ToSchema)]
pub struct LinksAnswer {
    /// Those of each new node, in the order of the request.
    links: Vec<NodeLinks>,
    /// What the user should know about the nodes.
    notes: Vec<String>,
}

/// The links of one new node.
#[derive(Serialize, ToSchema)]
pub struct NodeLinks {
    /// Its name.
    node: String,
    /// Its most likely links, best first.
    links: Vec<Link>,
    /// The nodes with links whose attributes are most like its own, where links are explained.
    #[serde(skip_serializing_if = "Option::is_none")]
    most_similar: Option<Vec<SimilarNode>>,
    /// Where it lies on the map, where that is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<[f64; 2]>,
    /// Which of the found nodes are linked with one another, by their ranks, where the map is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    between: Option<Vec<[usize; 2]>>,
}

/// A likely link.
#[derive(Serialize, ToSchema)]
pub struct Link {
    /// Its place, from 1.
    rank: usize,
    /// The other node.
    name: String,
    /// Whether that is a node of the model, or else another new one.
    seen: bool,
    /// The log-odds of the link; of models without probabilities, a number that is larger for likelier links.
    score: f32,
    /// Its probability, where the model has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    probability: Option<f64>,
    /// Why, where that is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    because: Option<Because>,
}

/// Find the most likely links of new nodes
///
/// A new node needs no links, only attributes. Nothing is kept: the node is forgotten when it is answered.
#[utoipa::path(
    post, path = "/v1/links", tag = "new nodes", request_body = LinksRequest,
    responses((status = 200, description = "the links", body = LinksAnswer), (status = "4XX", description = "the request is wrong", body = ErrorBody), (status = 503, description = "too much to do", body = ErrorBody))
)]
pub async fn links(State(server): State<Arc<Server>>, body: Body) -> Result<Answer, ApiError> {
    let limits = server.limits().clone();
    server.answer(move |served, deadline| find(served, body.parse()?, &limits, deadline)).await
}

fn find(served: &Served, request: LinksRequest, limits: &Limits, deadline: Deadline) -> Result<LinksAnswer, ApiError> {
    request.check(limits)?;
    let LinksRequest { nodes, k, among, exclude, candidates, values, explain, map, popularity, base_rate } = request;
    let Given { new, mut notes, .. } = Given::read(served, nodes, limits.nodes)?;
    check_links(new.names.len().saturating_mul(k), explain, limits)?;
    let model = &served.model;
    let newcomers = model.encode(&new.attributes);
    check_finite(&newcomers)?;
    let (mut excluded, unknown) = excluded(served, &new, &exclude);
    for (column, value) in &values {
        excluded.extend(model.without_value(column, value)?);
    }
    excluded.sort_unstable();
    excluded.dedup();
    let kind = candidates.map(|name| model.node_type(&name)).transpose()?;
    if unknown > 0 {
        let (s, belong) = if unknown == 1 { ("", "belongs") } else { ("s", "belong") };
        notes.push(format!("{unknown} name{s} of `exclude` {belong} to no node"));
    }
    let among = match among {
        Where::Seen => Among::Known,
        Where::New => Among::New,
        Where::Both => Among::Both,
    };
    let plan = Plan { count: k, among, excluded: &excluded, node_type: kind, popularity: popularity as f32 };
    let base_rate = base_rate.unwrap_or_else(|| model.base_rate());
    let known = model.summary.nodes;
    let mut answers = Vec::with_capacity(new.names.len());
    for start in (0..new.names.len()).step_by(PER_ROUND) {
        deadline.check()?;
        let rows = start..new.names.len().min(start + PER_ROUND);
        for (row, hits) in rows.clone().zip(model.best_links(&newcomers, rows, plan)) {
            let mut answer = NodeLinks {
                node: new.names.get(row as NodeId).into_owned(),
                links: Vec::with_capacity(hits.len()),
                most_similar: None,
                place: map.then(|| served.map().place(newcomers.embeddings.attributes.row(row))),
                between: map.then(|| between(served, &hits)),
            };
            for (place, hit) in hits.into_iter().enumerate() {
                let other = end(known, hit.node);
                let name = match other {
                    End::Known(node) => model.names.get(node),
                    End::New(node) => new.names.get(node),
                };
                let mut because = None;
                if explain {
                    deadline.check()?;
                    let (reasons, most_similar) =
                        self::explain(served, &new.attributes, &newcomers, row as NodeId, other);
                    because = Some(reasons);
                    answer.most_similar = Some(most_similar);
                }
                answer.links.push(Link {
                    rank: place + 1,
                    name: name.into_owned(),
                    seen: matches!(other, End::Known(_)),
                    score: hit.score,
                    probability: model.probability(hit.score, base_rate),
                    because,
                });
            }
            answers.push(answer);
        }
    }
    Ok(LinksAnswer { links: answers, notes })
}

impl LinksRequest {
    fn check(&self, limits: &Limits) -> Result<(), ApiError> {
        check_count("nodes", self.nodes.len(), limits.nodes)?;
        check_count("k", self.k, limits.k)?;
        if !(0.0..=1.0).contains(&self.popularity) {
            return Err(ApiError::new(Code::BadValue, "`popularity` is not from 0 to 1", "1 is as scored"));
        }
        if self.base_rate.is_some_and(|share| !(1e-12..=0.999_999).contains(&share)) {
            let hint = "it is the share of linked pairs among all; leave it out for that of the training graph";
            return Err(ApiError::new(Code::BadValue, "`base_rate` is not from 1e-12 to 0.999999", hint));
        }
        Ok(())
    }
}

/// Nodes times k, which no schema can bound: looked at last, so that it is told of good requests alone.
fn check_links(links: usize, explain: bool, limits: &Limits) -> Result<(), ApiError> {
    let most = if explain { limits.explained.min(limits.links) } else { limits.links };
    if links <= most {
        return Ok(());
    }
    let what = if explain { "explained links" } else { "links" };
    let message = format!("{links} {what} are asked for where {most} are allowed");
    Err(ApiError::new(Code::TooLarge, message, "lower `k`, or send fewer nodes at once"))
}

/// Numbers may be so large that their embedding is none.
pub(crate) fn check_finite(newcomers: &EncodedNodes) -> Result<(), ApiError> {
    let embeddings = &newcomers.embeddings.attributes;
    match (0..embeddings.rows()).find(|&row| embeddings.row(row).iter().any(|value| !value.is_finite())) {
        None => Ok(()),
        Some(row) => {
            let message = format!("node {}: its numbers are too large to be embedded", row + 1);
            Err(ApiError::new(Code::BadValue, message, "give numbers in the range of the graph's"))
        }
    }
}

/// A node where new ones are numbered after those of the model.
fn end(known: usize, node: NodeId) -> End {
    if (node as usize) < known { End::Known(node) } else { End::New(node - known as NodeId) }
}

/// The numbers of excluded nodes, in rising order, and how many names belong to none.
fn excluded(served: &Served, new: &coldlink::dataset::NewNodes, names: &[String]) -> (Vec<NodeId>, usize) {
    let known = served.model.summary.nodes as NodeId;
    let index = new.names.index();
    let (mut nodes, mut unknown) = (Vec::new(), 0);
    for name in names {
        let found = [served.find(name), index.find(name).map(|node| known + node)];
        unknown += usize::from(found == [None, None]);
        nodes.extend(found.into_iter().flatten());
    }
    nodes.sort_unstable();
    nodes.dedup();
    (nodes, unknown)
}

/// Which found nodes are linked with one another, by rank.
fn between(served: &Served, hits: &[Hit]) -> Vec<[usize; 2]> {
    let Some(memory) = &served.model.memory else { return Vec::new() };
    let known = |hit: &Hit| (hit.node as usize) < memory.graph.nodes();
    let mut pairs = Vec::new();
    for (first, a) in hits.iter().enumerate().filter(|(_, hit)| known(hit)) {
        for (second, b) in hits.iter().enumerate().skip(first + 1).filter(|(_, hit)| known(hit)) {
            if memory.graph.has_link(a.node, b.node) {
                pairs.push([first + 1, second + 1]);
            }
        }
    }
    pairs
}
