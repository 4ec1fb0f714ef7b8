//! What links mean, whether they have a direction, and what they carry.

use super::LoadOptions;
use crate::dataset::Notes;
use crate::graph::{Cleaned, Graph, GraphBuilder, NodeId, Relation, RoleGraph, Roles};

/// A share of links that stand there both ways from which on those that do not are taken for gaps.
const NEARLY_ALL: f64 = 0.9;
/// A share of such links from which on they are no slips: where links have no direction, none need stand there twice.
const SOME: f64 = 0.01;
/// So many times more of them than of links that stand there twice the same way.
const REPEATED: usize = 3;
/// How uneven the two ends of links are where direction means something. Links that stand there once and either way round give 1.
const UNEVEN: f64 = 1.5;

/// Links as they were given: from a source to a target, and of a relation where there are several.
#[derive(Clone, Debug, Default)]
pub struct GivenLinks {
    /// Sources and targets.
    pub pairs: Vec<(NodeId, NodeId)>,
    /// The relation of each; empty where there is one without a name.
    pub relation_of: Vec<u8>,
    /// What relations are called.
    pub relations: Vec<String>,
    /// The weight of each, above 0; empty where links have none.
    pub weights: Vec<f32>,
    /// The time of each, or [`UNKNOWN_TIME`](crate::graph::UNKNOWN_TIME); empty where links have none.
    pub times: Vec<f64>,
}

/// What became of them.
pub struct BuiltLinks {
    /// The links without their directions.
    pub graph: Graph,
    /// With directions and relations, where they have any.
    pub relations: Option<RoleGraph>,
    /// What was left out.
    pub cleaned: Cleaned,
    /// Whether they have a direction that nobody wants.
    pub ignored_direction: bool,
}

impl GivenLinks {
    /// Finds out which relations are directed, unless `options` say so, and builds the graphs.
    pub fn build(mut self, nodes: usize, options: &LoadOptions) -> BuiltLinks {
        if self.relations.len() > 1 {
            return self.build_relations(nodes, options);
        }
        let name = self.relations.pop().unwrap_or_default();
        let said = options.is_directed(&name);
        let shape = Shape::of(nodes, &self.pairs);
        let (graph, cleaned) = built(nodes, self.pairs.iter().copied());
        if said == Some(false) || said.is_none() && shape.is_one_way() {
            let ignored_direction = !shape.is_one_way() && shape.is_directed(&cleaned, &graph);
            let share = share_of_weight(&cleaned, &graph, false);
            let graph = self.carried(graph, &[share], |place| self.pairs[place]);
            return BuiltLinks { graph, relations: None, cleaned, ignored_direction };
        }
        let directed = said.unwrap_or_else(|| shape.is_directed(&cleaned, &graph));
        let share = share_of_weight(&cleaned, &graph, directed);
        let roles = Roles::of(vec![Relation { name, directed }]).filter(|roles| can_be_numbered(nodes, roles));
        let relations = roles.filter(|_| directed).map(|roles| self.in_roles(nodes, roles, &[share]));
        let ignored_direction = directed && relations.is_none();
        let graph = if relations.is_none() { self.carried(graph, &[share], |place| self.pairs[place]) } else { graph };
        BuiltLinks { graph, relations, cleaned, ignored_direction }
    }

    /// The links between role nodes, with what they carry.
    fn in_roles(&self, nodes: usize, roles: Roles, shares: &[f64]) -> RoleGraph {
        let relation = |place: usize| self.relation_of.get(place).map_or(0, |&of| usize::from(of));
        let link = |(place, &(source, target)): (usize, &(NodeId, NodeId))| (relation(place), source, target);
        let RoleGraph { roles, graph } = RoleGraph::new(nodes, roles, self.pairs.iter().enumerate().map(link));
        let graph = self.carried(graph, shares, |place| {
            let ((source, target), (of_source, of_target)) = (self.pairs[place], roles.ends(relation(place)));
            (roles.at(source, of_source), roles.at(target, of_target))
        });
        RoleGraph { roles, graph }
    }

