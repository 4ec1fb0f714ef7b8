//! What holds for every split, on small graphs of all shapes and on CiteSeer where it is at hand.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::json;

use super::*;
use crate::config::Validation;
use crate::dataset::Notes;
use crate::graph::{Names, Relation, RoleGraph};
use crate::load::{LoadError, LoadOptions, NpzFile, load, load_json_lines};
use crate::synthetic::World;

const ALL: [(Protocol, Validation); 6] = [
    (Protocol::Few { links: 2 }, Validation::Nodes),
    (Protocol::Deal2020, Validation::Edges),
    (Protocol::Deal2020, Validation::Nodes),
    (Protocol::Strict, Validation::Nodes),
    (Protocol::Temporal { column: None }, Validation::Nodes),
    (Protocol::Transductive, Validation::Edges),
];

/// Those that need times of links beside them.
const BY_LINKS: (Protocol, Validation) = (Protocol::TemporalLinks, Validation::Edges);

/// The same graph whose links have weights and, most of them, times.
fn timed(mut data: Dataset) -> Dataset {
    let graph = data.relations.as_mut().map_or(&mut data.graph, |relations| &mut relations.graph);
    let links: Vec<(NodeId, NodeId)> = graph.iter_links().collect();
    let number = |&(a, b): &(NodeId, NodeId)| (a * 7 + b * 13) % 23;
    let times = links.iter().filter(|link| number(link) > 2).map(|link| (link.0, link.1, f64::from(number(link))));
    let weights = links.iter().map(|link| (link.0, link.1, f64::from(1 + number(link) % 4)));
    *graph = graph.clone().with_times(times).with_weights(weights);
    data
}

/// A graph with names that need quoting, in no order, and a day for most nodes. Without links there are no days either,
/// since no table loads then.
fn dataset(graph: Graph) -> Dataset {
    let names: Vec<String> = (0..graph.nodes()).map(|node| format!("n{}, \"x\"", (node * 7) % 10_007)).collect();
    if graph.links() == 0 {
        let attributes = Attributes::from_rows(1, &vec![vec![(0, 1.0)]; graph.nodes()]).unwrap();
        let (name, names, notes) = ("test".to_owned(), Names::from_texts(names), Notes::default());
        return Dataset { name, graph, relations: None, attributes, names, titles: None, notes, schema: None };
    }
    let node = |(place, name): (usize, &String)| match place % 11 {
        10 => format!("{}\n", json!({ "id": name })),
        _ => format!("{}\n", json!({ "id": name, "day": format!("2024-01-{:02}", 1 + place * 7 % 31) })),
    };
    let link =
        |(a, b): (NodeId, NodeId)| format!("{}\n", json!({ "source": names[a as usize], "target": names[b as usize] }));
    let nodes: String = names.iter().enumerate().map(node).collect();
    let edges: String = graph.iter_links().map(link).collect();
    let columns = toml::from_str("[columns]\nday.kind = \"date-time\"\n").unwrap();
    let options = LoadOptions { columns, ..LoadOptions::default() };
    let dataset = load_json_lines(nodes.into(), edges.into(), &options).unwrap();
    assert_eq!(dataset.graph, graph);
    dataset
}

/// The same graph with directions, and every third link of a relation of its own without one.
fn directed(graph: Graph) -> Dataset {
    let relation = |name: &str, directed| Relation { name: name.to_owned(), directed };
    let roles = Roles::of(vec![relation("cites", true), relation("likes", false)]).unwrap();
    let links = graph.iter_links().enumerate().map(|(place, (a, b))| match place % 3 {
        0 => (0, a, b),
        1 => (0, b, a),
        _ => (1, a, b),
    });
    let relations = RoleGraph::new(graph.nodes(), roles, links);
    Dataset { relations: Some(relations), ..dataset(graph) }
}

fn complete(nodes: NodeId) -> Graph {
    Graph::from_links(nodes as usize, (0..nodes).flat_map(|a| (0..a).map(move |b| (a, b))))
}

fn counts(pairs: &[Pair]) -> (usize, usize) {
    let linked = pairs.iter().filter(|pair| pair.linked).count();
    (linked, pairs.len() - linked)
}

/// Everything that a split of ours promises.
fn check(data: &Dataset, split: &Split) {
    let Contents { search, refit, hidden, test, validation, full, .. } = &split.contents;
    assert_eq!(split.audit().to_string(), "passed");
    assert!(hidden.is_sorted());
    for stage in [Some(search), refit.as_ref()].into_iter().flatten() {
        assert!(stage.graph.links() > 0);
        for &node in hidden {
            assert!(!stage.visible[node as usize] && stage.graph.degree(node) == 0);
        }
        for node in 0..full.nodes() as NodeId {
            assert!(stage.visible[node as usize] || stage.graph.degree(node) == 0);
        }
    }
    for pair in validation {
        assert!(hidden.binary_search(&pair.source).is_err() && hidden.binary_search(&pair.target).is_err());
    }
    for pair in test.iter().chain(validation) {
        assert_eq!(pair.linked, full.has_link(pair.source, pair.target));
    }
    let keys: HashSet<u64> = test.iter().chain(validation).map(Pair::key).collect();
    assert_eq!(keys.len(), test.len() + validation.len(), "a pair was drawn twice");
    check_roles(data, split);
    check_times(data, split);
    check_queries(data, split);
    check_round_trip(data, split);
}

