//! What no client should send: bytes of chance, JSON that is deep, huge, of wrong types or cut off, odd paths and headers.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::client::{Client, get, post};
use crate::process::resident_megabytes;

const CONNECTIONS: u32 = 8;

/// Sends so many bad requests, after as many to warm up, and prints statuses and memory.
pub async fn run(address: &str, count: u32, process: u32) -> Result<(), String> {
    send(address, count, 1).await?;
    let before = resident_megabytes(process)?;
    let statuses = send(address, count, 2).await?;
    let after = resident_megabytes(process)?;
    println!("requests {count}");
    for (status, times) in &statuses {
        println!("status {status} {times}");
    }
    let faults: u32 = statuses.range(500..).map(|(_, times)| times).sum();
    println!("faults {faults}\nmemory_before {before:.1}\nmemory_after {after:.1}");
    let health = Client::connect(address).await.map_err(|error| error.to_string())?.send(&get("/healthz")).await;
    println!("healthy_after {}", health.is_ok_and(|status| status == 200));
    Ok(())
}

/// How often each status was answered; 0 for a connection that the server ended without an answer.
async fn send(address: &str, count: u32, seed: u64) -> Result<BTreeMap<u16, u32>, String> {
    let next = Arc::new(AtomicU32::new(0));
    let tasks: Vec<_> = (0..CONNECTIONS)
        .map(|number| {
            let (address, next) = (address.to_owned(), Arc::clone(&next));
            tokio::spawn(async move {
                let mut random = Xoshiro256PlusPlus::seed_from_u64(seed << 32 | u64::from(number));
                let mut statuses = BTreeMap::new();
                while next.fetch_add(1, Ordering::Relaxed) < count {
                    let bytes = request(&mut random);
                    let mut client = Client::connect(&address).await.map_err(|error| error.to_string())?;
                    let sent = if random.random_bool(0.5) {
                        client.send_and_end(&bytes).await
                    } else {
                        sent_whole(&mut client, &bytes).await
                    };
                    *statuses.entry(sent.unwrap_or(0)).or_insert(0) += 1;
                }
                Ok::<_, String>(statuses)
            })
        })
        .collect();
    let mut all = BTreeMap::new();
    for task in tasks {
        for (status, times) in task.await.map_err(|error| error.to_string())?? {
            *all.entry(status).or_insert(0) += times;
        }
    }
    Ok(all)
}

/// With an end to it, where the request promises more than it has: nobody waits for the rest.
async fn sent_whole(client: &mut Client, bytes: &[u8]) -> std::io::Result<u16> {
    match tokio::time::timeout(std::time::Duration::from_millis(300), client.send(bytes)).await {
        Ok(sent) => sent,
        Err(_) => client.send_and_end(b"").await,
    }
}

fn request(random: &mut impl Rng) -> Vec<u8> {
    let path = ["/v1/links", "/v1/score", "/v1/embed", "/v1/nodes"][random.random_range(0..4)];
    match random.random_range(0..12) {
        0 => bytes(random, 400),
        1 => post(path, &bytes(random, 2_000)),
        2 => post(path, deep(random).as_bytes()),
        3 => post(path, of_wrong_types(random).as_bytes()),
        4 => post(path, &damaged(random)),
        5 => cut_off(random, path),
        6 => odd_path(random),
        7 => odd_headers(random, path),
        8 => post(path, &vec![b' '; random.random_range(0..3_000_000)]),
        9 => post(path, format!("{{\"nodes\": [{{\"words\": {}}}]}}", numbers(random)).as_bytes()),
        10 => post(path, many(random).as_bytes()),
        _ => get(&format!("/v1/nodes?prefix={}&limit={}", escaped(random), numbers(random))),
    }
}

fn bytes(random: &mut impl Rng, most: usize) -> Vec<u8> {
    let mut bytes = vec![0; random.random_range(1..most)];
    random.fill(&mut bytes[..]);
    bytes
}

fn deep(random: &mut impl Rng) -> String {
    let depth = random.random_range(1..200_000);
    let (open, close) = [("[", "]"), ("{\"a\":", "}")][random.random_range(0..2)];
    let whole = random.random_bool(0.5);
    format!(
        "{{\"nodes\": [{{\"words\": {}1{}",
        open.repeat(depth),
        if whole { close.repeat(depth) + "}]}" } else { String::new() }
    )
}

fn numbers(random: &mut impl Rng) -> String {
    let all = [
        "1e999",
        "-1e999",
        "1e-999",
        "NaN",
        "Infinity",
        "-0",
        "00",
        "18446744073709551616",
        "1e38",
        "-9e37",
        "0x10",
        "1.",
        ".5",
    ];
    match random.random_range(0..3) {
        0 => "9".repeat(random.random_range(1..10_000)),
        _ => all[random.random_range(0..all.len())].to_owned(),
    }
}

