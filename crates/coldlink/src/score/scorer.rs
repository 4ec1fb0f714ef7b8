//! Anything that gives two nodes a number: higher means a link is likelier.

use crate::graph::NodeId;

/// Scores pairs of nodes. Only the order of scores matters here.
///
/// Nodes must lie in the graph that the scorer was made for, which who asks has checked.
pub trait Scorer: Sync {
    /// The score of each pair, in order.
    fn scores(&self, pairs: &[(NodeId, NodeId)]) -> Vec<f32>;

    /// Says who will be a source soon, so that what they need can be found for all together. Scores do not depend on it.
    fn expect(&self, _sources: &[NodeId]) {}

    /// The score of `source` with each candidate, into `out`, which is as long as `candidates`.
    fn scores_against(&self, source: NodeId, candidates: &[NodeId], out: &mut [f32]) {
        let pairs: Vec<_> = candidates.iter().map(|&candidate| (source, candidate)).collect();
        out.copy_from_slice(&self.scores(&pairs));
    }
}

impl<S: Scorer + ?Sized> Scorer for &S {
    fn scores(&self, pairs: &[(NodeId, NodeId)]) -> Vec<f32> {
        (**self).scores(pairs)
    }

    fn scores_against(&self, source: NodeId, candidates: &[NodeId], out: &mut [f32]) {
        (**self).scores_against(source, candidates, out);
    }

    fn expect(&self, sources: &[NodeId]) {
        (**self).expect(sources);
    }
}