/// Where links have times, a temporal split trains on no link that is as new as one it tests or validates on, and on all older ones
/// between nodes that are not hidden. Links of any stage carry what they carry in the full graph.
fn check_times(data: &Dataset, split: &Split) {
    let Contents { search, refit, test, validation, protocol, hidden, .. } = &split.contents;
    let full = data.links().0;
    for stage in [Some(search), refit.as_ref()].into_iter().flatten() {
        assert_eq!(stage.graph.clone().carrying_as(full), stage.graph);
    }
    let (Some(times), true) = (full.times(), protocol.starts_with("temporal")) else { return };
    let time = |(a, b): (NodeId, NodeId)| times[full.entry(a, b).unwrap()];
    let linked = |pairs: &[Pair]| -> Vec<f64> {
        pairs.iter().filter(|pair| pair.linked).map(|pair| time((pair.source, pair.target))).collect()
    };
    let last = refit.as_ref().unwrap_or(search);
    for (stage, tested) in [(search, linked(validation)), (last, linked(test))] {
        let first = tested.into_iter().fold(f64::INFINITY, f64::min);
        assert!(stage.graph.iter_links().all(|link| time(link) < first), "a training link is as new as a tested one");
    }
    let first = linked(test).into_iter().fold(f64::INFINITY, f64::min);
    assert!(hidden.iter().all(|&node| full.entries(node).all(|entry| times[entry] >= first)));
}

/// New nodes are the sources of the pairs that are about them, and every link of a test node is tested.
fn check_roles(data: &Dataset, split: &Split) {
    let Contents { search, refit, hidden, test, validation, full, rule, protocol, .. } = &split.contents;
    let is_hidden = |node: NodeId| hidden.binary_search(&node).is_ok();
    if !hidden.is_empty() {
        assert!(test.iter().all(|pair| is_hidden(pair.source)));
        let links = full.iter_links().filter(|&(a, b)| is_hidden(a) || is_hidden(b));
        assert_eq!(counts(test).0 + split.contents.given.len(), links.count());
    }
    match rule {
        Validation::Edges => assert!(validation.iter().all(|pair| search.visible[pair.source as usize])),
        Validation::Nodes => {
            let known = |node: NodeId| search.graph.degree(node) > 0 || !search.visible[node as usize];
            assert!(validation.iter().all(|pair| !search.visible[pair.source as usize] && known(pair.target)));
            let roles = &split.contents.roles;
            let nodes = |stage: &Stage| roles.nodes_of(&stage.visible_nodes()).len();
            let visible = nodes(refit.as_ref().unwrap());
            let (held_back, tenth) = (visible - nodes(search), (visible / 10).max(1));
            let whole =
                |stage: &Stage| stage.visible.chunks(roles.count()).all(|of| of.iter().all(|&seen| seen == of[0]));
            assert!(whole(search), "a node is hidden in all of its roles or in none");
            // Under `deal2020` nodes that are left without a link are held back as well.
            let by_links = protocol == "temporal" && data.links().0.times().is_some();
            assert!(held_back == tenth || by_links && held_back > 0 || (protocol == "deal2020" && held_back > tenth));
        }
    }
}

fn check_queries(data: &Dataset, split: &Split) {
    let view = split.final_view();
    let test = split.test();
    let candidates: HashSet<NodeId> = test.candidates(&view).into_iter().collect();
    let mut asked = 0;
    for query in test.queries(&view) {
        assert!(!query.targets.is_empty() && query.targets.is_sorted() && query.exclude.is_sorted());
        asked += query.targets.len();
        for &node in &candidates {
            let linked = data.links().0.has_link(query.source, node);
            let (target, out) = (query.targets.contains(&node), query.exclude.contains(&node));
            if test.is_inductive() {
                let given = split.contents.given.contains(&(query.source, node));
                assert_eq!((target, out), (linked && !given, given));
            } else {
                let trained_on = view.graph().has_link(query.source, node);
                assert_eq!(target || out, linked || node == query.source);
                assert!(!(target && (out || trained_on)));
            }
        }
        assert!(query.targets.iter().chain(&query.exclude).all(|node| candidates.contains(node)));
    }
    let links = test.pairs().iter().filter(|pair| pair.linked);
    let expected: usize = match test.is_inductive() {
        true => links.filter(|pair| view.is_warm(pair.target)).count(),
        false => 2 * links.count(),
    };
    assert_eq!(asked, expected);
}

fn check_round_trip(data: &Dataset, split: &Split) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("split");
    split.write(&path, &data.names).unwrap();
    let again = Split::make(data, &Protocol::Files(path), None, 999).unwrap();
    assert!(again == *split, "what was read is not what was written");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn every_split_of_any_graph_is_sound_or_refused_with_a_hint(
        nodes in 1_usize..40,
        ends in prop::collection::vec((0_u32..1000, 0_u32..1000), 0..160),
        seed in any::<u64>(),
    ) {
        let links = ends.iter().map(|&(a, b)| (a % nodes as u32, b % nodes as u32));
        let graph = Graph::from_links(nodes, links);
        let datasets = [directed(graph.clone()), timed(directed(graph.clone())), timed(dataset(graph.clone())), dataset(graph)];
        for data in datasets {
        for (protocol, rule) in ALL.into_iter().chain([BY_LINKS]) {
            match Split::make(&data, &protocol, Some(rule), seed) {
                Ok(split) => {
                    check(&data, &split);
                    prop_assert_eq!(&Split::make(&data, &protocol, Some(rule), seed).unwrap(), &split);
                    let (linked, unlinked) = counts(split.test().pairs());
                    prop_assert!(protocol == Protocol::Deal2020 || unlinked <= linked);
                    let (linked, unlinked) = counts(split.validation());
                    prop_assert!(protocol == Protocol::Deal2020 || unlinked <= linked);
                }
                Err(error) => prop_assert!(error.hint().is_some()),
            }
        }
        for rule in [Validation::Edges, Validation::Nodes] {
            match Split::for_training(&data, rule, seed) {
                Ok(split) => {
                    check(&data, &split);
                    prop_assert_eq!(split.final_view().graph(), data.links().0);
                    prop_assert!(split.test().pairs().is_empty());
                }
                Err(error) => prop_assert!(error.hint().is_some()),
            }
        }
        }
    }
}

