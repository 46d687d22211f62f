//! Evaluations: on threads of their own, so many at once, so many waiting for their turn, and no more.

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

/// What waits in the queue.
#[derive(Debug)]
struct Turn {
    is_known: bool,
    comes: oneshot::Sender<()>,
}

/// The permission to run one evaluation. The next one in the queue gets it when this is dropped.
#[derive(Debug)]
struct Permit(Arc<Pool>);

/// A question in the queue, until it has its turn or its request stops waiting.
struct Waiter {
    pool: Arc<Pool>,
    ticket: Ticket,
    turn: oneshot::Receiver<()>,
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
        let begin = Instant::now();
        let permit = match self.enter(asker, bytes)? {
            Ok(permit) => permit,
            Err(waiter) => waiter.permit().await?,
        };
        self.metrics.waited(begin.elapsed().as_secs_f64());
        let metrics = Arc::clone(&self.metrics);
        let evaluation = tokio::task::spawn_blocking(move || {
            let _in_flight = metrics.evaluation_begins();
            let result = work();
            drop(permit);
            result
        });
        // A module that hands its host a range outside its memory makes the crate for waPC panic.
        evaluation.await.map_err(|_panicked| NotEvaluated::Failed)
    }

    fn enter(self: &Arc<Self>, asker: &Arc<Asker>, bytes: usize) -> Result<Result<Permit, Waiter>, NotEvaluated> {
        let mut state = self.state();
        if state.running < self.at_once {
            state.running = state.running.saturating_add(1);
            return Ok(Ok(Permit(Arc::clone(self))));
        }
        let is_known = asker.is_known();
        if state.waiting >= self.queue || (!is_known && state.waiting_strangers >= self.queue_strangers) {
            return Err(NotEvaluated::Busy);
        }
        state.waiting = state.waiting.saturating_add(1);
        if !is_known {
            state.waiting_strangers = state.waiting_strangers.saturating_add(1);
        }
        let (comes, turn) = oneshot::channel();
        let ticket = state.turns.push(asker, bytes, Turn { is_known, comes });
        Ok(Err(Waiter { pool: Arc::clone(self), ticket, turn }))
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

impl Drop for Permit {
    fn drop(&mut self) {
        let mut state = self.0.state();
        while let Some(next) = state.turns.pop() {
            state.leaves(&next);
            if next.comes.send(()).is_ok() {
                return;
            }
        }
        state.running = state.running.saturating_sub(1);
    }
}

impl Waiter {
    async fn permit(mut self) -> Result<Permit, NotEvaluated> {
        (&mut self.turn).await.map_err(|_closed| NotEvaluated::Busy)?;
        Ok(Permit(Arc::clone(&self.pool)))
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        let mut state = self.pool.state();
        if let Some(turn) = state.turns.remove(&self.ticket) {
            state.leaves(&turn);
            return;
        }
        drop(state);
        // Its turn came, but its request did not wait any more.
        if self.turn.try_recv().is_ok() {
            drop(Permit(Arc::clone(&self.pool)));
        }
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
