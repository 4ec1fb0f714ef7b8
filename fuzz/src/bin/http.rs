//! Bodies, queries, paths and headers of requests to a server with a small model. An answer of the kind 5xx is a finding, and so is a
//! refusal without code, message and hint.
#![no_main]

use std::cell::RefCell;
use std::io::Read;
use std::sync::LazyLock;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderValue, Method, Request, StatusCode, header};
use coldlink_fuzz::{Saved, check_memory, file, form, prepare};
use coldlink_server::{Limits, Options, Server, app};
use flate2::read::GzDecoder;
use http_body_util::BodyExt;
use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};
use tower::ServiceExt;

static SOUND: LazyLock<Saved> = LazyLock::new(Saved::make);
static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Builder::new_current_thread().enable_all().build().expect("a runtime"));
thread_local! { static SERVICE: RefCell<Router> = RefCell::new(service()); }

fuzz_target!(init: { prepare(); LazyLock::force(&SOUND) }, |bytes: &[u8]| {
    let Some((form, bytes)) = form(bytes) else { return };
    let Some(request) = request(form, bytes) else { return };
    let service = SERVICE.with_borrow(Router::clone);
    let (head, body) = RUNTIME.block_on(async {
        let (head, body) = service.oneshot(request).await.expect("an answer").into_parts();
        (head, body.collect().await.expect("an answer").to_bytes())
    });
    let status = head.status;
    check(status, &if head.headers.contains_key(header::CONTENT_ENCODING) { unzipped(&body) } else { body.into() });
    if status == StatusCode::CREATED {
        // The next input meets the same model.
        SERVICE.set(service_anew());
    }
    check_memory();
});

/// The small model, served with more time than libFuzzer gives.
fn service() -> Router {
    let limits = Limits { seconds: 600.0, ..Limits::default() };
    let options = Options { limits, threads: 1, ..Options::default() };
    app(Server::open(&SOUND.path, options).expect("a sound model"))
}

fn service_anew() -> Router {
    file("sound.model", &SOUND.model);
    file("sound.model.index", &SOUND.index);
    service()
}

fn request(form: u8, bytes: &[u8]) -> Option<Request<Body>> {
    let post = |path: &str| {
        let request = Request::post(path).header(header::CONTENT_TYPE, "application/json");
        request.body(Body::from(bytes.to_vec())).ok()
    };
    let get = |prefix: &str| {
        let uri = [prefix.as_bytes(), bytes].concat();
        Request::get(uri.as_slice()).body(Body::empty()).ok()
    };
    match form % 8 {
        0 => post("/v1/links"),
        1 => post("/v1/score"),
        2 => post("/v1/embed"),
        3 => post("/v1/nodes"),
        4 => get("/v1/nodes?"),
        5 => get("/v1/nodes/"),
        6 => get("/"),
        _ => {
            let value = HeaderValue::from_bytes(bytes).ok()?;
            let headers = [header::HOST, header::AUTHORIZATION, header::CONTENT_TYPE, header::ACCEPT_ENCODING];
            let method = if form & 8 == 0 { Method::GET } else { Method::POST };
            let request = Request::builder().method(method).uri("/v1/nodes");
            request.header(&headers[form as usize / 16 % 4], value).body(Body::empty()).ok()
        }
    }
}

fn unzipped(body: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    GzDecoder::new(body).read_to_end(&mut text).expect("what is said to be packed is");
    text
}

fn check(status: StatusCode, body: &[u8]) {
    assert!(!status.is_server_error(), "{status}: {}", String::from_utf8_lossy(body));
    if status.is_client_error() {
        let answer: Value = serde_json::from_slice(body).expect("errors are JSON");
        for part in ["code", "message", "hint"] {
            assert!(answer["error"][part].as_str().is_some_and(|text| !text.is_empty()), "{answer}");
        }
    }
}
