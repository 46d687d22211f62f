//! Single questions: the ones that are easily got wrong, and the ones that are easily too much work.

#![allow(clippy::restriction)]

mod logic_oracle;

use std::collections::BTreeSet;

use logic_oracle::{Answer, Condition, PLENTY, Question, Term, meets};
use placement_guard::logic::{Budget, Domain, Exhausted};
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

mod numbers {
    use super::*;

    #[test]
    fn between_four_and_six_but_not_5_lies_05() {
        let question = labels(1, vec![vec![above(0, 4), below(0, 6), not_in(0, &["5"])]], vec![]);
        assert_eq!(agreed(&question), escapes(&[Some("05")]));
    }

    #[test]
    fn between_four_and_six_lies_nothing_once_all_63_spellings_are_named() {
        let spellings: Vec<String> = (0..63).map(|zeros| "0".repeat(zeros) + "5").collect();
        let spellings: Vec<&str> = spellings.iter().map(String::as_str).collect();
        let but = |named: &[&str]| labels(1, vec![vec![above(0, 4), below(0, 6), not_in(0, named)]], vec![]);
        assert_eq!(agreed(&but(&spellings)), Answer::Contained);
        for missing in [0, 31, 62] {
            let rest: Vec<&str> = spellings.iter().copied().filter(|text| *text != spellings[missing]).collect();
            assert_eq!(agreed(&but(&rest)), escapes(&[Some(spellings[missing])]));
        }
    }

    #[test]
    fn between_four_and_six_but_not_5_lies_no_canonical_decimal() {
        let but_5 = vec![above(0, 4), below(0, 6), not_in(0, &["5"])];
        assert_eq!(agreed(&of(&[Domain::Text], vec![but_5], vec![])), Answer::Contained);
        let but_05 = vec![above(0, 4), below(0, 6), not_in(0, &["05"])];
        assert_eq!(agreed(&of(&[Domain::Text], vec![but_05], vec![])), escapes(&[Some("5")]));
    }

    #[test]
    fn a_leading_zero_is_a_number_of_a_label_and_a_word_of_a_taint() {
        let inside = vec![vec![is_in(0, &["007"])]];
        let outside = vec![vec![above(0, 6), below(0, 8)]];
        assert_eq!(agreed(&labels(1, inside.clone(), outside.clone())), Answer::Contained);
        assert_eq!(agreed(&of(&[Domain::Text], inside, outside)), escapes(&[Some("007")]));
    }

    #[test]
    fn nothing_is_below_zero_or_above_the_last_number() {
        for domain in [Domain::OptionalText, Domain::Text] {
            for nothing in [below(0, 0), below(0, -1), below(0, i64::MIN), above(0, i64::MAX)] {
                assert_eq!(agreed(&of(&[domain], vec![vec![nothing]], vec![])), Answer::Contained);
            }
            for something in [below(0, 1), above(0, i64::MAX - 1), above(0, i64::MIN), below(0, i64::MAX)] {
                assert_ne!(agreed(&of(&[domain], vec![vec![something]], vec![])), Answer::Contained);
            }
        }
    }

    #[test]
    fn the_last_number_has_one_spelling_more_than_the_zeros_that_fit_before_it() {
        let spellings: Vec<String> = (0..45).map(|zeros| "0".repeat(zeros) + "9223372036854775807").collect();
        let spellings: Vec<&str> = spellings.iter().map(String::as_str).collect();
        let last = |named: &[&str]| labels(1, vec![vec![above(0, i64::MAX - 1), not_in(0, named)]], vec![]);
        assert_eq!(agreed(&last(&spellings)), Answer::Contained);
        assert_eq!(agreed(&last(&spellings[..44])), escapes(&[Some(spellings[44])]));
    }

    #[test]
    fn one_more_than_the_last_number_is_a_word() {
        let word = is_in(0, &["9223372036854775808"]);
        let number = vec![vec![above(0, -1)]];
        assert_ne!(agreed(&labels(1, vec![vec![word]], number.clone())), Answer::Contained);
        assert_eq!(agreed(&labels(1, vec![vec![is_in(0, &["9223372036854775807"])]], number)), Answer::Contained);
    }

