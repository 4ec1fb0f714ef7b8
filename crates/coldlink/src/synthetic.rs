//! Synthetic graphs for tests, examples and measurements: nodes of one topic share links and words.

mod carried;
mod oracle;

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use jiff::ToSpan;
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::dataset::{Dataset, Notes};
use crate::graph::{AttributeNames, Attributes, Graph, Names, NodeId, NodeTypes};

pub use oracle::Oracle;

/// What a synthetic graph is like; equal worlds give equal graphs.
///
/// The nodes of a topic stand in a row. Those and its words are ordered by popularity where there is a `skew`.
#[derive(Clone, Debug)]
pub struct World {
    /// How many nodes there are.
    pub nodes: u32,
    /// How many topics they are of.
    pub topics: u32,
    /// How many links a node starts, on average. Repeated ones and those of a node with itself do not count.
    pub links_per_node: f64,
    /// The share of links that stay within a topic; the others go anywhere.
    pub links_within: f64,
    /// How many words there are, an attribute each.
    pub vocabulary: u32,
    /// How many words a topic has. Topics share words where the vocabulary is too small.
    pub words_of_topic: u32,
    /// How many words a node gets. One that it gets twice counts once.
    pub words_per_node: u32,
    /// The share of a node's words that are of its topic; the others are any.
    pub words_within: f64,
    /// With 1, topics are of one size, nodes start equally many links, and nodes and words are equally popular. The
    /// greater, the more unequal.
    pub skew: f64,
    /// How many node types there are; with more than one, links join nodes of different types.
    pub node_types: u8,
    /// How many times as strong links within a topic are as others; with 1, links have no weights.
    pub strength: f64,
    /// How far the popular nodes of a topic move along its row over time, as a share of it. With 0, links have no times; else they come
    /// between 0 and 1, and nodes do so as well.
    pub drift: f64,
    /// Whether tables have a column `day`, a date that rises from node to node.
    pub dates: bool,
    /// The random seed.
    pub seed: u64,
}

impl Default for World {
    fn default() -> Self {
        World {
            nodes: 1000,
            topics: 10,
            links_per_node: 4.0,
            links_within: 0.8,
            vocabulary: 1000,
            words_of_topic: 100,
            words_per_node: 10,
            words_within: 0.6,
            skew: 1.0,
            node_types: 1,
            strength: 1.0,
            drift: 0.0,
            dates: false,
            seed: 1,
        }
    }
}

/// What random numbers are for.
#[derive(Clone, Copy)]
enum Part {
    Links = 1,
    Words = 2,
    NewNodes = 3,
    Weights = 4,
    Times = 5,
}

impl World {
    /// Of any size: topics of a hundred nodes on average, of which each has words of its own; ten links and twenty words a node.
    /// [`Oracle`] knows the best that can be said of it.
    pub fn scaled(nodes: u32, seed: u64) -> World {
        let (topics, words_of_topic) = ((nodes / 100).max(1), 25);
        World {
            nodes,
            topics,
            links_per_node: 10.0,
            vocabulary: topics * words_of_topic,
            words_of_topic,
            words_per_node: 20,
            words_within: 0.4,
            skew: 2.0,
            seed,
            ..World::default()
        }
    }

    /// Links and words at random, without topics.
    pub fn random(nodes: u32, links_per_node: f64, seed: u64) -> World {
        World { nodes, links_per_node, links_within: 0.0, words_within: 0.0, seed, ..World::default() }
    }

    /// The whole graph, with words as attributes and numbers as names.
    pub fn dataset(&self) -> Dataset {
        Dataset {
            name: "synthetic".to_owned(),
            graph: self.graph(),
            relations: None,
            attributes: self.attributes(),
            names: Names::Numbered(self.nodes as usize),
            titles: None,
            schema: None,
            notes: Notes::default(),
        }
    }

    /// The links, with what they carry.
    pub fn graph(&self) -> Graph {
        let links = self.links();
        self.carried(Graph::from_links(self.nodes as usize, links.iter().copied()), &links)
    }

    /// The words of nodes that are not in the graph, of the same topics.
    pub fn new_nodes(&self, count: u32) -> Attributes {
        let mut random = self.stream(Part::NewNodes);
        let topics: Vec<u32> = (0..count).map(|_| self.below(self.topics, &mut random)).collect();
        self.rows(topics.into_iter(), random)
    }

    /// The words of a node of some topic, sorted.
    pub fn words(&self, topic: u32, random: &mut impl Rng) -> Vec<u32> {
        let first = self.first_word(topic);
        let mut word = |_| match random.random_bool(self.words_within) {
            true => first + self.below(self.words_of_topic, random),
            false => self.below(self.vocabulary, random),
        };
        let mut words: Vec<u32> = (0..self.words_per_node).map(&mut word).collect();
        words.sort_unstable();
        words.dedup();
        words
    }

