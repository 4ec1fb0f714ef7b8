//! What is trained, and what is left of it when training is over.

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
}

/// Weights of an encoder: with the optimiser's memory of them while it is trained, or alone.
pub trait Weights: Sync {
    /// Their number type.
    type Number: Real;

    /// The numbers.
    fn matrix(&self) -> &Matrix<Self::Number>;
}

impl<T: Real> Weights for Parameter<T> {
    type Number = T;

    #[inline(always)]
    fn matrix(&self) -> &Matrix<T> {
        &self.weights
    }
}

impl<T: Real> Weights for Matrix<T> {
    type Number = T;

    #[inline(always)]
    fn matrix(&self) -> &Matrix<T> {
        self
    }
}
