//! The log: one JSON object a line, on standard output. No bodies, no keys, no tokens: what is logged is named field by
//! field where it is logged.

use tracing_subscriber::filter::LevelFilter;

/// Begins to log, for the whole process. Where a log is set up already, that one stays.
pub fn begin() {
    let log = tracing_subscriber::fmt().json().flatten_event(true).with_max_level(LevelFilter::INFO);
    let _ = log.with_current_span(false).with_span_list(false).with_target(false).try_init();
}
