//! One connection with deadlines and framing. hyper cannot see whether the next request's headers are on their way or the
//! client has nothing to ask, and it does not know how long a client takes to read an answer.

use std::io::{Error, ErrorKind, Result};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Buf, BytesMut};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

use crate::body::Share;

/// What is happening on one connection, shared by the stream, by whatever answers its requests, and by the table of
/// connections.
#[derive(Debug, Clone, Default)]
pub struct Exchange(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    phase: AtomicU8,
    /// Bytes of the current body that hyper has not been given yet; [`UNKNOWN`] where the length was not announced.
    body_left: AtomicU64,
    /// Whether a body without a length was ever read. Its end is known only to hyper, which may then hold the beginning
    /// of the next request.
    unframed: AtomicBool,
    /// Shares of the memory for bodies whose answers hyper has, but the client does not.
    unwritten: Mutex<Vec<Share>>,
}

/// The length of a body that does not announce it.
const UNKNOWN: u64 = u64::MAX;

const BETWEEN_REQUESTS: u8 = 0;
/// Between two requests, but the first bytes of the next one may already be there.
const NEXT_MAY_HAVE_BEGUN: u8 = 1;
const SENDING_HEADERS: u8 = 2;
const SENDING_BODY: u8 = 3;
const BEING_ANSWERED: u8 = 4;

impl Exchange {
    /// The headers have arrived, and announce a body of so many bytes.
    pub fn request_begins(&self, body: Option<u64>) {
        self.0.body_left.store(body.unwrap_or(UNKNOWN), Ordering::Relaxed);
        if body.is_none() {
            self.0.unframed.store(true, Ordering::Relaxed);
        }
        self.set(SENDING_BODY);
    }

    /// The whole body has arrived.
    pub fn body_is_read(&self) {
        self.set(BEING_ANSWERED);
    }

    /// The answer is made. Whatever is read next belongs to another request.
    pub fn request_ends(&self) {
        let unframed = self.0.unframed.load(Ordering::Relaxed);
        self.set(if unframed { NEXT_MAY_HAVE_BEGUN } else { BETWEEN_REQUESTS });
    }

    /// Keeps a share of the memory for bodies until the client has taken everything that hyper has to write.
    pub fn keep_until_written(&self, share: Share) {
        self.0.unwritten.lock().unwrap_or_else(PoisonError::into_inner).push(share);
    }

    /// Whether the server is working on an answer. At any other time it waits for the client.
    pub fn is_being_answered(&self) -> bool {
        self.phase() == BEING_ANSWERED
    }

    fn everything_is_written(&self) {
        self.0.unwritten.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn phase(&self) -> u8 {
        self.0.phase.load(Ordering::Relaxed)
    }

    fn set(&self, phase: u8) {
        self.0.phase.store(phase, Ordering::Relaxed);
    }
}

/// Finds the empty line that ends the headers, over any number of reads.
#[derive(Debug, Default)]
struct EndOfHeaders {
    /// Whether the last line has ended, but for a carriage return.
    line_is_empty: bool,
}

impl EndOfHeaders {
    /// How many of these bytes belong to the headers.
    fn find(&mut self, bytes: &[u8]) -> usize {
        for (index, byte) in bytes.iter().enumerate() {
            match byte {
                b'\n' if self.line_is_empty => {
                    self.line_is_empty = false;
                    return index.saturating_add(1);
                }
                b'\n' => self.line_is_empty = true,
                b'\r' => {}
                _ => self.line_is_empty = false,
            }
        }
        bytes.len()
    }
}

/// A stream on which headers arrive within one time, and answers are taken within another. It hands hyper one request at
/// a time: what is sent behind a request stays here until that request is answered, so that its deadline is known.
pub struct Deadlines<S> {
    stream: S,
    exchange: Exchange,
    end_of_headers: EndOfHeaders,
    /// Read from the stream, and not yet given to hyper. At most as much as hyper reads at once.
    held: BytesMut,
    headers: (Duration, Option<Pin<Box<Sleep>>>),
    writing: (Duration, Option<Pin<Box<Sleep>>>),
}

impl<S> Deadlines<S> {
    pub fn new(stream: S, exchange: Exchange, headers: Duration, writing: Duration) -> Self {
        Deadlines {
            stream,
            exchange,
            end_of_headers: EndOfHeaders::default(),
            held: BytesMut::new(),
            headers: (headers, None),
            writing: (writing, None),
        }
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

/// Ends with an error when the time is over; the first call starts the clock.
fn poll_deadline((time, running): &mut (Duration, Option<Pin<Box<Sleep>>>), context: &mut Context<'_>) -> Poll<Error> {
    let clock = running.get_or_insert_with(|| Box::pin(sleep(*time)));
    ready!(clock.as_mut().poll(context));
    Poll::Ready(ErrorKind::TimedOut.into())
}

impl<S: AsyncRead + Unpin> Deadlines<S> {
    /// Gives hyper what `wanted` takes of the next bytes, and holds the rest. Ready with the number of bytes given.
    fn fill(
        &mut self,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
        wanted: impl FnOnce(&mut EndOfHeaders, &[u8]) -> usize,
    ) -> Poll<Result<usize>> {
        if !self.held.is_empty() {
            let held = self.held.get(..self.held.len().min(into.remaining())).unwrap_or_default();
            let given = wanted(&mut self.end_of_headers, held);
            into.put_slice(held.get(..given).unwrap_or_default());
            self.held.advance(given);
            return Poll::Ready(Ok(given));
        }
        let before = into.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, into))?;
        let read = into.filled().get(before..).unwrap_or_default();
        let given = wanted(&mut self.end_of_headers, read);
        if let Some(rest) = read.get(given..).filter(|rest| !rest.is_empty()) {
            self.held.extend_from_slice(rest);
            into.set_filled(before.saturating_add(given));
        }
        Poll::Ready(Ok(given))
    }

