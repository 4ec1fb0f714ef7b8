//! `coldlink evaluate`: how good models are on links they have not seen, beside trivial methods.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use coldlink::evaluate::{
    About, BaselineSummary, Calibration, Deviation, FewLinks, Lists, Pool, PoolShare, Pools, Report, RoleResult,
    Sample, SeedResult, Summary,
};
use coldlink::pipeline::{Evaluated, Evaluation};
use coldlink::split::{Audit, AuditStatus, Protocol};
use coldlink::storage::write_atomically;
use coldlink::train::TrainError;
use coldlink::tune::TuneError;
use coldlink_chart::{Line, LineChart, ReliabilityBin};

use super::held_out::{self, HeldOutLinks};
use super::referee::{self, Scores};
use super::{Common, seeds, share};
use crate::failure::Failure;
use crate::files::Files;
use crate::input::GraphArgs;
use crate::interrupt;
use crate::output::{print, print_json};
use crate::progress::Progress;
use crate::settings::SettingsArgs;
use crate::tables::{Columns, count, metric, percent, whole};

/// Measure accuracy on links the model has not seen, beside trivial baselines
#[derive(Args)]
#[command(mut_arg("graph", |graph| graph.required_unless_present("model")))]
#[command(after_help = "\
Examples:
  coldlink evaluate papers/
  coldlink evaluate papers/ --protocol deal2020 --preset paper --seeds 10
  coldlink evaluate papers/ --seeds 5 --json --min-auc 0.9
  coldlink evaluate papers/ --protocol few:5 --curve few.svg
  coldlink evaluate --model papers.model --links truth.csv --new tomorrow.csv
  coldlink evaluate papers/ --protocol papers-split --scores mine.csv

With `--model` nothing is trained: the model is asked for links of yours, a table with the columns
source,target and, where links have several relations, relation. New nodes, whose rows are in
`--new`, ask for their known ends; of two known nodes the source asks. Links that the model was
trained on are left out.

With `--scores` nothing is trained either: a method of yours that was trained on a split is measured
on its test set, beside the baselines and compared with each. Pairs with scores must have all pairs
of test.csv; where all candidates have scores, lists are measured as well. Ranked lists, such as
`coldlink predict` writes, give the metrics of lists alone.

Protocols:
  strict        a tenth of the nodes is new; one negative for each of their links (the default)
  temporal      the newest tenth of the nodes is new: those that appear last in links with times, or
                else by the only column of dates; or by a column of the nodes: `temporal:year`
  temporal:links  the newest tenth of the links, between nodes that are known from older ones
  few:K         as strict, but each test node keeps K of its links, of fewer all but one, which the
                model is told with its question; lists are measured with 0, 1, 2, 5 of them up to K
  deal2020      the split that the authors of the paper used
  transductive  a tenth of the links between known nodes
  a path        a folder that `coldlink split` wrote, or an .npz file with the arrays train_pos,
                val_pos, val_neg, test_pos, test_neg and, where nodes are new, hidden")]
pub struct Evaluate {
    /// Which test set: strict, temporal, temporal:links, few:K, deal2020, transductive, or the path of a split
    #[arg(long, default_value = "strict", value_name = "NAME|PATH")]
    protocol: String,
    /// Measure this trained model on links of your own instead
    #[arg(long, value_name = "MODEL", requires = "links", conflicts_with_all = OF_GRAPHS.iter().chain(&OF_TRAINING))]
    model: Option<PathBuf>,
    /// Links to look for: a table with the columns source,target and perhaps relation
    #[arg(long, value_name = "FILE", requires = "model")]
    links: Option<PathBuf>,
    /// Rows of new nodes that these links name
    #[arg(long, value_name = "FILE", requires = "model")]
    new: Option<PathBuf>,
    /// Measure a method of yours instead of training: a table source,target,score of pairs, or source,rank,target of ranked lists;
    /// may be given twice, for both
    #[arg(long, value_name = "FILE", conflicts_with_all = OF_TRAINING)]
    scores: Vec<PathBuf>,
    /// Number of seeds: one split, training and test each
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    seeds: u64,
    /// First seed
    #[arg(long, default_value_t = 0, value_name = "SEED", visible_alias = "seed", value_parser = seeds())]
    first_seed: u64,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Rank all candidates by the baselines too, for their MRR and Hits@10
    #[arg(long)]
    rank_baselines: bool,
    /// Popularity weight: 1 ranks as scored, 0 ranks as if popularity had no effect; presets without fitted terms ignore it
    #[arg(long, value_name = "SHARE", default_value_t = 1.0, value_parser = share)]
    popularity: f32,
    /// Write a reliability diagram (SVG): predicted probabilities against observed links
    #[arg(long, value_name = "FILE.svg")]
    reliability: Option<PathBuf>,
    /// Draw MRR over the number of links that new nodes have (SVG); needs the protocol `few:K`
    #[arg(long, value_name = "FILE.svg")]
    curve: Option<PathBuf>,
    /// Evaluate even if the leakage audit fails
    #[arg(long)]
    accept_audit: bool,
    /// Exit with code 1 if the mean AUC is below this
    #[arg(long, value_name = "AUC")]
    min_auc: Option<f64>,
    #[command(flatten)]
    settings: SettingsArgs,
    #[command(flatten)]
    graph: GraphArgs,
}

