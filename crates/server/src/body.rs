//! Bodies, read within their limits: of bytes, of time, and of memory for all of them together.

use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How many times the limit is read and thrown away, so that a client that writes before it reads sees the refusal.
const PATIENCE: usize = 4;

/// Reads bodies.
#[derive(Debug)]
pub struct Bodies {
    most: usize,
    time: Duration,
    together: Arc<Semaphore>,
    /// The part of it that strangers may use.
    strangers: Arc<Semaphore>,
}

/// A share of the memory for bodies. It must be kept until the answer is written.
#[derive(Debug)]
pub struct Share {
    of_all: OwnedSemaphorePermit,
    of_strangers: Option<OwnedSemaphorePermit>,
}

/// A body, and its share of the memory for all of them.
#[derive(Debug)]
pub struct Held {
    pub bytes: Bytes,
    pub share: Option<Share>,
}

/// Why a body was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotRead {
    #[error("the body has more than {0} bytes")]
    TooLarge(usize),
    /// The client announced it, and waits to be told to send it.
    #[error("the body would have more than {0} bytes")]
    NotAskedFor(usize),
    #[error("the body did not arrive in time")]
    TooSlow,
    #[error("the connection closed before the body was complete")]
    Incomplete,
    #[error("the server is already working on too many bytes; try again, and add replicas if this happens often")]
    Busy,
}

impl NotRead {
    /// For metrics.
    pub fn reason(self) -> &'static str {
        match self {
            NotRead::TooLarge(_) | NotRead::NotAskedFor(_) => "body-too-large",
            NotRead::TooSlow => "body-too-slow",
            NotRead::Incomplete => "body-incomplete",
            NotRead::Busy => "busy",
        }
    }
}

impl Bodies {
    /// Bodies of at most `most` bytes, and of so many bytes together; the latter for all clients and for strangers.
    pub fn new(most: usize, (together, strangers): (usize, usize), time: Duration) -> Self {
        let bytes = |count: usize| Arc::new(Semaphore::new(count.min(Semaphore::MAX_PERMITS)));
        Bodies { most, time, together: bytes(together), strangers: bytes(strangers) }
    }

    /// Reads a whole body. A client that `waits` to be told to send it is told nothing if it is too large.
    pub async fn read(&self, body: Incoming, waits: bool, is_known: bool) -> Result<Held, NotRead> {
        if waits && self.is_too_large(&body) {
            return Err(NotRead::NotAskedFor(self.most));
        }
        tokio::time::timeout(self.time, self.collect(body, is_known)).await.unwrap_or(Err(NotRead::TooSlow))
    }

    fn is_too_large(&self, body: &Incoming) -> bool {
        usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX) > self.most
    }

    async fn collect(&self, mut body: Incoming, is_known: bool) -> Result<Held, NotRead> {
        let mut bytes = BytesMut::new();
        let mut seen: usize = 0;
        let mut share: Option<Share> = None;
        let mut refused = self.is_too_large(&body).then_some(NotRead::TooLarge(self.most));
        while let Some(frame) = body.frame().await {
            let Ok(data) = frame.map_err(|_error| NotRead::Incomplete)?.into_data() else { continue };
            seen = seen.saturating_add(data.len());
            if refused.is_none() {
                refused = match self.take(data.len(), is_known, &mut share) {
                    _ if seen > self.most => Some(NotRead::TooLarge(self.most)),
                    Ok(()) => None,
                    Err(busy) => Some(busy),
                };
            }
            match refused {
                None => bytes.extend_from_slice(&data),
                // The server does not keep a refused body, and does not wait for its end.
                Some(_) if seen > self.most.saturating_mul(PATIENCE) => break,
                Some(_) => (bytes, share) = (BytesMut::new(), None),
            }
        }
        match refused {
            None => Ok(Held { bytes: bytes.freeze(), share }),
            Some(refused) => Err(refused),
        }
    }

    fn take(&self, bytes: usize, is_known: bool, share: &mut Option<Share>) -> Result<(), NotRead> {
        let count = u32::try_from(bytes).map_err(|_larger| NotRead::Busy)?;
        let of = |part: &Arc<Semaphore>| Arc::clone(part).try_acquire_many_owned(count).map_err(|_full| NotRead::Busy);
        let of_strangers = if is_known { None } else { Some(of(&self.strangers)?) };
        let more = Share { of_all: of(&self.together)?, of_strangers };
        match share {
            Some(share) => share.merge(more),
            None => *share = Some(more),
        }
        Ok(())
    }
}

impl Share {
    fn merge(&mut self, more: Share) {
        self.of_all.merge(more.of_all);
        match (&mut self.of_strangers, more.of_strangers) {
            (Some(part), Some(more)) => part.merge(more),
            (part, more) => *part = part.take().or(more),
        }
    }
}
