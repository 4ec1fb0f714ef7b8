//! Draws batches: linked pairs from the links, in proportion to their weights, unlinked ones from all pairs of warm nodes.

use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;

use super::{Alias, Batch, Distances};
use crate::config::{Config, Loss, Offset};
use crate::graph::{Graph, NodeId, NodeTypes};
use crate::hint::Hint;
use crate::random::{Purpose, stream};
use crate::split::TrainView;

/// Why no batch can be drawn.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SampleError {
    /// Nothing to learn from.
    #[error("the training graph has no links")]
    NoLinks,
    /// More links with weights than can be drawn from.
    #[error("{links} links have weights, more than {}", u32::MAX / 2)]
    TooManyWeights {
        /// Links of the training graph.
        links: usize,
    },
    /// Nothing to tell apart.
    #[error("all {warm} warm nodes are linked to one another, so no unlinked pair is left to learn from")]
    NoUnlinkedPair {
        /// Nodes with a link.
        warm: usize,
    },
}

impl SampleError {
    /// What to do about it.
    pub fn hint(&self) -> Option<Hint> {
        Some(Hint::new(match self {
            SampleError::TooManyWeights { .. } => "set `weights` to `ignore`",
            SampleError::NoLinks => "use a graph with more links, so that some remain for training",
            SampleError::NoUnlinkedPair { .. } => "use a graph with more nodes, some of which are not linked",
        }))
    }
}

/// Pairs that one task draws.
const PAIRS_PER_TASK: usize = 256;
/// Links between two entries of the index of rows.
const LINKS_PER_ENTRY: usize = 64;
/// Tries to draw an unlinked pair before it is searched for.
const TRIES: usize = 64;

/// Draws the batches of one training run.
pub struct Sampler<'a> {
    graph: &'a Graph,
    warm: Vec<NodeId>,
    groups: Option<TypeGroups<'a>>,
    /// The row that holds every 64th entry of the graph's array of neighbours.
    rows: Vec<NodeId>,
    /// Which entry to take, where links have weights.
    weights: Option<Alias>,
    distances: Option<Distances<'a>>,
    beta: f64,
    distance_shift: u32,
    pairs: usize,
    linked: usize,
    /// How many nodes the batch's pairs share as negatives; 0 where unlinked pairs are drawn instead.
    negatives: usize,
    /// Whether candidates count by their popularity beside their similarity.
    offset: Offset,
    seed: u64,
}

/// Warm nodes by their types.
struct TypeGroups<'a> {
    types: &'a NodeTypes,
    warm: Vec<Vec<NodeId>>,
}

impl<'a> TypeGroups<'a> {
    fn of(view: &TrainView<'a>, warm: &[NodeId]) -> Option<Self> {
        let types = view.attributes().types()?;
        Some(TypeGroups { types, warm: types.group(warm) })
    }

    /// Pairs of nodes of types that are linked somewhere.
    fn pairs(&self, graph: &Graph) -> usize {
        let count = self.types.count();
        let mut linked = vec![false; count * count];
        for (a, b) in graph.iter_links() {
            let ends = [self.types.of(a), self.types.of(b)];
            linked[ends[0].min(ends[1]) * count + ends[0].max(ends[1])] = true;
        }
        let size = |of: usize| self.warm[of].len();
        let pairs = |types: usize| match (types / count, types % count) {
            (one, other) if one == other => size(one) * size(one).saturating_sub(1) / 2,
            (one, other) => size(one) * size(other),
        };
        (0..count * count).filter(|&types| linked[types]).map(pairs).sum()
    }
}

