//! What somebody's method says, as a table: pairs with scores, or ranked lists.

use std::path::Path;

use super::memory::Table;
use super::rows::Rows;
use crate::columns::Cells;
use crate::dataset::{Dataset, LinkProblem};
use crate::graph::{NameIndex, NodeId, Roles};
use crate::load::Limits;
use crate::load::error::{LineProblem, LoadError, TableProblem};
use crate::load::input::Input;

/// What a table of scores says of role nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoreTable {
    /// What its rows are.
    pub kind: ScoreKind,
    /// Its rows, by source and then by target, each pair once.
    pub rows: Vec<ScoreRow>,
    /// Rows that were there twice.
    pub repeated: usize,
}

/// What rows of scores are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScoreKind {
    /// Pairs with a score each: the higher, the likelier a link.
    Pairs,
    /// Places in the lists of their sources, from 1.
    Lists,
}

/// A row of scores.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScoreRow {
    /// The node that asks.
    pub source: NodeId,
    /// The other.
    pub target: NodeId,
    /// The score or the rank.
    pub value: f64,
    /// Where it stands in the table.
    line: u64,
}

/// Loads scores from a table with the columns `source`, `target` and `score`, or `source`, `rank` and `target`; `relation` and
/// `direction` say which role nodes these are, as in the files of a split. With a rank, a score is passed over.
pub fn load_scores(path: &Path, dataset: &Dataset) -> Result<ScoreTable, LoadError> {
    read(Rows::open(&Input::open(path, &Limits::default())?)?, dataset)
}

/// The same from a table in memory, whose rows are counted from 1 in errors.
pub fn scores_in_memory(table: &dyn Table, dataset: &Dataset) -> Result<ScoreTable, LoadError> {
    read(Rows::of_table("scores", table)?, dataset)
}

/// Where the columns of a table of scores are.
struct Columns {
    kind: ScoreKind,
    source: usize,
    target: usize,
    value: usize,
    relation: Option<usize>,
    direction: Option<usize>,
}

impl Columns {
    fn of(rows: &Rows<'_>) -> Result<Self, LoadError> {
        let place = |name: &str| rows.header().iter().position(|column| column == name);
        let missing = |column: &str| {
            let (column, known) = (column.to_owned(), rows.header().to_vec());
            rows.problem(TableProblem::NoScoreColumn { column, known })
        };
        let (kind, value) = match (place("rank"), place("score")) {
            (Some(rank), _) => (ScoreKind::Lists, rank),
            (None, Some(score)) => (ScoreKind::Pairs, score),
            (None, None) => return Err(missing("score")),
        };
        let [source, target] = ["source", "target"].map(|name| place(name).ok_or_else(|| missing(name)));
        let (relation, direction) = (place("relation"), place("direction"));
        Ok(Columns { kind, source: source?, target: target?, value, relation, direction })
    }

    fn row(&self, line: u64, cells: &dyn Cells, nodes: &Nodes<'_>) -> Result<ScoreRow, LineProblem> {
        let text = |place: Option<usize>| place.map(|place| cells.cell(place).to_text()).unwrap_or_default();
        let (source_role, target_role) = nodes.roles(&text(self.relation), &text(self.direction))?;
        let [source, target] = [self.source, self.target].map(|place| nodes.find(&text(Some(place))));
        let (source, target) = (nodes.roles.at(source?, source_role), nodes.roles.at(target?, target_role));
        Ok(ScoreRow { source, target, value: self.value(cells)?, line })
    }

    fn value(&self, cells: &dyn Cells) -> Result<f64, LineProblem> {
        let cell = cells.cell(self.value);
        let number = cell.any_number().filter(|number| !number.is_nan());
        let is_rank = |number: &f64| number.fract() == 0.0 && (1.0..=MOST_RANK).contains(number);
        let cell = || cell.to_text().into_owned();
        match self.kind {
            ScoreKind::Pairs => number.ok_or_else(|| LineProblem::NotAScore { cell: cell() }),
            ScoreKind::Lists => number.filter(is_rank).ok_or_else(|| LineProblem::NotARank { cell: cell() }),
        }
    }
}

/// Whole numbers up to here have a place of their own among scores.
const MOST_RANK: f64 = (1 << 24) as f64;

/// The nodes that a table may name.
struct Nodes<'a> {
    index: NameIndex<'a>,
    roles: &'a Roles,
}

impl Nodes<'_> {
    fn find(&self, name: &str) -> Result<NodeId, LineProblem> {
        self.index.find(name).ok_or_else(|| LineProblem::NotInGraph { name: name.to_owned() })
    }

    /// The roles of both ends of a pair.
    fn roles(&self, relation: &str, direction: &str) -> Result<(usize, usize), LineProblem> {
        if self.roles.is_plain() {
            return Ok((0, 0));
        }
        let relations = self.roles.relations();
        let place = relations.iter().position(|known| known.name == relation).ok_or_else(|| {
            let known =
                relations.iter().map(|relation| relation.name.clone()).filter(|name| !name.is_empty()).collect();
            LineProblem::GivenLink(match relation {
                "" => LinkProblem::NoRelation { known },
                name => LinkProblem::UnknownRelation { name: name.to_owned(), known },
            })
        })?;
        let (source, target) = self.roles.ends(place);
        match direction {
            "" | "out" => Ok((source, target)),
            "in" => Ok((target, source)),
            other => Err(LineProblem::NotADirection { cell: other.to_owned() }),
        }
    }
}

