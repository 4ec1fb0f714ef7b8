//! A word is one attribute, whichever text of a table it stands in.

use coldlink::columns::Columns;
use coldlink::dataset::Dataset;
use coldlink::graph::NodeId;
use coldlink::load::{LoadOptions, load, load_new};

const NODES: &str = "\
id,title,summary,shop
cold-brew,cold coffee,coffee that was brewed cold and slowly,north
hot-brew,hot coffee,coffee from a hot and noisy machine,south
iced-tea,cold tea,tea with ice and a slice of lemon,north
hot-tea,hot tea,leaves of tea in hot water,south
lemonade,cold lemonade,water with sugar and a slice of lemon,south
";

/// The table with columns as they are said, and what becomes of its own rows when they are loaded as new ones.
fn loaded(columns: &str) -> Dataset {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("nodes.csv"), NODES).unwrap();
    std::fs::write(folder.path().join("edges.csv"), "source,target\ncold-brew,iced-tea\nhot-brew,hot-tea\n").unwrap();
    let options = LoadOptions { columns: Columns::parse(columns).unwrap(), ..LoadOptions::default() };
    let data = load(folder.path(), &options).unwrap();
    let schema = data.schema.as_ref().unwrap();
    let again = load_new(&folder.path().join("nodes.csv"), schema, true).unwrap();
    (0..5).for_each(|node| assert_eq!(again.attributes.row(node), data.attributes.row(node), "{columns}"));
    data
}

fn value(data: &Dataset, node: NodeId, name: &str) -> Option<f32> {
    let of_name = |(at, value): (u32, f32)| (data.attributes.names().0[at as usize] == name).then_some(value);
    data.attributes.iter_row(node).find_map(of_name)
}

#[test]
fn texts_share_words_and_count_them_together() {
    let data = loaded("");
    let twice = 1.0 + 2.0_f32.ln();
    // Once in the title and once in the summary; names have it too where they share words.
    assert!((value(&data, 0, "text=coffee").unwrap() - twice).abs() < 1e-6);
    assert!((value(&data, 0, "text=cold").unwrap() - (1.0 + 3.0_f32.ln())).abs() < 1e-6);
    assert_eq!((value(&data, 1, "text=machine"), value(&data, 0, "text=machine")), (Some(1.0), None));
    assert_eq!(value(&data, 2, "shop=north"), Some(1.0));
    let names = &data.attributes.names().0;
    assert!(names.iter().all(|name| !name.starts_with("title=") && !name.starts_with("summary=")));
    assert_eq!(data.notes.ignored_columns, [""; 0]);
}

#[test]
fn a_text_may_keep_its_words_to_itself() {
    let data = loaded("[columns]\nid.kind = \"ignore\"\ntitle = { kind = \"text\", shared = false }\n");
    assert_eq!((value(&data, 0, "title=coffee"), value(&data, 0, "summary=coffee")), (Some(1.0), Some(1.0)));
    let binary = loaded("[columns]\ntitle = { kind = \"text\", weights = \"binary\" }\n");
    assert_eq!(value(&binary, 0, "title=coffee"), Some(1.0));
}

#[test]
fn hashed_words_are_shared_as_well() {
    let hashed = "{ kind = \"text\", hashed = true, buckets = 5 }";
    let data = loaded(&format!("[columns]\nid.kind = \"ignore\"\ntitle = {hashed}\nsummary = {hashed}\n"));
    let words: Vec<&String> = data.attributes.names().0.iter().filter(|name| name.starts_with("text#")).collect();
    assert_eq!(words.len(), 5);
}
