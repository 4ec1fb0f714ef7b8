//! The PPI layout of GraphSAGE: a folder of `train_graph.json` (networkx's node-link form), `train_feats.npy` (a row of
//! attributes per node) and `train_graph_id.npy` (which of several graphs a node is in).

use std::io::{self, BufReader};
use std::path::Path;

use serde::Deserialize;

use super::npy::Array;
use crate::dataset::{Dataset, Notes};
use crate::graph::{Attributes, Names, NodeId};
use crate::load::error::{ArrayProblem, LoadError, PpiProblem, json_error, read_error};
use crate::load::{BuiltLinks, GivenLinks, LoadOptions, UnknownNodes, name_of};
use crate::storage::open_regular;

/// The file that tells this layout from a folder of tables.
pub(in crate::load) const GRAPH: &str = "train_graph.json";
const FEATURES: &str = "train_feats.npy";
const GRAPH_IDS: &str = "train_graph_id.npy";
/// All files of the layout that are read.
pub(in crate::load) const FILES: [&str; 3] = [GRAPH, FEATURES, GRAPH_IDS];

/// Of all graphs in the files the paper used this one.
const FIRST_GRAPH: i64 = 1;

/// Loads the first graph of a folder, its nodes in order of their position.
pub(in crate::load) fn load_folder(folder: &Path, options: &LoadOptions) -> Result<Dataset, LoadError> {
    let path = folder.join(GRAPH);
    let file = NodeLink::read(&path)?;
    let members = read_members(folder, file.nodes.len())?;
    let (BuiltLinks { graph, relations, .. }, notes) = file.links(&path, &members, options)?;
    let attributes = read_attributes(folder, file.nodes.len(), &members)?;
    let names = Names::from_texts(members.iter().map(usize::to_string));
    Ok(Dataset { name: name_of(folder), graph, relations, attributes, names, titles: None, schema: None, notes })
}

/// What is read of the node-link form.
#[derive(Deserialize)]
struct NodeLink {
    #[serde(default)]
    directed: bool,
    nodes: Vec<Node>,
    links: Vec<Link>,
}

#[derive(Deserialize)]
struct Node {
    id: usize,
}

#[derive(Deserialize)]
struct Link {
    source: usize,
    target: usize,
    weight: Option<f64>,
}

impl NodeLink {
    /// A file with nodes whose ids are their positions. Versions of networkx differ in which of the two links name.
    fn read(path: &Path) -> Result<Self, LoadError> {
        let reader = BufReader::new(open_regular(path).map_err(|source| read_error(path, source))?);
        let file: NodeLink = serde_json::from_reader(reader).map_err(|error| json_error(path, error))?;
        if file.nodes.is_empty() {
            return Err(LoadError::NoNodes { path: path.to_owned() });
        }
        match file.nodes.iter().map(|node| node.id).enumerate().find(|(position, id)| position != id) {
            Some((position, id)) => Err(problem(path, PpiProblem::NotItsPosition { position, id })),
            None => Ok(file),
        }
    }

    /// The links between `members`, which are sorted.
    fn links(&self, path: &Path, members: &[usize], options: &LoadOptions) -> Result<(BuiltLinks, Notes), LoadError> {
        let (mut given, mut notes) = (GivenLinks::default(), Notes::default());
        let number = |position: usize| members.binary_search(&position).ok().map(|number| number as NodeId);
        for (link, &Link { source, target, weight }) in self.links.iter().enumerate() {
            let (id, nodes) = (source.max(target), self.nodes.len());
            if id >= nodes && options.unknown_nodes == UnknownNodes::Refuse {
                return Err(problem(path, PpiProblem::UnknownNode { link, id, nodes }));
            }
            notes.unknown_ends += usize::from(id >= nodes);
            let weight = weight.unwrap_or(1.0);
            if weight < 0.0 || !(weight as f32).is_finite() {
                return Err(problem(path, PpiProblem::NotAWeight { link, weight }));
            }
            if let (Some(source), Some(target), true) = (number(source), number(target), weight != 0.0) {
                given.pairs.push((source, target));
                given.weights.push((weight as f32).max(f32::MIN_POSITIVE));
            }
        }
        // A file that says that links have a direction may state each both ways: then they have none.
        let directed = options.directed.or(if self.directed { None } else { Some(false) });
        options.check_relations(path, &[])?;
        let built = given.build(members.len(), &LoadOptions { directed, ..options.clone() });
        let mut notes = Notes { unknown_ends: notes.unknown_ends, ..built.notes() };
        notes.directed &= self.directed;
        if self.directed && notes.cleaned.reciprocal == built.graph.links() {
            notes.cleaned.reciprocal = 0;
        }
        options.check(path, &built.graph)?;
        Ok((built, notes))
    }
}

