//! Which of the points that escape is shown.

use super::*;

/// A term that no point meets: it only says which values and thresholds there are.
fn mentioning(conditions: &[(usize, Condition)]) -> Term {
    conditions.iter().cloned().chain([is_in(0, &["a"]), is_in(0, &["b"])]).collect()
}

#[test]
fn a_value_that_someone_wrote_is_shown_before_a_number_that_nothing_names() {
    let inside = vec![vec![above(0, 4)], mentioning(&[is_in(0, &["7", "8"])])];
    assert_eq!(agreed(&labels(1, inside, vec![vec![is_in(0, &["9"])]])), escapes(&[Some("7")]));
}

#[test]
fn of_numbers_that_nothing_names_the_lowest_is_shown() {
    let inside = vec![vec![above(0, 4)], mentioning(&[above(0, 20)])];
    assert_eq!(agreed(&labels(1, inside, vec![vec![is_in(0, &["9"])]])), escapes(&[Some("5")]));
}

#[test]
fn a_value_that_someone_wrote_is_shown_before_absence() {
    let inside = vec![vec![not_in(0, &["c"])], mentioning(&[above(0, 20)])];
    assert_eq!(agreed(&labels(1, inside, vec![vec![is_in(0, &["d"])]])), escapes(&[Some("a")]));
}
