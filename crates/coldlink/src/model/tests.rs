//! A model as a whole: its file, its links, its growth.

use super::*;
use crate::columns::{Mismatches, Values};
use crate::dataset::{Dataset, End, GivenLink, LinkProblem, NewNodes, Notes, PairQuery};
use crate::graph::{Attributes, NodeId};
use crate::index::{Hit, Hnsw};
use crate::load::{LoadOptions, load_json_lines, new_from_json_lines};
use crate::pipeline::{Settings, Training};
use crate::score::{GivenWeights, PairWeights};
use crate::split::TrainView;
use crate::train::Silent;

/// A small model, trained for real, under any settings and seed.
fn trained(settings: &[&str], seed: u64) -> Model {
    let row = |node: u32| vec![(node % 7, 1.0), (7 + node % 5, 0.5)];
    let dataset = Dataset {
        name: "small".into(),
        relations: None,
        graph: Graph::from_links(60, (0..58).flat_map(|node| [(node, node + 1), (node, (node * 7 + 2) % 60)])),
        attributes: Attributes::from_rows(12, &(0..60).map(row).collect::<Vec<_>>()).unwrap(),
        names: Names::from_texts((0..60).map(|node| format!("n{node}"))),
        titles: None,
        schema: None,
        notes: Notes::default(),
    };
    let base = Config::default().set("steps=20").unwrap();
    let config = settings.iter().fold(base, |config, setting| config.set(setting).unwrap());
    Training::new(&dataset, &Settings::given(config), seed).run(&mut Silent).unwrap()
}

#[test]
fn a_model_is_read_as_it_was_written_under_any_settings_and_seed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    for settings in [&["width=20"][..], &["width=5", "hidden=[7,9]", "bias=true", "similarity=dot"]] {
        for seed in [3, u64::MAX] {
            let model = trained(settings, seed);
            model.save(&path).unwrap();
            let read = Model::open(&path).unwrap();
            assert_eq!(read.summary, model.summary);
            assert_eq!(read.embeddings, model.embeddings);
            let new = Attributes::from_rows(12, &[vec![(1, 1.0)], vec![]]).unwrap();
            assert_eq!(read.embed(&new), model.embed(&new));
        }
    }
}

/// The same with weights as if they had been fitted: such a small graph has too few validation pairs.
fn with_memory(mut model: Model) -> Model {
    let links = (0..58).flat_map(|node| [(node, node + 1), (node, node % 3)]);
    let graph = Graph::from_links(60, links);
    let row = |node: u32| vec![(node % 7, 1.0), (7 + node % 5, 0.5)];
    let attributes = Attributes::from_rows(12, &(0..60).map(row).collect::<Vec<_>>()).unwrap();
    let words = TfIdfRows::of(&TrainView::whole(&graph, &attributes, &[true; 60]));
    let weights_with = |degree: f64| PairWeights {
        terms: [1.0, 1.0, 0.0, 2.0, degree, 0.1, 0.1, 0.0],
        intercept: -1.0,
        pairs: 9,
        ..PairWeights::default()
    };
    let weights = ScoreWeights {
        warm_warm: weights_with(0.2),
        cold_warm: weights_with(0.2),
        cold_cold: weights_with(0.0),
        prevalence: 0.5,
        roles: Vec::new(),
        given: Vec::new(),
    };
    model.embeddings.warm = (0..60).map(|node| graph.degree(node) > 0).collect();
    model.memory = Some(Memory { graph, words, weights });
    model
}

#[test]
fn a_model_with_fitted_terms_is_read_as_it_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    let model = with_memory(trained(&["width=20"], 3));
    model.save(&path).unwrap();
    let read = Model::open(&path).unwrap();
    assert_eq!(read.memory, model.memory);
    let new = Attributes::from_rows(12, &[vec![(1, 1.0)], vec![]]).unwrap();
    let plan = Plan::best(7);
    assert_eq!(read.best_links(&read.encode(&new), 0..2, plan), model.best_links(&model.encode(&new), 0..2, plan));
}

