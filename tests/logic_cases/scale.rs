//! Questions of thousands of terms.

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
        implications: (1..count).rev().map(|axis| (vec![is_in(axis - 1, &["a"])], vec![is_in(axis, &["a"])])).collect(),
        ..labels(count, vec![vec![is_in(0, &["a"])]], vec![vec![outside]])
    };
    let to_the_end = |count: usize| chain(count, is_in(count - 1, &["a"]));
    followed("implications", to_the_end, |_| Answer::Contained);
    let none_lost = |count: usize| chain(count, not_in(count - 1, &["a"]));
    followed("implications, all met", none_lost, |count| escapes(&vec![Some("a"); count]));
    let backwards =
        |count: usize| Question { inside: vec![vec![not_in(count - 1, &["a"])]], ..chain(count, not_in(0, &["a"])) };
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
