//! What one request costs natively, from bytes to bytes. `wasm-tests/benches/evaluation.rs` asks the same of the built
//! module.

#![allow(clippy::restriction)]

use std::time::{Duration, Instant};

use divan::Bencher;
use placement_guard::kubernetes::field::{self, Field};
use placement_guard::kubernetes::request::Request;
use placement_guard::kubewarden::validate;
use placement_guard::rules::cluster::NoCluster;
use placement_guard::rules::{judge_counted, read_settings};
use testkit::benchmark_cases::{BENCHMARK_CASES, BenchmarkCase, WORST, only_parsed};

fn main() {
    divan::main();
    if std::env::args().any(|argument| argument == "--bench") && !std::env::args().any(|argument| argument == "--list")
    {
        print_steps();
    }
}

/// What a step costs natively in the costliest requests known.
fn print_steps() {
    println!("{:>9} {:>8} {:>8} {:>6}  request", "steps", "ms", "reading", "ns");
    for case in WORST {
        let payload = (case.payload)();
        let steps = steps(&payload);
        let (whole, parsed) = (fastest(&payload), fastest(&only_parsed(&payload)));
        let judged = whole.saturating_sub(parsed);
        let each = judged.as_secs_f64() * 1e9 / steps.max(1) as f64;
        let [judged, parsed] = [judged, parsed].map(|time| time.as_secs_f64() * 1e3);
        println!("{steps:>9} {judged:>8.1} {parsed:>8.1} {each:>6.1}  {case}");
    }
}

fn steps(payload: &[u8]) -> u64 {
    let document = field::parse(payload).unwrap();
    let root = Field::root("", &document);
    let settings = read_settings(&root.get("settings").unwrap()).unwrap();
    let request = root.get("request").unwrap().renamed("");
    judge_counted(&settings, &Request::read(&request).unwrap(), &NoCluster).1
}

fn fastest(payload: &[u8]) -> Duration {
    let timed = |_| {
        let start = Instant::now();
        divan::black_box(validate(payload));
        start.elapsed()
    };
    (0..5).map(timed).min().unwrap()
}

#[divan::bench(args = BENCHMARK_CASES)]
fn decision(bencher: Bencher, case: &BenchmarkCase) {
    let payload = (case.payload)();
    let answer = String::from_utf8_lossy(&validate(&payload)).into_owned();
    assert!(answer.contains(case.answer), "{case}: {answer:.400}");
    bencher.bench(|| validate(divan::black_box(&payload)));
}