#[test]
fn the_same_model_has_the_same_fingerprint_and_another_has_another() {
    let folder = tempfile::tempdir().unwrap();
    let saved = |name: &str, model: &Model| {
        model.save(&folder.path().join(name)).unwrap();
        Model::open(&folder.path().join(name)).unwrap()
    };
    let model = with_memory(trained(&["width=20"], 3));
    let (first, copy) = (saved("first", &model), saved("copy", &model));
    assert!(first.fingerprint().is_some_and(|digits| digits.len() == 16));
    assert_eq!(first.fingerprint(), copy.fingerprint());
    assert_ne!(first.fingerprint(), saved("other", &with_memory(trained(&["width=20"], 4))).fingerprint());
    let attributes = Attributes::from_rows(12, &[vec![(1, 1.0)]]).unwrap();
    let new =
        NewNodes { names: Names::from_texts(["new"]), attributes, titles: None, mismatches: Mismatches::default() };
    assert_eq!(first.add(&new).unwrap().fingerprint(), None, "it is in no file yet");
}

#[test]
fn similar_nodes_are_warm_ones_by_their_cosines_without_the_node_itself() {
    let mut model = with_memory(trained(&["width=20"], 3));
    model.embeddings.warm[4] = false;
    let similar = model.similar_nodes(7, 60);
    assert!(similar.is_sorted_by(|a, b| a.cosine >= b.cosine));
    assert_eq!(similar.len(), model.embeddings.warm.iter().filter(|warm| **warm).count() - 1);
    assert!(similar.iter().all(|other| other.name != "n7" && other.name != "n4"));
    assert!(similar[0].name == "n42" && similar[0].cosine > 0.9999, "nodes 35 apart have the same attributes");
}

#[test]
fn similar_nodes_are_found_through_the_index_where_there_is_one() {
    let mut model = with_memory(trained(&["width=20"], 3));
    let names = |model: &Model| model.similar_nodes(7, 5).into_iter().map(|other| other.name).collect::<Vec<_>>();
    let exact = names(&model);
    let mut index = model.build_index();
    model.set_index(index.clone());
    assert_eq!(names(&model), exact);
    // An index that holds three nodes shows that no others are looked at.
    let zeros = [0.0; 60];
    index.similar = Some(vec![Hnsw::build(&model.embeddings.attributes, &zeros, &zeros, vec![1, 2, 3])]);
    model.set_index(index);
    let mut found = names(&model);
    found.sort_unstable();
    assert_eq!(found, ["n1", "n2", "n3"]);
}

#[test]
fn less_popularity_changes_the_order_and_not_the_scores() {
    let model = with_memory(trained(&["width=20"], 3));
    let new = Attributes::from_rows(12, &[vec![(1, 1.0), (8, 0.5)]]).unwrap();
    let encoded = model.encode(&new);
    let found = |popularity| model.best_links(&encoded, 0..1, Plan { popularity, ..Plan::best(60) }).remove(0);
    let (mut usual, mut quiet) = (found(1.0), found(0.0));
    assert!(usual.is_sorted_by(|a, b| a.score >= b.score));
    let place = |hits: &[Hit], node: NodeId| hits.iter().position(|hit| hit.node == node);
    assert!(place(&quiet, 0) > place(&usual, 0), "a hub falls");
    let pairs: Vec<_> = usual.iter().map(|hit| (End::New(0), End::Known(hit.node))).collect();
    for (hit, score) in usual.iter().zip(model.score_pairs(&encoded, &pairs)) {
        assert!((hit.score - score).abs() < 1e-4);
    }
    usual.sort_by_key(|hit| hit.node);
    quiet.sort_by_key(|hit| hit.node);
    assert_eq!(usual, quiet);
    assert_eq!(model.probability(0.0, 0.5), Some(0.5));
}

