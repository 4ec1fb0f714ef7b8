//! From scores that somebody's method gave to a split's pairs to a report: nothing is trained.

use crate::config::Config;
use crate::dataset::Dataset;
use crate::error::Error;
use crate::evaluate::{FewLinks, MethodScores, Questions, RefereeReport, Refereeing, Test, verdict};
use crate::graph::NodeId;
use crate::load::ScoreTable;
use crate::split::{Audit, Finding, Protocol, Split};

/// Measures a method that coldlink has never heard of on the test set of a split.
///
/// ```
/// use coldlink::{Protocol, Referee, load_scores};
///
/// # let dataset = coldlink::synthetic::World { nodes: 300, ..Default::default() }.dataset();
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("scores.csv");
/// # let split = coldlink::Split::make(&dataset, &Protocol::Strict, None, 0)?;
/// # let row = |pair: &coldlink::Pair| format!("{},{},{}\n", pair.source, pair.target, u8::from(pair.linked));
/// # std::fs::write(&path, "source,target,score\n".to_owned() + &split.test().pairs().iter().map(row).collect::<String>())?;
/// let scores = load_scores(&path, &dataset)?;
/// let refereed = Referee::new(&dataset, &Protocol::Strict, "oracle").run(vec![scores])?;
/// assert_eq!(refereed.report.result.metrics.pooled.auc, Some(1.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Referee<'a> {
    /// The graph.
    pub dataset: &'a Dataset,
    /// Which test set.
    pub protocol: &'a Protocol,
    /// What the method is called.
    pub method: String,
    /// The seed of the split where it is not given as files, of what is drawn from a very large test set, and of the bootstrap.
    pub seed: u64,
}

/// A report with the audit of its split.
#[derive(Clone, Debug)]
pub struct Refereed {
    /// The report.
    pub report: RefereeReport,
    /// The audit.
    pub audit: Audit,
}

impl<'a> Referee<'a> {
    /// With seed 0.
    pub fn new(dataset: &'a Dataset, protocol: &'a Protocol, method: impl Into<String>) -> Self {
        Referee { dataset, protocol, method: method.into(), seed: 0 }
    }

    /// Measures the method, and the baselines on the same pairs and questions.
    pub fn run(&self, tables: Vec<ScoreTable>) -> Result<Refereed, Error> {
        let repeated = tables.iter().map(|table| table.repeated).sum::<usize>();
        let scores = MethodScores::of(tables)?;
        let split = Split::make(self.dataset, self.protocol, None, self.seed)?;
        let view = split.final_view().by(&Config::default());
        let questions = Questions::of(split.test(), &view, self.seed);
        let given = FewLinks::steps(split.test()).pop().map(|step| step.1);
        let (pairs, queries, given) = (&questions.pairs[..], &questions.queries[..], given.as_ref());
        let test = Test { pairs, queries, view, rank_baselines: true, seed: self.seed, given };
        let roles = self.dataset.links().1;
        let name = |role_node: NodeId| self.dataset.names.get(roles.node(role_node)).into_owned();
        let refereeing = Refereeing { test, whole: split.test(), questions: &questions, scores: &scores, name: &name };
        let (result, mut notes) = refereeing.run()?;
        if repeated > 0 {
            notes.push(format!("ignored {repeated} repeated row{} of scores", if repeated == 1 { "" } else { "s" }));
        }
        let audit = split.audit().clone();
        let report = RefereeReport {
            method: self.method.clone(),
            dataset: self.dataset.name.clone(),
            protocol: self.protocol.in_words(),
            nodes: self.dataset.graph.nodes(),
            edges: self.dataset.links().0.links(),
            attributes: self.dataset.attributes.width(),
            audit: verdict(&audit),
            audit_findings: audit.findings().iter().map(Finding::to_string).collect(),
            result,
            notes,
        };
        Ok(Refereed { report, audit })
    }
}
