//! The SparseGraph layout of arrays in an `.npz` file (gnn-benchmark, Graph2Gauss).

use std::path::Path;

use super::archive::NpzFile;
use crate::columns::Mismatches;
use crate::dataset::{Dataset, NewNodes};
use crate::graph::{AttributeNames, Attributes, Names, NodeId, UNKNOWN_TIME};
use crate::load::error::{ArrayProblem, LoadError};
use crate::load::input::Input;
use crate::load::{BuiltLinks, GivenLinks, Limits, LoadOptions, name_of};

/// A graph with attributes in SparseGraph layout.
pub(in crate::load) fn load_sparse_graph(path: &Path, options: &LoadOptions) -> Result<Dataset, LoadError> {
    let mut npz = NpzFile::of(&Input::open(path, &options.limits)?)?;
    let adjacency = Csr::read(&mut npz, "adj")?;
    let (nodes, columns) = adjacency.shape;
    if nodes != columns {
        let expected = "square".to_owned();
        return Err(npz.problem("adj_shape", ArrayProblem::Shape { expected, found: vec![nodes, columns] }));
    }
    if nodes == 0 {
        return Err(LoadError::NoNodes { path: path.to_owned() });
    }
    options.check_relations(path, &[])?;
    let (weights, times) = (adjacency.weights(&npz)?, adjacency.times(&mut npz)?);
    let links = GivenLinks { weights, times, pairs: adjacency.links().collect(), ..Default::default() };
    drop(adjacency);
    let links = links.build(nodes, options);
    let mut notes = links.notes();
    let BuiltLinks { graph, relations, .. } = links;
    // A symmetric matrix states each link twice by nature.
    if relations.is_none() && notes.cleaned.reciprocal == graph.links() {
        notes.cleaned.reciprocal = 0;
    }
    options.check(path, &graph)?;
    let attributes = read_attributes(&mut npz, &options.limits)?;
    if attributes.width() == 0 {
        return Err(LoadError::NoAttributes { path: path.to_owned() });
    }
    if attributes.rows() != nodes {
        let expected = format!("a row for each of {nodes} nodes");
        let found = vec![attributes.rows(), attributes.width()];
        return Err(npz.problem("attr_shape", ArrayProblem::Shape { expected, found }));
    }
    let names = Names::Numbered(nodes);
    Ok(Dataset { name: name_of(path), graph, relations, attributes, names, titles: None, schema: None, notes })
}

/// Whether new nodes in a file are arrays and no table: by its first bytes, or else by its name.
pub(in crate::load) fn is_npz(input: &Input) -> Result<bool, LoadError> {
    Ok(input.start(2)? == b"PK" || input.path().extension().is_some_and(|ending| ending == "npz"))
}

/// New nodes from the `attr_*` arrays of an `.npz` file; they must have `width` columns.
pub fn load_new_npz(path: &Path, width: usize) -> Result<NewNodes, LoadError> {
    load_new_arrays(&Input::open(path, &Limits::default())?, width)
}

/// The same from an input.
pub(in crate::load) fn load_new_arrays(input: &Input, width: usize) -> Result<NewNodes, LoadError> {
    let attributes = read_attributes(&mut NpzFile::of(input)?, input.limits())?;
    let path = input.path();
    if attributes.width() != width {
        return Err(LoadError::Width { path: path.to_owned(), expected: width, found: attributes.width() });
    }
    if attributes.rows() == 0 {
        return Err(LoadError::NoNodes { path: path.to_owned() });
    }
    let names = Names::Numbered(attributes.rows());
    Ok(NewNodes { names, titles: None, attributes, mismatches: Mismatches::default() })
}

