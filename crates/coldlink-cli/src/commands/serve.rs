//! `coldlink serve`: a model over HTTP, with a page.

use std::io::IsTerminal;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, ValueEnum};
use coldlink::storage::read_short;
use coldlink_server::{Limits, Options, Server, StartError, Token};
use tokio::net::TcpListener;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use super::Common;
use crate::failure::Failure;

/// Serve links over HTTP, with a page to try it
#[derive(Args)]
#[command(after_help = "\
Examples:
  coldlink serve papers.model
  coldlink serve papers.model --port 9000 --log json
  coldlink serve papers.model --address 0.0.0.0 --token-file token.txt --read-only

Open http://127.0.0.1:8077/ in a browser, or send JSON:
  curl http://127.0.0.1:8077/v1/links -H 'Content-Type: application/json' \\
       -d '{\"nodes\": [{\"id\": \"new\", \"words\": [\"graph\", \"link\"]}], \"k\": 5}'

/openapi.json describes all requests with the columns of the model, /metrics is for Prometheus. The
server listens on localhost only; another `--address` needs a token, for example from
`head -c 24 /dev/urandom | base64`. When `coldlink train` or `coldlink add` replaces the model file,
the server switches to the new one within seconds and drops no request. Never write into a file that
is being served, as `cp` does; move a new one over it. Nodes that the server acknowledges (201) are
in the file; a request that is repeated with the same `Idempotency-Key` header gets the first answer.
The server ends connections that ask nothing or do not read their answers. Ctrl-C or SIGTERM
finishes requests in flight, then exits.")]
pub struct Serve {
    /// Model file
    model: PathBuf,
    /// Address to listen on; any but localhost needs `--token-file`
    #[arg(long, value_name = "IP", default_value = "127.0.0.1")]
    address: IpAddr,
    /// Port to listen on; 0 for any free one
    #[arg(long, short, value_name = "PORT", default_value_t = 8077)]
    port: u16,
    /// File with the token that requests must carry (`Authorization: Bearer TOKEN`)
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Refuse to add nodes
    #[arg(long)]
    read_only: bool,
    /// Log format, on standard error [default: text on a terminal; else json]
    #[arg(long, value_name = "FORMAT")]
    log: Option<Log>,
    #[command(flatten)]
    limits: LimitArgs,
}

/// How much a request may ask for.
#[derive(Args)]
#[command(next_help_heading = "Limits")]
struct LimitArgs {
    /// Largest request body in bytes
    #[arg(long, value_name = "BYTES", default_value_t = Limits::default().body, value_parser = at_least_one)]
    max_body: usize,
    /// Most new nodes in a request
    #[arg(long, value_name = "N", default_value_t = Limits::default().nodes, value_parser = at_least_one)]
    max_nodes: usize,
    /// Most links of one node
    #[arg(long, value_name = "K", default_value_t = Limits::default().k, value_parser = at_least_one)]
    max_k: usize,
    /// Most requests in flight or waiting; the server answers more with 503
    #[arg(long, value_name = "N", default_value_t = Limits::default().waiting, value_parser = at_least_one)]
    max_waiting: usize,
    /// Most connections; if all are in use, the client with the most loses its oldest idle one
    #[arg(long, value_name = "N", default_value_t = Limits::default().connections, value_parser = at_least_one)]
    max_connections: usize,
    /// Time limit of a request in seconds
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
    text.parse().ok().filter(|count| *count > 0).ok_or_else(|| "must be a positive integer".to_owned())
}

fn seconds(text: &str) -> Result<f64, String> {
    let value = text.parse().ok().filter(|seconds| (0.001..=86_400.0).contains(seconds));
    value.ok_or_else(|| "must be a number from 0.001 to 86400".to_owned())
}

/// Runs the command.
pub fn run(args: &Serve, common: &Common) -> anyhow::Result<()> {
    let token = args.token_file.as_deref().map(read_token).transpose()?;
    if !args.address.is_loopback() && token.is_none() {
        let failure =
            Failure::new(format!("listening on {} lets other machines in, and there is no token", args.address));
        return Err(failure.hint("add `--token-file FILE`, or omit `--address`").into());
    }
    let options = Options {
        limits: args.limits.limits(),
        token,
        read_only: args.read_only,
        threads: common.threads.unwrap_or(0),
        ..Options::default()
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
        let address = listener.local_addr().context("cannot find the address of the server")?;
        let nodes = server.current().model.summary().nodes;
        tracing::info!(model = %args.model.display(), nodes, "serving at http://{address}/");
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
            connections: self.max_connections,
            seconds: self.time_limit,
            ..Limits::default()
        }
    }
}

fn read_token(path: &Path) -> anyhow::Result<Token> {
    let text = read_short(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    Token::new(&text).map_err(|error| {
        let failure = Failure::new(format!("`{}`: {error}", path.display()));
        failure.hint("create one with `head -c 24 /dev/urandom | base64`").into()
    })
}

fn cannot_listen(address: SocketAddr, error: std::io::Error) -> anyhow::Error {
    let hint = match error.kind() {
        std::io::ErrorKind::AddrInUse => {
            "another program uses this port; choose another `--port`, or 0 for any free one"
        }
        std::io::ErrorKind::PermissionDenied => "ports below 1024 need extra privileges; choose another `--port`",
        _ => "`--address` must be an address of this machine",
    };
    Failure::new(format!("cannot listen at {address}: {error}")).hint(hint).into()
}

/// `RUST_LOG` may ask for more or less: a level, or levels by crate as in `info,hyper=debug`.
fn start_log(format: Option<Log>, quiet: bool) {
    let usual = if quiet { tracing::Level::ERROR } else { tracing::Level::INFO };
    let asked = std::env::var("RUST_LOG").ok().and_then(|levels| levels.parse::<Targets>().ok());
    let levels = asked.unwrap_or_else(|| Targets::new().with_default(usual));
    let terminal = std::io::stderr().is_terminal();
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_target(false);
    let log = tracing_subscriber::registry().with(levels);
    // A log that is there already is kept.
    let _ = match format.unwrap_or(if terminal { Log::Text } else { Log::Json }) {
        Log::Json => log.with(lines.json().flatten_event(true).with_ansi(false)).try_init(),
        Log::Text => log.with(lines.with_ansi(terminal)).try_init(),
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
