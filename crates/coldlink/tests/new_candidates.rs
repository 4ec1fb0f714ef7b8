//! New nodes as candidates: beside known ones, and in lists that must show some.

use coldlink::dataset::{End, NewNodes};
use coldlink::graph::{Graph, Names, NodeId};
use coldlink::model::{Among, Asked, Model, Query, QueryError, Resolved};
use coldlink::synthetic::World;
use coldlink::{Dataset, Evaluation, Link, Protocol, Settings, Silent, Training};

/// Nodes of twenty topics, which their words tell.
fn world() -> World {
    World { nodes: 1500, topics: 20, links_per_node: 6.0, ..World::default() }
}

fn settings() -> Settings {
    let settings = Settings::of_preset("default", 0.0).unwrap();
    ["width=32", "steps=150"].iter().fold(settings, |settings, setting| settings.set(setting).unwrap())
}

fn trained() -> Model {
    trained_on(&world().dataset())
}

fn trained_on(dataset: &Dataset) -> Model {
    Training::new(dataset, &settings(), 0).run(&mut Silent).unwrap()
}

/// New nodes of the same topics.
fn new_nodes(count: u32, name: &str) -> NewNodes {
    let names = Names::from_texts((0..count).map(|place| format!("{name}{place}")));
    NewNodes { names, attributes: world().new_nodes(count), titles: None, mismatches: Default::default() }
}

fn resolved(model: &Model, asked: &Asked, query: &Query) -> Resolved {
    model.resolve(asked, query).unwrap()
}

fn links(model: &Model, asked: &Asked, query: &Query) -> Vec<Vec<Link>> {
    model.links(asked, &resolved(model, asked, query), 0..asked.len())
}

#[test]
fn a_report_says_how_new_candidates_stand_against_known_ones() {
    let dataset = world().dataset();
    let settings = settings();
    let evaluation = Evaluation { seeds: 2, ..Evaluation::new(&dataset, &Protocol::Strict, &settings) };
    let report = evaluation.run(&mut Silent).unwrap().record.report;
    let pools = report.pools.as_ref().unwrap();
    let first = report.seeds[0].pools.as_ref().unwrap();
    assert_eq!(first.known.links + first.new.links, first.both.links);
    assert!((first.known.lists.mrr.unwrap() - report.seeds[0].metrics.mrr.unwrap()).abs() < 1e-12);
    // Nodes are hidden at random, so new candidates are linked as often as known ones.
    let (candidates, links) = (pools.new_candidates.unwrap(), pools.new.links as f64 / pools.both.links as f64);
    assert!((0.7..1.4).contains(&(links / candidates)), "{links} of links, {candidates} of candidates");
    // Less is known of two new nodes, so fewer of them are sure to be linked.
    let shown = pools.new_at_10.unwrap();
    assert!(shown > 0.0 && shown < candidates, "{shown} of lists, {candidates} of candidates");
    let recall: Vec<f64> = pools.shares.iter().map(|share| share.recall_at_10.unwrap()).collect();
    let both = pools.both.lists.recall_at_10.unwrap();
    assert!(recall.iter().all(|recall| *recall < both + 0.01), "{recall:?} {both}");
    assert_eq!(pools.shares.iter().map(|share| share.new).collect::<Vec<_>>(), [0, 3, 5, 8, 10]);
    assert!(pools.shares.is_sorted_by(|a, b| a.new_links <= b.new_links && a.known_links >= b.known_links));
}

#[test]
fn neither_pool_is_favoured_by_a_constant() {
    let whole = world().dataset();
    let is_new = |node: NodeId| node % 8 == 5;
    let (new, known): (Vec<NodeId>, Vec<NodeId>) = (0..world().nodes).partition(|&node| is_new(node));
    let place = |node: NodeId| if is_new(node) { &new } else { &known }.binary_search(&node).unwrap() as NodeId;
    let between_known = whole.graph.iter_links().filter(|&(a, b)| !is_new(a) && !is_new(b));
    let graph = Graph::from_links(known.len(), between_known.map(|(a, b)| (place(a), place(b))));
    let (attributes, names) = (whole.attributes.select(&known), Names::Numbered(known.len()));
    let model = trained_on(&Dataset { graph, attributes, names, ..whole.clone() });
    let encoded = model.encode(&whole.attributes.select(&new));
    let end = |node: NodeId| if is_new(node) { End::New(place(node)) } else { End::Known(place(node)) };
    // Linked and unlinked pairs count the same in sum.
    let predicted = |others: &[NodeId]| {
        let all = new.iter().flat_map(|&node| others.iter().map(move |&other| (node, other)));
        let can_be_linked = |&(a, b): &(NodeId, NodeId)| match end(b) {
            End::Known(known) => model.is_warm(known),
            End::New(_) => a < b,
        };
        let pairs: Vec<(NodeId, NodeId)> = all.filter(can_be_linked).collect();
        let ends: Vec<(End, End)> = pairs.iter().map(|&(a, b)| (end(a), end(b))).collect();
        let scores = model.score_pairs(&encoded, &ends);
        let mean = |linked: bool| {
            let of = pairs.iter().zip(&scores).filter(|((a, b), _)| whole.graph.has_link(*a, *b) == linked);
            let (sum, count) = of.fold((0.0, 0.0), |(sum, count), (_, score)| {
                (sum + model.probability(*score, 0.5).unwrap(), count + 1.0)
            });
            sum / count
        };
        (mean(true) + mean(false)) / 2.0
    };
    let (of_known, of_new) = (predicted(&known), predicted(&new));
    assert!((of_known - 0.5).abs() < 0.07 && (of_new - 0.5).abs() < 0.07, "{of_known} {of_new}");
}

