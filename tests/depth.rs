//! How deep a request may be: the same everywhere, and refused in the same words.

#![allow(clippy::restriction)]

use placement_guard::{kubewarden, verdict};
use serde_json::Value;

const SETTINGS: &str = r#"{"volumeNodeAffinity":{}}"#;

/// A request of so many levels: its own, that of its object, and lists in an annotation that no rule reads.
fn request(levels: usize) -> String {
    let (open, close) = ("[".repeat(levels - 2), "]".repeat(levels - 2));
    format!(
        r#"{{"kind":{{"kind":"PersistentVolume"}},"operation":"CREATE","name":"pv","object":{{"unread":{open}{close}}}}}"#
    )
}

/// The code and the message, without the column: a payload and a review begin differently.
fn without_column(code: Option<u64>, message: Option<&str>) -> (Option<u64>, Option<String>) {
    (code, message.map(|message| message.split(" at line ").next().unwrap().to_owned()))
}

fn of_module(request: &str) -> (Option<u64>, Option<String>) {
    let payload = format!(r#"{{"settings":{SETTINGS},"request":{request}}}"#);
    let answer: Value = serde_json::from_slice(&kubewarden::validate(payload.as_bytes())).unwrap();
    without_column(answer["code"].as_u64(), answer["message"].as_str())
}

fn of_library(document: &str) -> (Option<u64>, Option<String>) {
    let verdict = verdict::check(SETTINGS, document);
    without_column(verdict.code.map(u64::from), verdict.message.as_deref())
}

#[test]
fn a_request_and_a_review_may_be_as_deep_as_in_the_module() {
    for levels in 124..=130 {
        let request = request(levels);
        let expected = of_module(&request);
        assert_eq!(expected.0, (levels > 126).then_some(422), "{levels} levels: {expected:?}");
        assert_eq!(of_library(&request), expected, "{levels} levels, a request alone");
        let review = format!(r#"{{"kind":"AdmissionReview","request":{request}}}"#);
        assert_eq!(of_library(&review), expected, "{levels} levels, in a review");
    }
    let (_, message) = of_module(&request(127));
    let message = message.unwrap();
    assert!(
        message.starts_with("unreadable: request.object.unread[0][0]") && message.ends_with("recursion limit exceeded"),
        "{message}"
    );
}
