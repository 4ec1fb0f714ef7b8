//! Links with directions and relations, from tables to answers.

use coldlink::load::new_from_json_lines;
use coldlink::{
    Direction, Evaluation, GivenLink, LoadOptions, Model, Protocol, Query, Settings, Silent, Training, load_json_lines,
};

const TOPICS: usize = 5;
const LIBRARIES: usize = 8;

/// Programs that depend on libraries of their topic, and libraries that depend on the base of it. Words tell the topic.
fn packages(relations: bool) -> coldlink::Dataset {
    let (mut nodes, mut edges) = (String::new(), String::new());
    for topic in 0..TOPICS {
        nodes += &format!("{{\"id\":\"base{topic}\",\"words\":[\"t{topic}\",\"base\"]}}\n");
        for place in 0..LIBRARIES {
            nodes += &format!("{{\"id\":\"lib{topic}-{place}\",\"words\":[\"t{topic}\",\"library\"]}}\n");
            edges += &link(&format!("lib{topic}-{place}"), &format!("base{topic}"), "depends", relations);
        }
        for place in 0..40 {
            let name = format!("prog{topic}-{place}");
            nodes += &format!("{{\"id\":\"{name}\",\"words\":[\"t{topic}\",\"program\"]}}\n");
            for step in 0..3 {
                edges += &link(&name, &format!("lib{topic}-{}", (place + step * 3) % LIBRARIES), "depends", relations);
            }
            if relations {
                edges += &link(&name, &format!("prog{topic}-{}", (place + 7) % 40), "likes", relations);
            }
        }
    }
    // Every source stands after its target in the table of nodes, which links without a direction may do as well.
    let options = LoadOptions { directed: Some(true), ..LoadOptions::default() };
    load_json_lines(nodes.into(), edges.into(), &options).unwrap()
}

fn link(source: &str, target: &str, relation: &str, relations: bool) -> String {
    let relation = if relations { format!(",\"relation\":\"{relation}\"") } else { String::new() };
    format!("{{\"source\":\"{source}\",\"target\":\"{target}\"{relation}}}\n")
}

fn trained(dataset: &coldlink::Dataset) -> Model {
    let settings = Settings::of_preset("default", 0.0).unwrap().set("steps=150").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("packages.model");
    Training::new(dataset, &settings, 0).run(&mut Silent).unwrap().save(&path).unwrap();
    Model::open(&path).unwrap()
}

fn ask(model: &Model, query: &Query) -> Vec<coldlink::Link> {
    let row = b"{\"id\":\"mine\",\"words\":[\"t2\",\"program\"]}\n".to_vec();
    let asked = model.ask(new_from_json_lines(row, model.schema().unwrap(), false).unwrap()).unwrap();
    let query = model.resolve(&asked, query).unwrap();
    model.links(&asked, &query, 0..1).concat()
}

#[test]
fn a_new_node_is_asked_what_it_links_to_or_what_links_to_it() {
    let dataset = packages(false);
    assert!(dataset.relations.is_some() && dataset.notes_in_words().iter().any(|note| note.contains("directed")));
    let model = trained(&dataset);
    let explained = Query { count: LIBRARIES, explain: Some(3), ..Query::default() };
    for link in ask(&model, &explained) {
        assert_eq!((link.direction, link.relation.as_deref()), (Some(Direction::Out), None));
        assert!(link.target.starts_with("lib2-"), "a program of the topic depends on its libraries: {}", link.target);
        let why = link.explanation.unwrap();
        let named: f64 = why.attributes.iter().map(|reason| reason.adds).sum();
        let sum = named + why.other_attributes + why.similar_nodes + why.popularity + why.baseline;
        assert!((sum - f64::from(link.score)).abs() < 1e-4, "{sum} is not {}", link.score);
    }
    let both = ask(&model, &Query { count: 3, direction: Some(Direction::Both), ..Query::default() });
    let ranks: Vec<_> = both.iter().map(|link| (link.direction.unwrap(), link.rank.unwrap())).collect();
    let expected = [Direction::Out, Direction::In].map(|way| (1..=3).map(move |rank| (way, rank)));
    assert_eq!(ranks, expected.into_iter().flatten().collect::<Vec<_>>());
    assert!(both[0].probability > both[3].probability, "nothing depends on programs");
}

#[test]
fn relations_are_asked_for_one_by_one() {
    let model = trained(&packages(true));
    let all = ask(&model, &Query { count: 2, ..Query::default() });
    let relations: Vec<_> = all.iter().map(|link| link.relation.as_deref().unwrap()).collect();
    assert_eq!(relations, ["depends", "depends", "likes", "likes"]);
    let likes = ask(&model, &Query { count: 5, relation: Some("likes".into()), ..Query::default() });
    assert!(likes.iter().all(|link| link.target.starts_with("prog2-")), "{likes:?}");
    let row = b"{\"id\":\"mine\",\"words\":[\"t2\"]}\n".to_vec();
    let asked = model.ask(new_from_json_lines(row, model.schema().unwrap(), false).unwrap()).unwrap();
    let unknown = Query { relation: Some("hates".into()), ..Query::default() };
    let error = model.resolve(&asked, &unknown).unwrap_err();
    assert!(error.to_string().contains("`hates`") && error.hint().unwrap().to_string().contains("`likes`"));
}

