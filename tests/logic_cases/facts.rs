//! Implications between labels.

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
    assert_eq!(agreed(&Question { inside: vec![zone_a.clone()], ..question(zone_a, nothing()) }), Answer::Contained);
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
    let contradiction = |condition: &dyn Fn() -> (usize, Condition), other: &dyn Fn() -> (usize, Condition)| Question {
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