    #[test]
    fn what_is_above_or_below_is_a_number_and_covers_no_word() {
        let every_number = || vec![vec![above(0, 5)], vec![below(0, 6)]];
        let numbers = vec![vec![above(0, i64::MIN)]];
        assert_eq!(agreed(&labels(1, numbers.clone(), every_number())), Answer::Contained);
        assert_eq!(agreed(&labels(1, every_number(), numbers)), Answer::Contained);
        let Answer::Escapes(point) = agreed(&labels(1, vec![vec![present(0)]], every_number())) else { panic!() };
        let word = point[0].as_deref();
        assert!(word.is_some() && !meets(Domain::OptionalText, word, &Condition::Above(i64::MIN)), "{word:?}");
    }

    #[test]
    fn a_gap_between_two_ranges_is_found_at_its_one_number() {
        let outside = vec![vec![below(0, 5)], vec![above(0, 5)]];
        let question = labels(1, vec![vec![above(0, -1), below(0, 10)]], outside);
        assert_eq!(agreed(&question), escapes(&[Some("5")]));
    }

    #[test]
    fn names_and_listed_values_are_never_numbers() {
        for domain in [Domain::Name, Domain::Listed(&["5", "b"])] {
            for number in [above(0, i64::MIN), below(0, i64::MAX)] {
                assert_eq!(agreed(&of(&[domain], vec![vec![number]], vec![])), Answer::Contained);
            }
            assert_eq!(
                agreed(&of(&[domain], vec![vec![is_in(0, &["5"])]], vec![vec![above(0, 4)]])),
                escapes(&[Some("5")])
            );
        }
    }
}

mod absence {
    use super::*;

    #[test]
    fn absence_meets_not_in_and_absent_and_nothing_else() {
        let admits_absence = [not_in(0, &["a"]), absent(0)];
        let refuses_absence = [is_in(0, &["a", ""]), present(0), above(0, -1), below(0, 9)];
        for condition in admits_absence {
            assert_eq!(agreed(&labels(1, vec![vec![absent(0)]], vec![vec![condition]])), Answer::Contained);
        }
        for condition in refuses_absence {
            assert_eq!(agreed(&labels(1, vec![vec![absent(0)]], vec![vec![condition]])), escapes(&[None]));
        }
    }

    #[test]
    fn absence_is_not_the_empty_value() {
        assert_eq!(agreed(&labels(1, vec![vec![is_in(0, &[""])]], vec![vec![absent(0)]])), escapes(&[Some("")]));
        assert_eq!(agreed(&labels(1, vec![vec![absent(0)]], vec![vec![is_in(0, &[""])]])), escapes(&[None]));
    }

    #[test]
    fn present_and_absent_are_everything_together() {
        assert_eq!(agreed(&labels(1, vec![vec![]], vec![vec![present(0)], vec![absent(0)]])), Answer::Contained);
        assert_eq!(agreed(&labels(1, vec![vec![present(0), absent(0)]], vec![])), Answer::Contained);
    }

    #[test]
    fn what_a_taint_must_have_is_never_absent() {
        let anywhere = vec![vec![present(0), present(1), present(2)]];
        let taint = [Domain::Name, Domain::Text, Domain::Listed(&["NoSchedule", "NoExecute"])];
        assert_eq!(agreed(&of(&taint, vec![vec![]], anywhere)), Answer::Contained);
        assert_eq!(agreed(&of(&taint, vec![vec![absent(1)]], vec![])), Answer::Contained);
    }

    #[test]
    fn values_that_break_the_syntax_are_no_values() {
        let long = "a".repeat(64);
        let invalid = ["-5", "a_", "a/b", "ä", &long];
        assert_eq!(agreed(&labels(1, vec![vec![is_in(0, &invalid)]], vec![])), Answer::Contained);
        assert_eq!(agreed(&labels(1, vec![vec![]], vec![vec![not_in(0, &invalid)]])), Answer::Contained);
        assert_eq!(agreed(&labels(1, vec![vec![is_in(0, &[&long[1..]])]], vec![])), escapes(&[Some(&long[1..])]));
    }

    #[test]
    fn all_of_a_list_is_everything_and_no_other_word_is_left() {
        let effects = [Domain::Listed(&["NoSchedule", "NoExecute"])];
        let both = vec![vec![is_in(0, &["NoSchedule"])], vec![is_in(0, &["NoExecute"])]];
        assert_eq!(agreed(&of(&effects, vec![vec![]], both)), Answer::Contained);
        let neither = vec![vec![not_in(0, &["NoSchedule", "NoExecute"])]];
        assert_eq!(agreed(&of(&effects, neither, vec![])), Answer::Contained);
    }
}

