//! `/v1/nodes`: the nodes that links are found among; a look at one, a search by name, and new ones that stay.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use coldlink::graph::NodeId;
use coldlink::model::{Model, SimilarNode};
use coldlink::storage::Lock;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::body::{Body, Path, Query};
use crate::error::{ApiError, Causes, Code, ErrorBody};
use crate::limits::check_count;
use crate::rows::{Given, Node};
use crate::served::Served;
use crate::state::Server;
use crate::work::{Answer, too_slow};

/// Where nodes are found and added.
pub const PATH: &str = "/v1/nodes";
/// How often nodes are added anew because the file has changed in the meantime.
const TRIES: usize = 5;
/// Time until another look whether the model's file may be changed.
const BETWEEN_TRIES: Duration = Duration::from_millis(20);
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
    get, path = PATH, tag = "nodes", params(Search),
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

/// Which node.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Named {
    /// Its name.
    name: String,
}

/// Look at one node, whatever its name: browsers and proxies take `.` and `..` in a path for folders
#[utoipa::path(
    get, path = "/v1/node", tag = "nodes", params(Named),
    responses((status = 200, description = "the node", body = NodeAnswer), (status = "4XX", description = "the request is wrong, or there is no such node", body = ErrorBody), (status = 503, description = "too much to do", body = ErrorBody))
)]
pub async fn look_by_name(
    State(server): State<Arc<Server>>,
    Query(Named { name }): Query<Named>,
) -> Result<Answer, ApiError> {
    server.answer(move |served, _| look_at(served, &name)).await
}

