//! Every case of `policies/cases/`, answered by the library and by the built module: the same bytes, and the right ones. Each
//! case is a test of its own.

use std::process::ExitCode;
use std::sync::LazyLock;

use libtest_mimic::{Arguments, Failed, Trial};
use placement_guard::kubewarden;
use testkit::Case;
use wasm_tests::{FakeCalls, Module};

static MODULE: LazyLock<Module> = LazyLock::new(|| Module::built().unwrap_or_else(|error| panic!("{error}")));

fn main() -> ExitCode {
    let cases = testkit::cases().unwrap_or_else(|complaints| panic!("cases that cannot be read:\n{complaints}"));
    assert!(cases.len() > 100, "only {} cases were found", cases.len());
    let trials = cases.into_iter().map(|case| {
        Trial::test(case.name.clone(), move || the_module_answers_as_the_library(&case).map_err(Failed::from))
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code()
}

fn the_module_answers_as_the_library(case: &Case) -> Result<(), String> {
    let payload = case.payload();
    let host = case.host();
    let native = match case.function() {
        // The library for waPC inside the module puts these words before what the host says.
        "validate" => kubewarden::validate_with(&payload, &|operation, payload| {
            host.call(operation, payload).map_err(|said| format!("Host error: {said}"))
        }),
        _ => kubewarden::validate_settings(&payload),
    };
    let answer = MODULE.call_with(case.function(), &payload, FakeCalls(host.clone()));
    let answer = answer.map_err(|error| format!("the module fails: {error}"))?;
    if answer != native {
        return Err(format!(
            "the module answers {}, the library {}",
            String::from_utf8_lossy(&answer),
            String::from_utf8_lossy(&native)
        ));
    }
    case.check(&serde_json::from_slice(&answer).map_err(|error| error.to_string())?)
}
