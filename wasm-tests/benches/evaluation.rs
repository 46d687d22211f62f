//! What one request costs in the built module, in an instance of its own as in the policy server: next to a policy that
//! reads the same request with Kubewarden's SDK and accepts.

use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use divan::Bencher;
use serde_json::{Value, json};
use wasm_tests::Module;

fn main() {
    divan::main();
    // Not under `cargo test --benches`, nor when the cases are only listed.
    if std::env::args().any(|argument| argument == "--bench") && !std::env::args().any(|argument| argument == "--list")
    {
        print_ratio();
    }
}

/// What is measured.
struct Case {
    name: &'static str,
    payload: fn() -> Vec<u8>,
}

const TYPICAL: Case = Case { name: "typical PV update", payload: typical_update };

/// Every case of the module.
const CASES: [Case; 1] = [TYPICAL];

impl Display for Case {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        self.name.fmt(out)
    }
}

fn typical_update() -> Vec<u8> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/requests/pv-update-zone-to-region.json");
    let review = std::fs::read(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let mut review: Value = serde_json::from_slice(&review).unwrap();
    json!({"settings": {"volumeNodeAffinity": {}}, "request": review["request"].take()}).to_string().into_bytes()
}

#[divan::bench(args = CASES)]
fn placement_guard(bencher: Bencher, case: &Case) {
    evaluate(bencher, Module::built_path(), case);
}

#[divan::bench(args = [TYPICAL])]
fn no_op(bencher: Bencher, case: &Case) {
    evaluate(bencher, noop_path(), case);
}

fn evaluate(bencher: Bencher, path: PathBuf, case: &Case) {
    let (module, payload) = (load(path), (case.payload)());
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
    let (ours, noop, payload) = (load(Module::built_path()), load(noop_path()), typical_update());
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
