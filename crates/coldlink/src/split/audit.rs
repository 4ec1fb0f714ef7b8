//! The check that every split goes through: nothing that is tested on was trained on.

use std::fmt;

use rayon::prelude::*;

use super::{Contents, Pair};
use crate::graph::NodeId;

/// What the check of a split found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Audit {
    findings: Vec<Finding>,
}

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AuditStatus {
    /// Nothing was found.
    Passed,
    /// What was found weakens the split, but nothing leaks.
    PassedWithWarnings,
    /// What is tested on is known to training, or is wrong.
    Failed,
}

/// One kind of fault, and how often it was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The fault.
    pub fault: Fault,
    /// How many nodes or pairs have it.
    pub count: usize,
    /// Whether it is only a warning.
    pub warning: bool,
}

/// What can be wrong with a split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A node that is hidden at a stage has a link in what that stage trains on.
    HiddenNodeInTraining,
    /// A pair of a set is trained on.
    PairInTraining(HeldOut),
    /// A pair stands in validation and in test.
    PairInTwoSets,
    /// A negative is a link of the full graph.
    NegativeIsLink(HeldOut),
    /// A positive is no link of the full graph.
    PositiveIsNoLink(HeldOut),
    /// A training link is no link of the full graph.
    UnknownTrainingLink,
    /// A pair of a node with itself.
    SelfPair(HeldOut),
    /// A link that a test node keeps stands in a set, or is trained on.
    GivenIsKnown,
    /// A pair stands more than once in a set; the repetitions are counted.
    Duplicate(HeldOut),
}

/// A set of pairs that is not trained on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeldOut {
    /// What steps and settings are chosen on.
    Validation,
    /// What is reported on.
    Test,
    /// Links that test nodes keep.
    Given,
}

impl Audit {
    /// Checks a split.
    ///
    /// A self-pair or a duplicate makes a split from elsewhere weaker but not wrong, so there it is a warning. A negative
    /// that is a link is a wrong answer in the answer book, wherever the split comes from: it fails.
    pub(super) fn of(split: &Contents) -> Self {
        let mut found = Vec::new();
        found.push((Fault::HiddenNodeInTraining, hidden_nodes_in_training(split)));
        found.push((Fault::UnknownTrainingLink, unknown_training_links(split)));
        let validation = sorted_keys(&split.validation);
        let test = sorted_keys(&split.test);
        found.push((Fault::PairInTwoSets, common(&validation, &test)));
        found.push((Fault::GivenIsKnown, given_is_known(split, [&validation, &test])));
        let given: Vec<Pair> = split.given.iter().copied().map(Pair::linked).collect();
        found.push((
            Fault::PositiveIsNoLink(HeldOut::Given),
            count(&given, |pair| !split.full.has_link(pair.source, pair.target)),
        ));
        let final_graph = &split.refit.as_ref().unwrap_or(&split.search).graph;
        for (set, pairs, keys, graphs) in [
            (HeldOut::Validation, &split.validation, &validation, [&split.search.graph, &split.search.graph]),
            (HeldOut::Test, &split.test, &test, [&split.search.graph, final_graph]),
        ] {
            let trained_on = |pair: &Pair| graphs.iter().any(|graph| graph.has_link(pair.source, pair.target));
            let is_link = |pair: &Pair| split.full.has_link(pair.source, pair.target);
            found.push((Fault::PairInTraining(set), count(pairs, trained_on)));
            found.push((Fault::NegativeIsLink(set), count(pairs, |pair| !pair.linked && is_link(pair))));
            found.push((Fault::PositiveIsNoLink(set), count(pairs, |pair| pair.linked && !is_link(pair))));
            found.push((Fault::SelfPair(set), count(pairs, Pair::is_loop)));
            found.push((Fault::Duplicate(set), keys.windows(2).filter(|pair| pair[0] == pair[1]).count()));
        }
        let finding = |(fault, count): (Fault, usize)| {
            let warning = split.outside && matches!(fault, Fault::SelfPair(_) | Fault::Duplicate(_));
            Finding { fault, count, warning }
        };
        Audit { findings: found.into_iter().filter(|found| found.1 > 0).map(finding).collect() }
    }

