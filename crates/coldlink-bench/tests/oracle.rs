//! DEAL's hand-written gradients against burn's autodiff, on random small graphs: two implementations that share no code.

use burn::tensor::{Tensor, TensorData};
use coldlink::Config;
use coldlink::config::{AdamRows, Alignment, Preset, Scaling};
use coldlink::graph::Attributes;
use coldlink::kernel::{AdamStep, Matrix, Real};
use coldlink::network::{Columns, Deal, Features, Inputs, Parameter};
use coldlink::sample::Batch;
use coldlink_bench::layer::elu;
use coldlink_bench::method::deal_losses;
use coldlink_bench::tensor::{Sparse, device, from_matrix, product};
use proptest::prelude::*;

/// A small graph's attributes, pairs, and what is trained on them.
#[derive(Clone, Debug)]
struct Problem {
    /// Dense rows of attributes.
    attributes: Vec<Vec<f32>>,
    linked: Vec<[u32; 2]>,
    unlinked: Vec<([u32; 2], f32)>,
    config: Config,
    seed: u64,
}

prop_compose! {
    fn config()(
        width in 2_usize..7,
        hidden in prop::collection::vec(2_usize..6, 0..3),
        (bias, last_elu, tight) in any::<(bool, bool, bool)>(),
        (gamma1, gamma2) in (0.5..4.0, 0.5..4.0),
        (b1, b2) in (-0.5..0.5, -0.5..0.5),
        theta in [0.05..1.0, 0.05..1.0, 0.05..1.0],
    ) -> Config {
        let alignment = if tight { Alignment::Tight } else { Alignment::Loose };
        let adam = AdamRows::Touched;
        Config { width, hidden, bias, last_elu, alignment, gamma1, gamma2, b1, b2, theta, adam, ..Preset::Paper.config() }
    }
}

fn pair(nodes: u32) -> impl Strategy<Value = [u32; 2]> {
    (0..nodes, 1..nodes).prop_map(move |(a, shift)| [a, (a + shift) % nodes])
}

fn problem() -> impl Strategy<Value = Problem> {
    (4_u32..10, 3_usize..8).prop_flat_map(|(nodes, width)| {
        // Rows of zeros included: their cosine is 0, and so is its gradient.
        let row = prop::collection::vec(prop_oneof![2 => Just(0.0_f32), 1 => 0.1_f32..1.0], width);
        (
            prop::collection::vec(row, nodes as usize),
            prop::collection::vec(pair(nodes), 1..6),
            prop::collection::vec((pair(nodes), 1.0_f32..2.5), 1..8),
            config(),
            any::<u64>(),
        )
            .prop_map(|(attributes, linked, unlinked, config, seed)| Problem {
                attributes,
                linked,
                unlinked,
                config,
                seed,
            })
    })
}

impl Problem {
    fn batch(&self) -> Batch {
        let pairs: Vec<_> = self.linked.iter().copied().chain(self.unlinked.iter().map(|entry| entry.0)).collect();
        let weights = self.unlinked.iter().map(|entry| entry.1).collect();
        Batch::new(&pairs, self.linked.len(), weights, &mut vec![0; self.attributes.len()])
    }

    fn model(&self) -> Deal<f64> {
        let mut model = Deal::new(self.attributes.len(), self.attributes[0].len(), &self.config, self.seed);
        for (index, layer) in model.encoders.attributes.layers.iter_mut().enumerate() {
            if let Some(bias) = &mut layer.bias {
                let columns = bias.weights.columns();
                *bias = Parameter::new(Matrix::from_fn(1, columns, |_, column| 0.3 - 0.17 * (column + index) as f64));
            }
        }
        model
    }