#[test]
fn sparse_graphs_get_as_many_negatives_as_the_protocol_says() {
    let data = dataset(World::random(600, 2.5, 1).graph());
    let links = data.graph.links();
    for (protocol, rule) in ALL {
        let split = Split::make(&data, &protocol, Some(rule), 7).unwrap();
        check(&data, &split);
        let (linked, unlinked) = counts(split.test().pairs());
        match protocol {
            Protocol::Deal2020 => assert!(unlinked > 2 * linked),
            _ => assert_eq!(linked, unlinked),
        }
        let (linked, unlinked) = counts(split.validation());
        match (&protocol, rule) {
            (Protocol::Deal2020, Validation::Nodes) => assert!(unlinked > 2 * linked, "as in the test"),
            _ => assert_eq!(linked, unlinked),
        }
        if protocol == Protocol::Transductive {
            assert_eq!((linked, split.search().graph().links()), (links / 10, links - 2 * (links / 10)));
        }
    }
}

#[test]
fn the_test_set_does_not_depend_on_what_is_selected_on() {
    let data = dataset(World::random(300, 3.0, 2).graph());
    let make = |rule| Split::make(&data, &Protocol::Deal2020, Some(rule), 3).unwrap();
    let (edges, nodes) = (make(Validation::Edges), make(Validation::Nodes));
    assert_eq!(edges.test().pairs(), nodes.test().pairs());
    assert_eq!(edges.test().hidden(), nodes.test().hidden());
}

#[test]
fn halves_of_the_validation_pairs_share_no_new_node() {
    let data = dataset(World::random(600, 2.5, 1).graph());
    for (protocol, rule) in ALL {
        let split = Split::make(&data, &protocol, Some(rule), 7).unwrap();
        assert_eq!(split.validation_sample(), split.validation());
        let halves = split.validation_halves();
        assert_eq!(halves, split.validation_halves());
        let search = split.search();
        let new_ends = |half: &[Pair]| -> HashSet<NodeId> {
            let ends = half.iter().flat_map(|pair| [pair.source, pair.target]);
            ends.filter(|&node| !search.is_visible(node)).collect()
        };
        assert!(new_ends(&halves[0]).is_disjoint(&new_ends(&halves[1])));
        let (all, both) = (split.validation().len(), halves[0].len() + halves[1].len());
        assert!(both <= all && both > all / 2 && halves.iter().all(|half| half.len() > both / 3), "{protocol}");
        assert!(halves.concat().iter().all(|pair| split.validation().contains(pair)));
    }
}

#[test]
fn validation_questions_are_about_validation_links_alone_and_know_no_test_node() {
    let data = dataset(World::random(600, 2.5, 1).graph());
    for (protocol, rule) in ALL {
        let split = Split::make(&data, &protocol, Some(rule), 7).unwrap();
        let search = split.search();
        let linked: HashSet<(NodeId, NodeId)> = (split.validation().iter().filter(|pair| pair.linked))
            .flat_map(|pair| [(pair.source, pair.target), (pair.target, pair.source)])
            .collect();
        let queries = split.validation_queries(split.validation());
        assert!(!queries.is_empty(), "{protocol}");
        for query in &queries {
            assert!(!query.targets.is_empty());
            assert!(query.targets.iter().all(|&target| linked.contains(&(query.source, target))), "{protocol}");
            assert!(query.targets.iter().all(|target| !query.exclude.contains(target)));
            let known =
                |&node: &NodeId| linked.contains(&(query.source, node)) || search.graph().has_link(query.source, node);
            assert!(query.exclude.iter().all(|node| known(node) || *node == query.source), "{protocol}");
            if rule == Validation::Nodes {
                assert!(!search.is_visible(query.source) && query.targets.iter().all(|&node| search.is_warm(node)));
                assert!(split.test().hidden().binary_search(&query.source).is_err());
            }
        }
    }
}

#[test]
fn another_seed_is_another_split() {
    let data = dataset(World::random(300, 3.0, 2).graph());
    for (protocol, rule) in ALL {
        let make = |seed| Split::make(&data, &protocol, Some(rule), seed).unwrap();
        assert_ne!(make(1).test().pairs(), make(2).test().pairs());
    }
}

#[test]
fn validation_links_are_never_a_nodes_last_one() {
    let data = dataset(World::random(300, 1.5, 4).graph());
    let split = Split::for_training(&data, Validation::Edges, 5).unwrap();
    let search = split.search();
    for node in 0..300 {
        assert_eq!(search.is_warm(node), data.graph.degree(node) > 0);
    }
    assert_eq!(counts(split.validation()).0, data.graph.links().div_ceil(10));
}

#[test]
fn links_between_test_and_validation_nodes_are_asked_in_the_test_alone() {
    let data = dataset(World::random(100, 15.0, 6).graph());
    let split = Split::make(&data, &Protocol::Strict, None, 1).unwrap();
    let (search, refit) = (split.search(), split.refit().unwrap());
    let is_validation_node = |node| refit.is_visible(node) && !search.is_visible(node);
    let crossing = split.test().pairs().iter().filter(|pair| pair.linked && is_validation_node(pair.target));
    assert!(crossing.clone().count() > 0);
    assert!(crossing.clone().all(|pair| refit.class(*pair) == PairClass::ColdWarm));
}

