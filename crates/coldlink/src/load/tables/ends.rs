//! The ends of links: names of nodes, as edge tables write them.

use std::cell::{Cell, OnceCell};
use std::collections::{HashMap, HashSet};

use super::links::LinkColumns;
use super::rows::Rows;
use crate::columns::Cells;
use crate::dataset::OtherForms;
use crate::graph::NodeId;
use crate::load::LoadOptions;
use crate::load::error::{LineProblem, LoadError};

/// Rows of links whose ends tell which column of the node table names nodes.
const LOOKED_AT: usize = 1_000;
/// Rows of nodes that are looked at for them.
const NODES_LOOKED_AT: usize = 200_000;
/// One in so many ends must be named by a column that is taken for the column of names.
const ONE_IN: usize = 20;

/// A column of an edge table.
pub(super) struct LinkColumn {
    pub index: usize,
    pub name: String,
}

/// The nodes that links may join.
pub(super) struct Ends<'a> {
    file_name: &'a str,
    pub numbers: HashMap<&'a str, NodeId>,
    /// Nodes by the form of their names; none where several have it, and no form at all where names must be the same.
    by_form: Option<OnceCell<HashMap<String, Option<NodeId>>>>,
    other_forms: Cell<usize>,
    example: OnceCell<[String; 2]>,
}

impl<'a> Ends<'a> {
    pub fn new(file_name: &'a str, numbers: HashMap<&'a str, NodeId>, options: &LoadOptions) -> Self {
        let by_form = (!options.strict_input).then(OnceCell::new);
        Ends { file_name, numbers, by_form, other_forms: Cell::new(0), example: OnceCell::new() }
    }

    /// The node that a row names in a column.
    pub fn find(&self, row: &dyn Cells, column: &LinkColumn) -> Result<NodeId, LineProblem> {
        let name = row.cell(column.index).to_text();
        let found = self.numbers.get(&*name).copied().or_else(|| self.find_by_form(&name));
        found.ok_or_else(|| match &*name {
            "" => LineProblem::NoName { column: column.name.clone() },
            name => LineProblem::UnknownNode { name: name.to_owned(), nodes: self.file_name.to_owned() },
        })
    }

    fn find_by_form(&self, name: &str) -> Option<NodeId> {
        let by_form = self.by_form.as_ref()?.get_or_init(|| by_form(&self.numbers));
        let node = by_form.get(&form(name)).copied().flatten()?;
        self.other_forms.set(self.other_forms.get() + 1);
        self.example.get_or_init(|| {
            let own = self.numbers.iter().find(|(_, number)| **number == node);
            [name.to_owned(), own.map_or_else(String::new, |(own, _)| (*own).to_owned())]
        });
        Some(node)
    }

    /// Ends that were found although they are written in another way than in the node table.
    pub fn other_forms(&self) -> Option<OtherForms> {
        let [written, name] = self.example.get()?.clone();
        Some(OtherForms { ends: self.other_forms.get(), written, name })
    }
}

fn by_form(numbers: &HashMap<&str, NodeId>) -> HashMap<String, Option<NodeId>> {
    let mut by_form = HashMap::with_capacity(numbers.len());
    for (name, &node) in numbers {
        by_form.entry(form(name)).and_modify(|found| *found = None).or_insert(Some(node));
    }
    by_form
}

/// What programs leave of a name: numbers without leading zeros and without the decimals of a whole number, letters in one case.
fn form(name: &str) -> String {
    let name = name.trim();
    let whole = name.split_once('.').filter(|(_, decimals)| decimals.bytes().all(|digit| digit == b'0'));
    let digits = whole.map_or(name, |(whole, _)| whole);
    if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return name.to_lowercase();
    }
    match digits.trim_start_matches('0') {
        "" => "0".to_owned(),
        digits => digits.to_owned(),
    }
}

/// The names of some ends, by which the column of names is found.
pub(super) fn some_ends(mut rows: Rows<'_>, options: &LoadOptions) -> Result<HashSet<String>, LoadError> {
    let columns = LinkColumns::find(&rows, &options.columns.edges.clone().unwrap_or_default())?;
    let mut ends = HashSet::new();
    for _ in 0..LOOKED_AT {
        let Some((_, row)) = rows.next()? else { break };
        for column in [&columns.source, &columns.target] {
            ends.insert(form(&row.cell(column.index).to_text()));
        }
    }
    ends.remove("");
    Ok(ends)
}

/// Which ends of links each column of a node table names.
pub(super) struct EndsByColumn<'a> {
    ends: &'a HashSet<String>,
    found: Vec<HashSet<&'a str>>,
    rows: usize,
}

impl<'a> EndsByColumn<'a> {
    pub fn new(ends: &'a HashSet<String>, columns: usize) -> Self {
        EndsByColumn { ends, found: vec![HashSet::new(); columns], rows: 0 }
    }

    pub fn look(&mut self, row: &dyn Cells) {
        if self.rows == NODES_LOOKED_AT || self.ends.is_empty() {
            return;
        }
        self.rows += 1;
        for (place, found) in self.found.iter_mut().enumerate().take(row.len()) {
            found.extend(self.ends.get(&form(&row.cell(place).to_text())).map(String::as_str));
        }
    }

    /// The column that names far more ends than `usual`, or else `usual`. A category may name some.
    pub fn names(&self, usual: usize) -> usize {
        let named = |place: usize| self.found[place].len();
        let most = (0..self.found.len()).max_by_key(|&place| (named(place), usize::MAX - place)).unwrap_or(usual);
        let is_clear = named(most) > 2 * named(usual) && ONE_IN * named(most) > self.ends.len();
        if is_clear { most } else { usual }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_what_programs_leave_of_names() {
        let same = |one: &str, other: &str| assert_eq!(form(one), form(other), "{one} {other}");
        same("007", "7");
        same("7.0", "7");
        same("0", "000");
        same("P7 ", "p7");
        let differ = |one: &str, other: &str| assert_ne!(form(one), form(other), "{one} {other}");
        differ("7.5", "7");
        differ("v1.0", "v1");
        differ("-7", "7");
        differ("", "0");
        differ(".0", "0");
    }
}