/// The positions of the nodes in the first graph.
fn read_members(folder: &Path, nodes: usize) -> Result<Vec<usize>, LoadError> {
    let path = folder.join(GRAPH_IDS);
    let array = read_array(&path)?;
    if array.shape != [nodes] {
        let expected = format!("[{nodes}], a number for each node of `{GRAPH}`");
        return Err(array_problem(&path, ArrayProblem::Shape { expected, found: array.shape }));
    }
    let mut ids = array.integers().map_err(|problem| array_problem(&path, problem))?;
    let members: Vec<usize> = (0..nodes).filter(|&position| ids[position] == FIRST_GRAPH).collect();
    if members.is_empty() {
        ids.sort_unstable();
        ids.dedup();
        return Err(problem(&path, PpiProblem::NoSuchGraph { expected: FIRST_GRAPH, found: ids }));
    }
    Ok(members)
}

/// The rows of `members`, without their zeros.
fn read_attributes(folder: &Path, nodes: usize, members: &[usize]) -> Result<Attributes, LoadError> {
    let path = folder.join(FEATURES);
    let array = read_array(&path)?;
    let width = match array.shape[..] {
        [rows, 0] if rows == nodes => return Err(LoadError::NoAttributes { path }),
        [rows, width] if rows == nodes => width,
        _ => {
            let expected = format!("a row for each of {nodes} nodes of `{GRAPH}`");
            return Err(array_problem(&path, ArrayProblem::Shape { expected, found: array.shape }));
        }
    };
    let floats = array.floats();
    let rows =
        members.iter().map(|&position| sparse_row(&floats, position * width, width)).collect::<Result<Vec<_>, _>>();
    let rows = rows.map_err(|problem| array_problem(&path, problem))?;
    Attributes::from_rows(width, &rows)
        .map_err(|reason| array_problem(&path, ArrayProblem::Damaged { reason: reason.into() }))
}

/// The columns and values of a row that are not zero.
fn sparse_row(floats: &[f64], start: usize, width: usize) -> Result<Vec<(u32, f32)>, ArrayProblem> {
    let mut row = Vec::new();
    for (column, &float) in floats[start..start + width].iter().enumerate() {
        let value = float as f32;
        if !value.is_finite() {
            return Err(ArrayProblem::NotFinite { entry: start + column, value: float });
        }
        if value != 0.0 {
            row.push((column as u32, value));
        }
    }
    Ok(row)
}

fn read_array(path: &Path) -> Result<Array, LoadError> {
    let file = open_regular(path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => array_problem(path, ArrayProblem::Missing),
        _ => read_error(path, source),
    })?;
    Array::read(file).map_err(|problem| array_problem(path, problem))
}

fn array_problem(path: &Path, array: ArrayProblem) -> LoadError {
    problem(path, PpiProblem::Array(array))
}

fn problem(path: &Path, problem: PpiProblem) -> LoadError {
    LoadError::Ppi { path: path.to_owned(), problem }
}

#[cfg(test)]
mod tests {
    use super::super::npy::npy_start;
    use super::*;
    use crate::graph::Cleaned;
    use crate::load::load;

    /// The three files, of which those that are empty are not written.
    #[derive(Clone)]
    struct Files {
        graph: String,
        features: Vec<u8>,
        ids: Vec<u8>,
    }

    impl Files {
        /// Nodes 1, 2 and 4 in a row, and nodes 0 and 3 of another graph.
        fn new() -> Self {
            let features = floats("(5, 2)", &[9.0, 9.0, 1.0, 0.0, 0.0, 0.0, f64::NAN, 9.0, 0.5, -2.0]);
            Files { graph: String::new(), features, ids: integers(&[2, 1, 1, 2, 1]) }.links(false, "[1,2] [4,2] [0,3]")
        }

