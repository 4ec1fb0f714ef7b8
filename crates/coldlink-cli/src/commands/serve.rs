//! `coldlink serve`: a model over HTTP, with a page.

use std::io::IsTerminal;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, ValueEnum};
use coldlink_server::{Limits, Options, Server, StartError, Token};
use tokio::net::TcpListener;
use tracing_subscriber::EnvFilter;

use super::Common;
use crate::failure::Failure;

/// Answer requests for links over HTTP, and show a page to try it
#[derive(Args)]
#[command(after_help = "\
Examples:
  coldlink serve papers.model
  coldlink serve papers.model --port 9000 --log json
  coldlink serve papers.model --address 0.0.0.0 --token-file token.txt --read-only

Then open http://127.0.0.1:8077/ in a browser, or ask from elsewhere:
  curl http://127.0.0.1:8077/v1/links -H 'Content-Type: application/json' \\
       -d '{\"nodes\": [{\"id\": \"new\", \"words\": [\"graph\", \"link\"]}], \"k\": 5}'

/openapi.json describes all requests with the columns of the model, /metrics is for Prometheus. Only
this machine is answered unless `--address` says otherwise, which needs a token: make one with
`head -c 24 /dev/urandom | base64`. When the model file is replaced, by `coldlink train`, `coldlink
add` or `mv`, the new one is served within a second or two and no request is dropped. Never write
into a file that is served, as `cp` does. Ctrl-C or SIGTERM answers what has begun, then ends.")]
pub struct Serve {
    /// The model
    model: PathBuf,
    /// The address to listen at; any but that of this machine itself needs `--token-file`
    #[arg(long, value_name = "IP", default_value = "127.0.0.1")]
    address: IpAddr,
    /// The port to listen at; 0 for any that is free
    #[arg(long, short, value_name = "PORT", default_value_t = 8077)]
    port: u16,
    /// A file with the token that requests must bring (`Authorization: Bearer TOKEN`)
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Refuse to add nodes
    #[arg(long)]
    read_only: bool,
    /// How to write the log, on standard error [default: text on a terminal; else json]
    #[arg(long, value_name = "FORMAT")]
    log: Option<Log>,
    #[command(flatten)]
    limits: LimitArgs,
}

/// How much a request may ask for.
#[derive(Args)]
#[command(next_help_heading = "Limits")]
struct LimitArgs {
    /// Bytes of a request's body
    #[arg(long, value_name = "BYTES", default_value_t = Limits::default().body, value_parser = at_least_one)]
    max_body: usize,
    /// New nodes in a request
    #[arg(long, value_name = "N", default_value_t = Limits::default().nodes, value_parser = at_least_one)]
    max_nodes: usize,
    /// Links of one node
    #[arg(long, value_name = "K", default_value_t = Limits::default().k, value_parser = at_least_one)]
    max_k: usize,
    /// Requests that are worked on or wait; more are answered with 503
    #[arg(long, value_name = "N", default_value_t = Limits::default().waiting, value_parser = at_least_one)]
    max_waiting: usize,
    /// Seconds for a request
    #[arg(long, value_name = "SECONDS", default_value_t = Limits::default().seconds, value_parser = seconds)]
    time_limit: f64,
}

#[derive(Clone, Copy, ValueEnum)]
enum Log {
    /// A JSON object on each line
    Json,
    /// Lines for people
    Text,
}

fn at_least_one(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|count| *count > 0).ok_or_else(|| "must be a whole number above 0".to_owned())
}

fn seconds(text: &str) -> Result<f64, String> {
    let value = text.parse().ok().filter(|seconds| (0.001..=86_400.0).contains(seconds));
    value.ok_or_else(|| "must be a number from 0.001 to 86400".to_owned())
}

/// Runs the command.
pub fn run(args: &Serve, common: &Common) -> anyhow::Result<()> {
    let token = args.token_file.as_deref().map(read_token).transpose()?;
    if !args.address.is_loopback() && token.is_none() {
        let failure = Failure::new(format!("at {} others could ask too, and there is no token", args.address));
        return Err(failure.hint("give `--token-file FILE`, or leave out `--address`").into());
    }
    let options = Options {
        limits: args.limits.limits(),
        token,
        read_only: args.read_only,
        threads: common.threads.unwrap_or(0),
    };
    start_log(args.log, common.quiet);
    let server = Server::open(&args.model, options).map_err(|error| match error {
        StartError::Model(error) => anyhow::Error::from(error),
        other => other.into(),
    })?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().context("cannot start threads")?;
    runtime.block_on(async {
        let address = SocketAddr::new(args.address, args.port);
        let listener = TcpListener::bind(address).await.map_err(|error| cannot_listen(address, error))?;
        let address = listener.local_addr().context("cannot tell where the server listens")?;
        let summary = &server.current().model.summary;
        tracing::info!(model = %args.model.display(), nodes = summary.nodes, "serving at http://{address}/");
        coldlink_server::serve(listener, server, stop_signal()).await;
        Ok(())
    })
}

impl LimitArgs {
    fn limits(&self) -> Limits {
        Limits {
            body: self.max_body,
            nodes: self.max_nodes,
            k: self.max_k,
            waiting: self.max_waiting,
            seconds: self.time_limit,
            ..Limits::default()
        }
    }
}

fn read_token(path: &Path) -> anyhow::Result<Token> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    Token::new(&text).map_err(|error| {
        let failure = Failure::new(format!("`{}`: {error}", path.display()));
        failure.hint("make one with `head -c 24 /dev/urandom | base64`").into()
    })
}

fn cannot_listen(address: SocketAddr, error: std::io::Error) -> anyhow::Error {
    let hint = match error.kind() {
        std::io::ErrorKind::AddrInUse => "something listens there already; choose another `--port`, or 0 for any",
        std::io::ErrorKind::PermissionDenied => "ports below 1024 need special rights; choose another `--port`",
        _ => "`--address` must be an address of this machine",
    };
    Failure::new(format!("cannot listen at {address}: {error}")).hint(hint).into()
}

/// `RUST_LOG` may ask for more or less.
fn start_log(format: Option<Log>, quiet: bool) {
    let usual = if quiet { "error" } else { "info" };
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(usual));
    let terminal = std::io::stderr().is_terminal();
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_target(false);
    // A log that is there already is kept.
    let _ = match format.unwrap_or(if terminal { Log::Text } else { Log::Json }) {
        Log::Json => builder.json().flatten_event(true).with_ansi(false).try_init(),
        Log::Text => builder.with_ansi(terminal).try_init(),
    };
}

/// Ctrl-C, or SIGTERM where there is such a thing.
async fn stop_signal() {
    #[cfg(unix)]
    let terminated = async {
        use tokio::signal::unix::{SignalKind, signal};
        match signal(SignalKind::terminate()) {
            Ok(mut signal) => drop(signal.recv().await),
            Err(_) => std::future::pending().await,
        }
    };
    #[cfg(not(unix))]
    let terminated = std::future::pending::<()>();
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        () = terminated => {}
    }
}
