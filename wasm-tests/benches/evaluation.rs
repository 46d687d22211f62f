//! What one request costs in the built module, in an instance of its own as in the policy server: next to a policy that
//! reads the same request with Kubewarden's SDK and accepts.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use divan::Bencher;
use placement_guard::kubernetes::field::{self, Field};
use placement_guard::kubernetes::request::Request;
use placement_guard::rules::cluster::NoCluster;
use placement_guard::rules::{judge_counted, read_settings};
use testkit::benchmark_cases::{BENCHMARK_CASES, BenchmarkCase, HOST_NAMES, HOST_NAMES_UNCHANGED, TYPICAL};
use testkit::print_costs;
use wasm_tests::Module;

fn main() {
    divan::main();
    // Not under `cargo test --benches`, nor when the cases are only listed.
    if std::env::args().any(|argument| argument == "--bench") && !std::env::args().any(|argument| argument == "--list")
    {
        print_summary();
    }
}

#[divan::bench(args = BENCHMARK_CASES)]
fn placement_guard(bencher: Bencher, case: &BenchmarkCase) {
    let (module, payload) = (load(Module::built_path()), (case.payload)());
    let answer = module.call("validate", &payload).unwrap();
    assert!(String::from_utf8_lossy(&answer).contains(case.answer), "{case} is answered otherwise");
    bencher.bench_local(|| module.call("validate", &payload).unwrap());
}

#[divan::bench(args = [TYPICAL])]
fn no_op(bencher: Bencher, case: &BenchmarkCase) {
    let (module, payload) = (load(noop_path()), (case.payload)());
    bencher.bench_local(|| module.call("validate", &payload).unwrap());
}

fn noop_path() -> PathBuf {
    Module::built_path().with_file_name("noop-policy.wasm")
}

fn load(path: PathBuf) -> Module {
    Module::load_as_policy_server(path).unwrap_or_else(|error| panic!("{error}; `make bench` builds both modules"))
}

/// What the README states, each pair of cases called in turn, so that whatever else the machine does meets both alike.
fn print_summary() {
    let (ours, noop) = (load(Module::built_path()), load(noop_path()));
    let (judged, accepted) = medians(2_000, (&ours, &TYPICAL), (&noop, &TYPICAL));
    println!("{TYPICAL}: {judged:.1?}, no-op policy {accepted:.1?}, ratio {:.2}", ratio(judged, accepted));
    let (judged, read) = medians(50, (&ours, &HOST_NAMES), (&ours, &HOST_NAMES_UNCHANGED));
    println!(
        "{HOST_NAMES}: {:.1?} beside {read:.1?} for reading, ratio {:.2}",
        judged - read,
        ratio(judged - read, read)
    );
    // A spent budget takes 50 ms at most, whatever it was spent on.
    print_costs(steps, |payload| {
        ours.call("validate", payload).unwrap();
    });
}

/// The steps that the request takes, natively: the module takes the same.
fn steps(payload: &[u8]) -> u64 {
    let document = field::parse(payload).unwrap();
    let root = Field::root("", &document);
    let settings = read_settings(&root.get("settings").unwrap()).unwrap();
    let request = root.get("request").unwrap().renamed("");
    judge_counted(&settings, &Request::read(&request).unwrap(), &NoCluster).1
}

/// The medians of so many calls of each.
fn medians(pairs: usize, first: (&Module, &BenchmarkCase), second: (&Module, &BenchmarkCase)) -> (Duration, Duration) {
    let payloads = [first, second].map(|(_, case)| (case.payload)());
    let timed = |module: &Module, payload: &[u8]| {
        let start = Instant::now();
        module.call("validate", payload).unwrap();
        start.elapsed()
    };
    let (first, second) = (0..pairs)
        .map(|_| (timed(first.0, &payloads[0]), timed(second.0, &payloads[1])))
        .unzip::<_, _, Vec<_>, Vec<_>>();
    (median(first), median(second))
}

fn ratio(one: Duration, other: Duration) -> f64 {
    one.as_secs_f64() / other.as_secs_f64()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
