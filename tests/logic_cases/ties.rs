//! Aliases: two keys with the same value.

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