/// What is about training, without which there is no use for it.
const OF_TRAINING: [&str; 11] = [
    "seeds",
    "rank_baselines",
    "popularity",
    "reliability",
    "curve",
    "preset",
    "budget",
    "config",
    "set",
    "validation",
    "objective",
];
/// What is about graphs and their splits, apart from that.
const OF_GRAPHS: [&str; 6] = ["graph", "nodes", "edges", "protocol", "accept_audit", "scores"];

impl Evaluate {
    /// What it reads and writes.
    pub fn files(&self) -> Files {
        let files = self.graph.files(self.settings.files(Files::default())).reads_protocol(&self.protocol);
        let files = files.reads_any([&self.model, &self.links, &self.new].into_iter().flatten().chain(&self.scores));
        files.writes_any(&self.reliability).writes_any(&self.curve)
    }
}

/// Runs the command.
pub fn run(args: &Evaluate, common: &Common) -> anyhow::Result<()> {
    if let (Some(model), Some(links)) = (&args.model, &args.links) {
        let (new, seed, json) = (args.new.as_deref(), args.first_seed, args.json);
        let auc = held_out::run(&HeldOutLinks { model, links, new, seed, json }, common)?;
        return check_auc(auc, args.min_auc);
    }
    let protocol = args.protocol.parse::<Protocol>()?;
    let settings = args.settings.resolve()?.under(&protocol)?;
    if args.reliability.is_some() && (settings.config.terms.is_empty() || args.popularity < 1.0) {
        let failure = Failure::new("there are no probabilities to plot");
        let hint = "omit `--reliability`, or use a preset that fits the score, without `--popularity`";
        return Err(failure.hint(hint).into());
    }
    if args.curve.is_some() && !matches!(protocol, Protocol::Few { .. } | Protocol::Files(_)) {
        let failure = Failure::new(format!("there is no curve to draw: under `{protocol}` new nodes have no links"));
        return Err(failure.hint("omit `--curve`, or use `--protocol few:5`").into());
    }
    let dataset = args.graph.load(common)?;
    if !args.scores.is_empty() {
        let scores = Scores { files: &args.scores, protocol: &protocol, seed: args.first_seed, json: args.json };
        let refereed = referee::run(&scores, &dataset, common)?;
        check_audit(&refereed.audit, args.accept_audit)?;
        return check_auc(refereed.report.result.metrics.pooled.auc, args.min_auc);
    }
    let evaluation = Evaluation {
        dataset: &dataset,
        protocol: &protocol,
        settings: &settings,
        first_seed: args.first_seed,
        seeds: args.seeds,
        popularity: args.popularity,
        rank_baselines: args.rank_baselines,
    };
    interrupt::watch();
    let mut progress = Progress::new(common.quiet);
    let Evaluated { record, audit } = evaluation.run(&mut progress).map_err(|error| match error {
        coldlink::Error::Train(TrainError::Stopped { .. })
        | coldlink::Error::Tune(TuneError::Train(TrainError::Stopped { .. })) => {
            stopped(progress.seeds_done(), args.seeds)
        }
        other => other.into(),
    })?;
    let report = &record.report;
    if args.json {
        print_json(&record)?;
    } else {
        print(report_text(report, &audit))?;
        if args.popularity < 1.0 {
            print(format!("scores with popularity turned down to {}\n", args.popularity))?;
        }
    }
    if let Some(path) = &args.reliability {
        write_reliability(path, report)?;
    }
    if let Some(path) = &args.curve {
        write_curve(path, report)?;
    }
    check_audit(&audit, args.accept_audit)?;
    check_auc(report.mean.pooled.auc, args.min_auc)
}

