//! Bodies, read within their bounds: of bytes, of time, and of memory for all of them together.

use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How much more than the bound is read and thrown away, so that a client that writes before it reads sees the refusal.
const PATIENCE: usize = 4;

/// Reads bodies.
#[derive(Debug)]
pub struct Bodies {
    most: usize,
    time: Duration,
    together: Arc<Semaphore>,
}

/// A body, and its share of the memory for all of them.
#[derive(Debug)]
pub struct Held {
    pub bytes: Bytes,
    _share: Option<OwnedSemaphorePermit>,
}

/// Why a body was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotRead {
    #[error("the body has more than {0} bytes")]
    TooLarge(usize),
    #[error("the body did not come in time")]
    TooSlow,
    #[error("the body broke off")]
    Broken,
    #[error("too many bytes are being answered; try again, and add replicas where it happens often")]
    Busy,
}

impl NotRead {
    /// For metrics.
    pub fn reason(self) -> &'static str {
        match self {
            NotRead::TooLarge(_) => "body-too-large",
            NotRead::TooSlow => "body-too-slow",
            NotRead::Broken => "body-broken",
            NotRead::Busy => "busy",
        }
    }
}

impl Bodies {
    pub fn new(most: usize, together: usize, time: Duration) -> Self {
        let together = Arc::new(Semaphore::new(together.min(Semaphore::MAX_PERMITS)));
        Bodies { most, time, together }
    }

    /// Reads a whole body.
    pub async fn read(&self, body: Incoming) -> Result<Held, NotRead> {
        tokio::time::timeout(self.time, self.collect(body)).await.unwrap_or(Err(NotRead::TooSlow))
    }

    async fn collect(&self, mut body: Incoming) -> Result<Held, NotRead> {
        let announced = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
        let mut bytes = BytesMut::new();
        let mut seen: usize = 0;
        let mut share: Option<OwnedSemaphorePermit> = None;
        let mut refused = (announced > self.most).then_some(NotRead::TooLarge(self.most));
        while let Some(frame) = body.frame().await {
            let Ok(data) = frame.map_err(|_error| NotRead::Broken)?.into_data() else { continue };
            seen = seen.saturating_add(data.len());
            if refused.is_none() {
                refused = match self.take(data.len(), &mut share) {
                    _ if seen > self.most => Some(NotRead::TooLarge(self.most)),
                    Ok(()) => None,
                    Err(busy) => Some(busy),
                };
            }
            match refused {
                None => bytes.extend_from_slice(&data),
                // What was refused needs no memory, and no end.
                Some(_) if seen > self.most.saturating_mul(PATIENCE) => break,
                Some(_) => (bytes, share) = (BytesMut::new(), None),
            }
        }
        match refused {
            None => Ok(Held { bytes: bytes.freeze(), _share: share }),
            Some(refused) => Err(refused),
        }
    }

    fn take(&self, bytes: usize, share: &mut Option<OwnedSemaphorePermit>) -> Result<(), NotRead> {
        let count = u32::try_from(bytes).map_err(|_larger| NotRead::Busy)?;
        let more = Arc::clone(&self.together).try_acquire_many_owned(count).map_err(|_full| NotRead::Busy)?;
        match share {
            Some(share) => share.merge(more),
            None => *share = Some(more),
        }
        Ok(())
    }
}
