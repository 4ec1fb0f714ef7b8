//! `coldlink evaluate --model`: a trained model on links of one's own.

mod common;

use common::Folder;
use serde_json::Value;

fn folder() -> Folder {
    let folder = Folder::new();
    assert_eq!(folder.train("papers.model", "").code, 0);
    folder
}

/// A link of `papers/`.
fn trained_on(folder: &Folder) -> String {
    String::from_utf8(folder.read("papers/edges.csv")).unwrap().lines().nth(1).unwrap().to_owned()
}

#[test]
fn a_trained_model_is_measured_beside_trivial_methods() {
    let folder = folder();
    let links = format!("source,target\nfresh,p1\nfresh,p4\nodd,p2\n{}\nfresh,p1\n", trained_on(&folder));
    folder.write("truth.csv", links);
    let done = folder.run("evaluate --model papers.model --links truth.csv --new new.csv");
    assert_eq!(done.code, 0, "{}", done.err);
    for part in [
        "truth.csv: 3 links of 2 new nodes",
        "each node ranks 90 candidates",
        "\n coldlink ",
        "\n kNN votes ",
        "\n tf-idf cosine ",
    ] {
        assert!(done.out.contains(part), "{part} is not in\n{}", done.out);
    }
    for part in ["NDCG@10", "recall@50", "the ten best of each list", "expected calibration error", "(seed 0)"] {
        assert!(done.out.contains(part), "{part} is not in\n{}", done.out);
    }
    let notes =
        ["note: left out 1 link that the model was trained on", "note: left out 1 link that the table has already"];
    notes.iter().for_each(|note| assert!(done.err.contains(note), "{note} is not in\n{}", done.err));
    let json = folder.check("evaluate --model papers.model --links truth.csv --new new.csv --json");
    let report: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&report["links"], &report["left_out"]["trained_on"]), (&3.into(), &1.into()));
    for method in [&report["model"], &report["baselines"]["knn"], &report["baselines"]["random"]] {
        for key in ["auc", "ap", "prevalence", "mrr", "first_hit", "recall@100", "ndcg@10", "hits@1"] {
            assert!(method[key].is_number(), "no `{key}` in {method}");
        }
    }
    assert!(report["calibration"]["candidates"]["predicted"].is_number(), "{report}");
    let missed = folder.run("evaluate --model papers.model --links truth.csv --new new.csv --min-auc 1.1");
    assert!(missed.code == 1 && missed.err.contains("below `--min-auc 1.1`"), "{}", missed.err);
}

#[test]
fn links_that_cannot_be_looked_for_are_errors() {
    let folder = folder();
    let check = |table: &str, parts: &[&str]| {
        folder.write("truth.csv", table);
        let done = folder.run("evaluate --model papers.model --links truth.csv --new new.csv");
        assert_eq!((done.code, &done.out[..]), (2, ""), "{table}\n{}", done.err);
        parts.iter().for_each(|part| assert!(done.err.contains(part), "{part} is not in\n{}", done.err));
    };
    check(
        "source,target\nfresh,p1\nfresh,moon\n",
        &["`truth.csv` line 3: there is neither a new node nor a known one `moon`", "hint: "],
    );
    check("source,target\n", &["cannot measure `truth.csv`", "there are no links to look for", "hint: "]);
    check("fresh,p1\n", &["`truth.csv`: there is no column `source`", "hint: start with a line of column names"]);
    check("source,target,relation\nfresh,p1,likes\n", &["`truth.csv` line 2: there is no relation `likes`", "hint: "]);
    let only = format!("source,target\n{}\n", trained_on(&folder));
    check(&only, &["none of 1 links is left to look for: 1 link that the model was trained on"]);
    for line in [
        "evaluate --model papers.model",
        "evaluate --links truth.csv",
        "evaluate papers --model papers.model --links truth.csv",
        "evaluate",
    ] {
        assert_eq!(folder.run(line).code, 2, "{line}");
    }
}