/// Rows with sorted columns: repeated ones are summed, as scipy does, and zeros left out.
fn read_attributes(npz: &mut NpzFile, limits: &Limits) -> Result<Attributes, LoadError> {
    let csr = Csr::read(npz, "attr")?;
    let (columns, most) = (csr.shape.1, limits.attributes);
    if columns > most {
        return Err(npz.problem("attr_shape", ArrayProblem::TooManyColumns { columns, most }));
    }
    let given = csr.values.as_deref().ok_or_else(|| npz.problem("attr_data", ArrayProblem::Missing))?;
    let not_finite = |entry: usize, value: f64| npz.problem("attr_data", ArrayProblem::NotFinite { entry, value });
    let (mut offsets, mut columns, mut values) = (vec![0_u64], Vec::new(), Vec::new());
    let mut row: Vec<(u32, usize)> = Vec::new();
    for range in csr.offsets.windows(2).map(|pair| pair[0]..pair[1]) {
        row.clear();
        row.extend(range.map(|entry| (csr.columns[entry], entry)));
        row.sort_unstable();
        for same in row.chunk_by(|a, b| a.0 == b.0) {
            let (column, entry) = same[0];
            let sum: f64 = same.iter().map(|&(_, entry)| given[entry]).sum();
            let value = sum as f32;
            if !value.is_finite() {
                return Err(not_finite(entry, sum));
            }
            if value != 0.0 {
                columns.push(column);
                values.push(value);
            }
        }
        offsets.push(columns.len() as u64);
    }
    let names = AttributeNames::default();
    Attributes::from_parts(csr.shape.1, offsets.into(), columns.into(), values.into(), names)
        .map_err(|reason| npz.problem("attr_indices", ArrayProblem::Damaged { reason: reason.into() }))
}

/// A sparse matrix whose arrays fit together.
struct Csr {
    shape: (usize, usize),
    offsets: Vec<usize>,
    columns: Vec<u32>,
    values: Option<Vec<f64>>,
}

impl Csr {
    fn read(npz: &mut NpzFile, prefix: &str) -> Result<Self, LoadError> {
        let name = |part: &str| format!("{prefix}_{part}");
        let shape = read_shape(npz, &name("shape"))?;
        let columns = read_columns(npz, &name("indices"), shape.1)?;
        let offsets = read_offsets(npz, &name("indptr"), shape.0, columns.len())?;
        let values = if npz.has(&name("data")) { Some(read_values(npz, &name("data"), columns.len())?) } else { None };
        Ok(Csr { shape, offsets, columns, values })
    }

    /// The weights of the entries that are not zero; none where all are 1.
    fn weights(&self, npz: &NpzFile) -> Result<Vec<f32>, LoadError> {
        let values = self.values.as_deref().unwrap_or_default();
        let problem = |problem| npz.problem("adj_data", problem);
        if let Some(entry) = values.iter().position(|&value| !(value as f32).is_finite()) {
            return Err(problem(ArrayProblem::NotFinite { entry, value: values[entry] }));
        }
        if let Some(entry) = values.iter().position(|&value| value < 0.0) {
            return Err(problem(ArrayProblem::Negative { entry, value: values[entry] }));
        }
        if values.iter().all(|&value| value == 0.0 || value == 1.0) {
            return Ok(Vec::new());
        }
        let linked = values.iter().filter(|&&value| value != 0.0);
        Ok(linked.map(|&value| (value as f32).max(f32::MIN_POSITIVE)).collect())
    }

    /// The times of the entries that are not zero; none where there is no array of them. Of NaN a time is not known.
    fn times(&self, npz: &mut NpzFile) -> Result<Vec<f64>, LoadError> {
        let name = "adj_time";
        if !npz.has(name) {
            return Ok(Vec::new());
        }
        let times = read_values(npz, name, self.columns.len())?;
        if let Some(entry) = times.iter().position(|time| time.is_infinite()) {
            return Err(npz.problem(name, ArrayProblem::NotFinite { entry, value: times[entry] }));
        }
        let linked = times.iter().enumerate().filter(|&(entry, _)| self.is_link(entry));
        Ok(linked.map(|(_, &time)| if time.is_nan() { UNKNOWN_TIME } else { time }).collect())
    }

    fn is_link(&self, entry: usize) -> bool {
        self.values.as_ref().is_none_or(|values| values[entry] != 0.0)
    }

    /// Every stored entry that is not zero, as (row, column).
    fn links(&self) -> impl Iterator<Item = (NodeId, NodeId)> + '_ {
        (0..self.shape.0).flat_map(move |row| {
            let entries = self.offsets[row]..self.offsets[row + 1];
            entries.filter(|&entry| self.is_link(entry)).map(move |entry| (row as NodeId, self.columns[entry]))
        })
    }
}

fn read_shape(npz: &mut NpzFile, name: &str) -> Result<(usize, usize), LoadError> {
    let (shape, lengths) = npz.integers(name)?;
    let &[rows, columns] = lengths.as_slice() else {
        return Err(npz.problem(name, ArrayProblem::Shape { expected: "[2]".into(), found: shape }));
    };
    check_range(npz, name, &lengths, u32::MAX.into())?;
    Ok((rows as usize, columns as usize))
}