#[test]
fn links_are_looked_for_where_it_is_wished() {
    let new = Attributes::from_rows(12, &[vec![(1, 1.0)], vec![(1, 1.0), (8, 0.5)], vec![(4, 1.0)]]).unwrap();
    for model in [with_memory(trained(&["width=20"], 3)), trained(&["width=20", "terms=[]"], 3)] {
        let encoded = model.encode(&new);
        let found = |among, excluded: &[NodeId]| {
            let plan = Plan { among, excluded, ..Plan::best(100) };
            let mut hits = model.best_links(&encoded, 0..1, plan).remove(0);
            assert!(hits.is_sorted_by(|a, b| a.score >= b.score));
            hits.sort_by_key(|hit| hit.node);
            hits
        };
        let (warm, new, both) = (found(Among::Known, &[]), found(Among::New, &[]), found(Among::Both, &[]));
        let nodes = |hits: &[Hit]| hits.iter().map(|hit| hit.node).collect::<Vec<_>>();
        assert_eq!(nodes(&warm), (0..60).collect::<Vec<_>>());
        assert_eq!(nodes(&new), [61, 62], "a node is not its own link");
        assert_eq!(nodes(&both), [nodes(&warm), nodes(&new)].concat());
        assert_eq!(
            nodes(&found(Among::Both, &[3, 61])),
            [(0..3).collect::<Vec<_>>(), (4..60).collect(), vec![62]].concat()
        );
        let end = |node: NodeId| if node < 60 { End::Known(node) } else { End::New(node - 60) };
        let pairs: Vec<_> = both.iter().map(|hit| (End::New(0), end(hit.node))).collect();
        for (hit, score) in both.iter().zip(model.score_pairs(&encoded, &pairs)) {
            assert!((hit.score - score).abs() < 1e-4, "{}: {} instead of {score}", hit.node, hit.score);
        }
    }
}

/// What `rest` must be: the intercept with the walks' smallest chances, and the embedding of no attributes.
fn check_explanation(model: &Model, intercept: f64) {
    let new = Attributes::from_rows(12, &[vec![(1, 1.0), (3, 0.7), (8, 0.5)], vec![(0, 1.0), (8, 2.0)]]).unwrap();
    let encoded = model.encode(&new);
    for other in [End::Known(1), End::Known(17), End::New(1)] {
        let explained = model.score_parts(&new, &encoded, 0, &[other]).remove(0);
        let score = f64::from(model.score_pairs(&encoded, &[(End::New(0), other)])[0]);
        let attributes: f64 = explained.attributes.iter().map(|amount| amount.1).sum();
        let sum = attributes + explained.similar_nodes + explained.popularity + explained.baseline;
        assert!((sum - score).abs() < 1e-9);
        assert!((explained.baseline - intercept).abs() < 2e-3, "{} instead of {intercept}", explained.baseline);
        assert!(explained.attributes.iter().all(|&(column, _)| [1, 3, 8].contains(&column)));
        assert!(explained.attributes.is_sorted_by(|a, b| a.1.abs() >= b.1.abs()));
        assert_eq!(explained.most_similar.len(), 5);
    }
}

#[test]
fn what_attributes_and_the_other_parts_add_is_the_score() {
    // Weights as in `with_memory`: -1, and .1 of the logarithm of the smallest chance for each of two walks.
    let intercept = -1.0 + 0.2 * f64::from(crate::score::SMALL_CHANCE.ln());
    check_explanation(&with_memory(trained(&["width=20"], 3)), intercept);
    check_explanation(&with_memory(trained(&["width=6", "hidden=[9,7]", "last_elu=true"], 3)), intercept);
    check_explanation(&trained(&["width=20", "terms=[]"], 3), 0.0);
    check_explanation(&trained(&["width=20", "terms=[]", "similarity=dot"], 3), 0.0);
}

