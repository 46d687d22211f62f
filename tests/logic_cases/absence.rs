//! Labels that are absent, and values that cannot be.

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