    /// A graph of the links with the weights and times of these, whose ends in the graph are known by their place. Of a weight the
    /// share of its relation counts.
    fn carried(&self, graph: Graph, shares: &[f64], ends: impl Fn(usize) -> (NodeId, NodeId)) -> Graph {
        let mut graph = graph;
        if !self.times.is_empty() {
            let times = self.times.iter().enumerate();
            graph = graph.with_times(times.map(|(place, &time)| (ends(place).0, ends(place).1, time)));
        }
        // Rows that all weigh the same say no more than rows without weights: repeated ones do not add up.
        if self.weights.windows(2).any(|pair| pair[0] != pair[1]) {
            let share = |place: usize| shares[self.relation_of.get(place).map_or(0, |&of| usize::from(of))];
            let weights = self.weights.iter().enumerate();
            graph = graph.with_weights(weights.map(|(place, &weight)| {
                let (source, target) = ends(place);
                (source, target, share(place) * f64::from(weight))
            }));
        }
        graph
    }

    fn build_relations(self, nodes: usize, options: &LoadOptions) -> BuiltLinks {
        let graph = built(nodes, self.pairs.iter().copied()).0;
        let all = || self.pairs.iter().zip(&self.relation_of).map(|(&(source, target), &of)| (of, source, target));
        let mut cleaned = Cleaned::default();
        let (mut shapes, mut relations) = (Vec::new(), Vec::with_capacity(self.relations.len()));
        let mut shares = Vec::with_capacity(self.relations.len());
        for (number, name) in self.relations.iter().enumerate() {
            let of = |(of, source, target)| (usize::from(of) == number).then_some((source, target));
            let pairs: Vec<(NodeId, NodeId)> = all().filter_map(of).collect();
            // A link that two relations have is not repeated.
            let (own, left_out) = built(nodes, pairs.iter().copied());
            cleaned.self_loops += left_out.self_loops;
            cleaned.duplicates += left_out.duplicates;
            cleaned.reciprocal += left_out.reciprocal;
            let shape = Shape::of(nodes, &pairs);
            let found = || !shape.is_one_way() && shape.is_directed(&left_out, &own);
            relations.push(Relation { name: name.clone(), directed: options.is_directed(name).unwrap_or_else(found) });
            shapes.push((shape, Shape::both_ways(&left_out, &own)));
            shares.push([true, false].map(|directed| share_of_weight(&left_out, &own, directed)));
        }
        // Where one relation has a direction, people write the links of the others down from their sources as well.
        if relations.iter().any(|relation| relation.directed) {
            for (relation, (shape, both_ways)) in relations.iter_mut().zip(&shapes) {
                let found = relation.directed || !shape.is_one_way() && *both_ways < SOME;
                relation.directed = options.is_directed(&relation.name).unwrap_or(found);
            }
        }
        let roles = Roles::of(relations).filter(|roles| can_be_numbered(nodes, roles)).unwrap_or_default();
        let ignored_direction = roles.relations().is_empty();
        let share = |(relation, shares): (usize, &[f64; 2])| {
            let directed = roles.relations().get(relation).is_some_and(|relation| relation.directed);
            shares[usize::from(!directed)]
        };
        let shares: Vec<f64> = shares.iter().enumerate().map(share).collect();
        let relations = (!roles.is_plain()).then(|| self.in_roles(nodes, roles, &shares));
        let graph = if relations.is_none() { self.carried(graph, &shares, |place| self.pairs[place]) } else { graph };
        BuiltLinks { graph, relations, cleaned, ignored_direction }
    }
}

/// How much of each row's weight counts: half where every link has no direction and stands there both ways, as in a symmetric matrix.
fn share_of_weight(cleaned: &Cleaned, graph: &Graph, directed: bool) -> f64 {
    if !directed && cleaned.duplicates == 0 && cleaned.reciprocal == graph.links() { 0.5 } else { 1.0 }
}

/// Whether every node in every role has a number.
fn can_be_numbered(nodes: usize, roles: &Roles) -> bool {
    nodes.checked_mul(roles.count()).is_some_and(|count| u32::try_from(count).is_ok())
}

impl BuiltLinks {
    /// What the user should know about them.
    pub fn notes(&self) -> Notes {
        Notes { cleaned: self.cleaned, directed: self.ignored_direction, ..Notes::default() }
    }
}

fn built(nodes: usize, pairs: impl Iterator<Item = (NodeId, NodeId)>) -> (Graph, Cleaned) {
    let mut builder = GraphBuilder::new(nodes);
    builder.extend(pairs);
    builder.build()
}

/// How links run.
struct Shape {
    /// Every source comes before its target in the table of nodes, or every one after it.
    ordered: bool,
    /// No node is both a source and a target.
    between_groups: bool,
    /// How far sources and targets of the same node differ in number, against chance: about 1 where direction is chance.
    unevenness: f64,
}