#[test]
fn a_list_of_both_pools_falls_and_a_pair_has_one_score() {
    let model = trained();
    let asked = model.ask(new_nodes(300, "new")).unwrap();
    let weights = model.weights().unwrap();
    assert!([&weights.warm_warm, &weights.cold_warm, &weights.cold_cold].iter().all(|class| class.offset == 0.0));
    let query = Query { count: 100, among: Among::Both, ..Query::default() };
    let all = links(&model, &asked, &query).concat();
    assert!(all.chunks(100).all(|list| list.is_sorted_by(|a, b| a.score >= b.score && a.probability >= b.probability)));
    let new = all.iter().find(|link| !link.known).unwrap();
    let end = |name: &str| End::New(name[3..].parse().unwrap());
    let pair = model.score_pairs(asked.encoded(), &[(end(&new.source), end(&new.target))])[0];
    assert!((pair - new.score).abs() < 1e-4);
}

#[test]
fn a_list_that_explores_shows_the_best_new_candidates() {
    let model = trained();
    let asked = model.ask(new_nodes(40, "new")).unwrap();
    let list = |among, explore, count| links(&model, &asked, &Query { count, among, explore, ..Query::default() });
    let (plain, known, new) = (list(Among::Both, 0.0, 10), list(Among::Known, 0.0, 10), list(Among::New, 0.0, 10));
    let targets = |links: &[Link]| links.iter().map(|link| (link.known, link.target.clone())).collect::<Vec<_>>();
    for (explore, least) in [(0.01, 1), (0.3, 3), (0.35, 4), (1.0, 10)] {
        for (row, found) in list(Among::Both, explore, 10).iter().enumerate() {
            let shown = found.iter().filter(|link| !link.known).count();
            let without = plain[row].iter().filter(|link| !link.known).count();
            assert_eq!((found.len(), shown), (10, least.max(without)), "{explore}");
            assert!(found.is_sorted_by(|a, b| a.score >= b.score));
            assert_eq!(found.iter().map(|link| link.rank.unwrap()).collect::<Vec<_>>(), (1..=10).collect::<Vec<_>>());
            let mut expected = [targets(&new[row][..shown]), targets(&known[row][..10 - shown])].concat();
            let mut found = targets(found);
            expected.sort();
            found.sort();
            assert_eq!(found, expected, "the best of either");
        }
    }
    // Where there are fewer than asked for, known ones fill the list.
    let few = model.ask(new_nodes(3, "new")).unwrap();
    let found = links(&model, &few, &Query { among: Among::Both, explore: 0.9, ..Query::default() });
    assert!(found.iter().all(|list| list.len() == 10 && list.iter().filter(|link| !link.known).count() == 2));
}

#[test]
fn known_nodes_without_links_are_explored_through_an_index_or_not() {
    let mut model = trained().add(&new_nodes(60, "added")).unwrap();
    let asked = model.ask(new_nodes(5, "new")).unwrap();
    let query = Query { explore: 0.5, ..Query::default() };
    let check = |model: &Model| {
        for list in links(model, &asked, &query) {
            assert!(list.iter().filter(|link| link.target.starts_with("added")).count() >= 5);
            assert!(list.len() == 10 && list.iter().all(|link| link.known));
        }
    };
    check(&model);
    model.set_index(model.build_index());
    check(&model);
}

#[test]
fn a_share_that_is_none_is_refused() {
    let model = trained();
    let asked = model.ask(new_nodes(2, "new")).unwrap();
    for value in [-0.1, 1.000_001, f64::INFINITY] {
        let error = model.resolve(&asked, &Query { explore: value, ..Query::default() }).unwrap_err();
        assert_eq!(error, QueryError::Explore { value });
        assert!(error.hint().is_some());
    }
    let error = model.resolve(&asked, &Query { explore: f64::NAN, ..Query::default() }).unwrap_err();
    assert_eq!(error.to_string(), "`explore` must be from 0 to 1, got NaN");
}
