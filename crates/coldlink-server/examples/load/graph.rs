//! The graph that the server's model is trained on.

use coldlink::synthetic::World;
use rand::{Rng, RngExt};

/// Topics of a hundred nodes with ten links and twenty words each.
pub fn world(nodes: u32) -> World {
    World {
        nodes,
        topics: nodes / 100,
        links_per_node: 10.0,
        vocabulary: 20_000,
        words_of_topic: 200,
        words_per_node: 20,
        ..World::default()
    }
}

/// The words of a new node.
pub fn words(world: &World, random: &mut impl Rng) -> Vec<String> {
    let topic = random.random_range(0..world.topics);
    world.words(topic, random).iter().map(|word| format!("w{word}")).collect()
}
