//! Scorers that need no training: what any model has to beat, on the same pairs.

use std::sync::OnceLock;

use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::graph::{Attributes, Graph, NodeId};
use crate::score::{Scorer, TfIdfRows, inverse_document_frequencies};
use crate::split::TrainView;

/// A number in [0, 1) that depends on the seed and the two nodes, in either order.
pub struct Random {
    seed: u64,
}

impl Random {
    /// The same seed gives the same scores.
    pub fn new(seed: u64) -> Self {
        Random { seed }
    }

    fn score(&self, a: NodeId, b: NodeId) -> f32 {
        let ends = u64::from(a.min(b)) << 32 | u64::from(a.max(b));
        let hash = xxh3_64_with_seed(&ends.to_le_bytes(), self.seed);
        // 24 bits are what an f32 holds exactly.
        (hash >> 40) as f32 / (1_u32 << 24) as f32
    }
}

impl Scorer for Random {
    fn scores(&self, pairs: &[(NodeId, NodeId)]) -> Vec<f32> {
        pairs.par_iter().map(|&(a, b)| self.score(a, b)).collect()
    }
}

/// ln(1 + degree) in the training graph, summed over both ends; a new end has no degree and adds nothing. Where links have weights, it
/// is their sum.
pub struct Degree {
    log_degrees: Vec<f32>,
}

impl Degree {
    /// From the training graph only: the full graph's degree would tell how many links were held back.
    pub fn new(view: &TrainView) -> Self {
        Degree::of(view.graph())
    }

    /// From a graph that may be looked at whole.
    pub fn of(graph: &Graph) -> Self {
        let log_degree = |node| f64::from(graph.strength(node)).ln_1p() as f32;
        Degree { log_degrees: (0..graph.nodes() as NodeId).map(log_degree).collect() }
    }
}

impl Scorer for Degree {
    fn scores(&self, pairs: &[(NodeId, NodeId)]) -> Vec<f32> {
        let degree = |node: NodeId| self.log_degrees[node as usize];
        pairs.iter().map(|&(a, b)| degree(a) + degree(b)).collect()
    }
}

/// The cosine of two nodes' raw attributes; 0 where a row is zero.
pub struct Cosine<'a>(WeightedCosine<'a>);

impl<'a> Cosine<'a> {
    /// Nothing is fitted, so every row may be read.
    pub fn new(view: &TrainView<'a>) -> Self {
        let attributes = view.attributes();
        Cosine(WeightedCosine::new(attributes, vec![1.0; view.shared_width()], view.shared_dense_width()))
    }
}

impl Scorer for Cosine<'_> {
    fn scores(&self, pairs: &[(NodeId, NodeId)]) -> Vec<f32> {
        self.0.scores(pairs)
    }

    fn scores_against(&self, source: NodeId, candidates: &[NodeId], out: &mut [f32]) {
        self.0.scores_against(source, candidates, out);
    }
}

/// The cosine of two nodes' tf-idf vectors; 0 where a row is zero.
///
/// tf is the attribute's value and idf = ln((1 + N) / (1 + df)) + 1, scikit-learn's smooth variant, where N counts the
/// visible rows and df those of them that have the attribute.
pub struct TfIdf<'a>(WeightedCosine<'a>);

impl<'a> TfIdf<'a> {
    /// Counts documents among the visible rows only.
    pub fn new(view: &TrainView<'a>) -> Self {
        let idf = inverse_document_frequencies(view);
        let weights = idf.into_iter().map(|idf| idf * idf).collect();
        TfIdf(WeightedCosine::new(view.attributes(), weights, view.shared_dense_width()))
    }
}

impl Scorer for TfIdf<'_> {
    fn scores(&self, pairs: &[(NodeId, NodeId)]) -> Vec<f32> {
        self.0.scores(pairs)
    }

    fn scores_against(&self, source: NodeId, candidates: &[NodeId], out: &mut [f32]) {
        self.0.scores_against(source, candidates, out);
    }
}