mod together {
    use super::*;

    #[test]
    fn no_term_of_everything_and_no_union_without_terms_hold_the_same() {
        assert_eq!(agreed(&labels(0, vec![vec![]], vec![])), escapes(&[]));
        assert_eq!(agreed(&labels(0, vec![], vec![])), Answer::Contained);
        assert_eq!(agreed(&labels(0, vec![vec![]], vec![vec![]])), Answer::Contained);
        assert_eq!(agreed(&labels(1, vec![vec![]], vec![])), escapes(&[None]));
    }

    #[test]
    fn terms_that_split_one_axis_each_cover_a_box_that_neither_covers() {
        let inside = vec![vec![is_in(0, &["a", "b"]), is_in(1, &["x", "y"])]];
        let cross = vec![
            vec![is_in(0, &["a"]), is_in(1, &["x"])],
            vec![is_in(0, &["a"]), is_in(1, &["y"])],
            vec![is_in(0, &["b"]), is_in(1, &["x"])],
            vec![is_in(0, &["b"]), is_in(1, &["y"])],
        ];
        assert_eq!(agreed(&labels(2, inside.clone(), cross.clone())), Answer::Contained);
        for missing in 0..4 {
            let rest = cross.iter().enumerate().filter(|(index, _)| *index != missing).map(|(_, term)| term.clone());
            let expected = [["a", "x"], ["a", "y"], ["b", "x"], ["b", "y"]][missing];
            let question = labels(2, inside.clone(), rest.collect());
            assert_eq!(agreed(&question), escapes(&[Some(expected[0]), Some(expected[1])]));
        }
    }

    #[test]
    fn a_pinwheel_covers_with_all_its_terms_and_with_no_fewer() {
        // No two of these terms differ on one axis alone, so nothing can be merged.
        let inside = vec![vec![is_in(0, &["a", "b"]), is_in(1, &["a", "b"]), is_in(2, &["a", "b"])]];
        let outside = vec![
            vec![is_in(0, &["a"]), is_in(1, &["b"])],
            vec![is_in(1, &["a"]), is_in(2, &["b"])],
            vec![is_in(2, &["a"]), is_in(0, &["b"])],
            vec![is_in(0, &["a"]), is_in(1, &["a"]), is_in(2, &["a"])],
            vec![is_in(0, &["b"]), is_in(1, &["b"]), is_in(2, &["b"])],
        ];
        assert_eq!(agreed(&labels(3, inside.clone(), outside.clone())), Answer::Contained);
        for missing in 0..outside.len() {
            let mut rest = outside.clone();
            rest.remove(missing);
            assert_ne!(agreed(&labels(3, inside.clone(), rest)), Answer::Contained);
        }
    }

    #[test]
    fn an_axis_that_only_one_side_names_decides_nothing_unless_it_leaves_nothing() {
        let zone = vec![is_in(0, &["a"])];
        let zone_and_rack = vec![is_in(0, &["a"]), is_in(1, &["r"])];
        assert_eq!(agreed(&labels(2, vec![zone_and_rack.clone()], vec![zone.clone()])), Answer::Contained);
        assert_eq!(agreed(&labels(2, vec![zone.clone()], vec![zone_and_rack])), escapes(&[Some("a"), None]));
        let dead = vec![is_in(0, &["a"]), is_in(1, &["r"]), not_in(1, &["r"])];
        assert_eq!(agreed(&labels(2, vec![dead.clone()], vec![])), Answer::Contained);
        assert_eq!(agreed(&labels(2, vec![zone], vec![dead])), escapes(&[Some("a"), None]));
    }
}

mod facts {
    use super::*;

    /// Zone and region, as the feature's own example has them.
    fn zones(inside: Vec<Term>, outside: Vec<Term>) -> Question {
        let lies_in = |zone: &str, region: &str| (vec![is_in(0, &[zone])], vec![is_in(1, &[region])]);
        let implications = vec![lies_in("b", "east"), lies_in("c", "east"), lies_in("w", "west")];
        Question { implications, ..labels(2, inside, outside) }
    }

