//! The progress of an audit, for anyone who waits at a terminal for more than a second.

use std::cell::Cell;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// What is done in this time shows nothing.
const PATIENCE: Duration = Duration::from_secs(1);

const SHARE: &str = "{bar:40} {percent} %, {eta} left";
const STREAM: &str = "{spinner} {bytes} read";

/// A bar on standard error.
pub struct Progress {
    bar: ProgressBar,
    started: Instant,
    /// The bytes of all files.
    total: Cell<u64>,
    /// The bytes of the files before this one, and those of this one.
    before: Cell<u64>,
    file: Cell<u64>,
}

impl Progress {
    /// Draws nothing when standard error is not a terminal, and nothing in the first second.
    pub fn of(bytes: u64) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        let progress = Progress {
            bar,
            started: Instant::now(),
            total: Cell::new(bytes),
            before: Cell::new(0),
            file: Cell::new(0),
        };
        progress.shape();
        progress
    }

    /// A file of this many bytes begins; 0 for standard input, whose length is unknown.
    pub fn begin(&self, bytes: u64) {
        self.before.set(self.before.get().saturating_add(self.file.replace(bytes)));
        self.shape();
        self.came(0);
    }

    /// So many bytes of the file have been read.
    pub fn came(&self, bytes: u64) {
        self.show();
        self.bar.set_position(self.before.get().saturating_add(bytes));
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn shape(&self) {
        match self.total.get() {
            0 => self.bar.set_style(style(STREAM)),
            bytes => {
                self.bar.set_style(style(SHARE));
                self.bar.set_length(bytes);
            }
        }
    }

    fn show(&self) {
        if self.bar.is_hidden() && self.started.elapsed() >= PATIENCE && std::io::stderr().is_terminal() {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