#[test]
fn graphs_that_cannot_be_split_are_refused_with_a_reason() {
    let refused = |graph: Graph, protocol: Protocol, rule| {
        let data = dataset(graph);
        (0..20).all(|seed| Split::make(&data, &protocol, rule, seed).is_err_and(|error| error.hint().is_some()))
    };
    let star = || Graph::from_links(30, (1..30).map(|leaf| (0, leaf)));
    for (protocol, rule) in ALL {
        assert!(refused(Graph::from_links(0, []), protocol.clone(), Some(rule)));
        assert!(refused(Graph::from_links(50, []), protocol.clone(), Some(rule)));
        assert!(refused(Graph::from_links(2, [(0, 1)]), protocol.clone(), Some(rule)));
        assert!(refused(complete(30), protocol, Some(rule)));
    }
    assert!(refused(star(), Protocol::Deal2020, Some(Validation::Edges)), "each link is a leaf's last");
    let data = dataset(star());
    let error = Split::for_training(&data, Validation::Edges, 0).unwrap_err();
    assert!(matches!(error, SplitError::NoValidationLinks { rule: Validation::Edges }));
}

#[test]
fn almost_complete_graphs_get_the_unlinked_pairs_there_are() {
    let missing = |a: NodeId, b: NodeId| a / 2 == b / 2;
    let data = dataset(complete(40).filter(|a, b| !missing(a, b)));
    for (protocol, rule) in ALL {
        for seed in 0..10 {
            let Ok(split) = Split::make(&data, &protocol, Some(rule), seed) else { continue };
            check(&data, &split);
            assert!(split.test().pairs().iter().all(|pair| pair.linked != missing(pair.source, pair.target)));
        }
    }
}

#[test]
fn a_rule_that_does_not_go_with_the_protocol_is_refused() {
    let data = dataset(World::random(100, 3.0, 1).graph());
    let error = |protocol, rule| Split::make(&data, &protocol, Some(rule), 1).unwrap_err();
    let strict = error(Protocol::Strict, Validation::Edges);
    assert_eq!(strict.to_string(), "protocol `strict` validates on `nodes`, not on `edges`");
    assert_eq!(strict.hint().unwrap().to_string(), "omit `validation`, or use `validation=nodes`");
    assert!(matches!(error(Protocol::Transductive, Validation::Nodes), SplitError::ValidationForced { .. }));
    let default = |protocol| Split::make(&data, &protocol, None, 1).unwrap().validation_rule();
    assert_eq!(default(Protocol::Deal2020), Validation::Nodes);
    assert_eq!(default(Protocol::Strict), Validation::Nodes);
    assert_eq!(default(Protocol::Temporal { column: None }), Validation::Nodes);
    assert_eq!(default(Protocol::Transductive), Validation::Edges);
}

#[test]
fn the_audit_finds_each_fault() {
    let data = dataset(World::random(100, 3.0, 1).graph());
    let sound = Split::make(&data, &Protocol::Deal2020, Some(Validation::Edges), 1).unwrap().contents;
    let check = |spoil: &dyn Fn(&mut Contents), expected: &str| {
        let mut contents = sound.clone();
        spoil(&mut contents);
        assert_eq!(Audit::of(&contents).to_string(), expected);
    };
    let hidden = *sound.hidden.iter().find(|&&node| data.graph.degree(node) > 0).unwrap();
    let trained = Pair::linked(sound.search.graph.iter_links().next().unwrap());
    let negative = *sound.test.last().unwrap();
    check(&|_| {}, "passed");
    check(&|split| split.hidden = vec![trained.source], "failed: 1 hidden node with training links");
    check(&|split| split.search.visible[trained.source as usize] = false, "failed: 1 hidden node with training links");
    check(&|split| split.validation.push(trained), "failed: 1 validation pair is trained on");
    check(&|split| split.test.push(trained), "failed: 1 test pair is trained on");
    let tested = counts(&sound.test).0;
    let linked = sound.hidden.iter().filter(|&&node| data.graph.degree(node) > 0).count();
    check(
        &|split| split.refit = Some(Stage::whole(data.graph.clone())),
        &format!("failed: {linked} hidden nodes with training links, {tested} test pairs are trained on"),
    );
    check(&|split| split.validation.push(negative), "failed: 1 pair is in both validation and test");
    check(
        &|split| split.test.iter_mut().filter(|pair| pair.linked).take(2).for_each(|pair| pair.linked = false),
        "failed: 2 test negatives are linked in the graph",
    );
    check(&|split| split.test.last_mut().unwrap().linked = true, "failed: 1 test positive is not linked in the graph");
    let twice_and_self = |split: &mut Contents, outside| {
        split.outside = outside;
        split.test.extend([negative, Pair::unlinked((hidden, hidden))]);
    };
    check(&|split| twice_and_self(split, false), "failed: 1 test pair of a node with itself, 1 repeated test pair");
    check(
        &|split| twice_and_self(split, true),
        "passed with warnings: 1 test pair of a node with itself, 1 repeated test pair",
    );
}

