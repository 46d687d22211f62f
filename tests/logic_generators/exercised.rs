//! The generators, tested: a law that is only tried on questions without facts says nothing of facts.

use std::collections::{BTreeMap, BTreeSet};

use placement_guard::logic::Domain;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, TestRunner};

use super::{Case, SEED, case, config, crowded};
use crate::logic_oracle::{Condition, Question, Term, is_value, meets, number};

#[test]
fn the_generated_questions_exercise_what_they_are_about() {
    const CASES: usize = 600;
    let mut runner = TestRunner::new(Config { rng_seed: SEED, ..config() });
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for _ in 0..CASES {
        let case = case().new_tree(&mut runner).unwrap().current();
        for feature in features(&case) {
            *seen.entry(feature).or_default() += 1;
        }
    }
    // In percent of the questions.
    let wanted = [
        ("contained", 10),
        ("escapes", 10),
        ("contained though there is something inside", 10),
        ("contained only by several terms together", 2),
        ("contained twice in a row", 5),
        ("contained by implications alone", 3),
        ("contained by ties alone", 1),
        ("contained by implications and ties together", 1),
        ("escapes though there are facts", 10),
        ("facts that no point meets", 1),
        ("a counterexample without a value", 5),
        ("a counterexample with a leading zero", 1),
        ("a condition that no value meets", 1),
        ("an empty union", 5),
        ("an empty conjunction", 10),
        ("an implication without a premise", 5),
        ("a tie of an axis with itself", 2),
        ("a chain of ties", 2),
        ("ties of axes that are never absent", 1),
        ("labels", 30),
        ("texts", 5),
        ("taints", 10),
        ("In", 30),
        ("NotIn", 30),
        ("Present", 10),
        ("Absent", 10),
        ("Above", 20),
        ("Below", 20),
        ("constants equal as numbers", 10),
        ("constants that are no values", 10),
        ("thresholds below zero", 5),
        ("thresholds at the ends of 64 bits", 5),
        ("only one number between two thresholds", 3),
    ];
    let mut too_few = false;
    for (feature, percent) in wanted {
        let count = seen.get(feature).copied().unwrap_or_default();
        println!("{:5.1} %, at least {percent} %: {feature}", count as f64 * 100.0 / CASES as f64);
        too_few |= count * 100 < percent * CASES;
    }
    assert!(!too_few, "too few of the questions have one of the features");
    assert_eq!(seen.len(), wanted.len(), "a feature has no bound: {seen:?}");
}

#[test]
fn crowded_questions_are_close_calls() {
    const CASES: usize = 200;
    let mut runner = TestRunner::new(Config { rng_seed: SEED, ..config() });
    let mut question = || crowded().new_tree(&mut runner).unwrap().current();
    let contained = (0..CASES).filter(|_| question().counterexample().is_none()).count();
    assert!((CASES / 5..CASES * 4 / 5).contains(&contained), "{contained} of {CASES} are contained");
}

