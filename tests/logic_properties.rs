//! Laws of the algebra, each held against the brute-force oracle or against another way to ask the same.

#![allow(clippy::restriction)]

mod logic_generators;
mod logic_oracle;

use std::collections::BTreeSet;
use std::ops::Range;

use logic_generators::{Case, case, config, crowded, question};
use logic_oracle::asked::write;
use logic_oracle::{Answer, Condition, PLENTY, Question, Term, is_value, meets, number};
use placement_guard::logic::{Axis, Budget, ClassSet, Conjunction, Domain, Space, Union, covered};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestRng;

const DOMAINS: [Domain; 4] = [
    Domain::OptionalText,
    Domain::Text,
    Domain::Name,
    Domain::Listed(&["NoSchedule", "PreferNoSchedule", "NoExecute"]),
];

// Containment.
proptest! {
    #![proptest_config(config())]

    #[test]
    fn containment_is_what_trying_every_point_finds(question in question()) {
        check_against_oracle(&question)?;
    }

    #[test]
    fn containment_is_what_trying_every_point_finds_where_it_is_a_close_call(question in crowded()) {
        check_against_oracle(&question)?;
    }

    #[test]
    fn order_and_repetition_of_terms_change_neither_verdict_nor_counterexample((question, scrambled) in in_two_orders()) {
        let Question { implications, ties, .. } = question.clone();
        prop_assert_eq!(question.answer(), Question { implications, ties, ..scrambled }.answer());
    }

    #[test]
    fn order_and_repetition_of_facts_change_no_verdict((question, scrambled) in in_two_orders()) {
        prop_assert_eq!(question.answer() == Answer::Contained, scrambled.answer() == Answer::Contained);
    }

    #[test]
    fn adding_a_term_never_narrows(Case { question, term, .. } in case()) {
        let more = question.inside.iter().cloned().chain([term]).collect();
        prop_assert_eq!(Question { outside: more, ..question }.answer(), Answer::Contained);
    }

    #[test]
    fn adding_a_condition_never_widens(Case { question, term, .. } in case()) {
        let less = question.outside.iter().map(|before| before.iter().chain(&term).cloned().collect()).collect();
        prop_assert_eq!(Question { inside: less, ..question }.answer(), Answer::Contained);
    }

    #[test]
    fn every_union_contains_itself(question in question()) {
        prop_assert_eq!(Question { outside: question.inside.clone(), ..question }.answer(), Answer::Contained);
    }

    #[test]
    fn what_is_contained_in_what_is_contained_is_contained(case in case()) {
        let [first, second, both] = case.in_a_row();
        if first.answer() == Answer::Contained && second.answer() == Answer::Contained {
            prop_assert_eq!(both.answer(), Answer::Contained);
        }
    }

    #[test]
    fn knowing_more_never_loses_a_containment(question in question()) {
        let ignorant = Question { implications: Vec::new(), ties: Vec::new(), ..question.clone() };
        if ignorant.answer() == Answer::Contained {
            prop_assert_eq!(question.answer(), Answer::Contained);
        }
    }

    #[test]
    fn a_short_budget_is_undecided_or_right_and_a_longer_one_says_the_same(
        question in prop_oneof![3 => question(), 1 => crowded()],
    ) {
        let asked = question.ask();
        let mut plenty = Budget::of(PLENTY);
        let answer = asked.within(&mut plenty);
        let needed = PLENTY - plenty.left();
        let mut decided = false;
        // Each small budget, ever larger ones, and the ones around what is needed.
        let larger = (5..64).map(|power| 1 << power).take_while(|steps| *steps < needed);
        let near = needed.saturating_sub(2)..needed + 2;
        for steps in (0..=needed.min(32)).chain(larger).chain(near).chain([PLENTY]).collect::<BTreeSet<u64>>() {
            match asked.within(&mut Budget::of(steps)) {
                Answer::Undecided => prop_assert!(!decided && steps < needed, "undecided again with {} steps", steps),
                other => {
                    prop_assert_eq!(&other, &answer);
                    decided = true;
                }
            }
        }
    }
}

fn check_against_oracle(question: &Question) -> Result<(), TestCaseError> {
    let expected = question.counterexample();
    let asked = question.ask();
    for answer in [asked.within(&mut Budget::of(PLENTY)), asked.plainly_within(&mut Budget::of(PLENTY))] {
        match answer {
            Answer::Contained => prop_assert_eq!(&expected, &None),
            // Its point was replayed.
            Answer::Escapes(_) => prop_assert!(expected.is_some()),
            Answer::Undecided => prop_assert!(false, "undecided with plenty of steps"),
        }
    }
    Ok(())
}

fn in_two_orders() -> impl Strategy<Value = (Question, Question)> {
    question().prop_perturb(|question, mut rng| {
        let scrambled = scrambled(&question, &mut rng);
        (question, scrambled)
    })
}

