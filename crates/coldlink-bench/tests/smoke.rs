//! Every method once, from an experiment's file to its report, on a small graph with links that attributes tell.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use coldlink::synthetic::World;

/// Four topics whose nodes share words and link among themselves.
fn write_graph(folder: &Path) {
    let world = World {
        nodes: 240,
        topics: 4,
        links_within: 0.95,
        vocabulary: 48,
        words_of_topic: 12,
        words_per_node: 8,
        words_within: 0.8,
        ..World::default()
    };
    world.write_tables(folder).unwrap();
}

const QUICK: &str = "steps = 60, validate_every = 20, patience = 3, learning_rate = 0.01";

fn experiment(rows: &[&str], block: &str, protocol: &str, validation: &str) -> String {
    let settings = |row: &str| match row {
        "deal" | "deal-authors-code" => "steps = 300, validate_every = 50".to_owned(),
        "random" | "degree" | "cosine" | "tfidf" => String::new(),
        "seal" => format!("links = 200, training = {{ {QUICK} }}"),
        "g2g" => format!("hidden = 64, training = {{ {} }}", QUICK.replace("0.01", "0.003")),
        _ => format!("training = {{ {QUICK} }}"),
    };
    let rows: String = rows
        .iter()
        .map(|row| format!("[[rows]]\nname = \"{row}\"\nspace = \"none\"\nsettings = {{ {} }}\n", settings(row)))
        .collect();
    format!(
        "title = \"Small\"\nseeds = 1\nsets = [\"cora\", \"pubmed\"]\nreference = \"deal\"\n{rows}\
         [[blocks]]\nname = \"{block}\"\nlabel = \"One\"\nprotocol = \"{protocol}\"\nvalidation = \"{validation}\"\n"
    )
}

const INDUCTIVE: &[&str] =
    &["mlp", "citeomatic", "g2g", "gcn-deal", "deal", "deal-authors-code", "random", "degree", "cosine", "tfidf"];
const TRANSDUCTIVE: &[&str] =
    &["gat", "gcn", "gin", "sage", "citeomatic", "seal", "pgnn", "g2g", "gcn-deal", "deal-gcn", "deal-gat", "deal"];

fn bench(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_coldlink-bench"))
        .current_dir(folder)
        .args(arguments)
        .args(["--data", "data"])
        .output()
        .unwrap()
}

fn world() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("data/cora")).unwrap();
    write_graph(&folder.path().join("data/cora"));
    fs::write(folder.path().join("new.toml"), experiment(INDUCTIVE, "nodes", "deal2020", "nodes")).unwrap();
    fs::write(folder.path().join("known.toml"), experiment(TRANSDUCTIVE, "links", "transductive", "edges")).unwrap();
    folder
}

fn auc_of(rows: &str, method: &str) -> f64 {
    let mut reader = csv::Reader::from_reader(rows.as_bytes());
    let place = |name: &str, reader: &mut csv::Reader<&[u8]>| {
        reader.headers().unwrap().iter().position(|header| header == name).unwrap()
    };
    let (of_method, of_auc) = (place("method", &mut reader), place("auc", &mut reader));
    let row = reader.records().map(Result::unwrap).find(|row| &row[of_method] == method);
    row.unwrap_or_else(|| panic!("no row of {method}"))[of_auc].parse().unwrap()
}

#[test]
fn every_method_learns_and_every_report_is_written() {
    let world = world();
    for (experiment, methods, least) in [("new.toml", INDUCTIVE, 0.7), ("known.toml", TRANSDUCTIVE, 0.7)] {
        let out = format!("out-{experiment}");
        let run = bench(world.path(), &["run", experiment, "--out", &out, "--quiet"]);
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        let rows = fs::read_to_string(world.path().join(&out).join("rows.csv")).unwrap();
        for method in methods {
            let auc = auc_of(&rows, method);
            let bounds = match *method {
                "random" => 0.35..0.65,
                "degree" => 0.3..0.8,
                _ => least..1.0,
            };
            assert!(bounds.contains(&auc), "{experiment}, {method}: AUC {auc} is not in {bounds:?}");
        }
        let summary = fs::read_to_string(world.path().join(&out).join("summary.md")).unwrap();
        assert!(summary.contains("pubmed.npz") && summary.contains("prevalence"), "{summary}");
        assert!(summary.contains("none was searched for") && !summary.contains("searched by grids"), "{summary}");
        for file in ["report.html", "short.md", "curves.csv", "configurations.csv", "comparisons.csv"] {
            assert!(world.path().join(&out).join(file).exists(), "{file}");
        }
    }
}

