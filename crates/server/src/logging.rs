//! The log: one JSON object a line, on standard output. No bodies, no keys, no tokens: what is logged is named field by
//! field where it is logged.
//!
//! Logging never waits. Lines go through a queue to a thread that writes them; where the queue is full, or a line cannot
//! be written, the line is dropped and counted. A reader that hangs, or is gone, costs lines and nothing else.

use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::time::{Duration, Instant};

use tracing_subscriber::filter::LevelFilter;

/// Lines that wait to be written.
const LINES: usize = 4_096;

/// How long the end of the process waits for lines that are not written yet.
const PATIENCE: Duration = Duration::from_secs(1);

/// Lines that were dropped since the process began: there is one log for all of it.
static DROPPED: AtomicU64 = AtomicU64::new(0);

enum Message {
    Line(Vec<u8>),
    /// Says when everything before it is written.
    End(SyncSender<()>),
}

/// The log, as long as the process runs. What is still in the queue when this is dropped is written first, if that takes
/// no longer than a second.
#[must_use]
pub struct Log(SyncSender<Message>);

/// Begins to log, for the whole process. Where a log is set up already, that one stays.
///
/// # Errors
/// When there can be no thread for it.
pub fn begin() -> std::io::Result<Log> {
    let (lines, queue) = sync_channel(LINES);
    std::thread::Builder::new().name(String::from("log")).spawn(move || write(&queue, &mut std::io::stdout()))?;
    let writer = lines.clone();
    let log = tracing_subscriber::fmt().json().flatten_event(true).with_max_level(LevelFilter::INFO);
    let log = log.with_current_span(false).with_span_list(false).with_target(false).log_internal_errors(false);
    let _ = log.with_writer(move || Line(writer.clone())).try_init();
    // What panics is the host of a module that lies about its memory. It must not wait for standard error either.
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string);
        tracing::error!(place, reason = panic.payload_as_str(), "panicked");
    }));
    Ok(Log(lines))
}

/// Says that the module was chosen by a tag, and what the tag leads to now.
pub fn warn_of_tag(reference: &str, by_digest: &str) {
    tracing::warn!(reference, by_digest, "the module is named by a tag, which can move");
}

/// How many lines were dropped because no reader took them.
pub fn dropped() -> u64 {
    DROPPED.load(Ordering::Relaxed)
}

fn write(queue: &Receiver<Message>, out: &mut impl Write) {
    for message in queue {
        match message {
            Message::Line(line) => {
                if out.write_all(&line).and_then(|()| out.flush()).is_err() {
                    DROPPED.fetch_add(1, Ordering::Relaxed);
                }
            }
            Message::End(written) => drop(written.try_send(())),
        }
    }
}

struct Line(SyncSender<Message>);

impl Write for Line {
    fn write(&mut self, line: &[u8]) -> std::io::Result<usize> {
        if self.0.try_send(Message::Line(line.to_vec())).is_err() {
            DROPPED.fetch_add(1, Ordering::Relaxed);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        let begin = Instant::now();
        let (written, wait) = sync_channel(1);
        let mut end = Message::End(written);
        while begin.elapsed() < PATIENCE {
            match self.0.try_send(end) {
                Ok(()) => {
                    let _ = wait.recv_timeout(PATIENCE.saturating_sub(begin.elapsed()));
                    return;
                }
                Err(TrySendError::Full(again)) => end = again,
                Err(TrySendError::Disconnected(_)) => return,
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}