/// The same question in another order, with some of it said twice.
fn scrambled(question: &Question, rng: &mut TestRng) -> Question {
    let term = |term: &Term, rng: &mut TestRng| -> Term {
        let conditions = shuffled(term, rng).into_iter().map(|(axis, condition)| {
            let condition = match condition {
                Condition::In(values) => Condition::In(shuffled(&values, rng)),
                Condition::NotIn(values) => Condition::NotIn(shuffled(&values, rng)),
                other => other,
            };
            (axis, condition)
        });
        conditions.collect()
    };
    let terms = |terms: &[Term], rng: &mut TestRng| -> Vec<Term> {
        shuffled(terms, rng).iter().map(|before| term(before, rng)).collect()
    };
    let inside = terms(&question.inside, rng);
    let outside = terms(&question.outside, rng);
    let implications =
        shuffled(&question.implications, rng).iter().map(|(when, then)| (term(when, rng), term(then, rng))).collect();
    Question { axes: question.axes.clone(), inside, outside, implications, ties: shuffled(&question.ties, rng) }
}

/// In any order, some of it twice.
fn shuffled<T: Clone>(list: &[T], rng: &mut TestRng) -> Vec<T> {
    let mut shuffled: Vec<T> = Vec::new();
    for item in list {
        for _ in 0..=rng.random_range(0..2) {
            shuffled.insert(rng.random_range(0..=shuffled.len()), item.clone());
        }
    }
    shuffled
}

// Unions of boxes, point by point: a point of classes is in a box when its class is in the side of each axis.
proptest! {
    #![proptest_config(config())]

    #[test]
    fn merging_keeps_every_point_and_never_makes_more_boxes(question in question()) {
        let asked = question.ask();
        for union in [&asked.inside, &asked.outside] {
            let merged = union.merged(&asked.space, &mut Budget::of(PLENTY)).unwrap();
            prop_assert_eq!(points(&asked.space, union), points(&asked.space, &merged));
            prop_assert!(merged.boxes().len() <= union.boxes().len());
            check_boxes(&asked.space, &merged);
        }
    }

    #[test]
    fn or_holds_what_either_holds_and_and_what_both_hold(question in question()) {
        let asked = question.ask();
        let plenty = &mut Budget::of(PLENTY);
        let (one, other) = (points(&asked.space, &asked.inside), points(&asked.space, &asked.outside));
        let or = asked.inside.or(&asked.outside, plenty).unwrap();
        let and = asked.inside.and(&asked.outside, &asked.space, plenty).unwrap();
        for union in [&asked.inside, &or, &and] {
            check_boxes(&asked.space, union);
        }
        prop_assert_eq!(points(&asked.space, &or), &one | &other);
        prop_assert_eq!(points(&asked.space, &and), &one & &other);
        prop_assert_eq!(asked.inside.is_empty(), one.is_empty());
        let listed = asked.outside.lists(or.boxes(), plenty).unwrap();
        for (conjunction, is_listed) in or.boxes().iter().zip(listed) {
            prop_assert_eq!(is_listed, asked.outside.boxes().contains(conjunction));
        }
        prop_assert_eq!(points(&asked.space, &Union::everything()).len(), everywhere(&asked.space).len());
    }

    #[test]
    fn boxes_compare_as_their_points_do(question in question()) {
        let asked = question.ask();
        let boxes: Vec<&Conjunction> = asked.inside.boxes().iter().chain(asked.outside.boxes()).collect();
        let alone = |conjunction: &Conjunction| points(&asked.space, &conjunction.clone().into());
        let points: Vec<BTreeSet<Vec<u32>>> = boxes.iter().map(|conjunction| alone(conjunction)).collect();
        for (one, its) in boxes.iter().zip(&points) {
            for (other, others) in boxes.iter().zip(&points) {
                prop_assert_eq!(one.is_subset(other), its.is_subset(others));
                prop_assert_eq!(one.is_disjoint(other), its.is_disjoint(others));
                let both = one.intersection(other, &asked.space).map(|both| alone(&both)).unwrap_or_default();
                prop_assert_eq!(both, its & others);
            }
        }
    }

    #[test]
    fn a_box_is_covered_by_the_first_that_holds_it(Case { question, term, .. } in case()) {
        let asked = question.ask();
        // Not a union: the list has an order, and repetitions.
        let terms = question.inside.iter().chain(&question.outside).chain(&question.inside);
        let terms: Vec<Term> = terms.map(|before| if before == &term { Vec::new() } else { before.clone() }).collect();
        let boxes: Vec<Conjunction> =
            terms.iter().filter_map(|term| asked.space.conjunction(&write(&asked.axes, term))).collect();
        let points: Vec<BTreeSet<Vec<u32>>> =
            boxes.iter().map(|conjunction| points(&asked.space, &conjunction.clone().into())).collect();
        let mut expected = Vec::new();
        for (index, inner) in points.iter().enumerate() {
            let covers = |(other, outer): &(usize, &BTreeSet<Vec<u32>>)| {
                inner.is_subset(outer) && (*other < index || inner.len() < outer.len())
            };
            expected.extend(points.iter().enumerate().find(covers).map(|(other, _)| (index, other)));
        }
        prop_assert_eq!(covered(&asked.space, &boxes, &mut Budget::of(PLENTY)).unwrap(), expected);
    }
}