fn read_columns(npz: &mut NpzFile, name: &str, width: usize) -> Result<Vec<u32>, LoadError> {
    let (_, columns) = npz.integers(name)?;
    check_range(npz, name, &columns, width as i64 - 1)?;
    Ok(columns.iter().map(|&column| column as u32).collect())
}

fn read_offsets(npz: &mut NpzFile, name: &str, rows: usize, entries: usize) -> Result<Vec<usize>, LoadError> {
    let (shape, offsets) = npz.integers(name)?;
    if offsets.len() != rows + 1 {
        let expected = format!("[{}], one more than rows", rows + 1);
        return Err(npz.problem(name, ArrayProblem::Shape { expected, found: shape }));
    }
    check_range(npz, name, &offsets, entries as i64)?;
    if let Some(entry) = offsets.windows(2).position(|pair| pair[0] > pair[1]) {
        return Err(npz.problem(name, ArrayProblem::Falling { entry: entry + 1 }));
    }
    // Entries that no row claims would be lost silently.
    check_exactly(npz, name, 0, offsets[0], 0)?;
    check_exactly(npz, name, rows, offsets[rows], entries as i64)?;
    Ok(offsets.iter().map(|&offset| offset as usize).collect())
}

fn read_values(npz: &mut NpzFile, name: &str, entries: usize) -> Result<Vec<f64>, LoadError> {
    let (shape, values) = npz.floats(name)?;
    if values.len() != entries {
        let expected = format!("[{entries}], as many as columns");
        return Err(npz.problem(name, ArrayProblem::Shape { expected, found: shape }));
    }
    Ok(values)
}

fn check_range(npz: &NpzFile, name: &str, values: &[i64], limit: i64) -> Result<(), LoadError> {
    match values.iter().position(|value| !(0..=limit).contains(value)) {
        Some(entry) => Err(npz.problem(name, ArrayProblem::OutOfRange { entry, value: values[entry], limit })),
        None => Ok(()),
    }
}

fn check_exactly(npz: &NpzFile, name: &str, entry: usize, value: i64, expected: i64) -> Result<(), LoadError> {
    if value == expected {
        return Ok(());
    }
    Err(npz.problem(name, ArrayProblem::Unexpected { entry, value, expected }))
}

#[cfg(all(test, feature = "npz"))]
mod tests {
    use super::super::npy::npy_start;
    use super::*;
    use crate::dataset::Notes;
    use std::fs::File;
    use std::io::Write;

