//! Every case of `policies/cases/`, answered by the library and by the built module: the same bytes, and the right ones.

use placement_guard::kubewarden;
use wasm_tests::Module;

#[test]
fn the_module_answers_every_case_as_the_library_does_byte_for_byte() {
    let module = Module::built().unwrap_or_else(|error| panic!("{error}"));
    let cases = testkit::cases().unwrap_or_else(|complaints| panic!("cases that cannot be read:\n{complaints}"));
    let mut failures = Vec::new();
    for case in &cases {
        let payload = case.payload();
        let native = match case.function() {
            "validate" => kubewarden::validate(&payload),
            _ => kubewarden::validate_settings(&payload),
        };
        let failure = match module.call(case.function(), &payload) {
            Err(error) => Some(format!("the module fails: {error}")),
            Ok(answer) if answer != native => Some(format!(
                "the module answers {}, the library {}",
                String::from_utf8_lossy(&answer),
                String::from_utf8_lossy(&native)
            )),
            Ok(answer) => {
                let answer = serde_json::from_slice(&answer).unwrap_or_default();
                case.check(&answer).err()
            }
        };
        failures.extend(failure.map(|failure| format!("{}: {failure}", case.name)));
    }
    assert!(cases.len() > 100, "only {} cases were found", cases.len());
    assert!(failures.is_empty(), "{} cases fail:\n{}", failures.len(), failures.join("\n"));
}
