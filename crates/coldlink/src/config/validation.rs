//! What settings and the number of steps are chosen on.

use std::fmt;

/// What settings and the number of steps are chosen on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Validation {
    /// A tenth of the remaining links, both ends visible.
    Edges,
    /// A further tenth of the nodes, hidden; the final model is fitted again with them.
    Nodes,
}

impl fmt::Display for Validation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Validation::Edges => "edges",
            Validation::Nodes => "nodes",
        })
    }
}
