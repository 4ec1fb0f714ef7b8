//! The score as a whole: terms against their definitions on small graphs, and the fit against a known truth.

use super::*;
use crate::config::Term;
use crate::graph::{Attributes, Graph, NodeId};
use crate::kernel::Matrix;
use crate::split::{Pair, PairClass, RankingQuery, TrainView};

/// Eight nodes, of which 6 and 7 have no link, and two more that are in no graph.
struct World {
    graph: Graph,
    embeddings: Embeddings,
    words: TfIdfRows,
    new_embeddings: Embeddings,
    new_words: TfIdfRows,
}

fn unit_rows(rows: usize, salt: usize) -> Matrix<f32> {
    let mut matrix =
        Matrix::from_fn(rows, 5, |row, column| ((row * 7 + column * 3 + salt * 5) % 11) as f32 / 5.0 - 0.9);
    for row in 0..rows {
        let length = matrix.row(row).iter().map(|v| v * v).sum::<f32>().sqrt();
        matrix.row_mut(row).iter_mut().for_each(|v| *v /= length);
    }
    matrix
}

fn embeddings(rows: usize, warm: impl Fn(usize) -> bool, salt: usize) -> Embeddings {
    let (attributes, mut structure) = (unit_rows(rows, salt), unit_rows(rows, salt + 3));
    for row in (0..rows).filter(|row| !warm(*row)) {
        structure.row_mut(row).copy_from_slice(attributes.row(row));
    }
    Embeddings { attributes, structure, warm: (0..rows).map(warm).collect() }
}

fn world() -> World {
    let graph = Graph::from_links(8, [(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (4, 5)]);
    let row = |node: u32| vec![(node % 3, 1.0), (3 + node % 4, 2.0)];
    let attributes = Attributes::from_rows(7, &(0..8).map(row).collect::<Vec<_>>()).unwrap();
    let words = TfIdfRows::of(&TrainView::whole(&graph, &attributes, &[true; 8]));
    let new = Attributes::from_rows(7, &[vec![(1, 1.0), (5, 1.0)], vec![]]).unwrap();
    let new_words = words.of_new(&new);
    let warm = embeddings(8, |node| node < 6, 1);
    let mut new_embeddings = embeddings(2, |_| false, 2);
    // The second has no attributes.
    new_embeddings.attributes.row_mut(1).fill(0.0);
    new_embeddings.structure.row_mut(1).fill(0.0);
    World { graph, embeddings: warm, words, new_embeddings, new_words }
}

impl World {
    fn evidence(&self) -> Evidence<'_> {
        let new = Side { embeddings: &self.new_embeddings, words: &self.new_words };
        let evidence = Evidence::new(&self.graph, Side { embeddings: &self.embeddings, words: &self.words });
        evidence.with_new(new).voting(true)
    }

    fn rows(&self, node: NodeId) -> (&[f32], &[f32]) {
        let (side, row) = if node < 8 { (&self.embeddings, node) } else { (&self.new_embeddings, node - 8) };
        (side.attributes.row(row as usize), side.structure.row(row as usize))
    }

    /// The inner product of two nodes' tf-idf rows, written out in full.
    fn word_cosine(&self, a: NodeId, b: NodeId) -> f64 {
        let full = |node: NodeId| {
            let (words, row) = if node < 8 { (&self.words, node) } else { (&self.new_words, node - 8) };
            let mut full = [0.0_f32; 7];
            words.row(row as usize).iter().for_each(|entry| full[entry.index as usize] = entry.weight);
            full
        };
        dot(&full(a), &full(b))
    }

    /// The chance to step from each node to each, as a matrix.
    fn steps(&self) -> Vec<Vec<f64>> {
        (0..8).map(|a| (0..8).map(|b| self.weight(a, b) / self.strength(a).max(1e-9)).collect()).collect()
    }

    /// The weight of a link, 0 where there is none.
    fn weight(&self, a: NodeId, b: NodeId) -> f64 {
        let entry = self.graph.entry(a, b);
        entry.map_or(0.0, |entry| self.graph.weights().map_or(1.0, |weights| f64::from(weights[entry])))
    }

    fn strength(&self, node: NodeId) -> f64 {
        (0..8).map(|other| self.weight(node, other)).sum()
    }

    /// The votes of the six warm nodes, by their words, for what they link to and for themselves.
    fn votes(&self, from: NodeId, to: NodeId) -> f64 {
        let vote = |voter: NodeId| {
            let counts = if voter == to { 1.0 } else { self.weight(voter, to) };
            counts * self.word_cosine(from, voter)
        };
        (0..6).map(vote).sum()
    }

    /// Where a walk starts: among similar warm nodes for a new one, among its neighbours for a warm one.
    fn start(&self, node: NodeId) -> Vec<f64> {
        if node < 6 {
            return self.steps()[node as usize].clone();
        }
        let own = self.rows(node).0;
        if node == 9 {
            return (0..8).map(|other| if other < 6 { 1.0 / 6.0 } else { 0.0 }).collect();
        }
        let similarity = |other: u32| dot(own, self.rows(other).0) / 0.05;
        let weights: Vec<f64> = (0..8).map(|other| if other < 6 { similarity(other).exp() } else { 0.0 }).collect();
        let sum: f64 = weights.iter().sum();
        weights.into_iter().map(|weight| weight / sum).collect()
    }
}