fn new_nodes(names: Names, rows: &[Vec<(u32, f32)>]) -> NewNodes {
    NewNodes {
        names,
        attributes: Attributes::from_rows(12, rows).unwrap(),
        titles: None,
        mismatches: Mismatches::default(),
    }
}

#[test]
fn added_nodes_are_found_and_the_scores_of_others_stay() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    let query = Attributes::from_rows(12, &[vec![(1, 1.0), (8, 0.5)]]).unwrap();
    let added = new_nodes(Names::from_texts(["x", "y"]), &[vec![(1, 1.0), (8, 0.5)], vec![]]);
    for model in [with_memory(trained(&["width=20"], 3)), trained(&["width=20", "terms=[]"], 3)] {
        model.add(&added).unwrap().save(&path).unwrap();
        let larger = Model::open(&path).unwrap();
        assert_eq!((larger.summary.nodes, larger.names.len(), larger.names.get(60).as_ref()), (62, 62, "x"));
        assert_eq!(larger.base_rate(), model.base_rate());
        let scores = |model: &Model| {
            let mut hits = model.best_links(&model.encode(&query), 0..1, Plan::best(100)).remove(0);
            hits.sort_by_key(|hit| hit.node);
            hits
        };
        let (before, after) = (scores(&model), scores(&larger));
        assert_eq!(after[..60], before);
        assert_eq!(after.len(), 62);
        assert!(after[60].score > after[61].score, "its own like rather than a node without attributes");
    }
}

#[test]
fn what_is_held_beside_the_file_grows_with_the_nodes() {
    let model = with_memory(trained(&["width=20"], 3));
    model.prepare();
    let add = |model: &Model, name: &str| {
        let larger = model.add(&new_nodes(Names::from_texts([name]), &[vec![(1, 1.0), (8, 0.5)]])).unwrap();
        larger.prepare();
        larger
    };
    let (one, two) = (add(&model, "x"), add(&add(&model, "x"), "y"));
    assert!(one.held_bytes() > model.held_bytes());
    // Of each node the order of its name, the name and where it ends, a padded row of numbers, a flag, its words and where its words
    // and links end.
    assert_eq!(two.held_bytes() - one.held_bytes(), 4 + 1 + 8 + 128 + 1 + 2 * 8 + 8 + 8);
}

#[test]
fn a_name_is_given_once() {
    let model = trained(&["width=20"], 3);
    let check = |names: &[&str]| model.add(&new_nodes(Names::from_texts(names), &vec![vec![]; names.len()]));
    let name = |name: &str| name.to_owned();
    assert_eq!(check(&["x", "n3"]).unwrap_err(), AddError::Known { name: name("n3") });
    assert_eq!(check(&["x", "x"]).unwrap_err(), AddError::Repeated { name: name("x") });
    assert_eq!(check(&["x", ""]).unwrap_err(), AddError::NoName { row: 2 });
    let wide = Attributes::from_rows(13, &[vec![]]).unwrap();
    let wide = NewNodes { attributes: wide, ..new_nodes(Names::from_texts(["x"]), &[]) };
    assert_eq!(model.add(&wide).unwrap_err(), AddError::Width { expected: 12, found: 13 });
}

#[test]
fn numbered_nodes_go_on_counting() {
    let model = Model { names: Names::Numbered(60), ..trained(&["width=20"], 3) };
    let larger = model.add(&new_nodes(Names::Numbered(2), &[vec![(0, 1.0)], vec![]])).unwrap();
    assert_eq!(larger.names, Names::Numbered(62));
    let larger = larger.add(&new_nodes(Names::from_texts(["x"]), &[vec![]])).unwrap();
    assert_eq!((larger.names.get(61), larger.names.get(62)), ("61".into(), "x".into()));
}

