//! `GET /metrics`: what the server has done so far, for Prometheus.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};

use crate::state::Server;

/// Upper ends of the histogram's buckets, in seconds.
const BUCKETS: [f64; 12] = [0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0];

/// Counts of all that happened.
#[derive(Default)]
pub struct Metrics {
    requests: Mutex<BTreeMap<Key, Histogram>>,
    in_flight: AtomicI64,
    overloads: AtomicU64,
    reloads: [AtomicU64; 2],
}

/// What requests are told apart by; there are few of each, whatever clients send.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    method: &'static str,
    status: u16,
    path: &'static str,
}

#[derive(Clone, Copy, Default)]
struct Histogram {
    buckets: [u64; BUCKETS.len()],
    count: u64,
    seconds: f64,
}

impl Metrics {
    /// A request has begun; it is over when what this returns is dropped.
    pub fn begin(self: &Metrics) -> InFlight<'_> {
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        InFlight(self)
    }

    /// A request was answered.
    pub fn count(&self, method: &str, path: Option<&str>, status: u16, time: Duration) {
        let key = Key { method: known_method(method), path: known_path(path), status };
        let seconds = time.as_secs_f64();
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        let histogram = requests.entry(key).or_default();
        histogram.count += 1;
        histogram.seconds += seconds;
        if let Some(bucket) = BUCKETS.iter().position(|&end| seconds <= end) {
            histogram.buckets[bucket] += 1;
        }
    }

    /// A request was turned away.
    pub fn count_overload(&self) {
        self.overloads.fetch_add(1, Ordering::Relaxed);
    }

    /// A model took the place of the last, or could not.
    pub fn count_reload(&self, done: bool) {
        self.reloads[usize::from(done)].fetch_add(1, Ordering::Relaxed);
    }
}

/// A request that is being answered.
pub struct InFlight<'a>(&'a Metrics);

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}

fn known_method(method: &str) -> &'static str {
    ["GET", "POST", "HEAD", "OPTIONS", "PUT", "DELETE", "PATCH"]
        .into_iter()
        .find(|known| *known == method)
        .unwrap_or("other")
}

fn known_path(path: Option<&str>) -> &'static str {
    path.and_then(|path| crate::PATHS.into_iter().find(|known| *known == path)).unwrap_or("other")
}

/// Counts and times, in Prometheus' text format
#[utoipa::path(get, path = "/metrics", tag = "server", responses((status = 200, description = "the counts", body = String, content_type = "text/plain")))]
pub async fn metrics(State(server): State<Arc<Server>>) -> Response {
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    ([(header::CONTENT_TYPE, kind)], text(&server)).into_response()
}

fn text(server: &Server) -> String {
    let metrics = &server.metrics;
    let mut out = String::new();
    let served = server.current();
    let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed) as f64;
    let mut family = |name: &str, kind: &str, help: &str, values: &[(&str, f64)]| {
        // Writing to a text cannot fail.
        let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
        for (labels, value) in values {
            let _ = writeln!(out, "{name}{labels} {value}");
        }
    };
    let waiting = server.limits().waiting.saturating_sub(server.admitted.available_permits());
    family(
        "coldlink_model_nodes",
        "gauge",
        "Nodes that links are found among.",
        &[("", served.model.summary().nodes as f64)],
    );
    family(
        "coldlink_model_links",
        "gauge",
        "Links of the training graph.",
        &[("", served.model.summary().links as f64)],
    );
    let reloads =
        [("{outcome=\"refused\"}", load(&metrics.reloads[0])), ("{outcome=\"served\"}", load(&metrics.reloads[1]))];
    family("coldlink_model_reloads_total", "counter", "Model files that took the place of the last.", &reloads);
    family(
        "coldlink_requests_in_flight",
        "gauge",
        "Requests that are being answered.",
        &[("", metrics.in_flight.load(Ordering::Relaxed) as f64)],
    );
    family(
        "coldlink_requests_working",
        "gauge",
        "Requests that work on the processor or wait for it.",
        &[("", waiting as f64)],
    );
    family(
        "coldlink_overloads_total",
        "counter",
        "Requests that were turned away because too many waited.",
        &[("", load(&metrics.overloads))],
    );
    family(
        "coldlink_uptime_seconds",
        "gauge",
        "Time since the start.",
        &[("", server.started.elapsed().as_secs_f64())],
    );
    if let Some(bytes) = resident_bytes() {
        family("process_resident_memory_bytes", "gauge", "Memory in use.", &[("", bytes)]);
    }
    let requests = metrics.requests.lock().unwrap_or_else(PoisonError::into_inner).clone();
    histograms(&mut out, &requests);
    out
}

fn histograms(out: &mut String, requests: &BTreeMap<Key, Histogram>) {
    let name = "coldlink_request_seconds";
    let _ = writeln!(out, "# HELP {name} Times from request to answer.\n# TYPE {name} histogram");
    for (Key { method, path, status }, histogram) in requests {
        let labels = format!("method=\"{method}\",path=\"{path}\",status=\"{status}\"");
        let mut below = 0;
        for (end, count) in BUCKETS.iter().zip(histogram.buckets) {
            below += count;
            let _ = writeln!(out, "{name}_bucket{{{labels},le=\"{end}\"}} {below}");
        }
        let Histogram { count, seconds, .. } = histogram;
        let _ = writeln!(out, "{name}_bucket{{{labels},le=\"+Inf\"}} {count}");
        let _ = writeln!(out, "{name}_sum{{{labels}}} {seconds}\n{name}_count{{{labels}}} {count}");
    }
}

/// The memory of this process, where the system tells.
fn resident_bytes() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS"))?;
    line.split_whitespace().nth(1)?.parse::<f64>().ok().map(|kilobytes| kilobytes * 1024.0)
}