fn dot(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
}

fn times(row: &[f64], matrix: &[Vec<f64>]) -> Vec<f64> {
    (0..8).map(|column| (0..8).map(|term| row[term] * matrix[term][column]).sum()).collect()
}

#[test]
fn every_term_is_its_definition_for_every_class_of_pairs() {
    check_terms(&world());
}

#[test]
fn walks_votes_and_popularity_follow_weights() {
    let plain = world();
    let graph = plain.graph.clone().with_weights([(0, 1, 5.0), (1, 2, 0.25), (0, 4, 2.0), (4, 5, 0.5)]);
    assert!(graph.weights().is_some());
    check_terms(&World { graph, ..plain });
}

fn check_terms(world: &World) {
    let evidence = world.evidence();
    let steps = world.steps();
    let pairs: Vec<(NodeId, NodeId)> = (0..10).flat_map(|a| (0..10).map(move |b| (a, b))).collect();
    for (&(a, b), terms) in pairs.iter().zip(evidence.terms(&pairs)) {
        let (seen_a, seen_b) = (a < 6, b < 6);
        let ((a_a, a_s), (b_a, b_s)) = (world.rows(a), world.rows(b));
        let cross = match (seen_a, seen_b) {
            (true, true) => (dot(a_s, b_a) + dot(b_s, a_a)) / 2.0,
            (true, false) => dot(a_s, b_a),
            (false, true) => dot(b_s, a_a),
            (false, false) => dot(a_a, b_a),
        };
        let (from, to) = if seen_a && !seen_b { (b, a) } else { (a, b) };
        let near = times(&world.start(from), &steps);
        let far = times(&near, &steps);
        let degree = |node: u32| if node < 6 { world.strength(node) } else { 0.0 };
        let scale = if seen_a && seen_b { (degree(from) / degree(to)).sqrt() } else { 1.0 };
        let chance = |field: &[f64]| if to < 6 { field[to as usize] * scale } else { 0.0 };
        let expected = [
            dot(a_a, b_a),
            cross,
            if seen_a && seen_b { dot(a_s, b_s) } else { 0.0 },
            world.word_cosine(a, b),
            degree(a).ln_1p() + degree(b).ln_1p(),
            (chance(&near) + 1e-5).ln(),
            (chance(&far) + 1e-5).ln(),
            (if seen_a != seen_b { world.votes(from, to) } else { 0.0 } + 1e-2).ln(),
        ];
        for (term, expected) in Term::ALL.iter().zip(expected) {
            let found = f64::from(terms[*term as usize]);
            assert!((found - expected).abs() < 2e-4, "{a} {b} {}: {found} {expected}", term.name());
        }
    }
}