    #[test]
    fn a_zone_widens_to_its_region_only_when_the_facts_say_so() {
        let (zone, region) = (vec![vec![is_in(0, &["b", "c"])]], vec![vec![is_in(1, &["east"])]]);
        assert_eq!(agreed(&zones(zone.clone(), region.clone())), Answer::Contained);
        assert_eq!(agreed(&labels(2, zone.clone(), region.clone())), escapes(&[Some("b"), None]));
        // A node may carry the region and no zone.
        assert_eq!(agreed(&zones(region.clone(), zone)), escapes(&[None, Some("east")]));
        assert_eq!(agreed(&zones(vec![vec![is_in(0, &["b", "w"])]], region)), escapes(&[Some("w"), Some("west")]));
    }

    #[test]
    fn implications_are_followed_along_a_chain_and_never_backwards() {
        let step = |from, to| (vec![is_in(from, &["a"])], vec![is_in(to, &["a"])]);
        let chain = |inside, outside| Question {
            implications: vec![step(2, 3), step(0, 1), step(1, 2)],
            ..labels(4, vec![vec![is_in(inside, &["a"])]], vec![vec![is_in(outside, &["a"])]])
        };
        assert_eq!(agreed(&chain(0, 3)), Answer::Contained);
        assert_eq!(agreed(&chain(3, 0)), escapes(&[None, None, None, Some("a")]));
    }

    #[test]
    fn an_implication_is_followed_from_what_does_not_hold_to_what_cannot_have_held() {
        // Whatever is outside zone east is not b.
        let question = zones(vec![vec![not_in(1, &["east"])]], vec![vec![not_in(0, &["b", "c"])]]);
        assert_eq!(agreed(&question), Answer::Contained);
    }

    #[test]
    fn a_premise_that_nothing_meets_says_nothing_and_a_conclusion_that_nothing_meets_excludes_the_premise() {
        let nothing = || vec![is_in(0, &["a"]), is_in(0, &["b"])];
        let question =
            |when, then| Question { implications: vec![(when, then)], ..labels(1, vec![vec![present(0)]], vec![]) };
        assert_ne!(agreed(&question(nothing(), vec![absent(0)])), Answer::Contained);
        assert_eq!(agreed(&question(vec![present(0)], nothing())), Answer::Contained);
        let zone_a = vec![is_in(0, &["a"])];
        assert_eq!(
            agreed(&Question { inside: vec![zone_a.clone()], ..question(zone_a, nothing()) }),
            Answer::Contained
        );
    }

    #[test]
    fn an_implication_between_conditions_of_one_axis_counts() {
        // Whatever is above 4 is below 10.
        let question = |inside| Question {
            implications: vec![(vec![above(0, 4)], vec![below(0, 10)])],
            ..labels(1, vec![inside], vec![vec![below(0, 10)]])
        };
        assert_eq!(agreed(&question(vec![above(0, 7)])), Answer::Contained);
        assert_ne!(agreed(&question(vec![present(0)])), Answer::Contained);
    }

    #[test]
    fn under_facts_that_contradict_each_other_everything_is_contained_in_nothing() {
        let contradiction =
            |condition: &dyn Fn() -> (usize, Condition), other: &dyn Fn() -> (usize, Condition)| Question {
                implications: vec![(vec![], vec![condition()]), (vec![], vec![other()])],
                ..labels(2, vec![vec![]], vec![])
            };
        assert_eq!(agreed(&contradiction(&|| present(0), &|| absent(0))), Answer::Contained);
        assert_eq!(agreed(&contradiction(&|| present(0), &|| absent(1))), escapes(&[Some("other"), None]));
        let by_chain = Question {
            implications: vec![
                (vec![], vec![is_in(0, &["a"])]),
                (vec![is_in(0, &["a"])], vec![is_in(1, &["b"])]),
                (vec![present(1)], vec![not_in(0, &["a"])]),
            ],
            ..labels(2, vec![vec![]], vec![])
        };
        assert_eq!(agreed(&by_chain), Answer::Contained);
    }
}

mod ties {
    use super::*;

    fn tied(count: usize, ties: &[(usize, usize)], inside: Term, outside: Term) -> Question {
        Question { ties: ties.to_vec(), ..labels(count, vec![inside], vec![outside]) }
    }