    fn read_body(&mut self, context: &mut Context<'_>, into: &mut ReadBuf<'_>, left: u64) -> Poll<Result<()>> {
        let most = usize::try_from(left).unwrap_or(usize::MAX);
        let given = ready!(self.fill(context, into, |_, bytes| bytes.len().min(most)))?;
        if left != UNKNOWN {
            let given = u64::try_from(given).unwrap_or(u64::MAX);
            self.exchange.0.body_left.store(left.saturating_sub(given), Ordering::Relaxed);
        }
        Poll::Ready(Ok(()))
    }

    /// Sees whether the client is still there. Whatever it sends is for its next request, and is held: hyper asks again,
    /// by itself, when it has the answer to this one.
    fn watch(&mut self, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<Result<()>> {
        if !self.held.is_empty() {
            return Poll::Pending;
        }
        let before = into.filled().len();
        ready!(self.fill(context, into, |_, _| 0))?;
        if self.held.is_empty() {
            return Poll::Ready(Ok(()));
        }
        into.set_filled(before);
        Poll::Pending
    }

    fn read_headers(&mut self, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<Result<()>> {
        let read = self.fill(context, into, EndOfHeaders::find);
        match (read, self.exchange.phase()) {
            (Poll::Pending, BETWEEN_REQUESTS) => Poll::Pending,
            (Poll::Pending, phase) => {
                if phase == NEXT_MAY_HAVE_BEGUN {
                    self.headers.1 = None;
                    self.exchange.set(SENDING_HEADERS);
                }
                poll_deadline(&mut self.headers, context).map(Err)
            }
            (Poll::Ready(Ok(given)), BETWEEN_REQUESTS | NEXT_MAY_HAVE_BEGUN) if given > 0 => {
                self.exchange.set(SENDING_HEADERS);
                // Where the headers are not complete, hyper asks again at once, and that starts the clock.
                self.headers.1 = None;
                Poll::Ready(Ok(()))
            }
            (Poll::Ready(read), _) => Poll::Ready(read.map(|_given| ())),
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Deadlines<S> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<Result<()>> {
        let this = &mut *self;
        let in_request = matches!(this.exchange.phase(), SENDING_BODY | BEING_ANSWERED);
        match this.exchange.0.body_left.load(Ordering::Relaxed) {
            0 if in_request => this.watch(context, into),
            // The rest of a body that was not read does not belong to the next headers.
            left if in_request || (1..UNKNOWN).contains(&left) => this.read_body(context, into, left),
            _ => this.read_headers(context, into),
        }
    }
}

impl<S: AsyncWrite + Unpin> Deadlines<S> {
    /// The clock runs from the first time that the client does not take what is written to the time when it has taken
    /// everything: a client that takes a little now and then does not stop it.
    fn bounded<T>(&mut self, context: &mut Context<'_>, written: Poll<Result<T>>) -> Poll<Result<T>> {
        if written.is_pending() {
            return poll_deadline(&mut self.writing, context).map(Err);
        }
        written
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Deadlines<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.bounded(context, written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        if flushed.is_ready() {
            self.writing.1 = None;
            self.exchange.everything_is_written();
        }
        self.bounded(context, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        let closed = Pin::new(&mut self.stream).poll_shutdown(context);
        self.bounded(context, closed)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[std::io::IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.bounded(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_end_at_an_empty_line_however_they_are_cut() {
        for (text, end) in [
            ("GET / HTTP/1.1\r\na: b\r\n\r\nPOST", 24),
            ("GET / HTTP/1.1\na: b\n\nPOST", 21),
            ("GET / HTTP/1.1\r\na: b\r\n", 22),
            ("\r\nGET /", 7),
        ] {
            for cut in 0..=text.len() {
                let mut headers = EndOfHeaders::default();
                let (first, second) = text.as_bytes().split_at(cut);
                let found = headers.find(first);
                let found = if found == first.len() && cut < end { cut + headers.find(second) } else { found };
                assert_eq!(found, end, "{text:?} cut at {cut}");
            }
        }
    }
}
