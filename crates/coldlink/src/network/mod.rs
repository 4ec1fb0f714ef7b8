//! DEAL: two encoders, one for attributes and one for structure, aligned in one space (Hao et al., IJCAI 2020).
//!
//! Forward and backward are written out by hand, generic over the number type: `f32` for work, `f64` for the twin that
//! gradients are checked with.

mod deal;
mod encoder;
mod encoders;
mod inputs;
mod loss;
mod parameter;
mod softmax;
mod structure;

pub(crate) use deal::adam_step;
pub use deal::{Deal, Losses, Workspace};
pub use encoder::{Activations, AttributeEncoder, Dropout, Layer};
pub use encoders::{Encoders, FrozenEncoders};
pub use inputs::{Columns, Features, Inputs, Lists, SparseRows};
pub use loss::PairLoss;
pub use parameter::{Parameter, Weights};
pub use structure::StructureEncoder;
