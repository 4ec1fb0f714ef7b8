//! Connections that hold a place and ask nothing: silent ones, slow ones, and some that never take their answers.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::client::{Client, get};
use crate::process::resident_megabytes;

/// Time between two bytes of a slow client.
const DRIP: Duration = Duration::from_millis(500);
/// Answers that nobody takes.
const UNTAKEN: usize = 1_000;
/// Time between two requests of the client that must be answered.
const BETWEEN: Duration = Duration::from_millis(100);
/// Time after the last connection until memory is looked at.
const CALM: Duration = Duration::from_secs(3);

/// Opens so many at a time for some seconds, which come back when they are ended; asks beside them all the while.
pub async fn run(address: &str, count: u32, seconds: u32, process: u32) -> Result<(), String> {
    warm_up(address).await?;
    let time = Duration::from_secs(seconds.into());
    // Once to warm up, as the server keeps some memory for the next time.
    come(address, count, time / 3).await;
    let before = resident_megabytes(process)?;
    let (opened, ended, Beside { asked, busy, unanswered, slowest }) = come(address, count, time).await;
    let after = resident_megabytes(process)?;
    println!(
        "opened {opened}\nended {ended}\nasked {asked}\nbusy {busy}\nunanswered {unanswered}\nslowest {slowest:.1}"
    );
    println!("memory_before {before:.1}\nmemory_after {after:.1}");
    Ok(())
}

/// Connections that come together and go together: how many were opened, how many of them the server ended, and what somebody
/// beside them saw.
async fn come(address: &str, count: u32, time: Duration) -> (usize, usize, Beside) {
    let (opened, ended) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (end, mut held) = (Instant::now() + time, JoinSet::new());
    for number in 0..count {
        let (address, opened, ended) = (address.to_owned(), Arc::clone(&opened), Arc::clone(&ended));
        held.spawn(async move {
            while Instant::now() < end {
                if let Ok(stream) = TcpStream::connect(&address).await {
                    opened.fetch_add(1, Ordering::Relaxed);
                    let _ = timeout(end.saturating_duration_since(Instant::now()), hold(stream, number)).await;
                    ended.fetch_add(usize::from(Instant::now() < end), Ordering::Relaxed);
                }
                sleep(Duration::from_secs(1)).await;
            }
        });
    }
    let beside = ask_beside(address, end).await;
    held.join_all().await;
    sleep(CALM).await;
    (opened.load(Ordering::Relaxed), ended.load(Ordering::Relaxed), beside)
}

/// What is made when it is first asked for is there before memory is looked at.
async fn warm_up(address: &str) -> Result<(), String> {
    let mut client = Client::connect(address).await.map_err(|error| error.to_string())?;
    for path in ["/v1/map", "/openapi.json", "/healthz"] {
        client.send(&get(path)).await.map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// Keeps a connection until the server ends it.
async fn hold(mut stream: TcpStream, number: u32) -> std::io::Result<()> {
    let head =
        "POST /v1/links HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 999\r\n\r\n";
    match number % 4 {
        0 => {
            stream.read_u8().await?;
        }
        1 => drip(&mut stream, b"GET / HTTP/1.1\r\nX: ").await?,
        2 => drip(&mut stream, head.as_bytes()).await?,
        _ => {
            stream.write_all(&get("/page/form.js").repeat(UNTAKEN)).await?;
            // Whether the other end has gone shows when more is sent.
            drip(&mut stream, b"").await?;
        }
    }
    Ok(())
}

async fn drip(stream: &mut TcpStream, start: &[u8]) -> std::io::Result<()> {
    stream.write_all(start).await?;
    loop {
        sleep(DRIP).await;
        stream.write_all(b" ").await?;
    }
}

/// What somebody saw who asks with a connection of its own each time.
#[derive(Default)]
struct Beside {
    asked: u32,
    /// Answered that there is too much to do.
    busy: u32,
    /// Not answered, or otherwise.
    unanswered: u32,
    /// In milliseconds.
    slowest: f64,
}

async fn ask_beside(address: &str, end: Instant) -> Beside {
    let mut beside = Beside::default();
    while Instant::now() < end {
        let started = Instant::now();
        let answered = async { Client::connect(address).await?.send(&get("/v1/model")).await };
        beside.asked += 1;
        match answered.await {
            Ok(200) => {}
            Ok(503) => beside.busy += 1,
            _ => beside.unanswered += 1,
        }
        beside.slowest = beside.slowest.max(1e3 * started.elapsed().as_secs_f64());
        sleep(BETWEEN).await;
    }
    beside
}
