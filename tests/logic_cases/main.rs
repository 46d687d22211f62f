//! Single questions: the ones that are easily got wrong, and the ones that are easily too much work.

#![allow(clippy::restriction)]

mod absence;
mod domains;
mod examples;
mod facts;
#[path = "../logic_oracle/mod.rs"]
mod logic_oracle;
mod numbers;
mod scale;
mod ties;
mod together;
mod work;

use std::collections::BTreeSet;

use logic_oracle::{Answer, Condition, PLENTY, Question, Term, meets};
use placement_guard::logic::{self, Budget, ClassSet, Domain, Exhausted, Facts, Implication, Outline};
use placement_guard::rules::STEPS;

fn is_in(axis: usize, values: &[&str]) -> (usize, Condition) {
    (axis, Condition::In(values.iter().map(|value| (*value).to_owned()).collect()))
}

fn not_in(axis: usize, values: &[&str]) -> (usize, Condition) {
    (axis, Condition::NotIn(values.iter().map(|value| (*value).to_owned()).collect()))
}

fn above(axis: usize, number: i64) -> (usize, Condition) {
    (axis, Condition::Above(number))
}

fn below(axis: usize, number: i64) -> (usize, Condition) {
    (axis, Condition::Below(number))
}

fn present(axis: usize) -> (usize, Condition) {
    (axis, Condition::Present)
}

fn absent(axis: usize) -> (usize, Condition) {
    (axis, Condition::Absent)
}

/// A question about labels, without facts.
fn labels(count: usize, inside: Vec<Term>, outside: Vec<Term>) -> Question {
    of(&vec![Domain::OptionalText; count], inside, outside)
}

fn of(domains: &[Domain], inside: Vec<Term>, outside: Vec<Term>) -> Question {
    let axes = domains.iter().enumerate().map(|(axis, domain)| (format!("axis-{axis}"), *domain)).collect();
    Question { axes, inside, outside, implications: Vec::new(), ties: Vec::new() }
}

/// The answer, on whose verdict the definition and the oracle agree.
fn agreed(question: &Question) -> Answer {
    let answer = question.answer();
    let plainly = question.ask().plainly_within(&mut Budget::of(PLENTY));
    for verdict in [plainly == Answer::Contained, question.counterexample().is_none()] {
        assert_eq!(answer == Answer::Contained, verdict, "{question:?}");
    }
    answer
}

fn escapes(values: &[Option<&str>]) -> Answer {
    Answer::Escapes(values.iter().map(|value| value.map(str::to_owned)).collect())
}

/// The answer to a question that is too large for the oracle, and the steps that it took.
fn measured(what: &str, question: &Question) -> Answer {
    let mut budget = Budget::of(STEPS);
    let answer = question.ask().within(&mut budget);
    println!("{what}: {} steps", STEPS - budget.left());
    answer
}
