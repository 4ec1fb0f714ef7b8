//! DEAL: two encoders, one for attributes and one for structure, aligned in one space (Hao et al., IJCAI 2020).
//!
//! Forward and backward are written out by hand, generic over the number type: `f32` for work, `f64` for the twin that
//! gradients are checked with.

mod add;
mod deal;
mod dense;
mod embeddings;
mod encoder;
mod explain;
mod file;
mod indexed;
mod inputs;
mod kinds;
mod loss;
mod retrieve;
mod softmax;
mod structure;
mod trained;

pub use add::AddError;
pub(crate) use deal::adam_step;
pub use deal::{Deal, Losses, Workspace};
pub use embeddings::{EmbeddingScorer, Embeddings};
pub use encoder::{Activations, AttributeEncoder, Dropout, Layer};
pub use explain::Explanation;
pub(crate) use file::{Archive, ArchiveWriter};
pub use file::{FileError, FileProblem};
pub use indexed::IndexProblem;
pub use inputs::{Columns, Features, Inputs, Lists, SparseRows};
pub use kinds::{FilterError, Kinds};
pub use loss::PairLoss;
pub use structure::StructureEncoder;
pub use trained::{Among, Memory, Model, Newcomers, Summary, Wish};

use crate::kernel::{Matrix, Moments, Real};

/// A matrix that is trained, with the optimiser's memory of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter<T: Real> {
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

    /// The weights alone, with no memory for further training.
    pub fn frozen(&self) -> Self {
        Parameter { weights: self.weights.clone(), moments: Moments::none() }
    }
}