/// The cosine of two nodes' tf-idf vectors as a model keeps them: of words and values, not of numbers in vectors.
pub struct Words {
    rows: TfIdfRows,
}

impl Words {
    /// A row for each node.
    pub fn new(rows: TfIdfRows) -> Self {
        Words { rows }
    }
}

impl Scorer for Words {
    fn scores(&self, pairs: &[(NodeId, NodeId)]) -> Vec<f32> {
        let score = |group: &[(NodeId, NodeId)]| {
            let products = self.rows.products(self.rows.row(group[0].0 as usize));
            group.iter().map(|pair| products[pair.1 as usize]).collect::<Vec<f32>>()
        };
        pairs.par_chunk_by(|a, b| a.0 == b.0).map(score).collect::<Vec<_>>().concat()
    }

    fn scores_against(&self, source: NodeId, candidates: &[NodeId], out: &mut [f32]) {
        let products = self.rows.products(self.rows.row(source as usize));
        out.iter_mut().zip(candidates).for_each(|(score, &candidate)| *score = products[candidate as usize]);
    }
}

/// Σ w x y / (|x| |y|), |x|² = Σ w x², with one weight per column of the sparse part, and 1 in the dense part.
///
/// All ways of scoring add the same terms in the same order (a product of two `f32` is exact in `f64`, and a term of zero
/// changes nothing), so that they agree to the bit and do not depend on the order of the two nodes.
struct WeightedCosine<'a> {
    attributes: &'a Attributes,
    weights: Vec<f64>,
    /// Numbers of the dense part that count: what they say in one role does not.
    dense: usize,
    norms: Vec<f64>,
    /// Made when a node is first scored against many.
    by_column: OnceLock<ByColumn>,
}

impl<'a> WeightedCosine<'a> {
    fn new(attributes: &'a Attributes, mut weights: Vec<f64>, dense: usize) -> Self {
        // What an attribute says in one role does not count.
        weights.resize(attributes.sparse_width(), 0.0);
        let norm = |node| {
            let (columns, values) = attributes.row(node);
            let square = |(&column, &value): (&u32, &f32)| weights[column as usize] * f64::from(value).powi(2);
            let sparse = columns.iter().zip(values).map(square).sum::<f64>();
            (sparse + dense_dot(attributes, dense, node, node)).sqrt()
        };
        let norms = (0..attributes.rows() as NodeId).into_par_iter().map(norm).collect();
        WeightedCosine { attributes, weights, dense, norms, by_column: OnceLock::new() }
    }

    /// Merges two sorted rows.
    fn dot(&self, a: NodeId, b: NodeId) -> f64 {
        let (a_columns, a_values) = self.attributes.row(a);
        let (b_columns, b_values) = self.attributes.row(b);
        let (mut i, mut j, mut sum) = (0, 0, 0.0);
        while i < a_columns.len() && j < b_columns.len() {
            let (a_column, b_column) = (a_columns[i], b_columns[j]);
            if a_column == b_column {
                sum += self.weights[a_column as usize] * (f64::from(a_values[i]) * f64::from(b_values[j]));
            }
            i += usize::from(a_column <= b_column);
            j += usize::from(b_column <= a_column);
        }
        sum + dense_dot(self.attributes, self.dense, a, b)
    }

    /// The scores of pairs with the same source. `scratch` is zero in every column, before and after.
    fn scores_of_group(&self, scratch: &mut [f64], pairs: &[(NodeId, NodeId)]) -> Vec<f32> {
        let [first, _, ..] = pairs else {
            return pairs.iter().map(|&(a, b)| self.cosine(self.dot(a, b), a, b)).collect();
        };
        let (columns, values) = self.attributes.row(first.0);
        for (&column, &value) in columns.iter().zip(values) {
            scratch[column as usize] = f64::from(value);
        }
        let dot = |a: NodeId, b: NodeId| self.dot_with(scratch, b) + dense_dot(self.attributes, self.dense, a, b);
        let scores = pairs.iter().map(|&(a, b)| self.cosine(dot(a, b), a, b)).collect();
        for &column in columns {
            scratch[column as usize] = 0.0;
        }
        scores
    }