impl Shape {
    fn of(nodes: usize, pairs: &[(NodeId, NodeId)]) -> Self {
        let (mut out, mut into) = (vec![0_u32; nodes], vec![0_u32; nodes]);
        for &(source, target) in pairs.iter().filter(|pair| pair.0 != pair.1) {
            out[source as usize] += 1;
            into[target as usize] += 1;
        }
        let rising = pairs.iter().filter(|pair| pair.0 < pair.1).count();
        let falling = pairs.iter().filter(|pair| pair.0 > pair.1).count();
        let ends = || out.iter().zip(&into).map(|(&out, &into)| (f64::from(out), f64::from(into)));
        let several = || ends().filter(|(out, into)| out + into >= 2.0);
        let uneven: f64 = several().map(|(out, into)| (out - into).powi(2) / (out + into)).sum();
        Shape {
            ordered: rising == 0 || falling == 0,
            between_groups: ends().all(|(out, into)| out == 0.0 || into == 0.0),
            unevenness: uneven / several().count().max(1) as f64,
        }
    }

    /// Whether each link stands there once, in an order that says nothing: by the table of nodes, or from one group to another.
    fn is_one_way(&self) -> bool {
        self.ordered || self.between_groups
    }

    /// The share of links that stand there both ways.
    fn both_ways(cleaned: &Cleaned, graph: &Graph) -> f64 {
        cleaned.reciprocal as f64 / graph.links().max(1) as f64
    }

