//! `/v1/nodes`: the nodes that links are found among; a look at one, a search by name, and new ones that stay.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use coldlink::graph::NodeId;
use coldlink::model::SimilarNode;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::body::{Body, Path, Query};
use crate::error::{ApiError, Code, ErrorBody};
use crate::limits::check_count;
use crate::rows::{Given, Node};
use crate::served::Served;
use crate::state::Server;
use crate::work::Answer;

/// Neighbours that are named.
const MOST_NEIGHBORS: usize = 100;
/// Nodes that are named as similar.
const MOST_SIMILAR: usize = 10;

/// What names begin with.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Search {
    /// The beginning of names; all names begin with nothing.
    #[serde(default)]
    prefix: String,
    /// How many to give at most.
    #[serde(default = "twenty")]
    #[param(minimum = 1, default = 20)]
    limit: usize,
}

fn twenty() -> usize {
    20
}

/// Nodes that were found.
#[derive(Serialize, ToSchema)]
pub struct NodesAnswer {
    /// In the order of their names.
    nodes: Vec<NodeName>,
}

/// A node in short.
#[derive(Serialize, ToSchema)]
pub struct NodeName {
    /// Its name.
    name: String,
    /// Its links, where the model keeps them.
    #[serde(skip_serializing_if = "Option::is_none")]
    links: Option<usize>,
}

/// Find nodes by the beginning of their names
#[utoipa::path(
    get, path = "/v1/nodes", tag = "nodes", params(Search),
    responses((status = 200, description = "the nodes", body = NodesAnswer), (status = "4XX", description = "the request is wrong", body = ErrorBody), (status = 503, description = "too much to do", body = ErrorBody))
)]
pub async fn search(State(server): State<Arc<Server>>, Query(search): Query<Search>) -> Result<Answer, ApiError> {
    check_count("limit", search.limit, server.limits().names)?;
    let find = move |served: &Served| {
        let nodes = served.model.starting_with(&search.prefix, search.limit);
        let name =
            |node: NodeId| NodeName { name: served.model.names().get(node).into_owned(), links: served.degree(node) };
        NodesAnswer { nodes: nodes.into_iter().map(name).collect() }
    };
    server.answer(move |served, _| Ok(find(served))).await
}

/// All that is known of a node.
#[derive(Serialize, ToSchema)]
pub struct NodeAnswer {
    /// Its name.
    name: String,
    /// Whether it had a link in training.
    warm: bool,
    /// Its links, where the model keeps them.
    #[serde(skip_serializing_if = "Option::is_none")]
    links: Option<usize>,
    /// The first hundred of the nodes it is linked with.
    neighbors: Vec<String>,
    /// The warm nodes whose attributes are most similar to its own.
    most_similar: Vec<SimilarNode>,
    /// Where it lies on the map.
    place: [f64; 2],
}

/// Look at one node
#[utoipa::path(
    get, path = "/v1/nodes/{name}", tag = "nodes", params(("name" = String, Path, description = "its name")),
    responses((status = 200, description = "the node", body = NodeAnswer), (status = "4XX", description = "the request is wrong, or there is no such node", body = ErrorBody), (status = 503, description = "too much to do", body = ErrorBody))
)]
pub async fn look(State(server): State<Arc<Server>>, Path(name): Path<String>) -> Result<Answer, ApiError> {
    server.answer(move |served, _| look_at(served, &name)).await
}

fn look_at(served: &Served, name: &str) -> Result<NodeAnswer, ApiError> {
    let model = &served.model;
    let node = model.find(name).ok_or_else(|| ApiError::unknown_node(name))?;
    let neighbors = model.graph().map(|graph| graph.neighbors(node)).unwrap_or_default();
    let named = |&node: &NodeId| model.names().get(node).into_owned();
    Ok(NodeAnswer {
        name: named(&node),
        warm: model.embeddings().warm[node as usize],
        links: served.degree(node),
        neighbors: neighbors.iter().take(MOST_NEIGHBORS).map(named).collect(),
        most_similar: model.similar_nodes(node, MOST_SIMILAR),
        place: served.map().place(model.embeddings().attributes.row(node as usize)),
    })
}

