//! The progress of a module on its way to or from a registry, for a person at a terminal.

use std::sync::Arc;

use indicatif::{ProgressBar, ProgressStyle};
use registry::{Progress, Transfer};

/// A bar that is drawn on a terminal alone, and what moves it.
pub fn watched() -> (ProgressBar, Progress) {
    let bar = ProgressBar::new(0);
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {bytes} of {total_bytes}, {eta} left") {
        bar.set_style(style);
    }
    let moved = bar.clone();
    let progress = Arc::new(move |Transfer { done, total }: Transfer| {
        moved.set_length(total);
        moved.set_position(done);
    });
    (bar, progress)
}
