//! Texts as vectors: token vectors from a file, in graphs and models that need the file no more.
#![cfg(feature = "vectors")]

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use coldlink::columns::{TokenVectors, VectorsProblem};
use coldlink::config::TextVectors;
use coldlink::load::{LoadError, LoadOptions, load, load_new, open_packed, read_columns, write_packed};
use coldlink::{Dataset, Model, NodeId, Settings, Silent, Training};
use safetensors::Dtype;
use safetensors::tensor::TensorView;
use tempfile::TempDir;

const TOKENIZER: &str = r#"{"version": "1.0", "truncation": {"direction": "Right", "max_length": 1, "strategy": "LongestFirst", "stride": 0},
"padding": null, "added_tokens": [], "normalizer": {"type": "Lowercase"}, "pre_tokenizer": {"type": "Whitespace"}, "post_processor": null,
"decoder": null, "model": {"type": "WordLevel", "vocab": {"[UNK]": 0, "coffee": 1, "espresso": 2, "tea": 3}, "unk_token": "[UNK]"}}"#;
/// A row for each token.
const TABLE: [f32; 12] = [9.0, 9.0, 9.0, 3.0, 4.0, 0.0, 3.0, 0.0, 0.0, 0.0, 0.0, -2.0];
const COLUMNS: &str =
    "[columns]\nid.kind = \"ignore\"\ntaste = { kind = \"text\", encoder = \"tokens.safetensors\" }\n";

/// A tensor by its name.
type Tensor<'a> = (&'a str, Dtype, &'a [usize], Vec<u8>);

fn bytes<const N: usize, T: Copy>(numbers: &[T], of: fn(T) -> [u8; N]) -> Vec<u8> {
    numbers.iter().flat_map(|&number| of(number)).collect()
}

fn table() -> Tensor<'static> {
    ("embeddings", Dtype::F32, &[4, 3], bytes(&TABLE, f32::to_le_bytes))
}