        fn links(self, directed: bool, links: &str) -> Self {
            let link = |link: &str| {
                let (source, target) = link.trim_matches(['[', ']']).split_once(',').unwrap();
                format!(r#"{{"source": {source}, "target": {target}, "train_removed": false}}"#)
            };
            let links: Vec<String> = links.split(' ').map(link).collect();
            let nodes: Vec<String> = (0..5).map(|id| format!(r#"{{"id": {id}, "test": false}}"#)).collect();
            let (nodes, links) = (nodes.join(", "), links.join(", "));
            self.graph(&format!(
                "{{\"directed\": {directed}, \"multigraph\": false, \"graph\": {{}},\n\"nodes\": [{nodes}],\n\"links\": [{links}]}}"
            ))
        }

        fn graph(self, text: &str) -> Self {
            Files { graph: text.into(), ..self }
        }

        fn features(self, features: Vec<u8>) -> Self {
            Files { features, ..self }
        }

        fn ids(self, ids: Vec<u8>) -> Self {
            Files { ids, ..self }
        }

        fn load(&self, options: LoadOptions) -> Result<Dataset, LoadError> {
            let folder = tempfile::tempdir().unwrap();
            let ppi = folder.path().join("ppi");
            std::fs::create_dir(&ppi).unwrap();
            let files = [
                (GRAPH, self.graph.as_bytes()),
                (FEATURES, self.features.as_slice()),
                (GRAPH_IDS, self.ids.as_slice()),
            ];
            for (name, bytes) in files.into_iter().filter(|file| !file.1.is_empty()) {
                std::fs::write(ppi.join(name), bytes).unwrap();
            }
            load(&ppi, &options)
        }
    }

    fn floats(shape: &str, values: &[f64]) -> Vec<u8> {
        [npy_start("<f8", shape), values.iter().flat_map(|value| value.to_le_bytes()).collect()].concat()
    }

    fn integers(values: &[i64]) -> Vec<u8> {
        let start = npy_start("<i8", &format!("({},)", values.len()));
        [start, values.iter().flat_map(|value| value.to_le_bytes()).collect()].concat()
    }

    fn strict() -> LoadOptions {
        LoadOptions { strict_input: true, ..LoadOptions::default() }
    }

    #[test]
    fn only_the_first_graph_is_loaded_and_its_nodes_keep_their_ids() {
        let dataset = Files::new().load(strict()).unwrap();
        assert_eq!((dataset.name.as_str(), &dataset.names), ("ppi", &Names::from_texts(["1", "2", "4"])));
        assert_eq!(dataset.graph.iter_links().collect::<Vec<_>>(), [(0, 1), (1, 2)]);
        assert_eq!((dataset.attributes.rows(), dataset.attributes.width()), (3, 2));
        assert_eq!(dataset.attributes.row(0), (&[0][..], &[1.0][..]));
        assert_eq!(dataset.attributes.row(1).0.len(), 0);
        assert_eq!(dataset.attributes.row(2), (&[0, 1][..], &[0.5, -2.0][..]));
        assert_eq!((dataset.notes, dataset.schema), (Notes::default(), None));
    }

    #[test]
    fn attributes_may_have_32_bits() {
        let halves: Vec<u8> = [0.5_f32; 10].iter().flat_map(|value| value.to_le_bytes()).collect();
        let files = Files::new().features([npy_start("<f4", "(5, 2)"), halves].concat());
        assert_eq!(files.load(strict()).unwrap().attributes.row(2).1, [0.5, 0.5]);
    }

    #[test]
    fn self_loops_and_repeated_links_are_counted() {
        let check = |directed: bool, links: &str, expected: [usize; 3], noted: bool| {
            let dataset = Files::new().links(directed, links).load(LoadOptions::default()).unwrap();
            let notes = &dataset.notes;
            let [self_loops, duplicates, reciprocal] = expected;
            assert_eq!(notes.cleaned, Cleaned { self_loops, duplicates, reciprocal }, "{links}");
            assert_eq!(dataset.relations.is_some(), noted, "{links}");
        };
        check(false, "[1,2] [1,2] [2,1] [4,2] [4,4] [0,0]", [1, 1, 1], false);
        check(true, "[1,2] [2,1] [4,2] [2,4] [1,1]", [1, 0, 0], false);
        check(true, "[1,2] [2,1] [4,2]", [0, 0, 1], true);
    }

    #[test]
    fn weights_are_kept_unless_they_are_none() {
        let files = Files::new();
        let load = |weight: &str| {
            let text = files.graph.replacen("\"target\": 2", &format!("\"target\": 2, \"weight\": {weight}"), 1);
            files.clone().graph(&text).load(strict())
        };
        assert_eq!(load("0.5").unwrap().graph.weights().unwrap(), [0.5, 0.5, 1.0, 1.0]);
        assert!(load("1").unwrap().graph.weights().is_none());
        let error = load("-0.5").unwrap_err();
        assert!(error.to_string().ends_with("link 0 has the weight -0.5, expected 0 or more"), "{error}");
        assert!(error.hint().is_some());
    }

    #[test]
    fn links_of_unknown_nodes_are_dropped_when_asked_for() {
        let drop = LoadOptions { unknown_nodes: UnknownNodes::Drop, ..LoadOptions::default() };
        let dataset = Files::new().links(false, "[1,2] [1,5] [9,9]").load(drop).unwrap();
        assert_eq!((dataset.graph.links(), dataset.notes.unknown_ends), (1, 2));
    }

    #[test]
    fn an_error_names_the_file_and_what_is_wrong() {
        let check = |files: Files, expected: &str| {
            let error = files.load(LoadOptions::default()).unwrap_err();
            assert!(error.to_string().ends_with(expected), "{error}");
            assert!(error.hint().is_some(), "{error}");
        };
        let files = Files::new;
        let node = |id: &str| files().graph(&files().graph.replace("\"id\": 3", &format!("\"id\": {id}")));
        check(node("7"), "train_graph.json`: the node at position 3 has id 7, expected 3");
        check(node("-3"), "train_graph.json` line 2, column 98: invalid value: integer `-3`, expected usize");
        check(files().graph("{\"nodes\": [],\n \"links\": ["), "line 2, column 11: EOF while parsing a list");
        check(files().graph("{\"nodes\": []}"), "line 1, column 13: missing field `links`");
        check(files().graph("{\"nodes\": [], \"links\": []}"), "train_graph.json` has no nodes");
        let unknown = "train_graph.json`: link 1 ends at node 5, but the last of 5 nodes is 4";
        check(files().links(false, "[1,2] [5,1]"), unknown);
        check(files().links(false, "[0,3] [0,1] [2,2]"), "train_graph.json` has no links between different nodes");
        check(files().features(vec![]), "train_feats.npy`: it is missing");
        check(files().features(b"\x93NUMPY".to_vec()), "its data is damaged: failed to fill whole buffer");
        check(files().features(floats("(5, 0)", &[])), "train_feats.npy` becomes an attribute");
        let rows = "its shape is [1, 2], expected a row for each of 5 nodes of `train_graph.json`";
        check(files().features(floats("(1, 2)", &[1.0; 2])), rows);
        check(
            files().features(floats("(10,)", &[1.0; 10])),
            "expected a row for each of 5 nodes of `train_graph.json`",
        );
        let infinite = floats("(5, 1)", &[0.0, 0.0, 1e300, 0.0, 0.0]);
        check(files().features(infinite), "expected a finite 32-bit number");
        check(files().ids(vec![]), "train_graph_id.npy`: it is missing");
        let length = "its shape is [2], expected [5], a number for each node of `train_graph.json`";
        check(files().ids(integers(&[1, 1])), length);
        check(files().ids(floats("(5,)", &[0.5; 5])), "entry 0 is 0.5, expected a 64-bit integer");
        check(files().ids(integers(&[3, 2, 2, 3, 9])), "train_graph_id.npy`: no node has graph id 1, only 2, 3, 9");
        let many: Vec<i64> = (2..102).collect();
        assert!(PpiProblem::NoSuchGraph { expected: 1, found: many }.to_string().ends_with("24, 25, …"));
    }
}