impl<'a> Sampler<'a> {
    /// A sampler for a view, a configuration and a seed.
    pub fn new(view: TrainView<'a>, config: &Config, seed: u64) -> Result<Self, SampleError> {
        let view = view.by(config);
        let graph = view.graph();
        if graph.links() == 0 {
            return Err(SampleError::NoLinks);
        }
        let warm = view.warm();
        let groups = TypeGroups::of(&view, &warm);
        let all = groups.as_ref().map_or(warm.len() * (warm.len() - 1) / 2, |groups| groups.pairs(graph));
        if graph.links() == all {
            return Err(SampleError::NoUnlinkedPair { warm: warm.len() });
        }
        let pairs = config.batch.pairs(warm.len(), graph.links());
        let share = ((config.linked_share * pairs as f64).round() as usize).clamp(1, pairs - 1);
        let (linked, negatives) = match config.loss {
            Loss::Pairs => (share, 0),
            Loss::Softmax => (pairs, config.negatives.min(warm.len())),
        };
        let weighted = config.loss == Loss::Pairs && config.beta > 0.0;
        let distances = weighted.then(|| Distances::new(graph, config.distance_bound));
        let rows = rows_of_entries(graph);
        let too_many = || SampleError::TooManyWeights { links: graph.links() };
        let weights = graph.weights().map(|weights| Alias::of(weights).ok_or_else(too_many)).transpose()?;
        let (beta, distance_shift) = (config.beta, config.distance_shift);
        let offset = config.offset;
        Ok(Sampler {
            graph,
            warm,
            groups,
            rows,
            weights,
            distances,
            beta,
            distance_shift,
            pairs,
            linked,
            negatives,
            offset,
            seed,
        })
    }

    /// Pairs in a batch.
    pub fn pairs(&self) -> usize {
        self.pairs
    }

    /// The batch of a step. `places` has room for every node of the graph, with any contents.
    pub fn draw(&self, step: u64, places: &mut [u32]) -> Batch {
        let mut pairs = vec![[0; 2]; self.pairs];
        let mut weights = vec![1.0_f32; self.pairs];
        // All pairs of a batch have targets of one type, so that all negatives can be of it.
        let among = self.groups.as_ref().filter(|_| self.negatives > 0).map(|groups| {
            let target = self.linked_pair(&mut stream(self.seed, Purpose::Negatives, step, 1))[1];
            (groups.types, groups.types.of(target))
        });
        let tasks = pairs.par_chunks_mut(PAIRS_PER_TASK).zip(weights.par_chunks_mut(PAIRS_PER_TASK)).enumerate();
        tasks.for_each(|(task, (pairs, weights))| {
            let random = &mut stream(self.seed, Purpose::Pairs, step, task as u64);
            let mut search = self.distances.as_ref().map(Distances::start);
            for (index, (pair, weight)) in pairs.iter_mut().zip(weights).enumerate() {
                if task * PAIRS_PER_TASK + index < self.linked {
                    *pair = self.linked_pair_to(among, random);
                } else {
                    *pair = self.unlinked_pair(random);
                    *weight = search.as_mut().map_or(1.0, |search| self.weight(search.between(pair[0], pair[1])));
                }
            }
        });
        if self.negatives > 0 {
            let pool = match (&self.groups, among) {
                (Some(groups), Some((_, target))) => &groups.warm[target],
                _ => &self.warm,
            };
            let batch = Batch::with_negatives(&pairs, &self.draw_negatives(pool, step), self.graph, places);
            return match self.offset {
                Offset::None => batch,
                Offset::Degree => batch.with_offsets(|node| self.graph.popularity(node)),
            };
        }
        weights.drain(..self.linked);
        Batch::new(&pairs, self.linked, weights, places)
    }

    /// Distinct nodes of a pool, uniformly.
    fn draw_negatives(&self, pool: &[NodeId], step: u64) -> Vec<NodeId> {
        let random = &mut stream(self.seed, Purpose::Negatives, step, 0);
        let chosen = rand::seq::index::sample(random, pool.len(), self.negatives.min(pool.len()));
        chosen.into_iter().map(|index| pool[index]).collect()
    }

