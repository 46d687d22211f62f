//! What one request costs natively, from bytes to bytes. `wasm-tests/benches/evaluation.rs` asks the same of the built
//! module.

use std::time::{Duration, Instant};

use divan::Bencher;
use placement_guard::kubernetes::field::{self, Field};
use placement_guard::kubernetes::request::Request;
use placement_guard::kubewarden::validate;
use placement_guard::rules::{judge_counted, read_settings};
use testkit::measured::{MEASURED, Measured, WORST, only_parsed};

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
        if let Some(at) = std::env::var_os("DUMP") {
            let at = std::path::PathBuf::from(at);
            let file = case.name.replace([' ', ',', '×'], "_");
            std::fs::write(at.join(format!("{file}.json")), &payload).unwrap();
            std::fs::write(at.join(format!("{file}.parsed")), only_parsed(&payload)).unwrap();
            println!("STEPS {file} {steps}");
            continue;
        }
        let (whole, parsed) = (fastest(&payload), fastest(&only_parsed(&payload)));
        let judged = whole.saturating_sub(parsed);
        let each = judged.as_secs_f64() * 1e9 / steps.max(1) as f64;
        let [judged, parsed] = [judged, parsed].map(|time| time.as_secs_f64() * 1e3);
        let answer = String::from_utf8_lossy(&validate(&payload)).into_owned();
        let at = answer.find("findings").map_or("", |at| answer.get(at + 11..at + 60).unwrap_or_default());
        println!("{steps:>9} {judged:>8.1} {parsed:>8.1} {each:>6.1}  {case} {} kB {at}", payload.len() / 1000);
    }
}

fn steps(payload: &[u8]) -> u64 {
    let document = field::parse(payload).unwrap();
    let root = Field::root("", &document);
    let settings = read_settings(&root.get("settings").unwrap()).unwrap();
    let request = root.get("request").unwrap().renamed("");
    judge_counted(&settings, &Request::read(&request).unwrap()).1
}

fn fastest(payload: &[u8]) -> Duration {
    let timed = |_| {
        let start = cpu();
        divan::black_box(validate(payload));
        cpu() - start
    };
    let first = timed(0);
    if first > Duration::from_millis(400) {
        return first;
    }
    (0..3).map(timed).min().unwrap()
}

#[divan::bench(args = MEASURED)]
fn decision(bencher: Bencher, case: &Measured) {
    let payload = (case.payload)();
    let answer = String::from_utf8_lossy(&validate(&payload)).into_owned();
    assert!(answer.contains(case.answer), "{case}: {answer:.400}");
    bencher.bench(|| validate(divan::black_box(&payload)));
}

unsafe extern "C" {
    fn clock_gettime(clock: i32, at: *mut [i64; 2]) -> i32;
}
fn cpu() -> Duration {
    let mut at = [0i64; 2];
    unsafe {
        clock_gettime(3, &mut at);
    }
    Duration::new(at[0] as u64, at[1] as u32)
}
