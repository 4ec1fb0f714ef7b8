//! What somebody's method says of pairs and lists, as scorers.

use super::RefereeError;
use crate::graph::NodeId;
use crate::load::{ScoreKind, ScoreRow, ScoreTable};
use crate::score::Scorer;

/// Scores of pairs and places in lists that were computed elsewhere.
#[derive(Clone, Debug, PartialEq)]
pub enum MethodScores {
    /// Scores of pairs.
    Pairs(PairScores),
    /// Ranked lists.
    Lists(RankedLists),
    /// Both.
    Both(PairScores, RankedLists),
}

impl MethodScores {
    /// Of one table, or of one of either kind.
    pub fn of(tables: Vec<ScoreTable>) -> Result<Self, RefereeError> {
        let (mut pairs, mut lists) = (None, None);
        for ScoreTable { kind, rows, .. } in tables {
            let earlier = match kind {
                ScoreKind::Pairs => pairs.replace(PairScores(Pairs::of(&rows, ranked_values(&rows)))).is_some(),
                ScoreKind::Lists => lists.replace(RankedLists(Pairs::of(&rows, places(&rows)))).is_some(),
            };
            if earlier {
                return Err(RefereeError::TwoTables { kind });
            }
        }
        match (pairs, lists) {
            (Some(pairs), Some(lists)) => Ok(MethodScores::Both(pairs, lists)),
            (Some(pairs), None) => Ok(MethodScores::Pairs(pairs)),
            (None, Some(lists)) => Ok(MethodScores::Lists(lists)),
            (None, None) => Err(RefereeError::NoScores),
        }
    }

    /// The scores of pairs, if there are any.
    pub fn pairs(&self) -> Option<&PairScores> {
        match self {
            MethodScores::Pairs(pairs) | MethodScores::Both(pairs, _) => Some(pairs),
            MethodScores::Lists(_) => None,
        }
    }

    /// Ranked lists, if there are any.
    pub fn lists(&self) -> Option<&RankedLists> {
        match self {
            MethodScores::Lists(lists) | MethodScores::Both(_, lists) => Some(lists),
            MethodScores::Pairs(_) => None,
        }
    }
}

/// Scores of pairs; one of a pair in the other order stands in for one that is not there.
#[derive(Clone, Debug, PartialEq)]
pub struct PairScores(Pairs);

impl PairScores {
    /// The score of a pair.
    pub fn score(&self, source: NodeId, target: NodeId) -> Option<f32> {
        self.0.value(source, target).or_else(|| self.0.value(target, source))
    }
}

impl Scorer for PairScores {
    /// A pair without a score scores −∞: one of a node with itself, or with what it is known to be linked with, needs none.
    fn scores(&self, pairs: &[(NodeId, NodeId)]) -> Vec<f32> {
        pairs.iter().map(|&(source, target)| self.score(source, target).unwrap_or(f32::NEG_INFINITY)).collect()
    }
}

/// Lists of nodes, the likeliest links first.
#[derive(Clone, Debug, PartialEq)]
pub struct RankedLists(Pairs);

impl RankedLists {
    /// The targets in a node's list, in rising order.
    pub fn of(&self, source: NodeId) -> impl Iterator<Item = NodeId> {
        self.0.of_source(source).iter().map(|pair| pair.1)
    }

    /// How many nodes have a list.
    pub fn count(&self) -> usize {
        self.0.0.chunk_by(|one, other| one.0 == other.0).count()
    }
}

impl Scorer for RankedLists {
    /// A pair that a list does not show scores −∞, which has no rank.
    fn scores(&self, pairs: &[(NodeId, NodeId)]) -> Vec<f32> {
        pairs.iter().map(|&(source, target)| self.0.value(source, target).unwrap_or(f32::NEG_INFINITY)).collect()
    }
}

/// Values of pairs, by source and then by target.
#[derive(Clone, Debug, PartialEq)]
struct Pairs(Vec<(NodeId, NodeId, f32)>);

impl Pairs {
    fn of(rows: &[ScoreRow], values: Vec<f32>) -> Self {
        Pairs(rows.iter().zip(values).map(|(row, value)| (row.source, row.target, value)).collect())
    }

    fn of_source(&self, source: NodeId) -> &[(NodeId, NodeId, f32)] {
        let start = self.0.partition_point(|pair| pair.0 < source);
        let count = self.0[start..].partition_point(|pair| pair.0 == source);
        &self.0[start..start + count]
    }

    fn value(&self, source: NodeId, target: NodeId) -> Option<f32> {
        let place = self.0.binary_search_by_key(&(source, target), |pair| (pair.0, pair.1)).ok()?;
        Some(self.0[place].2)
    }
}

/// Numbers in 32 bits that stand in the order of the scores and are equal where these are: only the order counts, and rounding would tie
/// scores that differ.
fn ranked_values(rows: &[ScoreRow]) -> Vec<f32> {
    let mut distinct: Vec<f64> = rows.iter().map(|row| row.value + 0.0).collect();
    distinct.sort_unstable_by(f64::total_cmp);
    distinct.dedup();
    let place = |row: &ScoreRow| distinct.partition_point(|value| *value < row.value) as u32;
    rows.iter().map(|row| f32::from_bits(f32::MIN_POSITIVE.to_bits() + place(row))).collect()
}

/// Scores that fall from place to place.
fn places(rows: &[ScoreRow]) -> Vec<f32> {
    rows.iter().map(|row| -row.value as f32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::load_scores;
    use crate::synthetic::World;

    fn table(text: &str) -> ScoreTable {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("scores.csv");
        std::fs::write(&path, text).unwrap();
        load_scores(&path, &World { nodes: 20, ..World::default() }.dataset()).unwrap()
    }

    #[test]
    fn scores_keep_their_order_and_their_ties_however_close_they_are() {
        let text = "source,target,score\n1,2,0.99999999999\n1,3,1\n1,4,-inf\n1,5,1.0\n1,6,0\n1,7,-0.0\n1,8,1e300\n";
        let scores = MethodScores::of(vec![table(text)]).unwrap();
        let scores = scores.pairs().unwrap();
        let of = |target| scores.score(1, target).unwrap();
        assert!(of(4) < of(6) && of(6) == of(7) && of(7) < of(2) && of(2) < of(3) && of(3) == of(5) && of(5) < of(8));
        assert_eq!((scores.score(2, 1), scores.score(2, 3)), (Some(of(2)), None));
    }

    #[test]
    fn a_list_scores_by_place_and_shows_nothing_else() {
        let scores = MethodScores::of(vec![table("source,rank,target\n3,1,9\n3,7,2\n5,1,3\n")]).unwrap();
        let lists = scores.lists().unwrap();
        assert_eq!(lists.scores(&[(3, 9), (3, 2), (3, 4), (9, 3)]), [-1.0, -7.0, f32::NEG_INFINITY, f32::NEG_INFINITY]);
        assert_eq!((lists.count(), lists.of(3).collect::<Vec<_>>()), (2, vec![2, 9]));
    }

    #[test]
    fn there_is_one_table_of_each_kind() {
        let (pairs, lists) = (table("source,target,score\n1,2,3\n"), table("source,rank,target\n1,2,3\n"));
        assert!(MethodScores::of(vec![pairs.clone(), lists]).is_ok());
        assert_eq!(MethodScores::of(vec![]), Err(RefereeError::NoScores));
        let error = MethodScores::of(vec![pairs.clone(), pairs]).unwrap_err();
        assert_eq!(error.to_string(), "there are two tables of pairs with scores");
    }
}
