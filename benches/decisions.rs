//! What one request costs natively, from bytes to bytes. `wasm-tests/benches/evaluation.rs` asks the same of the built
//! module.

#![allow(clippy::restriction)]

use divan::Bencher;
use placement_guard::kubewarden::validate;
use testkit::measured::{MEASURED, Measured};

fn main() {
    divan::main();
}

#[divan::bench(args = MEASURED)]
fn decision(bencher: Bencher, case: &Measured) {
    let payload = (case.payload)();
    let answer = String::from_utf8_lossy(&validate(&payload)).into_owned();
    assert!(answer.contains(case.answer), "{case}: {answer:.400}");
    bencher.bench(|| validate(divan::black_box(&payload)));
}