#[test]
fn only_splits_are_overwritten() {
    let data = dataset(World::random(100, 3.0, 1).graph());
    let folder = tempfile::tempdir().unwrap();
    let split = |seed| Split::make(&data, &Protocol::Strict, None, seed).unwrap();
    let write = |path: &Path, seed| split(seed).write(path, &data.names);
    let mine = folder.path().join("mine");
    fs::create_dir(&mine).unwrap();
    fs::write(mine.join("train.csv"), "precious").unwrap();
    assert!(matches!(write(&mine, 1), Err(SplitError::NotASplit { .. })));
    assert!(matches!(write(&mine.join("train.csv"), 1), Err(SplitError::NotASplit { .. })));
    assert_eq!(fs::read_to_string(mine.join("train.csv")).unwrap(), "precious");

    let ours = folder.path().join("deep/ours");
    write(&ours, 1).unwrap();
    write(&ours, u64::MAX).unwrap();
    assert_eq!(Split::make(&data, &Protocol::Files(ours.clone()), None, 0).unwrap(), split(u64::MAX));
    let mut names: Vec<_> = fs::read_dir(&ours).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["hidden.csv", "split.toml", "test.csv", "train.csv", "validation.csv"]);
    let dead = fs::File::create(ours.join(".test.csv.17-0.partial")).unwrap();
    dead.set_modified(std::time::SystemTime::now() - std::time::Duration::from_secs(3600)).unwrap();
    write(&ours, 1).unwrap();
    assert_eq!(fs::read_dir(&ours).unwrap().count(), 5, "what a dead process left goes with the next write");
    let count = Names::Numbered(3);
    assert!(matches!(split(1).write(&ours, &count), Err(SplitError::NameCount { names: 3, nodes: 100 })));
}

#[test]
fn what_was_changed_or_does_not_belong_is_not_read() {
    let data = dataset(World::random(100, 3.0, 1).graph());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("split");
    let read = |data: &Dataset, rule| Split::make(data, &Protocol::Files(path.clone()), rule, 0).unwrap_err();
    let write = || Split::make(&data, &Protocol::Strict, None, 1).unwrap().write(&path, &data.names).unwrap();
    let edit = |name: &str, edit: &dyn Fn(String) -> String| {
        write();
        let file = path.join(name);
        fs::write(&file, edit(fs::read_to_string(&file).unwrap())).unwrap();
    };
    write();
    let other = dataset(World::random(100, 3.0, 2).graph());
    assert!(matches!(read(&other, None), SplitError::OtherGraph { .. }));
    assert!(matches!(read(&data, Some(Validation::Edges)), SplitError::ValidationRecorded { .. }));
    edit("test.csv", &|text| text.replacen(",1\n", ",0\n", 1));
    assert!(matches!(read(&data, None), SplitError::Checksum { .. }));
    edit("split.toml", &|text| text.replace("version = 1", "version = 2"));
    assert!(matches!(read(&data, None), SplitError::Version { found: 2, supported: 1, .. }));
    edit("split.toml", &|text| text.replace("version = 1", "version = -1"));
    assert!(matches!(read(&data, None), SplitError::Manifest { .. }));
    edit("split.toml", &|text| text.replace("coldlink-split", "something"));
    assert!(matches!(read(&data, None), SplitError::NotASplit { .. }));
    fs::remove_dir_all(&path).unwrap();
    assert!(matches!(read(&data, None), SplitError::Array(LoadError::NotFound { .. })));
    let renamed = Dataset { names: Names::Numbered(100), ..data.clone() };
    write();
    assert!(matches!(read(&renamed, None), SplitError::UnknownNode { line: 2, .. }));
}

type Change<'a> = &'a dyn Fn(&str, &mut Vec<u64>, &mut Vec<i64>);

/// A path of ten nodes whose last one is new, as an `.npz` file; `change` may replace arrays.
fn write_npz(path: &Path, change: Change<'_>) {
    let arrays: [(&str, &[i64]); 6] = [
        ("train_pos", &[0, 1, 1, 2, 2, 3, 4, 5, 5, 6, 6, 7, 7, 8]),
        ("val_pos", &[3, 4]),
        ("val_neg", &[0, 5]),
        ("test_pos", &[8, 9]),
        ("test_neg", &[9, 1]),
        ("hidden", &[9]),
    ];
    let mut archive = zip::ZipWriter::new(fs::File::create(path).unwrap());
    for (name, values) in arrays {
        let mut values = values.to_vec();
        let mut shape = if name == "hidden" { vec![1] } else { vec![values.len() as u64 / 2, 2] };
        change(name, &mut shape, &mut values);
        let shape: String = shape.iter().map(|length| format!("{length}, ")).collect();
        let header = format!("{{'descr': '<i8', 'fortran_order': False, 'shape': ({shape})}}\n");
        let mut array = b"\x93NUMPY\x01\x00".to_vec();
        array.extend((header.len() as u16).to_le_bytes());
        array.extend(header.bytes());
        array.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        archive.start_file(format!("{name}.npy"), zip::write::SimpleFileOptions::default()).unwrap();
        std::io::Write::write_all(&mut archive, &array).unwrap();
    }
    archive.finish().unwrap();
}

#[test]
fn a_protocol_says_what_it_selects_on_where_nobody_asks() {
    let folder = tempfile::tempdir().unwrap();
    let both =
        |protocol: &Protocol| [Validation::Edges, Validation::Nodes].map(|rule| protocol.validation(rule).unwrap());
    let as_preferred = [Validation::Edges, Validation::Nodes];
    assert_eq!(both(&Protocol::Strict), [Validation::Nodes; 2]);
    assert_eq!(both(&Protocol::Transductive), [Validation::Edges; 2]);
    assert_eq!(both(&Protocol::Deal2020), as_preferred);

    let inductive = folder.path().join("inductive.npz");
    write_npz(&inductive, &|_, _, _| {});
    assert_eq!(both(&Protocol::Files(inductive)), as_preferred);
    let transductive = folder.path().join("transductive.npz");
    write_npz(&transductive, &|name, shape, values| {
        if name == "hidden" {
            *shape = vec![0];
            values.clear();
        }
    });
    assert_eq!(both(&Protocol::Files(transductive)), [Validation::Edges; 2]);

    let data = dataset(World::random(100, 3.0, 1).graph());
    let written = folder.path().join("written");
    Split::make(&data, &Protocol::Deal2020, Some(Validation::Edges), 1).unwrap().write(&written, &data.names).unwrap();
    assert_eq!(both(&Protocol::Files(written)), [Validation::Edges; 2]);
    assert!(Protocol::Files(folder.path().into()).validation(Validation::Nodes).is_err());
}

