//! Loading as a user meets it: real sets, damaged files.

use std::fs;
use std::path::{Path, PathBuf};

use coldlink::dataset::Notes;
use coldlink::graph::{Attributes, Cleaned};
use coldlink::load::{LoadOptions, NpzFile, load, write_packed};

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