/// What a question exercises.
fn features(case: &Case) -> BTreeSet<&'static str> {
    let question = &case.question;
    let mut features = BTreeSet::new();
    let mut note = |feature: &'static str, holds: bool| _ = holds.then(|| features.insert(feature));

    let without = |implications: bool, ties: bool| {
        let mut question = question.clone();
        if implications {
            question.implications.clear();
        }
        if ties {
            question.ties.clear();
        }
        question.counterexample()
    };
    let escape = question.counterexample();
    let contained = escape.is_none();
    let (no_facts, no_implications, no_ties) =
        (without(true, true).is_some(), without(true, false).is_some(), without(false, true).is_some());
    note("contained", contained);
    note("escapes", !contained);
    note(
        "escapes though there are facts",
        !contained && (!question.implications.is_empty() || !question.ties.is_empty()),
    );
    note("contained by implications alone", contained && no_implications && !no_ties);
    note("contained by ties alone", contained && no_ties && !no_implications);
    note("contained by implications and ties together", contained && no_ties && no_implications);
    let somewhere = |inside: &[Term]| {
        Question { inside: inside.to_vec(), outside: Vec::new(), ..question.clone() }.counterexample().is_some()
    };
    note("facts that no point meets", !somewhere(&[Vec::new()]));
    note("contained though there is something inside", contained && somewhere(&question.inside));
    let together = !no_facts
        && question.inside.iter().any(|inner| {
            let alone = |outer: &Term| Question {
                inside: vec![inner.clone()],
                outside: vec![outer.clone()],
                implications: Vec::new(),
                ties: Vec::new(),
                axes: question.axes.clone(),
            };
            question.outside.iter().all(|outer| alone(outer).counterexample().is_some())
        });
    note("contained only by several terms together", together && somewhere(&question.inside));
    let [first, second, _] = case.in_a_row();
    let twice = first.counterexample().is_none() && second.counterexample().is_none();
    note("contained twice in a row", twice && somewhere(&question.inside));

    if let Some(point) = &escape {
        note("a counterexample without a value", point.contains(&None));
        let zero =
            |value: &str| value.len() > 1 && value.starts_with('0') && number(Domain::OptionalText, value).is_some();
        note("a counterexample with a leading zero", point.iter().flatten().any(|value| zero(value)));
    }

    let facts = question.implications.iter().flat_map(|(when, then)| [when, then]);
    let mut terms = question.inside.iter().chain(&question.outside).chain(facts);
    note("an empty conjunction", terms.any(Vec::is_empty));
    note("an empty union", question.inside.is_empty() || question.outside.is_empty());
    note("an implication without a premise", question.implications.iter().any(|(when, _)| when.is_empty()));
    note("a tie of an axis with itself", question.ties.iter().any(|(from, to)| from == to));
    let chained =
        |(from, to): &(usize, usize)| from != to && question.ties.iter().any(|(next, last)| next == to && last != to);
    note("a chain of ties", question.ties.iter().any(chained));
    note("labels", question.axes[0].1 == Domain::OptionalText);
    note("texts", question.axes[0].1 == Domain::Text);
    note("taints", question.axes[0].1 == Domain::Name);
    note("ties of axes that are never absent", question.axes[0].1 == Domain::Text && !question.ties.is_empty());

    for (axis, (_, domain)) in question.axes.iter().enumerate() {
        let conditions = question.conditions_on(&BTreeSet::from([axis]));
        let (mut constants, mut above, mut below) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        for condition in &conditions {
            match condition {
                Condition::In(values) | Condition::NotIn(values) => constants.extend(values),
                Condition::Above(number) => _ = above.insert(*number),
                Condition::Below(number) => _ = below.insert(*number),
                Condition::Present | Condition::Absent => {}
            }
            let name = match condition {
                Condition::In(_) => "In",
                Condition::NotIn(_) => "NotIn",
                Condition::Present => "Present",
                Condition::Absent => "Absent",
                Condition::Above(_) => "Above",
                Condition::Below(_) => "Below",
            };
            note(name, true);
            let values = question.worth_trying(axis);
            let met = values.iter().any(|value| meets(*domain, value.as_deref(), condition));
            note("a condition that no value meets", !met);
        }
        let numbers: Vec<i64> = constants.iter().filter_map(|text| number(*domain, text)).collect();
        note("constants equal as numbers", numbers.iter().collect::<BTreeSet<_>>().len() < numbers.len());
        note("constants that are no values", constants.iter().any(|text| !is_value(*domain, Some(text))));
        let thresholds = || above.iter().chain(&below);
        note("thresholds below zero", thresholds().any(|number| *number < 0));
        note("thresholds at the ends of 64 bits", thresholds().any(|number| [i64::MIN, i64::MAX].contains(number)));
        let one_between = |low: &i64| low.checked_add(2).is_some_and(|high| below.contains(&high));
        note("only one number between two thresholds", above.iter().any(one_between));
    }
    features
}