    /// The library's loss and the gradient of every parameter, by name.
    fn by_hand(&self) -> (f64, Vec<(String, Vec<f64>)>) {
        let entry = |row: &Vec<f32>| -> Vec<(u32, f32)> {
            row.iter()
                .enumerate()
                .filter(|(_, value)| **value != 0.0)
                .map(|(column, value)| (column as u32, *value))
                .collect()
        };
        let rows: Vec<_> = self.attributes.iter().map(entry).collect();
        let attributes = Attributes::from_rows(self.attributes[0].len(), &rows).unwrap();
        let features = Features::new(&attributes, Scaling::Raw);
        let (batch, mut model) = (self.batch(), self.model());
        let mut inputs = Inputs::new(&features);
        inputs.gather(&features, &batch.nodes, None, Columns::Touched);
        let mut space = model.workspace();
        let loss = model.losses(&batch, &inputs, None, &mut space).total;
        model.step(&batch, &inputs, None, &AdamStep::gradient_only(), &mut space);
        let gradient = |parameter: &Parameter<f64>| {
            let mut copy = parameter.weights.clone();
            for (chunk, [first, _]) in copy.chunks_mut().iter_mut().zip(parameter.moments.chunks()) {
                *chunk = *first;
            }
            (0..copy.rows())
                .flat_map(|row| copy.row(row).iter().map(|value| value.wide()).collect::<Vec<_>>())
                .collect()
        };
        (loss, model.encoders.parameters().into_iter().map(|(name, parameter)| (name, gradient(parameter))).collect())
    }

    /// The same by autodiff.
    fn by_autodiff(&self) -> (f64, Vec<(String, Vec<f64>)>) {
        let (batch, model) = (self.batch(), self.model());
        let leaves: Vec<(String, Tensor<2>)> = model
            .encoders
            .parameters()
            .into_iter()
            .map(|(name, parameter)| (name, from_matrix(&parameter.weights, &device()).require_grad()))
            .collect();
        let named = |name: &str| leaves.iter().find(|leaf| leaf.0 == name).map(|leaf| leaf.1.clone());
        let pick = |x: Tensor<2>| product(&Sparse::selection(self.attributes.len(), &batch.nodes), x);
        let numbers: Vec<f64> = self.attributes.iter().flatten().map(|&value| f64::from(value)).collect();
        let shape = [self.attributes.len(), self.attributes[0].len()];
        let data = TensorData::new(numbers, shape);
        let mut z = pick(Tensor::from_data(data, (&device(), burn::tensor::DType::F64)));
        let layers = self.config.hidden.len() + 1;
        for layer in 0..layers {
            z = z.matmul(named(&format!("attributes.{layer}.weights")).unwrap());
            if let Some(bias) = named(&format!("attributes.{layer}.bias")) {
                z = z + bias;
            }
            if layer + 1 < layers || self.config.last_elu {
                z = elu(z);
            }
        }
        let structure = pick(named("structure.table").unwrap());
        let [first, second, third] = deal_losses(structure, z, &batch, &self.config);
        let theta = self.config.theta;
        let loss = first * theta[0] + second * theta[1] + third * theta[2];
        let gradients = loss.backward();
        let gradient = |(name, leaf): &(String, Tensor<2>)| {
            let gradient = leaf.grad(&gradients).map(|gradient| gradient.into_data().iter::<f64>().collect());
            (name.clone(), gradient.unwrap_or_else(|| vec![0.0; leaf.shape().num_elements()]))
        };
        (loss.into_scalar::<f64>(), leaves.iter().map(gradient).collect())
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn hand_written_gradients_are_those_of_autodiff(problem in problem()) {
        let (loss, by_hand) = problem.by_hand();
        let (expected, by_autodiff) = problem.by_autodiff();
        prop_assert!((loss - expected).abs() < 1e-9, "loss {loss}, by autodiff {expected}");
        prop_assert_eq!(by_hand.len(), by_autodiff.len());
        let size = by_autodiff.iter().flat_map(|group| &group.1).map(|value| value * value).sum::<f64>().sqrt();
        for ((name, own), (_, other)) in by_hand.iter().zip(&by_autodiff) {
            prop_assert_eq!(own.len(), other.len(), "{}", name);
            let error = own.iter().zip(other).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
            // burn rounds numbers to single precision in the gradients of products with them and quotients by them.
            prop_assert!(error < 2e-6 * size.max(1e-3), "{name}: off by {error:e} of {size:e}");
        }
    }
}