/// New nodes that stay.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AddRequest {
    /// The new nodes; each needs a name.
    #[schema(min_items = 1)]
    nodes: Vec<Node>,
}

/// What was added.
#[derive(Serialize, ToSchema)]
pub struct AddAnswer {
    /// The names of the new nodes.
    added: Vec<String>,
    /// All nodes, the new ones included.
    nodes: usize,
    /// What the user should know about them.
    notes: Vec<String>,
}

/// Let new nodes join those that links are found among
///
/// They are in the model's file when this is answered.
#[utoipa::path(
    post, path = "/v1/nodes", tag = "nodes", request_body = AddRequest,
    responses((status = 201, description = "they have joined", body = AddAnswer), (status = "4XX", description = "the request is wrong", body = ErrorBody), (status = 503, description = "too much to do", body = ErrorBody))
)]
pub async fn add(
    State(server): State<Arc<Server>>,
    body: Body,
) -> Result<(StatusCode, axum::Json<AddAnswer>), ApiError> {
    if server.options.read_only {
        let hint = "ask whoever runs the server to allow it";
        return Err(ApiError::new(Code::ReadOnly, "nodes cannot be added here", hint));
    }
    // What cannot be added need not wait for its turn.
    let (reader, served) = (Arc::clone(&server), server.current());
    let nodes = server
        .work(move |_| {
            let AddRequest { nodes } = body.parse()?;
            read_named(&served, nodes.clone(), reader.limits().nodes)?;
            Ok(nodes)
        })
        .await?;
    let Ok(permit) = Arc::clone(&server.adding).try_acquire_owned() else { return Err(server.overloaded()) };
    // On its own, so that it is done or not done, even if whoever asked has gone.
    let adding = tokio::spawn(async move {
        let _permit = permit;
        add_nodes(&server, nodes).await
    });
    let answer = adding.await.unwrap_or_else(|_| Err(ApiError::internal()))?;
    Ok((StatusCode::CREATED, axum::Json(answer)))
}

/// Nodes that all have names.
fn read_named(served: &Served, nodes: Vec<Node>, most: usize) -> Result<Given, ApiError> {
    let given = Given::read(served, nodes, most)?;
    if let Some(place) = given.named.iter().position(|named| !named) {
        let message = format!("node {} has no name", place + 1);
        return Err(ApiError::new(Code::BadValue, message, "links are found under it; give every node a name"));
    }
    Ok(given)
}

async fn add_nodes(server: &Arc<Server>, nodes: Vec<Node>) -> Result<AddAnswer, ApiError> {
    let _changing = server.changing.lock().await;
    let changed = Arc::clone(server);
    server
        .work(move |_| {
            let server = changed;
            let current = server.newest();
            let Given { new, notes, .. } = read_named(&current, nodes, server.limits().nodes)?;
            let asked = current.model.ask(new)?;
            let new = asked.new_nodes();
            let larger = current.model.add(new)?;
            let cannot_save = |error: coldlink::storage::FileError| {
                tracing::error!(error = &error as &dyn std::error::Error, "the model with new nodes cannot be saved");
                ApiError::new(
                    Code::CannotSave,
                    error.to_string(),
                    "the nodes were not added; the server's log says why",
                )
            };
            larger.save(&server.path).map_err(cannot_save)?;
            let nodes = larger.summary().nodes;
            server.replace(Served::open(&server.path).map_err(cannot_save)?);
            tracing::info!(added = new.names.len(), nodes, "nodes joined the model");
            let added = (0..new.names.len() as NodeId).map(|node| new.names.get(node).into_owned()).collect();
            Ok(AddAnswer { added, nodes, notes })
        })
        .await
}
