//! Budgets, and work that is not done.

use super::*;

#[test]
fn an_exhausted_budget_keeps_nothing_of_its_rest() {
    let mut budget = Budget::of(10);
    assert_eq!(budget.spend(7), Ok(()));
    assert_eq!(budget.left(), 3);
    assert_eq!(budget.spend(4), Err(Exhausted));
    assert_eq!(budget.left(), 0);
    assert_eq!(budget.spend(1), Err(Exhausted), "a cheaper question is not answered after one that was too dear");
    assert_eq!(budget.spend(0), Ok(()));
}

/// A pigeonhole, and an axis of which the value `free` asks nothing of the pigeons. Each of its other values keeps one
/// pigeon out of one hole, so `free` dominates them all.
#[test]
fn choices_that_another_choice_dominates_are_not_tried() {
    const PIGEONS: usize = 5;
    let holes: Vec<String> = (1..PIGEONS).map(|hole| format!("hole-{hole}")).collect();
    let holes: Vec<&str> = holes.iter().map(String::as_str).collect();
    let (mut outside, mut values) = (Vec::new(), vec![String::from("free")]);
    for pigeon in 1..=PIGEONS {
        for other in 1..pigeon {
            outside.extend(holes.iter().map(|hole| vec![is_in(pigeon, &[hole]), is_in(other, &[hole])]));
        }
        for hole in &holes {
            let value = format!("{pigeon}-out-of-{hole}");
            outside.push(vec![is_in(0, &[&value]), is_in(pigeon, &[hole])]);
            values.push(value);
        }
    }
    let values: Vec<&str> = values.iter().map(String::as_str).collect();
    let inside = [is_in(0, &values)].into_iter().chain((1..=PIGEONS).map(|pigeon| is_in(pigeon, &holes))).collect();
    let question = labels(PIGEONS + 1, vec![inside], outside);
    let asked = question.ask();
    let mut budget = Budget::of(PLENTY);
    assert_eq!(asked.within(&mut budget), Answer::Contained);
    let steps = PLENTY - budget.left();
    println!("dominated choices: {steps} steps");
    assert!(steps < DOMINANCE, "{steps} steps");
}

/// More than that question takes, and a fraction of what it takes when dominated choices are tried.
const DOMINANCE: u64 = 20_000;

#[test]
fn a_set_is_as_large_as_the_runs_that_it_is_written_with() {
    for runs in [0, 1, 7, 500] {
        let set = ClassSet::from_runs((0..runs).map(|run| run * 2..run * 2 + 1));
        assert_eq!((set.size(), set.count()), (runs as usize, u64::from(runs)));
    }
}

#[test]
fn every_value_of_a_fact_is_paid_for() {
    let steps = |count: usize| {
        let values: Vec<String> = (0..count).map(|number| format!("v{number}")).collect();
        let mut outline = Outline::default();
        let axis = outline.axis("axis", Domain::OptionalText);
        let when = vec![(axis, logic::Condition::In(values.iter().map(String::as_str).collect()))];
        outline.mention(&when);
        let space = outline.cut(&mut Budget::of(PLENTY)).expect("plenty of steps");
        let facts = [Implication { when, then: vec![(axis, logic::Condition::Present)] }];
        let mut budget = Budget::of(PLENTY);
        Facts::new(&space, &facts, [], &mut budget).expect("plenty of steps");
        usize::try_from(PLENTY - budget.left()).expect("a small number")
    };
    assert!(steps(1_000) >= steps(10) + 990, "{} and {} steps", steps(10), steps(1_000));
}