fn read(mut rows: Rows<'_>, dataset: &Dataset) -> Result<ScoreTable, LoadError> {
    let columns = Columns::of(&rows)?;
    let nodes = Nodes { index: dataset.names.index(), roles: dataset.links().1 };
    let mut found = Vec::new();
    while let Some((line, cells)) = rows.next()? {
        match columns.row(line, cells, &nodes) {
            Ok(row) => found.push(row),
            Err(problem) => return Err(rows.line_problem(line, problem)),
        }
    }
    found.sort_unstable_by_key(|row| (row.source, row.target, row.line));
    let all = found.len();
    let contradiction =
        found.windows(2).filter(|rows| is_same_pair(&rows[0], &rows[1]) && rows[0].value != rows[1].value);
    if let Some([first, second]) = contradiction.min_by_key(|rows| rows[1].line) {
        let name = |role_node: NodeId| dataset.names.get(nodes.roles.node(role_node)).into_owned();
        let (source_name, target) = (name(second.source), name(second.target));
        let problem = LineProblem::TwoScores { source_name, target, first: first.line };
        return Err(rows.line_problem(second.line, problem));
    }
    found.dedup_by(|one, other| is_same_pair(one, other));
    Ok(ScoreTable { kind: columns.kind, repeated: all - found.len(), rows: found })
}

fn is_same_pair(one: &ScoreRow, other: &ScoreRow) -> bool {
    (one.source, one.target) == (other.source, other.target)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Names, Relation, RoleGraph};
    use crate::synthetic::World;

    fn dataset() -> Dataset {
        let names = Names::from_texts((0..20).map(|node| format!("p{node}")));
        Dataset { names, ..World { nodes: 20, ..World::default() }.dataset() }
    }

    fn load(text: &str, dataset: &Dataset) -> Result<ScoreTable, LoadError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("scores.csv");
        std::fs::write(&path, text).unwrap();
        load_scores(&path, dataset)
    }

    fn triples(table: &ScoreTable) -> Vec<(NodeId, NodeId, f64)> {
        table.rows.iter().map(|row| (row.source, row.target, row.value)).collect()
    }

    #[test]
    fn pairs_and_lists_are_told_apart_by_their_columns() {
        let pairs = load("target,score,source\np1,0.5,p3\np0,-inf,p3\np2,1e-3,p1\np1,0.5,p3\n", &dataset()).unwrap();
        assert_eq!((pairs.kind, pairs.repeated), (ScoreKind::Pairs, 1));
        assert_eq!(triples(&pairs), [(1, 2, 0.001), (3, 0, f64::NEG_INFINITY), (3, 1, 0.5)]);
        let lists = load("source,rank,target,known,score\np3,2,p1,true,0.4\np3,1,p2,true,0.9\n", &dataset()).unwrap();
        assert_eq!((lists.kind, triples(&lists)), (ScoreKind::Lists, vec![(3, 1, 2.0), (3, 2, 1.0)]));
    }

    #[test]
    fn relations_and_directions_say_which_role_nodes_these_are() {
        let relation = |name: &str, directed| Relation { name: name.to_owned(), directed };
        let roles = Roles::of(vec![relation("cites", true), relation("likes", false)]).unwrap();
        let data = Dataset { relations: Some(RoleGraph::new(20, roles, [(0, 1, 2)])), ..dataset() };
        let text = "source,target,relation,direction,score\np1,p2,cites,out,1\np1,p2,cites,in,2\np1,p2,likes,,3\n";
        assert_eq!(triples(&load(text, &data).unwrap()), [(3, 7, 1.0), (4, 6, 2.0), (5, 8, 3.0)]);
        let check = |row: &str, expected: &str| {
            let error = load(&format!("source,target,relation,direction,score\n{row}\n"), &data).unwrap_err();
            assert!(error.to_string().contains(expected) && error.hint().is_some(), "{error}");
        };
        check("p1,p2,knows,,1", "line 2: there is no relation `knows`");
        check("p1,p2,,,1", "line 2: the link has no relation");
        check("p1,p2,cites,up,1", "line 2: column `direction` takes out or in, got `up`");
    }

    #[test]
    fn what_is_no_score_is_refused_with_its_line() {
        let check = |text: &str, expected: &str| {
            let error = load(text, &dataset()).unwrap_err();
            assert!(error.to_string().contains(expected) && error.hint().is_some(), "{error}");
        };
        check("source,target\np1,p2\n", "there is no column `score`, only `source`, `target`");
        check("node,target,score\np1,p2,1\n", "there is no column `source`");
        check("source,target,score\np1,p2,high\n", "line 2: column `score` must hold numbers, got `high`");
        check("source,target,score\np1,p2,nan\n", "line 2: column `score` must hold numbers, got `nan`");
        check("source,rank,target\np1,0,p2\n", "line 2: column `rank` must hold whole numbers from 1, got `0`");
        check("source,rank,target\np1,1.5,p2\n", "whole numbers from 1, got `1.5`");
        check("source,target,score\np1,p2,1\np1,moon,1\n", "line 3: there is no node `moon` in the graph");
        let twice = "source,target,score\np1,p2,1\np1,p3,2\np1,p2,2\n";
        check(twice, "line 4: `p1` and `p2` have another value on line 2");
    }
}
