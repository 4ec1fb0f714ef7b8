//! The whole way of a new user: tables with texts, categories, numbers and gaps; train, predict for rows held out, serve, ask.

mod common;

use std::collections::{HashMap, HashSet};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use coldlink::Config;
use coldlink::dataset::Dataset;
use coldlink::graph::{Attributes, NodeId};
use coldlink::load::{LoadOptions, load};
use coldlink::pipeline::{Evaluation, Settings};
use coldlink::split::Protocol;
use coldlink::train::Silent;
use common::Folder;
use serde_json::{Value, json};

const SETTINGS: [&str; 2] = ["width=32", "steps=300"];
const TRAIN: &str = "train known -o papers.model --preset default --set width=32 --set steps=300";

/// The demo's tables.
fn exported(folder: &Folder) -> Dataset {
    folder.check("demo --papers 600 --tables-only -o all");
    load(&folder.path("all"), &LoadOptions { strict_input: true, ..LoadOptions::default() }).unwrap()
}

/// The same graph as an `.npz` file would have it: a 1 for each keyword, and nothing to be fitted.
fn as_numbers(tables: &Dataset) -> Dataset {
    let names = &tables.attributes.names().0;
    let first = names.iter().position(|name| name.starts_with("keywords=")).unwrap() as u32;
    let width = names.iter().filter(|name| name.starts_with("keywords=")).count() as u32;
    let row = |node: usize| {
        let columns = tables.attributes.row(node as NodeId).0.iter();
        columns.filter(|column| (first..first + width).contains(column)).map(|column| (column - first, 1.0)).collect()
    };
    let rows: Vec<Vec<(u32, f32)>> = (0..tables.graph.nodes()).map(row).collect();
    let attributes = Attributes::from_rows(width as usize, &rows).unwrap();
    Dataset { attributes, schema: None, ..tables.clone() }
}

#[test]
fn tables_find_links_as_well_as_numbers_do() {
    let tables = exported(&Folder::new());
    let config = Config::default().set_all(SETTINGS).unwrap();
    let settings = Settings::given(config);
    let mrr = |dataset: &Dataset| {
        let evaluation = Evaluation { first_seed: 3, ..Evaluation::new(dataset, &Protocol::Strict, &settings) };
        evaluation.run(&mut Silent).unwrap().record.report.mean.mrr.unwrap()
    };
    let (of_tables, of_numbers) = (mrr(&tables), mrr(&as_numbers(&tables)));
    assert!(of_tables > 0.95 * of_numbers, "MRR {of_tables:.4} from tables, {of_numbers:.4} from numbers");
}

/// Writes `known/`, the tables without every twelfth paper, and `held-out.csv`; yields the links between them by held-out paper.
fn hold_out(folder: &Folder) -> HashMap<String, HashSet<String>> {
    let text = |name: &str| String::from_utf8(folder.read(name)).unwrap();
    let (nodes, edges) = (text("all/nodes.csv"), text("all/edges.csv"));
    let (mut known, mut held) = (vec!["id,title,keywords,kind,year"], vec!["id,title,keywords,kind,year"]);
    assert_eq!(nodes.lines().next(), Some(known[0]));
    assert!(nodes.lines().any(|line| line.ends_with(',')), "years have gaps");
    nodes
        .lines()
        .skip(1)
        .enumerate()
        .for_each(|(row, line)| if row % 12 == 5 { &mut held } else { &mut known }.push(line));
    let name = |line: &str| line.split(',').next().unwrap().to_owned();
    let is_held: HashSet<String> = held.iter().map(|line| name(line)).collect();
    let (mut links, mut truth) = (vec!["source,target"], HashMap::<String, HashSet<String>>::new());
    for line in edges.lines().skip(1) {
        let (a, b) = line.split_once(',').unwrap();
        match (is_held.contains(a), is_held.contains(b)) {
            (false, false) => links.push(line),
            (true, false) => drop(truth.entry(a.to_owned()).or_default().insert(b.to_owned())),
            (false, true) => drop(truth.entry(b.to_owned()).or_default().insert(a.to_owned())),
            (true, true) => {}
        }
    }
    folder.write("known/nodes.csv", known.join("\n"));
    folder.write("known/edges.csv", links.join("\n"));
    folder.write("held-out.csv", held.join("\n"));
    truth
}

/// A server that ends with the test.
struct Serving {
    process: Child,
    port: u16,
}

impl Serving {
    fn start(folder: &Folder) -> Self {
        let words = ["serve", "papers.model", "--port", "0", "--log", "json"];
        let mut process = folder.command(&words).stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let port = lines.find_map(|line| {
            let line = line.unwrap();
            let after = line.split("127.0.0.1:").nth(1)?;
            after.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok()
        });
        // Whoever writes to a log that nobody reads would stop.
        std::thread::spawn(move || lines.for_each(drop));
        Serving { process, port: port.expect("the log tells the port") }
    }

    fn ask(&self, path: &str, body: &Value) -> (u16, Value) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let body = body.to_string();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n"
        );
        write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        (status, serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}")))
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn a_new_user_trains_predicts_serves_and_asks() {
    let folder = Folder::new();
    exported(&folder);
    let truth = hold_out(&folder);
    folder.check(TRAIN);
    let found = folder.check("predict papers.model --new held-out.csv --top 1000 --format jsonl");
    let links: Vec<Value> = found.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let is_true = |link: &&Value| {
        truth
            .get(link["source"].as_str().unwrap())
            .is_some_and(|known| known.contains(link["target"].as_str().unwrap()))
    };
    let ranks: Vec<f64> = links.iter().filter(is_true).map(|link| link["rank"].as_f64().unwrap()).collect();
    assert_eq!(ranks.len(), truth.values().map(HashSet::len).sum::<usize>(), "every true link has a rank");
    let mrr = ranks.iter().map(|rank| 1.0 / rank).sum::<f64>() / ranks.len() as f64;
    // By chance it would be .013 among 550 papers.
    assert!(mrr > 0.05, "MRR {mrr}");

    let serving = Serving::start(&folder);
    let held = String::from_utf8(folder.read("held-out.csv")).unwrap();
    let mut rows = csv::Reader::from_reader(held.as_bytes());
    let header = rows.headers().unwrap().clone();
    let row = rows.records().next().unwrap().unwrap();
    let value = |cell: &str| cell.parse::<u64>().map_or_else(|_| json!(cell), |number| json!(number));
    let cells = header.iter().zip(&row).filter(|(_, cell)| !cell.is_empty());
    let node: serde_json::Map<String, Value> = cells.map(|(name, cell)| (name.to_owned(), value(cell))).collect();
    let (status, answer) = serving.ask("/v1/links", &json!({"nodes": [node], "k": 5, "explain": true}));
    assert_eq!(status, 200, "{answer}");
    let served = answer["links"].as_array().unwrap();
    let printed: Vec<&Value> = links.iter().filter(|link| link["source"] == row[0]).take(5).collect();
    assert_eq!(served.len(), 5);
    for (served, printed) in served.iter().zip(printed) {
        let mut served = served.as_object().unwrap().clone();
        assert!(served.remove("explanation").is_some_and(|explanation| explanation.is_object()), "{served:?}");
        assert_eq!(&Value::Object(served), printed, "the server answers as `predict` does");
    }
    let (status, refused) = serving.ask("/v1/links", &json!({"nodes": []}));
    assert!((400..500).contains(&status) && refused["error"]["hint"].is_string(), "{refused}");
}