    /// A link, in the direction of which the target is of a type, where one is given.
    fn linked_pair_to(&self, among: Option<(&NodeTypes, usize)>, random: &mut Xoshiro256PlusPlus) -> [NodeId; 2] {
        loop {
            let pair = self.linked_pair(random);
            if among.is_none_or(|(types, wanted)| types.of(pair[1]) == wanted) {
                return pair;
            }
        }
    }

    /// Uniform over links, or in proportion to their weights, and uniform over their two directions.
    fn linked_pair(&self, random: &mut Xoshiro256PlusPlus) -> [NodeId; 2] {
        let entry = match &self.weights {
            Some(weights) => weights.draw(random),
            None => random.random_range(0..self.graph.neighbor_array().len()),
        };
        let mut row = self.rows[entry / LINKS_PER_ENTRY];
        while self.graph.offsets()[row as usize + 1] <= entry as u64 {
            row += 1;
        }
        [row, self.graph.neighbor_array()[entry]]
    }

    /// Uniform over ordered pairs of distinct warm nodes that are not linked in the training graph.
    fn unlinked_pair(&self, random: &mut Xoshiro256PlusPlus) -> [NodeId; 2] {
        if let Some(groups) = &self.groups {
            return self.unlinked_pair_of_types(groups, random);
        }
        let count = self.warm.len();
        for _ in 0..TRIES {
            let [a, b] = [(); 2].map(|()| self.warm[random.random_range(0..count)]);
            if a != b && !self.graph.has_link(a, b) {
                return [a, b];
            }
        }
        // The graph is nearly complete: the first unlinked pair after a random start.
        let start = random.random_range(0..count);
        let cycle = |from: usize| (0..count).map(move |step| self.warm[(from + step) % count]);
        let incomplete = cycle(start).find(|&node| self.graph.degree(node) + 1 < count);
        let source = incomplete.unwrap_or(self.warm[start]);
        let other = cycle(random.random_range(0..count));
        let target = other.into_iter().find(|&node| node != source && !self.graph.has_link(source, node));
        [source, target.unwrap_or(source)]
    }

    /// Of the types of the ends of a link drawn uniformly.
    fn unlinked_pair_of_types(&self, groups: &TypeGroups<'_>, random: &mut Xoshiro256PlusPlus) -> [NodeId; 2] {
        // Some types may be linked completely, but not all that are linked at all.
        loop {
            let pools = self.linked_pair(random).map(|end| &groups.warm[groups.types.of(end)]);
            for _ in 0..TRIES {
                let [a, b] = pools.map(|pool| pool[random.random_range(0..pool.len())]);
                if a != b && !self.graph.has_link(a, b) {
                    return [a, b];
                }
            }
        }
    }

    /// α of Eq. 6.
    fn weight(&self, distance: Option<u32>) -> f32 {
        let alpha = |distance: u32| (self.beta / f64::from(distance + self.distance_shift)).exp() as f32;
        distance.map_or(1.0, alpha)
    }
}