#[test]
fn splits_of_numpy_are_read_and_bad_ones_refused() {
    let data = dataset(Graph::from_links(10, (0..9).map(|node| (node, node + 1))));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("split.npz");
    let read = |rule| Split::make(&data, &Protocol::Files(path.clone()), rule, 1);
    write_npz(&path, &|_, _, _| {});
    let edges = read(Some(Validation::Edges)).unwrap();
    assert_eq!(edges.audit().to_string(), "passed");
    assert_eq!(edges.test().pairs(), [Pair::linked((9, 8)), Pair::unlinked((9, 1))], "the new end comes first");
    assert_eq!(edges.validation(), [Pair::linked((3, 4)), Pair::unlinked((0, 5))]);
    assert_eq!((edges.protocol(), edges.test().hidden()), ("files", &[9][..]));
    assert!(edges.refit().is_none());
    check_round_trip(&data, &edges);

    let nodes = read(None).unwrap();
    assert_eq!(nodes.validation_rule(), Validation::Nodes);
    assert_eq!(nodes.refit().unwrap().graph().links(), 8);
    assert_eq!(nodes.audit().to_string(), "passed");
    check_round_trip(&data, &nodes);

    let error = |change: Change<'_>| {
        write_npz(&path, change);
        let error = read(None).unwrap_err();
        assert!(error.hint().is_some());
        error.to_string().replace(&path.display().to_string(), "split.npz")
    };
    assert_eq!(
        error(&|name, _, values| if name == "val_neg" {
            values[0] = 10
        }),
        "`split.npz`: array `val_neg` has node 10, but the graph has 10 nodes"
    );
    assert_eq!(
        error(&|name, _, values| if name == "hidden" {
            values[0] = -1
        }),
        "`split.npz`: array `hidden` has node -1, but the graph has 10 nodes"
    );
    assert_eq!(
        error(&|name, shape, _| if name == "test_pos" {
            *shape = vec![2]
        }),
        "`split.npz`: array `test_pos` has shape [2], expected (pairs, 2)"
    );
    assert_eq!(
        error(&|name, shape, values| if name == "test_pos" {
            (*shape, *values) = (vec![0, 2], vec![])
        }),
        "no link is left to test on (hidden nodes: 1)"
    );
    fs::write(&path, "no archive").unwrap();
    assert!(matches!(read(None), Err(SplitError::Array(LoadError::Archive { .. }))));
}

/// CiteSeer and its authors' splits, or nothing where the data is not at hand.
fn citeseer() -> Option<(Dataset, PathBuf)> {
    let folder = match std::env::var_os("DEAL_DATA") {
        Some(folder) => PathBuf::from(folder),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
    };
    let path = folder.join("citeseer.npz");
    let mut file = NpzFile::open(&path).ok()?;
    let mut array = |name| file.integers(name).unwrap().1;
    let offsets: Vec<u64> = array("adj_indptr").into_iter().map(|offset| offset as u64).collect();
    let neighbors: Vec<NodeId> = array("adj_indices").into_iter().map(|node| node as NodeId).collect();
    let graph = Graph::from_parts(offsets.into(), neighbors.into()).unwrap();
    Some((dataset(graph), folder.join("citeseer-authors-split")))
}

#[test]
fn the_authors_drawn_nodes_give_the_authors_counts() {
    let Some((data, folder)) = citeseer() else { return };
    let path = folder.join("inductive.npz");
    let mut file = NpzFile::open(&path).unwrap();
    let mut list =
        |name| -> Vec<NodeId> { file.integers(name).unwrap().1.into_iter().map(|node| node as NodeId).collect() };
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let test = deal2020::deal2020_from_drawn(Whole::of(&data, &None), &list("drawn"), &mut rng).unwrap();
    let mut hidden = list("hidden");
    hidden.sort_unstable();
    assert_eq!(test.hidden, hidden);
    assert_eq!((test.hidden.len(), test.remaining.visible_nodes().len()), (503, 2824));
    assert_eq!(counts(&test.pairs), (889, 1984));
    let selected = validation::edges(Whole::of(&data, &None), &test.remaining, &test.pairs, 1).unwrap();
    assert_eq!(counts(&selected.pairs), (367, 367));
}

#[test]
fn the_authors_splits_are_audited() {
    let Some((data, folder)) = citeseer() else { return };
    let audit = |name: &str, rule| {
        let split = Split::make(&data, &Protocol::Files(folder.join(name)), Some(rule), 1).unwrap();
        check_queries(&data, &split);
        check_round_trip(&data, &split);
        split.audit().to_string()
    };
    let warnings = "passed with warnings: 1 test pair of a node with itself, 5 repeated test pairs";
    assert_eq!(audit("inductive.npz", Validation::Edges), warnings);
    assert_eq!(audit("inductive.npz", Validation::Nodes), warnings);
    assert_eq!(
        audit("transductive.npz", Validation::Edges),
        "failed: 1 validation pair is trained on, 1 validation negative is linked in the graph"
    );
    assert_eq!(audit("transductive.npz", Validation::Nodes), "passed");
}

#[test]
fn citeseer_is_split_by_every_protocol() {
    let Some((data, _)) = citeseer() else { return };
    for (protocol, rule) in ALL {
        check(&data, &Split::make(&data, &protocol, Some(rule), 1).unwrap());
    }
    let transductive = Split::make(&data, &Protocol::Transductive, None, 1).unwrap();
    assert_eq!(counts(transductive.test().pairs()), (455, 455));
    assert_eq!(counts(transductive.validation()), (455, 455));
}

