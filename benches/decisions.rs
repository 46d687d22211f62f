//! What one request costs natively, from bytes to bytes. `wasm-tests/benches/evaluation.rs` asks the same of the built
//! module.

#![allow(clippy::restriction)]

use divan::Bencher;
use placement_guard::kubernetes::field::{self, Field};
use placement_guard::kubernetes::request::Request;
use placement_guard::kubewarden::validate;
use placement_guard::rules::cluster::NoCluster;
use placement_guard::rules::{judge_counted, read_settings};
use testkit::benchmark_cases::{BENCHMARK_CASES, BenchmarkCase};
use testkit::print_costs;

fn main() {
    divan::main();
    if std::env::args().any(|argument| argument == "--bench") && !std::env::args().any(|argument| argument == "--list")
    {
        print_costs(steps, |payload| {
            divan::black_box(validate(payload));
        });
    }
}

/// The steps that the request takes.
fn steps(payload: &[u8]) -> u64 {
    let document = field::parse(payload).unwrap();
    let root = Field::root("", &document);
    let settings = read_settings(&root.get("settings").unwrap()).unwrap();
    let request = root.get("request").unwrap().renamed("");
    judge_counted(&settings, &Request::read(&request).unwrap(), &NoCluster).1
}

#[divan::bench(args = BENCHMARK_CASES)]
fn decision(bencher: Bencher, case: &BenchmarkCase) {
    let payload = (case.payload)();
    let answer = String::from_utf8_lossy(&validate(&payload)).into_owned();
    assert!(answer.contains(case.answer), "{case}: {answer:.400}");
    bencher.bench(|| validate(divan::black_box(&payload)));
}
