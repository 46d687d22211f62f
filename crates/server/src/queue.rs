//! Whose turn it is: clients take turns, and so do the connections of a client.
//!
//! Between clients it is round robin. Between the connections of one client it is fair queuing by size: what a connection
//! asks is put behind what that connection has asked before, and a small question is not put behind a large one of
//! another connection. Time is counted in bytes here, since a larger question takes longer to judge.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::asker::{Asker, Client};

/// What a question costs before its first byte.
const EACH: u64 = 4_096;

/// What waits for its turn.
#[derive(Debug)]
pub struct Queue<T> {
    /// Clients with something that waits, in the order of their turns.
    turns: VecDeque<Client>,
    clients: HashMap<Client, Waiting<T>>,
    /// The largest finish of everything that had its turn.
    now: u64,
    next: u64,
}

#[derive(Debug)]
struct Waiting<T> {
    /// The finish of what had its turn last.
    now: u64,
    /// By finish, and then in the order in which they came.
    questions: BTreeMap<(u64, u64), T>,
}

/// Where a question waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ticket {
    client: Client,
    at: (u64, u64),
}

impl<T> Queue<T> {
    pub fn new() -> Self {
        Queue { turns: VecDeque::new(), clients: HashMap::new(), now: 0, next: 0 }
    }

    /// Puts a question of so many bytes into the queue.
    pub fn push(&mut self, asker: &Arc<Asker>, bytes: usize, question: T) -> Ticket {
        let client = asker.client.clone();
        if !self.clients.contains_key(&client) {
            self.turns.push_back(client.clone());
        }
        let begin = Waiting { now: self.now, questions: BTreeMap::new() };
        let waiting = self.clients.entry(client.clone()).or_insert(begin);
        let cost = u64::try_from(bytes).unwrap_or(u64::MAX).saturating_add(EACH);
        let finish = waiting.now.max(asker.served()).saturating_add(cost);
        asker.served.store(finish, Ordering::Relaxed);
        self.next = self.next.saturating_add(1);
        let at = (finish, self.next);
        waiting.questions.insert(at, question);
        Ticket { client, at }
    }

    /// Takes the question whose turn it is.
    pub fn pop(&mut self) -> Option<T> {
        let client = self.turns.pop_front()?;
        let waiting = self.clients.get_mut(&client)?;
        let ((finish, _), question) = waiting.questions.pop_first()?;
        waiting.now = finish;
        self.now = self.now.max(finish);
        if waiting.questions.is_empty() {
            self.clients.remove(&client);
        } else {
            self.turns.push_back(client);
        }
        Some(question)
    }

    /// Removes a question whose request does not wait any more.
    pub fn remove(&mut self, ticket: &Ticket) -> Option<T> {
        let waiting = self.clients.get_mut(&ticket.client)?;
        let question = waiting.questions.remove(&ticket.at);
        if waiting.questions.is_empty() {
            self.clients.remove(&ticket.client);
            self.turns.retain(|client| *client != ticket.client);
        }
        question
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asker::Clients;
    use crate::metrics::Metrics;

    fn clients() -> Clients {
        Clients::new(Arc::new(Metrics::new()))
    }

    fn asker(clients: &Clients, last: u8) -> Arc<Asker> {
        clients.connects(Client { address: [10, 0, 0, last].into(), certificate: None })
    }

    fn all(mut queue: Queue<&'static str>) -> Vec<&'static str> {
        std::iter::from_fn(|| queue.pop()).collect()
    }

    #[test]
    fn clients_take_turns() {
        let (clients, mut queue) = (clients(), Queue::new());
        for _ in 0..3 {
            // On a connection of its own each time.
            queue.push(&asker(&clients, 1), 10, "many");
        }
        let other = asker(&clients, 2);
        queue.push(&other, 1_000_000, "first");
        queue.push(&other, 1_000_000, "second");
        assert_eq!(all(queue), ["many", "first", "many", "second", "many"]);
    }

    #[test]
    fn connections_of_a_client_take_turns_by_size() {
        let (clients, mut queue) = (clients(), Queue::new());
        let (one, other) = (asker(&clients, 1), asker(&clients, 1));
        for _ in 0..3 {
            queue.push(&one, 100_000, "large");
        }
        for _ in 0..2 {
            queue.push(&other, 60_000, "small");
        }
        assert_eq!(all(queue), ["small", "large", "small", "large", "large"]);
    }

    #[test]
    fn a_large_question_has_its_turn_though_small_ones_keep_coming() {
        let (clients, mut queue) = (clients(), Queue::new());
        queue.push(&asker(&clients, 1), 1_000_000, "large");
        for turn in 0..1_000 {
            queue.push(&asker(&clients, 1), 10, "small");
            if queue.pop() == Some("large") {
                assert!(turn > 100, "{turn}");
                return;
            }
        }
        panic!("it never has its turn");
    }

    #[test]
    fn what_is_taken_out_has_no_turn() {
        let (clients, mut queue) = (clients(), Queue::new());
        let first = queue.push(&asker(&clients, 1), 10, "first");
        queue.push(&asker(&clients, 2), 10, "second");
        assert_eq!(queue.remove(&first), Some("first"));
        assert_eq!(queue.remove(&first), None);
        assert_eq!((queue.turns.len(), queue.clients.len()), (1, 1));
        assert_eq!(queue.pop(), Some("second"));
        assert_eq!((queue.pop(), queue.turns.len(), queue.clients.len()), (None, 0, 0));
    }
}
