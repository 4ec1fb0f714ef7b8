//! A crowd that asks and adds at once. Scores of known pairs must stay what they were, and every added node must be there in the end.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use coldlink::model::Model;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::client::{Client, get, post};
use crate::memory::resident_megabytes;

/// The longest rest of a client between two requests, in milliseconds.
const REST: u64 = 400;
/// Time after the last request until memory is looked at.
const CALM: Duration = Duration::from_secs(3);

/// What one client has seen.
#[derive(Default)]
struct Seen {
    statuses: BTreeMap<u16, u32>,
    /// Nodes that the server said it has added, and such that it said it has not.
    added: Vec<String>,
    refused: Vec<String>,
    untrue: u32,
}

/// What everybody asks about.
struct Questions {
    example: Value,
    id: String,
    score: Vec<u8>,
    /// What must be answered to it.
    truth: Vec<u8>,
}

/// Lets so many clients ask and add for some seconds; `model` is the file that is served.
pub async fn run(address: &str, clients: u32, seconds: u32, process: u32, model: &Path) -> Result<(), String> {
    let questions = Arc::new(Questions::ask(address).await?);
    let mut all = Seen::default();
    // Once to warm up, as the server keeps some memory for the next time.
    come(address, 0..clients, Duration::from_secs(seconds.into()) / 3, &questions, &mut all).await?;
    let before = resident_megabytes(process)?;
    let of_model = held_megabytes(model)?;
    come(address, clients..2 * clients, Duration::from_secs(seconds.into()), &questions, &mut all).await?;
    let after = resident_megabytes(process)?;
    let written = Model::open(model).map_err(|error| error.to_string())?;
    let is_there = |names: &[String]| names.iter().filter(|name| written.find(name).is_some()).count();
    println!("clients {clients}\nrequests {}", all.statuses.values().sum::<u32>());
    all.statuses.iter().for_each(|(status, times)| println!("status {status} {times}"));
    println!("faults {}", all.statuses.range(500..).filter(|(status, _)| **status != 503).map(|(_, n)| n).sum::<u32>());
    println!("untrue {}", all.untrue);
    println!("added {}\nlost {}", all.added.len(), all.added.len() - is_there(&all.added));
    println!("refused {}\nrefused_but_there {}", all.refused.len(), is_there(&all.refused));
    println!("memory_before {before:.1}\nmemory_after {after:.1}");
    println!("memory_of_nodes {:.1}", held_megabytes(model)? - of_model);
    Ok(())
}

/// What a server holds of a model beside its file, which grows with the nodes that are added.
fn held_megabytes(model: &Path) -> Result<f64, String> {
    let model = Model::open(model).map_err(|error| error.to_string())?;
    model.prepare();
    Ok(model.held_bytes() as f64 / (1 << 20) as f64)
}

/// Clients that come together and go together.
async fn come(
    address: &str,
    clients: Range<u32>,
    time: Duration,
    questions: &Arc<Questions>,
    all: &mut Seen,
) -> Result<(), String> {
    let (end, mut crowd) = (Instant::now() + time, JoinSet::new());
    for number in clients {
        crowd.spawn(ask(address.to_owned(), number, Arc::clone(questions), end));
    }
    while let Some(seen) = crowd.join_next().await {
        let seen = seen.map_err(|error| error.to_string())?;
        seen.statuses.into_iter().for_each(|(status, times)| *all.statuses.entry(status).or_default() += times);
        all.added.extend(seen.added);
        all.refused.extend(seen.refused);
        all.untrue += seen.untrue;
    }
    sleep(CALM).await;
    Ok(())
}

impl Questions {
    async fn ask(address: &str) -> Result<Self, String> {
        let mut client = Client::connect(address).await.map_err(|error| error.to_string())?;
        let mut json = async |request: Vec<u8>| -> Result<Value, String> {
            client.send(&request).await.map_err(|error| error.to_string())?;
            serde_json::from_slice(client.body()).map_err(|error| error.to_string())
        };
        let model = json(get("/v1/model")).await?;
        let nodes = json(get("/v1/nodes?limit=5")).await?;
        let id = model["id"].as_str().unwrap_or("id").to_owned();
        let mut example = model["example"].clone();
        example[&id] = "asked about".into();
        let names = nodes["nodes"].as_array().into_iter().flatten();
        let pairs: Vec<Value> = names.map(|node| json!({"source": "asked about", "target": node["name"]})).collect();
        let score = post("/v1/score", json!({"nodes": [example], "pairs": pairs}).to_string().as_bytes());
        // Everything that is made when it is first asked for.
        json(get("/v1/map")).await?;
        json(score.clone()).await?;
        let truth = client.body().to_vec();
        Ok(Questions { example, id, score, truth })
    }

    fn add(&self, name: &str) -> Vec<u8> {
        let mut node = self.example.clone();
        node[&self.id] = name.into();
        post("/v1/nodes", json!({"nodes": [node]}).to_string().as_bytes())
    }
}

/// One client's part.
async fn ask(address: String, number: u32, questions: Arc<Questions>, end: Instant) -> Seen {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(number.into());
    let (mut seen, mut client, mut named) = (Seen::default(), None, 0);
    let links = post("/v1/links", json!({"nodes": [questions.example], "k": 10}).to_string().as_bytes());
    while Instant::now() < end {
        sleep(Duration::from_millis(random.random_range(0..REST))).await;
        let Some(mut own) = (match client.take() {
            Some(client) => Some(client),
            None => Client::connect(&address).await.ok(),
        }) else {
            continue;
        };
        let kind = random.random_range(0..10);
        named += u32::from(kind == 0);
        let name = format!("crowd {number} {named}");
        let request = match kind {
            0 => &questions.add(&name),
            1..6 => &links,
            _ => &questions.score,
        };
        let status = own.send(request).await.unwrap_or(0);
        *seen.statuses.entry(status).or_default() += 1;
        match (kind, status) {
            (0, 201) => seen.added.push(name),
            // Without an answer nobody knows.
            (0, 0) => {}
            (0, _) => seen.refused.push(name),
            (6.., 200) if own.body() != questions.truth => seen.untrue += 1,
            _ => {}
        }
        client = (status != 0).then_some(own);
    }
    seen
}
