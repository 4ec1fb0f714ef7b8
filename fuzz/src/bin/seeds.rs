//! Writes sound inputs of every target: `cargo xtask fuzz seeds`.

use std::fs;
use std::io;
use std::path::Path;

use coldlink::load::write_packed;
use coldlink_fuzz::{
    COLUMNS, EDGE_LINES, EDGES, NEW_LINES, NODE_LINES, NODES, PARQUET, PPI_GRAPH, STORED_ARCHIVE, Saved, SoundSplit,
    TABLES, arrays, dataset, folder, ppi_arrays, tabbed, zipped,
};
// Code that counts what it runs needs somebody to count for.
use libfuzzer_sys as _;

fn main() -> io::Result<()> {
    let new = NODES.lines().nth(1).unwrap_or_default();
    seed("csv", "tables", 0, &both(EDGES, NODES))?;
    seed("csv", "tables-strict", 16, &both("source,target\np1,p2\n", "id,x\np1,1\np2,2\n"))?;
    seed("csv", "tables-unknown", 8, &both("source,target\np1,p2\np1,p3\n", "id,x\np1,a\np2,b\n"))?;
    let kinds = "id,node_type,age,price\np1,user,3,\np2,item,,7\np3,user,5,\np4,item,,9\n";
    seed("csv", "kinds", 0, &both("source,target\np1,p2\np3,p4\n", kinds))?;
    seed("csv", "tabs", 1, &tabbed(&both(EDGES, NODES)))?;
    seed("csv", "packed", 2, &both(EDGES, NODES))?;
    seed("csv", "raw-gzip", 3, &zipped(NODES.as_bytes()))?;
    seed("csv", "new", 4, NODES.as_bytes())?;
    seed("csv", "new-strict", 4 + 16, NODES.as_bytes())?;
    seed("csv", "new-few", 4, format!("id,year,words,more\n{new}").as_bytes())?;
    seed("csv", "pairs", 6, b"new,other\nn1,p1\nn1,n2\n")?;
    seed("csv", "excluded", 7, b"name\nn1\n2\n")?;

    seed("json_lines", "tables", 0, &both(NODE_LINES, EDGE_LINES))?;
    seed("json_lines", "tables-strict", 8, &both(NODE_LINES, "{\"source\":\"a\",\"target\":\"b\"}\n"))?;
    seed("json_lines", "new", 1, NEW_LINES.as_bytes())?;
    seed("json_lines", "new-strict", 1 + 8, NEW_LINES.as_bytes())?;
    seed("json_lines", "new-file", 2, NEW_LINES.as_bytes())?;
    seed("json_lines", "files", 3, &both(NODE_LINES, EDGE_LINES))?;
    seed("json_lines", "raw-zstandard", 4, &zstd::encode_all(NODE_LINES.as_bytes(), 1)?)?;
    seed("json_lines", "packed", 5, &both(NODE_LINES, EDGE_LINES))?;
    seed("json_lines", "edges", 6, EDGE_LINES.as_bytes())?;

    seed("npz", "raw", 0, STORED_ARCHIVE)?;
    for (form, (name, array)) in (1..).zip(arrays(STORED_ARCHIVE)) {
        seed("npz", name.trim_end_matches(".npy"), form, &array)?;
    }

    for (form, name) in ["nodes", "nodes-again", "edges", "new"].into_iter().enumerate() {
        seed("parquet", name, form as u8, PARQUET)?;
    }

    let path = folder().join("graph.coldlink");
    write_packed(&dataset(), &path).map_err(io::Error::other)?;
    let packed = fs::read(path)?;
    for (form, name) in ["raw", "matched", "claimed"].into_iter().enumerate() {
        seed("packed", name, form as u8, &packed)?;
    }
    seed("packed", "version-1", 1, include_bytes!("../../../crates/coldlink/tests/files/v1/papers.coldlink"))?;

    let Saved { model, index, .. } = Saved::make();
    seed("model", "model", 0, &model)?;
    seed("model", "index", 1, &index)?;
    seed("model", "version-1", 0, include_bytes!("../../../crates/coldlink/tests/files/v1/papers.model"))?;

    fs::write(place("columns", "columns")?, COLUMNS)?;
    let edges = "[columns]\nkind.kind = \"type\"\nlook.kind = \"vector\"\nmade.kind = \"date-time\"\nfresh.kind = \"boolean\"\n[edges]\nsource = \"target\"\ntarget = \"source\"\nweight = \"weight\"\n";
    fs::write(place("columns", "columns-of-edges")?, edges)?;

    let [features, ids] = ppi_arrays();
    for (form, (name, bytes)) in (0..).zip([("graph", PPI_GRAPH.as_bytes()), ("features", &features), ("ids", &ids)]) {
        seed("ppi", name, form, bytes)?;
    }

    let split = SoundSplit::make();
    for (form, name) in TABLES.iter().enumerate() {
        seed("split", name.trim_end_matches(".csv"), form as u8, &split.tables[form])?;
    }
    seed("split", "manifest", TABLES.len() as u8, split.manifest.as_bytes())?;
    for (form, (name, array)) in (TABLES.len() as u8 + 1..).zip(&split.arrays) {
        let name = name.trim_end_matches(".npy");
        seed("split", &format!("array-{name}"), form, array)?;
        seed("split", &format!("array-{name}-edges"), form + 11, array)?;
    }

    let node = "{\"id\":\"q\",\"node_type\":\"item\",\"price\":3,\"x\":2,\"words\":[\"a1\",\"c\"],\"title\":\"item of the 2 kind\"}";
    let nodes = format!("{{\"nodes\":[{node},{{}}]");
    seed("http", "links", 0, format!("{nodes},\"k\":1}}").as_bytes())?;
    let all = ",\"k\":3.0,\"among\":\"both\",\"exclude\":[\"n1\"],\"candidates\":\"item\",\"where\":{\"words\":\"a1\"},\"explain\":true,\"map\":true,\"popularity\":0.5,\"base_rate\":0.01}";
    seed("http", "links-all", 0, format!("{nodes}{all}").as_bytes())?;
    let pairs =
        ",\"pairs\":[{\"source\":\"q\",\"target\":\"n1\"},{\"source\":\"q\",\"target\":\"new 2\",\"known\":false}]}";
    seed("http", "score", 1, format!("{nodes}{pairs}").as_bytes())?;
    seed("http", "embed", 2, format!("{nodes}}}").as_bytes())?;
    seed("http", "add", 3, format!("{{\"nodes\":[{node}]}}").as_bytes())?;
    seed("http", "search", 4, b"prefix=n1&limit=3")?;
    seed("http", "look", 5, b"n%31")?;
    seed("http", "page", 6, b"")?;
    for path in ["page/page.js", "healthz", "metrics", "openapi.json", "v1/model", "v1/map", "nothing"] {
        seed("http", &format!("path-{}", path.replace('/', "-")), 6, path.as_bytes())?;
    }
    seed("http", "host", 7, b"[::1]:80")?;
    seed("http", "token", 7 + 16, b"Bearer 0123456789abcdef")?;
    seed("http", "kind", 7 + 8 + 32, b"application/json; charset=utf-8")?;
    seed("http", "encoding", 7 + 48, b"gzip;q=0.5, *")
}

/// Two tables in one input.
fn both(first: &str, second: &str) -> Vec<u8> {
    format!("{first}\0{second}").into_bytes()
}

fn seed(target: &str, name: &str, form: u8, bytes: &[u8]) -> io::Result<()> {
    fs::write(place(target, name)?, [&[form], bytes].concat())
}

fn place(target: &str, name: &str) -> io::Result<std::path::PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    fs::create_dir_all(&folder)?;
    Ok(folder.join(name))
}
