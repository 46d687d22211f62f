//! Questions with the answers that an SMT solver gave: `make second-opinion` asks many more, and writes this file.

use proofs::second_opinion::{Comparison, text};

#[test]
fn recorded_answers_of_the_solver_are_the_library_s_answers() {
    let recorded = include_str!("second_opinion.txt");
    let mut comparison = Comparison::default();
    text::read(recorded.lines().map(String::from), |name, question, solved| comparison.ask(name, question, &solved));
    assert_eq!(comparison.disagreements, [""; 0]);
    assert!(comparison.questions >= 80 && comparison.with_facts >= 40, "{comparison:?}");
    assert!((20..70).contains(&comparison.contained), "{} are contained", comparison.contained);
    assert_eq!((comparison.undecided, comparison.unknown), (0, 0));
}

#[test]
fn a_wrong_answer_is_found() {
    for (question, wrong) in [("in k0=a\nout k0?", "escapes"), ("in k0?\nout k0=a", "contained")] {
        let mut comparison = Comparison::default();
        let lines = format!("question 1\n{question}\nend {wrong} 1");
        text::read(lines.lines().map(String::from), |name, question, solved| comparison.ask(name, question, &solved));
        assert_eq!(comparison.disagreements.len(), 1, "{question}");
    }
}

#[test]
fn questions_are_written_and_read_alike() {
    let mut random = proofs::random::Random::from_seed(3);
    for number in 0..50 {
        let question = proofs::second_opinion::generate::question(&mut random);
        let written = text::write(number, &question) + " contained 7";
        text::read(written.lines().map(String::from), |_, read, _| assert_eq!(*read, question));
    }
}
