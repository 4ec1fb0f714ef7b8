//! From a dataset to a report: for each seed a split, a training and a test.

use std::time::Instant;

use super::Settings;
use crate::config::{Config, Term};
use crate::dataset::Dataset;
use crate::error::Error;
use crate::evaluate::{
    About, ChosenSettings, Deviation, FewLinks, Pools, Questions, Record, Report, Run, SeedResult, Test, verdict,
};
use crate::score::{EmbeddingScorer, Evidence, Given, LinkScorer, ScoreWeights, Side, TfIdfRows};
use crate::split::{Audit, Finding, Protocol, Split};
use crate::train::Fit;
use crate::tune::{Chosen, Forward, Plan, Search, SeedStarted, Watcher, auto};

/// How good models with some settings are on links they have not been trained on.
///
/// ```
/// use coldlink::{Evaluation, Protocol, Settings, Silent};
///
/// # let dataset = coldlink::synthetic::World { nodes: 300, ..Default::default() }.dataset();
/// let settings = Settings::of_preset("default", 0.0)?.set("steps=20")?;
/// let evaluated = Evaluation::new(&dataset, &Protocol::Strict, &settings).run(&mut Silent)?;
/// assert!(evaluated.record.report.mean.pooled.auc.is_some());
/// # Ok::<(), coldlink::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Evaluation<'a> {
    /// The graph.
    pub dataset: &'a Dataset,
    /// Which test set.
    pub protocol: &'a Protocol,
    /// The settings; see [`Settings::under`]. Where they are searched for, each split has a search of its own.
    pub settings: &'a Settings,
    /// The first seed.
    pub first_seed: u64,
    /// How many seeds; 0 counts as 1.
    pub seeds: u64,
    /// The popularity weight: 1 leaves scores as they are.
    pub popularity: f32,
    /// Whether the trivial methods are ranked among all candidates as well.
    pub rank_baselines: bool,
}

/// A report with the worst audit of its splits.
#[derive(Clone, Debug)]
pub struct Evaluated {
    /// The report, and all that it depends on.
    pub record: Record,
    /// The audit of the split that was found worst.
    pub audit: Audit,
}

impl<'a> Evaluation<'a> {
    /// Of one seed, 0.
    pub fn new(dataset: &'a Dataset, protocol: &'a Protocol, settings: &'a Settings) -> Self {
        Evaluation { dataset, protocol, settings, first_seed: 0, seeds: 1, popularity: 1.0, rank_baselines: false }
    }

    /// Splits, trains and tests for each seed in turn.
    pub fn run(&self, watcher: &mut dyn Watcher) -> Result<Evaluated, Error> {
        let (mut results, mut worst) = (Vec::new(), None::<Audit>);
        let seeds = self.seeds.max(1);
        for place in 0..seeds {
            let seed = self.first_seed.saturating_add(place);
            let rule = Some(self.config().validation);
            let split = Split::make(self.dataset, self.protocol, rule, seed)?;
            let audit = split.audit();
            watcher.seed_started(&SeedStarted { place, seeds, audit });
            if worst.as_ref().is_none_or(|worst| audit.status() > worst.status()) {
                worst = Some(audit.clone());
            }
            results.push(self.test(&split, seed, watcher)?);
        }
        let audit = worst.expect("there is at least one seed");
        Ok(Evaluated { record: self.record(results, &audit), audit })
    }

    fn config(&self) -> &Config {
        &self.settings.config
    }

    /// Trains on a split and measures the model on its test set.
    fn test(&self, split: &Split, seed: u64, watcher: &mut dyn Watcher) -> Result<SeedResult, Error> {
        let started = Instant::now();
        let chosen = match &self.settings.auto {
            Some(how) => auto(&Search { split, seed, journal: None, until: None }, self.config(), how, watcher)?,
            None => {
                watcher.planned(&Plan::given(split, self.config()));
                Chosen::given(self.config().clone())
            }
        };
        let search_seconds = started.elapsed().as_secs_f64();
        let started = Instant::now();
        let config = &split.search().sized(&chosen.config);
        let fit = Fit { split, config, seed, checkpoints: None };
        let fitted = fit.run_after(chosen.trial.as_ref(), &mut Forward(watcher))?;
        let train_seconds = started.elapsed().as_secs_f64();
        let view = split.final_view().by(config);
        let embeddings = fitted.embed_all(&view);
        let questions = Questions::of(split.test(), &view, seed);
        let (pairs, queries, rank_baselines) = (&questions.pairs, &questions.queries, self.rank_baselines);
        let few: Vec<(usize, Given)> = FewLinks::steps(split.test());
        let given = few.last().map(|step| &step.1);
        let test = Test { pairs, queries, view, rank_baselines, seed, given };
        let run = Run { seed, steps: fitted.steps as usize, train_seconds, search_seconds };
        let asks_of_both = ["strict", "temporal"].contains(&split.protocol());
        let result = match &fitted.weights {
            Some(weights) => {
                let words = TfIdfRows::of(&view);
                let scorer = |given, weights| {
                    let evidence = Evidence::new(view.graph(), Side { embeddings: &embeddings, words: &words });
                    let evidence = evidence.in_roles(view.roles()).voting(ScoreWeights::uses(weights, Term::Votes));
                    let evidence = evidence.with_given(given);
                    LinkScorer { evidence, weights, popularity: self.popularity }
                };
                let mut result = SeedResult::measure_links(run, &scorer(given, weights), &test)?;
                for (links, given) in &few {
                    let test = Test { given: Some(given), ..test };
                    result.few.push(FewLinks::measure(*links, &scorer(Some(given), weights), &test)?);
                }
                if asks_of_both {
                    let weights = &weights.clone().at_one_base_rate();
                    result.pools = Some(Pools::measure(&scorer(given, weights), &test, split.test())?);
                }
                result
            }
            None => {
                let lambda = config.lambda.map(|weight| weight as f32);
                let scorer = EmbeddingScorer { embeddings: &embeddings, lambda };
                let mut result = SeedResult::measure(run, &scorer, &test)?;
                if asks_of_both {
                    result.pools = Some(Pools::measure(&scorer, &test, split.test())?);
                }
                result
            }
        };
        let chosen = chosen.best().map(|tried| ChosenSettings {
            settings: tried.name.clone(),
            auc: tried.trial.best.auc,
            ap: tried.trial.best.ap,
            lists: tried.trial.best.lists,
            trials: chosen.tried.len(),
        });
        let sample = questions.sample(&result.ranks);
        Ok(SeedResult { chosen, sample, ..result })
    }

    fn record(&self, results: Vec<SeedResult>, audit: &Audit) -> Record {
        let about = About {
            dataset: self.dataset.name.clone(),
            protocol: self.protocol.in_words(),
            preset: self.settings.preset.clone(),
            validation: self.config().validation,
            nodes: self.dataset.graph.nodes(),
            edges: self.dataset.links().0.links(),
            attributes: self.dataset.attributes.width(),
            audit: verdict(audit),
            deviation: Deviation::of(self.protocol),
        };
        Record {
            report: Report::from_seeds(about, results),
            audit_findings: audit.findings().iter().map(Finding::to_string).collect(),
            settings: self.config().clone(),
            budget: self.settings.auto.as_ref().map(|auto| auto.budget),
            popularity: self.popularity,
        }
    }
}
