//! Numbers, their spellings, and the gaps between them.

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
