//! How far an audit has come, for whoever waits at a terminal for more than a second.

use std::cell::Cell;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// What is done in this time shows nothing.
const PATIENCE: Duration = Duration::from_secs(1);

/// A bar of the bytes read, on standard error.
pub struct Progress {
    bar: ProgressBar,
    started: Instant,
    /// The bytes of the files before this one.
    before: Cell<u64>,
}

impl Progress {
    /// Where nobody looks at standard error, and before a second has passed, nothing is drawn.
    pub fn of(bytes: u64) -> Self {
        let bar = if bytes > 0 { ProgressBar::new(bytes) } else { ProgressBar::no_length() };
        bar.set_draw_target(ProgressDrawTarget::hidden());
        let shape = if bytes > 0 { "{bar:40} {bytes} of {total_bytes}, {eta} left" } else { "{spinner} {bytes} read" };
        if let Ok(style) = ProgressStyle::with_template(shape) {
            bar.set_style(style);
        }
        Progress { bar, started: Instant::now(), before: Cell::new(0) }
    }

    /// So many bytes of the file have been read.
    pub fn at(&self, bytes: u64) {
        if self.bar.is_hidden() && self.started.elapsed() >= PATIENCE && std::io::stderr().is_terminal() {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.set_position(self.before.get().saturating_add(bytes));
    }

    /// A file of so many bytes is done.
    pub fn finish_file(&self, bytes: u64) {
        self.before.set(self.before.get().saturating_add(bytes));
        self.at(0);
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
