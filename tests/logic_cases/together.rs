//! Terms that only together cover what another term admits.

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

/// Terms on three axes from this one on that cover every combination of `a` and `b` there, and with one fewer do not.
fn pinwheel(first: usize, missing: Option<usize>) -> Vec<Term> {
    let [one, two, three] = [first, first + 1, first + 2];
    let all = vec![
        vec![is_in(one, &["a"]), is_in(two, &["b"])],
        vec![is_in(two, &["a"]), is_in(three, &["b"])],
        vec![is_in(three, &["a"]), is_in(one, &["b"])],
        vec![is_in(one, &["a"]), is_in(two, &["a"]), is_in(three, &["a"])],
        vec![is_in(one, &["b"]), is_in(two, &["b"]), is_in(three, &["b"])],
    ];
    all.into_iter().enumerate().filter(|(index, _)| Some(*index) != missing).map(|(_, term)| term).collect()
}

#[test]
fn a_point_must_escape_the_terms_of_every_independent_group_of_axes() {
    let inside: Term = (0..6).map(|axis| is_in(axis, &["a", "b"])).collect();
    for (first, second) in [(None, None), (None, Some(3)), (Some(3), None), (Some(0), Some(4)), (Some(2), Some(1))] {
        for order in [[(0, first), (3, second)], [(3, first), (0, second)]] {
            let outside = order.into_iter().flat_map(|(axis, missing)| pinwheel(axis, missing)).collect();
            let is_contained = agreed(&labels(6, vec![inside.clone()], outside)) == Answer::Contained;
            assert_eq!(is_contained, first.is_none() || second.is_none(), "{order:?}");
        }
    }
}