    /// How the check ended.
    pub fn status(&self) -> AuditStatus {
        if self.findings.is_empty() {
            AuditStatus::Passed
        } else if self.findings.iter().all(|finding| finding.warning) {
            AuditStatus::PassedWithWarnings
        } else {
            AuditStatus::Failed
        }
    }

    /// All that was found.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }
}

fn hidden_nodes_in_training(split: &Contents) -> usize {
    let stages = [Some(&split.search), split.refit.as_ref()];
    let linked = |node: NodeId| {
        stages.iter().flatten().any(|stage| {
            let hidden = !stage.visible[node as usize] || split.hidden.binary_search(&node).is_ok();
            hidden && stage.graph.degree(node) > 0
        })
    };
    (0..split.full.nodes() as NodeId).filter(|&node| linked(node)).count()
}

/// Links that test nodes keep and that training, validation or the test has as well.
fn given_is_known(split: &Contents, sets: [&[u64]; 2]) -> usize {
    let stages = [Some(&split.search), split.refit.as_ref()];
    let known = |&&link: &&(NodeId, NodeId)| {
        let key = Pair::linked(link).key();
        stages.iter().flatten().any(|stage| stage.graph.has_link(link.0, link.1))
            || sets.iter().any(|set| set.binary_search(&key).is_ok())
    };
    split.given.iter().filter(known).count()
}

fn unknown_training_links(split: &Contents) -> usize {
    // What is searched on is trained on again in the refit.
    let graph = &split.refit.as_ref().unwrap_or(&split.search).graph;
    let unknown = |node: NodeId| {
        let known = split.full.neighbors(node);
        graph.neighbors(node).iter().filter(|&&other| node < other && known.binary_search(&other).is_err()).count()
    };
    (0..graph.nodes() as NodeId).into_par_iter().map(unknown).sum()
}

fn count(pairs: &[Pair], has_fault: impl Fn(&Pair) -> bool + Sync) -> usize {
    pairs.par_iter().filter(|pair| has_fault(pair)).count()
}

fn sorted_keys(pairs: &[Pair]) -> Vec<u64> {
    let mut keys: Vec<u64> = pairs.iter().map(Pair::key).collect();
    keys.par_sort_unstable();
    keys
}

/// How many distinct values two sorted lists share.
fn common(one: &[u64], other: &[u64]) -> usize {
    let distinct: Vec<u64> = one.chunk_by(|a, b| a == b).map(|same| same[0]).collect();
    distinct.par_iter().filter(|key| other.binary_search(key).is_ok()).count()
}

impl fmt::Display for Audit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.status() {
            AuditStatus::Passed => return f.write_str("passed"),
            AuditStatus::PassedWithWarnings => f.write_str("passed with warnings: ")?,
            AuditStatus::Failed => f.write_str("failed: ")?,
        }
        for (index, finding) in self.findings.iter().enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            write!(f, "{comma}{finding}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.count;
        let (is, s) = if count == 1 { ("is", "") } else { ("are", "s") };
        match self.fault {
            Fault::HiddenNodeInTraining => write!(f, "{count} hidden node{s} with training links"),
            Fault::PairInTraining(set) => write!(f, "{count} {set} pair{s} {is} trained on"),
            Fault::PairInTwoSets => write!(f, "{count} pair{s} {is} in both validation and test"),
            Fault::NegativeIsLink(set) => write!(f, "{count} {set} negative{s} {is} linked in the graph"),
            Fault::GivenIsKnown => {
                write!(f, "{count} link{s} that test nodes keep {is} trained on, validated on or tested on")
            }
            Fault::PositiveIsNoLink(set) => write!(f, "{count} {set} positive{s} {is} not linked in the graph"),
            Fault::UnknownTrainingLink => write!(f, "{count} training link{s} {is} not in the graph"),
            Fault::SelfPair(set) => write!(f, "{count} {set} pair{s} of a node with itself"),
            Fault::Duplicate(set) => write!(f, "{count} repeated {set} pair{s}"),
        }
    }
}

impl fmt::Display for HeldOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            HeldOut::Validation => "validation",
            HeldOut::Test => "test",
            HeldOut::Given => "given",
        })
    }
}
