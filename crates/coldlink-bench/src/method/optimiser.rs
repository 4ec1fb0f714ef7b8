//! A module and the optimiser that moves it.

use burn::module::Module;
use burn::optim::{AdamConfig, GradientsParams, ModuleOptimizer};
use burn::tensor::Tensor;

/// A module under training by Adam, with the ε of the textbook.
pub(super) struct Trained<M> {
    /// Always there between two steps.
    module: Option<M>,
    optimiser: ModuleOptimizer,
    learning_rate: f64,
}

impl<M: Module> Trained<M> {
    pub fn new(module: M, learning_rate: f64) -> Self {
        let optimiser = AdamConfig::new().with_epsilon(1e-8).init();
        Trained { module: Some(module), optimiser, learning_rate }
    }

    pub fn module(&self) -> &M {
        self.module.as_ref().unwrap_or_else(|| unreachable!("a step puts the module back"))
    }

    /// Moves the module against the gradient of a loss, which is returned.
    pub fn update(&mut self, loss: Tensor<1>) -> f64 {
        let gradients = GradientsParams::from_grads(loss.backward(), self.module());
        self.module = self.module.take().map(|module| self.optimiser.step(self.learning_rate, module, gradients));
        loss.into_scalar::<f64>()
    }

    pub fn parameters(&self) -> usize {
        self.module().num_params()
    }
}
