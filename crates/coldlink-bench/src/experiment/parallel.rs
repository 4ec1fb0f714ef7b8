//! Several pieces of work at a time, each on threads of its own.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::BenchError;

/// How much is done at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Workers {
    /// Pieces at a time.
    pub jobs: usize,
    /// Threads for each of them.
    pub threads: usize,
}

impl Workers {
    /// `jobs` pieces at a time that share `threads` threads, or all cores.
    pub fn new(jobs: usize, threads: Option<usize>) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Workers { jobs: jobs.max(1), threads: (threads.unwrap_or(cores) / jobs.max(1)).max(1) }
    }

    /// The threads of one piece.
    pub(super) fn pool(self) -> Result<rayon::ThreadPool, BenchError> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(self.threads).build();
        pool.map_err(|error| BenchError::Threads(error.to_string()))
    }

    /// Works through 0, 1, … up to `count`, in about this order; stops after the first failure.
    pub fn each(self, count: usize, work: impl Fn(usize) -> Result<(), BenchError> + Sync) -> Result<(), BenchError> {
        let (next, failure) = (AtomicUsize::new(0), Mutex::new(None));
        let fail = |error| {
            lock(&failure).get_or_insert(error);
        };
        std::thread::scope(|scope| {
            for _ in 0..self.jobs.min(count) {
                scope.spawn(|| match self.pool() {
                    Ok(pool) => loop {
                        let piece = next.fetch_add(1, Ordering::Relaxed);
                        if piece >= count || lock(&failure).is_some() {
                            break;
                        }
                        if let Err(error) = pool.install(|| work(piece)) {
                            fail(error);
                        }
                    },
                    Err(error) => fail(error),
                });
            }
        });
        failure.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner).map_or(Ok(()), Err)
    }
}

/// A lock that a panic elsewhere does not spoil: what it guards is only ever changed as a whole.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_piece_is_done_once_on_threads_of_its_own() {
        let done = Mutex::new(Vec::new());
        let work = |piece| {
            assert_eq!(rayon::current_num_threads(), 1);
            lock(&done).push(piece);
            Ok(())
        };
        Workers::new(3, Some(3)).each(20, work).unwrap();
        let mut done = done.into_inner().unwrap();
        done.sort_unstable();
        assert_eq!(done, (0..20).collect::<Vec<_>>());
    }

    #[test]
    fn a_failure_is_told_and_ends_the_work() {
        let done = AtomicUsize::new(0);
        let work = |_| {
            done.fetch_add(1, Ordering::Relaxed);
            Err(BenchError::Threads("none".to_owned()))
        };
        assert!(Workers::new(2, Some(2)).each(100, work).is_err());
        assert!(done.into_inner() <= 2);
    }
}
