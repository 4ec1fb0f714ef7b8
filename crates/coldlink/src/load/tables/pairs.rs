//! Pairs of names and lists of names as tables: what queries are made of.

use std::path::Path;

use super::rows::Rows;
use crate::dataset::{GivenLink, PairQuery};
use crate::load::Limits;
use crate::load::error::{LineProblem, LoadError, TableProblem};
use crate::load::input::Input;

/// Loads pairs from a table with the columns `source` and `target`, and perhaps `known`: whether the target is a known node.
/// Beside each pair stands its line.
pub fn load_pairs(path: &Path) -> Result<Vec<(u64, PairQuery)>, LoadError> {
    let mut rows = Rows::open(&Input::open(path, &Limits::default())?)?;
    let columns = rows.header().len();
    if !(2..=3).contains(&columns) {
        return Err(rows.problem(TableProblem::NotPairs { columns }));
    }
    let named = |name: &str, place: usize| rows.header().iter().position(|column| column == name).unwrap_or(place);
    let [source, target] = [named("source", 0), named("target", 1)];
    let known = (columns == 3).then(|| rows.find("known")).transpose()?;
    let mut pairs = Vec::new();
    while let Some((line, row)) = rows.next()? {
        let known = match known.map(|place| row.cell(place).to_text()).as_deref() {
            None | Some("") => Ok(None),
            Some(cell) if cell.eq_ignore_ascii_case("true") => Ok(Some(true)),
            Some(cell) if cell.eq_ignore_ascii_case("false") => Ok(Some(false)),
            Some(cell) => Err(LineProblem::NotABoolean { column: "known".into(), cell: cell.to_owned() }),
        };
        let [source, target] = [source, target].map(|place| row.cell(place).to_text().into_owned());
        let pair = known.map(|known| (line, PairQuery { source, target, known, relation: None }));
        pairs.push(pair.map_err(|problem| rows.line_problem(line, problem))?);
    }
    Ok(pairs)
}

/// Loads links of new nodes from a table with the columns `source` and `target`, and perhaps `relation`. Beside each stands its line.
pub fn load_given_links(path: &Path) -> Result<Vec<(u64, GivenLink)>, LoadError> {
    let rows = Rows::open(&Input::open(path, &Limits::default())?)?;
    let columns = rows.header().len();
    if !(2..=3).contains(&columns) {
        return Err(rows.problem(TableProblem::NotGivenLinks { columns }));
    }
    let named = |name: &str, place: usize| rows.header().iter().position(|column| column == name).unwrap_or(place);
    let ends = [named("source", 0), named("target", 1)];
    let relation = (columns == 3).then(|| rows.find("relation")).transpose()?;
    links_of(rows, ends, relation)
}

/// Loads links from the columns `source` and `target`, and `relation` where there is one; others are passed over. Beside each stands
/// its line.
pub fn load_held_out_links(path: &Path) -> Result<Vec<(u64, GivenLink)>, LoadError> {
    let rows = Rows::open(&Input::open(path, &Limits::default())?)?;
    let find = |name: &str| {
        let found = rows.header().iter().position(|column| column == name);
        let missing = || TableProblem::NoLinkColumn { column: name.to_owned(), known: rows.header().to_vec() };
        found.ok_or_else(|| rows.problem(missing()))
    };
    let (ends, relation) = ([find("source")?, find("target")?], find("relation").ok());
    links_of(rows, ends, relation)
}

/// The links of a table with both ends and perhaps the relation at these places.
fn links_of(mut rows: Rows<'_>, ends: [usize; 2], relation: Option<usize>) -> Result<Vec<(u64, GivenLink)>, LoadError> {
    let mut links = Vec::new();
    while let Some((line, row)) = rows.next()? {
        let text = |place: usize| row.cell(place).to_text().trim().to_owned();
        let ([source, target], relation) = (ends.map(text), relation.map(text));
        links.push((line, GivenLink { source, target, relation: relation.filter(|relation| !relation.is_empty()) }));
    }
    Ok(links)
}

/// Loads names from the first column of a table. Beside each stands its line.
pub fn load_names(path: &Path) -> Result<Vec<(u64, String)>, LoadError> {
    let mut rows = Rows::open(&Input::open(path, &Limits::default())?)?;
    let mut names = Vec::new();
    while let Some((line, row)) = rows.next()? {
        names.push((line, row.cell(0).to_text().into_owned()));
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(text: &str) -> Result<Vec<(u64, PairQuery)>, LoadError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pairs.csv");
        std::fs::write(&path, text).unwrap();
        load_pairs(&path)
    }

    #[test]
    fn pairs_are_read_with_their_lines_and_what_is_said_of_their_targets() {
        let pairs = load("target,source\np1,n1\nn1,n2\n").unwrap();
        let pair = |source: &str, target: &str, known| PairQuery {
            source: source.into(),
            target: target.into(),
            known,
            relation: None,
        };
        assert_eq!(pairs, [(2, pair("n1", "p1", None)), (3, pair("n2", "n1", None))]);
        let pairs = load("source,target,known\nn1,p1,true\nn1,n2,false\nn1,n2,\n").unwrap();
        let known: Vec<Option<bool>> = pairs.iter().map(|pair| pair.1.known).collect();
        assert_eq!(known, [Some(true), Some(false), None]);
    }

    #[test]
    fn held_out_links_are_read_by_the_names_of_their_columns() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("truth.csv");
        let load = |text: &str| {
            std::fs::write(&path, text).unwrap();
            load_held_out_links(&path)
        };
        let link = |source: &str, target: &str, relation: Option<&str>| GivenLink {
            source: source.into(),
            target: target.into(),
            relation: relation.map(str::to_owned),
        };
        let links = load("year,target,source\n1999, p1,n1\n2001,p2,n2\n").unwrap();
        assert_eq!(links, [(2, link("n1", "p1", None)), (3, link("n2", "p2", None))]);
        let links = load("source,relation,target\nn1,cites,p1\nn1,,p2\n").unwrap();
        assert_eq!(links, [(2, link("n1", "p1", Some("cites"))), (3, link("n1", "p2", None))]);
        let error = load("n1,p1\nn2,p2\n").unwrap_err();
        assert!(error.to_string().contains("there is no column `source`, only `n1`, `p1`"), "{error}");
        assert_eq!(error.hint().unwrap().to_string(), "start with a line of column names: `source,target`");
    }

    #[test]
    fn what_is_no_pair_is_refused() {
        let check = |text: &str, expected: &str| {
            let error = load(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        };
        check("source\nn1\n", "a table of pairs needs two columns");
        check("source,target,weight\nn1,p1,1\n", "column `known` is missing");
        check("source,target,known\nn1,p1,maybe\n", "line 2: column `known` takes true or false, got `maybe`");
    }
}