/// Draws the probabilities of all seeds together.
fn write_reliability(path: &Path, report: &Report) -> anyhow::Result<()> {
    let calibrations: Vec<&Calibration> = report.seeds.iter().filter_map(|seed| seed.calibration.as_ref()).collect();
    if calibrations.is_empty() {
        let failure = Failure::new(
            "there are no probabilities to plot: too few validation pairs to fit the weights of the score",
        );
        return Err(failure.hint("omit `--reliability`, or use a larger graph").into());
    }
    let mut bins: Vec<ReliabilityBin> = calibrations
        .iter()
        .flat_map(|calibration| &calibration.bins)
        .map(|bin| ReliabilityBin { predicted: bin.predicted, observed: bin.observed, pairs: bin.pairs })
        .collect();
    bins.sort_by(|a, b| a.predicted.total_cmp(&b.predicted));
    let bins = merged(bins, 15);
    let error = report.mean.ece.unwrap_or(f64::NAN);
    let title = format!("{}, {}: probabilities on test pairs", report.about.dataset, report.about.protocol);
    let picture = coldlink_chart::reliability(&title, &bins, error);
    write_atomically(path, |out| out.write_all(picture.as_bytes()))
        .with_context(|| format!("cannot write `{}`", path.display()))
}

/// Draws MRR over the number of given links.
fn write_curve(path: &Path, report: &Report) -> anyhow::Result<()> {
    let About { dataset, protocol, .. } = &report.about;
    if report.few.is_empty() {
        let failure =
            Failure::new("there is no curve to draw: no test node kept a link, or the preset has no fitted terms");
        return Err(failure.hint("omit `--curve`, or use a preset that fits the score").into());
    }
    let line = |label: &str, lists: fn(&FewLinks) -> &Lists| Line {
        label: label.to_owned(),
        points: report.few.iter().filter_map(|few| Some((few.links as f64, lists(few).mrr?))).collect(),
    };
    let picture = coldlink_chart::lines(&LineChart {
        title: format!("{dataset}, {protocol}: new nodes with a few links"),
        x_label: "links that a new node has".to_owned(),
        y_label: "MRR of its other links".to_owned(),
        lines: vec![line("coldlink", |few| &few.lists), line("kNN votes", |few| &few.knn)],
    });
    write_atomically(path, |out| out.write_all(picture.as_bytes()))
        .with_context(|| format!("cannot write `{}`", path.display()))
}

/// Bins of several seeds as those of one: bins of equal width, pairs counted together.
fn merged(bins: Vec<ReliabilityBin>, count: usize) -> Vec<ReliabilityBin> {
    let place = |bin: &ReliabilityBin| ((bin.predicted * count as f64) as usize).min(count - 1);
    let groups = bins.chunk_by(|a, b| place(a) == place(b));
    let together = groups.map(|group| {
        let pairs: usize = group.iter().map(|bin| bin.pairs).sum();
        let mean = |value: fn(&ReliabilityBin) -> f64| {
            group.iter().map(|bin| value(bin) * bin.pairs as f64).sum::<f64>() / pairs as f64
        };
        ReliabilityBin { predicted: mean(|bin| bin.predicted), observed: mean(|bin| bin.observed), pairs }
    });
    together.collect()
}

fn stopped(done: u64, seeds: u64) -> anyhow::Error {
    Failure::stopped(format!("stopped after {done} of {}; nothing was saved", count(seeds as usize, "seed"))).into()
}

fn check_audit(audit: &Audit, accepted: bool) -> anyhow::Result<()> {
    if audit.status() != AuditStatus::Failed || accepted {
        return Ok(());
    }
    let failure = Failure::missed(format!("the leakage audit {audit}"));
    Err(failure.hint("correct the split, or evaluate it anyway with `--accept-audit`").into())
}

fn check_auc(auc: Option<f64>, wanted: Option<f64>) -> anyhow::Result<()> {
    let Some(wanted) = wanted else { return Ok(()) };
    match auc {
        Some(auc) if auc >= wanted => Ok(()),
        Some(auc) => Err(Failure::missed(format!("the AUC is {auc:.4}, below `--min-auc {wanted}`")).into()),
        None => Err(Failure::missed(format!("there is no AUC to compare with `--min-auc {wanted}`")).into()),
    }
}