/// Every combination of classes that some box of the union holds.
fn points(space: &Space<'_>, union: &Union) -> BTreeSet<Vec<u32>> {
    let axes: Vec<Axis> = space.axes().collect();
    let holds = |conjunction: &Conjunction, point: &[u32]| {
        axes.iter().zip(point).all(|(axis, class)| conjunction.side(*axis).is_none_or(|side| side.contains(*class)))
    };
    let in_union = |point: &Vec<u32>| union.boxes().iter().any(|conjunction| holds(conjunction, point));
    everywhere(space).into_iter().filter(in_union).collect()
}

fn everywhere(space: &Space<'_>) -> Vec<Vec<u32>> {
    space.axes().fold(vec![Vec::new()], |points, axis| {
        let extended = |point: &Vec<u32>| -> Vec<Vec<u32>> {
            (0..space.count(axis)).map(|class| point.iter().copied().chain([class]).collect()).collect()
        };
        points.iter().flat_map(extended).collect()
    })
}

/// The invariants of boxes and of the list of them.
fn check_boxes(space: &Space<'_>, union: &Union) {
    let boxes = union.boxes();
    let again = Union::new(boxes.iter().rev().chain(boxes).cloned().collect(), &mut Budget::of(PLENTY)).unwrap();
    assert_eq!(union, &again, "one order, and each box once");
    for conjunction in boxes {
        assert!(conjunction.sides().map(|(axis, _)| axis).is_sorted_by(|one, next| one < next));
        for (axis, side) in conjunction.sides() {
            assert!((1..u64::from(space.count(axis))).contains(&side.count()), "a side holds some classes, not all");
            assert!(side.classes().all(|class| class < space.count(axis)));
        }
    }
}

// Classes.
proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_class_meets_a_condition_exactly_when_its_example_does(question in question()) {
        let asked = question.ask();
        for (position, (axis, (_, domain))) in asked.axes.iter().zip(&question.axes).enumerate() {
            for condition in question.conditions_on(&question.tied_with(position)) {
                let meeting = meeting(&asked.space, &asked.axes, position, &condition);
                for class in 0..asked.space.count(*axis) {
                    let example = asked.space.example(*axis, class);
                    prop_assert_eq!(meeting.contains(class), meets(*domain, example, &condition), "{:?} {:?}", example, condition);
                }
            }
        }
    }

    #[test]
    fn classes_have_valid_examples_and_leave_no_kind_of_value_out(question in question()) {
        let asked = question.ask();
        for (position, (axis, (_, domain))) in asked.axes.iter().zip(&question.axes).enumerate() {
            let examples: Vec<Option<&str>> =
                (0..asked.space.count(*axis)).map(|class| asked.space.example(*axis, class)).collect();
            prop_assert_eq!(examples.iter().collect::<BTreeSet<_>>().len(), examples.len());
            prop_assert_eq!(asked.space.absent(*axis), examples.iter().position(Option::is_none).map(|class| class as u32));
            for example in &examples {
                prop_assert!(is_value(*domain, *example), "{:?} is no value of {:?}", example, domain);
            }
            let conditions = question.conditions_on(&question.tied_with(position));
            let answers = |value: Option<&str>| -> Vec<bool> {
                conditions.iter().map(|condition| meets(*domain, value, condition)).collect()
            };
            let known: BTreeSet<Vec<bool>> = examples.iter().map(|example| answers(*example)).collect();
            for value in question.worth_trying(position) {
                prop_assert!(known.contains(&answers(value.as_deref())), "{:?} is in no class", value);
            }
        }
    }

    #[test]
    fn class_sets_are_sets(
        one in class_set(),
        other in class_set(),
        count in 0_u32..50,
    ) {
        let (set, model) = one;
        let (set_2, model_2) = other;
        let of = |model: &BTreeSet<u32>| ClassSet::from_runs(model.iter().rev().map(|class| *class..*class + 1));
        prop_assert_eq!(&set, &of(&model));
        prop_assert_eq!(set == set_2, model == model_2);
        prop_assert_eq!(set.is_empty(), model.is_empty());
        prop_assert_eq!(set.count(), model.len() as u64);
        prop_assert!(set.classes().eq(model.iter().copied()));
        prop_assert!(set.classes().rev().eq(model.iter().rev().copied()));
        for class in 0..50 {
            prop_assert_eq!(set.contains(class), model.contains(&class));
            prop_assert_eq!(ClassSet::one(class), of(&BTreeSet::from([class])));
        }
        prop_assert_eq!(set.intersection(&set_2), of(&(&model & &model_2)));
        prop_assert_eq!(ClassSet::union([&set, &set_2]), of(&(&model | &model_2)));
        prop_assert_eq!(set.complement(count), of(&(0..count).filter(|class| !model.contains(class)).collect()));
        prop_assert_eq!(set.is_disjoint(&set_2), model.is_disjoint(&model_2));
        prop_assert_eq!(set.is_subset(&set_2), model.is_subset(&model_2));
        prop_assert_eq!(ClassSet::all(count), of(&(0..count).collect()));
        let runs: Vec<Range<u32>> = set.runs().collect();
        prop_assert!(runs.iter().all(|run| run.start < run.end));
        prop_assert!(runs.iter().zip(runs.iter().skip(1)).all(|(run, next)| run.end < next.start));
    }
}