    /// The dot product of a sparse part written out in full with a node's.
    fn dot_with(&self, full: &[f64], node: NodeId) -> f64 {
        let (columns, values) = self.attributes.row(node);
        let mut sum = 0.0;
        for (&column, &value) in columns.iter().zip(values) {
            sum += self.weights[column as usize] * (full[column as usize] * f64::from(value));
        }
        sum
    }

    /// The dot product of a node with every node: only entries that both have are touched.
    fn dots(&self, source: NodeId) -> Vec<f64> {
        let by_column = self.by_column.get_or_init(|| ByColumn::new(self.attributes));
        let mut dots = vec![0.0; self.attributes.rows()];
        let (columns, values) = self.attributes.row(source);
        for (&column, &value) in columns.iter().zip(values) {
            let (weight, value) = (self.weights[column as usize], f64::from(value));
            let (nodes, others) = by_column.column(column);
            for (&node, &other) in nodes.iter().zip(others) {
                dots[node as usize] += weight * (value * f64::from(other));
            }
        }
        if self.attributes.dense_width() > 0 {
            let dense =
                |(node, dot): (usize, &mut f64)| *dot += dense_dot(self.attributes, self.dense, source, node as NodeId);
            dots.iter_mut().enumerate().for_each(dense);
        }
        dots
    }

    fn cosine(&self, dot: f64, a: NodeId, b: NodeId) -> f32 {
        let norm = self.norms[a as usize] * self.norms[b as usize];
        if norm > 0.0 { (dot / norm) as f32 } else { 0.0 }
    }
}

/// The dot product of the first `width` numbers of two nodes' dense parts, in eight sums side by side.
fn dense_dot(attributes: &Attributes, width: usize, a: NodeId, b: NodeId) -> f64 {
    let [(a, a_rest), (b, b_rest)] = [a, b].map(|node| attributes.dense_row(node)[..width].as_chunks::<8>());
    let mut sums = [0.0; 8];
    for (a, b) in a.iter().zip(b) {
        for ((sum, &a), &b) in sums.iter_mut().zip(a).zip(b) {
            *sum += f64::from(a) * f64::from(b);
        }
    }
    let rest = a_rest.iter().zip(b_rest).map(|(&a, &b)| f64::from(a) * f64::from(b));
    sums.into_iter().chain(rest).sum()
}

impl Scorer for WeightedCosine<'_> {
    fn scores(&self, pairs: &[(NodeId, NodeId)]) -> Vec<f32> {
        let groups = pairs.par_chunk_by(|a, b| a.0 == b.0);
        let score = |scratch: &mut Vec<f64>, group: &[(NodeId, NodeId)]| self.scores_of_group(scratch, group);
        groups.map_init(|| vec![0.0; self.weights.len()], score).collect::<Vec<_>>().concat()
    }

    fn scores_against(&self, source: NodeId, candidates: &[NodeId], out: &mut [f32]) {
        // A few candidates are not worth a number for every node.
        let few = candidates.len() < self.attributes.rows() / 16;
        let dots = if few { Vec::new() } else { self.dots(source) };
        for (score, &candidate) in out.iter_mut().zip(candidates) {
            let dot = if few { self.dot(source, candidate) } else { dots[candidate as usize] };
            *score = self.cosine(dot, source, candidate);
        }
    }
}

/// Attributes by column: the nodes that have one, and their values.
struct ByColumn {
    offsets: Vec<usize>,
    nodes: Vec<NodeId>,
    values: Vec<f32>,
}

impl ByColumn {
    fn new(attributes: &Attributes) -> Self {
        let mut offsets = vec![0; attributes.sparse_width() + 1];
        for &column in attributes.columns() {
            offsets[column as usize + 1] += 1;
        }
        for column in 0..attributes.sparse_width() {
            offsets[column + 1] += offsets[column];
        }
        let mut next = offsets.clone();
        let mut nodes = vec![0; attributes.entries()];
        let mut values = vec![0.0; attributes.entries()];
        for node in 0..attributes.rows() as NodeId {
            let (columns, row) = attributes.row(node);
            for (&column, &value) in columns.iter().zip(row) {
                let place = &mut next[column as usize];
                (nodes[*place], values[*place]) = (node, value);
                *place += 1;
            }
        }
        ByColumn { offsets, nodes, values }
    }

