//! Node types in a model, and which node types a plan is about.

use std::collections::BTreeSet;

use super::{EncodedNodes, FilterError, Model, Plan};
use crate::graph::{Graph, NodeId, NodeTypes, Roles};

/// The types of a model's nodes, and which of them are linked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkedTypes {
    /// Of each node.
    pub types: NodeTypes,
    /// Pairs of types with a link in the training graph, both ways round, in rising order.
    pub linked: Vec<[u8; 2]>,
    /// The same with the role of the first end before them, where nodes have several.
    pub in_roles: Vec<[u8; 3]>,
}

impl LinkedTypes {
    /// Of the nodes of a graph of role nodes.
    pub(crate) fn of((graph, roles): (&Graph, &Roles), types: &NodeTypes) -> Self {
        let of = |node: NodeId| types.all()[roles.node(node) as usize];
        let from = |a: NodeId, b: NodeId| [roles.role(a) as u8, of(a), of(b)];
        let in_roles: BTreeSet<[u8; 3]> = graph.iter_links().flat_map(|(a, b)| [from(a, b), from(b, a)]).collect();
        let linked: BTreeSet<[u8; 2]> = in_roles.iter().map(|&[_, one, other]| [one, other]).collect();
        let in_roles = if roles.is_plain() { Vec::new() } else { in_roles.into_iter().collect() };
        LinkedTypes { types: types.clone(), linked: linked.into_iter().collect(), in_roles }
    }

    /// How many pairs there are among the first nodes, in both orders and each role, whose types are linked.
    pub(super) fn pairs(&self, nodes: usize) -> f64 {
        let mut of_type = vec![0_usize; self.types.count()];
        self.types.all()[..nodes].iter().for_each(|&found| of_type[usize::from(found)] += 1);
        let pairs = |one: u8, other: u8| {
            let [a, b] = [one, other].map(|found| of_type[usize::from(found)] as f64);
            if one == other { a * (a - 1.0) } else { a * b }
        };
        match self.in_roles.is_empty() {
            true => self.linked.iter().map(|&[one, other]| pairs(one, other)).sum(),
            false => self.in_roles.iter().map(|&[_, one, other]| pairs(one, other)).sum(),
        }
    }

    /// Whether nodes of a type, in a role, have links with nodes of another.
    fn are_linked(&self, role: usize, one: u8, other: u8) -> bool {
        match self.in_roles.is_empty() {
            true => self.linked.binary_search(&[one, other]).is_ok(),
            false => self.in_roles.binary_search(&[role as u8, one, other]).is_ok(),
        }
    }

    /// The same with new nodes after the others.
    pub(super) fn followed_by(&self, new: Option<&NodeTypes>, count: usize) -> Self {
        let unknown = self.types.names.len() as u8;
        let of_new =
            |row: usize| new.and_then(|types| types.all().get(row)).map_or(unknown, |&found| found.min(unknown));
        let of = self.types.all().iter().copied().chain((0..count).map(of_new)).collect();
        let types = NodeTypes::new(self.types.names.clone(), of);
        LinkedTypes { types: types.expect("none is beyond the unknown type"), ..self.clone() }
    }
}

impl Model {
    /// The number of a node type.
    pub fn node_type(&self, name: &str) -> Result<usize, FilterError> {
        let names = &self.types.as_ref().ok_or(FilterError::NoTypes)?.types.names;
        let found = names.iter().position(|known| known == name);
        found.ok_or_else(|| FilterError::UnknownType { name: name.to_owned(), known: names.clone() })
    }

