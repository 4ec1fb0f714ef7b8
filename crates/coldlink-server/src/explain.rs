//! Why a link is likely, as it is written.

use coldlink::dataset::End;
use coldlink::graph::{Attributes, NodeId};
use coldlink::model::EncodedNodes;
use serde::Serialize;
use utoipa::ToSchema;

use crate::served::Served;

/// Attributes that are named for each link.
const NAMED: usize = 5;

/// A score taken apart; all parts sum to it.
#[derive(Serialize, ToSchema)]
pub struct Because {
    /// The attributes of the new node that add or take most.
    attributes: Vec<Part>,
    /// What all its other attributes add.
    other_attributes: f64,
    /// What links of similar nodes add.
    similar: f64,
    /// What the other node's number of links adds.
    popular: f64,
    /// What every pair gets.
    rest: f64,
}

/// What an attribute adds to a score.
#[derive(Serialize, ToSchema)]
pub struct Part {
    /// Its name.
    name: String,
    /// What it adds; below 0 it speaks against the link.
    adds: f64,
}

/// A node that is like another.
#[derive(Serialize, ToSchema)]
pub struct SimilarNode {
    /// Its name.
    pub name: String,
    /// The cosine of both attribute embeddings.
    pub cosine: f32,
}

/// Why a new node and another may be linked, and which nodes the new one is most like.
pub fn explain(
    served: &Served,
    attributes: &Attributes,
    new: &EncodedNodes,
    node: NodeId,
    other: End,
) -> (Because, Vec<SimilarNode>) {
    let explained = served.model.explain(attributes, new, node, other);
    let (first, others) = explained.attributes.split_at(explained.attributes.len().min(NAMED));
    let part = |&(column, adds): &(u32, f64)| Part { name: served.attribute_name(column), adds };
    let similar =
        |&(node, cosine): &(NodeId, f32)| SimilarNode { name: served.model.names.get(node).into_owned(), cosine };
    let because = Because {
        attributes: first.iter().map(part).collect(),
        other_attributes: others.iter().map(|amount| amount.1).sum(),
        similar: explained.similar_nodes,
        popular: explained.popularity,
        rest: explained.rest,
    };
    (because, explained.most_similar.iter().map(similar).collect())
}
