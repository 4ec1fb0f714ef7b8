//! Loading as a user meets it: real sets, stored files, damaged files.

use std::fs;
use std::path::{Path, PathBuf};

use coldlink::dataset::{Dataset, Notes};
use coldlink::graph::{Attributes, Cleaned, Graph, Names};
use coldlink::load::{LoadError, LoadOptions, NpzFile, PackedProblem, load, load_tables, open_packed, write_packed};

/// Where the real sets are, if they are: they belong to no checkout.
fn real(file: &str) -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folder = std::env::var_os("DEAL_DATA").map_or_else(beside, PathBuf::from);
    Some(folder.join(file)).filter(|path| path.exists())
}

fn stored(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files").join(file)
}

#[test]
fn real_sets_have_the_published_sizes() {
    let check = |file: &str, nodes: usize, links: usize, attributes: usize| {
        let Some(path) = real(file) else { return };
        let dataset = load(&path, &LoadOptions { strict_input: true, ..LoadOptions::default() }).unwrap();
        let (graph, width) = (&dataset.graph, dataset.attributes.width());
        assert_eq!((graph.nodes(), graph.links(), width), (nodes, links, attributes), "{file}");
        assert_eq!(dataset.notes, Notes::default(), "{file}");
        assert_eq!(format!("{}.npz", dataset.name), file);
    };
    check("cora.npz", 2_708, 5_278, 1_433);
    check("citeseer.npz", 3_327, 4_552, 3_703);
    check("cs.npz", 18_333, 81_894, 6_805);
    check("computers.npz", 13_752, 245_861, 767);
    check("photo.npz", 7_650, 119_081, 745);
    check("ppi_3480.npz", 3_480, 53_377, 50);
    check("cora_ml.npz", 2_995, 8_158, 2_879);
}

#[test]
fn real_splits_are_read_as_pairs() {
    let Some(path) = real("citeseer-authors-split/inductive.npz") else { return };
    let mut npz = NpzFile::open(&path).unwrap();
    for name in ["train_pos", "val_pos", "val_neg", "test_pos", "test_neg"] {
        let (shape, pairs) = npz.integers(name).unwrap();
        assert_eq!((shape[1], shape[0] * shape[1]), (2, pairs.len()), "{name}");
    }
}

#[test]
fn a_real_set_survives_packing() {
    let Some(path) = real("citeseer.npz") else { return };
    let folder = tempfile::tempdir().unwrap();
    let packed = folder.path().join("citeseer.coldlink");
    let dataset = load(&path, &LoadOptions::default()).unwrap();
    write_packed(&dataset, &packed).unwrap();
    assert!(load(&packed, &LoadOptions::default()).unwrap() == dataset);
}

/// `stored.npz` is what numpy's `savez` writes, uncompressed: a self-loop, explicit zeros, unsorted and repeated
/// columns, and a different type of number in each array.
#[test]
fn an_uncompressed_archive_with_mixed_types_is_tidied() {
    let dataset = load(&stored("stored.npz"), &LoadOptions::default()).unwrap();
    assert_eq!(dataset.graph.iter_links().collect::<Vec<_>>(), [(0, 1), (1, 2)]);
    assert_eq!(dataset.notes.cleaned, Cleaned { self_loops: 1, ..Cleaned::default() });
    let rows = [vec![(1, 0.75), (3, 2.0)], vec![], vec![(2, -4.0)]];
    assert_eq!(dataset.attributes, Attributes::from_rows(4, &rows).unwrap());
}

/// Every field of a packed file in use.
fn sample() -> Dataset {
    let folder = tempfile::tempdir().unwrap();
    let (edges, nodes) = (folder.path().join("edges.csv"), folder.path().join("nodes.csv"));
    fs::write(&edges, "source,target,weight\nα,p2,2\np2,α,1\np2,p3,1\np3,p3,1\n").unwrap();
    let rows = "α,1999,graph|link,,\"[0.5,1]\",paper\np2,,node,,,person\np3,-0.5,\"a, b\",,\"[2,-3]\",paper\n";
    fs::write(&nodes, format!("id,year,words,empty,look,node_type\n{rows}")).unwrap();
    load_tables(&edges, &nodes, &LoadOptions::default()).unwrap()
}

#[test]
fn a_stored_packed_file_opens() {
    let opened = open_packed(&stored("version-1.coldlink")).unwrap();
    assert_eq!(opened, sample());
    assert_eq!(opened.attributes.dense(), [0.5, 1.0, 0.0, 0.0, 2.0, -3.0]);
    assert_eq!(opened.attributes.types().unwrap().all(), [0, 1, 0]);
}

#[test]
fn strict_input_refuses_a_packed_graph_that_had_directions() {
    let strict = LoadOptions { strict_input: true, ..LoadOptions::default() };
    let refused = load(&stored("version-1.coldlink"), &strict);
    assert!(matches!(refused, Err(LoadError::Directed { one_way: 1, links: 2, .. })));
}

#[test]
#[ignore = "writes the stored file; for a new version of the format, under its own name"]
fn store_a_packed_file() {
    write_packed(&sample(), &stored("version-1.coldlink")).unwrap();
}