    /// Whether a node is of a type that a plan for a new node is about: the one it names, or else one that is linked with the new
    /// node's.
    pub(super) fn is_candidate(&self, new: &EncodedNodes, row: usize, plan: Plan<'_>, node: NodeId) -> bool {
        let Some(linked) = &self.types else { return true };
        let types = &linked.types;
        let unknown = types.names.len() as u8;
        let of_new = |row: usize| new.types.as_ref().map_or(unknown, |types| types.all()[row]);
        let (node, nodes) = (self.roles.node(node) as usize, self.summary.nodes);
        let found = if node < nodes { types.all()[node] } else { of_new(node - nodes) };
        match plan.node_type {
            Some(wanted) => usize::from(found) == wanted,
            None => of_new(row) == unknown || linked.are_linked(plan.role, of_new(row), found),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::Schema;
    use crate::config::Config;
    use crate::graph::{PLAIN, Relation, RoleGraph};
    use crate::load::{LoadOptions, load_json_lines, new_from_json_lines};
    use crate::pipeline::{Settings, Training};
    use crate::train::Silent;

    /// Users and items; users like items of their taste.
    fn shop() -> (Model, Schema) {
        let (mut nodes, mut edges) = (String::new(), String::new());
        for place in 0..150 {
            nodes += &format!("{{\"id\":\"u{place}\",\"node_type\":\"user\",\"taste\":\"t{}\"}}\n", place % 5);
            let new = if place % 2 == 0 { "true" } else { "false" };
            nodes += &format!(
                "{{\"id\":\"i{place}\",\"node_type\":\"item\",\"taste\":\"t{}\",\"fresh\":\"{new}\"}}\n",
                place % 5
            );
            for other in 0..5 {
                edges += &format!("{{\"source\":\"u{place}\",\"target\":\"i{}\"}}\n", (place + other * 35) % 150);
            }
        }
        let dataset = load_json_lines(nodes.into(), edges.into(), &LoadOptions::default()).unwrap();
        let config = Config::default().set("steps=40").unwrap();
        let model = Training::new(&dataset, &Settings::given(config), 1).run(&mut Silent).unwrap();
        let folder = tempfile::tempdir().unwrap();
        model.save(&folder.path().join("m")).unwrap();
        let read = Model::open(&folder.path().join("m")).unwrap();
        assert_eq!((&read.types, &read.preparation, &read.schema), (&model.types, &model.preparation, &model.schema));
        let schema = read.schema().cloned().unwrap();
        (read, schema)
    }

    #[test]
    fn links_are_found_among_types_that_are_linked_and_nodes_with_the_wanted_values() {
        let (model, schema) = shop();
        let lines = b"{\"id\":\"new\",\"node_type\":\"user\",\"taste\":\"t3\"}\n".to_vec();
        let new = new_from_json_lines(lines, &schema, false).unwrap();
        let encoded = model.encode(&new.attributes);
        let names = |plan: Plan<'_>| {
            let hits = model.best_links(&encoded, 0..1, plan).remove(0);
            hits.iter().map(|hit| model.names.get(hit.node).into_owned()).collect::<Vec<_>>()
        };
        let found = names(Plan::best(400));
        assert!(found.len() == 150 && found.iter().all(|name| name.starts_with('i')));
        let users = model.node_type("user").unwrap();
        assert!(names(Plan { node_type: Some(users), ..Plan::best(400) }).iter().all(|name| name.starts_with('u')));
        assert!(matches!(model.node_type("robot"), Err(FilterError::UnknownType { .. })));
        assert!(model.memory.is_some(), "there are enough pairs to fit weights on");
        let others = model.without_value("taste", "t3").unwrap();
        let tasteful = names(Plan { excluded: &others, ..Plan::best(400) });
        assert!(tasteful.len() == 30 && tasteful.iter().all(|name| name[1..].parse::<usize>().unwrap() % 5 == 3));
        let fresh = model.without_value("fresh", "true").unwrap();
        assert_eq!(names(Plan { excluded: &fresh, ..Plan::best(400) }).len(), 75);
        let error = model.without_value("taste", "t9").unwrap_err();
        let hint = error.hint().unwrap().to_string();
        assert!(hint.contains("`t3`"), "{hint}");
    }

    #[test]
    fn each_relation_has_its_own_types_of_targets() {
        let relation = |name: &str, directed| Relation { name: name.to_owned(), directed };
        let roles = Roles::of(vec![relation("saves", false), relation("cites", true)]).unwrap();
        let graph = RoleGraph::new(4, roles.clone(), [(0, 0, 2), (0, 1, 3), (1, 2, 3)]).graph;
        let names = ["user", "item"].map(str::to_owned).to_vec();
        let linked = LinkedTypes::of((&graph, &roles), &NodeTypes::new(names, vec![0, 0, 1, 1]).unwrap());
        let targets = |role: usize, own: u8| [0, 1].map(|other| linked.are_linked(role, own, other));
        assert_eq!((targets(0, 0), targets(0, 1)), ([false, true], [true, false]));
        // Only items cite, and they are cited by items.
        assert_eq!([targets(1, 1), targets(2, 1)], [[false, true]; 2]);
        assert_eq!([targets(1, 0), targets(2, 0)], [[false, false]; 2]);
    }

    #[test]
    fn added_nodes_have_their_types() {
        let (model, schema) = shop();
        let lines = b"{\"id\":\"i-new\",\"node_type\":\"item\",\"taste\":\"t1\"}\n".to_vec();
        let larger = model.add(&new_from_json_lines(lines, &schema, false).unwrap()).unwrap();
        let types = &larger.types.as_ref().unwrap().types;
        assert_eq!((types.all().len(), types.of(300)), (301, larger.node_type("item").unwrap()));
    }

    #[test]
    fn an_added_node_of_a_type_that_the_model_does_not_know_is_of_an_unknown_type() {
        let of = |names: &[&str], of: Vec<u8>| {
            NodeTypes::new(names.iter().map(|name| (*name).to_owned()).collect(), of).unwrap()
        };
        let graph = Graph::from_links(2, [(0, 1)]);
        let known = LinkedTypes::of((&graph, &PLAIN), &of(&["item", "user"], vec![0, 1]));
        assert_eq!(known.pairs(2), 2.0, "in both orders");
        assert_eq!((&known.linked[..], &known.in_roles[..]), (&[[0, 1], [1, 0]][..], &[][..]));
        let new = of(&["item", "user", "robot"], vec![2, 0, 3]);
        let followed = known.followed_by(Some(&new), 3);
        assert_eq!(followed.types.all(), [0, 1, 2, 0, 2]);
        assert_eq!(followed.types.names, known.types.names);
        assert_eq!(known.followed_by(None, 1).types.all(), [0, 1, 2]);
    }
}