    /// Writes `nodes.csv` and `edges.csv` into a folder.
    pub fn write_tables(&self, folder: &Path) -> io::Result<()> {
        fs::create_dir_all(folder)?;
        let mut nodes = BufWriter::new(File::create(folder.join("nodes.csv"))?);
        self.write_nodes(&mut nodes)?;
        nodes.flush()?;
        let mut edges = BufWriter::new(File::create(folder.join("edges.csv"))?);
        self.write_edges(&mut edges)?;
        edges.flush()
    }

    fn write_nodes(&self, out: &mut impl Write) -> io::Result<()> {
        let columns = [("id", true), ("node_type", self.node_types > 1), ("day", self.dates), ("words", true)];
        let columns: Vec<_> = columns.into_iter().filter(|(_, has)| *has).map(|(name, _)| name).collect();
        writeln!(out, "{}", columns.join(","))?;
        let (mut random, mut day) = (self.stream(Part::Words), jiff::civil::date(2000, 1, 1));
        for (node, topic) in (0..self.nodes).zip(self.topics_of_nodes()) {
            write!(out, "n{node},")?;
            if self.node_types > 1 {
                write!(out, "{},", type_name(self.type_of(node)))?;
            }
            if self.dates {
                write!(out, "{day},")?;
                day = day.saturating_add(1.days());
            }
            let words: Vec<String> = self.words(topic, &mut random).iter().map(|word| format!("w{word}")).collect();
            writeln!(out, "{}", words.join("|"))?;
        }
        Ok(())
    }

    /// Writes the table of links, of nodes `n0`, `n1` and so on.
    pub fn write_edges(&self, out: &mut impl Write) -> io::Result<()> {
        let links = self.links();
        let carried = [("weight", self.weights(&links)), ("time", self.times())];
        let carried: Vec<_> = carried.into_iter().filter_map(|(name, values)| Some((name, values?))).collect();
        let header: String = carried.iter().map(|(name, _)| format!(",{name}")).collect();
        writeln!(out, "source,target{header}")?;
        for (place, (source, target)) in links.into_iter().enumerate() {
            let values: String = carried.iter().map(|(_, values)| format!(",{}", values[place])).collect();
            writeln!(out, "n{source},n{target}{values}")?;
        }
        Ok(())
    }

    fn links(&self) -> Vec<(NodeId, NodeId)> {
        if self.drift > 0.0 {
            return self.timed_links().into_iter().map(|(source, target, _)| (source, target)).collect();
        }
        let mut random = self.stream(Part::Links);
        let mut links = Vec::with_capacity((f64::from(self.nodes) * self.links_per_node) as usize);
        for topic in 0..self.topics {
            let (first, end) = (self.first_node(topic), self.first_node(topic + 1));
            for source in first..end {
                for _ in 0..self.links_from_node(&mut random) {
                    let target = match random.random_bool(self.links_within) {
                        true => first + self.below(end - first, &mut random),
                        false => random.random_range(0..self.nodes),
                    };
                    links.push((source, self.of_another_type(source, target, &mut random)));
                }
            }
        }
        links.retain(|(source, target)| source != target);
        links
    }

    /// How many links a node starts.
    fn links_from_node(&self, random: &mut impl Rng) -> u32 {
        if self.skew > 1.0 {
            // The mean of a power of a uniform number is one over the exponent plus one.
            let most = (self.skew + 1.0) * (self.links_per_node - 1.0).max(0.0);
            return 1 + (most * random.random::<f64>().powf(self.skew)).round() as u32;
        }
        self.links_per_node as u32 + u32::from(random.random_bool(self.links_per_node.fract()))
    }

    /// A node near the target that is not of the source's type, where there are types.
    fn of_another_type(&self, source: NodeId, target: NodeId, random: &mut impl Rng) -> NodeId {
        let types = u32::from(self.node_types);
        if types < 2 {
            return target;
        }
        let wanted = (source + random.random_range(1..types)) % types;
        let other = target - target % types + wanted;
        if other < self.nodes { other } else { other.saturating_sub(types) }
    }

    fn type_of(&self, node: NodeId) -> u8 {
        (node % u32::from(self.node_types)) as u8
    }

    fn attributes(&self) -> Attributes {
        let attributes = self.rows(self.topics_of_nodes(), self.stream(Part::Words));
        let names = (0..self.node_types).map(type_name).collect();
        let types = NodeTypes::new(names, (0..self.nodes).map(|node| self.type_of(node)).collect());
        attributes.with_types(types.filter(|_| self.node_types > 1).map(Arc::new)).expect("a type for each node")
    }

    fn rows(&self, topics: impl Iterator<Item = u32>, mut random: Xoshiro256PlusPlus) -> Attributes {
        let (mut offsets, mut columns) = (vec![0], Vec::new());
        for topic in topics {
            columns.extend(self.words(topic, &mut random));
            offsets.push(columns.len() as u64);
        }
        let values = vec![1.0; columns.len()];
        let names = AttributeNames((0..self.vocabulary).map(|word| format!("words=w{word}")).collect());
        Attributes::from_parts(self.vocabulary as usize, offsets.into(), columns.into(), values.into(), names)
            .expect("sorted and finite")
    }

