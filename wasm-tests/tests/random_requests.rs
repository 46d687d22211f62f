//! Random requests, answered by the library and by the built module: the same bytes. They are what the engine of `make fuzz` kept,
//! and changes of it. `MODULE_INPUTS` says how many changes.

use placement_guard::kubewarden;
use proofs::fuzz::engine::corpus;
use proofs::fuzz::targets::{Input, Target};
use proofs::random::Random;
use testkit::fake_host::FakeHost;
use wasm_tests::{FakeCalls, Module};

/// The targets whose inputs are settings and a request.
const TARGETS: [Target; 3] = [Target::Settings, Target::Request, Target::Both];

/// Changes without `MODULE_INPUTS`.
const FEW: usize = 150;

fn payload(input: &Input) -> Vec<u8> {
    let (settings, request) = input.texts().unwrap_or_else(|| panic!("not a request: {}", input.to_line()));
    [r#"{"settings":"#, &settings, r#","request":"#, &request, "}"].concat().into_bytes()
}

/// Fails unless the module answers as the library does, in a cluster without objects.
fn check(module: &Module, input: &Input) {
    let (payload, host) = (payload(input), FakeHost::default());
    let native = kubewarden::validate_with(&payload, &|operation, payload| {
        host.call(operation, payload).map_err(|said| format!("Host error: {said}"))
    });
    let answer = module.call_with("validate", &payload, FakeCalls(host.clone()));
    let answer = answer.unwrap_or_else(|error| panic!("the module fails: {error}\n{}", input.to_line()));
    assert_eq!(String::from_utf8_lossy(&answer), String::from_utf8_lossy(&native), "{}", input.to_line());
}

#[test]
fn the_module_answers_kept_and_random_requests_as_the_library_does() {
    let module = Module::built().unwrap_or_else(|error| panic!("{error}"));
    let kept = TARGETS.map(|target| (target, corpus(target)));
    kept.iter().flat_map(|(_, inputs)| inputs).for_each(|input| check(&module, input));
    let count = std::env::var("MODULE_INPUTS").map_or(FEW, |count| count.parse().expect("a number"));
    let mut random = Random::from_seed(47);
    for number in 0..count {
        let (target, inputs) = &kept[number % kept.len()];
        let mut input = random.pick::<Input>(inputs).clone();
        // Far from what was kept, too.
        for _ in 0..1 + random.below(3) {
            input = target.change(&input, random.pick::<Input>(inputs), &mut random);
        }
        check(&module, &input);
    }
}