/// Sixty nodes with tags and a vector each; the last column is the vector.
fn with_vectors() -> Dataset {
    let (mut nodes, mut edges) = (String::new(), String::new());
    for node in 0..60_u32 {
        let vector: Vec<f32> = (0..9).map(|place| ((node * 7 + place * 13) % 17) as f32 / 4.0 - 2.0).collect();
        nodes +=
            &format!("{{\"id\":\"n{node}\",\"tags\":[\"a{}\",\"b{}\"],\"look\":{vector:?}}}\n", node % 7, node % 5);
        edges += &format!("{{\"source\":\"n{node}\",\"target\":\"n{}\"}}\n", (node + 1) % 60);
        edges += &format!("{{\"source\":\"n{node}\",\"target\":\"n{}\"}}\n", (node * 7 + 2) % 60);
    }
    load_json_lines(nodes.into(), edges.into(), &LoadOptions::default()).unwrap()
}

/// The same with the vectors among the sparse attributes, under the same numbers.
fn in_sparse_form(dataset: &Dataset) -> Dataset {
    // Zeros included: a list of numbers has them all.
    let row = |node: NodeId| {
        let (columns, values) = dataset.attributes.row(node);
        let vector = (13..).zip(dataset.attributes.dense_row(node).iter().copied());
        columns.iter().copied().zip(values.iter().copied()).chain(vector).collect()
    };
    let rows: Vec<Vec<(u32, f32)>> = (0..60).map(row).collect();
    let attributes = Attributes::from_rows(dataset.attributes.width(), &rows).unwrap();
    let attributes = attributes.with_blocks(dataset.attributes.blocks().to_vec()).unwrap();
    let mut schema = dataset.schema.clone().unwrap();
    schema.columns.last_mut().unwrap().values = Values::Numbers(9);
    Dataset { attributes, schema: Some(schema), ..dataset.clone() }
}

#[test]
fn a_dense_part_gives_the_model_that_sparse_vectors_give() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    let dense = with_vectors();
    assert_eq!((dense.attributes.sparse_width(), dense.attributes.dense_width()), (13, 9));
    let new = b"{\"id\":\"new\",\"tags\":[\"a1\",\"b2\",\"c\"],\"look\":[0.5,1,1.5,-2,0,1,0.25,1,1]}\n".to_vec();
    for setting in ["hidden=[]", "hidden=[7]"] {
        let config = ["steps=20", "attribute_dropout=0", setting].into_iter();
        let config = config.fold(Config::default(), |config, setting| config.set(setting).unwrap());
        let [dense, sparse] = [dense.clone(), in_sparse_form(&dense)].map(|dataset| {
            let model = Training::new(&dataset, &Settings::given(config.clone()), 1).run(&mut Silent).unwrap();
            model.save(&path).unwrap();
            let model = Model::open(&path).unwrap();
            let new = new_from_json_lines(new.clone(), model.schema.as_ref().unwrap(), false).unwrap();
            let found = model.best_links(&model.encode(&new.attributes), 0..1, Plan::best(3)).remove(0);
            let encoded = model.encode(&new.attributes);
            let explained = model.score_parts(&new.attributes, &encoded, 0, &[End::Known(found[0].node)]).remove(0);
            (model, found, explained)
        });
        let close = |a: f32, b: f32| assert!((a - b).abs() < 1e-3, "{setting}: {a} {b}");
        for node in 0..60 {
            let both = dense.0.embeddings.attributes.row(node).iter().zip(sparse.0.embeddings.attributes.row(node));
            both.for_each(|(&a, &b)| close(a, b));
        }
        dense.1.iter().zip(&sparse.1).for_each(|(a, b)| close(a.score, b.score));
        assert!(dense.2.attributes.iter().any(|amount| dense.0.attribute_names()[amount.0 as usize] == "look[3]"));
        let amount = |explained: &ScoreParts, of: u32| {
            explained.attributes.iter().find(|amount| amount.0 == of).map(|amount| amount.1)
        };
        for (attribute, expected) in &sparse.2.attributes {
            close(amount(&dense.2, *attribute).unwrap_or(0.0) as f32, *expected as f32);
        }
    }
}

