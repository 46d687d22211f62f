//! What a step costs, natively or in the built module, as a table.

use std::time::{Duration, Instant};

use crate::benchmark_cases::{WORST, only_parsed};

/// Prints what a step costs in the costliest requests known: `judge` answers a payload, and `steps` counts its steps.
pub fn print_costs(steps: impl Fn(&[u8]) -> u64, judge: impl Fn(&[u8])) {
    println!("{:>9} {:>8} {:>8} {:>8}  request", "steps", "ms", "reading", "ns/step");
    for case in WORST {
        let payload = (case.payload)();
        let steps = steps(&payload);
        let (whole, parsed) = (fastest(&judge, &payload), fastest(&judge, &only_parsed(&payload)));
        let judged = whole.saturating_sub(parsed);
        let each = judged.as_secs_f64() * 1e9 / steps.max(1) as f64;
        let [judged, parsed] = [judged, parsed].map(|time| time.as_secs_f64() * 1e3);
        println!("{steps:>9} {judged:>8.1} {parsed:>8.1} {each:>8.1}  {case}");
    }
}

fn fastest(judge: impl Fn(&[u8]), payload: &[u8]) -> Duration {
    let timed = |_| {
        let start = Instant::now();
        judge(payload);
        start.elapsed()
    };
    (0..5).map(timed).min().unwrap_or_default()
}
