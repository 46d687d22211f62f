//! A connection with deadlines: what hyper cannot see is whether headers are under way or nobody has anything to ask, and
//! whether an answer is being taken.

use std::io::{Error, ErrorKind, Result};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// What the other end is doing, shared with whoever answers its requests.
#[derive(Debug, Clone, Default)]
pub struct Phase(Arc<AtomicU8>);

const BETWEEN_REQUESTS: u8 = 0;
const SENDING_HEADERS: u8 = 1;
const BEING_ANSWERED: u8 = 2;

impl Phase {
    /// The headers are there.
    pub fn request_begins(&self) {
        self.0.store(BEING_ANSWERED, Ordering::Relaxed);
    }

    /// The answer is made; whatever is read next belongs to another request.
    pub fn request_ends(&self) {
        self.0.store(BETWEEN_REQUESTS, Ordering::Relaxed);
    }

    fn is(&self, phase: u8) -> bool {
        self.0.load(Ordering::Relaxed) == phase
    }
}

/// A stream on which headers come within one time, and answers are taken within another.
pub struct Deadlines<S> {
    stream: S,
    phase: Phase,
    headers: (Duration, Option<Pin<Box<Sleep>>>),
    writing: (Duration, Option<Pin<Box<Sleep>>>),
}

impl<S> Deadlines<S> {
    pub fn new(stream: S, phase: Phase, headers: Duration, writing: Duration) -> Self {
        Deadlines { stream, phase, headers: (headers, None), writing: (writing, None) }
    }
}

/// Whether this is one of the errors by which [`Deadlines`] ends a connection.
pub fn is_deadline(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if error.downcast_ref::<Error>().is_some_and(|error| error.kind() == ErrorKind::TimedOut) {
            return true;
        }
        cause = error.source();
    }
    false
}

/// Ends with an error when the time has gone by; the first call sets the clock.
fn poll_deadline((time, running): &mut (Duration, Option<Pin<Box<Sleep>>>), context: &mut Context<'_>) -> Poll<Error> {
    let clock = running.get_or_insert_with(|| Box::pin(sleep(*time)));
    ready!(clock.as_mut().poll(context));
    Poll::Ready(ErrorKind::TimedOut.into())
}

impl<S: AsyncRead + Unpin> AsyncRead for Deadlines<S> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<Result<()>> {
        let this = &mut *self;
        let before = into.filled().len();
        match Pin::new(&mut this.stream).poll_read(context, into) {
            Poll::Pending if this.phase.is(SENDING_HEADERS) => poll_deadline(&mut this.headers, context).map(Err),
            Poll::Ready(Ok(())) if this.phase.is(BETWEEN_REQUESTS) && into.filled().len() > before => {
                this.phase.0.store(SENDING_HEADERS, Ordering::Relaxed);
                this.headers.1 = Some(Box::pin(sleep(this.headers.0)));
                Poll::Ready(Ok(()))
            }
            other => other,
        }
    }
}

impl<S: AsyncWrite + Unpin> Deadlines<S> {
    fn progress<T>(&mut self, context: &mut Context<'_>, written: Poll<Result<T>>) -> Poll<Result<T>> {
        if written.is_pending() {
            return poll_deadline(&mut self.writing, context).map(Err);
        }
        self.writing.1 = None;
        written
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Deadlines<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.progress(context, written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.progress(context, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        let closed = Pin::new(&mut self.stream).poll_shutdown(context);
        self.progress(context, closed)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[std::io::IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.progress(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
