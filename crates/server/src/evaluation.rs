//! Evaluations: on threads of their own, so many at once, so many waiting, and no more.

use std::sync::Arc;

use tokio::sync::Semaphore;

use crate::metrics::Metrics;

/// Where evaluations run.
#[derive(Debug)]
pub struct Pool {
    running: Arc<Semaphore>,
    waiting: Semaphore,
    metrics: Arc<Metrics>,
}

/// Why an evaluation did not come to its end. All of it is of the moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotEvaluated {
    #[error("too many evaluations are waiting; try again, and add replicas where it happens often")]
    Busy,
    #[error("the evaluation broke off; the log says more")]
    Broken,
}

impl Pool {
    pub fn new(at_once: usize, queue: usize, metrics: Arc<Metrics>) -> Self {
        let permits = |count: usize| Semaphore::new(count.clamp(1, Semaphore::MAX_PERMITS));
        Pool { running: Arc::new(permits(at_once)), waiting: permits(queue), metrics }
    }

    /// Runs `work`, in its turn. Whoever drops this before its turn gives up the place; work that runs comes to its end.
    pub async fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, NotEvaluated> {
        let place = self.waiting.try_acquire().map_err(|_full| NotEvaluated::Busy)?;
        let turn = Arc::clone(&self.running).acquire_owned().await.map_err(|_closed| NotEvaluated::Busy)?;
        drop(place);
        let metrics = Arc::clone(&self.metrics);
        let evaluation = tokio::task::spawn_blocking(move || {
            let _in_flight = metrics.evaluation_begins();
            let result = work();
            drop(turn);
            result
        });
        // A module that hands its host a range outside its memory makes the crate for waPC panic.
        evaluation.await.map_err(|_panicked| NotEvaluated::Broken)
    }
}
