//! What can be wrong with a table.

use crate::columns::CellProblem;
use crate::dataset::LinkProblem;
use crate::hint::Hint;
use crate::load::limits::bytes_in_words;
use crate::text::{all_quoted, near_or_all, quoted};

/// What can be wrong with a table as a whole.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TableProblem {
    /// Nothing in it, not even a header.
    #[error("the file is empty")]
    Empty,
    /// The first line looks like data.
    #[error("the first line is not a header: `{}` is a value", quoted(.cell))]
    NoHeader {
        /// The cell that gives it away.
        cell: String,
    },
    /// A column that must be there is not.
    #[error("column `{}` is missing", quoted(.column))]
    NoColumn {
        /// The name.
        column: String,
    },
    /// A column that users say something about is not there.
    #[error("there is no column `{}`", quoted(.column))]
    NoSaidColumn {
        /// The name.
        column: String,
        /// The columns there are.
        known: Vec<String>,
    },
    /// A column of the edge table is not there.
    #[error("there is no column `{}`, only {}", quoted(.column), all_quoted(.known))]
    NoEdgeColumn {
        /// The name.
        column: String,
        /// The columns there are.
        known: Vec<String>,
    },
    /// A column of a table of links or scores is not there.
    #[error("there is no column `{}`, only {}", quoted(.column), all_quoted(.known))]
    NoLinkColumn {
        /// The name.
        column: String,
        /// The columns there are.
        known: Vec<String>,
    },
    /// A table of scores without a column that it needs.
    #[error("there is no column `{}`, only {}", quoted(.column), all_quoted(.known))]
    NoScoreColumn {
        /// The name.
        column: String,
        /// The columns there are.
        known: Vec<String>,
    },
    /// Strict input: columns other than those that were trained on.
    #[error("{}", other_columns(.missing, .extra))]
    OtherColumns {
        /// Columns that should be there.
        missing: Vec<String>,
        /// Columns that should not.
        extra: Vec<String>,
    },
    /// More columns than a table may have.
    #[error("it has {columns} columns, more than {most}")]
    TooManyColumns {
        /// Columns there are.
        columns: usize,
        /// The limit.
        most: usize,
    },
    /// A table of pairs with more or fewer than two columns.
    #[error("a table of pairs needs two columns, got {columns}")]
    NotPairs {
        /// Columns there are.
        columns: usize,
    },
    /// A table of links of new nodes with other columns.
    #[error("a table of links of new nodes needs two or three columns, got {columns}")]
    NotGivenLinks {
        /// Columns there are.
        columns: usize,
    },
    /// An edge table with fewer than two columns.
    #[error("a table of links needs two columns, got {columns}")]
    TooFewColumns {
        /// Columns there are.
        columns: usize,
    },
}

