//! `coldlink evaluate --scores`: somebody's method on a split of coldlink's.

mod common;

use common::{Folder, QUICK};
use serde_json::Value;

/// The test pairs of a split, each as source, target and whether they are linked.
fn test_pairs(folder: &Folder) -> Vec<[String; 3]> {
    let text = String::from_utf8(folder.read("split/test.csv")).unwrap();
    let row = |line: &str| {
        let cells: Vec<String> = line.split(',').map(str::to_owned).collect();
        cells.try_into().unwrap()
    };
    text.lines().skip(1).map(row).collect()
}

fn json(folder: &Folder, line: &str) -> Value {
    serde_json::from_str(&folder.check(line)).unwrap()
}

#[test]
fn a_method_is_measured_beside_baselines_that_are_those_of_evaluate() {
    let folder = Folder::new();
    folder.check("split papers -o split");
    let mut rows = "source,target,score\n".to_owned();
    test_pairs(&folder).iter().for_each(|[source, target, linked]| rows += &format!("{target},{source},{linked}\n"));
    folder.write("mine.csv", rows);
    let line = "evaluate papers --protocol split --scores mine.csv";
    let done = folder.run(line);
    assert_eq!(done.code, 0, "{}", done.err);
    for part in [
        "mine.csv on papers: 90 nodes",
        "audit passed",
        "\n your method    1.000  1.000  50.0 %",
        "\n your method less",
        "95 % intervals",
    ] {
        assert!(done.out.contains(part), "{part} is not in\n{}", done.out);
    }
    assert!(done.err.contains("note: lists are not measured: ") && done.err.contains("have no score"), "{}", done.err);
    let report = json(&folder, &format!("{line} --json"));
    assert_eq!(
        (&report["auc"], &report["audit"], &report["method"]),
        (&1.0.into(), &"passed".into(), &"mine.csv".into())
    );
    let trained =
        json(&folder, &format!("evaluate papers --protocol split --rank-baselines --json {}", QUICK.join(" ")));
    for baseline in ["knn", "tfidf", "cosine", "degree", "random"] {
        assert_eq!(report["baselines"][baseline]["auc"], trained["baselines"][baseline]["auc"], "{baseline}");
    }
    let difference = &report["baselines"]["random"]["difference"]["auc"];
    assert!(
        difference["interval"][0].as_f64().unwrap() > 0.0 && difference["p"].as_f64().unwrap() < 0.05,
        "{difference}"
    );
}

#[test]
fn lists_of_predict_can_be_measured() {
    let folder = Folder::new();
    folder.check("split papers -o split");
    let hidden = String::from_utf8(folder.read("split/hidden.csv")).unwrap();
    let test: Vec<&str> = hidden.lines().filter_map(|line| line.strip_suffix(",test")).collect();
    // What somebody would do: train on the training links, and ask for the hidden nodes.
    let nodes = String::from_utf8(folder.read("papers/nodes.csv")).unwrap();
    let is_test = |line: &&str| test.contains(&line.split(',').next().unwrap());
    let of = |wanted: bool| nodes.lines().skip(1).filter(|line| is_test(line) == wanted).collect::<Vec<_>>().join("\n");
    folder.write("known/nodes.csv", format!("id,words,old\n{}\n", of(false)));
    folder.write("tests.csv", format!("id,words,old\n{}\n", of(true)));
    let train = String::from_utf8(folder.read("split/train.csv")).unwrap();
    let links: Vec<String> = train.lines().map(|line| line.rsplit_once(',').unwrap().0.to_owned()).collect();
    folder.write("known/edges.csv", links.join("\n"));
    folder.check(&format!("train known -o known.model {}", QUICK.join(" ")));
    folder.check("predict known.model --new tests.csv --top 20 -o lists.csv");
    let report = json(&folder, "evaluate papers --protocol split --scores lists.csv --json");
    assert!(report["auc"].is_null() && report["mrr"].as_f64().unwrap() > 0.0, "{report}");
    assert!(report["baselines"]["knn"]["auc"].is_number() && report["baselines"]["knn"]["difference"]["auc"].is_null());
    let done = folder.run("evaluate papers --protocol split --scores lists.csv");
    assert!(
        done.err.contains("note: lists show 20 candidates: a true link beyond them counts as not found"),
        "{}",
        done.err
    );
    assert!(done.out.contains("\n your method        –") && !done.out.contains("guessing"), "{}", done.out);
}

#[test]
fn scores_that_do_not_fit_are_errors() {
    let folder = Folder::new();
    folder.check("split papers -o split");
    let check = |table: &str, parts: &[&str]| {
        folder.write("mine.csv", table);
        let done = folder.run("evaluate papers --protocol split --scores mine.csv");
        assert_eq!((done.code, &done.out[..]), (2, ""), "{table}\n{}", done.err);
        parts.iter().for_each(|part| assert!(done.err.contains(part), "{part} is not in\n{}", done.err));
    };
    let [source, target, _] = &test_pairs(&folder)[0];
    check(
        &format!("source,target,score\n{source},{target},1\n"),
        &["cannot measure `mine.csv`", "test pairs have no score, such as `p", "hint: score every pair of `test.csv`"],
    );
    check("source,target,score\np1,moon,1\n", &["`mine.csv` line 2: there is no node `moon` in the graph", "hint: "]);
    check(
        "source,target,weight\np1,p2,1\n",
        &["`mine.csv`: there is no column `score`", "`source,rank,target` for ranked lists"],
    );
    check(
        "source,rank,target\np1,x,p2\n",
        &["line 2: column `rank` must hold whole numbers from 1, got `x`", "hint: "],
    );
    for line in ["evaluate papers --scores mine.csv --set width=3", "evaluate papers --scores mine.csv --seeds 2"] {
        assert!(folder.run(line).code == 2, "{line}");
    }
}
