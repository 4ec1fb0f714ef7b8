//! The layers that methods are built of. Weights are inputs × outputs; first weights come from a seeded stream, never from
//! burn's own random numbers, which all threads share.

mod dense;
mod dgcnn;
mod features;
mod gat;
mod gcn;
mod gin;
mod initial;
mod neighbours;
mod position;
mod sage;

pub use dense::{Linear, Mlp, elu};
pub use dgcnn::{Dgcnn, Graphs, Shape as DgcnnShape, sort_pool};
pub use features::{Features, Input, dropout};
pub use gat::Gat;
pub use gcn::Gcn;
pub use gin::Gin;
pub use initial::Initial;
pub use neighbours::{Attention, means, normalised, sums};
pub use position::{Position, Sets};
pub use sage::Sage;
