//! A graph as two tables, one of links and one of nodes; and new nodes as a table.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::error::{LineProblem, LoadError, TableProblem};
use super::schema::Schema;
use super::table::{Rows, Table};
use super::{LoadOptions, NewNodes, UnknownNodes, name_of};
use crate::graph::{Dataset, GraphBuilder, Names, NodeId, Notes};

/// Headers of the two columns that make a link; other tables have it in their first two.
const ENDS: [(&str, &str); 4] = [("source", "target"), ("from", "to"), ("src", "dst"), ("src", "dest")];

/// Headers of a column of weights.
const WEIGHTS: [&str; 3] = ["weight", "weights", "w"];

/// Loads a graph from a table of links and a table of nodes.
///
/// Links are taken as directed, and their direction dropped, when some but not all stand there in both directions.
/// A weight of 0 is no link; other weights are dropped.
pub fn load_tables(edges: &Path, nodes: &Path, options: &LoadOptions) -> Result<Dataset, LoadError> {
    let table = Table::read(nodes)?;
    let schema = Schema::fit(&table)?;
    let id = table.find(&schema.id)?;
    let file_name = nodes.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let node_table = NodeTable { file_name, numbers: table.names(id)? };
    let mut links = Links::read(edges, &node_table, options.unknown_nodes)?;
    let mut builder = GraphBuilder::new(table.rows());
    builder.extend(links.pairs.drain(..));
    let (graph, tidied) = builder.build();
    let notes = Notes {
        tidied,
        directed: tidied.reciprocal != 0 && tidied.reciprocal != graph.links(),
        weighted: links.weighted,
        unknown_ends: links.unknown_ends,
        ignored_columns: schema.ignored(),
    };
    options.check(edges, &graph, &notes)?;
    let (attributes, _) = schema.apply(&table)?;
    let names = Names::from_texts(table.column(id));
    Ok(Dataset { name: name_of(edges), graph, attributes, names, schema: Some(schema), notes })
}

/// Loads the two tables of a folder.
pub(super) fn load_folder(folder: &Path, options: &LoadOptions) -> Result<Dataset, LoadError> {
    let edges = find_table(folder, "edges")?;
    let nodes = find_table(folder, "nodes")?;
    let dataset = load_tables(&edges, &nodes, options)?;
    Ok(Dataset { name: name_of(folder), ..dataset })
}

fn find_table(folder: &Path, table: &'static str) -> Result<PathBuf, LoadError> {
    let names = ["csv", "tsv", "csv.gz", "tsv.gz"].map(|ending| format!("{table}.{ending}"));
    let mut found = names.into_iter().filter(|name| folder.join(name).is_file());
    let folder = folder.to_owned();
    match (found.next(), found.next()) {
        (Some(first), Some(second)) => Err(LoadError::TwoTables { folder, first, second }),
        (Some(first), None) => Ok(folder.join(first)),
        (None, _) => Err(LoadError::NoTable { folder, table }),
    }
}

/// Loads new nodes from a table, with the attributes that `schema` was fitted to give.
///
/// Columns that the schema does not know are left aside; words that it does not know are counted.
pub fn load_new(path: &Path, schema: &Schema) -> Result<NewNodes, LoadError> {
    let table = Table::read(path)?;
    let id = table.find(&schema.id)?;
    table.names(id)?;
    let (attributes, unknown_values) = schema.apply(&table)?;
    Ok(NewNodes { names: Names::from_texts(table.column(id)), attributes, unknown_values })
}

/// What an edge table says.
#[derive(Default)]
struct Links {
    pairs: Vec<(NodeId, NodeId)>,
    weighted: bool,
    unknown_ends: usize,
}

impl Links {
    fn read(path: &Path, nodes: &NodeTable, unknown_nodes: UnknownNodes) -> Result<Self, LoadError> {
        let mut rows = Rows::open(path)?;
        let columns = LinkColumns::find(&rows, nodes)?;
        let mut links = Links::default();
        while let Some((line, row)) = rows.next()? {
            let added = links.add(&columns, row, nodes, unknown_nodes);
            added.map_err(|problem| rows.line_problem(line, problem))?;
        }
        Ok(links)
    }

    fn add(
        &mut self,
        columns: &LinkColumns,
        row: &csv::StringRecord,
        nodes: &NodeTable,
        unknown_nodes: UnknownNodes,
    ) -> Result<(), LineProblem> {
        let weight = columns.weight(row)?;
        match (nodes.find(row, &columns.source), nodes.find(row, &columns.target)) {
            (Ok(source), Ok(target)) => self.pairs.extend((weight != 0.0).then_some((source, target))),
            _ if unknown_nodes == UnknownNodes::Drop => self.unknown_ends += 1,
            (Err(problem), _) | (_, Err(problem)) => return Err(problem),
        }
        self.weighted |= weight != 0.0 && weight != 1.0;
        Ok(())
    }
}

/// The node table, as far as links need it.
struct NodeTable<'a> {
    file_name: String,
    numbers: HashMap<&'a str, NodeId>,
}

impl NodeTable<'_> {
    fn find(&self, row: &csv::StringRecord, column: &Column) -> Result<NodeId, LineProblem> {
        let name = &row[column.index];
        self.numbers.get(name).copied().ok_or_else(|| match name {
            "" => LineProblem::NoName { column: column.name.clone() },
            _ => LineProblem::UnknownNode { name: name.to_owned(), nodes: self.file_name.clone() },
        })
    }
}

/// Where an edge table has what.
struct LinkColumns {
    source: Column,
    target: Column,
    weight: Option<Column>,
}

struct Column {
    index: usize,
    name: String,
}

impl LinkColumns {
    fn find(rows: &Rows, nodes: &NodeTable) -> Result<Self, LoadError> {
        let header = rows.header();
        if header.len() < 2 {
            return Err(rows.problem(TableProblem::TooFewColumns { columns: header.len() }));
        }
        let named = |name: &str| header.iter().position(|column| column.eq_ignore_ascii_case(name));
        let pair = ENDS.iter().find_map(|(source, target)| named(source).zip(named(target)));
        let (source, target) = pair.unwrap_or((0, 1));
        if pair.is_none() && [source, target].iter().all(|&end| nodes.numbers.contains_key(header[end].as_str())) {
            return Err(rows.problem(TableProblem::NoHeader { cell: header[0].clone() }));
        }
        let column = |index: usize| Column { index, name: header[index].clone() };
        let weight = WEIGHTS.iter().find_map(|name| named(name)).filter(|&weight| weight != source && weight != target);
        Ok(LinkColumns { source: column(source), target: column(target), weight: weight.map(column) })
    }

    /// A weight that is not given is 1.
    fn weight(&self, row: &csv::StringRecord) -> Result<f64, LineProblem> {
        let Some((cell, column)) = self.weight.as_ref().map(|weight| (&row[weight.index], &weight.name)) else {
            return Ok(1.0);
        };
        if cell.is_empty() {
            return Ok(1.0);
        }
        let named = || (column.clone(), cell.to_owned());
        let weight: f64 = cell.parse().map_err(|_| LineProblem::not_a_number(named()))?;
        weight.is_finite().then_some(weight).ok_or_else(|| LineProblem::not_finite(named()))
    }
}
