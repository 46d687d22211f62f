//! What one request costs in the built module, in an instance of its own as in the policy server: next to a policy that
//! reads the same request with Kubewarden's SDK and accepts.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use corpus::measured::{MEASURED, Measured, TYPICAL};
use divan::Bencher;
use wasm_tests::Module;

fn main() {
    divan::main();
    // Not under `cargo test --benches`, nor when the cases are only listed.
    if std::env::args().any(|argument| argument == "--bench") && !std::env::args().any(|argument| argument == "--list")
    {
        print_ratio();
    }
}

#[divan::bench(args = MEASURED)]
fn placement_guard(bencher: Bencher, case: &Measured) {
    let (module, payload) = (load(Module::built_path()), (case.payload)());
    let answer = module.call("validate", &payload).unwrap();
    assert!(String::from_utf8_lossy(&answer).contains(case.answer), "{case} is answered otherwise");
    bencher.bench_local(|| module.call("validate", &payload).unwrap());
}

#[divan::bench(args = [TYPICAL])]
fn no_op(bencher: Bencher, case: &Measured) {
    let (module, payload) = (load(noop_path()), (case.payload)());
    bencher.bench_local(|| module.call("validate", &payload).unwrap());
}

fn noop_path() -> PathBuf {
    Module::built_path().with_file_name("noop-policy.wasm")
}

fn load(path: PathBuf) -> Module {
    Module::load_as_policy_server(path).unwrap_or_else(|error| panic!("{error}; `make bench` builds both modules"))
}

/// One call of each in turn, so that whatever else the machine does meets both alike.
fn print_ratio() {
    const PAIRS: usize = 2_000;
    let (ours, noop, payload) = (load(Module::built_path()), load(noop_path()), (TYPICAL.payload)());
    let timed = |module: &Module| {
        let start = Instant::now();
        module.call("validate", &payload).unwrap();
        start.elapsed()
    };
    let (ours, noop): (Vec<Duration>, Vec<Duration>) = (0..PAIRS).map(|_| (timed(&ours), timed(&noop))).unzip();
    let (ours, noop) = (median(ours), median(noop));
    println!("medians of {PAIRS} pairs, {TYPICAL}: placement-guard {ours:.1?}, no-op {noop:.1?}");
    println!("ratio placement-guard / no-op: {:.2}", ours.as_secs_f64() / noop.as_secs_f64());
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
