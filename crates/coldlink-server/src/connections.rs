//! Which connections are open, and which of them must go: those that ask nothing, those that do not take their answer, and, where
//! all places are taken, one of those who have the most.

use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

/// How long the server waits for the other end of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patience {
    /// For the first byte of a new connection.
    pub first: Duration,
    /// From the first byte of a request to the end of its headers.
    pub headers: Duration,
    /// From an answer to the next request.
    pub idle: Duration,
    /// For any part of an answer to be taken.
    pub stalled: Duration,
    /// For all of an answer to be taken.
    pub answer: Duration,
    /// For a connection to end after it was asked to.
    pub farewell: Duration,
    /// For the other end of an HTTP/2 connection to say that it is there; it is asked after twice as long.
    pub sign_of_life: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        let [first, headers, idle, stalled, answer, farewell, sign_of_life] =
            [10, 10, 30, 15, 60, 5, 10].map(Duration::from_secs);
        Patience { first, headers, idle, stalled, answer, farewell, sign_of_life }
    }
}

impl Patience {
    /// How often a connection is looked at: what begins in between is noticed soon enough.
    pub fn look_every(&self) -> Duration {
        let all = [self.first, self.headers, self.idle, self.stalled, self.answer, self.farewell];
        all.into_iter().min().unwrap_or_default().clamp(Duration::from_millis(10), Duration::from_secs(1))
    }
}

/// All open connections.
pub struct Connections {
    most: usize,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    by_owner: HashMap<IpAddr, BTreeMap<u64, Arc<Connection>>>,
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
        let (owner, number) = (owner(address), open.next);
        open.next += 1;
        open.count += 1;
        let connection = Arc::new(Connection { activity: Mutex::new(Activity::new()), evicted: Notify::new() });
        open.by_owner.entry(owner).or_default().insert(number, Arc::clone(&connection));
        Place { connections: Arc::clone(self), owner, number, connection }
    }

    /// Ends a connection of whoever has the most: the one where nothing has moved on for the longest time. Those that are worked for
    /// go last. Whoever is new, or has just sent a whole request, has the whole length of that line before it.
    pub fn evict(&self) {
        let mut open = self.open();
        let Some((&owner, _)) = open.by_owner.iter().max_by_key(|(_, connections)| connections.len()) else {
            return;
        };
        let of_owner = open.by_owner.get(&owner).into_iter().flatten();
        let standing = |connection: &Connection| connection.activity().standing();
        let Some(number) = of_owner.min_by_key(|(_, connection)| standing(connection)).map(|(&number, _)| number)
        else {
            return;
        };
        // Its place is free at once, whenever its task comes to know.
        if let Some(connection) = open.remove(owner, number) {
            connection.evicted.notify_one();
        }
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Who connects, as far as an address tells: whoever has one address of IPv6 has all that begin with the same 64 bits.
fn owner(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() >> 64 << 64)),
        address => address,
    }
}

impl Open {
    fn remove(&mut self, owner: IpAddr, number: u64) -> Option<Arc<Connection>> {
        let connections = self.by_owner.get_mut(&owner)?;
        let removed = connections.remove(&number)?;
        self.count -= 1;
        if connections.is_empty() {
            self.by_owner.remove(&owner);
        }
        Some(removed)
    }
}

/// The place of one connection, free again when this goes.
pub struct Place {
    connections: Arc<Connections>,
    owner: IpAddr,
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
        self.connections.open().remove(self.owner, self.number);
    }
}

/// One connection.
pub struct Connection {
    activity: Mutex<Activity>,
    evicted: Notify,
}

/// When a connection must end, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It is asked to end: nothing is lost with it.
    Asked(Instant),
    /// It is cut off: whoever does not take an answer would not take a farewell.
    CutOff(Instant),
}

impl Connection {
    /// Another request has arrived, its body perhaps not yet.
    pub fn begin(self: &Arc<Self>) -> Asked {
        let mut activity = self.activity();
        let number = activity.next;
        activity.next += 1;
        activity.arriving_since = None;
        activity.enter(number, Phase::Receiving);
        drop(activity);
        Asked { connection: Arc::clone(self), number }
    }

    /// Bytes have arrived.
    pub fn heard(&self) {
        let mut activity = self.activity();
        if activity.requests.is_empty() && activity.arriving_since.is_none() {
            activity.arriving_since = Some(Instant::now());
        }
    }

    /// Bytes are to be sent; whether the system took any.
    pub fn writes(&self, took: bool) {
        let now = Instant::now();
        let mut activity = self.activity();
        let writing = activity.writing.get_or_insert(Writing { since: now, last: now });
        if took {
            writing.last = now;
        }
    }

    /// The system has taken all there is to send.
    pub fn wrote(&self) {
        self.activity().writing = None;
    }

    /// When it must end, unless something happens; none while a request is worked on.
    pub fn end(&self, patience: &Patience) -> Option<End> {
        self.activity().end(patience)
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
    /// Requests that are not over, and since when they are in their phase.
    requests: BTreeMap<u64, (Phase, Instant)>,
    next: u64,
    /// Bytes that wait to be taken.
    writing: Option<Writing>,
    /// Since when parts of a request arrive, and nothing else goes on.
    arriving_since: Option<Instant>,
    has_asked: bool,
    /// When a request began, had arrived, was answered or was over; before that, when the connection began.
    moved_on: Instant,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    Receiving,
    Working,
    Answering,
}

#[derive(Clone, Copy)]
struct Writing {
    since: Instant,
    /// When the system last took some.
    last: Instant,
}

impl Activity {
    fn new() -> Self {
        Activity {
            requests: BTreeMap::new(),
            next: 0,
            writing: None,
            arriving_since: None,
            has_asked: false,
            moved_on: Instant::now(),
        }
    }

