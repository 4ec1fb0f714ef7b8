//! A graph as two tables, one of links and one of nodes; and new nodes as a table.

mod ends;
mod json_lines;
mod links;
mod memory;
mod nodes;
mod pairs;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(not(feature = "parquet"))]
#[path = "no_parquet.rs"]
mod parquet;
mod rows;
mod scores;
mod text;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use ends::{Ends, some_ends};
use links::Links;
use nodes::{NamesOfRows, NodeTable, read_new};
use rows::Rows;
pub(in crate::load) use rows::endings;

use super::error::LoadError;
use super::input::Input;
use super::{BuiltLinks, Limits, LoadOptions, name_of};
use crate::columns::{ColumnKind, Schema, TypeColumn};
use crate::dataset::{Dataset, NewNodes, Notes};
use crate::graph::{Graph, Names};

pub use memory::{Objects, Table};
pub use pairs::{load_given_links, load_held_out_links, load_names, load_pairs};
pub(in crate::load) use rows::is_table;
pub use scores::{ScoreKind, ScoreRow, ScoreTable, load_scores, scores_in_memory};

/// Loads a graph from a table of links and a table of nodes.
///
/// Whether links are directed is found out from how they run, unless `options` say so. A weight of 0 is no link; other weights are kept,
/// and those of several rows of one link add up.
pub fn load_tables(edges: &Path, nodes: &Path, options: &LoadOptions) -> Result<Dataset, LoadError> {
    let [of_nodes, of_edges] = [nodes, edges].map(|path| Input::open(path, &options.limits));
    let (of_nodes, of_edges) = (of_nodes?, of_edges?);
    let open = || Rows::open(&of_nodes);
    let links = || Rows::open(&of_edges);
    assemble(&open, (edges, &links), options)
}

/// Loads a graph from both tables as JSON lines in memory.
pub fn load_json_lines(nodes: Vec<u8>, edges: Vec<u8>, options: &LoadOptions) -> Result<Dataset, LoadError> {
    let nodes = Input::in_memory("nodes", nodes, &options.limits);
    let edges = Input::in_memory("edges", edges, &options.limits);
    let open = || Rows::of_json_lines(&nodes);
    let links = || Rows::of_json_lines(&edges);
    assemble(&open, (Path::new("edges"), &links), options)
}

/// Loads a graph from both tables in memory. Rows are counted from 1 in errors, as lines of files are.
pub fn load_in_memory(nodes: &dyn Table, edges: &dyn Table, options: &LoadOptions) -> Result<Dataset, LoadError> {
    let open = || Rows::of_table("nodes", nodes);
    let links = || Rows::of_table("edges", edges);
    assemble(&open, (Path::new("edges"), &links), options)
}

/// Opens a table.
type Open<'o, 'a> = &'o dyn Fn() -> Result<Rows<'a>, LoadError>;

/// Puts both tables together. Where links show which column tells node types, the node table is read once more.
fn assemble<'a>(
    open: Open<'_, 'a>,
    (edges, links): (&Path, Open<'_, '_>),
    options: &LoadOptions,
) -> Result<Dataset, LoadError> {
    // Those that a file of columns names are open; others are named from where the program runs.
    let columns = options.columns.clone().with_vectors(Path::new(""))?;
    let options = &LoadOptions { columns, ..options.clone() };
    let table = NodeTable::read(open, &some_ends(links()?, options)?, &options.columns, options.strict_input)?;
    let ends = Ends::new(&table.file_name, table.index()?, options);
    let Links { given, unknown_ends, unused } = Links::read(links()?, &ends, options)?;
    options.check_relations(edges, &given.relations)?;
    let built = given.build(ends.numbers.len(), options);
    let other_forms = ends.other_forms();
    let table = with_types(table, open, &built.graph, options)?;
    let notes = Notes {
        unknown_ends,
        other_forms,
        unused_link_columns: unused,
        repeated_rows: table.repeated_rows,
        ignored_columns: table.schema.ignored(),
        cells: table.mismatches.notes(),
        columns: table.findings.clone(),
        ..built.notes()
    };
    let BuiltLinks { graph, relations, .. } = built;
    options.check(edges, &graph)?;
    if table.attributes.width() == 0 {
        return Err(LoadError::NoAttributes { path: table.path });
    }
    let NodeTable { names, titles, attributes, schema, .. } = table;
    let names = Names::Texts(names);
    Ok(Dataset { name: name_of(edges), graph, relations, attributes, names, titles, schema: Some(schema), notes })
}

