//! Both encoders together, which is all that embeddings need.

use super::{AttributeEncoder, Layer, Parameter, StructureEncoder, Weights};
use crate::config::{Config, Similarity};
use crate::kernel::{Matrix, Real};

/// H_a and H_s, while they are trained ([`Parameter`]s) or frozen (matrices).
#[derive(Clone, Debug, PartialEq)]
pub struct Encoders<W> {
    /// H_a.
    pub attributes: AttributeEncoder<W>,
    /// H_s.
    pub structure: StructureEncoder<W>,
    /// How embeddings are compared.
    pub similarity: Similarity,
}

/// Encoders without an optimiser.
pub type FrozenEncoders = Encoders<Matrix<f32>>;

impl<T: Real> Encoders<Parameter<T>> {
    /// First weights.
    pub fn new(nodes: usize, attributes: usize, config: &Config, seed: u64) -> Self {
        Encoders {
            attributes: AttributeEncoder::new(attributes, config, seed),
            structure: StructureEncoder::new(nodes, config, seed),
            similarity: config.similarity,
        }
    }

    /// A copy of the weights alone.
    pub fn frozen(&self) -> Encoders<Matrix<T>> {
        self.map(|parameter| parameter.weights.clone())
    }

    /// The weights alone.
    pub fn into_frozen(self) -> Encoders<Matrix<T>> {
        let Encoders { attributes, structure, similarity } = self;
        let layer = |layer: Layer<Parameter<T>>| Layer {
            weights: layer.weights.weights,
            bias: layer.bias.map(|bias| bias.weights),
        };
        let layers = attributes.layers.into_iter().map(layer).collect();
        let (table, gains) = (structure.table.weights, structure.gains.map(|gains| gains.weights));
        Encoders {
            attributes: AttributeEncoder { layers, last_elu: attributes.last_elu },
            structure: StructureEncoder { table, gains },
            similarity,
        }
    }
}

impl<W: Weights> Encoders<W> {
    /// The same with every weight replaced.
    fn map<V>(&self, mut each: impl FnMut(&W) -> V) -> Encoders<V> {
        let attributes = self.attributes.map(&mut each);
        let structure =
            StructureEncoder { table: each(&self.structure.table), gains: self.structure.gains.as_ref().map(each) };
        Encoders { attributes, structure, similarity: self.similarity }
    }

    /// Numbers in an embedding.
    pub fn width(&self) -> usize {
        self.structure.table.matrix().columns()
    }

    /// All weights by their names, in a fixed order.
    pub fn parameters(&self) -> Vec<(String, &W)> {
        let mut all = vec![("structure.table".to_owned(), &self.structure.table)];
        all.extend(self.structure.gains.as_ref().map(|gains| ("structure.gains".to_owned(), gains)));
        all.extend(self.attributes.parameters());
        all
    }

    /// The same, to write.
    pub fn parameters_mut(&mut self) -> Vec<(String, &mut W)> {
        let mut all = vec![("structure.table".to_owned(), &mut self.structure.table)];
        all.extend(self.structure.gains.as_mut().map(|gains| ("structure.gains".to_owned(), gains)));
        all.extend(self.attributes.parameters_mut());
        all
    }
}
