//! Scores that were computed elsewhere against the same scorer measured at home.

use std::fmt::Write;

use coldlink::evaluate::baselines::TfIdf;
use coldlink::evaluate::{Metrics, Ranks, Test, candidates};
use coldlink::graph::{Names, NodeId, Relation, RoleGraph, Roles};
use coldlink::load::ScoreTable;
use coldlink::pipeline::{Referee, Refereed};
use coldlink::score::Scorer;
use coldlink::split::{Protocol, Split};
use coldlink::synthetic::World;
use coldlink::{Config, Dataset, Error, load_scores};

const NODES: u32 = 300;

fn plain() -> Dataset {
    let names = Names::from_texts((0..NODES).map(|node| format!("p{node}")));
    Dataset { names, ..World { nodes: NODES, ..World::default() }.dataset() }
}

/// Most links are citations, some are likes.
fn with_relations() -> Dataset {
    let relation = |name: &str, directed| Relation { name: name.to_owned(), directed };
    let roles = Roles::of(vec![relation("cites", true), relation("likes", false)]).unwrap();
    let data = plain();
    let links: Vec<(NodeId, NodeId)> = data.graph.iter_links().collect();
    let links = links.into_iter().enumerate().map(|(place, (a, b))| (usize::from(place % 4 == 0), b, a));
    Dataset { relations: Some(RoleGraph::new(NODES as usize, roles, links)), ..data }
}

/// A table of scores as somebody would write it.
struct Written<'a> {
    data: &'a Dataset,
    text: String,
}

impl<'a> Written<'a> {
    fn new(data: &'a Dataset, third: &str) -> Self {
        Written { data, text: format!("source,target,relation,direction,{third}\n") }
    }

    fn row(&mut self, source: NodeId, target: NodeId, value: impl std::fmt::Display) {
        let roles = self.data.links().1;
        let name = |node: NodeId| self.data.names.get(roles.node(node)).into_owned();
        let (relation, is_target) = roles.relation_of(roles.role(source));
        let relation = roles.relations().get(relation);
        let direction = match relation {
            Some(relation) if relation.directed => ["out", "in"][usize::from(is_target)],
            _ => "",
        };
        let relation = relation.map_or("", |relation| &relation.name);
        writeln!(self.text, "{},{},{relation},{direction},{value}", name(source), name(target)).unwrap();
    }

    fn load(&self) -> ScoreTable {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("scores.csv");
        std::fs::write(&path, &self.text).unwrap();
        load_scores(&path, self.data).unwrap()
    }
}

/// A split with the scorer that plays somebody's method.
struct Case {
    data: Dataset,
    protocol: Protocol,
    split: Split,
}

impl Case {
    fn new(data: Dataset, protocol: Protocol) -> Self {
        let split = Split::make(&data, &protocol, None, 0).unwrap();
        Case { data, protocol, split }
    }

    /// What the scorer says of test pairs and, with `all`, of all candidates of all questions.
    fn pairs(&self, all: bool) -> ScoreTable {
        let view = self.split.final_view().by(&Config::default());
        let scorer = TfIdf::new(&view);
        let mut pairs: Vec<(NodeId, NodeId)> =
            self.split.test().pairs().iter().map(|pair| (pair.source, pair.target)).collect();
        if all {
            let roles = self.data.links().1;
            let opposite = |a: NodeId, b: NodeId| roles.opposite(roles.role(a)) == roles.role(b);
            for query in self.split.test().queries(&view) {
                let among = query.among.as_deref().map_or_else(|| candidates(&view), <[NodeId]>::to_vec);
                let other = among.into_iter().filter(|&node| node != query.source && opposite(query.source, node));
                pairs.extend(other.map(|node| (query.source, node)));
            }
            pairs.sort_unstable();
            pairs.dedup();
        }
        let mut written = Written::new(&self.data, "score");
        pairs.iter().zip(scorer.scores(&pairs)).for_each(|(&(a, b), score)| written.row(a, b, score));
        written.load()
    }

    /// The first `length` of each list that the scorer makes.
    fn lists(&self, length: usize) -> ScoreTable {
        let view = self.split.final_view().by(&Config::default());
        let (scorer, all) = (TfIdf::new(&view), candidates(&view));
        let mut written = Written::new(&self.data, "rank");
        for query in self.split.test().queries(&view) {
            let among = query.among.as_deref().unwrap_or(&all);
            let mut scores = vec![0.0; among.len()];
            scorer.scores_against(query.source, among, &mut scores);
            let mut list: Vec<(f32, NodeId)> = scores.into_iter().zip(among.iter().copied()).collect();
            list.retain(|(_, node)| *node != query.source && query.exclude.binary_search(node).is_err());
            list.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            list.iter().take(length).zip(1..).for_each(|(&(_, node), rank)| written.row(query.source, node, rank));
        }
        written.load()
    }

    fn referee(&self, tables: Vec<ScoreTable>) -> Result<Refereed, Error> {
        Referee::new(&self.data, &self.protocol, "mine").run(tables)
    }

    /// The same scorer at home.
    fn expected(&self) -> (Metrics, Ranks) {
        let view = self.split.final_view().by(&Config::default());
        let (test, queries) = (self.split.test(), self.split.test().queries(&view));
        let test = Test { pairs: test.pairs(), queries: &queries, view, rank_baselines: true, seed: 0, given: None };
        let measured = test.measure(&TfIdf::new(&view)).unwrap();
        (measured.metrics, measured.ranks)
    }
}

