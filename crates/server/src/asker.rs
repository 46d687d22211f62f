//! Who asks, as far as it decides whose turn it is and how much of the log one client may fill.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::metrics::Metrics;

/// One client: every connection that comes from one address, with one certificate or without a good one.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Client {
    pub address: IpAddr,
    /// The digest of its certificate, where that makes it known.
    pub certificate: Option<String>,
}

/// One connection of a client.
#[derive(Debug)]
pub struct Asker {
    pub client: Client,
    /// How much this connection has been given of its client's turns; [`crate::queue`] counts it.
    pub served: AtomicU64,
    lines: Arc<Lines>,
    metrics: Arc<Metrics>,
}

impl Asker {
    /// Whether a complaint about this client may be logged. It costs a client nothing to cause one.
    pub fn may_log_complaint(&self) -> bool {
        self.may_log(COMPLAINT)
    }

    /// Whether a decision for this client may be logged. Known clients answer for what they ask.
    pub fn may_log_decision(&self) -> bool {
        self.is_known() || self.may_log(DECISION)
    }

    fn may_log(&self, cost: u64) -> bool {
        let may = self.lines.take(cost, Instant::now());
        if !may {
            self.metrics.log_line_suppressed();
        }
        may
    }

    /// Whether it has a certificate that one of the paths accepts.
    pub fn is_known(&self) -> bool {
        self.client.certificate.is_some()
    }

    pub fn served(&self) -> u64 {
        self.served.load(Ordering::Relaxed)
    }
}

/// A stranger may log 500 decisions a second, and 2,000 at once.
const DECISION: u64 = 1;
/// 20 a second, and 80 at once.
const COMPLAINT: u64 = 25;
const AT_ONCE: u64 = 2_000;
/// A client gains one line in so many milliseconds.
const MILLISECONDS_PER_LINE: u64 = 2;

/// The lines that a client may still log, and since when it has gained no line.
#[derive(Debug)]
struct Lines(Mutex<(u64, Instant)>);

impl Lines {
    fn new(now: Instant) -> Self {
        Lines(Mutex::new((AT_ONCE, now)))
    }

    fn take(&self, cost: u64, now: Instant) -> bool {
        let mut state = self.state(now);
        let rest = state.0.checked_sub(cost);
        state.0 = rest.unwrap_or(state.0);
        rest.is_some()
    }

    fn is_full(&self, now: Instant) -> bool {
        self.state(now).0 == AT_ONCE
    }

    /// What is left now.
    fn state(&self, now: Instant) -> MutexGuard<'_, (u64, Instant)> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (left, since) = *state;
        let passed = u64::try_from(now.saturating_duration_since(since).as_millis()).unwrap_or(u64::MAX);
        let gained = passed / MILLISECONDS_PER_LINE;
        // The time that is too short for another line counts towards the next one.
        let used = Duration::from_millis(gained.saturating_mul(MILLISECONDS_PER_LINE));
        *state = (left.saturating_add(gained).min(AT_ONCE), since.checked_add(used).unwrap_or(now));
        state
    }
}

/// Beyond so many clients the table forgets the quiet ones. If none is quiet, the other clients share one allowance.
const MOST_CLIENTS: usize = 4_096;

/// The clients that were seen lately.
#[derive(Debug)]
pub struct Clients {
    lines: Mutex<HashMap<Client, Arc<Lines>>>,
    others: Arc<Lines>,
    metrics: Arc<Metrics>,
}

impl Clients {
    pub fn new(metrics: Arc<Metrics>) -> Self {
        Clients { lines: Mutex::default(), others: Arc::new(Lines::new(Instant::now())), metrics }
    }

    /// A new connection of a client.
    pub fn connects(&self, client: Client) -> Arc<Asker> {
        let now = Instant::now();
        let mut clients = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if clients.len() >= MOST_CLIENTS && !clients.contains_key(&client) {
            clients.retain(|_, lines| Arc::strong_count(lines) > 1 || !lines.is_full(now));
        }
        let lines = if clients.len() >= MOST_CLIENTS && !clients.contains_key(&client) {
            Arc::clone(&self.others)
        } else {
            Arc::clone(clients.entry(client.clone()).or_insert_with(|| Arc::new(Lines::new(now))))
        };
        Arc::new(Asker { client, served: AtomicU64::new(0), lines, metrics: Arc::clone(&self.metrics) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(last: u8) -> Client {
        Client { address: [10, 0, 0, last].into(), certificate: None }
    }

    #[test]
    fn a_client_has_one_allowance_on_all_its_connections() {
        let clients = Clients::new(Arc::new(Metrics::new()));
        let complaints = |asker: Arc<Asker>| (0..200).filter(|_| asker.may_log_complaint()).count();
        let first = complaints(clients.connects(client(1)));
        assert!((80..120).contains(&first), "{first}");
        let again = complaints(clients.connects(client(1)));
        assert!(again < 40, "{again}");
        let other = complaints(clients.connects(client(2)));
        assert!((80..120).contains(&other), "{other}");
    }

    #[test]
    fn an_allowance_grows_by_500_lines_a_second_however_often_it_is_asked() {
        let begin = Instant::now();
        for microseconds in [100, 1_000, 1_900] {
            let lines = Lines::new(begin);
            assert!(lines.take(AT_ONCE, begin));
            let times =
                (1..=10_000_000 / microseconds).map(|count| begin + Duration::from_micros(count * microseconds));
            let logged = times.filter(|now| lines.take(DECISION, *now)).count();
            assert!((4_999..=5_000).contains(&logged), "asked every {microseconds} µs: {logged} lines in 10 s");
        }
    }

    #[test]
    fn decisions_of_known_clients_are_always_logged() {
        let clients = Clients::new(Arc::new(Metrics::new()));
        let known = clients.connects(Client { certificate: Some(String::from("sha256:0")), ..client(1) });
        assert!((0..10_000).all(|_| known.may_log_decision()));
        let stranger = clients.connects(client(1));
        assert!((0..10_000).any(|_| !stranger.may_log_decision()));
    }

    #[test]
    fn the_table_of_clients_is_bounded() {
        let clients = Clients::new(Arc::new(Metrics::new()));
        let connected: Vec<_> = (0..5_000_u32)
            .map(|number| clients.connects(Client { address: IpAddr::from(number.to_be_bytes()), certificate: None }))
            .collect();
        assert_eq!(clients.lines.lock().unwrap().len(), MOST_CLIENTS);
        drop(connected);
        clients.connects(client(1));
        assert!(clients.lines.lock().unwrap().len() <= 2);
    }
}
