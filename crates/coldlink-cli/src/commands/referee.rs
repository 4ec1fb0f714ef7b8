//! `coldlink evaluate --scores`: a method that coldlink has never heard of, on a split.

use std::path::PathBuf;

use coldlink::dataset::Dataset;
use coldlink::evaluate::bootstrap::Difference;
use coldlink::evaluate::{BaselineTable, Compared, Differences, Metrics, RefereeReport};
use coldlink::load::{ScoreTable, load_scores};
use coldlink::pipeline::{Referee, Refereed};
use coldlink::split::Protocol;

use super::Common;
use super::evaluate::{roles, sample_text};
use crate::output::{note, print, print_json};
use crate::tables::{Columns, metric, percent, whole};

/// What is asked for.
pub struct Scores<'a> {
    /// Tables of scores.
    pub files: &'a [PathBuf],
    /// Which test set.
    pub protocol: &'a Protocol,
    /// The seed of the split, where it is not given as files.
    pub seed: u64,
    /// Whether to print JSON.
    pub json: bool,
}

/// Measures, prints, and yields the report with its audit.
pub fn run(scores: &Scores<'_>, dataset: &Dataset, common: &Common) -> anyhow::Result<Refereed> {
    let tables: Vec<ScoreTable> =
        scores.files.iter().map(|path| load_scores(path, dataset)).collect::<Result<_, _>>()?;
    let names: Vec<String> = scores.files.iter().map(|path| path.display().to_string()).collect();
    let method = names.join(" and ");
    let referee = Referee { seed: scores.seed, ..Referee::new(dataset, scores.protocol, &method) };
    let refereed = referee.run(tables).map_err(|error| match error {
        error @ coldlink::Error::Referee(_) => anyhow::Error::from(error).context(format!("cannot measure `{method}`")),
        other => other.into(),
    })?;
    if scores.json {
        print_json(&refereed.report)?;
        return Ok(refereed);
    }
    if !common.quiet {
        refereed.report.notes.iter().for_each(note);
    }
    print(text(&refereed))?;
    Ok(refereed)
}

fn text(Refereed { report, audit }: &Refereed) -> String {
    let RefereeReport { method, dataset, protocol, nodes, edges, attributes, result, .. } = report;
    let size = format!("{} nodes, {} links, {} attributes", whole(*nodes), whole(*edges), whole(*attributes));
    let mut text = format!("{method} on {dataset}: {size}\nprotocol {protocol}\naudit {audit}\n\n{}", methods(report));
    if result.metrics.pooled.pairs > 0 && result.metrics.cold_warm.is_some() {
        text.push_str(&format!("\n{}", classes(&result.metrics)));
    }
    if !result.roles.is_empty() {
        text.push_str(&format!("\n{}", roles(&result.roles)));
    }
    text.push_str(&format!("\n{}", differences(&result.baselines)));
    text.push_str("95 % intervals of a paired bootstrap over the nodes that ask; a star marks those without zero\n");
    if let Some(sample) = &result.sample {
        text.push_str(&sample_text(sample));
    }
    if let Some(prevalence) = result.metrics.pooled.prevalence {
        let prevalence = percent(prevalence);
        text.push_str(&format!("AP depends on the share of linked pairs: guessing gets {prevalence} here.\n"));
    }
    text
}

/// Every baseline by its name.
fn named(baselines: &BaselineTable<Compared>) -> [(&'static str, &Compared); 5] {
    let BaselineTable { random, degree, cosine, tfidf, knn } = baselines;
    [("kNN votes", knn), ("tf-idf cosine", tfidf), ("cosine", cosine), ("degree", degree), ("random", random)]
}

fn methods(report: &RefereeReport) -> Columns {
    let mut table =
        Columns::new(["method", "AUC", "AP", "linked", "MRR", "NDCG@10", "Hits@10", "recall@10", "first hit"]);
    let mut row = |name: &str, metrics: &Metrics| {
        let Metrics { pooled, mrr, hits, recall_at_10, ndcg_at_10, first_hit, .. } = metrics;
        let linked = pooled.prevalence.map_or_else(|| "–".to_owned(), percent);
        let pairs = [metric(pooled.auc, None), metric(pooled.ap, None), linked];
        let lists = [*mrr, *ndcg_at_10, hits.at_10, *recall_at_10, *first_hit].map(|value| metric(value, None));
        table.row([name.to_owned()].into_iter().chain(pairs).chain(lists));
    };
    row("your method", &report.result.metrics);
    named(&report.result.baselines).into_iter().for_each(|(name, baseline)| row(name, &baseline.metrics));
    table
}

/// Cold-warm and cold-cold pairs apart.
fn classes(metrics: &Metrics) -> Columns {
    let mut table = Columns::new(["your method on", "AUC", "AP", "linked", "pairs"]);
    for (name, measures) in [("cold-warm", metrics.cold_warm), ("cold-cold", metrics.cold_cold)] {
        let Some(measures) = measures else { continue };
        let linked = measures.prevalence.map_or_else(|| "–".to_owned(), percent);
        table.row([
            name.to_owned(),
            metric(measures.auc, None),
            metric(measures.ap, None),
            linked,
            whole(measures.pairs),
        ]);
    }
    table
}

/// How much better the method is than each baseline.
fn differences(baselines: &BaselineTable<Compared>) -> Columns {
    let mut table = Columns::new(["your method less", "AUC", "AP", "MRR"]);
    for (name, Compared { difference: Differences { auc, ap, mrr }, .. }) in named(baselines) {
        table.row([name.to_owned()].into_iter().chain([auc, ap, mrr].map(with_interval)));
    }
    table
}

fn with_interval(difference: &Option<Difference>) -> String {
    let Some(Difference { difference, interval: (least, most), .. }) = difference else { return "–".to_owned() };
    let star = if *least > 0.0 || *most < 0.0 { "*" } else { " " };
    format!("{difference:+.3} ({least:+.3} to {most:+.3}){star}")
}
