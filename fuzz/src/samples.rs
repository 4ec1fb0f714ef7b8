//! Sound files of every format, small enough to be damaged everywhere.

use std::io::Write;

use coldlink::columns::Schema;
use coldlink::dataset::Dataset;
use coldlink::load::{LoadOptions, load_tables};
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::{file, npy};

/// Links with weights, in both directions, of a node with itself.
pub const EDGES: &str = "source,target,weight\np1,é,1\né,p1,0.5\np3,\"p1\",\np3,p3,0\n";
/// A column of every kind.
pub const NODES: &str = "id,year,words,kind,title,made,look,fresh\n\
    p1,1999,graph|link,a,the art of graphs and links,2024-05-01,\"[0.5, 1]\",yes\n\
    é,,\"node, \"\"new\"\"\",b,on the art of nodes,2023-12-31T23:59:59Z,\"[2, -1e3]\",no\n\
    p3,-1e3,link,,graphs again and again,,\"[0, 0]\",\n";
/// What columns may be said to be.
pub const COLUMNS: &str = "id = \"id\"\n[columns]\nyear = { kind = \"numeric\", scale = \"quantile\" }\n\
    words = { kind = \"multi-valued\", rare = 2, limit = 2, buckets = 4 }\n\
    title = { kind = \"text\", hashed = true, buckets = 8 }\n";
/// Links as JSON lines.
pub const EDGE_LINES: &str =
    "{\"source\": \"a\", \"target\": \"b\"}\n{\"source\": \"c\", \"target\": \"a\", \"weight\": 1}\n";
/// Nodes as JSON lines.
pub const NODE_LINES: &str = "{\"id\": \"a\", \"year\": 1999, \"words\": [\"x\", \"y\"]}\n\
    {\"id\": \"b\", \"year\": null, \"words\": \"x|z\"}\n{\"words\": [], \"id\": \"c\", \"year\": 2.5e3}\n";
/// New nodes as JSON lines, in the columns of [`NODES`].
pub const NEW_LINES: &str = "{\"id\": \"n\", \"year\": 2001, \"words\": [\"link\", \"new\"], \"kind\": \"a\", \"title\": \"the art\", \
    \"made\": \"2024-05-01\", \"look\": [1, 2.5], \"fresh\": true}\n{\"kind\": null, \"look\": \"[1,2]\", \"fresh\": \"no\"}\n";
/// Nodes with columns of many types.
pub const PARQUET: &[u8] = include_bytes!("../../crates/coldlink/tests/files/nodes.parquet");
/// A graph in GraphSAGE's layout.
pub const PPI_GRAPH: &str = r#"{"directed": true, "multigraph": false, "graph": {"name": "é"},
"nodes": [{"test": false, "id": 0}, {"id": 1, "x": [1, {}]}, {"id": 2}],
"links": [{"source": 0, "target": 2, "weight": 0.5}, {"source": 2, "target": 0}, {"source": 1, "target": 1}]}"#;
/// A graph as arrays.
pub const STORED_ARCHIVE: &[u8] = include_bytes!("../../crates/coldlink/tests/files/stored.npz");

/// `train_feats.npy` and `train_graph_id.npy` of [`PPI_GRAPH`].
pub fn ppi_arrays() -> [Vec<u8>; 2] {
    let features = [1.0, 0.0, -0.5, 3.0, 9.0, 9.0].map(f32::to_le_bytes);
    [npy("<f4", "(3, 2)", features.as_flattened()), npy("|i1", "(3,)", &[1, 2, 1])]
}

/// The graph of [`EDGES`] and [`NODES`].
pub fn dataset() -> Dataset {
    let (edges, nodes) = (file("sound-edges.csv", EDGES.as_bytes()), file("sound-nodes.csv", NODES.as_bytes()));
    load_tables(&edges, &nodes, &LoadOptions::default()).expect("sound tables")
}

/// What new nodes of that graph are read by.
pub fn schema() -> Schema {
    dataset().schema.expect("tables have a schema")
}

/// With tabs where there were commas.
pub fn tabbed(text: &[u8]) -> Vec<u8> {
    text.iter().map(|&byte| if byte == b',' { b'\t' } else { byte }).collect()
}

/// Packed by gzip.
pub fn zipped(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text).expect("room in memory");
    encoder.finish().expect("room in memory")
}