#[test]
fn starts_that_are_found_together_are_those_of_each_alone() {
    // More warm nodes than a walk has starts, some of them alike, and more sources than look together.
    let nodes = 1_500;
    let graph = Graph::from_links(nodes, (0..1_400).map(|node| (node, (node + 1) % 1_400)));
    let mut side = embeddings(nodes, |node| node < 1_400, 1);
    for row in 0..nodes {
        let turn = row as f32 / 97.0;
        side.attributes.row_mut(row)[0] += turn.sin() + if row % 3 == 0 { 0.25 } else { 0.0 };
    }
    let attributes = Attributes::from_rows(3, &vec![vec![(1, 1.0)]; nodes]).unwrap();
    let words = TfIdfRows::of(&TrainView::whole(&graph, &attributes, &vec![true; nodes]));
    let evidence = || Evidence::new(&graph, Side { embeddings: &side, words: &words });
    let (together, alone) = (evidence(), evidence());
    let sources: Vec<NodeId> = (1_380..1_500).collect();
    together.expect(&sources);
    for source in 1_400..1_500 {
        let mut found = [together.starts(source, None), alone.starts(source, None)];
        found.iter_mut().for_each(|starts| starts.sort_unstable_by_key(|start| start.0));
        assert_eq!(found[0], found[1], "{source}");
        assert_eq!(found[0].len(), STARTS);
        let all = (0..1_400).map(|node| {
            dot(side.attributes.row(source as usize), side.attributes.row(node)) / {
                dot(side.attributes.row(node), side.attributes.row(node)).sqrt()
            }
        });
        let mut all: Vec<f64> = all.collect();
        all.sort_unstable_by(|a, b| b.total_cmp(a));
        let least = found[0].iter().map(|start| start.1).fold(f32::MAX, f32::min);
        let own = dot(side.attributes.row(source as usize), side.attributes.row(source as usize)).sqrt();
        assert!((f64::from(least) - all[STARTS - 1] / own).abs() < 1e-5, "{source}");
    }
    let held = alone.starts(1_450, Some(together.starts(1_450, None)[0].0));
    assert!(held.len() == STARTS && held.iter().all(|start| start.0 != together.starts(1_450, None)[0].0));
}

#[test]
fn words_are_cosines_weighted_by_idf() {
    let world = world();
    let row = |side: &TfIdfRows, node: usize| {
        let mut full = [0.0; 7];
        side.row(node).iter().for_each(|entry| full[entry.index as usize] = f64::from(entry.weight));
        full
    };
    // Node 0 has attributes 0 and 3; idf = ln((1 + 8) / (1 + df)) + 1, with df 3 and 2.
    let (first, second) = ((9.0_f64 / 4.0).ln() + 1.0, 2.0 * ((9.0_f64 / 3.0).ln() + 1.0));
    let length = (first * first + second * second).sqrt();
    assert!((row(&world.words, 0)[0] - first / length).abs() < 1e-6);
    assert!((row(&world.words, 0)[3] - second / length).abs() < 1e-6);
    assert!(world.new_words.row(1).is_empty());
    let products = world.words.products(world.new_words.row(0));
    for (node, product) in products.iter().enumerate() {
        let expected: f64 = row(&world.words, node).iter().zip(row(&world.new_words, 0)).map(|(a, b)| a * b).sum();
        assert!((f64::from(*product) - expected).abs() < 1e-6);
    }
}

#[test]
fn candidates_score_as_pairs_do_and_either_order_is_the_same() {
    let world = world();
    let weights = |terms: [f64; 8]| PairWeights { terms, intercept: 0.4, pairs: 9, ..PairWeights::default() };
    let weights = ScoreWeights {
        roles: Vec::new(),
        given: Vec::new(),
        warm_warm: weights([1.0, 0.3, 0.7, 2.0, -0.1, 0.2, 0.4, 0.0]),
        cold_warm: weights([0.5, 0.9, 0.0, 1.0, 0.3, 0.6, 0.1, 0.5]),
        cold_cold: weights([2.0, 0.0, 0.0, 1.5, 0.0, 0.0, 0.0, 0.0]),
        prevalence: 0.5,
    };
    let scorer = LinkScorer { evidence: world.evidence(), weights: &weights, popularity: 1.0 };
    let candidates: Vec<NodeId> = (0..10).collect();
    for source in 0..10 {
        let mut against = vec![0.0; 10];
        scorer.scores_against(source, &candidates, &mut against);
        for &target in candidates.iter().filter(|target| **target != source) {
            let scores = scorer.scores(&[(source, target), (target, source)]);
            assert_eq!(scores[0], scores[1]);
            assert!((against[target as usize] - scores[0]).abs() < 1e-4, "{source} {target}");
        }
    }
    let less = LinkScorer { evidence: world.evidence(), weights: &weights, popularity: 0.25 };
    let (full, less) = (scorer.scores(&[(9, 0)])[0], less.scores(&[(9, 0)])[0]);
    assert!((full - less - 0.75 * 4.0_f32.ln()).abs() < 1e-5, "node 0 has three links");
}

