//! One client that adds a node, and another as soon as it is there.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::client::{Client, post};
use crate::process::changing_milliseconds;

/// Adds for so many seconds, and prints how many, how long each took, and how much of a processor.
pub async fn run(address: &str, seconds: u32, process: u32) -> Result<(), String> {
    let before = changing_milliseconds(process)?;
    let mut client = Client::connect(address).await.map_err(|error| error.to_string())?;
    let (started, mut added, mut refused) = (Instant::now(), 0_u32, 0_u32);
    let run = std::process::id();
    while started.elapsed() < Duration::from_secs(seconds.into()) {
        let node = json!({"id": format!("added {run} {added} {refused}"), "words": ["w1", "w2", "w3"]});
        let request = post("/v1/nodes", json!({"nodes": [node]}).to_string().as_bytes());
        match client.send(&request).await.map_err(|error| error.to_string())? {
            201 => added += 1,
            _ => refused += 1,
        }
    }
    println!("added {added}\nrefused {refused}");
    println!("milliseconds_each {:.1}", 1e3 * started.elapsed().as_secs_f64() / f64::from(added.max(1)));
    println!("processor_each {:.1}", (changing_milliseconds(process)? - before) / f64::from(added.max(1)));
    Ok(())
}
