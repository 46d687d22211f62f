//! The demonstration shows what it showed when it was last reviewed.

use testkit::golden::assert_golden;
use wasm_tests::{Module, demo};

#[test]
fn the_demonstration_shows_the_reviewed_table_within_110_columns() {
    let module = Module::built().unwrap_or_else(|error| panic!("{error}"));
    let demo = demo::run(&module);
    assert_eq!(demo.requests, 11);
    let widest = demo.table.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(110), "{widest:?} columns");
    assert_golden(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/demo.txt"), &demo.table);
}