#[test]
fn directed_graphs_are_evaluated_and_kept_by_packed_files() {
    let dataset = packages(false);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("packages.coldlink");
    coldlink::write_packed(&dataset, &path).unwrap();
    let packed = coldlink::open_packed(&path).unwrap();
    assert_eq!(packed.relations, dataset.relations);
    let settings = Settings::of_preset("default", 0.0).unwrap().set("steps=150").unwrap();
    let evaluated = Evaluation::new(&packed, &Protocol::Strict, &settings).run(&mut Silent).unwrap();
    let mean = evaluated.record.report.mean;
    assert!(mean.pooled.auc.unwrap() > 0.9 && mean.mrr.unwrap() > 0.2, "{mean:?}");
    assert!(Evaluation::new(&packed, &Protocol::Deal2020, &settings).run(&mut Silent).is_err());
}

#[test]
fn a_rare_relation_is_better_found_by_a_model_that_knows_others() {
    // Programs like one another as they depend on libraries: by topic. Few of them say whom they like.
    let measured = |depends: bool| {
        let (mut nodes, mut edges) = (String::new(), String::new());
        for node in 0..300_usize {
            let (topic, noise) = (node % 10, node * 7 % 30);
            nodes += &format!("{{\"id\":\"n{node}\",\"words\":[\"t{topic}-{}\",\"x{noise}\"]}}\n", node / 10 % 6);
            for step in [1, 4, 9, 16].into_iter().filter(|_| depends) {
                edges += &link(&format!("n{node}"), &format!("n{}", (node + 10 * step) % 50), "depends", true);
            }
            if node % 3 == 0 && node >= 50 {
                edges += &link(&format!("n{node}"), &format!("n{}", (node + 20) % 50), "likes", true);
            }
        }
        let options = LoadOptions { directed: Some(true), ..LoadOptions::default() };
        let dataset = load_json_lines(nodes.into(), edges.into(), &options).unwrap();
        let settings = ["steps=150", "width=32"]
            .iter()
            .fold(Settings::of_preset("default", 0.0).unwrap(), |settings, setting| settings.set(setting).unwrap());
        let evaluation = Evaluation { seeds: 3, ..Evaluation::new(&dataset, &Protocol::Strict, &settings) };
        let roles = evaluation.run(&mut Silent).unwrap().record.report.roles;
        let found = roles.iter().find(|role| role.relation == "likes" && role.direction == "out").unwrap();
        found.lists.mrr.unwrap()
    };
    let (together, alone) = (measured(true), measured(false));
    assert!(together > 1.2 * alone, "MRR {together:.3} together, {alone:.3} alone");
}

#[test]
fn links_of_a_new_node_have_a_relation_and_a_direction() {
    let model = trained(&packages(true));
    let row = b"{\"id\":\"mine\",\"words\":[\"t2\",\"program\"]}\n".to_vec();
    let new = new_from_json_lines(row, model.schema().unwrap(), false).unwrap();
    let link = |source: &str, target: &str, relation: Option<&str>| GivenLink {
        source: source.to_owned(),
        target: target.to_owned(),
        relation: relation.map(str::to_owned),
    };
    let given = [link("mine", "lib2-3", Some("depends")), link("prog2-5", "mine", Some("depends"))];
    let asked = model.ask_linked(new.clone(), &given).unwrap();
    let found = |direction, relation: &str| {
        let relation = Some(relation.to_owned());
        let query = Query { count: 300, direction: Some(direction), relation, ..Query::default() };
        let links = model.links(&asked, &model.resolve(&asked, &query).unwrap(), 0..1).concat();
        links.into_iter().map(|link| link.target).collect::<Vec<_>>()
    };
    let (out, into) = (found(Direction::Out, "depends"), found(Direction::In, "depends"));
    assert!(!out.contains(&"lib2-3".to_owned()) && into.contains(&"lib2-3".to_owned()));
    assert!(out.contains(&"prog2-5".to_owned()) && !into.contains(&"prog2-5".to_owned()));
    let problem = |link: GivenLink| model.ask_linked(new.clone(), &[link]).unwrap_err().to_string();
    assert_eq!(problem(link("mine", "lib2-3", None)), "link 1: the link has no relation");
    assert_eq!(problem(link("mine", "lib2-3", Some("cites"))), "link 1: there is no relation `cites`");
    let asked = model.ask_known(&["prog2-5".to_owned()]).unwrap();
    let links = model.links(&asked, &model.resolve(&asked, &Query { count: 300, ..Query::default() }).unwrap(), 0..1);
    let targets: Vec<&str> = links[0]
        .iter()
        .filter(|link| link.relation.as_deref() == Some("depends"))
        .map(|link| link.target.as_str())
        .collect();
    assert_eq!(targets.len(), TOPICS * (1 + LIBRARIES + 40) - 1 - 3, "neither itself nor its three links");
    assert!(targets.iter().all(|target| !["prog2-5", "lib2-5", "lib2-0", "lib2-3"].contains(target)));
}

#[test]
fn lists_get_better_with_each_link_that_new_nodes_have() {
    let settings = Settings::of_preset("default", 0.0).unwrap().set("steps=150").unwrap();
    let dataset = packages(false);
    let evaluation = Evaluation::new(&dataset, &Protocol::Few { links: 2 }, &settings).run(&mut Silent).unwrap();
    assert_eq!(evaluation.audit.to_string(), "passed");
    let few = &evaluation.record.report.few;
    assert_eq!(few.iter().map(|step| step.links).collect::<Vec<_>>(), [0, 1, 2]);
    assert!(few[0].given == 0.0 && few[2].given > 1.2, "{few:?}");
    // A library of the topic tells which others its programs take beside it: no word does.
    assert!(few[2].lists.mrr > few[0].lists.mrr && few[2].knn.mrr > few[0].knn.mrr, "{few:?}");
}
