//! Scores from embeddings that a learner has made.

use coldlink::graph::NodeId;
use coldlink::kernel::Matrix;
use coldlink::score::{EmbeddingScorer, Embeddings, Scorer};

/// Eq. 10 over embeddings of its own.
pub(super) struct OwnEmbeddings {
    pub embeddings: Embeddings,
    pub lambda: [f32; 3],
}

impl OwnEmbeddings {
    /// The inner product of one embedding per node.
    pub fn inner_product(rows: Matrix<f32>) -> Self {
        let warm = vec![false; rows.rows()];
        let embeddings = Embeddings { structure: Matrix::zeros(rows.rows(), rows.columns()), attributes: rows, warm };
        OwnEmbeddings { embeddings, lambda: [0.0, 1.0, 0.0] }
    }

    fn scorer(&self) -> EmbeddingScorer<'_> {
        EmbeddingScorer { embeddings: &self.embeddings, lambda: self.lambda }
    }
}

impl Scorer for OwnEmbeddings {
    fn scores(&self, pairs: &[(NodeId, NodeId)]) -> Vec<f32> {
        self.scorer().scores(pairs)
    }

    fn scores_against(&self, source: NodeId, candidates: &[NodeId], out: &mut [f32]) {
        self.scorer().scores_against(source, candidates, out);
    }
}