/// What can be wrong in one line of a table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LineProblem {
    /// More or fewer cells than the header.
    #[error("expected {expected} cells as in the header, got {found}")]
    Ragged {
        /// Cells of the header.
        expected: usize,
        /// Cells of the line.
        found: usize,
    },
    /// More cells than a table may have columns.
    #[error("it has more than {most} cells")]
    TooManyCells {
        /// The limit.
        most: usize,
    },
    /// A line that is too long.
    #[error("it has more than {}", bytes_in_words(*.most as u64))]
    LongLine {
        /// Bytes that a line may have.
        most: usize,
    },
    /// A cell that is too long.
    #[error("column `{}` has a cell of more than {}", quoted(.column), bytes_in_words(*.most as u64))]
    LongCell {
        /// The column, by its place where it has no name yet.
        column: String,
        /// Bytes that a cell may have.
        most: usize,
    },
    /// A cell that begins with a quote and never ends.
    #[error("a quote opens here and is never closed")]
    OpenQuote,
    /// Bytes that are no UTF-8.
    #[error("the text is not UTF-8")]
    NotUtf8,
    /// No JSON object.
    #[error("not a JSON object: {}", quoted(.reason))]
    NotJson {
        /// What the reader says.
        reason: String,
    },
    /// Too many different keys.
    #[error("the rows so far have more than {most} different keys")]
    TooManyKeys {
        /// The limit.
        most: usize,
    },
    /// An object or a list of lists in a cell.
    #[error("column `{}` is nested, at `{}`: only values and lists of values can be read", quoted(.column), quoted(.path))]
    Nested {
        /// The column.
        column: String,
        /// The first value that is too deep, as `author.name` or `tags[0]`.
        path: String,
    },
    /// A name is missing.
    #[error("column `{}` is empty, but must name the node", quoted(.column))]
    NoName {
        /// The column of names.
        column: String,
    },
    /// Two rows for one node.
    #[error("node `{}` already has a row, on line {first}", quoted(.name))]
    RepeatedNode {
        /// The node.
        name: String,
        /// Where it stood first.
        first: u64,
    },
    /// A link to a node without a row.
    #[error("node `{}` has a link but no row in `{}`", quoted(.name), quoted(.nodes))]
    UnknownNode {
        /// The node.
        name: String,
        /// The node table's file name.
        nodes: String,
    },
    /// A weight below 0.
    #[error("column `{}` holds weights, but `{}` is below 0", quoted(.column), quoted(.cell))]
    NegativeWeight {
        /// The column.
        column: String,
        /// The cell.
        cell: String,
    },
    /// A cell that says nothing of when a link appeared.
    #[error("column `{}` holds times, but `{}` is neither a date nor a number", quoted(.column), quoted(.cell))]
    NotATime {
        /// The column.
        column: String,
        /// The cell.
        cell: String,
    },
    /// More relations than there may be.
    #[error("column `{column}` has more than {most} different relations")]
    TooManyRelations {
        /// The column.
        column: String,
        /// The limit.
        most: usize,
    },
    /// A cell that is neither true nor false.
    #[error("column `{}` takes true or false, got `{}`", quoted(.column), quoted(.cell))]
    NotABoolean {
        /// The column.
        column: String,
        /// The cell.
        cell: String,
    },
    /// A pair with a node that nobody knows.
    #[error("there is no {what} `{}`", quoted(.name))]
    NoSuchNode {
        /// `node`, `new node` or `known node`.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A name of no node of the model.
    #[error("there is no known node `{}`", quoted(.name))]
    NotKnown {
        /// The name.
        name: String,
    },
    /// A name of no node of the graph.
    #[error("there is no node `{}` in the graph", quoted(.name))]
    NotInGraph {
        /// The name.
        name: String,
    },
    /// Something else in a column of scores.
    #[error("column `score` must hold numbers, got `{}`", quoted(.cell))]
    NotAScore {
        /// The cell.
        cell: String,
    },
    /// Something else in a column of ranks.
    #[error("column `rank` must hold whole numbers from 1, got `{}`", quoted(.cell))]
    NotARank {
        /// The cell.
        cell: String,
    },
    /// Something else in a column of directions.
    #[error("column `direction` takes out or in, got `{}`", quoted(.cell))]
    NotADirection {
        /// The cell.
        cell: String,
    },
    /// A pair with two scores, or a node that stands at two places of a list.
    #[error("`{}` and `{}` have another value on line {first}", quoted(.source_name), quoted(.target))]
    TwoScores {
        /// One end.
        source_name: String,
        /// The other.
        target: String,
        /// Where they stood first.
        first: u64,
    },
    /// A link of a new node that cannot be used.
    #[error(transparent)]
    GivenLink(#[from] LinkProblem),
    /// A cell that cannot be used.
    #[error(transparent)]
    Cell(#[from] CellProblem),
    /// Something else in a column of numbers.
    #[error("column `{}` is numeric, but `{}` is not a number", quoted(.column), quoted(.cell))]
    NotANumber {
        /// The column.
        column: String,
        /// The cell.
        cell: String,
    },
    /// NaN, infinite, or beyond 32-bit floating point, in a column of numbers.
    #[error("column `{}` is numeric, but `{}` is not a finite 32-bit number", quoted(.column), quoted(.cell))]
    NotFinite {
        /// The column.
        column: String,
        /// The cell.
        cell: String,
    },
}

impl TableProblem {
    pub(super) fn hint(&self) -> Option<Hint> {
        if let TableProblem::NoSaidColumn { column, known } = self {
            return Some(Hint::text(near_or_all("column", column, known)));
        }
        Some(Hint::new(match self {
            TableProblem::NoSaidColumn { .. } => return None,
            TableProblem::Empty | TableProblem::NoHeader { .. } => {
                "start with a line of column names, such as `id,year,words` for nodes or `source,target` for links"
            }
            TableProblem::NoColumn { .. } => {
                "new nodes need the columns of the node table that the model was trained on"
            }
            TableProblem::NoEdgeColumn { .. } => {
                "correct the name under `[edges]`; what it does not name is found by its usual name"
            }
            TableProblem::NoLinkColumn { .. } => "start with a line of column names: `source,target`",
            TableProblem::NoScoreColumn { .. } => {
                "name the columns `source,target,score` for pairs, or `source,rank,target` for ranked lists"
            }
            TableProblem::OtherColumns { .. } => {
                "omit {strict-input} to read missing columns as empty and ignore extra ones"
            }
            TableProblem::TooManyColumns { .. } => {
                "put values that belong together into one column, as `a|b|c` or as a list | store numbers as arrays in an `.npz` file"
            }
            TableProblem::NotPairs { .. } => "use the columns `source,target`: a new node, then a known one",
            TableProblem::NotGivenLinks { .. } => {
                "use the columns `source,target`, and `relation` where links have several"
            }
            TableProblem::TooFewColumns { .. } => "separate cells with `,` in `.csv` and with a tab in `.tsv`",
        }))
    }
}

impl LineProblem {
    pub(in crate::load) fn not_a_number((column, cell): (String, String)) -> Self {
        LineProblem::NotANumber { column, cell }
    }

    pub(in crate::load) fn not_finite((column, cell): (String, String)) -> Self {
        LineProblem::NotFinite { column, cell }
    }

    pub(in crate::load) fn negative_weight((column, cell): (String, String)) -> Self {
        LineProblem::NegativeWeight { column, cell }
    }

    pub(super) fn hint(&self) -> Option<Hint> {
        Some(match self {
            LineProblem::Ragged { .. } => Hint::new("quote cells that contain the separator"),
            LineProblem::TooManyCells { .. } => Hint::new("check that the file is a table, one row per line"),
            LineProblem::LongLine { .. } | LineProblem::LongCell { .. } => Hint::new(
                "check that the file is a table, one row per line, with all quotes closed | allow longer cells with {max-cell}",
            ),
            LineProblem::OpenQuote => {
                Hint::text("close the quote, or double it (`\"\"`) and quote the whole cell if it belongs to the text")
            }
            LineProblem::NotUtf8 => Hint::new("save the table as UTF-8"),
            LineProblem::NotJson { .. } => {
                Hint::text("write one object per line, such as `{\"id\": \"a\", \"words\": [\"x\", \"y\"]}`")
            }
            LineProblem::TooManyKeys { .. } => {
                Hint::new("each key is a column; put words that differ from row to row into a list")
            }
            LineProblem::Nested { path, .. } if path.ends_with(']') => {
                Hint::new("make one list of the lists within it | remove the key")
            }
            LineProblem::Nested { path, .. } => {
                let (path, own) = (quoted(path), key_of_path(path));
                let own = quoted(&own);
                Hint::text(format!("give `{path}` a key of its own, such as `{own}`, with a value or a list"))
                    .or("remove the key")
            }
            LineProblem::NoName { .. } => Hint::new("give every node a name"),
            LineProblem::RepeatedNode { .. } => Hint::new("delete one of the two rows"),
            LineProblem::UnknownNode { .. } => Hint::new("add the row | drop such links with {unknown-nodes=drop}"),
            LineProblem::TooManyRelations { .. } => {
                Hint::new("rename the column if it does not say what links mean | say which column does with {columns}")
            }
            LineProblem::NegativeWeight { .. } => Hint::new(
                "weights are 0 or more, and 0 is no link | say which column has them with {columns}: `weight = \"\"` under `[edges]` for none",
            ),
            LineProblem::NotATime { .. } => Hint::new(
                "leave the cell empty if the time is unknown | say which column has times with {columns}: `time = \"\"` under `[edges]` for none",
            ),
            LineProblem::NotABoolean { .. } => Hint::new("leave the cell empty if the answer is unknown"),
            LineProblem::NoSuchNode { .. } => {
                Hint::new("a source is a new node, or else a known one; a target is a known node, or else a new one")
            }
            LineProblem::NotKnown { .. } => Hint::new("name a node that the model was trained on"),
            LineProblem::NotInGraph { .. } => Hint::new("name nodes as the graph and its split do"),
            LineProblem::NotAScore { .. } => Hint::new("give every pair a number: the higher, the likelier a link"),
            LineProblem::NotARank { .. } => Hint::new("number each list from 1, the likeliest link first"),
            LineProblem::NotADirection { .. } => {
                Hint::new("write `out` where a link runs from the source to the target, else `in`")
            }
            LineProblem::TwoScores { .. } => Hint::new("keep one of the two rows"),
            LineProblem::GivenLink(problem) => return problem.hint(),
            LineProblem::Cell(problem) => return problem.hint(),
            LineProblem::NotANumber { .. } | LineProblem::NotFinite { .. } => {
                Hint::new("leave the cell empty if the value is unknown")
            }
        })
    }
}

/// A key for a nested value: `tags[0].name` becomes `tags_name`.
fn key_of_path(path: &str) -> String {
    let without_places: String =
        path.split('[').map(|part| part.split_once(']').map_or(part, |(_, rest)| rest)).collect();
    without_places.replace('.', "_")
}

fn other_columns(missing: &[String], extra: &[String]) -> String {
    let list = |names: &[String]| {
        let s = if names.len() == 1 { "" } else { "s" };
        format!("column{s} {}", all_quoted(names))
    };
    let mut problems = Vec::new();
    if !missing.is_empty() {
        problems.push(format!("{} {} missing", list(missing), if missing.len() == 1 { "is" } else { "are" }));
    }
    if !extra.is_empty() {
        problems.push(format!("the model has no {}", list(extra)));
    }
    problems.join("; ")
}