    /// An archive of one-dimensional arrays of whole numbers.
    struct Archive(Vec<(&'static str, Vec<i64>)>);

    impl Archive {
        /// Three nodes in a row, 0-1-2, with two attributes.
        fn path_graph() -> Self {
            Archive(vec![
                ("adj_data", vec![1, 1, 1, 1]),
                ("adj_indices", vec![1, 0, 2, 1]),
                ("adj_indptr", vec![0, 1, 3, 4]),
                ("adj_shape", vec![3, 3]),
                ("attr_data", vec![1, 2, 3]),
                ("attr_indices", vec![0, 1, 1]),
                ("attr_indptr", vec![0, 2, 2, 3]),
                ("attr_shape", vec![3, 2]),
            ])
        }

        fn with(mut self, name: &'static str, values: &[i64]) -> Self {
            self.0.retain(|array| array.0 != name);
            self.0.push((name, values.to_vec()));
            self
        }

        fn without(mut self, name: &str) -> Self {
            self.0.retain(|array| array.0 != name);
            self
        }

        fn load(&self, options: LoadOptions) -> Result<Dataset, LoadError> {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("graph.npz");
            self.write(&path);
            load_sparse_graph(&path, &options)
        }

        fn write(&self, path: &Path) {
            let mut zip = zip::ZipWriter::new(File::create(path).unwrap());
            for (name, values) in &self.0 {
                zip.start_file(format!("{name}.npy"), zip::write::SimpleFileOptions::default()).unwrap();
                zip.write_all(&npy_start("<i8", &format!("({},)", values.len()))).unwrap();
                values.iter().for_each(|value| zip.write_all(&value.to_le_bytes()).unwrap());
            }
            zip.finish().unwrap();
        }
    }

    fn strict() -> LoadOptions {
        LoadOptions { strict_input: true, ..LoadOptions::default() }
    }

    #[test]
    fn a_plain_graph_is_loaded_without_notes() {
        let dataset = Archive::path_graph().load(strict()).unwrap();
        assert_eq!(dataset.graph.iter_links().collect::<Vec<_>>(), [(0, 1), (1, 2)]);
        assert_eq!(dataset.attributes.row(0), (&[0, 1][..], &[1.0, 2.0][..]));
        assert_eq!(dataset.attributes.row(1).0.len(), 0);
        assert_eq!((dataset.name.as_str(), dataset.names), ("graph", Names::Numbered(3)));
        assert_eq!((dataset.notes, dataset.schema), (Notes::default(), None));
    }

    #[test]
    fn every_entry_is_a_link_where_there_are_no_weights() {
        let dataset = Archive::path_graph().without("adj_data").load(strict()).unwrap();
        assert_eq!(dataset.graph.links(), 2);
    }

    #[test]
    fn directions_and_weights_are_kept() {
        let one_way = Archive::path_graph().with("adj_data", &[1, 1, 1, 0]);
        assert!(one_way.load(strict()).unwrap().relations.is_some());
        assert!(Archive::path_graph().load(strict()).unwrap().relations.is_none());
        let weights = Archive::path_graph().with("adj_data", &[3, 3, 1, 1]);
        assert_eq!(weights.load(strict()).unwrap().graph.weights().unwrap(), [3.0, 3.0, 1.0, 1.0]);
        let all_the_same = Archive::path_graph().with("adj_data", &[3, 3, 3, 3]);
        assert_eq!(all_the_same.load(strict()).unwrap(), Archive::path_graph().load(strict()).unwrap());
    }

    #[test]
    fn times_of_links_are_kept_and_survive_packing() {
        let years = [1999, 1999, 2005, 2004];
        let timed = Archive::path_graph().with("adj_time", &years).load(strict()).unwrap();
        assert_eq!(timed.graph.times().unwrap(), [1999.0, 1999.0, 2004.0, 2004.0], "the first time of a link counts");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("graph.coldlink");
        crate::load::write_packed(&timed, &path).unwrap();
        assert_eq!(crate::load::open_packed(&path).unwrap(), timed);
        let directed = Archive::path_graph().with("adj_data", &[1, 1, 1, 0]).with("adj_time", &years);
        let relations = directed.load(strict()).unwrap().relations.unwrap();
        let (first, last) = (relations.roles.at(1, 0), relations.roles.at(2, 1));
        let times = |node: NodeId| relations.graph.entries(node).map(|entry| relations.graph.times().unwrap()[entry]);
        assert_eq!(times(first).collect::<Vec<_>>(), [1999.0, 2005.0], "entries that are no links have no times");
        assert_eq!(times(last).collect::<Vec<_>>(), [2005.0]);
    }

    #[test]
    fn a_time_that_is_no_number_is_not_known() {
        let adjacency = |times: &[f64]| {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("graph.npz");
            let mut zip = zip::ZipWriter::new(File::create(&path).unwrap());
            zip.start_file("adj_time.npy", zip::write::SimpleFileOptions::default()).unwrap();
            zip.write_all(&npy_start("<f8", &format!("({},)", times.len()))).unwrap();
            times.iter().for_each(|time| zip.write_all(&time.to_le_bytes()).unwrap());
            zip.finish().unwrap();
            let csr = Csr { shape: (2, 2), offsets: vec![0, 1, 2], columns: vec![1, 0], values: None };
            csr.times(&mut NpzFile::open(&path).unwrap()).map_err(|error| error.to_string())
        };
        assert_eq!(adjacency(&[2001.5, f64::NAN]), Ok(vec![2001.5, UNKNOWN_TIME]));
        let error = adjacency(&[f64::INFINITY, 1.0]).unwrap_err();
        assert!(error.contains("array `adj_time`: entry 0 is inf"), "{error}");
        let error = adjacency(&[1.0]).unwrap_err();
        assert!(error.contains("its shape is [1], expected [2]"), "{error}");
    }

    #[test]
    fn arrays_that_do_not_fit_are_named() {
        let check = |archive: Archive, expected: &str| {
            let error = archive.load(LoadOptions::default()).unwrap_err().to_string();
            assert!(error.ends_with(expected), "{error}");
        };
        let graph = Archive::path_graph;
        check(graph().without("adj_indptr"), "array `adj_indptr`: it is missing");
        check(graph().without("attr_data"), "array `attr_data`: it is missing");
        check(graph().with("adj_shape", &[3]), "array `adj_shape`: its shape is [1], expected [2]");
        check(graph().with("adj_shape", &[3, 4]), "array `adj_shape`: its shape is [3, 4], expected square");
        check(graph().with("adj_shape", &[-1, 3]), "`adj_shape`: entry 0 is -1, expected 0 to 4294967295");
        check(graph().with("adj_shape", &[4, 4]), "its shape is [4], expected [5], one more than rows");
        check(graph().with("adj_indices", &[1, 0, 3, 1]), "`adj_indices`: entry 2 is 3, expected 0 to 2");
        check(graph().with("adj_indptr", &[0, 3, 1, 4]), "entry 2 is smaller than the one before it");
        check(graph().with("adj_indptr", &[0, 1, 3, 3]), "`adj_indptr`: entry 3 is 3, expected 4");
        check(graph().with("adj_data", &[1]), "its shape is [1], expected [4], as many as columns");
        check(graph().with("adj_data", &[1, 1, -2, 1]), "`adj_data`: entry 2 is -2, expected a weight of 0 or more");
        check(graph().with("adj_time", &[2001]), "`adj_time`: its shape is [1], expected [4], as many as columns");
        check(graph().with("adj_data", &[0; 4]), "has no links between different nodes");
        check(graph().with("attr_shape", &[2, 2]), "its shape is [4], expected [3], one more than rows");
        let bare = graph().with("attr_shape", &[3, 0]).with("attr_indptr", &[0; 4]).with("attr_indices", &[]);
        check(bare.with("attr_data", &[]), "becomes an attribute");
        let empty = graph().with("adj_shape", &[0, 0]).with("adj_indptr", &[0]).with("adj_indices", &[]);
        check(empty.with("adj_data", &[]), "has no nodes");
        let wide = graph().with("attr_shape", &[3, 1 << 31]);
        check(wide, "`attr_shape`: it asks for 2147483648 attribute columns, more than 67108864");
        let fewer = graph().with("attr_shape", &[2, 2]).with("attr_indptr", &[0, 1, 3]);
        check(fewer, "`attr_shape`: its shape is [2, 2], expected a row for each of 3 nodes");
    }

    #[test]
    fn new_nodes_need_attributes_of_the_same_width_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new.npz");
        let mut archive = Archive::path_graph();
        archive.0.retain(|array| array.0.starts_with("attr_"));
        archive.write(&path);
        let new = load_new_npz(&path, 2).unwrap();
        assert_eq!((new.names, new.attributes.rows(), new.mismatches.unknown.len()), (Names::Numbered(3), 3, 0));
        assert!(matches!(load_new_npz(&path, 5), Err(LoadError::Width { expected: 5, found: 2, .. })));
    }

    #[test]
    fn arrays_that_unpack_to_much_more_than_their_archive_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("zeros.npz");
        Archive(vec![("train_pos", vec![0; 20_000]), ("test_pos", vec![0; 20_000])]).write(&path);
        let limits = Limits { unpacked: 200_000, expansion: 1, ..Limits::default() };
        let mut npz = NpzFile::of(&Input::open(&path, &limits).unwrap()).unwrap();
        assert_eq!(npz.integers("train_pos").unwrap().1.len(), 20_000);
        let error = npz.integers("test_pos").unwrap_err();
        assert!(
            matches!(error, LoadError::Array { problem: ArrayProblem::UnpacksTooFar { most: 200_000 }, .. }),
            "{error}"
        );
    }

    #[test]
    fn any_archive_of_numbers_can_be_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("split.npz");
        Archive(vec![("train_pos", vec![4, 5, 6]), ("hidden", vec![])]).write(&path);
        let mut npz = NpzFile::open(&path).unwrap();
        assert_eq!(npz.names(), ["hidden", "train_pos"]);
        assert_eq!(npz.integers("train_pos").unwrap(), (vec![3], vec![4, 5, 6]));
        assert_eq!(npz.floats("hidden").unwrap(), (vec![0], vec![]));
        let missing = npz.integers("test_pos").unwrap_err();
        assert!(matches!(missing, LoadError::Array { problem: ArrayProblem::Missing, .. }));
        assert_eq!(missing.hint(), None);
    }

    #[test]
    fn what_is_no_archive_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("not.npz");
        assert!(matches!(NpzFile::open(&path), Err(LoadError::NotFound { .. })));
        std::fs::write(&path, b"PK\x03\x04 and nothing more").unwrap();
        assert!(matches!(NpzFile::open(&path), Err(LoadError::Archive { .. })));
    }
}