    #[test]
    fn an_alias_carries_a_set_of_values_over_but_not_back() {
        let values = ["a", "b"];
        let over = tied(2, &[(0, 1)], vec![is_in(0, &values)], vec![is_in(1, &values)]);
        assert_eq!(agreed(&over), Answer::Contained);
        let back = tied(2, &[(0, 1)], vec![is_in(1, &values)], vec![is_in(0, &values)]);
        assert_eq!(agreed(&back), escapes(&[None, Some("a")]));
        let fewer = tied(2, &[(0, 1)], vec![is_in(0, &values)], vec![is_in(1, &["a"])]);
        assert_eq!(agreed(&fewer), escapes(&[Some("b"), Some("b")]));
    }

    #[test]
    fn an_alias_carries_over_what_no_term_names() {
        let numbers = tied(2, &[(0, 1)], vec![above(0, 4)], vec![above(1, 4)]);
        assert_eq!(agreed(&numbers), Answer::Contained);
        let anything = tied(2, &[(0, 1)], vec![present(0)], vec![present(1)]);
        assert_eq!(agreed(&anything), Answer::Contained);
        let others = tied(2, &[(0, 1)], vec![present(0), not_in(0, &["a"])], vec![not_in(1, &["a"])]);
        assert_eq!(agreed(&others), Answer::Contained);
    }

    #[test]
    fn a_spelling_is_carried_over_as_it_is() {
        let spelling = tied(2, &[(0, 1)], vec![is_in(0, &["05"])], vec![is_in(1, &["5"])]);
        assert_eq!(agreed(&spelling), escapes(&[Some("05"), Some("05")]));
    }

    #[test]
    fn aliases_are_followed_along_a_chain() {
        let chain = [(0, 1), (1, 2)];
        let over = tied(3, &chain, vec![is_in(0, &["a"])], vec![is_in(1, &["a"]), is_in(2, &["a"])]);
        assert_eq!(agreed(&over), Answer::Contained);
        let half = tied(3, &chain, vec![is_in(1, &["a"])], vec![is_in(0, &["a"])]);
        assert_eq!(agreed(&half), escapes(&[None, Some("a"), Some("a")]));
        let conflict = tied(3, &chain, vec![is_in(0, &["a", "b"]), is_in(2, &["b", "c"])], vec![is_in(1, &["b"])]);
        assert_eq!(agreed(&conflict), Answer::Contained);
    }

    #[test]
    fn values_that_conflict_across_an_alias_exclude_each_other() {
        for (old, new) in [(is_in(0, &["a"]), is_in(1, &["b"])), (present(0), absent(1)), (above(0, 5), below(1, 6))] {
            assert_eq!(agreed(&tied(2, &[(0, 1)], vec![old, new], vec![absent(0), present(0)])), Answer::Contained);
        }
        let room = vec![is_in(0, &["a", "b"]), is_in(1, &["b", "c"])];
        assert_eq!(agreed(&tied(2, &[(0, 1)], room, vec![is_in(0, &["a"])])), escapes(&[Some("b"), Some("b")]));
    }

    #[test]
    fn two_aliases_of_one_key_agree_and_so_do_keys_in_a_circle() {
        let fork = tied(3, &[(0, 2), (1, 2)], vec![is_in(0, &["a"]), present(1)], vec![is_in(1, &["a"])]);
        assert_eq!(agreed(&fork), Answer::Contained);
        let circle = tied(3, &[(0, 1), (1, 2), (2, 0)], vec![is_in(1, &["a"])], vec![is_in(0, &["a"])]);
        assert_eq!(agreed(&circle), Answer::Contained);
    }

    #[test]
    fn a_key_that_is_its_own_alias_says_nothing() {
        let question = tied(1, &[(0, 0)], vec![is_in(0, &["a", "b"])], vec![is_in(0, &["a"])]);
        assert_eq!(agreed(&question), escapes(&[Some("b")]));
        let free = tied(1, &[(0, 0)], vec![present(0)], vec![is_in(0, &["a"])]);
        assert_ne!(agreed(&free), Answer::Contained);
    }

    #[test]
    fn a_tie_from_an_axis_that_is_never_absent_always_binds() {
        let texts = |inside, outside| Question {
            ties: vec![(0, 1)],
            ..of(&[Domain::Text, Domain::Text], vec![vec![inside]], vec![vec![outside]])
        };
        // Nothing is asked of the first axis, and still it must follow.
        assert_eq!(agreed(&texts(is_in(1, &["b"]), is_in(1, &["a"]))), escapes(&[Some("b"), Some("b")]));
        assert_eq!(agreed(&texts(is_in(1, &["b"]), is_in(0, &["b"]))), Answer::Contained);
    }