/// The report as it is read on a terminal.
pub fn report_text(report: &Report, audit: &Audit) -> String {
    let About { dataset, protocol, preset, validation, nodes, edges, attributes, deviation, .. } = &report.about;
    let seeds = report.seeds.len();
    let over = match (seeds, deviation) {
        (1, _) => String::new(),
        (_, Deviation::Splits) => format!(", mean ± sd over {seeds} splits"),
        (_, Deviation::Initialisation) => format!(", mean ± sd over {seeds} initialisations of one split"),
    };
    let size = format!("{} nodes, {} links, {} attributes", whole(*nodes), whole(*edges), whole(*attributes));
    let mut text = format!("{dataset}: {size}\nprotocol {protocol}, preset {preset}, selected on {validation}{over}\n");
    text.push_str(&format!("audit {audit}\n\n{}", methods(report)));
    if report.mean.cold_warm.is_some() || report.mean.cold_cold.is_some() {
        text.push_str(&format!("\n{}", kinds(&report.mean, &report.sd)));
    }
    if !report.roles.is_empty() {
        text.push_str(&format!("\n{}", roles(&report.roles)));
    }
    if !report.few.is_empty() {
        text.push_str(&format!("\n{}", few(&report.few)));
    }
    if let Some(pools) = &report.pools {
        text.push_str(&format!("\n{}\n{}", pool_table(pools), share_table(pools)));
        if let Some(share) = pools.new_at_10 {
            text.push_str(&format!("of the ten best of both, {:.1} are new\n", 10.0 * share));
        }
    }
    if seeds > 1 {
        text.push_str(&format!("\n{}", per_seed(&report.seeds)));
    }
    let (run, chosen) = (&report.seeds[0].run, &report.seeds[0].chosen);
    if seeds == 1 {
        if let Some(chosen) = chosen {
            let (settings, trials) = (&chosen.settings, count(chosen.trials, "trial"));
            text.push_str(&format!("\nsettings: {settings}, the best of {trials} in {:.1} s", run.search_seconds));
        }
        text.push_str(&format!("\ntrained for {} steps in {:.1} s\n", whole(run.steps), run.train_seconds));
    }
    if let Some(sample) = &report.seeds[0].sample {
        text.push_str(&sample_text(sample));
    }
    if let Some(distinct) = report.mean.distinct_at_10 {
        text.push_str(&format!("the lists of the ten best show {} different nodes\n", whole(distinct.round() as u64)));
    }
    if let Some(error) = report.mean.ece {
        text.push_str(&format!("probabilities are off by {error:.3} on average (expected calibration error)\n"));
    }
    let prevalence = report.prevalence.map(percent).unwrap_or_default();
    text.push_str(&format!("AP depends on the share of linked pairs: guessing gets {prevalence} here.\n"));
    text
}

/// How much of a very large test set was measured.
pub fn sample_text(Sample { pairs, questions, candidates }: &Sample) -> String {
    let of = |[some, all]: [usize; 2], thing: &str| format!("{} of {}", whole(some), count(all, thing));
    let among = candidates.map_or(String::new(), |candidates| format!(", each among {}", of(candidates, "candidate")));
    format!("measured on a sample: {}, lists of {}{among}\n", of(*pairs, "pair"), of(*questions, "node"))
}

/// The model above the trivial methods.
fn methods(report: &Report) -> Columns {
    let Report { mean, sd, baselines, .. } = report;
    let mut table = Columns::new(["method", "AUC", "AP", "linked", "MRR", "NDCG@10", "Hits@10", "recall@10"]);
    let prevalence = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), percent);
    table.row([
        "coldlink".to_owned(),
        metric(mean.pooled.auc, sd.pooled.auc),
        metric(mean.pooled.ap, sd.pooled.ap),
        prevalence(mean.pooled.prevalence),
        metric(mean.mrr, sd.mrr),
        metric(mean.ndcg_at_10, sd.ndcg_at_10),
        metric(mean.hits.at_10, sd.hits.at_10),
        metric(mean.recall_at_10, sd.recall_at_10),
    ]);
    let mut baseline = |name: &str, summary: &BaselineSummary| {
        table.row([
            name.to_owned(),
            metric(summary.auc, summary.auc_sd),
            metric(summary.ap, summary.ap_sd),
            prevalence(summary.prevalence),
            metric(summary.mrr, None),
            metric(summary.ndcg_at_10, None),
            metric(summary.hits_at_10, None),
            metric(summary.recall_at_10, None),
        ]);
    };
    baseline("kNN votes", &baselines.knn);
    baseline("tf-idf cosine", &baselines.tfidf);
    baseline("cosine", &baselines.cosine);
    baseline("degree", &baselines.degree);
    baseline("random", &baselines.random);
    table
}

