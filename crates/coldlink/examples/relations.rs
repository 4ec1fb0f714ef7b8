//! One model of several relations against a model of each: `cargo run --release -p coldlink --example relations -- [SEEDS]`.
//!
//! A made graph has a relation, the same relation the other way round, and a rare one. New nodes are asked what they link to in each
//! of them, once of a model of all relations and once of a model that knows that relation alone.

use coldlink::evaluate::{Lists, RoleResult};
use coldlink::{Dataset, Evaluation, LoadOptions, Protocol, Settings, Silent, load_json_lines};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const NODES: usize = 600;
const TOPICS: usize = 12;

/// A link by the relation, the source and the target.
type Link = (&'static str, usize, usize);

/// Many links `likes`, the same the other way round as `liked_by`, and a few `follows`; all of them mostly within a topic and to
/// the nodes of it that are popular.
fn links() -> Vec<Link> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
    let mut links = Vec::new();
    let popular = |source: usize, random: &mut Xoshiro256PlusPlus| {
        let topic = if random.random_bool(0.9) { source % TOPICS } else { random.random_range(0..TOPICS) };
        let rank = (random.random::<f64>().powi(2) * (NODES / TOPICS) as f64) as usize;
        rank * TOPICS + topic
    };
    for source in 0..NODES {
        for _ in 0..5 {
            let target = popular(source, &mut random);
            links.extend([("likes", source, target), ("liked_by", target, source)]);
        }
        if random.random_bool(0.3) {
            links.push(("follows", source, popular(source, &mut random)));
        }
    }
    links.retain(|(_, source, target)| source != target);
    links.sort_unstable();
    links.dedup();
    links
}

/// Words of a node's topic among others.
fn words(node: usize) -> Vec<String> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1_000 + node as u64);
    let of_topic = |random: &mut Xoshiro256PlusPlus| format!("t{}w{}", node % TOPICS, random.random_range(0..30));
    let any =
        |random: &mut Xoshiro256PlusPlus| format!("t{}w{}", random.random_range(0..TOPICS), random.random_range(0..30));
    (0..8).map(|place| if place < 4 { of_topic(&mut random) } else { any(&mut random) }).collect()
}

fn dataset(links: &[Link]) -> Result<Dataset, coldlink::Error> {
    let row = |node: usize| format!("{}\n", serde_json::json!({ "id": format!("n{node}"), "words": words(node) }));
    let link = |(relation, source, target): &Link| {
        let (source, target) = (format!("n{source}"), format!("n{target}"));
        format!("{}\n", serde_json::json!({ "source": source, "target": target, "relation": relation }))
    };
    let nodes: String = (0..NODES).map(row).collect();
    let options = LoadOptions { directed: Some(true), ..LoadOptions::default() };
    Ok(load_json_lines(nodes.into(), links.iter().map(link).collect::<String>().into(), &options)?)
}

/// What new nodes link to, by relation.
fn measured(links: &[Link], seeds: u64) -> Result<Vec<RoleResult>, coldlink::Error> {
    let dataset = dataset(links)?;
    let settings = Settings::of_preset("default", 0.0)?;
    let evaluation = Evaluation { seeds, ..Evaluation::new(&dataset, &Protocol::Strict, &settings) };
    let results = evaluation.run(&mut Silent)?.record.report.roles;
    Ok(results.into_iter().filter(|role| role.direction == "out").collect())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let seeds = std::env::args().nth(1).map_or(Ok(10), |seeds| seeds.parse())?;
    let all = links();
    println!("protocol strict, preset default, {seeds} seeds; what new nodes link to\n");
    println!("relation   links   MRR together   alone   kNN   ECE together");
    for role in measured(&all, seeds)? {
        let of_relation: Vec<Link> = all.iter().copied().filter(|link| link.0 == role.relation).collect();
        let alone = measured(&of_relation, seeds)?;
        let mrr = |lists: &Lists| lists.mrr.unwrap_or(f64::NAN);
        println!(
            "{:<8} {:>7} {:>14.3} {:>7.3} {:>5.3} {:>14.3}",
            role.relation,
            of_relation.len(),
            mrr(&role.lists),
            alone.first().map_or(f64::NAN, |alone| mrr(&alone.lists)),
            mrr(&role.knn),
            role.ece.unwrap_or(f64::NAN)
        );
    }
    Ok(())
}