    fn is_in(&self, phase: Phase) -> bool {
        self.requests.values().any(|request| request.0 == phase)
    }

    /// How much a connection is missed, from the least to the most.
    fn standing(&self) -> (bool, Instant) {
        (self.is_in(Phase::Working), self.moved_on)
    }

    fn enter(&mut self, number: u64, phase: Phase) {
        let now = Instant::now();
        let entered = self.requests.entry(number).or_insert((phase, now));
        if entered.0 < phase {
            *entered = (phase, now);
        }
        self.moved_on = now;
    }

    fn end(&self, patience: &Patience) -> Option<End> {
        let answering = self.requests.values().filter(|request| request.0 == Phase::Answering).map(|request| request.1);
        let since = answering.chain(self.writing.map(|writing| writing.since)).min();
        let overdue = since.map(|since| since + patience.answer);
        let stalled = self.writing.map(|writing| writing.last + patience.stalled);
        if let Some(end) = overdue.into_iter().chain(stalled).min() {
            return Some(End::CutOff(end));
        }
        if !self.requests.is_empty() {
            return None;
        }
        let silence = if self.has_asked { patience.idle } else { patience.first };
        let end = self.arriving_since.map_or(self.moved_on + silence, |since| since + patience.headers);
        Some(End::Asked(end))
    }
}

/// A request, from its headers to the last byte of its answer.
pub struct Asked {
    connection: Arc<Connection>,
    number: u64,
}

impl Asked {
    /// All of it has arrived.
    pub fn received(&self) {
        self.connection.activity().enter(self.number, Phase::Working);
    }

    /// Its answer is there, and must be taken.
    pub fn answered(&self) {
        self.connection.activity().enter(self.number, Phase::Answering);
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        let mut activity = self.connection.activity();
        activity.requests.remove(&self.number);
        activity.has_asked = true;
        activity.moved_on = Instant::now();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GREEDY: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 1));
    const MODEST: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 2));

    fn is_open(connections: &Connections, place: &Place) -> bool {
        connections.open().by_owner.get(&place.owner).is_some_and(|open| open.contains_key(&place.number))
    }

    #[test]
    fn whoever_has_the_most_loses_its_oldest_silent_connection() {
        let connections = Arc::new(Connections::new(4));
        let busy = connections.enter(GREEDY);
        let asked = busy.connection().begin();
        asked.received();
        let greedy: Vec<Place> = (0..2).map(|_| connections.enter(GREEDY)).collect();
        let modest = connections.enter(MODEST);
        let new = connections.enter(MODEST);
        assert!(!is_open(&connections, &greedy[0]), "the oldest silent one goes");
        assert!([&busy, &greedy[1], &modest, &new].iter().all(|place| is_open(&connections, place)));
        drop((greedy, modest, new, asked, busy));
        let open = connections.open();
        assert_eq!((open.count, open.by_owner.len()), (0, 0));
    }

    #[test]
    fn a_slow_sender_goes_before_whoever_came_later() {
        let connections = Arc::new(Connections::new(3));
        let slow = connections.enter(GREEDY);
        let _sending = slow.connection().begin();
        let used = connections.enter(GREEDY);
        drop(used.connection().begin());
        let new = connections.enter(GREEDY);
        let newer = connections.enter(GREEDY);
        assert!(!is_open(&connections, &slow));
        assert!([&used, &new, &newer].iter().all(|place| is_open(&connections, place)));
    }

    #[test]
    fn one_network_of_ipv6_is_one_owner() {
        let of = |text: &str| owner(text.parse().unwrap());
        assert_eq!(of("2001:db8:1:2:3::4"), of("2001:db8:1:2:ffff::"));
        assert_ne!(of("2001:db8:1:2::1"), of("2001:db8:1:3::1"));
        assert_eq!(of("::ffff:10.0.0.1"), of("10.0.0.1"));
        assert_ne!(of("10.0.0.1"), of("10.0.0.2"));
    }

    #[test]
    fn a_connection_has_time_while_it_is_worked_for_and_not_for_ever_after() {
        let connections = Arc::new(Connections::new(4));
        let place = connections.enter(MODEST);
        let (connection, now, patience) = (place.connection(), Instant::now(), Patience::default());
        let left = |end: Instant| end.saturating_duration_since(now).as_secs_f64().round();
        let left = || match connection.end(&patience) {
            Some(End::Asked(end)) => ("asked", left(end)),
            Some(End::CutOff(end)) => ("cut off", left(end)),
            None => ("never", 0.0),
        };
        assert_eq!(left(), ("asked", 10.0));
        let asked = connection.begin();
        asked.received();
        assert_eq!(left(), ("never", 0.0));
        asked.answered();
        assert_eq!(left(), ("cut off", 60.0));
        connection.writes(true);
        assert_eq!(left(), ("cut off", 15.0));
        drop(asked);
        assert_eq!(left(), ("cut off", 15.0), "the system has not taken it yet");
        connection.wrote();
        assert_eq!(left(), ("asked", 30.0));
        connection.heard();
        assert_eq!(left(), ("asked", 10.0));
    }
}