#[test]
fn a_model_of_vectors_alone_needs_no_words() {
    let mut dataset = with_vectors();
    let columns = toml::from_str("[columns]\ntags.kind = \"ignore\"\n").unwrap();
    let names: Vec<String> = (0..60).map(|node| dataset.names.get(node).to_string()).collect();
    let lines: String = (0..60)
        .map(|node| {
            format!(
                "{{\"id\":\"{}\",\"tags\":1,\"look\":{:?}}}\n",
                names[node],
                dataset.attributes.dense_row(node as NodeId)
            )
        })
        .collect();
    let edges: String =
        dataset.graph.iter_links().map(|(a, b)| format!("{{\"source\":\"n{a}\",\"target\":\"n{b}\"}}\n")).collect();
    dataset = load_json_lines(lines.into(), edges.into(), &LoadOptions { columns, ..LoadOptions::default() }).unwrap();
    assert_eq!(dataset.attributes.sparse_width(), 0);
    let config = Config::default().set("steps=20").unwrap();
    let model = Training::new(&dataset, &Settings::given(config), 1).run(&mut Silent).unwrap();
    let encoded = model.encode(&dataset.attributes.select(&[3]));
    assert_eq!(model.best_links(&encoded, 0..1, Plan::best(3))[0].len(), 3);
}

/// The same with weights for links of new nodes.
fn weighing_links(mut model: Model) -> Model {
    let memory = model.memory.as_mut().unwrap();
    let pair = memory.weights.cold_warm.clone();
    memory.weights.given = vec![GivenWeights { pair, given: [3.0, 2.0, 0.5, 0.25] }];
    model
}

fn one_new() -> NewNodes {
    let attributes = Attributes::from_rows(12, &[vec![(1, 1.0), (8, 0.5)], vec![(2, 1.0)]]).unwrap();
    NewNodes {
        names: Names::from_texts(["fresh", "other"]),
        attributes,
        titles: None,
        mismatches: Mismatches::default(),
    }
}

fn given_link(source: &str, target: &str, relation: Option<&str>) -> GivenLink {
    GivenLink { source: source.to_owned(), target: target.to_owned(), relation: relation.map(str::to_owned) }
}

fn all_links(model: &Model, asked: &Asked, explain: bool) -> Vec<Vec<Link>> {
    let query = Query { count: 60, explain: explain.then_some(3), ..Query::default() };
    model.links(asked, &model.resolve(asked, &query).unwrap(), 0..asked.len())
}

fn check_sums(links: &[Link]) {
    for link in links {
        let why = link.explanation.as_ref().unwrap();
        let named: f64 = why.attributes.iter().map(|reason| reason.adds).sum::<f64>() + why.other_attributes;
        let sum = named + why.own_links.unwrap_or(0.0) + why.similar_nodes + why.popularity + why.baseline;
        assert!((sum - f64::from(link.score)).abs() < 1e-3, "{sum} {link:?}");
    }
}

#[test]
fn known_nodes_are_asked_for_links_that_they_do_not_have() {
    let model = weighing_links(with_memory(trained(&["width=20"], 3)));
    let asked = model.ask_known(&["n7".to_owned(), "n59".to_owned(), "n7".to_owned()]).unwrap();
    let found = all_links(&model, &asked, true);
    assert_eq!(found[0], found[2], "the same node has the same links");
    for (links, node) in found.iter().zip([7, 59]) {
        let neighbors = model.neighbors(node);
        assert_eq!(links.len(), 60 - 1 - neighbors.len());
        for link in links {
            let target = model.find(&link.target).unwrap();
            assert!(link.known && target != node && neighbors.binary_search(&target).is_err(), "{link:?}");
        }
        check_sums(links);
    }
    let own_links =
        |links: &[Link]| links.iter().filter(|link| link.explanation.as_ref().unwrap().own_links.is_some()).count();
    assert!(own_links(&found[0]) > 0);
    assert_eq!(own_links(&found[1]), 0, "n59 has no link");
    let unknown = model.ask_known(&["n7".to_owned(), "nobody".to_owned()]).unwrap_err();
    assert_eq!(unknown, QueryError::NotKnown { place: 2, name: "nobody".into() });
    let among = Query { among: Among::Both, ..Query::default() };
    assert_eq!(model.resolve(&asked, &among).unwrap_err(), QueryError::NothingNew);
    let forgetful = trained(&["width=20"], 3);
    assert_eq!(forgetful.ask_known(&["n7".to_owned()]).unwrap_err(), QueryError::KeepsNoLinks);
}

