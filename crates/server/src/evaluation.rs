//! Evaluations: on threads of their own, so many at once, so many waiting for their turn, and no more.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::sync::oneshot;

use crate::asker::Asker;
use crate::metrics::Metrics;
use crate::queue::{Queue, Ticket};

/// Where evaluations run.
#[derive(Debug)]
pub struct Pool {
    at_once: usize,
    queue: usize,
    /// The part of the queue that strangers may use.
    queue_strangers: usize,
    state: Mutex<State>,
    metrics: Arc<Metrics>,
}

#[derive(Debug)]
struct State {
    /// Threads that evaluate. As long as something waits, all of them do.
    running: usize,
    waiting: usize,
    waiting_strangers: usize,
    turns: Queue<Turn>,
}

/// Why an evaluation was not completed. All of these are transient.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotEvaluated {
    #[error("too many evaluations are waiting; try again, and add replicas if this happens often")]
    Busy,
    #[error("the evaluation failed; see the log")]
    Failed,
}

/// What is to be evaluated, and where its result goes.
type Work = Box<dyn FnOnce() + Send>;

/// What waits in the queue.
struct Turn {
    is_known: bool,
    since: Instant,
    work: Work,
}

impl std::fmt::Debug for Turn {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Turn").field("is_known", &self.is_known).field("since", &self.since).finish_non_exhaustive()
    }
}

/// A question that was put into the queue. It leaves the queue when its request stops waiting.
struct Waiter<'p> {
    pool: &'p Pool,
    /// None when it has had its turn.
    ticket: Option<Ticket>,
}

impl Pool {
    /// Runs so many evaluations at once, and lets so many wait: of all clients, and of strangers.
    pub fn new(at_once: usize, (queue, queue_strangers): (usize, usize), metrics: Arc<Metrics>) -> Self {
        let state = State { running: 0, waiting: 0, waiting_strangers: 0, turns: Queue::new() };
        Pool { at_once: at_once.max(1), queue, queue_strangers, state: Mutex::new(state), metrics }
    }

    /// Runs `work` on a question of so many bytes, in its turn. A caller that drops this before its turn leaves the queue;
    /// work that has begun runs to its end.
    pub async fn run<T: Send + 'static>(
        self: &Arc<Self>,
        asker: &Arc<Asker>,
        bytes: usize,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, NotEvaluated> {
        let (done, result) = oneshot::channel();
        let work = Box::new(move || {
            // A result that no one takes is not waited for.
            let _ = done.send(work());
        });
        let mut waiter = self.enter(asker, bytes, work)?;
        // Work that panics drops its end of the channel.
        let result = result.await.map_err(|_panicked| NotEvaluated::Failed);
        waiter.ticket = None;
        result
    }

    /// Begins with the work where a thread is free for it, and puts it into the queue where none is.
    fn enter(self: &Arc<Self>, asker: &Arc<Asker>, bytes: usize, work: Work) -> Result<Waiter<'_>, NotEvaluated> {
        let is_known = asker.is_known();
        let turn = Turn { is_known, since: Instant::now(), work };
        let mut state = self.state();
        if state.running < self.at_once {
            state.running = state.running.saturating_add(1);
            drop(state);
            let pool = Arc::clone(self);
            tokio::task::spawn_blocking(move || pool.evaluate(turn));
            return Ok(Waiter { pool: self, ticket: None });
        }
        if state.waiting >= self.queue || (!is_known && state.waiting_strangers >= self.queue_strangers) {
            return Err(NotEvaluated::Busy);
        }
        state.waiting = state.waiting.saturating_add(1);
        if !is_known {
            state.waiting_strangers = state.waiting_strangers.saturating_add(1);
        }
        let ticket = state.turns.push(asker, bytes, turn);
        Ok(Waiter { pool: self, ticket: Some(ticket) })
    }

    /// Evaluates this, and then whatever has its turn, until nothing waits: between two evaluations no thread has to wake
    /// another one.
    fn evaluate(&self, first: Turn) {
        let mut next = Some(first);
        while let Some(turn) = next {
            self.metrics.waited(turn.since.elapsed().as_secs_f64());
            let in_flight = self.metrics.evaluation_begins();
            // A module that hands its host a range outside its memory makes the crate for waPC panic.
            let _ = catch_unwind(AssertUnwindSafe(turn.work));
            drop(in_flight);
            let mut state = self.state();
            next = state.turns.pop();
            match &next {
                Some(turn) => state.leaves(turn),
                None => state.running = state.running.saturating_sub(1),
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn leaves(&mut self, turn: &Turn) {
        self.waiting = self.waiting.saturating_sub(1);
        if !turn.is_known {
            self.waiting_strangers = self.waiting_strangers.saturating_sub(1);
        }
    }
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        let Some(ticket) = &self.ticket else { return };
        let mut state = self.pool.state();
        let left = state.turns.remove(ticket);
        if let Some(turn) = &left {
            state.leaves(turn);
        }
        drop(state);
        // What the work holds is given back when the lock is free.
        drop(left);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::asker::{Client, Clients};

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_request_that_leaves_the_queue_passes_the_turn_on() {
        let metrics = Arc::new(Metrics::new());
        let pool = Arc::new(Pool::new(1, (1_000, 1_000), Arc::clone(&metrics)));
        let clients = Clients::new(metrics);
        let asker = clients.connects(Client { address: [10, 0, 0, 1].into(), certificate: None });
        for round in 0..200_u64 {
            let busy = pool.run(&asker, 1, move || std::thread::sleep(Duration::from_micros(round)));
            // Some leave before their turn, some in the middle of it, some just when it comes.
            let impatient = (0..20_u64)
                .map(|number| tokio::time::timeout(Duration::from_micros(number * 30), pool.run(&asker, 1, || ())));
            let _ = tokio::join!(busy, futures_util::future::join_all(impatient));
        }
        tokio::time::timeout(Duration::from_secs(10), pool.run(&asker, 1, || ())).await.unwrap().unwrap();
        let is_empty = || {
            let state = pool.state();
            (state.running, state.waiting, state.waiting_strangers) == (0, 0, 0)
        };
        for _ in 0..1_000 {
            if is_empty() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("{:?}", pool.state());
    }
}
