//! What the engine of `make fuzz` kept, and a few inputs that are new on every change of the code.

use proofs::fuzz::engine::corpus;
use proofs::fuzz::seeds;
use proofs::fuzz::targets::{Input, TARGETS, Target};
use proofs::random::Random;

#[test]
fn every_kept_input_has_a_good_answer() {
    for target in TARGETS {
        let inputs = corpus(target);
        assert!(inputs.len() > 20, "{}: {} inputs", target.name(), inputs.len());
        for input in inputs {
            let checked = input.run().and_then(|_| input.run_in_other_ways());
            checked.unwrap_or_else(|problem| panic!("{}: {problem}\n{}", target.name(), input.to_line()));
            assert_eq!(Input::of_line(&input.to_line()), input);
        }
    }
}

#[test]
fn changed_inputs_have_good_answers() {
    let mut random = Random::from_seed(41);
    for target in TARGETS {
        let inputs = corpus(target);
        for _ in 0..150 {
            let (input, other) = (random.pick::<Input>(&inputs), random.pick::<Input>(&inputs));
            let changed = target.change(input, other, &mut random);
            _ = changed.run().unwrap_or_else(|problem| panic!("{}: {problem}\n{}", target.name(), changed.to_line()));
        }
    }
}

#[test]
fn most_changed_requests_are_still_read() {
    let mut random = Random::from_seed(43);
    let inputs = seeds::of(Target::Request);
    let read = (0..300).filter(|_| {
        let changed = Target::Request.change(random.pick::<Input>(&inputs), &inputs[0], &mut random);
        let (settings, request) = changed.texts().expect("a request");
        placement_guard::verdict::check(&settings, &request).code != Some(422)
    });
    let read = read.count();
    assert!(read > 100, "{read} of 300 are read");
}
