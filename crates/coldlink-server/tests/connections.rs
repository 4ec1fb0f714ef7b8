//! Connections that ask nothing, send slowly or take nothing, over real sockets: others are answered all the while.

mod common;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Bytes;
use axum::http::{Method, Request};
use coldlink_server::{Limits, Options, Patience, serve};
use common::Service;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

/// Far longer than anything should take.
const LONG: Duration = Duration::from_secs(20);
const HEALTH: &[u8] = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";

/// A server with a port of its own; it ends with the test.
struct Running {
    address: SocketAddr,
    service: Service,
    serving: JoinHandle<()>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Running {
    async fn new(limits: Limits, patience: Patience) -> Self {
        let service = Service::new(Options { limits, patience, ..Options::default() });
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let serving = tokio::spawn(serve(listener, Arc::clone(&service.server), std::future::pending()));
        Running { address, service, serving }
    }

    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// From another address of this machine.
    async fn connect_from(&self, last: u8) -> TcpStream {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind((Ipv4Addr::new(127, 0, 0, last), 0).into()).unwrap();
        socket.connect(self.address).await.unwrap()
    }

    /// A request for links on a connection of its own: its status.
    async fn ask(&self) -> Option<u16> {
        status_of(&mut self.connect().await, &links_request()).await
    }
}

fn milliseconds(count: u64) -> Duration {
    Duration::from_millis(count)
}

fn links_request() -> Vec<u8> {
    let body = json!({"nodes": [{"words": "soup"}], "k": 3}).to_string();
    let head = "POST /v1/links HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length:";
    format!("{head} {}\r\n\r\n{body}", body.len()).into_bytes()
}

/// Sends a request and reads its answer; none where the connection ends instead.
async fn status_of(stream: &mut TcpStream, request: &[u8]) -> Option<u16> {
    stream.write_all(request).await.ok()?;
    let mut read = Vec::new();
    loop {
        if timeout(LONG, stream.read_buf(&mut read)).await.ok()?.ok()? == 0 {
            return None;
        }
        let text = String::from_utf8_lossy(&read);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap_or("0");
        if body.len() >= length.parse().unwrap() {
            return text.split(' ').nth(1)?.parse().ok();
        }
    }
}

/// How long it takes until the server ends a connection; what it says before is left aside.
async fn time_to_end(stream: &mut TcpStream) -> Duration {
    let started = Instant::now();
    let mut read = Vec::new();
    while timeout(LONG, stream.read_buf(&mut read)).await.expect("the server never ends it").is_ok_and(|size| size > 0)
    {
    }
    started.elapsed()
}

#[tokio::test]
async fn silent_connections_end_and_others_are_answered_before() {
    let limits = Limits { connections: 32, ..Limits::default() };
    let patience = Patience { first: milliseconds(700), farewell: milliseconds(100), ..Patience::default() };
    let running = Running::new(limits, patience).await;
    let mut silent = Vec::new();
    for _ in 0..300 {
        silent.push(running.connect().await);
    }
    assert_eq!(running.ask().await, Some(200));
    for stream in &mut silent {
        assert!(time_to_end(stream).await < Duration::from_secs(5));
    }
    assert_eq!(running.ask().await, Some(200));
}

#[tokio::test]
async fn headers_that_never_end_are_not_waited_for() {
    let patience = Patience { headers: milliseconds(400), farewell: milliseconds(100), ..Patience::default() };
    let running = Running::new(Limits::default(), patience).await;
    let stream = running.connect().await;
    let (mut reading, mut writing) = stream.into_split();
    let started = Instant::now();
    let dripping = tokio::spawn(async move {
        writing.write_all(b"GET / HTTP/1.1\r\nX: ").await.unwrap();
        while writing.write_all(b"a").await.is_ok() {
            sleep(milliseconds(20)).await;
        }
    });
    let mut read = Vec::new();
    let ended = timeout(LONG, reading.read_to_end(&mut read)).await;
    assert!(ended.is_ok() && started.elapsed() >= milliseconds(300), "{:?}", started.elapsed());
    dripping.abort();
}

#[tokio::test]
async fn a_connection_may_rest_between_requests_but_not_for_ever() {
    let patience = Patience {
        first: milliseconds(200),
        headers: milliseconds(200),
        idle: milliseconds(1500),
        farewell: milliseconds(100),
        ..Patience::default()
    };
    let running = Running::new(Limits::default(), patience).await;
    let mut stream = running.connect().await;
    for _ in 0..2 {
        assert_eq!(status_of(&mut stream, HEALTH).await, Some(200));
        sleep(milliseconds(600)).await;
    }
    assert_eq!(status_of(&mut stream, HEALTH).await, Some(200), "longer than headers may take, shorter than a rest");
    assert!(time_to_end(&mut stream).await >= milliseconds(1000));
}

/// Sends many requests at once on a connection that takes little at a time.
async fn many_answers(running: &Running, requests: usize) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let mut stream = socket.connect(running.address).await.unwrap();
    stream.write_all(&b"GET /v1/map HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(requests)).await.unwrap();
    stream
}

/// Bytes until the end of a connection, with a pause before each part.
async fn taken(stream: &mut TcpStream, pause: Duration, most: usize) -> usize {
    let (mut buffer, mut taken) = (vec![0; 64 << 10], 0);
    while taken < most {
        sleep(pause).await;
        match timeout(LONG, stream.read(&mut buffer)).await.expect("neither bytes nor an end") {
            Ok(size) if size > 0 => taken += size,
            _ => break,
        }
    }
    taken
}

#[tokio::test]
async fn who_never_takes_an_answer_is_cut_off_and_who_takes_it_slowly_is_not() {
    let patience = Patience { stalled: milliseconds(600), idle: milliseconds(600), ..Patience::default() };
    let running = Running::new(Limits::default(), patience).await;
    let size = running.service.get("/v1/map").await.text.len();
    let requests = 12_000_000 / size;
    let mut never = many_answers(&running, requests).await;
    sleep(milliseconds(2500)).await;
    assert!(taken(&mut never, Duration::ZERO, usize::MAX).await < requests * size);
    let (few, mut slow) = (1_000_000 / size, many_answers(&running, 1_000_000 / size).await);
    assert!(taken(&mut slow, milliseconds(1), few * size).await >= few * size);
}

#[tokio::test]
async fn an_answer_that_takes_too_long_is_cut_off_however_steadily_it_is_taken() {
    let patience = Patience { answer: milliseconds(700), ..Patience::default() };
    let running = Running::new(Limits::default(), patience).await;
    let size = running.service.get("/v1/map").await.text.len();
    let requests = 40_000_000 / size;
    let mut slow = many_answers(&running, requests).await;
    assert!(taken(&mut slow, milliseconds(5), usize::MAX).await < requests * size);
}

#[tokio::test]
async fn slow_senders_that_come_back_do_not_keep_others_out() {
    let running = Arc::new(
        Running::new(Limits { connections: 16, seconds: 1.0, ..Limits::default() }, Patience::default()).await,
    );
    let address = running.address;
    let slow: Vec<_> = (0..32)
        .map(|_| {
            tokio::spawn(async move {
                loop {
                    let Ok(mut stream) = TcpStream::connect(address).await else { continue };
                    let head = "POST /v1/links HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 999\r\n\r\n";
                    let _ = stream.write_all(head.as_bytes()).await;
                    while stream.write_all(b" ").await.is_ok() {
                        sleep(milliseconds(30)).await;
                    }
                }
            })
        })
        .collect();
    sleep(milliseconds(300)).await;
    for round in 0..30 {
        assert_eq!(running.ask().await, Some(200), "round {round}");
    }
    slow.iter().for_each(JoinHandle::abort);
}

#[tokio::test]
async fn one_address_does_not_take_the_places_of_others() {
    let running = Running::new(Limits { connections: 16, ..Limits::default() }, Patience::default()).await;
    let mut modest = running.connect_from(2).await;
    assert_eq!(status_of(&mut modest, HEALTH).await, Some(200));
    let mut greedy = Vec::new();
    for _ in 0..100 {
        let mut stream = running.connect_from(3).await;
        assert_eq!(status_of(&mut stream, HEALTH).await, Some(200));
        greedy.push(stream);
    }
    assert_eq!(status_of(&mut modest, HEALTH).await, Some(200), "its place was taken");
}

#[tokio::test]
async fn who_gives_no_sign_of_life_over_http2_is_cut_off() {
    let patience = Patience { sign_of_life: milliseconds(200), ..Patience::default() };
    let running = Running::new(Limits::default(), patience).await;
    let mut stream = running.connect().await;
    // The preface and no settings of its own; pings stay without an answer.
    stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").await.unwrap();
    assert!(time_to_end(&mut stream).await < Duration::from_secs(5));
}

#[tokio::test]
async fn bodies_over_http2_are_bounded_together_and_their_bytes_given_back() {
    let limits = Limits { body: 20_000, waiting: 2, ..Limits::default() };
    let running = Running::new(limits, Patience::default()).await;
    let (client, connection) = h2::client::handshake(running.connect().await).await.unwrap();
    let driving = tokio::spawn(connection);
    let request = || {
        let request = Request::builder().method(Method::POST).uri("http://localhost/v1/links");
        request.header("content-type", "application/json").body(()).unwrap()
    };
    for round in 0..5 {
        let mut slow = Vec::new();
        for _ in 0..3 {
            let (answer, mut sending) = client.clone().ready().await.unwrap().send_request(request(), false).unwrap();
            sending.send_data(Bytes::from(vec![b' '; 15_000]), false).unwrap();
            slow.push((answer, sending));
            sleep(milliseconds(50)).await;
        }
        let (oldest, _) = slow.remove(0);
        let answer = timeout(LONG, oldest).await.unwrap().unwrap();
        assert_eq!(answer.status(), 503, "round {round}: the oldest makes place");
        assert_eq!(running.ask().await, Some(200), "round {round}: there is place for a small one");
        for (_, mut sending) in slow {
            sending.send_reset(h2::Reason::CANCEL);
        }
        sleep(milliseconds(100)).await;
    }
    driving.abort();
    let padded = format!("{{\"nodes\": [{{\"words\": \"soup\"}}]}}{}", " ".repeat(19_000));
    for _ in 0..5 {
        assert_eq!(running.service.post("/v1/links", &padded).await.status, 200, "all bytes are free again");
    }
}
