//! Tables for tests, and what tests check.

use super::*;

pub fn ours(auc: f64, ap: f64) -> Ours {
    let spread = |mean| Spread { mean, sd: Some(0.008) };
    Ours {
        seeds: 5,
        auc: spread(auc),
        ap: spread(ap),
        prevalence: 0.315,
        mrr: None,
        steps: 900.0,
        parameters: 123_456.0,
        seconds: 40.2,
        mark: Some(Mark::Better),
        note: None,
    }
}

/// One method on Cora, which is here, and on PubMed, which is not.
pub fn table(cell: Cell) -> Table {
    let set = |label: &str, missing: Option<&str>| SetColumn {
        name: label.to_lowercase(),
        label: label.to_owned(),
        missing: missing.map(str::to_owned),
    };
    let absent = Cell { paper: Some(Paper { auc: 0.966, ap: 0.931 }), ..Cell::default() };
    let row = MethodRow { name: "deal".into(), label: "DEAL".into(), cells: vec![cell, absent] };
    Table {
        name: "inductive".into(),
        title: "Links of new nodes".into(),
        about: vec!["Made by `cargo bench`.".into()],
        sets: vec![set("Cora", None), set("PubMed", Some("no file of it was found"))],
        blocks: vec![Block { label: "Paper".into(), about: String::new(), rows: vec![row] }],
    }
}

pub fn compared(paper: f64, auc: f64) -> Cell {
    Cell { paper: Some(Paper { auc: paper, ap: 0.804 }), ours: Some(ours(auc, 0.812)), empty: None }
}

pub fn without_ours(reason: &str) -> Cell {
    Cell { empty: Some(reason.to_owned()), ..Cell::default() }
}

/// Tables with nothing in them, at each level.
pub fn empty_tables() -> [Table; 4] {
    let full = table(Cell::default());
    let mut no_cells = full.clone();
    no_cells.blocks[0].rows[0].cells.clear();
    let no_sets = Table { sets: Vec::new(), ..full.clone() };
    let no_blocks = Table { blocks: Vec::new(), ..full.clone() };
    [full, no_cells, no_sets, no_blocks]
}

pub fn check_contains(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "no `{part}` in {text}");
    }
}
