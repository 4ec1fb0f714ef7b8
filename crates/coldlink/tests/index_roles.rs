//! Links of relations and directions through an index against links by scoring every node.

use coldlink::graph::{NodeId, Relation, RoleGraph, Roles};
use coldlink::index::{Hit, LinkIndex};
use coldlink::model::{Model, Plan};
use coldlink::synthetic::World;
use coldlink::{Dataset, Settings, Silent, Training};

const NODES: u32 = 2400;
/// Who cites, who is cited, and who likes or is liked.
const ROLES: usize = 3;

fn world() -> World {
    World {
        nodes: NODES,
        topics: 40,
        links_per_node: 6.0,
        links_within: 0.75,
        vocabulary: 600,
        words_of_topic: 15,
        words_per_node: 12,
        words_within: 0.75,
        ..World::default()
    }
}

/// Most links are citations, some are likes. A node cites those that stand before it in the row of its topic.
fn dataset() -> Dataset {
    let relation = |name: &str, directed| Relation { name: name.to_owned(), directed };
    let roles = Roles::of(vec![relation("cites", true), relation("likes", false)]).unwrap();
    let plain = world().dataset();
    let links: Vec<(NodeId, NodeId)> = plain.graph.iter_links().collect();
    let links = links.into_iter().enumerate().map(|(place, (a, b))| match place % 4 {
        0 => (1, a, b),
        _ => (0, a.max(b), a.min(b)),
    });
    let relations = Some(RoleGraph::new(NODES as usize, roles, links));
    Dataset { relations, ..plain }
}

fn trained(settings: &[&str]) -> Model {
    let base = ["width=32", "steps=80", "validate_every=80"];
    let settings = base
        .iter()
        .chain(settings)
        .fold(Settings::of_preset("default", 0.0).unwrap(), |settings, setting| settings.set(setting).unwrap());
    Training::new(&dataset(), &settings, 1).run(&mut Silent).unwrap()
}

fn recall(exact: &[Vec<Hit>], found: &[Vec<Hit>]) -> f64 {
    let both = exact.iter().zip(found);
    let shared: usize = both
        .map(|(exact, found)| exact.iter().filter(|hit| found.iter().any(|found| found.node == hit.node)).count())
        .sum();
    shared as f64 / exact.iter().map(Vec::len).sum::<usize>() as f64
}

#[test]
fn an_index_finds_what_scoring_every_node_finds_in_every_role() {
    for settings in [&[][..], &["terms=[]"]] {
        let model = trained(settings);
        assert_eq!((model.gives_probabilities(), model.roles().count()), (settings.is_empty(), ROLES));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cited.model");
        model.save(&path).unwrap();
        model.build_index().save(&LinkIndex::path_of(&path)).unwrap();
        let (indexed, problem) = Model::open_indexed(&path).unwrap();
        assert!(problem.is_none(), "{problem:?}");
        let about = indexed.index().unwrap();
        assert!(about.recall >= 0.95 && (about.nodes, about.roles) == (NODES as usize, ROLES), "{about:?}");
        let new = model.encode(&world().new_nodes(60));
        for role in 0..ROLES {
            let plan = Plan { role, ..Plan::best(10) };
            let (exact, found) = (model.best_links(&new, 0..60, plan), indexed.best_links(&new, 0..60, plan));
            let recall = recall(&exact, &found);
            assert!(recall >= 0.95, "role {role}: {recall}");
            let wanted = model.roles().opposite(role);
            for hits in &found {
                assert!(hits.len() == 10 && hits.is_sorted_by(|a, b| a.score >= b.score));
                assert!(hits.iter().all(|hit| model.roles().role(hit.node) == wanted));
            }
        }
    }
}

#[test]
fn nodes_that_came_after_the_index_are_found_in_their_role() {
    let model = trained(&[]);
    let mut indexed = model.clone();
    indexed.set_index(model.build_index());
    let attributes = world().new_nodes(30);
    let names = coldlink::Names::Numbered(30);
    let added =
        coldlink::NewNodes { names, attributes: attributes.clone(), titles: None, mismatches: Default::default() };
    let (model, indexed) = (model.add(&added).unwrap(), indexed.add(&added).unwrap());
    let new = model.encode(&attributes);
    for role in 0..ROLES {
        let plan = Plan { role, ..Plan::best(10) };
        let (exact, found) = (model.best_links(&new, 0..30, plan), indexed.best_links(&new, 0..30, plan));
        assert!(recall(&exact, &found) >= 0.9, "role {role}");
    }
}