    fn topics_of_nodes(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.topics).flat_map(|topic| {
            let size = self.first_node(topic + 1) - self.first_node(topic);
            std::iter::repeat_n(topic, size as usize)
        })
    }

    /// The first node of a topic; its share of the nodes is its chance in [`World::below`].
    fn first_node(&self, topic: u32) -> u32 {
        let share = (f64::from(topic) / f64::from(self.topics)).powf(1.0 / self.skew);
        (f64::from(self.nodes) * share) as u32
    }

    /// A number below `end`; with a skew, small ones more often.
    fn below(&self, end: u32, random: &mut impl Rng) -> u32 {
        ((random.random::<f64>().powf(self.skew) * f64::from(end)) as u32).min(end.saturating_sub(1))
    }

    fn stream(&self, part: Part) -> Xoshiro256PlusPlus {
        Xoshiro256PlusPlus::seed_from_u64(self.seed ^ (part as u64) << 56)
    }
}

fn type_name(number: u8) -> String {
    format!("type{number}")
}

/// Tables of papers that a person can read, as the texts of `nodes.csv` and `edges.csv`: three topics of four words
/// each. A paper cites three of its topic; `column` is a further column, with its name and a number for each paper.
pub fn readable_tables(papers: usize, column: (&str, impl Fn(usize) -> usize)) -> [String; 2] {
    let words =
        [["graph", "link", "node", "edge"], ["soup", "bread", "salt", "oven"], ["star", "orbit", "moon", "comet"]];
    let (name, number) = column;
    let (mut nodes, mut edges) = (format!("id,words,{name}\n"), "source,target\n".to_owned());
    let mut write = |paper: usize| {
        let some: Vec<&str> = words[paper % 3].into_iter().cycle().skip(paper % 4).take(3).collect();
        writeln!(nodes, "p{paper},{},{}", some.join("|"), number(paper))?;
        [1, 2, 5].iter().try_for_each(|step| writeln!(edges, "p{paper},p{}", (paper + 3 * step) % papers))
    };
    (0..papers).try_for_each(&mut write).expect("room in memory");
    [nodes, edges]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{LoadOptions, load};

    fn shared_words(a: &[u32], b: &[u32]) -> usize {
        a.iter().filter(|word| b.contains(word)).count()
    }

    #[test]
    fn the_same_world_gives_the_same_graph_and_another_seed_another() {
        let world = World::default();
        assert_eq!(world.dataset(), world.dataset());
        assert_ne!(world.graph(), World { seed: 2, ..world.clone() }.graph());
        assert_eq!(world.new_nodes(9), world.new_nodes(9));
    }

    #[test]
    fn links_and_words_stay_mostly_within_topics() {
        let data = World::default().dataset();
        let within = data.graph.iter_links().filter(|(a, b)| a / 100 == b / 100).count() as f64;
        let share = within / data.graph.links() as f64;
        assert!((0.75..0.88).contains(&share), "{share}");
        let row = |node| data.attributes.row(node).0;
        let near: usize = (0..99).map(|node| shared_words(row(node), row(node + 1))).sum();
        let far: usize = (0..99).map(|node| shared_words(row(node), row(node + 500))).sum();
        assert!(near > 3 * far, "{near} and {far}");
    }

    #[test]
    fn the_mean_number_of_links_is_as_asked_for() {
        for skew in [1.0, 2.0] {
            let world = World { nodes: 5000, links_per_node: 3.5, skew, ..World::default() };
            let mean = world.links().len() as f64 / 5000.0;
            assert!((mean - 3.5).abs() < 0.15, "{mean}");
        }
    }

    #[test]
    fn a_skew_makes_topics_and_popularity_unequal() {
        let most = |skew| {
            let world = World { skew, links_within: 0.5, ..World::default() };
            let graph = world.graph();
            (world.first_node(1), (0..1000).map(|node| graph.degree(node)).max().unwrap())
        };
        let (even, skewed) = (most(1.0), most(3.0));
        assert!(even.0 == 100 && skewed.0 > 300 && skewed.1 > 2 * even.1, "{even:?} {skewed:?}");
    }

    #[test]
    fn links_join_nodes_of_different_types() {
        for node_types in [2, 3] {
            let data = World { nodes: 301, node_types, ..World::default() }.dataset();
            let types = data.attributes.types().unwrap();
            assert!(data.graph.links() > 800 && data.graph.iter_links().all(|(a, b)| types.of(a) != types.of(b)));
        }
    }

    #[test]
    fn tables_hold_the_graph() {
        let folder = tempfile::tempdir().unwrap();
        let world = World { nodes: 200, node_types: 2, dates: true, ..World::default() };
        world.write_tables(folder.path()).unwrap();
        let (loaded, made) = (load(folder.path(), &LoadOptions::default()).unwrap(), world.dataset());
        assert_eq!(loaded.graph, made.graph);
        assert_eq!(loaded.attributes.types().unwrap().all(), made.attributes.types().unwrap().all());
        let columns: Vec<_> = loaded.schema.unwrap().columns.into_iter().map(|column| column.name).collect();
        assert!(["day", "node_type", "words"].iter().all(|name| columns.contains(&(*name).to_owned())), "{columns:?}");
    }
}