    #[test]
    fn a_tie_and_an_implication_work_together() {
        let question = Question {
            implications: vec![(vec![is_in(1, &["b"])], vec![is_in(2, &["east"])])],
            ..tied(3, &[(0, 1)], vec![is_in(0, &["b"])], vec![is_in(2, &["east"])])
        };
        assert_eq!(agreed(&question), Answer::Contained);
    }
}

mod work {
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
}

mod scale {
    use super::*;

    /// Every axis has one of so many values less one, and a term for each two axes and value that they share.
    fn pigeonhole(count: usize, shared: impl Fn(usize, usize) -> bool) -> Question {
        let holes: Vec<String> = (1..count).map(|hole| format!("hole-{hole}")).collect();
        let holes: Vec<&str> = holes.iter().map(String::as_str).collect();
        let inside = (0..count).map(|axis| is_in(axis, &holes)).collect();
        let pairs = (0..count).flat_map(|one| (one + 1..count).map(move |other| (one, other)));
        let pairs = pairs.filter(|(one, other)| shared(*one, *other));
        let outside = pairs.flat_map(|(one, other)| {
            holes.iter().map(move |hole| vec![is_in(one, &[*hole]), is_in(other, &[*hole])]).collect::<Vec<Term>>()
        });
        labels(count, vec![inside], outside.collect())
    }

    #[test]
    fn more_pigeons_than_holes_share_one() {
        for count in 2..=10 {
            let answer = measured(&format!("pigeonhole, {count} axes"), &pigeonhole(count, |_, _| true));
            assert_eq!(answer, Answer::Contained, "{count} axes");
        }
    }

    #[test]
    fn pigeons_that_may_share_escape() {
        for count in 2..=10 {
            let but_one = pigeonhole(count, |one, other| (one, other) != (0, count - 1));
            let Answer::Escapes(point) = measured(&format!("pigeonhole, {count} axes, one pair may share"), &but_one)
            else {
                panic!("{count} axes")
            };
            assert_eq!(point.first(), point.last());
            assert_eq!(point.iter().collect::<BTreeSet<_>>().len(), count - 1);
            let but_the_first = pigeonhole(count, |one, _| one != 0);
            let answer = measured(&format!("pigeonhole, {count} axes, one may share with any"), &but_the_first);
            assert!(matches!(answer, Answer::Escapes(_)), "{count} axes");
        }
    }

    /// In an order that is neither the written one nor its reverse.
    fn reordered<T: Clone>(list: &[T]) -> Vec<T> {
        let (odd, even): (Vec<_>, Vec<_>) = list.iter().cloned().enumerate().partition(|(index, _)| index % 2 == 1);
        odd.into_iter().chain(even.into_iter().rev()).map(|(_, item)| item).collect()
    }

    const MANY: usize = 5_000;

    #[test]
    fn five_thousand_hostnames_are_the_same_in_another_order_and_fewer_with_one_missing() {
        let hosts: Vec<Term> = (0..MANY).map(|host| vec![is_in(0, &[&format!("host-{host}")])]).collect();
        let same = labels(1, hosts.clone(), reordered(&hosts));
        assert_eq!(measured("5,000 hostnames", &same), Answer::Contained);
        let missing = hosts.iter().filter(|host| **host != vec![is_in(0, &["host-4321"])]).cloned().collect();
        let fewer = labels(1, hosts.clone(), missing);
        assert_eq!(measured("5,000 hostnames, one missing", &fewer), escapes(&[Some("host-4321")]));
        let more = Question { inside: fewer.outside, outside: fewer.inside, ..fewer };
        assert_eq!(measured("5,000 hostnames, one added", &more), Answer::Contained);
    }