#[test]
fn weights_find_the_truth_and_classes_without_pairs_follow_the_others() {
    let world = world();
    let evidence = world.evidence();
    let mut pairs = Vec::new();
    for (round, source) in (6..10_u32).cycle().take(4000).enumerate() {
        let target = (round as u32 * 5 + source) % 6;
        let cosine = dot(world.rows(source).0, world.rows(target).0);
        let chance = 1.0 / (1.0 + (-4.0 * cosine).exp());
        pairs.push(Pair { source, target, linked: (round * 373 % 1009) as f64 / 1009.0 < chance });
    }
    assert!(ScoreWeights::can_be_fitted_to(&pairs) && !ScoreWeights::can_be_fitted_to(&pairs[..20]));
    let weights = ScoreWeights::fit(&evidence, &[Term::Attributes], &only(&pairs));
    assert!((weights.cold_warm.terms[0] - 4.0).abs() < 1.0, "{weights:?}");
    assert_eq!((weights.cold_warm.pairs, weights.cold_cold.pairs), (4000, 0));
    assert!((weights.cold_cold.terms[0] - weights.cold_warm.terms[0]).abs() < 1e-9);
    let all = ScoreWeights::fit(&evidence, &Term::ALL, &only(&pairs));
    for term in Term::ALL {
        for class in [PairClass::WarmWarm, PairClass::ColdWarm, PairClass::ColdCold] {
            let weight = all.of(class, 0).terms[term as usize];
            assert!(weight.is_finite() && (term.applies_to(class) || weight == 0.0), "{term:?} {class:?}");
        }
    }
    let moved = all.cold_warm.terms[0] + all.cold_warm.terms[1];
    assert!((all.cold_cold.terms[0] - moved).abs() < 1e-9, "the cross term's weight goes to what stands for it");
}

fn only(pairs: &[Pair]) -> Examples<'_> {
    Examples { pairs, lists: &[], joining: &[], candidates: &[], seed: 0 }
}

#[test]
fn lists_turn_the_weights_to_what_puts_true_links_first_and_keep_a_log_odds() {
    let world = world();
    let evidence = world.evidence();
    let warm: Vec<NodeId> = (0..6).collect();
    // Pairs are mostly linked as their attributes say, but the link that stands first is always the one that most nodes have.
    let (mut pairs, mut lists) = (Vec::new(), Vec::new());
    for (round, source) in (6..10_u32).cycle().take(400).enumerate() {
        let target = (round as u32 * 5 + source) % 6;
        let linked = target == 0 || dot(world.rows(source).0, world.rows(target).0) > 0.0;
        pairs.push(Pair { source, target, linked: linked != (round % 7 == 0) });
        lists.push(RankingQuery { source, targets: vec![0], ..RankingQuery::default() });
    }
    let terms = [Term::Attributes, Term::Degree];
    let fit = |lists: &[RankingQuery]| {
        let examples = Examples { pairs: &pairs, lists, joining: &[], candidates: &warm, seed: 3 };
        ScoreWeights::fit(&evidence, &terms, &examples)
    };
    let (by_pairs, by_lists) = (fit(&[]), fit(&lists));
    let share = |weights: &ScoreWeights| {
        let terms = weights.cold_warm.terms;
        terms[Term::Degree as usize] / terms[Term::Attributes as usize].abs()
    };
    assert!(share(&by_lists) > share(&by_pairs) + 1.0, "{by_pairs:?} {by_lists:?}");
    let scorer = LinkScorer { evidence: world.evidence(), weights: &by_lists, popularity: 1.0 };
    let best = |source| {
        let mut scores = [0.0; 6];
        scorer.scores_against(source, &warm, &mut scores);
        (0..6).max_by(|a: &usize, b: &usize| scores[*a].total_cmp(&scores[*b]))
    };
    assert_eq!([best(6), best(7), best(8), best(9)], [Some(0); 4]);
    let ends: Vec<_> = pairs.iter().map(|pair| (pair.source, pair.target)).collect();
    let probability = |score: &f32| by_lists.probability(f64::from(*score), by_lists.prevalence);
    let mean = scorer.scores(&ends).iter().map(probability).sum::<f64>() / pairs.len() as f64;
    assert!((mean - by_lists.prevalence).abs() < 0.02, "{mean} {}", by_lists.prevalence);
    assert_eq!(by_lists.cold_cold, by_pairs.cold_cold, "there are no lists of new nodes");
}

#[test]
fn weights_from_before_a_term_are_read() {
    let old = "terms = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]\nintercept = 0.5\npairs = 9";
    let weights: PairWeights = toml::from_str(old).unwrap();
    assert_eq!(weights.terms, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 0.0]);
    assert!(toml::from_str::<PairWeights>(&old.replace("[1.0", "[1.0, 1.0, 1.0")).is_err());
}

