//! `coldlink evaluate --model`: how well a trained model finds links that it was not told of.

use std::path::Path;

use coldlink::dataset::GivenLink;
use coldlink::evaluate::{HITS, HeldOutReport, ListCalibration, MethodResult, Rates};
use coldlink::load::{LoadError, load_held_out_links};
use coldlink::model::QueryError;
use coldlink::pipeline::HeldOut;

use super::Common;
use super::evaluate::{roles, sample_text};
use crate::input::{NewOptions, load_new_nodes, open_model};
use crate::output::{note, print, print_json};
use crate::tables::{Columns, count, metric, percent, whole};

/// What is asked for.
pub struct HeldOutLinks<'a> {
    /// The model.
    pub model: &'a Path,
    /// The links.
    pub links: &'a Path,
    /// Rows of new nodes that they name.
    pub new: Option<&'a Path>,
    /// Where unlinked pairs come from.
    pub seed: u64,
    /// Whether to print JSON.
    pub json: bool,
}

/// Measures, prints, and yields the AUC.
pub fn run(asked: &HeldOutLinks<'_>, common: &Common) -> anyhow::Result<Option<f64>> {
    let model = open_model(asked.model)?;
    let (lines, links): (Vec<u64>, Vec<GivenLink>) = load_held_out_links(asked.links)?.into_iter().unzip();
    let new = asked.new.map(|path| load_new_nodes(path, &model, &NewOptions::default(), common)).transpose()?;
    let held_out = HeldOut { model: &model, new, links: &links, seed: asked.seed };
    let report = held_out.run().map_err(|error| match error {
        coldlink::Error::Query(QueryError::Link { link, problem }) => {
            let path = asked.links.to_owned();
            LoadError::Line { path, line: lines[link - 1], problem: problem.into() }.into()
        }
        error @ coldlink::Error::HeldOut(_) => {
            anyhow::Error::from(error).context(format!("cannot measure `{}`", asked.links.display()))
        }
        other => other.into(),
    })?;
    if asked.json {
        print_json(&report)?;
    } else {
        if !common.quiet {
            report.notes.iter().for_each(note);
        }
        print(text(&report, asked))?;
    }
    Ok(report.model.measures.auc)
}

fn text(report: &HeldOutReport, asked: &HeldOutLinks<'_>) -> String {
    let known = report.questions - report.new_questions;
    let who = match (report.new_questions, known) {
        (new, 0) => count(new, "new node"),
        (0, known) => count(known, "known node"),
        (new, known) => format!("{} and {}", count(new, "new node"), count(known, "known node")),
    };
    let [fewest, most] = report.candidates;
    let among = if fewest == most { whole(most) } else { format!("{} to {}", whole(fewest), whole(most)) };
    let (links, path, model) = (count(report.links, "link"), asked.links.display(), asked.model.display());
    let mut text = format!("{path}: {links} of {who} that {model} was not trained on\n");
    text.push_str(&format!("each node ranks {among} candidates\n\n{}\n{}", methods(report), cut_offs(report)));
    if !report.roles.is_empty() {
        text.push_str(&format!("\n{}", roles(&report.roles)));
    }
    if let Some(calibration) = &report.calibration {
        text.push_str(&format!("\n{}", probabilities(calibration)));
        let (base_rate, ece) = (percent(calibration.base_rate), calibration.ece);
        text.push_str(&format!(
            "probabilities hold for the share of linked pairs in the training graph, {base_rate}; over all candidates of {} they are off \
             by {} on average (expected calibration error)\n",
            count(calibration.questions, "list"),
            percent(ece),
        ));
    }
    if let Some(sample) = &report.sample {
        text.push_str(&sample_text(sample));
    }
    let seed = asked.seed;
    text.push_str(&format!(
        "AUC and AP: for each link, one unlinked candidate of the same node is drawn (seed {seed})\n"
    ));
    text
}

/// Every method that was asked, by its name.
fn all(report: &HeldOutReport) -> Vec<(&'static str, &MethodResult)> {
    let baselines = &report.baselines;
    let named = [
        ("coldlink", Some(&report.model)),
        ("kNN votes", baselines.knn.as_ref()),
        ("tf-idf cosine", baselines.tfidf.as_ref()),
        ("degree", baselines.degree.as_ref()),
        ("random", Some(&baselines.random)),
    ];
    named.into_iter().filter_map(|(name, result)| Some((name, result?))).collect()
}

fn methods(report: &HeldOutReport) -> Columns {
    let mut table = Columns::new(["method", "AUC", "AP", "linked", "MRR", "first hit", "NDCG@10", "recall@10"]);
    for (name, result) in all(report) {
        let MethodResult { measures, mrr, first_hit, recall, ndcg, .. } = result;
        let linked = measures.prevalence.map_or_else(|| "–".to_owned(), percent);
        let [auc, ap] = [measures.auc, measures.ap].map(|value| metric(value, None));
        let lists = [*mrr, *first_hit, ndcg.at(10), recall.at(10)].map(|value| metric(value, None));
        table.row([name.to_owned(), auc, ap, linked].into_iter().chain(lists));
    }
    table
}

fn cut_offs(report: &HeldOutReport) -> Columns {
    let header = |name: &str| HITS.map(|k| format!("{name}@{k}"));
    let mut table = Columns::new([vec!["method".to_owned()], header("recall").into(), header("NDCG").into()].concat());
    for (name, MethodResult { recall, ndcg, .. }) in all(report) {
        let values = [recall, ndcg].into_iter().flat_map(|of| HITS.map(|k| metric(of.at(k), None)));
        table.row([name.to_owned()].into_iter().chain(values));
    }
    table
}

fn probabilities(ListCalibration { candidates, listed, .. }: &ListCalibration) -> Columns {
    let mut table = Columns::new(["probabilities of", "pairs", "predicted", "linked"]);
    let mut row = |name: &str, Rates { pairs, predicted, observed }: &Rates| {
        table.row([name.to_owned(), whole(*pairs), percent(*predicted), percent(*observed)]);
    };
    row("all candidates", candidates);
    if let Some(listed) = listed {
        row("the ten best of each list", listed);
    }
    table
}