    #[test]
    fn five_thousand_pairs_are_the_same_in_another_order_and_not_with_one_changed() {
        let pair =
            |zone: usize, rack: usize| vec![is_in(0, &[&format!("zone-{zone}")]), is_in(1, &[&format!("rack-{rack}")])];
        let pairs: Vec<Term> = (0..MANY).map(|index| pair(index, index)).collect();
        let same = labels(2, pairs.clone(), reordered(&pairs));
        assert_eq!(measured("5,000 pairs", &same), Answer::Contained);
        let mut changed = reordered(&pairs);
        let position = changed.iter().position(|term| *term == pair(4321, 4321)).unwrap();
        changed[position] = pair(4321, 17);
        let lost = escapes(&[Some("zone-4321"), Some("rack-4321")]);
        assert_eq!(measured("5,000 pairs, one changed", &labels(2, pairs.clone(), changed.clone())), lost);
        let gained = escapes(&[Some("zone-4321"), Some("rack-17")]);
        assert_eq!(measured("5,000 pairs, one changed, the other way", &labels(2, changed, pairs)), gained);
    }

    #[test]
    fn two_thousand_terms_of_a_key_each_leave_the_node_without_any() {
        let terms: Vec<Term> = (0..2_000).map(|axis| vec![is_in(axis, &["a"])]).collect();
        let same = labels(2_000, terms.clone(), reordered(&terms));
        assert_eq!(measured("2,000 terms of a key each", &same), Answer::Contained);
        let everything = labels(2_000, vec![vec![]], terms);
        assert_eq!(measured("everything in 2,000 terms of a key each", &everything), escapes(&vec![None; 2_000]));
    }

    #[test]
    fn one_term_of_five_thousand_keys_is_itself_and_loses_the_node_of_a_key_added() {
        let term: Term = (0..MANY).map(|axis| is_in(axis, &["a", "b"])).collect();
        let same = labels(MANY, vec![term.clone()], vec![reordered(&term)]);
        assert_eq!(measured("one term of 5,000 keys", &same), Answer::Contained);
        let fewer = labels(MANY, vec![term.clone()], vec![term[1..].to_vec()]);
        assert_eq!(measured("one term of 5,000 keys, one key taken away", &fewer), Answer::Contained);
        let Answer::Escapes(point) =
            measured("one term of 5,000 keys, one key added", &labels(MANY, vec![term[1..].to_vec()], vec![term]))
        else {
            panic!()
        };
        assert_eq!(point[0], None);
    }

    /// Of a chain of 250 the answer is known; of one of 1,000 it may not be, but it is not wrong, and its depth is not the
    /// stack's.
    fn followed(what: &str, chain: impl Fn(usize) -> Question, expected: impl Fn(usize) -> Answer) {
        assert_eq!(measured(&format!("250 {what}"), &chain(250)), expected(250), "{what}");
        let answer = measured(&format!("1,000 {what}"), &chain(1_000));
        assert!(answer == Answer::Undecided || answer == expected(1_000), "{what}: {answer:?}");
    }

    #[test]
    fn implications_are_followed_as_far_as_they_go() {
        let chain = |count: usize, outside| Question {
            implications: (1..count)
                .rev()
                .map(|axis| (vec![is_in(axis - 1, &["a"])], vec![is_in(axis, &["a"])]))
                .collect(),
            ..labels(count, vec![vec![is_in(0, &["a"])]], vec![vec![outside]])
        };
        let to_the_end = |count: usize| chain(count, is_in(count - 1, &["a"]));
        followed("implications", to_the_end, |_| Answer::Contained);
        let none_lost = |count: usize| chain(count, not_in(count - 1, &["a"]));
        followed("implications, all met", none_lost, |count| escapes(&vec![Some("a"); count]));
        let backwards = |count: usize| Question {
            inside: vec![vec![not_in(count - 1, &["a"])]],
            ..chain(count, not_in(0, &["a"]))
        };
        followed("implications, backwards", backwards, |_| Answer::Contained);
    }

    #[test]
    fn aliases_are_followed_as_far_as_they_go() {
        let chain = |count: usize, outside| Question {
            ties: (1..count).map(|axis| (axis - 1, axis)).collect(),
            ..labels(count, vec![vec![is_in(0, &["a", "b"])]], vec![vec![outside]])
        };
        let to_the_end = |count: usize| chain(count, is_in(count - 1, &["a", "b"]));
        followed("aliases", to_the_end, |_| Answer::Contained);
        let one_lost = |count: usize| chain(count, is_in(count - 1, &["a"]));
        followed("aliases, one value lost", one_lost, |count| escapes(&vec![Some("b"); count]));
    }
}
