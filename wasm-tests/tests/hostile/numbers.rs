//! Numbers where none belong, and numbers that no integer or floating-point type holds.

use crate::document::{places, places_below};
use crate::{answer, assert_noticed_or_without_influence, assert_unreadable, payload, update};

const NUMBERS: [&str; 8] =
    ["-1", "-0", "0.1", "1e400", "-1e400", "1e-400", "18446744073709551616", "1e99999999999999999999"];

const NOT_NUMBERS: [&str; 8] = ["01", "+1", ".5", "1.", "1e", "NaN", "-Infinity", "0x10"];

#[test]
fn a_number_anywhere_in_a_node_affinity_is_refused_by_name() {
    let payload = payload(update());
    for place in places_below(&payload, &["request.object.spec.nodeAffinity"]) {
        let path = place.to_string();
        let path = path.strip_prefix("request.").unwrap();
        for number in NUMBERS {
            assert_unreadable(place.spliced(&payload, number).as_bytes(), path);
        }
    }
}

/// Where `01` stops being a number is a reader's own affair, so the complaint may be about the object around it.
#[test]
fn what_only_looks_like_a_number_is_unreadable() {
    let payload = payload(update());
    for place in places_below(&payload, &["request.object.spec.nodeAffinity"]) {
        for number in NOT_NUMBERS {
            let response = answer(place.spliced(&payload, number).as_bytes());
            assert_eq!(response.code, Some(422), "{place}: {response:?}");
            let message = response.message.unwrap();
            assert!(message.contains("request.object.spec"), "does not name `{place}` or what is around it: {message}");
        }
    }
}

#[test]
fn a_number_anywhere_is_refused_by_name_or_makes_no_difference() {
    let payload = payload(update());
    let untouched = answer(payload.to_string().as_bytes());
    for place in places(&payload["request"]) {
        let path = place.to_string();
        let in_payload = crate::document::place(&payload, &format!("request.{path}"));
        for number in NUMBERS {
            assert_noticed_or_without_influence(in_payload.spliced(&payload, number).as_bytes(), &path, &untouched);
        }
    }
}