#[test]
fn a_finished_cell_is_not_run_again_and_a_torn_row_is() {
    let world = world();
    let run = |arguments: &[&str]| {
        let mut all = vec!["run", "new.toml", "--out", "out", "--quiet", "--no-report", "--methods", "cosine,tfidf"];
        all.extend(arguments);
        bench(world.path(), &all)
    };
    assert!(run(&[]).status.success());
    let path = world.path().join("out/rows.csv");
    let whole = fs::read_to_string(&path).unwrap();
    // As a kill in the middle of a write would leave it.
    fs::write(&path, &whole[..whole.len() - 10]).unwrap();
    let again = run(&[]);
    assert_eq!(again.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&again.stderr).contains("--resume"));
    assert!(run(&["--resume"]).status.success());
    let columns = |text: &str| -> Vec<String> {
        text.lines().map(|line| line.split(',').take(6).collect::<Vec<_>>().join(",")).collect()
    };
    assert_eq!(columns(&fs::read_to_string(&path).unwrap()), columns(&whole));
}

#[test]
fn what_a_search_finds_is_what_a_run_uses() {
    let world = world();
    fs::create_dir_all(world.path().join("spaces")).unwrap();
    fs::write(world.path().join("spaces/few.toml"), "width = [2, 16]\nlearning_rate = [1e-9, 0.01]").unwrap();
    let text = experiment(&["deal", "cosine"], "nodes", "deal2020", "nodes").replacen("\"none\"", "\"few\"", 1);
    fs::write(world.path().join("searched.toml"), text).unwrap();
    let run = |out: &str| {
        let run = bench(world.path(), &["run", "searched.toml", "--out", out, "--quiet"]);
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        let read = |file: &str| fs::read_to_string(world.path().join(out).join(file)).unwrap();
        (read("configurations.csv"), read("summary.md"))
    };
    let (settings, summary) = run("before");
    assert!(!settings.contains("learning_rate") && summary.contains("settings were not searched"), "{summary}");
    assert!(bench(world.path(), &["tune", "searched.toml", "--jobs", "2", "--quiet"]).status.success());
    let winner = fs::read_to_string(world.path().join("tuned/searched/nodes-deal-cora.toml")).unwrap();
    assert!(winner.contains("best of 4 trials") && winner.contains("learning_rate = 0.01"), "{winner}");
    let trials = fs::read_to_string(world.path().join("tuned/searched/trials.csv")).unwrap();
    assert!(bench(world.path(), &["tune", "searched.toml", "--quiet"]).status.success());
    assert_eq!(fs::read_to_string(world.path().join("tuned/searched/trials.csv")).unwrap(), trials, "tried again");
    let (settings, summary) = run("after");
    assert!(settings.contains("learning_rate = 0.01") && !summary.contains("not searched"), "{settings}");
    assert!(summary.contains("searched by grids"), "{summary}");
    let resumed = bench(world.path(), &["run", "searched.toml", "--out", "before", "--resume", "--quiet"]);
    assert_eq!(resumed.status.code(), Some(2), "rows of two configurations would end in one mean");
}

