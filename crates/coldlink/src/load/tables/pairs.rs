//! Pairs of names as a table: what scores are asked for.

use std::path::Path;

use super::rows::Rows;
use crate::dataset::End;
use crate::graph::{NameIndex, Names, NodeId};
use crate::load::error::{LineProblem, LoadError, TableProblem};

/// The second column's name where its names are those of new nodes, even if seen ones are called the same.
const NEW_OTHER: &str = "other_new";

/// Loads pairs from a table of two columns.
///
/// The first column names new nodes. The second names nodes of the graph, or else new ones; new ones only where it is
/// called `other_new`.
pub fn load_pairs(path: &Path, new: &Names, seen: &Names) -> Result<Vec<(End, End)>, LoadError> {
    let mut rows = Rows::open(path)?;
    if rows.header().len() != 2 {
        return Err(rows.problem(TableProblem::NotPairs { columns: rows.header().len() }));
    }
    let seen = if rows.header()[1] == NEW_OTHER { NameIndex::Numbered(0) } else { seen.index() };
    let new = new.index();
    let mut pairs = Vec::new();
    while let Some((line, row)) = rows.next()? {
        let names = [row.cell(0).to_text(), row.cell(1).to_text()];
        let source = new.find(&names[0]).map(End::New);
        let target = seen.find(&names[1]).map(End::Seen).or_else(|| new.find(&names[1]).map(End::New));
        let pair = match (source, target) {
            (Some(source), Some(target)) => Ok((source, target)),
            (None, _) => Err(LineProblem::NotNew { name: names[0].to_string() }),
            (_, None) => Err(LineProblem::NoSuchNode { name: names[1].to_string() }),
        };
        pairs.push(pair.map_err(|problem| rows.line_problem(line, problem))?);
    }
    Ok(pairs)
}

/// Loads names of nodes from the first column of a table: their numbers in rising order, those of new nodes after those of the
/// graph, and how many names there are no nodes of.
pub fn load_excluded(path: &Path, new: &Names, seen: &Names) -> Result<(Vec<NodeId>, usize), LoadError> {
    let mut rows = Rows::open(path)?;
    let (first_new, new, seen) = (seen.len() as NodeId, new.index(), seen.index());
    let (mut numbers, mut unknown) = (Vec::new(), 0);
    while let Some((_, row)) = rows.next()? {
        let name = row.cell(0).to_text();
        let found = [seen.find(&name), new.find(&name).map(|node| first_new + node)];
        unknown += usize::from(found == [None, None]);
        numbers.extend(found.into_iter().flatten());
    }
    numbers.sort_unstable();
    numbers.dedup();
    Ok((numbers, unknown))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(text: &str) -> Result<Vec<(End, End)>, LoadError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pairs.csv");
        std::fs::write(&path, text).unwrap();
        load_pairs(&path, &Names::from_texts(["n1", "n2"]), &Names::from_texts(["p1", "n2"]))
    }

    #[test]
    fn excluded_names_are_found_on_both_sides_and_others_counted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("excluded.csv");
        std::fs::write(&path, "name,why\nn2,old\nmissing,\np1,\nn2,\n").unwrap();
        let found = load_excluded(&path, &Names::from_texts(["n1", "n2"]), &Names::from_texts(["p1", "n2"])).unwrap();
        assert_eq!(found, (vec![0, 1, 3], 1));
    }

    #[test]
    fn the_first_name_is_new_and_the_second_seen_where_it_can_be() {
        let pairs = load("new,seen\nn1,p1\nn2,n1\nn1,n2\n").unwrap();
        let expected = [(End::New(0), End::Seen(0)), (End::New(1), End::New(0)), (End::New(0), End::Seen(1))];
        assert_eq!(pairs, expected);
        assert_eq!(load("new,other_new\nn1,n2\n").unwrap(), [(End::New(0), End::New(1))]);
    }

    #[test]
    fn an_unknown_name_is_an_error_with_its_line() {
        let check = |text: &str, expected: &str| {
            let error = load(text).unwrap_err();
            assert!(error.to_string().ends_with(expected), "{error}");
            assert!(error.hint().is_some(), "{error}");
        };
        check("new,seen\nn1,p1\np1,p1\n", "pairs.csv` line 3: there is no new node `p1`");
        check("new,seen\nn1,p9\n", "pairs.csv` line 2: there is no node `p9`");
        check("new\nn1\n", "pairs.csv`: a pair has two columns, and there are 1");
    }
}