#[test]
fn scores_of_all_candidates_give_what_their_scorer_gives() {
    for (data, protocol) in [
        (plain(), Protocol::Strict),
        (plain(), Protocol::Transductive),
        (plain(), Protocol::Deal2020),
        (with_relations(), Protocol::Strict),
    ] {
        let case = Case::new(data, protocol);
        let (expected, _) = case.expected();
        let report = case.referee(vec![case.pairs(true)]).unwrap().report;
        assert_eq!(report.result.metrics, expected, "{}", report.protocol);
        let tfidf = report.result.baselines.tfidf;
        assert_eq!(tfidf.metrics, expected, "{}", report.protocol);
        let differences = [tfidf.difference.auc, tfidf.difference.ap, tfidf.difference.mrr].map(Option::unwrap);
        assert!(differences.iter().all(|found| (found.difference, found.interval) == (0.0, (0.0, 0.0))));
        let random = report.result.baselines.random;
        let difference = expected.mrr.unwrap() - random.metrics.mrr.unwrap();
        assert!((random.difference.mrr.unwrap().difference - difference).abs() < 1e-12);
        assert_eq!((report.audit.as_str(), report.notes.len()), ("passed", 0), "{:?}", report.notes);
    }
}

#[test]
fn scores_of_test_pairs_alone_measure_no_lists() {
    let case = Case::new(plain(), Protocol::Strict);
    let report = case.referee(vec![case.pairs(false)]).unwrap().report;
    let (expected, _) = case.expected();
    assert_eq!((report.result.metrics.pooled, report.result.metrics.mrr), (expected.pooled, None));
    assert!(report.notes[0].starts_with("lists are not measured: "), "{:?}", report.notes);
    let knn = report.result.baselines.knn;
    assert!(knn.difference.auc.is_some() && knn.difference.mrr.is_none());
}

#[test]
fn ranked_lists_count_what_they_show() {
    for data in [plain(), with_relations()] {
        let case = Case::new(data, Protocol::Strict);
        let (_, ranks) = case.expected();
        let report = case.referee(vec![case.lists(10)]).unwrap().report;
        let metrics = report.result.metrics;
        assert_eq!((metrics.pooled.pairs, metrics.pooled.auc), (0, None));
        assert!(report.notes[0].starts_with("lists show 10 candidates: "), "{:?}", report.notes);
        // Ties apart, which a list has broken, the first ten are what the scorer shows.
        let recall = metrics.recall_at_10.unwrap();
        assert!((recall - ranks.recall().unwrap()).abs() < 0.02, "{recall} {:?}", ranks.recall());
        assert!(metrics.mrr < ranks.mrr() && metrics.mrr.unwrap() > 0.5 * ranks.mrr().unwrap());
        assert_eq!(metrics.hits.at_100, metrics.hits.at_50, "nothing is shown beyond ten");
        let both = case.referee(vec![case.lists(10), case.pairs(false)]).unwrap().report.result.metrics;
        assert_eq!((both.mrr, both.ndcg_at_10), (metrics.mrr, metrics.ndcg_at_10));
        assert_eq!(both.pooled, case.expected().0.pooled);
        assert_eq!(both.cold_warm, case.expected().0.cold_warm);
    }
}

#[test]
fn a_node_without_a_list_finds_nothing_and_strange_places_are_passed_over() {
    let case = Case::new(plain(), Protocol::Strict);
    let whole = case.lists(10);
    let first = whole.rows[0].source;
    let mut half = whole.clone();
    half.rows.retain(|row| row.source != first);
    let recall = |table: &ScoreTable| {
        let report = case.referee(vec![table.clone()]).unwrap().report;
        (report.result.metrics.recall_at_10.unwrap(), report.notes)
    };
    let ((all, _), (some, notes)) = (recall(&whole), recall(&half));
    assert!(some <= all);
    assert!(notes[1].contains("nodes that ask have no list: their links count as not found"), "{notes:?}");
    let mut written = Written::new(&case.data, "rank");
    written.row(first, first, 1);
    written.row(first, whole.rows[0].target, 2);
    let (_, notes) = recall(&written.load());
    assert!(notes.iter().any(|note| note.starts_with("passed over 1 places of lists")), "{notes:?}");
}

#[test]
fn pairs_without_scores_and_lists_of_other_nodes_are_errors() {
    let case = Case::new(plain(), Protocol::Strict);
    let mut some = case.pairs(false);
    let all = some.rows.len();
    some.rows.truncate(all - 5);
    let error = case.referee(vec![some]).unwrap_err();
    assert!(error.to_string().starts_with(&format!("5 of {all} test pairs have no score, such as `p")), "{error}");
    assert!(error.hint().unwrap().to_string().starts_with("score every pair of `test.csv`"));
    let mut lists = case.lists(3);
    let known = case.split.final_view().warm()[0];
    lists.rows.truncate(1);
    lists.rows[0].source = known;
    let error = case.referee(vec![lists]).unwrap_err();
    assert!(error.to_string().starts_with("none of 1 lists is that of a node that the test asks about"), "{error}");
    assert_eq!(case.referee(Vec::new()).unwrap_err().to_string(), "there are no scores");
}
