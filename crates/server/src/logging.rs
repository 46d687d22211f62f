//! The log: one JSON object a line, on standard output. No bodies, no keys, no tokens: what is logged is named field by
//! field where it is logged.
//!
//! Logging never waits. Lines go through a queue to a thread that writes them; where the queue is full, or a line cannot
//! be written, the line is dropped and counted. A reader that hangs, or is gone, costs lines and nothing else. On a busy
//! server that thread writes many lines at once: waking it for each of them would take longer than the line.

use std::io::{ErrorKind, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::time::{Duration, Instant};

use tracing_subscriber::filter::LevelFilter;

/// Lines that wait to be written.
const LINES: usize = 4_096;

/// How long lines wait for others after some were written.
const PAUSE: Duration = Duration::from_millis(5);

/// Bytes that are written at once, but for the line that goes beyond them.
const AT_ONCE: usize = 64 << 10;

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
    let mut lines = Vec::new();
    while let Ok(first) = queue.recv() {
        let mut end = None;
        for message in std::iter::once(first).chain(queue.try_iter()) {
            match message {
                Message::Line(line) => lines.extend_from_slice(&line),
                Message::End(written) => end = Some(written),
            }
            if lines.len() >= AT_ONCE || end.is_some() {
                break;
            }
        }
        write_lines(&lines, out);
        match end {
            Some(written) => drop(written.try_send(())),
            None if lines.len() < AT_ONCE => std::thread::sleep(PAUSE),
            None => {}
        }
        lines.clear();
    }
}

/// Writes lines, and counts those that were not written to their end.
fn write_lines(mut lines: &[u8], out: &mut impl Write) {
    while !lines.is_empty() {
        match out.write(lines) {
            Ok(0) => break,
            Ok(written) => lines = lines.get(written..).unwrap_or_default(),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_cannot) => break,
        }
    }
    let not_flushed = usize::from(out.flush().is_err() && lines.is_empty());
    let dropped = lines.iter().filter(|byte| **byte == b'\n').count().saturating_add(not_flushed);
    DROPPED.fetch_add(u64::try_from(dropped).unwrap_or(u64::MAX), Ordering::Relaxed);
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

#[cfg(test)]
#[allow(clippy::restriction)]
mod tests {
    use super::*;

    /// Takes so many bytes and fails then, a few at a time.
    struct Pipe {
        room: usize,
        taken: Vec<Vec<u8>>,
    }

    impl Write for Pipe {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            let taken = bytes.len().min(self.room).min(1_000);
            if taken == 0 {
                return Err(ErrorKind::BrokenPipe.into());
            }
            self.room -= taken;
            self.taken.push(bytes[..taken].to_vec());
            Ok(taken)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn written(lines: &[&str], room: usize) -> (Vec<Vec<u8>>, u64) {
        let (sender, queue) = sync_channel(LINES);
        for line in lines {
            sender.send(Message::Line(line.as_bytes().to_vec())).unwrap();
        }
        let (end, ended) = sync_channel(1);
        sender.send(Message::End(end)).unwrap();
        drop(sender);
        let (mut pipe, before) = (Pipe { room, taken: Vec::new() }, dropped());
        write(&queue, &mut pipe);
        ended.recv().unwrap();
        (pipe.taken, dropped() - before)
    }

    /// In one test, because what is dropped is counted for the whole process.
    #[test]
    fn lines_that_wait_are_written_together_and_those_that_are_cut_off_are_counted() {
        assert_eq!(written(&["one\n", "two\n", "three\n"], 1_000), (vec![b"one\ntwo\nthree\n".to_vec()], 0));
        assert_eq!(written(&["one\n", "two\n", "three\n"], 6), (vec![b"one\ntw".to_vec()], 2));
        assert_eq!(written(&["one\n"], 0), (Vec::new(), 1));
        let long = format!("{}\n", "x".repeat(AT_ONCE));
        let (taken, dropped) = written(&[&long, "two\n", &long], usize::MAX);
        assert_eq!((taken.concat().len(), dropped), (2 * long.len() + 4, 0));
        assert!(taken.concat().ends_with(long.as_bytes()));
    }
}
