//! Weights and times of links, from tables to models.

use coldlink::load::load_json_lines;
use coldlink::split::{Protocol, Split};
use coldlink::synthetic::World;
use coldlink::train::{Fit, Silent};
use coldlink::{Config, Dataset, LoadOptions, Model, Settings, Training, open_packed, write_packed};

fn trained(dataset: &Dataset, weights: &str) -> Model {
    let settings = Settings::of_preset("default", 0.0).unwrap().set("steps=60").unwrap().set("width=64").unwrap();
    let settings = settings.set(&format!("weights={weights}")).unwrap();
    Training::new(dataset, &settings, 0).run(&mut Silent).unwrap()
}

/// Links in two relations, of which one is directed, with weights and times.
fn with_relations() -> Dataset {
    let (mut nodes, mut edges) = (String::new(), String::new());
    for node in 0..240 {
        nodes += &format!("{{\"id\":\"n{node}\",\"words\":[\"a{}\",\"b{}\"]}}\n", node % 6, node % 11);
        for (step, relation) in [(6, "cites"), (12, "cites"), (1, "likes")] {
            let carried = format!("\"count\":{},\"year\":{}", 1 + node % 5, 1990 + (node * step) % 17);
            let ends = format!("\"source\":\"n{node}\",\"target\":\"n{}\"", (node + step) % 240);
            edges += &format!("{{{ends},\"relation\":\"{relation}\",{carried}}}\n");
        }
    }
    let columns = toml::from_str("[relations.cites]\ndirected = true\n[relations.likes]\ndirected = false\n").unwrap();
    load_json_lines(nodes.into(), edges.into(), &LoadOptions { columns, ..LoadOptions::default() }).unwrap()
}

#[test]
fn packed_files_and_models_keep_weights_and_a_model_looks_at_no_times() {
    let folder = tempfile::tempdir().unwrap();
    let (graph, model) = (folder.path().join("graph.coldlink"), folder.path().join("graph.model"));
    let weighted = World { drift: 0.5, ..World::weighted(300, 1) }.dataset();
    for dataset in [weighted, with_relations()] {
        let links = dataset.links().0;
        assert!(links.weights().is_some() && links.times().is_some());
        write_packed(&dataset, &graph).unwrap();
        let packed = open_packed(&graph).unwrap();
        assert_eq!(packed, dataset);
        let made = trained(&packed, "log");
        made.save(&model).unwrap();
        let opened = Model::open(&model).unwrap();
        assert_eq!(opened, made);
        let kept = opened.graph().unwrap();
        let weights = kept.weights().unwrap();
        let mean = weights.iter().sum::<f32>() / weights.len() as f32;
        assert!((mean - 1.0).abs() < 1e-3 && kept.times().is_none(), "{mean}");
    }
}

#[test]
fn ignored_weights_and_times_give_the_model_of_a_plain_graph_to_the_bit() {
    let weighted = World::weighted(300, 1).dataset();
    let plain = Dataset { graph: weighted.graph.unweighted(), ..weighted.clone() };
    assert_eq!(trained(&weighted, "ignore"), trained(&plain, "ignore"));
    assert_ne!(trained(&weighted, "log").graph(), trained(&plain, "log").graph());
    let timed = World { drift: 0.5, ..World::default() }.dataset();
    let timeless = Dataset { graph: timed.graph.timeless(), ..timed.clone() };
    assert_eq!(trained(&timed, "log"), trained(&timeless, "log"));
}

/// MRR and recall@10 of lists of nodes that are held out for validation.
fn quality(dataset: &Dataset, protocol: &Protocol, setting: &str) -> [f64; 2] {
    let config = Config::default().set_all(["epochs=5", "width=64", setting]).unwrap();
    let of_seed = |seed| {
        let split = Split::make(dataset, protocol, None, seed).unwrap();
        let config = &split.search().sized(&config);
        let fit = Fit { split: &split, config, seed, checkpoints: None };
        let lists = fit.try_out(&mut Silent).unwrap().best.lists.unwrap();
        [lists.mrr, lists.recall]
    };
    let [one, other] = [0, 1].map(of_seed);
    [0, 1].map(|place| (one[place] + other[place]) / 2.0)
}

#[test]
fn weights_put_true_links_first_where_most_links_are_weak_and_say_nothing() {
    let dataset = World { links_within: 0.3, strength: 20.0, ..World::weighted(1000, 3) }.dataset();
    let [ignored, used] = ["weights=ignore", "weights=log"].map(|how| quality(&dataset, &Protocol::Strict, how)[0]);
    assert!(used > 1.05 * ignored, "{used:.4} with weights, {ignored:.4} without");
}

#[test]
fn newer_links_help_where_topics_drift() {
    let dataset = World::drifting(800, 3).dataset();
    let temporal = Protocol::Temporal { column: None };
    let [without, with] = ["recency=none", "recency=slow"].map(|how| quality(&dataset, &temporal, how));
    let sum = |quality: [f64; 2]| quality[0] + quality[1];
    assert!(sum(with) > 1.03 * sum(without), "{with:.3?} with recency, {without:.3?} without");
}
