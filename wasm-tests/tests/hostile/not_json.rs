//! Payloads that are not JSON, or not all of it.

use crate::{answer, assert_noticed_or_without_influence, payload, update};

#[track_caller]
fn assert_refused_as_unreadable(payload: &[u8]) {
    let response = answer(payload);
    assert_eq!(response.code, Some(422), "{:?} gave {response:?}", String::from_utf8_lossy(payload));
}

#[test]
fn a_payload_that_is_no_json_object_is_unreadable() {
    let cases: [&[u8]; 17] = [
        b"",
        b" ",
        b"\n",
        b"\0",
        b"{",
        b"}",
        b"null",
        b"true",
        b"7",
        b"\"text\"",
        b"[]",
        b"[{}]",
        b"request",
        b"{}{}",
        b"{}x",
        b"\xff\xfe",
        b"\xef\xbb\xbf{}",
    ];
    cases.iter().for_each(|payload| assert_refused_as_unreadable(payload));
}

#[test]
fn an_object_that_is_no_request_is_unreadable() {
    for payload in [
        r#"{}"#,
        r#"{"settings":{"volumeNodeAffinity":{}}}"#,
        r#"{"settings":{"volumeNodeAffinity":{}},"request":null}"#,
        r#"{"settings":{"volumeNodeAffinity":{}},"request":{}}"#,
        r#"{"settings":{"volumeNodeAffinity":{}},"request":[]}"#,
        r#"{"request":{"uid":"1","kind":{"group":"","version":"v1","kind":"PersistentVolume"},"operation":"CREATE"}}"#,
    ] {
        assert_refused_as_unreadable(payload.as_bytes());
    }
}

#[test]
fn a_request_cut_off_at_any_byte_is_unreadable() {
    let whole = payload(update()).to_string();
    assert!(answer(whole.as_bytes()).code != Some(422), "the request under test is readable");
    for length in 0..whole.len() {
        assert_refused_as_unreadable(&whole.as_bytes()[..length]);
    }
}

/// In a string that nothing reads it may pass unnoticed; it must not change the answer.
#[test]
fn a_byte_that_is_not_utf8_anywhere_is_unreadable_or_makes_no_difference() {
    let whole = payload(update()).to_string().into_bytes();
    let untouched = answer(&whole);
    for position in 0..whole.len() {
        let mut broken = whole.clone();
        broken[position] = 0xff;
        assert_noticed_or_without_influence(&broken, "", &untouched);
    }
}

#[test]
fn half_a_character_in_what_is_judged_is_unreadable() {
    let whole = payload(update()).to_string();
    let read = "\"us-east1\"";
    assert!(whole.contains(read));
    for half in [r#""\ud800""#, r#""\udc00us-east1""#, r#""\u12""#, r#""\x""#, "\"us\neast1\"", "\"us\u{1}east1\""] {
        assert_refused_as_unreadable(whole.replacen(read, half, 1).as_bytes());
    }
}
