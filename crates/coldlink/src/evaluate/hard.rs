//! Negatives that look like links: the unlinked nodes whose attributes are most similar.

use super::Scorer;
use super::baselines::Cosine;
use crate::graph::{Graph, NodeId};
use crate::split::{Pair, TrainView};

/// Finds, for a new node, the unlinked seen nodes most similar to it in attributes.
///
/// For tests only: they are drawn by knowing all links, which training must not.
pub struct HardNegatives<'a> {
    cosine: Cosine<'a>,
    candidates: Vec<NodeId>,
    links: &'a Graph,
}

impl<'a> HardNegatives<'a> {
    /// Candidates are the seen nodes of `view`; `links` are all links known, with those of the test.
    pub fn new(view: &TrainView<'a>, links: &'a Graph) -> Self {
        HardNegatives { cosine: Cosine::new(view), candidates: view.seen(), links }
    }

    /// The `count` most similar candidates that `node` has no link with, best first; of equals, the lower number first.
    pub fn of(&self, node: NodeId, count: usize) -> Vec<Pair> {
        let mut scores = vec![0.0; self.candidates.len()];
        self.cosine.scores_against(node, &self.candidates, &mut scores);
        let allowed = |other: NodeId| other != node && !self.links.has_link(node, other);
        let mut ranked: Vec<_> =
            scores.into_iter().zip(self.candidates.iter().copied()).filter(|entry| allowed(entry.1)).collect();
        let best_first = |a: &(f32, NodeId), b: &(f32, NodeId)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
        if count < ranked.len() {
            ranked.select_nth_unstable_by(count, best_first);
            ranked.truncate(count);
        }
        ranked.sort_unstable_by(best_first);
        ranked.into_iter().map(|(_, target)| Pair { source: node, target, linked: false }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Attributes;

    #[test]
    fn the_most_similar_unlinked_seen_nodes_come_first() {
        let rows = [vec![(0, 1.0)], vec![(0, 1.0)], vec![(0, 1.0), (1, 1.0)], vec![(1, 1.0)], vec![(0, 1.0)]];
        let attributes = Attributes::from_rows(2, &rows).unwrap();
        let all = Graph::from_links(5, [(0, 1), (1, 2), (2, 3)]);
        let training = all.filter(|a, _| a != 0);
        let visible = [false, true, true, true, true];
        let view = TrainView::whole(&training, &attributes, &visible);
        let hard = HardNegatives::new(&view, &all);
        let targets = |count| hard.of(0, count).iter().map(|pair| pair.target).collect::<Vec<_>>();
        assert_eq!(targets(1), [2]);
        assert_eq!(targets(9), [2, 3], "1 is a link, 4 is not seen");
    }
}
