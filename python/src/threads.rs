//! The threads that work for Python. A forked process has none of its parent's, so it starts its own.

use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// The threads of this process, once there was something to do. Locked only under Python's global lock: whoever forks holds that, so
/// no child finds this locked by a thread that it does not have.
static POOL: Mutex<Option<&'static ThreadPool>> = Mutex::new(None);

/// The threads of this process.
pub fn pool(_: Python<'_>) -> PyResult<&'static ThreadPool> {
    let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(pool) = *pool {
        return Ok(pool);
    }
    let built = ThreadPoolBuilder::new().build();
    let built = built.map_err(|error| PyOSError::new_err(format!("cannot start threads: {error}")))?;
    // For as long as the process lives: a forked one cannot even take its parent's down.
    Ok(pool.insert(Box::leak(Box::new(built))))
}

/// Does work on the threads of this process, without Python's global lock.
pub fn work<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let pool = pool(py)?;
    Ok(py.detach(|| pool.install(work)))
}

/// Tells a forked process that the threads it knows of are its parent's.
#[pyfunction]
pub fn forget_threads() {
    *POOL.lock().unwrap_or_else(PoisonError::into_inner) = None;
}