/// Nodes of two types, each newer than the one before it; links join the types.
fn bipartite() -> Dataset {
    let folder = tempfile::tempdir().unwrap();
    let world = World { nodes: 120, topics: 5, node_types: 2, dates: true, ..World::default() };
    world.write_tables(folder.path()).unwrap();
    load(folder.path(), &LoadOptions::default()).unwrap()
}

#[test]
fn negatives_and_candidates_are_of_the_kind_of_the_true_end() {
    let data = bipartite();
    let types = data.attributes.types().unwrap();
    assert_eq!(types.names, ["type0", "type1"]);
    for protocol in [Protocol::Strict, Protocol::Deal2020, Protocol::Transductive, Protocol::Temporal { column: None }]
    {
        let split = Split::make(&data, &protocol, None, 3).unwrap();
        for pair in split.test().pairs().iter().chain(split.validation()) {
            assert_ne!(types.of(pair.source), types.of(pair.target), "{protocol}");
        }
        let view = split.final_view();
        for query in split.test().queries(&view) {
            let among = query.among.unwrap();
            assert!(query.targets.iter().all(|target| among.binary_search(target).is_ok()));
            assert!(among.iter().all(|&node| types.of(node) != types.of(query.source)));
        }
    }
}

#[test]
fn the_newest_nodes_are_tested_and_the_newest_of_the_others_validated_on() {
    let data = bipartite();
    let split = Split::make(&data, &Protocol::Temporal { column: None }, None, 1).unwrap();
    assert_eq!(split.test().hidden(), (108..120).collect::<Vec<_>>());
    let search = split.search();
    let held_back: Vec<NodeId> = (0..108).filter(|&node| !search.is_visible(node)).collect();
    assert_eq!(held_back, (98..108).collect::<Vec<_>>());
    let other = |column: &str| Split::make(&data, &Protocol::Temporal { column: Some(column.into()) }, None, 1);
    assert!(matches!(other("words"), Err(SplitError::NotATime { .. })));
    assert!(matches!(other("missing"), Err(SplitError::NotATime { .. })));
}

/// Nodes 0 to 9 in a ring of old links; 10 and 11 come later, and some old ones are linked anew meanwhile.
fn growing() -> Dataset {
    let old = (0..10).map(|node| (node, (node + 1) % 10, 2000.0 + f64::from(node % 3)));
    let later = [(10, 0, 2004.0), (10, 11, 2006.0), (11, 3, 2002.5), (2, 7, 2004.5), (4, 8, 2003.5), (1, 6, 2001.0)];
    let links: Vec<(NodeId, NodeId, f64)> = old.chain(later).collect();
    let graph = Graph::from_links(12, links.iter().map(|link| (link.0, link.1))).with_times(links);
    Dataset { graph: graph.clone(), ..dataset(graph.timeless()) }
}

#[test]
fn nodes_that_appear_last_in_links_are_tested_without_any_later_link() {
    let data = growing();
    let split = Split::make(&data, &Protocol::Temporal { column: None }, None, 1).unwrap();
    assert_eq!(split.test().hidden(), [10]);
    let (search, refit) = (split.search(), split.refit().unwrap());
    let has =
        |view: &TrainView<'_>| [(10, 0), (2, 7), (4, 8), (11, 3), (1, 6)].map(|(a, b)| view.graph().has_link(a, b));
    assert_eq!(has(&refit), [false, false, true, true, true], "nothing from 2004 on");
    assert_eq!(has(&search), [false, false, false, false, true], "nothing from when node 11 appears");
    assert!(!search.is_visible(11) && refit.is_visible(11));
    // By the column of days, others are the newest.
    let by_column = Split::make(&data, &Protocol::Temporal { column: Some("day".into()) }, None, 1).unwrap();
    assert_ne!(by_column.test().hidden(), split.test().hidden());
}

#[test]
fn later_links_are_tested_between_nodes_that_were_known() {
    let data = growing();
    let split = Split::make(&data, &Protocol::TemporalLinks, None, 1).unwrap();
    assert_eq!((split.protocol(), split.test().is_inductive()), ("temporal:links", false));
    // The last of 16 links joins nodes that were known by then.
    assert_eq!(counts(split.test().pairs()), (1, 1));
    assert_eq!(split.test().pairs()[0], Pair::linked((10, 11)));
    let without = Split::make(&dataset(data.graph.timeless()), &Protocol::TemporalLinks, None, 1).unwrap_err();
    assert!(matches!(without, SplitError::NoLinkTimes));
    let at_once = data.graph.timeless().with_times(data.graph.iter_links().map(|(a, b)| (a, b, 7.0)));
    let at_once = Dataset { graph: at_once, ..data };
    let error = Split::make(&at_once, &Protocol::Temporal { column: None }, None, 1).unwrap_err();
    assert!(matches!(error, SplitError::NothingLater { what: "node" }) && error.hint().is_some());
}

#[test]
fn a_tenth_of_the_nodes_of_a_graph_that_grows_is_tested() {
    let data = World::drifting(600, 1).dataset();
    let split = Split::make(&data, &Protocol::Temporal { column: None }, None, 1).unwrap();
    check(&data, &split);
    let hidden = split.test().hidden().len();
    assert!((50..=60).contains(&hidden), "{hidden}");
    let later = Split::make(&data, &Protocol::TemporalLinks, None, 1).unwrap();
    check(&data, &later);
    // The last tenth is tested, and that of the others validated on.
    let known = data.graph.links() - data.graph.links() / 10;
    assert_eq!(later.final_view().graph().links(), known - known / 10);
    let tested = counts(later.test().pairs()).0;
    assert!(tested > 0 && tested < data.graph.links() - known, "links of nodes that come later are not tested");
}

