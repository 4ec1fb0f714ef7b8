//! The best that can be said of a new node's links, from how a synthetic graph was made: what any model is measured against.

use super::World;
use crate::graph::NodeId;

/// Knows all that a [`World`] draws from, and of each known node its topic, its popularity and how many links it starts; of a new
/// node only its words. No method that sees the graph and the words can rank better on average.
pub struct Oracle<'a> {
    world: &'a World,
    /// The topic of each node.
    topics: Vec<u32>,
    /// How many links each node starts.
    started: Vec<u32>,
    /// The topics that have each word.
    with_word: Vec<Vec<u32>>,
}

impl<'a> Oracle<'a> {
    /// Of a world with one node type.
    pub fn of(world: &'a World) -> Self {
        let mut started = vec![0; world.nodes as usize];
        world.links().iter().for_each(|link| started[link.0 as usize] += 1);
        let mut with_word = vec![Vec::new(); world.vocabulary as usize];
        for topic in 0..world.topics {
            let first = world.first_word(topic);
            (first..first + world.words_of_topic).for_each(|word| with_word[word as usize].push(topic));
        }
        Oracle { world, topics: world.topics_of_nodes().collect(), started, with_word }
    }

    /// How likely a node with these words is of each topic, by Bayes' rule: the chance of a word in a topic is a mixture of the
    /// topic's own words and of all.
    pub fn topics(&self, words: &[u32]) -> Vec<f64> {
        let world = self.world;
        let size = |topic: u32| f64::from(world.first_node(topic + 1) - world.first_node(topic));
        let mut chances: Vec<f64> = (0..world.topics).map(size).collect();
        for &word in words {
            let any = (1.0 - world.words_within) * world.chance(word, world.vocabulary);
            for &topic in &self.with_word[word as usize] {
                let own = world.words_within * world.chance(word - world.first_word(topic), world.words_of_topic);
                chances[topic as usize] *= 1.0 + own / any.max(f64::MIN_POSITIVE);
            }
        }
        let sum: f64 = chances.iter().sum();
        chances.iter_mut().for_each(|chance| *chance /= sum);
        chances
    }

    /// The number of links that are expected between a node of these topics and a known one: what either of them starts.
    pub fn links(&self, topics: &[f64], known: NodeId) -> f64 {
        let (world, topic) = (self.world, self.topics[known as usize]);
        let (first, end) = (world.first_node(topic), world.first_node(topic + 1));
        let started = f64::from(self.started[known as usize]);
        let to_known = world.links_per_node * world.chance(known - first, end - first);
        let within = topics[topic as usize] * (to_known + started / f64::from(end - first));
        let anywhere = (world.links_per_node + started) / f64::from(world.nodes);
        world.links_within * within + (1.0 - world.links_within) * anywhere
    }

    /// The same of two new nodes.
    pub fn links_of_new(&self, one: &[f64], other: &[f64]) -> f64 {
        let world = self.world;
        let size = |topic: u32| f64::from(world.first_node(topic + 1) - world.first_node(topic));
        let shared = (0..world.topics).zip(one.iter().zip(other)).filter(|(_, chances)| *chances.0 > 0.0);
        let within: f64 = shared.map(|(topic, (one, other))| one * other / size(topic).max(1.0)).sum();
        let anywhere = 1.0 / f64::from(world.nodes);
        2.0 * world.links_per_node * (world.links_within * within + (1.0 - world.links_within) * anywhere)
    }
}

impl World {
    pub(super) fn first_word(&self, topic: u32) -> u32 {
        let spare = self.vocabulary - self.words_of_topic;
        (u64::from(topic) * u64::from(self.words_of_topic) % (u64::from(spare) + 1)) as u32
    }

    /// The chance that [`World::below`] draws a number.
    fn chance(&self, number: u32, end: u32) -> f64 {
        let up_to = |number: u32| (f64::from(number) / f64::from(end.max(1))).powf(1.0 / self.skew);
        up_to(number + 1) - up_to(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expected_links_are_those_of_many_worlds() {
        let world = |seed| World { nodes: 200, topics: 4, links_per_node: 6.0, skew: 2.0, seed, ..World::default() };
        let worlds: Vec<World> = (0..200).map(world).collect();
        // Of all nodes of topic 2 with all nodes of topic 2, and with all of topic 1.
        let (mut expected, mut found) = ([0.0; 2], [0.0; 2]);
        for world in &worlds {
            let oracle = Oracle::of(world);
            let topic = |node: NodeId| oracle.topics[node as usize];
            let mut sure = vec![0.0; 4];
            sure[2] = 1.0;
            let size = f64::from(world.first_node(3) - world.first_node(2));
            for node in 0..200 {
                let (place, times) = match topic(node) {
                    // Both ends are counted.
                    2 => (0, size / 2.0),
                    1 => (1, size),
                    _ => continue,
                };
                expected[place] += times * oracle.links(&sure, node);
            }
            for (a, b) in world.links() {
                match (topic(a), topic(b)) {
                    (2, 2) => found[0] += 1.0,
                    (1, 2) | (2, 1) => found[1] += 1.0,
                    _ => {}
                }
            }
        }
        for (expected, found) in expected.iter().zip(found) {
            assert!((expected / found - 1.0_f64).abs() < 0.04, "{expected} {found}");
        }
    }

    #[test]
    fn words_tell_the_topic() {
        let world = World::scaled(2_000, 3);
        let oracle = Oracle::of(&world);
        let data = world.attributes();
        let right = |node: &NodeId| {
            let chances = oracle.topics(data.row(*node).0);
            assert!((chances.iter().sum::<f64>() - 1.0).abs() < 1e-9);
            let best = (0..chances.len()).max_by(|a, b| chances[*a].total_cmp(&chances[*b]));
            best == Some(oracle.topics[*node as usize] as usize)
        };
        let found = (0..2_000).filter(right).count();
        assert!(found > 1_800, "{found}");
    }
}