#[test]
fn similarities_fall_with_distance() {
    let world = world();
    let text = experiment(&["deal"], "links", "transductive", "edges").replace(", \"pubmed\"", "");
    let text = format!("{text}[similarity]\ngammas = [1.0, 4.0]\nhops = 4\npairs = 500\n");
    fs::write(world.path().join("hops.toml"), text).unwrap();
    let run = bench(world.path(), &["run", "hops.toml", "--out", "out", "--quiet"]);
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let rows = fs::read_to_string(world.path().join("out/similarity.csv")).unwrap();
    assert_eq!(rows.lines().count(), 1 + 2 * 2 * 4);
    let cosine = |side: &str, hop: &str| -> f64 {
        let mut rows = rows.lines().map(|line| line.split(',').collect::<Vec<_>>());
        rows.find(|row| row[2] == "4.0" && row[3] == side && row[4] == hop).unwrap()[5].parse().unwrap()
    };
    assert!(cosine("structure", "1") > cosine("structure", "3"), "{rows}");
    for file in ["summary.md", "report.html", "similarity-structure.svg"] {
        assert!(world.path().join("out").join(file).exists(), "{file}");
    }
}

#[test]
fn mistakes_are_told_with_what_to_do() {
    let world = world();
    let refused = |arguments: &[&str], words: &[&str]| {
        let out = bench(world.path(), arguments);
        let text = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(2), "{text}");
        assert!(text.contains("hint: "), "{text}");
        for word in words {
            assert!(text.contains(word), "`{word}` is not in: {text}");
        }
    };
    let write = |name: &str, text: String| fs::write(world.path().join(name), text).unwrap();
    let good = experiment(&["deal", "cosine"], "nodes", "deal2020", "nodes");
    write("method.toml", good.replace("\"cosine\"", "\"cosinus\""));
    refused(&["run", "method.toml"], &["no method `cosinus`", "did you mean `cosine`"]);
    write("set.toml", good.replace("pubmed", "pubmet"));
    refused(&["run", "set.toml"], &["no data set `pubmet`", "`pubmed`"]);
    write("setting.toml", good.replace("steps = 300", "stepps = 300"));
    refused(&["run", "setting.toml"], &["`stepps`", "`steps`"]);
    refused(&["run", "new.toml", "--methods", "gcnn"], &["no row `gcnn`"]);
    refused(&["run", "new.toml", "--seeds", "0"], &["no split"]);
    refused(&["run", "new.toml", "--first-seed", "18446744073709551615", "--seeds", "0"], &["no split"]);
    refused(&["run", "nowhere.toml"], &["nowhere.toml"]);
    write("task.toml", experiment(&["deal", "gcn"], "nodes", "deal2020", "nodes"));
    refused(&["run", "task.toml"], &["`gcn`", "not seen"]);
    fs::create_dir_all(world.path().join("spaces")).unwrap();
    write("spaces/empty.toml", String::new());
    write("space.toml", good.replacen("\"none\"", "\"empty\"", 1));
    refused(&["tune", "space.toml"], &["names no setting"]);
    write("spaces/empty.toml", "widht = [1, 2]".to_owned());
    refused(&["tune", "space.toml"], &["spaces/empty.toml", "`widht`"]);
    assert!(
        bench(world.path(), &["run", "new.toml", "--out", "other", "--methods", "cosine", "--no-report"])
            .status
            .success()
    );
    refused(&["run", "known.toml", "--out", "other", "--resume"], &["holds the results of `new`"]);
    refused(&["run", "new.toml", "--out", "data"], &["not empty"]);
    refused(&["report", "new.toml", "typo"], &["holds no results"]);
    assert!(!world.path().join("typo").exists());
    write("twice.toml", experiment(&["deal", "cosine", "cosine"], "nodes", "deal2020", "nodes"));
    refused(&["run", "twice.toml"], &["`cosine` stands there twice"]);
    write("key.toml", good.replacen("space = \"none\"", "spase = \"none\"", 1));
    refused(&["run", "key.toml"], &["spase"]);
    write(
        "range.toml",
        experiment(&["deal", "mlp"], "nodes", "deal2020", "nodes").replace("training =", "width = 0, training ="),
    );
    refused(&["run", "range.toml"], &["`width`"]);
    let elsewhere = Command::new(env!("CARGO_BIN_EXE_coldlink-bench"))
        .current_dir(world.path())
        .args(["run", "new.toml", "--out", "nothing", "--data", "nowhere"])
        .output()
        .unwrap();
    assert_eq!(elsewhere.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&elsewhere.stderr).contains("no folder `nowhere`"));
    assert!(!world.path().join("nothing").exists() && !world.path().join("results").exists());
}
