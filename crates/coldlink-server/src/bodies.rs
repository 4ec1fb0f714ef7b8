//! The bytes of all requests' bodies in memory: a bound for all connections together. Where it is reached, the body that has been
//! arriving for the longest time makes place, so that slow senders do not keep others out.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

/// Time for a body that was given up to make place.
const MAKING_PLACE: Duration = Duration::from_millis(500);

/// The bytes of all bodies.
pub struct Bodies {
    free: Arc<Semaphore>,
    arriving: Mutex<Line>,
}

/// Bodies that are not whole yet, from the oldest on.
#[derive(Default)]
struct Line {
    bodies: BTreeMap<u64, Arc<Notify>>,
    next: u64,
}

impl Bodies {
    /// Room for so many bytes.
    pub fn new(most: usize) -> Self {
        Bodies { free: Arc::new(Semaphore::new(most.min(Semaphore::MAX_PERMITS))), arriving: Mutex::default() }
    }

    /// A body begins to arrive.
    pub fn arrive(&self) -> Arriving<'_> {
        let mut line = self.line();
        let (number, given_up) = (line.next, Arc::new(Notify::new()));
        line.next += 1;
        line.bodies.insert(number, Arc::clone(&given_up));
        drop(line);
        Arriving { all: self, number, given_up, counted: Counted(None) }
    }

    /// Gives up the body that has been arriving for the longest time, unless that is the one that asks for it.
    fn give_up_oldest(&self, but: u64) -> bool {
        let mut line = self.line();
        match line.bodies.first_entry() {
            Some(oldest) if *oldest.key() != but => {
                oldest.remove().notify_one();
                true
            }
            _ => false,
        }
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        self.arriving.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Bytes that count among those of all bodies as long as this is there.
pub struct Counted(Option<OwnedSemaphorePermit>);

/// A body that is not whole yet.
pub struct Arriving<'a> {
    all: &'a Bodies,
    number: u64,
    given_up: Arc<Notify>,
    counted: Counted,
}

impl Arriving<'_> {
    /// Counts bytes that have arrived; whether there is place for them.
    pub async fn take(&mut self, bytes: usize) -> bool {
        let Ok(bytes) = u32::try_from(bytes) else { return false };
        loop {
            let free = Arc::clone(&self.all.free);
            let permit = match Arc::clone(&free).try_acquire_many_owned(bytes) {
                Ok(permit) => permit,
                Err(_) if self.all.give_up_oldest(self.number) => {
                    match tokio::time::timeout(MAKING_PLACE, free.acquire_many_owned(bytes)).await {
                        Ok(Ok(permit)) => permit,
                        _ => continue,
                    }
                }
                Err(_) => return false,
            };
            match &mut self.counted.0 {
                Some(counted) => counted.merge(permit),
                None => self.counted.0 = Some(permit),
            }
            return true;
        }
    }

    /// Waits until it must make place for another.
    pub async fn given_up(&self) {
        self.given_up.notified().await;
    }

    /// All of it has arrived.
    pub fn whole(mut self) -> Counted {
        Counted(self.counted.0.take())
    }
}

impl Drop for Arriving<'_> {
    fn drop(&mut self) {
        self.all.line().bodies.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_oldest_makes_place_and_whole_bodies_stay() {
        let bodies = Bodies::new(10);
        let mut first = bodies.arrive();
        assert!(first.take(4).await);
        let whole = first.whole();
        let (mut slow, mut new) = (bodies.arrive(), bodies.arrive());
        assert!(slow.take(6).await);
        let (taken, ()) = tokio::join!(new.take(5), async {
            slow.given_up().await;
            drop(slow);
        });
        assert!(taken);
        assert!(!new.take(5).await, "it is the oldest now, and the rest is in use");
        drop((new, whole));
        assert_eq!((bodies.free.available_permits(), bodies.line().bodies.len()), (10, 0));
    }
}
