//! A small trained model behind the whole service, asked without a network.
#![allow(dead_code, reason = "each test file uses a part of it")]

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Request, StatusCode, header};
use coldlink::Config;
use coldlink::dataset::Dataset;
use coldlink::load::{LoadOptions, load};
use coldlink::model::Model;
use coldlink::pipeline::{Settings, Training};
use coldlink::synthetic::readable_tables;
use coldlink::train::Silent;
use coldlink_server::{Options, Server, app};
use http_body_util::BodyExt;
use serde_json::Value;
use tempfile::TempDir;
use tower::ServiceExt;

/// Three topics of a hundred papers; a paper cites others of its topic.
pub fn train(folder: &Path, seed: u64) -> Model {
    let [nodes, edges] = readable_tables(300, ("pages", |paper| 10 * (paper % 17)));
    train_on(folder, &nodes, &edges, seed)
}

/// Users who like items of one taste; each node type has a column of its own.
pub fn train_shop(folder: &Path) -> Model {
    let (mut nodes, mut edges) = ("id,node_type,taste,price,age\n".to_owned(), "source,target\n".to_owned());
    for place in 0..150 {
        writeln!(nodes, "u{place},user,t{},,{}\ni{place},item,t{0},{},", place % 5, 20 + place % 40, place % 9)
            .unwrap();
        for step in [0, 35, 70, 105] {
            writeln!(edges, "u{place},i{}", (place + step) % 150).unwrap();
        }
    }
    train_on(folder, &nodes, &edges, 1)
}

fn train_on(folder: &Path, nodes: &str, edges: &str, seed: u64) -> Model {
    fit(&load_csv(folder, nodes, edges), seed)
}

/// A graph from two tables, which are written into a folder.
pub fn load_csv(folder: &Path, nodes: &str, edges: &str) -> Dataset {
    fs::write(folder.join("nodes.csv"), nodes).unwrap();
    fs::write(folder.join("edges.csv"), edges).unwrap();
    load(folder, &LoadOptions::default()).unwrap()
}

/// A small model of any graph.
pub fn fit(dataset: &Dataset, seed: u64) -> Model {
    let settings = ["width=16", "steps=60", "validate_every=20", "batch=64"];
    let config = Config::default().set_all(settings).unwrap();
    Training::new(dataset, &Settings::given(config), seed).run(&mut Silent).unwrap()
}

/// A service in a folder of its own.
pub struct Service {
    pub folder: TempDir,
    pub server: Arc<Server>,
    pub app: Router,
}

/// What was answered.
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub text: String,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    /// The code of an error, which must have a message and a hint too. Who asks over HTTP cannot use options of the command line.
    pub fn code(&self) -> String {
        let json = self.json();
        for part in ["message", "hint"] {
            let text = json["error"][part].as_str().unwrap_or_default();
            let names_flag = text.split("--").skip(1).any(|rest| rest.starts_with(char::is_alphabetic));
            assert!(!text.is_empty() && !names_flag, "{json}");
        }
        json["error"]["code"].as_str().unwrap().to_owned()
    }
}

impl Service {
    pub fn new(options: Options) -> Self {
        let folder = tempfile::tempdir().unwrap();
        train(folder.path(), 1).save(&folder.path().join("model")).unwrap();
        Service::of(folder, options)
    }

    /// Of the file `model` in a folder.
    pub fn of(folder: TempDir, options: Options) -> Self {
        let server = Server::open(&folder.path().join("model"), options).unwrap();
        Service { app: app(Arc::clone(&server)), server, folder }
    }

    pub fn path(&self) -> PathBuf {
        self.folder.path().join("model")
    }

    pub async fn send(&self, request: Request<Body>) -> Answer {
        let response = self.app.clone().oneshot(request).await.unwrap();
        let (status, headers) = (response.status(), response.headers().clone());
        let bytes = response.into_body().collect().await.unwrap().to_bytes();
        Answer { status, headers, text: String::from_utf8(bytes.to_vec()).unwrap() }
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send(Request::get(path).body(Body::empty()).unwrap()).await
    }

    pub async fn post(&self, path: &str, body: impl ToString) -> Answer {
        let request = Request::post(path).header(header::CONTENT_TYPE, "application/json");
        self.send(request.body(Body::from(body.to_string())).unwrap()).await
    }
}
