//! First weights.

use burn::module::Param;
use burn::tensor::{Tensor, TensorData};
use coldlink::random::{Purpose, stream};
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::tensor::device;

/// Draws first weights, one parameter after the other.
pub struct Initial {
    random: Xoshiro256PlusPlus,
}

impl Initial {
    /// The same seed gives the same weights.
    pub fn new(seed: u64) -> Self {
        Initial { random: stream(seed, Purpose::Weights, 0, 0) }
    }

    /// Uniform between ±√(6 / (inputs + outputs)) (Glorot & Bengio, 2010).
    pub fn glorot(&mut self, inputs: usize, outputs: usize) -> Param<Tensor<2>> {
        let bound = (6.0 / (inputs + outputs) as f32).sqrt();
        self.matrix(inputs, outputs, |random| random.random_range(-bound..=bound))
    }

    /// Normal with mean 0 and the given deviation.
    pub fn normal(&mut self, inputs: usize, outputs: usize, deviation: f32) -> Param<Tensor<2>> {
        self.matrix(inputs, outputs, |random| {
            let drawn: f32 = StandardNormal.sample(random);
            drawn * deviation
        })
    }

    /// All the same.
    pub fn constant(&mut self, count: usize, value: f32) -> Param<Tensor<1>> {
        Param::from_tensor(Tensor::from_data(TensorData::new(vec![value; count], [count]), &device()))
    }

    fn matrix(
        &mut self,
        inputs: usize,
        outputs: usize,
        mut draw: impl FnMut(&mut Xoshiro256PlusPlus) -> f32,
    ) -> Param<Tensor<2>> {
        let values: Vec<f32> = (0..inputs * outputs).map(|_| draw(&mut self.random)).collect();
        Param::from_tensor(Tensor::from_data(TensorData::new(values, [inputs, outputs]), &device()))
    }
}