/// The classes of an axis that meet a condition.
fn meeting(space: &Space<'_>, axes: &[Axis], position: usize, condition: &Condition) -> ClassSet {
    let term = vec![(position, condition.clone())];
    match space.conjunction(&write(axes, &term)) {
        None => ClassSet::default(),
        Some(conjunction) => {
            conjunction.side(axes[position]).cloned().unwrap_or_else(|| ClassSet::all(space.count(axes[position])))
        }
    }
}

/// Runs in any order: overlapping, touching, empty and backwards.
fn class_set() -> impl Strategy<Value = (ClassSet, BTreeSet<u32>)> {
    vec((0_u32..40, 0_u32..40), 0..6).prop_map(|runs| {
        let runs: Vec<Range<u32>> = runs.into_iter().map(|(start, end)| start..end.min(start + 9)).collect();
        (ClassSet::from_runs(runs.iter().cloned()), runs.into_iter().flatten().collect())
    })
}

// Single values.
proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_text_is_a_value_where_the_syntax_of_kubernetes_says_so(text in text()) {
        for domain in DOMAINS {
            prop_assert_eq!(domain.contains(&text), is_value(domain, Some(&text)), "{:?}", domain);
            if domain.contains(&text) {
                prop_assert_eq!(domain.number(&text), number(domain, &text), "{:?}", domain);
            }
        }
    }

    #[test]
    fn the_spellings_of_a_number_are_all_the_values_that_are_read_as_it(
        number in prop_oneof![any::<i64>(), -3_i64..2_000, select(vec![i64::MIN, i64::MAX])],
    ) {
        for domain in DOMAINS {
            let spellings: Vec<String> = domain.spellings(number).collect();
            // Whatever is read as the number is its digits behind some zeros.
            let readable = (0..70).map(|zeros| "0".repeat(zeros) + &number.to_string()).filter(|text| {
                is_value(domain, Some(text)) && logic_oracle::number(domain, text) == Some(number)
            });
            prop_assert_eq!(&spellings, &readable.collect::<Vec<_>>(), "{:?}", domain);
            prop_assert!(spellings.iter().all(|text| domain.number(text) == Some(number)));
        }
    }
}

#[test]
fn words_are_values_and_no_numbers_and_never_the_same_twice() {
    for domain in DOMAINS {
        let words: Vec<String> = domain.words().take(200).collect();
        assert_eq!(words.is_empty(), matches!(domain, Domain::Listed(_)));
        assert_eq!(words.iter().collect::<BTreeSet<_>>().len(), words.len());
        for word in words {
            assert!(is_value(domain, Some(&word)) && number(domain, &word).is_none(), "{word:?} in {domain:?}");
        }
    }
}

/// Texts near the edges of the syntax.
fn text() -> impl Strategy<Value = String> {
    let piece = select(vec!["", "a", "Z", "09", "5", "-", "_", ".", "/", "+", " ", "é", "a.b", "a-b", "NoExecute"]);
    let digits = (0_usize..64, any::<u64>()).prop_map(|(zeros, number)| "0".repeat(zeros) + &number.to_string());
    let short = vec(piece, 0..6).prop_map(|pieces| pieces.concat());
    let long = |lengths: Range<usize>| {
        (select(vec!["a", "a.", "5", "A"]), lengths)
            .prop_map(|(text, length)| text.repeat(length).chars().take(length).collect::<String>())
    };
    let prefixed = (long(250..256), long(61..66)).prop_map(|(prefix, name)| format!("{prefix}/{name}"));
    prop_oneof![4 => short, 1 => long(60..67), 1 => prefixed, 2 => digits, 1 => any::<i64>().prop_map(|number| number.to_string())]
}