    fn column(&self, column: u32) -> (&[NodeId], &[f32]) {
        let column = column as usize;
        let range = self.offsets[column]..self.offsets[column + 1];
        (&self.nodes[range.clone()], &self.values[range])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::AttributeNames;
    use proptest::prelude::*;

    const WIDTH: usize = 6;

    fn attributes(dense: &[Vec<f32>]) -> Attributes {
        let sparse = |row: &Vec<f32>| (0..).zip(row.iter().copied()).filter(|entry| entry.1 != 0.0).collect();
        Attributes::from_rows(WIDTH, &dense.iter().map(sparse).collect::<Vec<_>>()).unwrap()
    }

    fn all_pairs(nodes: usize) -> Vec<(NodeId, NodeId)> {
        let nodes = nodes as NodeId;
        (0..nodes).flat_map(|a| (0..nodes).map(move |b| (a, b))).collect()
    }

    fn naive_cosine(a: &[f64], b: &[f64]) -> f64 {
        let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
        let norm = (dot(a, a) * dot(b, b)).sqrt();
        if norm == 0.0 { 0.0 } else { dot(a, b) / norm }
    }

    fn naive_tf_idf(dense: &[Vec<f32>], visible: &[bool]) -> Vec<Vec<f64>> {
        let documents: Vec<_> = dense.iter().zip(visible).filter(|row| *row.1).map(|row| row.0).collect();
        let idf = |column: usize| {
            let df = documents.iter().filter(|row| row[column] != 0.0).count() as f64;
            ((1.0 + documents.len() as f64) / (1.0 + df)).ln() + 1.0
        };
        let scaled = |row: &Vec<f32>| (0..WIDTH).map(|column| f64::from(row[column]) * idf(column)).collect();
        dense.iter().map(scaled).collect()
    }

    fn check(scorer: &impl Scorer, dense: &[Vec<f64>]) {
        let pairs = all_pairs(dense.len());
        let scores = scorer.scores(&pairs);
        for (&(a, b), &score) in pairs.iter().zip(&scores) {
            assert_eq!(scorer.scores(&[(a, b)]), [score], "{a} {b} alone");
            let naive = naive_cosine(&dense[a as usize], &dense[b as usize]);
            assert!((f64::from(score) - naive).abs() < 1e-6, "{a} {b}: {score} {naive}");
            assert_eq!(score, scores[b as usize * dense.len() + a as usize], "{a} {b} in either order");
        }
        let candidates: Vec<_> = (0..dense.len() as NodeId).collect();
        for (source, expected) in scores.chunks(dense.len()).enumerate() {
            let mut out = vec![f32::NAN; dense.len()];
            scorer.scores_against(source as NodeId, &candidates, &mut out);
            assert_eq!(out, expected);
        }
    }

    fn rows() -> impl Strategy<Value = Vec<Vec<f32>>> {
        let value = prop_oneof![3 => Just(0.0_f32), 2 => (-3_i8..4).prop_map(f32::from), 1 => 0.1_f32..2.0];
        prop::collection::vec(prop::collection::vec(value, WIDTH), 1..20)
    }

    proptest! {
        #[test]
        fn cosines_equal_their_dense_twins(dense in rows(), hidden in prop::collection::vec(any::<bool>(), 20)) {
            let attributes = attributes(&dense);
            let graph = Graph::from_links(dense.len(), []);
            let visible: Vec<_> = hidden[..dense.len()].iter().map(|hidden| !hidden).collect();
            let view = TrainView::whole(&graph, &attributes, &visible);
            let raw: Vec<Vec<f64>> =
                dense.iter().map(|row| row.iter().copied().map(f64::from).collect()).collect();
            check(&Cosine::new(&view), &raw);
            check(&TfIdf::new(&view), &naive_tf_idf(&dense, &visible));
            // The same numbers once more, in the dense part.
            let twice = attributes.clone().with_dense(WIDTH, dense.concat().into(), AttributeNames::default()).unwrap();
            let doubled: Vec<Vec<f64>> = raw.iter().map(|row| [row.as_slice(), row].concat()).collect();
            check(&Cosine::new(&TrainView::whole(&graph, &twice, &visible)), &doubled);
        }
    }

    #[test]
    fn the_cosine_of_a_zero_row_is_zero() {
        let attributes = attributes(&[vec![0.0; WIDTH], vec![1.0; WIDTH]]);
        let graph = Graph::from_links(2, []);
        let view = TrainView::whole(&graph, &attributes, &[true; 2]);
        let pairs = [(0, 0), (0, 1), (1, 0), (1, 1)];
        assert_eq!(Cosine::new(&view).scores(&pairs), [0.0, 0.0, 0.0, 1.0]);
        assert_eq!(TfIdf::new(&view).scores(&pairs), [0.0, 0.0, 0.0, 1.0]);
    }

    #[test]
    fn few_candidates_score_as_many_do() {
        let rows: Vec<_> =
            (1..=40).map(|node| (1..=WIDTH).map(|column| (node * column % 5) as f32).collect()).collect();
        let attributes = attributes(&rows);
        let graph = Graph::from_links(40, []);
        let cosine = Cosine::new(&TrainView::whole(&graph, &attributes, &[true; 40]));
        let (mut all, mut one) = ([0.0; 40], [0.0]);
        cosine.scores_against(3, &(0..40).collect::<Vec<_>>(), &mut all);
        for candidate in 0..40 {
            cosine.scores_against(3, &[candidate], &mut one);
            assert_eq!(one[0], all[candidate as usize]);
        }
    }

    #[test]
    fn huge_values_do_not_overflow() {
        let attributes = attributes(&[vec![f32::MAX; WIDTH], vec![f32::MAX; WIDTH]]);
        let graph = Graph::from_links(2, []);
        let view = TrainView::whole(&graph, &attributes, &[true; 2]);
        assert_eq!(TfIdf::new(&view).scores(&[(0, 1)]), [1.0]);
    }

    #[test]
    fn hidden_rows_do_not_change_the_idf() {
        let graph = Graph::from_links(3, []);
        let visible = [true, true, false];
        let idf = |hidden: Vec<f32>| {
            let rows = [vec![1.0, 1.0, 0.0, 0.0, 0.0, 0.0], vec![0.0, 1.0, 0.0, 0.0, 0.0, 0.0], hidden];
            let attributes = attributes(&rows);
            inverse_document_frequencies(&TrainView::whole(&graph, &attributes, &visible))
        };
        assert_eq!(idf(vec![1.0; WIDTH]), idf(vec![0.0; WIDTH]));
    }

    #[test]
    fn degree_counts_training_links_of_seen_ends() {
        let attributes = attributes(&vec![vec![0.0; WIDTH]; 4]);
        let graph = Graph::from_links(4, [(0, 1), (0, 2)]);
        let view = TrainView::whole(&graph, &attributes, &[true; 4]);
        let ln = |x: f64| x.ln() as f32;
        assert_eq!(Degree::new(&view).scores(&[(3, 0), (0, 1), (3, 3)]), [ln(3.0), ln(3.0) + ln(2.0), 0.0]);
    }

    #[test]
    fn random_scores_depend_on_the_seed_and_the_unordered_pair() {
        let scores = Random::new(7).scores(&[(3, 9), (9, 3), (3, 8)]);
        assert_eq!(scores[0], scores[1]);
        assert_ne!(scores[0], scores[2]);
        assert_ne!(scores[0], Random::new(8).scores(&[(3, 9)])[0]);
        let many = Random::new(0).scores(&all_pairs(200));
        let mean = many.iter().sum::<f32>() / many.len() as f32;
        assert!((mean - 0.5).abs() < 0.01 && many.iter().all(|score| (0.0..1.0).contains(score)));
    }
}
