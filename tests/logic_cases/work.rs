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

#[test]
fn every_byte_of_a_value_is_paid_for() {
    let steps = |length: usize| {
        let value = "v".repeat(length);
        let mut outline = Outline::default();
        let axis = outline.axis("axis", Domain::OptionalText);
        outline.mention(&vec![(axis, logic::Condition::In(vec![value.as_str(); 100]))]);
        let mut budget = Budget::of(PLENTY);
        outline.cut(&mut budget).expect("plenty of steps");
        PLENTY - budget.left()
    };
    assert!(steps(60) >= steps(10) + 25 * 100, "{} and {} steps", steps(10), steps(60));
}

/// Steps are a part of the answer: they decide what is undecided, on every machine alike. Change these numbers where a cost
/// changes on purpose.
#[test]
fn questions_take_the_steps_that_they_are_known_to_take() {
    let names = |prefix: &str, count: usize| (0..count).map(|number| format!("{prefix}{number}")).collect::<Vec<_>>();
    let [few, many, long] = [names("v", 3), names("v", 40), names(&"v".repeat(50), 20)];
    let some = |axis, values: &[String]| is_in(axis, &values.iter().map(String::as_str).collect::<Vec<_>>());
    let every_other: Vec<String> = many.iter().step_by(2).cloned().collect();
    let scattered = |axis| not_in(axis, &every_other.iter().map(String::as_str).collect::<Vec<_>>());
    let chain = (0..5).map(|axis| (vec![some(axis, &few)], vec![some(axis + 1, &few)])).collect();
    let pair = |one, other, value: &str| vec![is_in(one, &[value]), is_in(other, &[value])];
    let pairs = |axes: usize| -> Vec<Term> {
        let both = (0..axes).flat_map(|one| (one + 1..axes).map(move |other| (one, other)));
        both.flat_map(|(one, other)| ["v0", "v1", "v2"].map(|value| pair(one, other, value))).collect()
    };
    let questions = [
        ("one value", labels(1, vec![vec![is_in(0, &["a"])]], vec![vec![is_in(0, &["b"])]]), 119),
        ("long values", labels(2, vec![vec![some(0, &long)]], vec![vec![some(1, &long)], vec![present(0)]]), 2_941),
        (
            "many runs",
            labels(
                3,
                vec![vec![scattered(0), scattered(1)]],
                vec![vec![scattered(1), scattered(2)], vec![some(0, &many), scattered(2)]],
            ),
            2_741,
        ),
        ("pairs", labels(4, vec![(0..4).map(|axis| some(axis, &few)).collect()], pairs(4)), 3_850),
        (
            "two groups",
            labels(
                7,
                vec![(0..6).map(|axis| some(axis, &few)).collect()],
                [pairs(3), vec![pair(3, 4, "v0"), pair(4, 5, "v1")]].concat(),
            ),
            2_744,
        ),
        (
            "a chain of facts",
            Question { implications: chain, ..labels(6, vec![vec![some(0, &few)]], vec![vec![some(5, &few)]]) },
            1_555,
        ),
        (
            "ties",
            Question {
                ties: vec![(0, 1), (1, 2)],
                ..labels(3, vec![vec![some(0, &many)]], vec![vec![scattered(2)], vec![above(1, 5)]])
            },
            13_186,
        ),
        (
            "many boxes",
            labels(2, pairs(2), many.iter().map(|value| vec![is_in(0, &[value]), absent(1)]).collect()),
            3_280,
        ),
    ];
    let steps = |question: &Question| {
        let mut budget = Budget::of(PLENTY);
        let asked = question.ask_within(&mut budget);
        assert_ne!(asked.within(&mut budget), Answer::Undecided);
        PLENTY - budget.left()
    };
    let taken: Vec<(&str, u64)> = questions.iter().map(|(name, question, _)| (*name, steps(question))).collect();
    let known: Vec<(&str, u64)> = questions.iter().map(|(name, _, known)| (*name, *known)).collect();
    assert_eq!(taken, known);
}