#[test]
fn numbered_nodes_without_columns_survive_packing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("graph.packed");
    let graph = Graph::from_links(3, [(0, 1)]);
    let attributes = Attributes::from_rows(2, &[vec![(1, 0.5)], vec![], vec![]]).unwrap();
    let dataset = Dataset {
        name: "three".into(),
        graph,
        attributes,
        names: Names::Numbered(3),
        schema: None,
        notes: Notes::default(),
    };
    write_packed(&dataset, &path).unwrap();
    assert_eq!(load(&path, &LoadOptions::default()).unwrap(), dataset);
}

#[test]
fn a_packed_file_with_any_byte_changed_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("damaged.coldlink");
    let whole = fs::read(stored("version-1.coldlink")).unwrap();
    for place in 0..whole.len() {
        for change in [0x01, 0x80, 0xff] {
            let mut damaged = whole.clone();
            damaged[place] ^= change;
            fs::write(&path, damaged).unwrap();
            assert!(matches!(open_packed(&path), Err(LoadError::Packed { .. })), "byte {place}");
            // Overwriting instead would wait for the disk each time.
            fs::remove_file(&path).unwrap();
        }
    }
}

#[test]
fn a_packed_file_cut_anywhere_or_lengthened_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.coldlink");
    let whole = fs::read(stored("version-1.coldlink")).unwrap();
    for length in 0..whole.len() {
        fs::write(&path, &whole[..length]).unwrap();
        assert!(load(&path, &LoadOptions::default()).is_err(), "{length} bytes");
        fs::remove_file(&path).unwrap();
    }
    fs::write(&path, [whole.as_slice(), &[0; 64]].concat()).unwrap();
    let longer = open_packed(&path);
    assert!(matches!(longer, Err(LoadError::Packed { problem: PackedProblem::Length { .. }, .. })));
}

#[test]
fn a_packed_file_of_a_later_version_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("later.coldlink");
    let mut later = fs::read(stored("version-1.coldlink")).unwrap();
    later[8] = 9;
    fs::write(&path, later).unwrap();
    let error = open_packed(&path).unwrap_err();
    assert!(error.to_string().ends_with("it has format version 9, and this coldlink reads up to 1"), "{error}");
    assert_eq!(error.hint().unwrap(), "install a newer coldlink, or pack the graph again");
}

/// `nodes.parquet` is what pyarrow writes; `tests/golden/parquet.py` made it.
#[test]
fn a_parquet_file_has_all_kinds_of_columns() {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(stored("nodes.parquet"), folder.path().join("nodes.parquet")).unwrap();
    fs::write(folder.path().join("edges.csv"), "source,target\na,b\nb,c\n").unwrap();
    let dataset = load(folder.path(), &LoadOptions { strict_input: true, ..LoadOptions::default() }).unwrap();
    let schema = dataset.schema.unwrap();
    let kinds: Vec<_> = schema.columns.iter().map(|column| (column.name.as_str(), column.kind.name())).collect();
    let expected = [
        ("title", "categorical"),
        ("price", "numeric"),
        ("stock", "numeric"),
        ("new", "boolean"),
        ("listed", "date-time"),
        ("seen", "date-time"),
        ("tags", "multi-valued"),
        ("look", "vector"),
        ("sort", "categorical"),
    ];
    assert_eq!(kinds, expected);
    let names = dataset.attributes.names();
    let has = |row: u32, name: &str| {
        let column = names.0.iter().position(|known| known == name).unwrap_or_else(|| panic!("{name} in {names:?}"));
        dataset.attributes.value(row, column as u32)
    };
    assert_eq!((has(0, "price"), has(1, "price is missing"), has(2, "price")), (Some(1.5), Some(1.0), Some(-2.0)));
    assert_eq!((has(0, "new"), has(1, "new"), has(2, "new is missing")), (Some(1.0), None, Some(1.0)));
    assert_eq!(
        (has(0, "tags=y|z"), has(0, "title=Éléments of graphs"), has(2, "sort=i")),
        (Some(1.0), Some(1.0), Some(1.0))
    );
    assert_eq!((has(1, "look[1]"), has(1, "listed is missing")), (Some(2.0), Some(1.0)));
    assert!((has(0, "seen (year)").unwrap() - 24.33).abs() < 0.01);
}

#[test]
fn a_parquet_file_that_is_cut_or_changed_is_an_error_or_another_table() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("nodes.parquet");
    fs::write(folder.path().join("edges.csv"), "source,target\na,b\nb,c\n").unwrap();
    let whole = fs::read(stored("nodes.parquet")).unwrap();
    for length in (0..whole.len()).step_by(7) {
        fs::write(&path, &whole[..length]).unwrap();
        assert!(load(folder.path(), &LoadOptions::default()).is_err(), "{length} bytes");
        let mut changed = whole.clone();
        changed[length] ^= 0x15;
        fs::write(&path, changed).unwrap();
        let _ = load(folder.path(), &LoadOptions::default());
    }
}