#[test]
fn probabilities_follow_the_base_rate() {
    let nothing = PairWeights::default();
    let weights = ScoreWeights {
        warm_warm: nothing.clone(),
        cold_warm: nothing.clone(),
        cold_cold: nothing,
        prevalence: 0.4,
        roles: Vec::new(),
        given: Vec::new(),
    };
    let even = (0.4_f64 / 0.6).ln();
    assert!((weights.probability(even, 0.4) - 0.4).abs() < 1e-12);
    assert!((weights.probability(even, 0.01) - 0.01).abs() < 1e-12);
    assert!(weights.probability(1e9, 1e-6) == 1.0 && weights.probability(-1e9, 0.5) == 0.0);
}

#[test]
fn given_links_add_their_definitions() {
    let world = world();
    let links = GivenLinks { linked: vec![0, 2], held: None };
    let given = Given::new([(8, links)]);
    let evidence = world.evidence().with_given(Some(&given));
    let source = evidence.source(8);
    let targets: Vec<NodeId> = (0..6).collect();
    let terms = evidence.given_terms(&source, &targets);
    let steps = world.steps();
    let start: Vec<f64> = (0..8).map(|node| if node == 0 || node == 2 { 0.5 } else { 0.0 }).collect();
    let near = times(&start, &steps);
    let sharing = times(&near, &steps);
    for (terms, &target) in terms.iter().zip(&targets) {
        for (term, chance) in [(terms[2], near[target as usize]), (terms[3], sharing[target as usize])] {
            let expected = 2.0 / 3.0 * (chance / 1e-4).ln_1p();
            assert!((f64::from(term) - expected).abs() < 1e-4, "{target}: {term} {expected}");
        }
    }
    // The structure embedding is drawn to the links.
    let of_links = terms[0][0] + terms[0][1] + terms[2][0] + terms[2][1];
    let others: f32 = [1, 3, 4, 5].iter().map(|&node: &usize| terms[node][0] + terms[node][1]).sum();
    let before: f64 = [0, 2].iter().map(|&node| dot(world.rows(8).0, world.rows(node).0)).sum();
    assert!(of_links / 2.0 > others / 4.0 && f64::from(of_links) > before);
    assert_eq!(evidence.given_terms(&evidence.source(9), &targets), [GivenTerms::default(); 6], "another has none");
}

#[test]
fn links_of_one_node_change_no_score_of_another() {
    let world = world();
    let weights = |terms: [f64; 8]| PairWeights { terms, intercept: 0.4, pairs: 9, ..PairWeights::default() };
    let cold_warm = weights([0.5, 0.9, 0.0, 1.0, 0.3, 0.6, 0.1, 0.5]);
    let mut weights = ScoreWeights {
        roles: Vec::new(),
        given: vec![GivenWeights { pair: cold_warm.clone(), given: [1.0, 2.0, 0.5, 0.25] }],
        warm_warm: weights([1.0, 0.3, 0.7, 2.0, -0.1, 0.2, 0.4, 0.0]),
        cold_warm,
        cold_cold: weights([2.0, 0.0, 0.0, 1.5, 0.0, 0.0, 0.0, 0.0]),
        prevalence: 0.5,
    };
    let given = Given::of_links([(8, 2), (8, 0), (8, 2)]);
    let pairs: Vec<(NodeId, NodeId)> = (0..10).flat_map(|a| (0..10).map(move |b| (a, b))).collect();
    let scores = |given: Option<&Given>, weights: &ScoreWeights| {
        LinkScorer { evidence: world.evidence().with_given(given), weights, popularity: 1.0 }.scores(&pairs)
    };
    let (without, with) = (scores(None, &weights), scores(Some(&given), &weights));
    for (&(a, b), (before, after)) in pairs.iter().zip(without.iter().zip(&with)) {
        let has_links = (a == 8 && b < 6) || (b == 8 && a < 6);
        assert_eq!(has_links, before != after, "{a} {b}");
        assert_eq!(*after, of_pair(&pairs, &with, (b, a)), "either order");
    }
    let candidates: Vec<NodeId> = (0..8).collect();
    let evidence = world.evidence().with_given(Some(&given));
    let mut against = [0.0; 8];
    LinkScorer { evidence, weights: &weights, popularity: 1.0 }.scores_against(8, &candidates, &mut against);
    for (node, score) in against.iter().enumerate() {
        assert!((score - of_pair(&pairs, &with, (8, node as NodeId))).abs() < 1e-5, "{node}");
    }
    weights.given.clear();
    assert_eq!(scores(Some(&given), &weights), without, "without weights for them, links say nothing");
}

fn of_pair(pairs: &[(NodeId, NodeId)], scores: &[f32], wanted: (NodeId, NodeId)) -> f32 {
    scores[pairs.iter().position(|pair| *pair == wanted).unwrap()]
}
