//! An answer on its way out, with its share of the memory for bodies.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};

use crate::body::Share;
use crate::connection::Exchange;

/// The body of an answer. It is about as large as the body that it answers, so that one's share is kept until the client
/// has taken it: hyper drops an answer as soon as it has copied or queued it.
#[derive(Debug)]
pub struct Answer {
    bytes: Bytes,
    share: Option<Share>,
    exchange: Exchange,
}

impl Answer {
    pub fn new(bytes: Vec<u8>, share: Option<Share>, exchange: Exchange) -> Self {
        Answer { bytes: Bytes::from(bytes), share, exchange }
    }
}

impl Body for Answer {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.bytes.is_empty() {
            return Poll::Ready(None);
        }
        if let Some(share) = self.share.take() {
            self.exchange.keep_until_written(share);
        }
        Poll::Ready(Some(Ok(Frame::data(std::mem::take(&mut self.bytes)))))
    }

    fn is_end_stream(&self) -> bool {
        self.bytes.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(u64::try_from(self.bytes.len()).unwrap_or(u64::MAX))
    }
}
