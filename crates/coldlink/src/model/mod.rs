//! DEAL: two encoders, one for attributes and one for structure, aligned in one space (Hao et al., IJCAI 2020).
//!
//! Forward and backward are written out by hand, generic over the number type: `f32` for work, `f64` for the twin that
//! gradients are checked with.

mod deal;
mod encoder;
mod inputs;
mod loss;
mod structure;

pub use deal::{Deal, Losses, Workspace};
pub use encoder::{Activations, AttributeEncoder, Dropout, Layer};
pub use inputs::{Columns, Features, Inputs, Lists};
pub use loss::PairLoss;
pub use structure::StructureEncoder;

use crate::kernel::{Matrix, Moments, Real};

/// A matrix that is trained, with the optimiser's memory of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter<T> {
    /// The numbers.
    pub weights: Matrix<T>,
    /// Adam's.
    pub moments: Moments<T>,
}

impl<T: Real> Parameter<T> {
    /// A parameter that has not been trained yet.
    pub fn new(weights: Matrix<T>) -> Self {
        let moments = Moments::of(&weights);
        Parameter { weights, moments }
    }
}