fn look_at(served: &Served, name: &str) -> Result<NodeAnswer, ApiError> {
    let model = &served.model;
    let node = model.find(name).ok_or_else(|| ApiError::unknown_node(name))?;
    let neighbors = model.neighbors(node);
    let named = |&node: &NodeId| model.names().get(node).into_owned();
    Ok(NodeAnswer {
        name: named(&node),
        warm: model.is_warm(node),
        links: served.degree(node),
        neighbors: neighbors.iter().take(MOST_NEIGHBORS).map(named).collect(),
        most_similar: model.similar_nodes(node, MOST_SIMILAR),
        place: served.place(node),
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
#[derive(Clone, Serialize, ToSchema)]
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
/// They are in the model's file when this is answered. A request that is sent again with the same key gets the first answer.
#[utoipa::path(
    post, path = PATH, tag = "nodes", request_body = AddRequest,
    params(("Idempotency-Key" = Option<String>, Header, description = "a random key, the same for every repetition of a request", min_length = 1, max_length = 255)),
    responses((status = 201, description = "they have joined", body = AddAnswer), (status = "4XX", description = "the request is wrong", body = ErrorBody), (status = 503, description = "too much to do", body = ErrorBody))
)]
pub async fn add(
    State(server): State<Arc<Server>>,
    headers: HeaderMap,
    body: Body,
) -> Result<(StatusCode, axum::Json<AddAnswer>), ApiError> {
    if server.options.read_only {
        let hint = "ask whoever runs the server to allow it";
        return Err(ApiError::new(Code::ReadOnly, "nodes cannot be added here", hint));
    }
    let first = server.added.answer_to(&headers, body.fingerprint())?;
    // On its own, so that it is done or not done, and remembered, even if whoever asked has gone.
    let adding = tokio::spawn(async move { first.get_or_try_init(|| add_in_turn(&server, body)).await.cloned() });
    let answer = adding.await.unwrap_or_else(|_| Err(ApiError::internal()))?;
    Ok((StatusCode::CREATED, axum::Json(answer)))
}

async fn add_in_turn(server: &Arc<Server>, body: Body) -> Result<AddAnswer, ApiError> {
    let end = tokio::time::Instant::now() + server.limits().time();
    // What cannot be added need not wait for its turn.
    let (reader, served) = (Arc::clone(server), server.current());
    let nodes = server
        .work(move |_| {
            let AddRequest { nodes } = body.parse()?;
            read_named(&served, nodes.clone(), reader.limits().nodes)?;
            Ok(nodes)
        })
        .await?;
    let Ok(_permit) = Arc::clone(&server.adding).try_acquire_owned() else { return Err(server.overloaded()) };
    let turn = async {
        let changing = server.changing.lock().await;
        Ok((changing, lock(&server.path).await?))
    };
    let (_changing, lock) = tokio::time::timeout_at(end, turn).await.unwrap_or_else(|_| Err(too_slow()))?;
    // From here on it is waited for, whatever time it takes: nobody is told that nothing was added while it was.
    let changed = Arc::clone(server);
    let added = tokio::task::spawn_blocking(move || changed.changes.install(|| add_to_newest(&changed, &nodes, lock)));
    added.await.unwrap_or_else(|_| Err(ApiError::internal()))
}

/// Waits until no other program changes the model's file.
async fn lock(path: &std::path::Path) -> Result<Lock, ApiError> {
    loop {
        match Lock::try_of(path) {
            Ok(Some(lock)) => return Ok(lock),
            Ok(None) => tokio::time::sleep(BETWEEN_TRIES).await,
            Err(error) => return Err(cannot_save(&error)),
        }
    }
}

fn cannot_save(error: &(dyn std::error::Error + 'static)) -> ApiError {
    tracing::error!(error = %Causes(error), "the model with new nodes cannot be saved");
    ApiError::new(Code::CannotSave, error.to_string(), "the nodes were not added; the server's log says why")
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

/// Adds nodes to what the model's file holds, once more where another was moved over it in the meantime. Whoever calls it holds
/// `changing` and the lock of the file.
fn add_to_newest(server: &Server, nodes: &[Node], mut lock: Lock) -> Result<AddAnswer, ApiError> {
    server.let_go();
    for _ in 0..TRIES {
        let Some(current) = server.newest() else {
            let message = "the model's file is not the one that is served, and it cannot be opened";
            return Err(other_model(message));
        };
        match add_nodes(server, &current, nodes.to_vec(), &lock) {
            Err(_) if !lock.is_current() => {
                lock = Lock::of(&server.path).map_err(|error| cannot_save(&error))?;
            }
            added => return added,
        }
    }
    Err(other_model("other files are moved over the model's file again and again"))
}

fn other_model(message: &str) -> ApiError {
    ApiError::new(Code::OtherModel, message, "the nodes were not added; the server's log says why")
}

/// Adds nodes to a model, and writes it in the place of the locked file.
fn add_nodes(server: &Server, current: &Served, nodes: Vec<Node>, lock: &Lock) -> Result<AddAnswer, ApiError> {
    let Given { new, notes, .. } = read_named(current, nodes, server.limits().nodes)?;
    let asked = current.model.ask(new)?;
    let new = asked.new_nodes();
    let mut larger = current.model.add(new)?;
    let added: Vec<String> = (0..new.names.len() as NodeId).map(|node| new.names.get(node).into_owned()).collect();
    if let Err(error) = larger.save_locked(lock) {
        if !are_in_file(&server.path, &added) {
            return Err(cannot_save(&error));
        }
        // Whatever failed did so after the file was in its place.
        tracing::warn!(error = %Causes(&error), "nodes were added, but may not outlive a crash of the system");
    }
    let nodes = larger.summary().nodes;
    // The nodes are in the file. Where it was written as a whole, it is served; should it not open, the same model from memory.
    let opened = if larger.fingerprint().is_some() { None } else { Some(Served::open(&server.path)) };
    let served = match opened {
        Some(Ok(served)) => served,
        Some(Err(error)) => {
            tracing::warn!(error = %Causes(&error), "the model with new nodes is served from memory");
            Served::in_memory(larger, &server.path)
        }
        None => Served::in_memory(larger, &server.path),
    };
    server.replace(served);
    tracing::info!(added = added.len(), nodes, "nodes joined the model");
    Ok(AddAnswer { added, nodes, notes })
}

/// Whether nodes of these names are in the model's file.
fn are_in_file(path: &std::path::Path, names: &[String]) -> bool {
    Model::open(path).is_ok_and(|model| names.iter().all(|name| model.find(name).is_some()))
}
