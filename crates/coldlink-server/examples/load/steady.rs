//! Requests for links at a steady rate, whatever the server does (an open loop). A time counts from when a request was due,
//! so that waiting for a slow one before it counts too.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use tokio::time::{Instant, sleep_until};

use crate::client::{Client, post};
use crate::graph::{words, world};

const CONNECTIONS: usize = 64;
/// New nodes are of the topics of so many.
const NODES: u32 = 100_000;

/// Asks for links of one new node, ten each, and prints the times.
pub async fn run(address: &str, rate: u32, seconds: u32) -> Result<(), String> {
    let total = u64::from(rate) * u64::from(seconds);
    let next = Arc::new(AtomicU64::new(0));
    let start = Instant::now() + Duration::from_millis(200);
    let tasks: Vec<_> = (0..CONNECTIONS)
        .map(|number| {
            let (address, next) = (address.to_owned(), Arc::clone(&next));
            tokio::spawn(async move { ask(&address, number as u64, &next, total, start, rate).await })
        })
        .collect();
    let (mut times, mut errors) = (Vec::new(), Vec::new());
    for task in tasks {
        let (some, wrong) = task.await.map_err(|error| error.to_string())?;
        times.extend(some);
        errors.extend(wrong);
    }
    let took = start.elapsed().as_secs_f64();
    times.sort_by(f64::total_cmp);
    let at =
        |share: f64| times.get((share * (times.len().max(1) - 1) as f64).round() as usize).copied().unwrap_or(f64::NAN);
    println!("requests {total}");
    println!("answered {}", times.len());
    println!("errors {}", errors.len());
    println!("rate {:.1}", times.len() as f64 / took);
    for (name, share) in [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999), ("max", 1.0)] {
        println!("{name} {:.2}", 1e3 * at(share));
    }
    errors.sort();
    errors.dedup();
    errors.iter().take(5).for_each(|error| println!("error: {error}"));
    Ok(())
}

/// One connection's part: takes the next request that is due until there is none.
async fn ask(
    address: &str,
    seed: u64,
    next: &AtomicU64,
    total: u64,
    start: Instant,
    rate: u32,
) -> (Vec<f64>, Vec<String>) {
    let (world, mut random) = (world(NODES), Xoshiro256PlusPlus::seed_from_u64(seed));
    let (mut times, mut errors) = (Vec::new(), Vec::new());
    let mut client = None;
    loop {
        let place = next.fetch_add(1, Ordering::Relaxed);
        if place >= total {
            return (times, errors);
        }
        let due = start + Duration::from_secs_f64(place as f64 / f64::from(rate));
        let node = serde_json::json!({"id": "new", "words": words(&world, &mut random)});
        let request = post("/v1/links", serde_json::json!({"nodes": [node], "k": 10}).to_string().as_bytes());
        sleep_until(due).await;
        let mut own = match client.take() {
            Some(client) => client,
            None => match Client::connect(address).await {
                Ok(client) => client,
                Err(error) => {
                    errors.push(error.to_string());
                    continue;
                }
            },
        };
        match own.send(&request).await {
            Ok(200) => {
                times.push(due.elapsed().as_secs_f64());
                client = Some(own);
            }
            Ok(status) => {
                errors.push(format!("status {status}"));
                client = Some(own);
            }
            Err(error) => errors.push(error.to_string()),
        }
    }
}
