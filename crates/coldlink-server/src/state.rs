//! What all requests share: the model of the moment, the limits, and the threads that work.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use arc_swap::ArcSwap;
use coldlink::storage::FileError;
use rayon::ThreadPool;
use tokio::sync::{Mutex, Semaphore};

use crate::auth::Token;
use crate::bodies::Bodies;
use crate::connections::Patience;
use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::nodes::AddAnswer;
use crate::repeated::Repeated;
use crate::served::Served;

/// Requests that add nodes, or wait for their turn: each writes the model's file.
const MOST_ADDING: usize = 16;
/// Bytes of answers that wait to be taken, over all connections.
const MOST_OF_ANSWERS: usize = 256 << 20;

/// How far changes of the model step back behind requests, from 0 to 19: they get a tenth of a core that both want.
#[cfg(target_os = "linux")]
const STEPS_BACK: i32 = 10;

/// How a server is run.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// How much a request may ask for.
    pub limits: Limits,
    /// The word that requests must bring.
    pub token: Option<Token>,
    /// Whether nodes cannot be added.
    pub read_only: bool,
    /// Threads that work on requests; 0 for one per core.
    pub threads: usize,
    /// How long the other end of a connection is waited for.
    pub patience: Patience,
}

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The model cannot be opened.
    #[error(transparent)]
    Model(#[from] FileError),
    /// The system gives no threads.
    #[error("cannot start threads")]
    Threads(#[from] rayon::ThreadPoolBuildError),
}

/// What all requests share.
pub struct Server {
    /// Where the model is.
    pub(crate) path: PathBuf,
    pub(crate) current: ArcSwap<Served>,
    /// A permit for each request that adds nodes or waits for it.
    pub(crate) adding: Arc<Semaphore>,
    /// Held by whoever replaces the model or its file.
    pub(crate) changing: Mutex<()>,
    pub(crate) options: Options,
    pub(crate) pool: ThreadPool,
    /// One thread for changes of the model: they take long, and requests do not wait behind them.
    pub(crate) changes: ThreadPool,
    /// Models that were served before and that requests may still hold.
    pub(crate) retired: std::sync::Mutex<Vec<Arc<Served>>>,
    /// A permit for each request that works or waits.
    pub(crate) admitted: Arc<Semaphore>,
    /// The bytes of all bodies in memory.
    pub(crate) bodies: Bodies,
    /// A permit for each byte of answers that are not taken yet.
    pub(crate) answers: Arc<Semaphore>,
    /// What was answered to those who added nodes.
    pub(crate) added: Repeated<AddAnswer>,
    pub(crate) metrics: Metrics,
    pub(crate) started: Instant,
}

impl Server {
    /// Opens a model to be served.
    pub fn open(path: &Path, options: Options) -> Result<Arc<Self>, StartError> {
        let served = Served::open(path)?;
        let pool = rayon::ThreadPoolBuilder::new().num_threads(options.threads).build()?;
        let changes = rayon::ThreadPoolBuilder::new().num_threads(1).start_handler(|_| step_back()).build()?;
        Ok(Arc::new(Server {
            path: path.to_owned(),
            current: ArcSwap::from_pointee(served),
            adding: Arc::new(Semaphore::new(MOST_ADDING)),
            changing: Mutex::new(()),
            admitted: Arc::new(Semaphore::new(options.limits.waiting.min(Semaphore::MAX_PERMITS))),
            bodies: Bodies::new(options.limits.bodies()),
            answers: Arc::new(Semaphore::new(MOST_OF_ANSWERS)),
            added: Repeated::default(),
            options,
            pool,
            changes,
            retired: std::sync::Mutex::default(),
            metrics: Metrics::default(),
            started: Instant::now(),
        }))
    }

    /// The model of the moment. Whoever holds it keeps it, whatever takes its place.
    pub fn current(&self) -> Arc<Served> {
        self.current.load_full()
    }

    /// How much a request may ask for.
    pub fn limits(&self) -> &Limits {
        &self.options.limits
    }
}

/// Lets other threads go first where there are more of them than cores. Where the system does not allow it, nothing is lost.
fn step_back() {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::setpriority_process(None, STEPS_BACK);
}
