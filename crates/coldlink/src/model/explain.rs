//! Why two nodes may be linked: a score taken apart.

use std::collections::HashMap;

use super::similar::largest;
use super::{EncodedNodes, Model};
use crate::columns::{Preparation, Schema};
use crate::config::{Similarity, Term};
use crate::dataset::End;
use crate::graph::{Attributes, NodeId};
use crate::kernel::Matrix;
use crate::network::Features;
use crate::score::{CLOSENESS, Embeddings, GivenTerms, PairWeights, SMALL_CHANCE, SMALL_VOTE, Terms};

/// Points at which the encoder's slope is looked at, between no attributes and all of them.
const POINTS: usize = 64;
/// Known nodes that are named as similar.
const NAMED: usize = 5;

/// A score as a sum: of what each attribute of the new node adds, and of three parts that no single attribute stands for.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoreParts {
    /// The whole.
    pub score: f64,
    /// What attributes of the new node add, the largest amounts first, with their columns.
    pub attributes: Vec<(u32, f64)>,
    /// What its attributes add that cannot be told apart: the model keeps the embeddings of known nodes, but not their attributes.
    pub undivided: f64,
    /// What its own links add, where it has any.
    pub own_links: Option<f64>,
    /// What links of similar warm nodes add.
    pub similar_nodes: f64,
    /// What the other node's popularity adds.
    pub popularity: f64,
    /// What is added to every pair of this class, and what the encoder makes of no attributes.
    pub baseline: f64,
    /// The warm nodes most similar to the new one, with the cosines of their attribute embeddings.
    pub most_similar: Vec<(NodeId, f32)>,
}

/// The terms of a pair with their weights, and what the new node's own links add.
type Weighted<'a> = (Terms, &'a PairWeights, Option<f64>);

