//! Documents nested so deep that a reader that calls itself for every level would run out of stack.

use crate::document::{Place, places, places_below};
use crate::{answer, assert_noticed_or_without_influence, module, payload, update};

fn lists(levels: usize) -> String {
    format!("{}{}", "[".repeat(levels), "]".repeat(levels))
}

fn objects(levels: usize) -> String {
    format!("{}null{}", r#"{"a":"#.repeat(levels), "}".repeat(levels))
}

fn without_request(place: &Place) -> String {
    place.to_string().trim_start_matches("request.").to_owned()
}

#[test]
fn ten_thousand_levels_in_what_is_judged_are_refused_by_name() {
    let payload = payload(update());
    for place in places_below(&payload, &["settings", "request.object.spec.nodeAffinity", "request.operation"]) {
        for deep in [lists(10_000), objects(10_000)] {
            let response = answer(place.spliced(&payload, &deep).as_bytes());
            assert_eq!(response.code, Some(422), "{place}: {response:?}");
            let message = response.message.unwrap();
            assert!(message.contains(&without_request(&place)), "does not name `{place}`: {message}");
        }
    }
}

#[test]
fn ten_thousand_levels_anywhere_are_refused_by_name_or_make_no_difference() {
    let payload = payload(update());
    let untouched = answer(payload.to_string().as_bytes());
    for place in places(&payload) {
        for deep in [lists(10_000), objects(10_000)] {
            let changed = place.spliced(&payload, &deep);
            assert_noticed_or_without_influence(changed.as_bytes(), &without_request(&place), &untouched);
        }
    }
}

#[test]
fn levels_that_are_never_closed_are_unreadable() {
    for levels in [200, 10_000, 3_000_000] {
        for opening in ["[", r#"{"a":"#, r#"{"request":"#] {
            let response = answer(opening.repeat(levels.min(3_000_000 / opening.len())).as_bytes());
            assert_eq!(response.code, Some(422), "{response:?}");
        }
    }
}

#[test]
fn settings_of_ten_thousand_levels_are_not_valid() {
    for deep in [lists(10_000), objects(10_000), format!(r#"{{"volumeNodeAffinity":{}}}"#, objects(10_000))] {
        let verdict = module().validate_settings(deep.as_bytes());
        assert!(!verdict.valid && verdict.message.is_some_and(|message| message.len() < 1000));
    }
}
