//! `make demo`: recorded requests, judged by the built module as Kubewarden would run it.

use std::process::ExitCode;

use wasm_tests::{Module, demo};

fn main() -> ExitCode {
    let module = match Module::built() {
        Ok(module) => module,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    let demo = demo::run(&module);
    print!("{}", demo.table);
    // Sizes and times differ from build to build and from machine to machine: they are not part of the table.
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/placement-guard.wasm");
    let bytes = std::fs::metadata(file).map(|file| file.len()).unwrap_or_default();
    let took = demo.took.as_secs_f64() * 1_000.0;
    eprintln!(
        "\ntarget/placement-guard.wasm, {bytes} bytes, through waPC in wasmtime: {} requests, each in a fresh instance, in {took:.1} ms",
        demo.requests
    );
    ExitCode::SUCCESS
}