/// The table with the node types that links show, beyond doubt or as a column's name says; others are only proposed.
fn with_types<'a>(
    mut table: NodeTable,
    open: Open<'_, 'a>,
    graph: &Graph,
    options: &LoadOptions,
) -> Result<NodeTable, LoadError> {
    let found = TypeColumn::find(&table.schema, &table.attributes, graph);
    let Some(found) = found.filter(|found| !options.columns.columns.contains_key(&found.name)) else {
        return Ok(table);
    };
    if found.is_taken() {
        let mut columns = options.columns.clone();
        columns.columns.insert(found.name.clone(), ColumnKind::Type {});
        columns.id = Some(table.schema.id);
        table = NodeTable::read(open, &HashSet::new(), &columns, options.strict_input)?;
    }
    table.findings.iter_mut().filter(|finding| finding.column == found.name).for_each(|finding| found.tell(finding));
    Ok(table)
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

/// Loads new nodes from a table, with the attributes that `schema` gives. What is not expected is counted, or refused where input
/// is to be strict.
pub fn load_new(path: &Path, schema: &Schema, strict: bool) -> Result<NewNodes, LoadError> {
    load_new_table(&Input::open(path, &Limits::default())?, schema, strict)
}

/// The same from an input.
pub(super) fn load_new_table(input: &Input, schema: &Schema, strict: bool) -> Result<NewNodes, LoadError> {
    read_new(Rows::open(input)?, schema, NamesOfRows::Given, strict)
}

/// New nodes from JSON lines in memory, as [`load_new`] reads them from a file. A row without a name is called by its place, from
/// `new 1` on.
pub fn new_from_json_lines(lines: Vec<u8>, schema: &Schema, strict: bool) -> Result<NewNodes, LoadError> {
    let input = Input::in_memory("new nodes", lines, &Limits::default());
    read_new(Rows::of_json_lines(&input)?, schema, NamesOfRows::Optional, strict)
}

/// New nodes from a table in memory, as [`load_new`] reads them from a file. A row without a name is called by its place, from
/// `new 1` on.
pub fn new_nodes(table: &dyn Table, schema: &Schema, strict: bool) -> Result<NewNodes, LoadError> {
    read_new(Rows::of_table("new nodes", table)?, schema, NamesOfRows::Optional, strict)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::CellProblem;
    use std::io::Write;

    use crate::graph::{Attributes, NodeId};
    use crate::load::{LineProblem, UnknownNodes, load};

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
        let words = ["words=graph", "words=link", "words=link, new", "words=node", "words=(other)"];
        assert_eq!(dataset.attributes.names().0, [&["year", "year is missing"][..], &words].concat());
        assert_eq!(dataset.attributes.row(0), (&[0, 2, 3][..], &[1999.0, 1.0, 1.0][..]));
        assert_eq!(dataset.attributes.row(1), (&[1, 5][..], &[1.0, 1.0][..]));
        assert_eq!(dataset.attributes.row(2), (&[0, 4, 5][..], &[2001.0, 1.0, 1.0][..]));
        assert!(dataset.notes_in_words().is_empty());
    }

    #[test]
    fn more_attributes_than_are_of_use_are_refused_before_there_is_room_for_them() {
        let names: Vec<String> = (0..80).map(|column| format!("c{column}")).collect();
        let nodes = format!("id,{}\np1{}\n", names.join(","), ",word".repeat(80));
        let columns: Vec<String> = names
            .iter()
            .map(|name| format!("{name} = {{ kind = \"text\", hashed = true, buckets = 4194304, shared = false }}\n"))
            .collect();
        let columns = toml::from_str(&format!("[columns]\n{}", columns.concat())).unwrap();
        let error = load_texts(b"source,target\n", nodes.as_bytes(), LoadOptions { columns, ..LoadOptions::default() });
        let problem = LineProblem::Cell(CellProblem::TooManyAttributes { most: 1 << 26 });
        assert!(matches!(error, Err(LoadError::Line { line: 2, problem: found, .. }) if found == problem));
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
    fn links_are_in_the_columns_that_are_said() {
        let said = |text: &str| LoadOptions { columns: toml::from_str(text).unwrap(), ..LoadOptions::default() };
        let edges = b"when,target,buyer,product,weight,size\n1,x,p1,p2,1,0\n2,y,p3,p1,1,1\n3,y,p3,p2,0,0\n";
        let options = said("[edges]\nsource = \"buyer\"\ntarget = \"product\"\n");
        let dataset = load_texts(edges, NODES.as_bytes(), options).unwrap();
        assert_eq!(dataset.graph.iter_links().collect::<Vec<_>>(), [(0, 1), (0, 2)]);
        let options = said("[edges]\nsource = \"buyer\"\ntarget = \"product\"\nweight = \"size\"\n");
        assert_eq!(
            load_texts(edges, NODES.as_bytes(), options).unwrap().graph.iter_links().collect::<Vec<_>>(),
            [(0, 2)]
        );
        let options = said("[edges]\nsource = \"buyer\"\ntarget = \"item\"\n");
        let error = load_texts(edges, NODES.as_bytes(), options).unwrap_err();
        assert!(error.to_string().contains("`item`") && error.hint().is_some(), "{error}");
    }

    #[test]
    fn a_nameless_first_column_names_nodes_or_says_nothing() {
        let dataset = load_plain(",source,target\n0,p1,p2\n", ",year\np1,1999\np2,2000\n").unwrap();
        assert_eq!((dataset.names.get(1), dataset.attributes.width()), ("p2".into(), 2));
        let dataset = load_plain(",source,target\n0,p1,p2\n", ",id,year\n0,p1,1999\n1,p2,2000\n").unwrap();
        assert_eq!((dataset.names.get(1), dataset.attributes.width()), ("p2".into(), 2));
        assert!(dataset.notes_in_words().is_empty());
    }

    #[test]
    fn some_links_in_both_directions_mean_that_links_have_one() {
        let check = |edges: &str, directed: bool| {
            assert_eq!(load_plain(edges, NODES).unwrap().relations.is_some(), directed, "{edges}");
        };
        check("source,target\np1,p2\np3,p1\n", false);
        check("source,target\np1,p2\np2,p1\n", false);
        check("source,target\np1,p2\np2,p1\np1,p3\n", true);
    }

    #[test]
    fn relations_are_in_a_column_of_that_name_or_in_the_one_that_is_said() {
        let edges = "source,target,relation,how\np1,p2,cites,x\np2,p1,cites,x\np1,p3,cites,y\np2,p3,likes,y\n";
        let found = |dataset: &Dataset| {
            let relations = dataset.relations.as_ref().unwrap().roles.relations();
            relations.iter().map(|relation| (relation.name.clone(), relation.directed)).collect::<Vec<_>>()
        };
        let dataset = load_plain(edges, NODES).unwrap();
        assert_eq!(found(&dataset), [("cites".to_owned(), true), ("likes".to_owned(), false)]);
        assert_eq!((dataset.graph.links(), dataset.relations.as_ref().unwrap().graph.links()), (3, 4));
        let said = "[edges]\nsource = \"source\"\ntarget = \"target\"\nrelation = \"how\"\n[relations.x]\ndirected = false\n[relations.y]\ndirected = true\n";
        let options = LoadOptions { columns: toml::from_str(said).unwrap(), ..LoadOptions::default() };
        let dataset = load_texts(edges.as_bytes(), NODES.as_bytes(), options).unwrap();
        assert_eq!(found(&dataset), [("x".to_owned(), false), ("y".to_owned(), true)]);
        let many: String = (0..33).map(|relation| format!("p1,p2,r{relation}\n")).collect();
        let error = load_plain(&format!("source,target,relation\n{many}"), NODES).unwrap_err();
        assert!(error.to_string().contains("line 34") && error.to_string().contains("32"), "{error}");
    }

    #[test]
    fn weights_are_told_and_zero_is_no_link() {
        let dataset = load_plain("source,target,weight\np1,p2,0.5\np1,p3,0\np2,p3,\n", NODES).unwrap();
        assert_eq!(dataset.graph.iter_links().collect::<Vec<_>>(), [(0, 1), (1, 2)]);
        assert_eq!(dataset.notes_in_words(), ["links have weights from 0.5 to 1: strong links count more"]);
        let dataset = load_plain("source,target,weight,year\np1,p2,1,2001\np2,p3,1,\n", NODES).unwrap();
        let times = "links have times from 2001 to 2001, 1 of 2 without one: the protocol `temporal` splits by them";
        assert_eq!(dataset.notes_in_words(), [times]);
    }

    #[test]
    fn links_of_unknown_nodes_are_dropped_when_asked_for() {
        let drop = LoadOptions { unknown_nodes: UnknownNodes::Drop, ..LoadOptions::default() };
        let dataset = load_texts(b"source,target\np1,p9\np1,p2\n", NODES.as_bytes(), drop).unwrap();
        assert_eq!((dataset.graph.links(), dataset.notes.unknown_ends), (1, 1));
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
        check("source,target\np1,\n", NODES, "edges.csv` line 2: column `target` is empty, but must name the node");
        check("source,target\np1,p2,p3\n", NODES, "edges.csv` line 2: expected 2 cells as in the header, got 3");
        check("source,target,weight\np1,p2,x\n", NODES, "line 2: column `weight` is numeric, but `x` is not a number");
        check(
            "source,target,weight\np1,p2,inf\n",
            NODES,
            "column `weight` is numeric, but `inf` is not a finite 32-bit number",
        );
        check("source\np1\n", NODES, "edges.csv`: a table of links needs two columns, got 1");
        check("p1,p2\np3,p1\n", NODES, "edges.csv`: the first line is not a header: `p1` is a value");
        check("1,2\n2,3\n", "id\n1\n2\n3\n", "edges.csv`: the first line is not a header: `1` is a value");
        check("", NODES, "edges.csv`: the file is empty");
        check("source,target\n", NODES, "edges.csv` has no links between different nodes");
        check("source,target\np1,p1\n", NODES, "edges.csv` has no links between different nodes");
        check(EDGES, "", "nodes.csv`: the file is empty");
        check(EDGES, "id,x\n", "nodes.csv` has no nodes");
        check(EDGES, "id\np1\np2\np3\n", "nodes.csv` becomes an attribute");
        check(EDGES, "id,x\np1,1\np2,2\np1,3\n", "nodes.csv` line 4: node `p1` already has a row, on line 2");
        check(EDGES, "id,x\np1,1\n,2\n", "nodes.csv` line 3: column `id` is empty, but must name the node");
    }

    #[test]
    fn cells_that_cannot_be_read_are_told_or_refused() {
        let nodes = "id,x\np1,1\np2,1e300\np3,n/a\n";
        let dataset = load_plain(EDGES, nodes).unwrap();
        assert_eq!(dataset.attributes.row(1), (&[1][..], &[1.0][..]));
        let told = "column `x`: 1 cell is not numeric and counts as missing, first on line 3: `1e300`";
        assert_eq!(dataset.notes.cells, [told]);
        let strict = LoadOptions { strict_input: true, ..LoadOptions::default() };
        let refused = load_texts(EDGES.as_bytes(), nodes.as_bytes(), strict).unwrap_err();
        assert!(
            matches!(
                refused,
                LoadError::Line { line: 3, problem: LineProblem::Cell(CellProblem::Unreadable { .. }), .. }
            ),
            "{refused}"
        );
    }

    #[test]
    fn a_column_is_of_the_kind_that_is_given() {
        let given =
            toml::from_str("id = \"id\"\n[columns]\nyear.kind = \"categorical\"\nwords.kind = \"ignore\"\n").unwrap();
        let options = LoadOptions { columns: given, ..LoadOptions::default() };
        let dataset = load_texts(EDGES.as_bytes(), NODES.as_bytes(), options.clone()).unwrap();
        assert_eq!(dataset.attributes.names().0, ["year=1999", "year=2001", "year=(other)"]);
        assert_eq!(dataset.notes.ignored_columns, ["words"]);
        let missing = load_texts(EDGES.as_bytes(), b"id,year\np1,1\n", options).unwrap_err();
        assert!(missing.to_string().ends_with("nodes.csv`: there is no column `words`"), "{missing}");
    }

    #[test]
    fn many_values_are_hashed_whether_they_were_met_before_the_limit_or_after() {
        let rows: String = (0..40).map(|row| format!("n{row},v{}|v{}\n", row % 10, row % 7)).collect();
        let given = "[columns]\nwords = { kind = \"multi-valued\", limit = 4, buckets = 8 }\n";
        let options = LoadOptions { columns: toml::from_str(given).unwrap(), ..LoadOptions::default() };
        let edges = "source,target\nn0,n1\n";
        let dataset = load_texts(edges.as_bytes(), format!("id,words\n{rows}").as_bytes(), options).unwrap();
        assert_eq!(dataset.attributes.names().0[3], "words#3");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new.csv");
        std::fs::write(&path, format!("id,words\n{rows}")).unwrap();
        let new = load_new(&path, dataset.schema.as_ref().unwrap(), true).unwrap();
        for row in 0..40 {
            assert_eq!(new.attributes.row(row), dataset.attributes.row(row));
        }
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
            load_new(&path, &schema, false)
        };
        let new = check("extra,words,id,year\n9,node|graph|novel,p7,2003\n9,,p8,\n").unwrap();
        assert_eq!(new.names, Names::from_texts(["p7", "p8"]));
        assert_eq!(new.attributes.row(0), (&[0, 2, 5, 6][..], &[2003.0, 1.0, 1.0, 1.0][..]), "`novel` is another");
        assert_eq!((new.attributes.row(1).0, new.attributes.width()), (&[1][..], 7));
        assert_eq!(new.mismatches.extra_columns, ["extra"]);
        let notes = new.mismatches.notes();
        assert!(notes.contains(&"column `words`: 1 value is unknown to the model: `novel`".to_owned()), "{notes:?}");
        let new = check("words,id,year\nu|v|node,p7,1\nw|x|w,p8,2\n").unwrap();
        assert_eq!(new.notes(), ["column `words`: 5 values are unknown to the model, such as `u`, `v`, `w`"]);
        let missing = check("id,words\np7,node\n").unwrap();
        assert_eq!(missing.mismatches.missing_columns, ["year"]);
        assert_eq!(missing.attributes.row(0).0, [1, 5], "as if its cells were empty");
        let text = check("id,words,year\np7,node,soon\n").unwrap();
        assert_eq!((text.mismatches.unreadable, text.attributes.row(0).0), (1, &[1, 5][..]));
        assert!(matches!(check("id,words,year\n"), Err(LoadError::NoNodes { .. })));
    }

    /// Items, users, a node without a kind, and one of a kind called `none`; users have a `plan`, and what stands under `price` is none.
    const OF_KINDS: &str = "id,price,node_type,age,seen,plan\n\
        i1,3,item,,2024-01-01,gold\ni2,,item,,,silver\n\
        u1,dear,user,30,2024-01-02,none\nu2,NA,user,,,none\n\
        x,,,,,\nn,,none,1,,gold\n";

    #[test]
    fn a_column_that_only_some_kinds_of_nodes_have_is_not_missing_in_the_others() {
        let columns = toml::from_str("[columns]\nprice = { kind = \"numeric\" }\n").unwrap();
        let options = LoadOptions { columns, ..LoadOptions::default() };
        let dataset = load_texts(b"source,target\nu1,i1\n", OF_KINDS.as_bytes(), options).unwrap();
        let schema = dataset.schema.unwrap();
        let of = |name: &str| schema.column(name).unwrap().0.of.join(" ");
        let found = ["price", "node_type", "age", "seen", "plan"].map(of);
        assert_eq!(found, ["item", "", "none user", "item user", ""]);
        let names = schema.attribute_names();
        let said = |attributes: &Attributes, node: NodeId| {
            let names = attributes.row(node).0.iter().map(|&column| names[column as usize].as_str());
            names.filter(|name| !name.starts_with("seen (")).collect::<Vec<_>>().join(", ")
        };
        let expected = [
            "price, node_type=item, plan=gold",
            "price is missing, node_type=item, seen is missing, plan=silver",
            "node_type=user, age, plan=none",
            "node_type=user, age is missing, seen is missing, plan=none",
            "price is missing, age is missing, seen is missing",
            "node_type=none, age, plan=gold",
        ];
        let found: Vec<String> = (0..6).map(|node| said(&dataset.attributes, node)).collect();
        assert_eq!(found, expected);

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new.csv");
        let load_text = |text: &str, strict: bool| {
            std::fs::write(&path, text).unwrap();
            load_new(&path, &schema, strict)
        };
        let again = load_text(OF_KINDS, false).unwrap();
        (0..6).for_each(|node| assert_eq!(again.attributes.row(node), dataset.attributes.row(node), "row {node}"));
        assert_eq!(toml::from_str::<Schema>(&toml::to_string(&schema).unwrap()).unwrap(), schema);
        let user = "id,node_type,age,seen,plan\nu7,user,,2024-02-02,none\n";
        let new = load_text(user, true).unwrap();
        assert_eq!(said(&new.attributes, 0), "node_type=user, age is missing, plan=none", "users have no price");
        let both = format!("{user}i7,item,,2024-02-02,gold\n");
        assert_eq!(load_text(&both, false).unwrap().mismatches.missing_columns, ["price"]);
        let error = load_text(&both, true).unwrap_err();
        assert!(error.to_string().ends_with("column `price` is missing"), "{error}");
    }

    #[test]
    fn a_column_that_is_said_to_tell_kinds_is_the_only_one() {
        let columns = toml::from_str("[columns]\nrole = { kind = \"type\" }\n").unwrap();
        let nodes = "id,node_type,role\na,x,user\nb,y,item\n";
        let options = LoadOptions { columns, ..LoadOptions::default() };
        let dataset = load_texts(b"source,target\na,b\n", nodes.as_bytes(), options).unwrap();
        assert_eq!(dataset.attributes.types().unwrap().names, ["item", "user"]);
    }

    #[test]
    fn strict_input_refuses_new_rows_that_are_not_as_expected() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new.csv");
        let schema = load_plain(EDGES, NODES).unwrap().schema.unwrap();
        let check = |text: &str, expected: &str| {
            std::fs::write(&path, text).unwrap();
            let error = load_new(&path, &schema, true).unwrap_err();
            assert!(error.to_string().ends_with(expected), "{error}");
            assert!(error.hint().is_some(), "{error}");
        };
        check("id,words\np7,node\n", "column `year` is missing");
        check("id,words,year,x\np7,node,1,1\n", "the model has no column `x`");
        check("id,words,year\np7,node,soon\n", "line 2: column `year`: cannot read `soon` as numeric");
        check("id,words,year\np7,novel,1\n", "line 2: column `words`: `novel` has an unknown value");
    }

    #[test]
    fn node_types_are_told_apart_up_to_a_limit_and_a_note_tells_of_more() {
        let check = |types: usize| {
            let rows: String = (0..types).map(|row| format!("n{row},t{row},{}\n", row % 7)).collect();
            load_plain("source,target\nn0,n1\n", &format!("id,node_type,x\n{rows}")).unwrap()
        };
        let most = check(255);
        let types = most.attributes.types().unwrap();
        assert_eq!((types.names.len(), types.names[types.of(9)].as_str()), (255, "t9"));
        assert!(most.notes.cells.is_empty());
        let more = check(256);
        assert!(more.attributes.types().is_none());
        assert_eq!(
            more.notes.cells,
            [
                "column `node_type` has 256 node types, more than 255: all nodes count as one type; use fewer types, or give the column the kind `categorical`"
            ]
        );
    }

    /// Rows with a vector each, except the first `without`.
    fn vectors(without: usize) -> Dataset {
        let cell = |row: usize| if row < without { String::new() } else { format!("[{row}.5, 1]") };
        let rows: String = (0..6).map(|row| format!("n{row},\"{}\",{}\n", cell(row), row % 2)).collect();
        load_plain("source,target\nn0,n1\n", &format!("id,look,x\n{rows}")).unwrap()
    }

    #[test]
    fn vectors_are_dense_if_half_of_the_rows_have_one() {
        let dense = vectors(3);
        assert_eq!(dense.attributes.names().0, ["x", "x is missing", "look[0]", "look[1]"]);
        assert_eq!((dense.attributes.dense_width(), dense.attributes.dense_row(0)), (2, &[0.0, 0.0][..]));
        assert_eq!((dense.attributes.row(4).0, dense.attributes.dense_row(4)), (&[0][..], &[4.5, 1.0][..]));
        let sparse = vectors(4);
        assert_eq!(sparse.attributes.names().0, ["look[0]", "look[1]", "x", "x is missing"]);
        assert_eq!(sparse.attributes.dense_width(), 0);
        assert_eq!(sparse.attributes.row(5), (&[0, 1, 2][..], &[5.5, 1.0, 1.0][..]));
        for dataset in [dense, sparse] {
            let rows = b"{\"id\": \"a\", \"x\": 2, \"look\": [7, 8.5]}\n{\"x\": 2}\n{\"look\": [1, 2, 3]}\n".to_vec();
            let new = new_from_json_lines(rows, dataset.schema.as_ref().unwrap(), false).unwrap();
            let name = |entry: (u32, f32)| (dataset.attributes.names().0[entry.0 as usize].as_str(), entry.1);
            let mut found: Vec<_> = new.attributes.iter_row(0).map(name).collect();
            found.sort_by(|a, b| a.0.cmp(b.0));
            assert_eq!(found, [("look[0]", 7.0), ("look[1]", 8.5), ("x", 2.0)]);
            assert_eq!(new.attributes.iter_row(1).map(name).collect::<Vec<_>>(), [("x", 2.0)]);
            assert_eq!(new.mismatches.unreadable, 1, "a list of another length");
        }
    }

    #[test]
    fn objects_in_memory_are_as_their_json_lines() {
        let nodes = "{\"id\":1,\"x\":1.5,\"tags\":[\"u\",2],\"flag\":true,\"look\":[0.5,1],\"title\":7}
{\"id\":\"b\",\"x\":-2,\"tags\":\"u|v\",\"flag\":false,\"look\":[2,3],\"title\":\"a tale of two\"}
{\"id\":\"c\",\"x\":null,\"tags\":[],\"title\":\"seven words are enough for a text\"}\n";
        let edges = "{\"source\":1,\"target\":\"b\",\"weight\":1}\n";
        let objects = |lines: &str| {
            Objects::new(lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()).unwrap()
        };
        let options = LoadOptions::default();
        let expected = load_json_lines(nodes.into(), edges.into(), &options).unwrap();
        let dataset = load_in_memory(&objects(nodes), &objects(edges), &options).unwrap();
        let sorted = |dataset: &Dataset| {
            let names = &dataset.attributes.names().0;
            let row = |node: NodeId| {
                let mut row: Vec<_> =
                    dataset.attributes.iter_row(node).map(|(column, value)| (&names[column as usize], value)).collect();
                row.sort_by(|a, b| a.0.cmp(b.0));
                format!("{row:?}")
            };
            (0..3).map(row).collect::<Vec<_>>()
        };
        assert_eq!(sorted(&dataset), sorted(&expected));
        assert_eq!((&dataset.names, dataset.graph.links()), (&expected.names, 1));
        let schema = dataset.schema.unwrap();
        let new = new_nodes(&objects("{\"x\":2,\"tags\":[2]}"), &schema, false).unwrap();
        let lines = new_from_json_lines(b"{\"x\":2,\"tags\":[2]}".to_vec(), &schema, false).unwrap();
        assert_eq!((new.names, new.attributes), (lines.names, lines.attributes));
        let nested = serde_json::from_str("{\"x\":[[1]]}").unwrap();
        assert!(matches!(Objects::new(vec![nested]), Err(LoadError::Line { line: 1, .. })));
    }

    #[test]
    fn tables_in_memory_are_as_those_in_files() {
        let nodes = b"{\"id\":\"a\",\"x\":1,\"tags\":[\"u\",\"v\"]}\n{\"id\":\"b\",\"tags\":[\"v\"]}\n".to_vec();
        let edges = b"{\"source\":\"a\",\"target\":\"b\"}\n".to_vec();
        let dataset = load_json_lines(nodes, edges, &LoadOptions::default()).unwrap();
        assert_eq!((dataset.graph.links(), dataset.attributes.width()), (1, 5));
        let schema = dataset.schema.unwrap();
        let new =
            new_from_json_lines(b"{\"x\":2}\n{\"id\":\"q\",\"tags\":[\"u\"]}\n".to_vec(), &schema, false).unwrap();
        assert_eq!(new.names, Names::from_texts(["new 1", "q"]));
        assert_eq!(new.attributes.row(1).0, [1, 2]);
    }
}