fn rows_of_entries(graph: &Graph) -> Vec<NodeId> {
    let mut row = 0;
    let entries = (0..graph.neighbor_array().len()).step_by(LINKS_PER_ENTRY);
    let row_of = |entry: usize| {
        while graph.offsets()[row as usize + 1] <= entry as u64 {
            row += 1;
        }
        row
    };
    entries.map(row_of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Attributes;
    use proptest::prelude::*;

    fn with_sampler<R>(
        graph: &Graph,
        settings: &[&str],
        work: impl FnOnce(Result<Sampler<'_>, SampleError>) -> R,
    ) -> R {
        let pairs = Config::default().set("loss=pairs").unwrap();
        let config = pairs.set_all(settings).unwrap();
        let attributes = Attributes::from_rows(1, &vec![vec![]; graph.nodes()]).unwrap();
        let visible = vec![true; graph.nodes()];
        work(Sampler::new(TrainView::whole(graph, &attributes, &visible), &config, 3))
    }

    proptest! {
        #[test]
        fn pairs_are_what_they_are_said_to_be(
            links in prop::collection::vec((0_u32..25, 0_u32..25), 1..120),
            step in 0_u64..1000,
        ) {
            let graph = Graph::from_links(30, links);
            with_sampler(&graph, &["batch=50", "beta=1.0", "distance_bound=0"], |sampler| {
                let Ok(sampler) = sampler else { return };
                let batch = sampler.draw(step, &mut [0; 30]);
                assert_eq!((batch.pairs.len(), batch.linked, batch.weights.len()), (50, 20, 30));
                for (index, pair) in batch.pairs.iter().enumerate() {
                    let [a, b] = pair.map(|place| batch.nodes[place as usize]);
                    assert!(a != b && graph.degree(a) > 0 && graph.degree(b) > 0);
                    assert_eq!(graph.has_link(a, b), index < 20);
                    if index >= 20 {
                        let distance = Distances::new(&graph, 0).between(a, b);
                        let expected = distance.map_or(1.0, |d| (1.0 / f64::from(d)).exp() as f32);
                        assert_eq!(batch.weights[index - 20], expected);
                    }
                }
            });
        }
    }

    #[test]
    fn negatives_are_distinct_seen_nodes_and_uniform() {
        let graph = Graph::from_links(50, (0..40).map(|node| (node, (node * 7 + 1) % 40)));
        with_sampler(&graph, &["loss=softmax", "batch=20", "negatives=10"], |sampler| {
            let sampler = sampler.unwrap();
            let mut counts = [0; 50];
            for step in 0..2000 {
                let batch = sampler.draw(step, &mut [0; 50]);
                assert_eq!((batch.pairs.len(), batch.linked), (20, 20));
                let mut drawn: Vec<_> = batch.negatives.places.iter().map(|&p| batch.nodes[p as usize]).collect();
                drawn.iter().for_each(|&node| counts[node as usize] += 1);
                drawn.sort_unstable();
                drawn.dedup();
                assert_eq!(drawn.len(), 10);
            }
            let warm = |node: usize| graph.degree(node as NodeId) > 0;
            let expected = 2000.0 * 10.0 / sampler.warm.len() as f64;
            for (node, &count) in counts.iter().enumerate() {
                let fair = (f64::from(count) - expected).abs() < 6.0 * expected.sqrt();
                assert!(if warm(node) { fair } else { count == 0 }, "{node}: {count}");
            }
        });
    }

    #[test]
    fn all_targets_and_negatives_of_a_batch_are_of_one_type() {
        let graph =
            Graph::from_links(60, (0..40).flat_map(|user| [(user, 40 + user % 20), (user, 40 + user * 7 % 20)]));
        let of = (0..60).map(|node| u8::from(node >= 40)).collect();
        let types = NodeTypes::new(vec!["user".into(), "item".into()], of).unwrap();
        let attributes = Attributes::from_rows(1, &vec![vec![]; 60]).unwrap();
        let attributes = attributes.with_types(Some(std::sync::Arc::new(types))).unwrap();
        let config = Config::default().set_all(["batch=40", "negatives=16"]).unwrap();
        let visible = vec![true; 60];
        let sampler = Sampler::new(TrainView::whole(&graph, &attributes, &visible), &config, 3).unwrap();
        let mut asked = [0; 2];
        for step in 0..200 {
            let batch = sampler.draw(step, &mut [0; 60]);
            let is_item = |place: u32| batch.nodes[place as usize] >= 40;
            let wanted = is_item(batch.pairs[0][1]);
            asked[usize::from(wanted)] += 1;
            assert!(batch.pairs.iter().all(|pair| is_item(pair[1]) == wanted && is_item(pair[0]) != wanted));
            assert!(batch.negatives.places.iter().all(|&place| is_item(place) == wanted));
            assert_eq!(batch.negatives.places.len(), 16);
        }
        assert!(asked.iter().all(|count| (70..130).contains(count)), "{asked:?}");
    }

    #[test]
    fn links_are_drawn_in_proportion_to_their_weights() {
        let graph = Graph::from_links(40, (0..30).map(|node| (node, 39 - node % 7)));
        let weight = |place: usize| 1.0 + (place % 5) as f64;
        let given: Vec<_> = graph.iter_links().enumerate().map(|(place, (a, b))| (a, b, weight(place))).collect();
        let graph = graph.with_weights(given.iter().copied());
        let sum: f64 = given.iter().map(|link| link.2).sum();
        with_sampler(&graph, &["batch=1000", "linked_share=0.9"], |sampler| {
            let sampler = sampler.unwrap();
            let mut counts = std::collections::HashMap::new();
            for step in 0..20 {
                let batch = sampler.draw(step, &mut [0; 40]);
                for pair in &batch.pairs[..900] {
                    let [a, b] = pair.map(|place| batch.nodes[place as usize]);
                    *counts.entry((a.min(b), a.max(b))).or_insert(0.0) += 1.0;
                }
            }
            for (a, b, weight) in given {
                let expected = 18_000.0 * weight / sum;
                assert!((counts[&(a, b)] - expected).abs() < 6.0 * expected.sqrt(), "{a} {b} {expected}");
            }
        });
    }

    #[test]
    fn every_link_is_drawn_about_equally_often() {
        let graph = Graph::from_links(400, (0..300).map(|node| (node, (node * 7 + 13) % 400)));
        with_sampler(&graph, &["batch=1000", "linked_share=0.9"], |sampler| {
            let sampler = sampler.unwrap();
            let mut counts = std::collections::HashMap::new();
            for step in 0..300 {
                let batch = sampler.draw(step, &mut [0; 400]);
                for pair in &batch.pairs[..batch.linked] {
                    *counts.entry(pair.map(|place| batch.nodes[place as usize])).or_insert(0) += 1;
                }
            }
            assert_eq!(counts.len(), 2 * graph.links());
            let expected = 300.0 * 900.0 / (2 * graph.links()) as f64;
            assert!(counts.values().all(|&count| (f64::from(count) - expected).abs() < 6.0 * expected.sqrt()));
        });
    }

    #[test]
    fn a_batch_depends_on_its_step_alone() {
        let graph = Graph::from_links(100, (0..99).map(|node| (node, node + 1)));
        with_sampler(&graph, &["batch=600"], |sampler| {
            let sampler = sampler.unwrap();
            let draw = |threads: usize, step: u64| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| sampler.draw(step, &mut [0; 100])).pairs
            };
            assert_eq!(draw(1, 5), draw(3, 5));
            assert_ne!(draw(1, 5), draw(1, 6));
        });
    }

    #[test]
    fn graphs_without_linked_and_unlinked_pairs_are_refused() {
        let complete = Graph::from_links(4, (0..4).flat_map(|a| (0..a).map(move |b| (a, b))));
        with_sampler(&complete, &[], |sampler| {
            assert_eq!(sampler.err(), Some(SampleError::NoUnlinkedPair { warm: 4 }));
        });
        with_sampler(&Graph::from_links(4, []), &[], |sampler| assert_eq!(sampler.err(), Some(SampleError::NoLinks)));
    }

    #[test]
    fn the_one_unlinked_pair_of_a_nearly_complete_graph_is_found() {
        let all = (0..60_u32).flat_map(|a| (0..a).map(move |b| (a, b)));
        let graph = Graph::from_links(60, all.filter(|&pair| pair != (40, 11)));
        with_sampler(&graph, &["batch=4"], |sampler| {
            let batch = sampler.unwrap().draw(0, &mut [0; 60]);
            for pair in &batch.pairs[batch.linked..] {
                let mut ends = pair.map(|place| batch.nodes[place as usize]);
                ends.sort_unstable();
                assert_eq!(ends, [11, 40]);
            }
        });
    }
}