impl Model {
    /// Takes the scores of a new node with others apart. `attributes` are those that were encoded.
    ///
    /// A linear encoder's part is divided exactly; of a deeper one, by integrated gradients of the inner product from no
    /// attributes to all of them, the embedding's length held fixed (Sundararajan et al., 2017).
    pub fn score_parts(
        &self,
        attributes: &Attributes,
        new: &EncodedNodes,
        node: NodeId,
        others: &[End],
    ) -> Vec<ScoreParts> {
        let own = attributes.select(&[self.roles.node(node)]);
        let features = Features::new(&self.prepared(&own), self.config.scaling);
        let entries = features.row(self.roles.role(node) as NodeId);
        let (most_similar, terms) = self.walked_terms(new, node, others);
        let mut terms = terms.map(Vec::into_iter);
        let links = new.given.of(self.number(End::New(node)));
        let is_known = links.is_some_and(|links| links.held.is_some());
        let parts = |&other: &End| {
            let weighted = terms.as_mut().and_then(Iterator::next);
            let towards = self.direction(new, other, weighted.as_ref());
            let (mut amounts, undivided) = match is_known {
                true => (HashMap::new(), undivided_amount(new, node, &towards)),
                false => (self.encoder_amounts(&entries, &towards), 0.0),
            };
            let (mut similar_nodes, mut popularity, mut own_links) = (0.0, 0.0, None);
            let score = if let Some((terms, weights, of_links)) = weighted {
                let own = weights.at(terms[CLOSENESS]);
                let weight = |term: Term| own.terms[term as usize];
                let gain = |term: Term| weight(term) * f64::from(terms[term as usize] - SMALL_CHANCE.ln());
                let votes = weight(Term::Votes) * f64::from(terms[Term::Votes as usize] - SMALL_VOTE.ln());
                similar_nodes = gain(Term::Near) + gain(Term::Far) + votes;
                popularity = weight(Term::Degree) * f64::from(terms[Term::Degree as usize]);
                for (column, product) in self.shared_words(new, node, other) {
                    *amounts.entry(column).or_default() += weight(Term::Tfidf) * product;
                }
                own_links = of_links;
                (weights.score(&terms) + of_links.unwrap_or(0.0)) as f32
            } else {
                self.score_pairs(new, &[(End::New(node), other)])[0]
            };
            let score = f64::from(score);
            let mut attributes: Vec<(u32, f64)> = amounts.into_iter().filter(|amount| amount.1 != 0.0).collect();
            attributes.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()).then(a.0.cmp(&b.0)));
            let named: f64 = attributes.iter().map(|amount| amount.1).sum::<f64>() + similar_nodes + popularity;
            let named = named + undivided + own_links.unwrap_or(0.0);
            let (baseline, most_similar) = (score - named, most_similar.clone());
            ScoreParts { score, attributes, undivided, own_links, similar_nodes, popularity, baseline, most_similar }
        };
        others.iter().map(parts).collect()
    }

    /// What each attribute adds to w_a z_a·z_a + w_c z_a·z_s.
    fn encoder_amounts(&self, entries: &[(u32, f32)], towards: &[f64]) -> HashMap<u32, f64> {
        let (slope, length) = self.mean_slope(entries, towards);
        let weights = &self.encoder.layers[0].weights;
        let amount = |&(column, value): &(u32, f32)| {
            let row = weights.row(column as usize).iter().zip(&slope);
            let product: f64 = row.map(|(&weight, slope)| f64::from(weight) * slope).sum();
            (column, f64::from(value) * product / length)
        };
        let mut amounts = HashMap::new();
        if length > 0.0 {
            // What an attribute says in all roles and what it says in this one go by one name.
            for (column, added) in entries.iter().map(amount) {
                *amounts.entry(self.named_column(column)).or_default() += added;
            }
        }
        amounts
    }

    /// The attribute that a column of the encoder stands for.
    fn named_column(&self, column: u32) -> u32 {
        if self.roles.is_plain() {
            return column;
        }
        let of_schema = || self.schema.as_deref().map_or(0, Schema::dense_width);
        let dense = self.preparation.as_deref().map_or_else(of_schema, Preparation::dense_width) as u32;
        let (sparse, copies) = (self.summary.attributes as u32 - dense, 1 + self.roles.count() as u32);
        match column.checked_sub(sparse * copies) {
            Some(place) => sparse + place % dense.max(1),
            None => column % sparse.max(1),
        }
    }

    /// The mean slope of h·`towards` by the first layer's sums, h being the embedding before it gets length 1, and h's length
    /// (1 under the inner product).
    fn mean_slope(&self, entries: &[(u32, f32)], towards: &[f64]) -> (Vec<f64>, f64) {
        let layers = &self.encoder.layers;
        let first = &layers[0].weights;
        let mut sums = vec![0.0; first.columns()];
        for &(column, value) in entries {
            for (sum, &weight) in sums.iter_mut().zip(first.row(column as usize)) {
                *sum += f64::from(value) * f64::from(weight);
            }
        }
        let pass = |share: f64| {
            let mut outputs: Vec<Vec<f64>> = Vec::with_capacity(layers.len());
            for (index, layer) in layers.iter().enumerate() {
                let mut out = match outputs.last() {
                    None => sums.iter().map(|sum| sum * share).collect(),
                    Some(input) => times(input, &layer.weights),
                };
                if let Some(bias) = &layer.bias {
                    out.iter_mut().zip(bias.row(0)).for_each(|(out, &bias)| *out += f64::from(bias));
                }
                if self.encoder.has_elu(index) {
                    out.iter_mut().filter(|out| **out < 0.0).for_each(|out| *out = out.exp_m1());
                }
                outputs.push(out);
            }
            outputs
        };
        let slope_at = |share: f64| {
            let outputs = pass(share);
            let mut slope = towards.to_vec();
            for index in (0..layers.len()).rev() {
                if self.encoder.has_elu(index) {
                    let outputs = slope.iter_mut().zip(&outputs[index]);
                    outputs.filter(|(_, out)| **out < 0.0).for_each(|(slope, out)| *slope *= out + 1.0);
                }
                if index > 0 {
                    slope = times_transposed(&slope, &layers[index].weights);
                }
            }
            slope
        };
        let mut mean = vec![0.0; sums.len()];
        for point in 0..POINTS {
            let slope = slope_at((point as f64 + 0.5) / POINTS as f64);
            mean.iter_mut().zip(slope).for_each(|(mean, slope)| *mean += slope / POINTS as f64);
        }
        let last = pass(1.0).pop().unwrap_or_default();
        let length = match self.config.similarity {
            Similarity::Cosine => last.iter().map(|value| value * value).sum::<f64>().sqrt(),
            Similarity::Dot => 1.0,
        };
        (mean, length)
    }

    /// What the new node's z_a is multiplied with in the score, all weights included.
    fn direction(&self, new: &EncodedNodes, other: End, weighted: Option<&Weighted<'_>>) -> Vec<f64> {
        let (embeddings, row) = self.side(new, other);
        let (of_attributes, of_cross) = match weighted {
            Some((terms, weights, _)) => {
                let weights = weights.at(terms[CLOSENESS]).terms;
                (weights[Term::Attributes as usize], weights[Term::Cross as usize])
            }
            None => (self.config.lambda[1], self.config.lambda[2]),
        };
        // z_s of a node without links is its z_a.
        let cross = if embeddings.warm[row] { &embeddings.structure } else { &embeddings.attributes };
        let both = embeddings.attributes.row(row).iter().zip(cross.row(row));
        both.map(|(&own, &cross)| of_attributes * f64::from(own) + of_cross * f64::from(cross)).collect()
    }

    fn side<'a>(&'a self, new: &'a EncodedNodes, end: End) -> (&'a Embeddings, usize) {
        match end {
            End::Known(node) => self.row_of(node),
            End::New(node) => (&new.embeddings, node as usize),
        }
    }

    /// The warm nodes most similar to a new one, and the terms of the new node with others with the weights of their pairs, where
    /// the score has terms. The walk they share is walked once.
    fn walked_terms(
        &self,
        new: &EncodedNodes,
        node: NodeId,
        others: &[End],
    ) -> (Vec<(NodeId, f32)>, Option<Vec<Weighted<'_>>>) {
        let own = self.number(End::New(node));
        let (Some(scorer), Some(memory)) = (self.link_scorer(new), &self.memory) else {
            let embedding = new.embeddings.attributes.row(node as usize);
            return (self.most_similar(embedding, NAMED, own, None), None);
        };
        let evidence = &scorer.evidence;
        let links = new.given.of(own);
        let starts = evidence.starts(own, links.and_then(|links| links.held));
        let source = if links.is_none() && evidence.has_attributes(own) {
            evidence.source_from(own, evidence.walk_from_starts(starts.clone()), None)
        } else {
            evidence.source(own)
        };
        let targets: Vec<NodeId> = others.iter().map(|&other| self.number(other)).collect();
        let mut terms = vec![Terms::default(); targets.len()];
        evidence.terms_of(&source, &targets, &mut terms);
        let given = evidence.given_terms(&source, &targets);
        let weighted = |((terms, given), &other): ((Terms, GivenTerms), &End)| {
            let own_links = self.given_weights(memory, new, (node, other)).map(|weights| weights.of_links(&given));
            (terms, self.weights_with(memory, new, (node, other)), own_links)
        };
        let weighted = terms.into_iter().zip(given).zip(others).map(weighted).collect();
        (largest(starts.into_iter(), NAMED), Some(weighted))
    }
}

/// What attributes add through the encoder, all together.
fn undivided_amount(new: &EncodedNodes, node: NodeId, towards: &[f64]) -> f64 {
    let own = new.embeddings.attributes.row(node as usize);
    own.iter().zip(towards).map(|(own, towards)| f64::from(*own) * towards).sum()
}

fn times(row: &[f64], matrix: &Matrix<f32>) -> Vec<f64> {
    let mut out = vec![0.0; matrix.columns()];
    for (index, value) in row.iter().enumerate() {
        out.iter_mut().zip(matrix.row(index)).for_each(|(out, &weight)| *out += value * f64::from(weight));
    }
    out
}

fn times_transposed(row: &[f64], matrix: &Matrix<f32>) -> Vec<f64> {
    let of = |index: usize| matrix.row(index).iter().zip(row).map(|(&weight, value)| f64::from(weight) * value).sum();
    (0..matrix.rows()).map(of).collect()
}