fn of_wrong_types(random: &mut impl Rng) -> String {
    let values = [
        "null",
        "true",
        "\"\"",
        "-1",
        "1.5",
        "[]",
        "{}",
        "[[]]",
        "[null]",
        "[{}]",
        "\"\\u0000\"",
        "\"\\ud800\"",
        "1e5",
        "[\"a\",1]",
    ];
    let value = |random: &mut dyn Rng| values[random.random_range(0..values.len())];
    let keys = [
        "nodes",
        "k",
        "among",
        "exclude",
        "type",
        "where",
        "explain",
        "map",
        "popularity",
        "base_rate",
        "pairs",
        "\\u0000",
    ];
    let some = random.random_range(0..6);
    let entries: Vec<String> =
        (0..some).map(|_| format!("\"{}\": {}", keys[random.random_range(0..keys.len())], value(random))).collect();
    let nodes = format!(
        "\"nodes\": [{{\"id\": {}, \"words\": {}, {}: {}}}]",
        value(random),
        value(random),
        "\"x\"",
        value(random)
    );
    let mut entries = entries;
    if random.random_bool(0.7) {
        entries.insert(0, nodes);
    }
    format!("{{{}}}", entries.join(", "))
}

/// A good request with some of its bytes changed.
fn damaged(random: &mut impl Rng) -> Vec<u8> {
    let mut body = br#"{"nodes": [{"id": "a", "words": ["w1", "w2"]}], "k": 10, "explain": true, "pairs": [{"source": "a", "target": "n1"}]}"#.to_vec();
    for _ in 0..random.random_range(1..6) {
        let place = random.random_range(0..body.len());
        body[place] = random.random();
    }
    body
}

/// Promises more than it sends, or less.
fn cut_off(random: &mut impl Rng, path: &str) -> Vec<u8> {
    let body = "{\"nodes\": [{}]}";
    let length = [0_u64, 3, 100, 999_999, 99_999_999_999, u64::MAX][random.random_range(0..6)];
    format!("POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}").into_bytes()
}

fn escaped(random: &mut impl Rng) -> String {
    (0..random.random_range(0..200)).map(|_| format!("%{:02x}", random.random::<u8>())).collect()
}

fn odd_path(random: &mut impl Rng) -> Vec<u8> {
    let path = match random.random_range(0..7) {
        0 => "/../../etc/passwd".to_owned(),
        1 => format!("/v1/nodes/{}", escaped(random)),
        2 => "/".repeat(random.random_range(1..5_000)),
        3 => format!("/v1/nodes/{}", "a".repeat(random.random_range(1..70_000))),
        4 => "/page/..%2f..%2fCargo.toml".to_owned(),
        5 => "http://evil.example/v1/model".to_owned(),
        _ => "*".to_owned(),
    };
    let method =
        ["GET", "POST", "OPTIONS", "TRACE", "CONNECT", "get", "LONGMETHODNAME", "PATCH"][random.random_range(0..8)];
    format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").into_bytes()
}

fn odd_headers(random: &mut impl Rng, path: &str) -> Vec<u8> {
    let header = match random.random_range(0..9) {
        0 => format!("X-Long: {}", "a".repeat(random.random_range(1..500_000))),
        1 => (0..random.random_range(1..500)).map(|number| format!("X-{number}: 1")).collect::<Vec<_>>().join("\r\n"),
        2 => "Content-Length: 5\r\nContent-Length: 6".to_owned(),
        3 => "Transfer-Encoding: chunked\r\nContent-Length: 4".to_owned(),
        4 => "Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n{}".to_owned(),
        5 => "Expect: 100-continue\r\nContent-Length: 10".to_owned(),
        6 => "Host: evil.example".to_owned(),
        7 => "Authorization: Bearer \u{1F980}\r\nContent-Length: 0".to_owned(),
        _ => "Accept-Encoding: gzip;q=nan, \u{7f}\r\nRange: bytes=-99999999999999999999-".to_owned(),
    };
    format!("POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{header}\r\n\r\n{{}}")
        .into_bytes()
}

fn many(random: &mut impl Rng) -> String {
    let count = random.random_range(1..20_000);
    match random.random_range(0..3) {
        0 => format!("{{\"nodes\": [{}]}}", vec!["{}"; count].join(",")),
        1 => {
            let keys: Vec<String> = (0..count).map(|key| format!("\"k{key}\": 1")).collect();
            format!("{{\"nodes\": [{{{}}}]}}", keys.join(","))
        }
        _ => format!("{{\"nodes\": [{{\"words\": [{}]}}], \"k\": 1000}}", vec!["\"w1\""; count].join(",")),
    }
}
