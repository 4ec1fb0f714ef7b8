//! A graph as two tables, one of links and one of nodes; and new nodes as a table.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::error::{LineProblem, LoadError, TableProblem};
use super::rows::{Rows, endings};
use super::schema::Schema;
use super::table::Table;
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
    if attributes.width() == 0 {
        return Err(LoadError::NoAttributes { path: nodes.to_owned() });
    }
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
    let mut found = endings().map(|ending| format!("{table}{ending}")).filter(|name| folder.join(name).is_file());
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

/// New nodes from JSON lines in memory, as [`load_new`] reads them from a file. A row without a name is called by its place, from
/// `new 1` on.
pub fn new_from_json_lines(lines: Vec<u8>, schema: &Schema) -> Result<NewNodes, LoadError> {
    let table = Table::of(Rows::of_json_lines(lines)?)?;
    let (attributes, unknown_values) = schema.apply(&table)?;
    let id = table.header().iter().position(|column| *column == schema.id);
    let name = |row: usize| match id.map(|id| table.cell(row, id)) {
        None | Some("") => format!("new {}", row + 1),
        Some(name) => name.to_owned(),
    };
    Ok(NewNodes { names: Names::from_texts((0..table.rows()).map(name)), attributes, unknown_values })
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    use crate::load::load;

    const NODES: &str = "id,year,words\np1,1999,graph|link\np2,,node\np3,2001,\"link, new | node\"\n";
    const EDGES: &str = "source,target\np1,p2\np3,p1\n";

    fn load_texts(edges: &[u8], nodes: &[u8], options: LoadOptions) -> Result<Dataset, LoadError> {
        let folder = tempfile::tempdir().unwrap();
        let papers = folder.path().join("papers");
        std::fs::create_dir(&papers).unwrap();
        std::fs::write(papers.join("edges.csv"), edges).unwrap();
        std::fs::write(papers.join("nodes.csv"), nodes).unwrap();
        load(&papers, &options)
    }

    fn load_plain(edges: &str, nodes: &str) -> Result<Dataset, LoadError> {
        load_texts(edges.as_bytes(), nodes.as_bytes(), LoadOptions::default())
    }

    #[test]
    fn names_links_and_attributes_come_from_two_tables() {
        let dataset = load_plain(EDGES, NODES).unwrap();
        assert_eq!(dataset.name, "papers");
        assert_eq!(dataset.names, Names::from_texts(["p1", "p2", "p3"]));
        assert_eq!(dataset.graph.iter_links().collect::<Vec<_>>(), [(0, 1), (0, 2)]);
        let names = ["year", "words=graph", "words=link", "words=link, new", "words=node"];
        assert_eq!(dataset.attributes.names().0, names);
        assert_eq!(dataset.attributes.row(0), (&[0, 1, 2][..], &[1999.0, 1.0, 1.0][..]));
        assert_eq!(dataset.attributes.row(1), (&[4][..], &[1.0][..]));
        assert_eq!(dataset.attributes.row(2), (&[0, 3, 4][..], &[2001.0, 1.0, 1.0][..]));
        assert_eq!(dataset.notes, Notes::default());
    }

    #[test]
    fn links_are_in_named_columns_or_the_first_two() {
        let check = |edges: &str| {
            let dataset = load_plain(edges, NODES).unwrap();
            assert_eq!(dataset.graph.iter_links().collect::<Vec<_>>(), [(0, 1), (0, 2)], "{edges}");
        };
        check("From,To\np1,p2\np3,p1\n");
        check("kind,dst,src\ncites,p2,p1\ncites,p1,p3\n");
        check("a,b,c\np1,p2,x\np3,p1,\n");
        check("\u{feff}source , target\r\n p1, p2\r\n\r\np3,p1");
    }

    #[test]
    fn a_nameless_first_column_names_nodes_or_says_nothing() {
        let dataset = load_plain(",source,target\n0,p1,p2\n", ",year\np1,1999\np2,2000\n").unwrap();
        assert_eq!((dataset.names.get(1), dataset.attributes.width()), ("p2".into(), 1));
        let dataset = load_plain(",source,target\n0,p1,p2\n", ",id,year\n0,p1,1999\n1,p2,2000\n").unwrap();
        assert_eq!((dataset.names.get(1), dataset.attributes.width()), ("p2".into(), 1));
        assert_eq!(dataset.notes, Notes::default());
    }

    #[test]
    fn some_links_in_both_directions_mean_that_links_have_one() {
        let check =
            |edges: &str, directed: bool| assert_eq!(load_plain(edges, NODES).unwrap().notes.directed, directed);
        check("source,target\np1,p2\np3,p1\n", false);
        check("source,target\np1,p2\np2,p1\n", false);
        check("source,target\np1,p2\np2,p1\np1,p3\n", true);
    }

    #[test]
    fn weights_are_noted_and_zero_is_no_link() {
        let dataset = load_plain("source,target,weight\np1,p2,0.5\np1,p3,0\np2,p3,\n", NODES).unwrap();
        assert_eq!(dataset.graph.iter_links().collect::<Vec<_>>(), [(0, 1), (1, 2)]);
        assert!(dataset.notes.weighted);
        assert!(!load_plain("source,target,weight\np1,p2,1\n", NODES).unwrap().notes.weighted);
    }

    #[test]
    fn links_of_unknown_nodes_are_dropped_when_asked_for() {
        let drop = LoadOptions { unknown_nodes: UnknownNodes::Drop, ..LoadOptions::default() };
        let dataset = load_texts(b"source,target\np1,p9\np1,p2\n", NODES.as_bytes(), drop).unwrap();
        assert_eq!((dataset.graph.links(), dataset.notes.unknown_ends), (1, 1));
    }

    #[test]
    fn strict_input_refuses_directions_and_weights() {
        let strict = LoadOptions { strict_input: true, ..LoadOptions::default() };
        let check = |edges: &str| load_texts(edges.as_bytes(), NODES.as_bytes(), strict).unwrap_err();
        let one_way = check("source,target\np1,p2\np2,p1\np1,p3\n");
        assert!(matches!(one_way, LoadError::Directed { one_way: 1, links: 2, .. }));
        assert!(matches!(check("source,target,w\np1,p2,3\n"), LoadError::Weighted { .. }));
    }

    #[test]
    fn an_error_names_the_file_the_line_and_what_is_wrong() {
        let check = |edges: &str, nodes: &str, expected: &str| {
            let error = load_plain(edges, nodes).unwrap_err();
            assert!(error.to_string().ends_with(expected), "{error}");
            assert!(error.hint().is_some(), "{error}");
        };
        check(
            "source,target\np1,p2\np4,p1\n",
            NODES,
            "edges.csv` line 3: node `p4` has a link but no row in `nodes.csv`",
        );
        check(
            "source,target\np1,\n",
            NODES,
            "edges.csv` line 2: column `target` is empty, where a node's name belongs",
        );
        check("source,target\np1,p2,p3\n", NODES, "edges.csv` line 2: 3 cells, where the header has 2");
        check("source,target,weight\np1,p2,x\n", NODES, "line 2: column `weight` is numeric, and `x` is no number");
        check(
            "source,target,weight\np1,p2,inf\n",
            NODES,
            "column `weight` is numeric, and `inf` is not finite in 32 bits",
        );
        check("source\np1\n", NODES, "edges.csv`: a link needs two columns, and there is 1");
        check("p1,p2\np3,p1\n", NODES, "edges.csv`: the first line is no header: `p1` is a value");
        check("1,2\n2,3\n", "id\n1\n2\n3\n", "edges.csv`: the first line is no header: `1` is a value");
        check("", NODES, "edges.csv`: the file is empty");
        check("source,target\n", NODES, "edges.csv` has no link between two different nodes");
        check("source,target\np1,p1\n", NODES, "edges.csv` has no link between two different nodes");
        check(EDGES, "", "nodes.csv`: the file is empty");
        check(EDGES, "id,x\n", "nodes.csv` has no node");
        check(EDGES, "id\np1\np2\np3\n", "nodes.csv` has no column that makes an attribute");
        check(EDGES, "id,x\np1,1\np2,2\np1,3\n", "nodes.csv` line 4: node `p1` has a row already, in line 2");
        check(EDGES, "id,x\np1,1\n,2\n", "nodes.csv` line 3: column `id` is empty, where a node's name belongs");
        check(EDGES, "id,x,x\np1,1,2\n", "nodes.csv`: column `x` stands twice in the header");
        check(
            EDGES,
            "id,x\np1,1\np2,NaN\n",
            "nodes.csv` line 3: column `x` is numeric, and `NaN` is not finite in 32 bits",
        );
        check(
            EDGES,
            "id,x\np1,1e300\n",
            "nodes.csv` line 2: column `x` is numeric, and `1e300` is not finite in 32 bits",
        );
    }

    #[test]
    fn text_that_is_not_utf8_is_an_error_with_its_line() {
        let error = load_texts(EDGES.as_bytes(), b"id,x\np1,a\np2,\xff\n", LoadOptions::default()).unwrap_err();
        assert!(matches!(error, LoadError::Line { line: 3, problem: LineProblem::NotUtf8, .. }), "{error}");
    }

    #[test]
    fn a_folder_needs_each_table_once_and_a_table_needs_the_other() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        let check = |path: &Path| load(path, &LoadOptions::default()).unwrap_err();
        write("edges.csv", EDGES);
        assert!(matches!(check(folder.path()), LoadError::NoTable { table: "nodes", .. }));
        assert!(matches!(check(&folder.path().join("edges.csv")), LoadError::OneTable { .. }));
        assert!(matches!(check(&folder.path().join("links.csv")), LoadError::NotFound { .. }));
        write("nodes.csv", NODES);
        write("nodes.tsv", NODES);
        assert!(matches!(check(folder.path()), LoadError::TwoTables { .. }));
        write("readme.md", "# papers");
        assert!(matches!(check(&folder.path().join("readme.md")), LoadError::UnknownFormat { .. }));
    }

    #[test]
    fn tables_may_be_zipped_and_separated_by_tabs() {
        let folder = tempfile::tempdir().unwrap();
        let edges = folder.path().join("edges.tsv.gz");
        let mut zipped = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        zipped.write_all(EDGES.replace(',', "\t").as_bytes()).unwrap();
        let zipped = zipped.finish().unwrap();
        std::fs::write(&edges, &zipped).unwrap();
        std::fs::write(folder.path().join("nodes.csv"), NODES).unwrap();
        assert_eq!(load(folder.path(), &LoadOptions::default()).unwrap().graph.links(), 2);
        std::fs::write(&edges, &zipped[..zipped.len() - 9]).unwrap();
        assert!(matches!(load(folder.path(), &LoadOptions::default()), Err(LoadError::Read { .. })));
    }

    #[test]
    fn new_rows_become_the_same_attributes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new.csv");
        let schema = load_plain(EDGES, NODES).unwrap().schema.unwrap();
        let check = |text: &str| {
            std::fs::write(&path, text).unwrap();
            load_new(&path, &schema)
        };
        let new = check("extra,words,id,year\n9,node|graph|novel,p7,2003\n9,,p8,\n").unwrap();
        assert_eq!(new.names, Names::from_texts(["p7", "p8"]));
        assert_eq!(new.attributes.row(0), (&[0, 1, 4][..], &[2003.0, 1.0, 1.0][..]));
        assert_eq!((new.attributes.row(1).0.len(), new.attributes.width(), new.unknown_values), (0, 5, 1));
        let missing = check("id,words\np7,node\n").unwrap_err().to_string();
        assert!(missing.ends_with("new.csv`: there is no column `year`"), "{missing}");
        let text = check("id,words,year\np7,node,soon\n").unwrap_err().to_string();
        assert!(text.ends_with("line 2: column `year` is numeric, and `soon` is no number"), "{text}");
        assert!(matches!(check("id,words,year\n"), Err(LoadError::NoNodes { .. })));
    }
}