fn write(path: &Path, tensors: &[Tensor<'_>]) {
    let views = tensors.iter().map(|(name, dtype, shape, data)| {
        let view = TensorView::new(*dtype, shape.to_vec(), data).unwrap();
        (*name, view)
    });
    fs::write(path, safetensors::serialize(views, None).unwrap()).unwrap();
}

/// A folder with token vectors and their tokenizer, and where the vectors are.
fn vectors(tensors: &[Tensor<'_>]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tokens.safetensors");
    write(&path, tensors);
    fs::write(folder.path().join("tokenizer.json"), TOKENIZER).unwrap();
    (folder, path)
}

fn encoded(path: &Path, text: &str) -> Vec<f32> {
    let mut out = Vec::new();
    TokenVectors::open(path, None).unwrap().add(text, &mut out);
    out
}

fn check(found: &[f32], expected: [f32; 3]) {
    assert_eq!(found.len(), 3);
    assert!(found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-6), "{found:?}");
}

/// An error with its causes.
fn whole(error: &dyn Error) -> String {
    let cause = error.source().map(|cause| format!(": {}", whole(cause))).unwrap_or_default();
    format!("{error}{cause}")
}

#[test]
fn a_text_is_the_mean_of_its_known_tokens() {
    let (_folder, path) = vectors(&[table()]);
    check(&encoded(&path, "Coffee"), [0.6, 0.8, 0.0]);
    // (6, 4, 0) / √52, however many unknown words stand between.
    check(&encoded(&path, "coffee, unlike ESPRESSO"), [0.832_050_3, 0.554_700_2, 0.0]);
    check(&encoded(&path, "water"), [0.0; 3]);
    check(&encoded(&path, ""), [0.0; 3]);
}

#[test]
fn the_same_numbers_in_any_size_and_by_any_name_give_the_same_vectors() {
    let halves = [0x4880_u16, 0x4880, 0x4880, 0x4200, 0x4400, 0, 0x4200, 0, 0, 0, 0, 0xc000];
    let doubles: Vec<f64> = TABLE.iter().map(|&number| number.into()).collect();
    let short: Vec<u16> = TABLE.iter().map(|number| (number.to_bits() >> 16) as u16).collect();
    let tables = [
        ("embedding.weight", Dtype::F16, bytes(&halves, u16::to_le_bytes)),
        ("anything", Dtype::F64, bytes(&doubles, f64::to_le_bytes)),
        ("embeddings", Dtype::BF16, bytes(&short, u16::to_le_bytes)),
    ];
    let (_folder, plain) = vectors(&[table()]);
    for (name, dtype, data) in tables {
        let (_folder, path) = vectors(&[(name, dtype, &[4, 3], data)]);
        for text in ["tea", "coffee with tea", "espresso tea tea"] {
            assert_eq!(encoded(&path, text), encoded(&plain, text), "{dtype:?}");
        }
    }
}

#[test]
fn tokens_may_share_rows_and_count_differently() {
    let mapping = ("mapping", Dtype::I64, &[4_usize][..], bytes(&[0_i64, 0, 1, 1], i64::to_le_bytes));
    let weights = ("weights", Dtype::F64, &[4_usize][..], bytes(&[9.0_f64, 1.0, 0.5, 0.25], f64::to_le_bytes));
    let two_rows = ("embeddings", Dtype::F32, &[2_usize, 3][..], bytes(&TABLE[3..9], f32::to_le_bytes));
    let (_folder, path) = vectors(&[two_rows, mapping, weights]);
    check(&encoded(&path, "tea"), [1.0, 0.0, 0.0]);
    // (3, 4, 0) + ½ (3, 0, 0) + ¼ (3, 0, 0) = (5.25, 4, 0)
    let length = 5.25_f32.hypot(4.0);
    check(&encoded(&path, "coffee espresso tea"), [5.25 / length, 4.0 / length, 0.0]);
}

#[test]
fn broken_vectors_are_refused_with_file_and_hint() {
    let refused = |path: &Path, expected: &str| {
        let error = TokenVectors::open(path, None).unwrap_err();
        assert!(whole(&error).contains(expected), "{}", whole(&error));
        assert!(!error.hint().to_string().is_empty());
    };
    let check = |tensors: &[Tensor<'_>], expected: &str| {
        let (_folder, path) = vectors(tensors);
        refused(&path, expected);
    };
    let floats =
        |shape: &'static [usize], numbers: &[f32]| ("embeddings", Dtype::F32, shape, bytes(numbers, f32::to_le_bytes));
    check(&[floats(&[3, 3], &TABLE[..9])], "it has 3 vectors, but its tokenizer has 4 tokens");
    check(&[floats(&[12], &TABLE)], "tensor `embeddings` has type F32 and shape [12]");
    check(&[floats(&[0, 3], &[])], "it has 0 vectors of 3 numbers");
    check(&[floats(&[4, 0], &[])], "it has 0 vectors of 0 numbers");
    check(&[floats(&[4, 1], &[1.0, f32::NAN, 0.0, 0.0])], "infinite or not a number");
    check(&[("e", Dtype::F16, &[4, 1], bytes(&[0x7c00_u16, 0, 0, 0], u16::to_le_bytes))], "infinite or not a number");
    check(
        &[("e", Dtype::F64, &[4, 1], bytes(&[1e300_f64, 0.0, 0.0, 0.0], f64::to_le_bytes))],
        "infinite or not a number",
    );
    check(&[("embeddings", Dtype::I8, &[4, 1], vec![0; 4])], "tensor `embeddings` has type I8");
    check(&[("a", Dtype::I8, &[4, 1], vec![0; 4])], "it has 0 tensors of two dimensions");
    let two = [("a", Dtype::F16, &[1_usize, 1][..], vec![0; 2]), ("b", Dtype::F16, &[1, 1], vec![0; 2])];
    check(&two, "it has 2 tensors of two dimensions");
    let mapping = |rows: &[i32]| ("mapping", Dtype::I32, &[4_usize][..], bytes(rows, i32::to_le_bytes));
    check(&[table(), mapping(&[0, 1, 2, 4])], "`mapping` names a row after the last of its 4 vectors");
    check(&[table(), mapping(&[0, 1, 2, -1])], "`mapping` names a row after the last of its 4 vectors");
    check(
        &[table(), ("mapping", Dtype::I32, &[1], vec![0; 4])],
        "it has 1 rows in `mapping`, but its tokenizer has 4 tokens",
    );
    check(&[table(), ("weights", Dtype::F32, &[2], vec![0; 8])], "it has 2 weights, but its tokenizer has 4 tokens");

    let (folder, path) = vectors(&[table()]);
    let whole = fs::read(&path).unwrap();
    for length in [0, 7, 8, 20, whole.len() - 1] {
        fs::write(&path, &whole[..length]).unwrap();
        assert!(TokenVectors::open(&path, None).is_err(), "{length} bytes");
    }
    // A header that claims more than there is.
    fs::write(&path, [&u64::MAX.to_le_bytes(), &whole[8..]].concat()).unwrap();
    refused(&path, "tokens.safetensors`: it is not a readable safetensors file");
    fs::write(&path, &whole).unwrap();
    let tokenizer = folder.path().join("tokenizer.json");
    for broken in ["", "{}", &TOKENIZER[..100], &TOKENIZER.replace("WordLevel", "Telepathy")] {
        fs::write(&tokenizer, broken).unwrap();
        assert!(TokenVectors::open(&path, None).is_err(), "{broken}");
    }
    fs::write(&tokenizer, "[]").unwrap();
    refused(&path, "tokenizer.json`: it is not a readable tokenizer");
    fs::write(&tokenizer, r#"{"version": "1.0", "added_tokens": [], "model": {"type": "BPE", "dropout": 0.1, "vocab": {"a": 0}, "merges": []}}"#).unwrap();
    refused(&path, "tokenizer.json`: its tokenizer drops merges at random");
    fs::remove_file(&tokenizer).unwrap();
    let error = TokenVectors::open(&path, None).unwrap_err();
    assert!(error.path.ends_with("tokenizer.json") && matches!(error.problem, VectorsProblem::Read(_)));
}

/// Drinks of two sorts, which link to their own sort; a word in seven has no text.
fn drinks(folder: &Path, columns: &str) -> Result<Dataset, LoadError> {
    let taste = |node: usize| match node {
        _ if node.is_multiple_of(7) => "",
        _ if node.is_multiple_of(2) => "strong coffee or espresso",
        _ => "green tea with lemon",
    };
    let (mut nodes, mut edges) = ("id,taste,price\n".to_owned(), "source,target\n".to_owned());
    for node in 0..60 {
        nodes += &format!("d{node},{},{}\n", taste(node), node % 5);
        for step in [2, 8, 14] {
            edges += &format!("d{node},d{}\n", (node + step) % 60);
        }
    }
    let graph = folder.join("drinks");
    fs::create_dir_all(&graph).unwrap();
    fs::write(graph.join("nodes.csv"), nodes).unwrap();
    fs::write(graph.join("edges.csv"), edges).unwrap();
    fs::write(folder.join("columns.toml"), columns).unwrap();
    let columns = read_columns(&folder.join("columns.toml"))?;
    load(&graph, &LoadOptions { columns, ..LoadOptions::default() })
}

fn trained(data: &Dataset, setting: &str) -> Model {
    let settings = Settings::of_preset("default", 0.0).unwrap().set("steps=20").unwrap().set(setting).unwrap();
    Training::new(data, &settings, 3).run(&mut Silent).unwrap()
}

#[test]
fn a_text_with_token_vectors_has_words_and_a_dense_vector() {
    let (folder, _) = vectors(&[table()]);
    let data = drinks(folder.path(), COLUMNS).unwrap();
    let plain = drinks(folder.path(), "[columns]\nid.kind = \"ignore\"\ntaste.kind = \"text\"\n").unwrap();
    for node in 0..60 as NodeId {
        assert_eq!(data.attributes.row(node), plain.attributes.row(node), "words stay what they are");
    }
    let names = &data.attributes.names().0;
    assert_eq!(names[names.len() - 3..], ["taste[0]", "taste[1]", "taste[2]"]);
    check(data.attributes.dense_row(1), [0.0, 0.0, -1.0]);
    check(data.attributes.dense_row(2), [0.832_050_3, 0.554_700_2, 0.0]);
    check(data.attributes.dense_row(7), [0.0; 3]);
    let columns = data.schema.as_ref().unwrap().to_columns().to_toml();
    assert!(columns.contains("encoder = \"tokens.safetensors\""), "{columns}");
}

#[test]
fn a_model_makes_vectors_of_new_texts_without_the_file() {
    let (folder, path) = vectors(&[table()]);
    let data = drinks(folder.path(), COLUMNS).unwrap();
    let packed = folder.path().join("drinks.coldlink");
    write_packed(&data, &packed).unwrap();
    let model = trained(&data, "text_vectors=use");
    let saved = folder.path().join("drinks.model");
    model.save(&saved).unwrap();
    fs::remove_file(&path).unwrap();
    fs::remove_file(folder.path().join("tokenizer.json")).unwrap();

    assert_eq!(open_packed(&packed).unwrap(), data);
    let opened = Model::open(&saved).unwrap();
    assert_eq!(opened, model);
    let new = folder.path().join("new.csv");
    fs::write(&new, "id,taste,price\nn1,Espresso,1\nn2,\"tea, cold\",\nn3,,2\n").unwrap();
    let rows = load_new(&new, opened.schema().unwrap(), true).unwrap();
    check(rows.attributes.dense_row(0), [1.0, 0.0, 0.0]);
    check(rows.attributes.dense_row(1), [0.0, 0.0, -1.0]);
    check(rows.attributes.dense_row(2), [0.0; 3]);
    let before = load_new(&new, model.schema().unwrap(), true).unwrap();
    assert_eq!(opened.encode(&rows.attributes), model.encode(&before.attributes));
    fs::write(&new, "id,price\nn1,1\n").unwrap();
    let rows = load_new(&new, opened.schema().unwrap(), false).unwrap();
    assert_eq!(rows.mismatches.missing_columns, ["taste"]);
}

#[test]
fn a_model_that_ignores_vectors_is_the_one_of_words_alone() {
    let (folder, _) = vectors(&[table()]);
    let ignoring = trained(&drinks(folder.path(), COLUMNS).unwrap(), "text_vectors=ignore");
    let plain = drinks(folder.path(), "[columns]\nid.kind = \"ignore\"\ntaste.kind = \"text\"\n").unwrap();
    let plain = trained(&plain, "text_vectors=use");
    assert_eq!(ignoring.config().text_vectors, TextVectors::Ignore);
    assert_eq!((ignoring.schema(), ignoring.embeddings()), (plain.schema(), plain.embeddings()));
    let path = folder.path().join("plain.model");
    plain.save(&path).unwrap();
    let bytes = fs::read(&path).unwrap();
    let holds = |text: &[u8]| bytes.windows(text.len()).any(|part| part == text);
    assert!(holds(b"recency") && !holds(b"text_vectors") && !holds(b"encoder"), "as before there were token vectors");
}

#[test]
fn a_description_of_columns_that_names_no_vectors_is_refused() {
    let (folder, path) = vectors(&[table()]);
    let refused = |columns: &str, expected: &str| {
        let error = drinks(folder.path(), columns).unwrap_err();
        assert!(whole(&error).contains(expected), "{}", whole(&error));
        assert!(error.hint().is_some());
    };
    refused(&COLUMNS.replace("tokens.", "others."), "others.safetensors`: No such file");
    refused(&COLUMNS.replace("\" }", "\", tokenizer = \"words.json\" }"), "words.json`: No such file");
    fs::create_dir(folder.path().join("more")).unwrap();
    fs::copy(&path, folder.path().join("more/tokens.safetensors")).unwrap();
    fs::copy(folder.path().join("tokenizer.json"), folder.path().join("more/tokenizer.json")).unwrap();
    let both = format!("{COLUMNS}price = {{ kind = \"text\", encoder = \"more/tokens.safetensors\" }}\n");
    refused(&both, "another column has a file of the same name");
}

#[test]
fn a_model_whose_vectors_are_gone_is_refused() {
    let (folder, _) = vectors(&[table()]);
    let data = drinks(folder.path(), COLUMNS).unwrap();
    let mut schema = data.schema.clone().unwrap();
    schema.columns.iter_mut().for_each(|column| column.vectors = None);
    let packed = folder.path().join("drinks.coldlink");
    write_packed(&Dataset { schema: Some(schema), ..data }, &packed).unwrap();
    let error = open_packed(&packed).unwrap_err();
    assert!(whole(&error).contains("vectors.0."), "{}", whole(&error));
}