#[test]
fn nothing_of_hidden_rows_is_fitted() {
    // Two tables that differ in a hidden row only give the same training attributes.
    let table = |hidden: &str| {
        let rows: String =
            (0..40).map(|row| format!("{{\"id\":\"n{row}\",\"x\":{},\"w\":\"a{} b\"}}\n", row % 9, row % 4)).collect();
        let edges: String =
            (0..39).map(|row| format!("{{\"source\":\"n{row}\",\"target\":\"n{}\"}}\n", row + 1)).collect();
        let rows = format!("{rows}{{\"id\":\"z\",{hidden}}}\n");
        let edges = format!("{edges}{{\"source\":\"z\",\"target\":\"n5\"}}\n{{\"source\":\"z\",\"target\":\"n9\"}}\n");
        let columns = toml::from_str("[columns]\nw.kind = \"text\"\nx.kind = \"numeric\"\n").unwrap();
        load_json_lines(rows.into(), edges.into(), &LoadOptions { columns, ..LoadOptions::default() }).unwrap()
    };
    let seed = (0..200).find(|&seed| {
        let data = table("\"x\":3,\"w\":\"a1 b\"");
        Split::make(&data, &Protocol::Strict, None, seed).is_ok_and(|split| split.test().hidden().contains(&40))
    });
    let seed = seed.expect("some seed hides the last node");
    let prepared = |hidden: &str| {
        let data = table(hidden);
        let split = Split::make(&data, &Protocol::Strict, None, seed).unwrap();
        let view = split.final_view();
        (0..40)
            .map(|node| {
                let row = view.attributes().row(node);
                (row.0.to_vec(), row.1.to_vec())
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(prepared("\"x\":3,\"w\":\"a1 b\""), prepared("\"x\":1e9,\"w\":\"b b b a2\""));
}

#[test]
fn validation_of_a_large_graph_is_bounded() {
    let data = World { links_per_node: 14.0, ..World::scaled(110_000, 1) }.dataset();
    let split = Split::for_training(&data, Validation::Nodes, 0).unwrap();
    let view = split.search();
    let hidden = (0..110_000).filter(|&node| !view.is_visible(node)).count();
    assert_eq!(hidden, 10_000);
    let all = split.validation();
    for pairs in split.validation_halves().into_iter().chain([split.validation_sample()]) {
        assert!(pairs.len() > 90_000 && pairs.len() < 110_000 && pairs.len() < all.len(), "{}", pairs.len());
        let linked = pairs.iter().filter(|pair| pair.linked).count() as f64 / pairs.len() as f64;
        assert!((linked - 0.5).abs() < 0.02, "{linked}");
    }
    let edges = Split::for_training(&data, Validation::Edges, 0).unwrap();
    let links = edges.validation().iter().filter(|pair| pair.linked).count();
    assert!(links < data.graph.links() / 10 + 1 && links <= 100_000, "{links}");
}

#[test]
fn test_nodes_keep_some_links_which_are_tested_by_nobody() {
    let data = World { nodes: 400, ..World::default() }.dataset();
    let split = |links| Split::make(&data, &Protocol::Few { links }, None, 3).unwrap();
    let (strict, few, more) = (Split::make(&data, &Protocol::Strict, None, 3).unwrap(), split(2), split(5));
    assert_eq!(few.contents.hidden, strict.contents.hidden);
    assert_eq!((&few.contents.search, &few.contents.refit), (&strict.contents.search, &strict.contents.refit));
    let view = few.final_view();
    let mut full = 0;
    for &node in few.test().hidden() {
        let links = data.graph.neighbors(node).iter().filter(|&&other| view.is_warm(other)).count();
        let given: Vec<_> = few.test().given(9).into_iter().filter(|link| link.0 == node).collect();
        assert_eq!(given.len(), links.saturating_sub(1).min(2), "of {links} links");
        let more: Vec<_> = more.test().given(2).into_iter().filter(|link| link.0 == node).collect();
        assert_eq!(more, given, "the first are the same however many are given");
        full += usize::from(given.len() == 2);
    }
    assert!(full > 20, "{full}");
    let given: HashSet<u64> = few.test().given(9).into_iter().map(|link| Pair::linked(link).key()).collect();
    assert!(few.test().pairs().iter().all(|pair| !given.contains(&pair.key())));
    assert_eq!(few.test().given(1).len(), few.test().given(9).len() - full);
}

#[test]
fn a_given_link_that_is_known_or_no_link_fails_the_audit() {
    let data = World { nodes: 400, ..World::default() }.dataset();
    let split = Split::make(&data, &Protocol::Few { links: 2 }, None, 3).unwrap();
    let audited = |given: (NodeId, NodeId)| {
        let mut contents = split.contents.clone();
        contents.given.push(given);
        Audit::of(&contents).to_string()
    };
    let tested = split.test().pairs().iter().find(|pair| pair.linked).unwrap();
    assert!(audited((tested.source, tested.target)).contains("1 link that test nodes keep is trained on"));
    let trained_on = split.final_view().graph().iter_links().next().unwrap();
    assert!(audited(trained_on).contains("1 link that test nodes keep is trained on"));
    let no_link = split.test().pairs().iter().find(|pair| !pair.linked).unwrap();
    assert!(audited((no_link.source, no_link.target)).contains("1 given positive is not linked in the graph"));
}

#[test]
fn a_number_of_links_that_no_test_node_keeps_is_refused() {
    for name in ["few:", "few:0", "few:x", "few:-1", "few:100000"] {
        let error = name.parse::<Protocol>().unwrap_err();
        assert!(error.to_string().contains("keeps 1 to 1000 links"), "{error}");
    }
    assert_eq!("few:5".parse::<Protocol>().unwrap().to_string(), "few:5");
}