/// Cold-warm and cold-cold pairs apart.
fn kinds(mean: &Summary, sd: &Summary) -> Columns {
    let mut table = Columns::new(["coldlink on", "AUC", "AP", "linked", "pairs"]);
    for (name, mean, sd) in [("cold-warm", mean.cold_warm, sd.cold_warm), ("cold-cold", mean.cold_cold, sd.cold_cold)] {
        let Some(measures) = mean else { continue };
        table.row([
            name.to_owned(),
            metric(measures.auc, sd.and_then(|sd| sd.auc)),
            metric(measures.ap, sd.and_then(|sd| sd.ap)),
            measures.prevalence.map_or_else(|| "–".to_owned(), percent),
            measures.pairs.map_or_else(|| "–".to_owned(), |pairs| whole(pairs.round() as u64)),
        ]);
    }
    table
}

/// Every relation and direction apart, beside the votes of similar nodes.
pub fn roles(roles: &[RoleResult]) -> Columns {
    let mut table =
        Columns::new(["relation", "direction", "links", "MRR", "kNN", "recall@10", "kNN", "first hit", "kNN", "ECE"]);
    for RoleResult { relation, direction, links, lists, knn, ece, .. } in roles {
        table.row([
            if relation.is_empty() { "links".to_owned() } else { relation.clone() },
            (*direction).to_owned(),
            whole(*links),
            metric(lists.mrr, None),
            metric(knn.mrr, None),
            metric(lists.recall_at_10, None),
            metric(knn.recall_at_10, None),
            metric(lists.first_hit, None),
            metric(knn.first_hit, None),
            metric(*ece, None),
        ]);
    }
    table
}

/// Lists by how many links the test nodes have, beside the votes of similar nodes.
fn few(steps: &[FewLinks]) -> Columns {
    let mut table = Columns::new(["links given", "on average", "MRR", "kNN", "recall@10", "kNN", "first hit", "kNN"]);
    for FewLinks { links, given, lists, knn, .. } in steps {
        let most = if *links > 0 { format!("up to {links}") } else { "none".to_owned() };
        let numbers = [(lists.mrr, knn.mrr), (lists.recall_at_10, knn.recall_at_10), (lists.first_hit, knn.first_hit)];
        let numbers = numbers.into_iter().flat_map(|(own, votes)| [metric(own, None), metric(votes, None)]);
        table.row([most, format!("{given:.1}")].into_iter().chain(numbers));
    }
    table
}

/// Links to known nodes and to other new ones, within their pool and together.
fn pool_table(pools: &Pools) -> Columns {
    let mut table = Columns::new(["candidates", "links", "MRR", "recall@10", "first hit"]);
    let rows = [("known nodes", &pools.known), ("other new nodes", &pools.new), ("both", &pools.both)];
    for (name, Pool { links, lists }) in rows {
        let numbers = [lists.mrr, lists.recall_at_10, lists.first_hit].map(|number| metric(number, None));
        table.row([name.to_owned(), whole(*links)].into_iter().chain(numbers));
    }
    table
}

/// What lists of ten find by how many of the ten are new.
fn share_table(pools: &Pools) -> Columns {
    let mut table = Columns::new(["new of ten", "recall@10", "of links to known", "of links to new"]);
    for PoolShare { new, recall_at_10, known_links, new_links, .. } in &pools.shares {
        let numbers = [recall_at_10, known_links, new_links].map(|number| metric(*number, None));
        table.row([new.to_string()].into_iter().chain(numbers));
    }
    table
}

fn per_seed(seeds: &[SeedResult]) -> Columns {
    let mut table = Columns::new(["seed", "AUC", "AP", "linked", "MRR", "Hits@10", "steps", "seconds"]);
    for SeedResult { run, metrics, .. } in seeds {
        table.row([
            run.seed.to_string(),
            metric(metrics.pooled.auc, None),
            metric(metrics.pooled.ap, None),
            metrics.pooled.prevalence.map_or_else(|| "–".to_owned(), percent),
            metric(metrics.mrr, None),
            metric(metrics.hits.at_10, None),
            whole(run.steps),
            format!("{:.1}", run.train_seconds),
        ]);
    }
    table
}