    fn is_directed(&self, cleaned: &Cleaned, graph: &Graph) -> bool {
        let both_ways = Shape::both_ways(cleaned, graph);
        // Where links are repeated by chance, as many are by turning them round.
        let by_intent = both_ways >= SOME && cleaned.reciprocal > REPEATED * cleaned.duplicates;
        both_ways < NEARLY_ALL && (by_intent || self.unevenness > UNEVEN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::PLAIN;
    use crate::synthetic::World;

    fn directed(pairs: Vec<(NodeId, NodeId)>) -> bool {
        let links = GivenLinks { pairs, ..GivenLinks::default() };
        links.build(300, &LoadOptions::default()).relations.is_some()
    }

    #[test]
    fn links_are_directed_where_some_run_both_ways_or_ends_differ() {
        let links: Vec<(NodeId, NodeId)> =
            World { nodes: 300, links_per_node: 8.0, ..World::default() }.graph().iter_links().collect();
        assert!(!directed(links.clone()), "in the order of the nodes");
        let both = links.iter().flat_map(|&(a, b)| [(a, b), (b, a)]).collect();
        assert!(!directed(both), "each both ways");
        let chance = links.iter().enumerate().map(|(place, &(a, b))| if place % 2 == 0 { (a, b) } else { (b, a) });
        assert!(!directed(chance.collect()), "either way round");
        let some = links
            .iter()
            .enumerate()
            .flat_map(|(place, &(a, b))| [(a, b), (b, a)].into_iter().take(if place % 3 == 0 { 2 } else { 1 }));
        assert!(directed(some.collect()), "a third both ways");
        let hubs =
            links.iter().map(|&(a, b)| if a % 10 < b % 10 || a % 10 == b % 10 && a < b { (b, a) } else { (a, b) });
        assert!(directed(hubs.collect()), "to few nodes from many");
        assert!(!directed((0..100).map(|user| (user, 200 + user % 7)).collect()), "from users to items");
    }

    #[test]
    fn what_users_say_counts() {
        let build = |directed: bool| {
            let links = GivenLinks { pairs: vec![(0, 1), (1, 2), (2, 1)], ..GivenLinks::default() };
            links.build(3, &LoadOptions { directed: Some(directed), ..LoadOptions::default() })
        };
        assert!(build(true).relations.is_some() && !build(true).ignored_direction);
        assert!(build(false).relations.is_none() && build(false).ignored_direction);
    }

    #[test]
    fn relations_are_directed_each_on_its_own() {
        let links = GivenLinks {
            pairs: vec![(0, 1), (1, 2), (2, 1), (0, 2), (1, 2)],
            relation_of: vec![0, 0, 0, 1, 1],
            relations: vec!["cites".into(), "likes".into()],
            ..GivenLinks::default()
        };
        let relations = links.build(3, &LoadOptions::default()).relations.unwrap();
        let found: Vec<(&str, bool)> =
            relations.roles.relations().iter().map(|relation| (relation.name.as_str(), relation.directed)).collect();
        assert_eq!((found, relations.graph.links()), (vec![("cites", true), ("likes", false)], 5));
    }

    #[test]
    fn a_link_that_two_relations_have_is_not_repeated() {
        let links = GivenLinks {
            pairs: vec![(0, 1), (1, 2), (2, 1), (0, 1), (0, 1), (2, 2)],
            relation_of: vec![0, 0, 0, 1, 1, 1],
            relations: vec!["cites".into(), "likes".into()],
            ..GivenLinks::default()
        };
        let BuiltLinks { cleaned, .. } = links.build(3, &LoadOptions::default());
        assert_eq!((cleaned.duplicates, cleaned.self_loops, cleaned.reciprocal), (1, 1, 1));
    }

    #[test]
    fn weights_add_up_over_the_rows_of_a_link_and_stay_with_its_direction() {
        let build = |directed: bool, weights: &[f32]| {
            let pairs = vec![(0, 1), (1, 0), (1, 2), (1, 2)];
            let links = GivenLinks { pairs, weights: weights.to_vec(), ..GivenLinks::default() };
            links.build(3, &LoadOptions { directed: Some(directed), ..LoadOptions::default() })
        };
        assert_eq!(build(false, &[1.0, 2.0, 4.0, 8.0]).graph.weights().unwrap(), [3.0, 3.0, 12.0, 12.0]);
        let directed = build(true, &[1.0, 2.0, 4.0, 8.0]);
        let links = directed.relations.unwrap().graph;
        // Nodes 0 to 5 are 0 out, 0 in, 1 out, 1 in, 2 out, 2 in.
        assert_eq!(links.iter_links().collect::<Vec<_>>(), [(0, 3), (1, 2), (2, 5)]);
        assert_eq!(links.weights().unwrap(), [1.0, 2.0, 2.0, 12.0, 1.0, 12.0]);
        assert!(directed.graph.weights().is_none(), "what is trained on has them");
        assert_eq!(build(false, &[3.0; 4]).graph, build(false, &[]).graph, "repeated rows without weights count once");
    }

    #[test]
    fn a_weight_that_stands_there_both_ways_counts_once() {
        let links = GivenLinks {
            pairs: vec![(0, 1), (1, 0), (1, 2), (2, 1)],
            weights: vec![2.0, 2.0, 5.0, 5.0],
            times: vec![7.0, 6.0, 5.0, 5.0],
            ..GivenLinks::default()
        };
        let graph = links.build(3, &LoadOptions::default()).graph;
        assert_eq!(graph.weights().unwrap(), [2.0, 2.0, 5.0, 5.0]);
        assert_eq!(graph.times().unwrap(), [6.0, 6.0, 5.0, 5.0]);
    }

    #[test]
    fn directions_are_dropped_where_roles_would_not_fit_into_numbers() {
        let directed = Roles::of(vec![Relation { name: String::new(), directed: true }]).unwrap();
        assert!(can_be_numbered(1 << 31, &PLAIN) && can_be_numbered((1 << 31) - 1, &directed));
        assert!(!can_be_numbered(1 << 31, &directed));
    }

    #[test]
    fn a_relation_beside_a_directed_one_is_directed_unless_its_links_run_both_ways() {
        let pairs = |chain: &[(NodeId, NodeId)]| {
            let mut pairs = vec![(0, 1), (1, 2), (2, 1), (5, 2), (6, 1)];
            pairs.extend_from_slice(chain);
            pairs
        };
        let directed = |chain: &[(NodeId, NodeId)]| {
            let pairs = pairs(chain);
            let relation_of = (0..pairs.len()).map(|place| u8::from(place >= 5)).collect();
            let relations = vec!["is a".into(), "part of".into()];
            let links = GivenLinks { pairs, relation_of, relations, ..GivenLinks::default() };
            let roles = links.build(9, &LoadOptions::default()).relations.unwrap().roles;
            roles.relations().iter().map(|relation| relation.directed).collect::<Vec<_>>()
        };
        assert_eq!(directed(&[(3, 4), (7, 3), (4, 8)]), [true, true], "a chain");
        assert_eq!(directed(&[(3, 4), (4, 3), (7, 3), (3, 7)]), [true, false], "both ways");
        assert_eq!(directed(&[(3, 4), (3, 7), (4, 8)]), [true, false], "in the order of the nodes");
    }
}
