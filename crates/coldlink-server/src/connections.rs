//! Which connections are open, and which of them must go: those that ask nothing, those that do not take their answer, and, where
//! all places are taken, one of those who have the most.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

/// Time until the first request has arrived.
const FIRST: Duration = Duration::from_secs(10);
/// Time between an answer and the next request.
const IDLE: Duration = Duration::from_secs(30);
/// Time for an answer to be taken.
const ANSWER: Duration = Duration::from_secs(60);

/// All open connections.
pub struct Connections {
    most: usize,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    by_address: HashMap<IpAddr, BTreeMap<u64, Arc<Connection>>>,
    count: usize,
    next: u64,
}

impl Connections {
    /// Room for so many at a time.
    pub fn new(most: usize) -> Self {
        Connections { most, open: Mutex::default() }
    }

    /// A place for a new connection; where there is none, another one has to go.
    pub fn enter(self: &Arc<Self>, address: IpAddr) -> Place {
        if self.open().count >= self.most {
            self.evict();
        }
        let mut open = self.open();
        let number = open.next;
        open.next += 1;
        open.count += 1;
        let connection = Arc::new(Connection { activity: Mutex::new(Activity::new()), evicted: Notify::new() });
        open.by_address.entry(address).or_default().insert(number, Arc::clone(&connection));
        Place { connections: Arc::clone(self), address, number, connection }
    }

    /// Ends a connection of the address that has the most: the one that has been silent for the longest time, or else the one whose
    /// answer has waited for the longest.
    pub fn evict(&self) {
        let mut open = self.open();
        let Some((&address, _)) = open.by_address.iter().max_by_key(|(_, connections)| connections.len()) else {
            return;
        };
        let of_address = open.by_address.get_mut(&address).into_iter().flatten();
        let standing = |connection: &Connection| connection.activity().standing();
        let Some(number) = of_address.min_by_key(|(_, connection)| standing(connection)).map(|(&number, _)| number)
        else {
            return;
        };
        // Its place is free at once, whenever its task comes to know.
        if let Some(connection) = open.remove(address, number) {
            connection.evicted.notify_one();
        }
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    fn remove(&mut self, address: IpAddr, number: u64) -> Option<Arc<Connection>> {
        let connections = self.by_address.get_mut(&address)?;
        let removed = connections.remove(&number)?;
        self.count -= 1;
        if connections.is_empty() {
            self.by_address.remove(&address);
        }
        Some(removed)
    }
}

/// The place of one connection, free again when this goes.
pub struct Place {
    connections: Arc<Connections>,
    address: IpAddr,
    number: u64,
    connection: Arc<Connection>,
}

impl Place {
    /// The connection itself.
    pub fn connection(&self) -> Arc<Connection> {
        Arc::clone(&self.connection)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.connections.open().remove(self.address, self.number);
    }
}

/// One connection.
pub struct Connection {
    activity: Mutex<Activity>,
    evicted: Notify,
}

impl Connection {
    /// Another request has arrived.
    pub fn begin(self: &Arc<Self>) -> Working {
        self.activity().working += 1;
        Working { connection: Arc::clone(self) }
    }

    /// When it must end, unless something happens; none while a request is worked on.
    pub fn deadline(&self) -> Option<Instant> {
        self.activity().deadline()
    }

    /// Another connection has taken its place.
    pub async fn evicted(&self) {
        self.evicted.notified().await;
    }

    fn activity(&self) -> MutexGuard<'_, Activity> {
        self.activity.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a connection is doing.
struct Activity {
    /// Requests that are worked on.
    working: usize,
    /// Since when answers wait to be taken.
    answering: BTreeMap<u64, Instant>,
    next: u64,
    /// Since when there is neither.
    silent_since: Instant,
    has_asked: bool,
}

/// How much a connection is missed, from the least to the most.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Standing {
    Silent(Instant),
    Answering(Instant),
    Working,
}

impl Activity {
    fn new() -> Self {
        Activity { working: 0, answering: BTreeMap::new(), next: 0, silent_since: Instant::now(), has_asked: false }
    }

    fn standing(&self) -> Standing {
        match self.answering.first_key_value() {
            _ if self.working > 0 => Standing::Working,
            Some((_, since)) => Standing::Answering(*since),
            None => Standing::Silent(self.silent_since),
        }
    }

    fn deadline(&self) -> Option<Instant> {
        match self.answering.first_key_value() {
            Some((_, since)) => Some(*since + ANSWER),
            None if self.working > 0 => None,
            None => Some(self.silent_since + if self.has_asked { IDLE } else { FIRST }),
        }
    }

    fn rest(&mut self) {
        self.has_asked = true;
        self.silent_since = Instant::now();
    }
}

/// A request that is worked on.
pub struct Working {
    connection: Arc<Connection>,
}

impl Working {
    /// Its answer is there, and must be taken.
    pub fn answered(self) -> Answering {
        let connection = Arc::clone(&self.connection);
        let mut activity = connection.activity();
        let number = activity.next;
        activity.next += 1;
        activity.answering.insert(number, Instant::now());
        drop(activity);
        Answering { connection, number }
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        let mut activity = self.connection.activity();
        activity.working -= 1;
        activity.rest();
    }
}

/// An answer that is being taken.
pub struct Answering {
    connection: Arc<Connection>,
    number: u64,
}

impl Drop for Answering {
    fn drop(&mut self) {
        let mut activity = self.connection.activity();
        activity.answering.remove(&self.number);
        activity.rest();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GREEDY: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 1));
    const MODEST: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 2));

    fn is_open(connections: &Connections, place: &Place) -> bool {
        connections.open().by_address.get(&place.address).is_some_and(|open| open.contains_key(&place.number))
    }

    #[test]
    fn whoever_has_the_most_loses_its_oldest_silent_connection() {
        let connections = Arc::new(Connections::new(4));
        let busy = connections.enter(GREEDY);
        let working = busy.connection().begin();
        let greedy: Vec<Place> = (0..2).map(|_| connections.enter(GREEDY)).collect();
        let modest = connections.enter(MODEST);
        let new = connections.enter(MODEST);
        assert!(!is_open(&connections, &greedy[0]), "the oldest silent one goes");
        assert!([&busy, &greedy[1], &modest, &new].iter().all(|place| is_open(&connections, place)));
        drop((greedy, modest, new, working, busy));
        let open = connections.open();
        assert_eq!((open.count, open.by_address.len()), (0, 0));
    }

    #[test]
    fn a_connection_has_time_while_it_is_worked_for_and_not_for_ever_after() {
        let connections = Arc::new(Connections::new(4));
        let place = connections.enter(MODEST);
        let (connection, now) = (place.connection(), Instant::now());
        let left = || connection.deadline().map(|end| end.saturating_duration_since(now).as_secs().div_ceil(10) * 10);
        assert_eq!(left(), Some(10));
        let working = connection.begin();
        assert_eq!(left(), None);
        let answering = working.answered();
        assert_eq!(left(), Some(60));
        drop(answering);
        assert_eq!(left(), Some(30));
    }
}