#[test]
fn links_of_a_new_node_count_and_are_not_found_again() {
    let model = weighing_links(with_memory(trained(&["width=20"], 3)));
    let links =
        [given_link("fresh", "n7", None), given_link("n30", "fresh", None), given_link("fresh", "n7", Some(""))];
    let (plain, asked) = (model.ask(one_new()).unwrap(), model.ask_linked(one_new(), &links).unwrap());
    let (before, after) = (all_links(&model, &plain, true), all_links(&model, &asked, true));
    assert_eq!(before[1], after[1], "the other node has no links");
    let names = |links: &[Link]| links.iter().map(|link| link.target.clone()).collect::<Vec<_>>();
    assert_eq!((before[0].len(), after[0].len()), (60, 58));
    assert!(!names(&after[0]).contains(&"n7".to_owned()) && !names(&after[0]).contains(&"n30".to_owned()));
    let place = |links: &[Link], name: &str| links.iter().position(|link| link.target == name).unwrap();
    let rise = ["n6", "n8", "n29", "n31"].iter().filter(|name| place(&after[0], name) < place(&before[0], name));
    assert!(rise.count() >= 3, "what its links are linked with rises");
    check_sums(&after[0]);
    let pair = |target: &str| PairQuery { source: "fresh".into(), target: target.into(), known: None, relation: None };
    let pairs: Vec<PairQuery> = after[0].iter().map(|link| pair(&link.target)).collect();
    for (scored, link) in model.scored_pairs(&asked, &pairs, Told::at(model.base_rate())).unwrap().iter().zip(&after[0])
    {
        assert!((scored.score - link.score).abs() < 1e-4, "{scored:?} {link:?}");
    }
    assert_eq!(model.with_links(plain.clone(), &[]).unwrap().encoded(), plain.encoded());
}

#[test]
fn a_link_of_a_new_node_that_cannot_be_used_is_named() {
    let model = weighing_links(with_memory(trained(&["width=20"], 3)));
    let check = |link: GivenLink, expected: LinkProblem| {
        let links = [given_link("fresh", "n7", None), link];
        let error = model.ask_linked(one_new(), &links).unwrap_err();
        assert!(error.hint().is_some());
        assert_eq!(error, QueryError::Link { link: 2, problem: expected });
    };
    let (name, source_name, target) = ("n99".to_owned(), "n1".to_owned(), "n2".to_owned());
    check(given_link("fresh", "n99", None), LinkProblem::UnknownNode { name });
    check(given_link("n1", "n2", None), LinkProblem::BothKnown { source_name, target });
    let (source_name, target) = ("fresh".to_owned(), "other".to_owned());
    check(given_link("fresh", "other", None), LinkProblem::BothNew { source_name, target });
    let unknown = LinkProblem::UnknownRelation { name: "cites".into(), known: Vec::new() };
    check(given_link("fresh", "n7", Some("cites")), unknown);
    let forgetful = trained(&["width=20"], 3);
    let error = forgetful.ask_linked(one_new(), &[given_link("fresh", "n7", None)]).unwrap_err();
    assert_eq!(error, QueryError::KeepsNoLinks);
}
