//! The format itself: a case that does not say what it must cannot be read, and one that says the wrong thing fails.

use serde_json::{Value, json};
use testkit::Case;

const REQUEST: &str = "why: a reason\nsettings: {volumeNodeAffinity: {}}\nrecorded: pv-update-zone-added\n";

fn read(text: &str) -> Result<Case, String> {
    Case::read("a-case", text)
}

fn complaint(text: &str) -> String {
    read(text).expect_err("this is no case")
}

/// A case with this expectation of one request.
fn expecting(expect: &str) -> Case {
    read(&format!("{REQUEST}expect: {expect}\n")).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_case_states_whether_the_request_is_allowed_and_what_is_found() {
    assert_eq!(complaint(&format!("{REQUEST}expect: {{findings: []}}")), "`expect.allowed` is missing");
    assert_eq!(
        complaint(&format!("{REQUEST}expect: {{allowed: true}}")),
        "`expect.findings` is missing; `[]` for none"
    );
}

#[test]
fn a_refusal_states_its_code_and_an_acceptance_has_neither_code_nor_message() {
    let with = |expect: &str| complaint(&format!("{REQUEST}expect: {expect}"));
    assert_eq!(with("{allowed: false, findings: []}"), "`expect.code` of a refusal is missing");
    assert_eq!(with("{allowed: true, findings: [], code: 403}"), "`expect.code` of an accepted request");
    assert_eq!(with("{allowed: true, findings: [], says: [x]}"), "an accepted request has no message");
}

#[test]
fn unknown_keys_are_refused_at_every_level() {
    for text in [
        format!("{REQUEST}expect: {{allowed: true, findings: []}}\nexpected: {{}}"),
        format!("{REQUEST}expect: {{allowed: true, findings: [], warning: []}}"),
        format!("{REQUEST}user: {{username: a, uid: b}}\nexpect: {{allowed: true, findings: []}}"),
    ] {
        assert!(complaint(&text).contains("unknown field"), "{text}");
    }
    let annotation = format!("{REQUEST}expect: {{allowed: true, findings: [], annotations: {{losesNodes: x}}}}");
    assert!(complaint(&annotation).starts_with("`expect.annotations.losesNodes` is not one of relation, losesNode"));
}

#[test]
fn exactly_one_thing_is_asked() {
    let settings = "why: a reason\nsettings: {}\n";
    assert!(complaint(&format!("{settings}expect: {{allowed: true, findings: []}}")).starts_with("nothing is asked"));
    assert!(
        complaint(&format!("{REQUEST}request: {{}}\nexpect: {{allowed: true, findings: []}}")).starts_with("only one")
    );
    assert!(complaint(&format!("{REQUEST}expect: {{settings: bad}}")).contains("which is asked?"));
    assert!(
        complaint(&format!("{settings}expect: {{settings: bad, allowed: false}}"))
            .contains("must be the only question")
    );
}

#[test]
fn a_reason_and_a_recorded_request_must_be_there() {
    assert_eq!(complaint("why: ' '\nsettings: {}\nexpect: {settings: bad}"), "`why` is empty");
    let text = "why: a reason\nsettings: {}\nrecorded: no-such\nexpect: {allowed: true, findings: []}";
    assert!(complaint(text).contains("no-such.json"));
}

#[test]
fn manifests_make_the_request_that_an_api_server_would_send() {
    let pod = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}}";
    let with = |manifests: &str| {
        let text = format!("why: a reason\nsettings: {{}}\n{manifests}\nexpect: {{allowed: true, findings: []}}");
        let case = read(&text).unwrap_or_else(|error| panic!("{error}"));
        case.request().cloned().expect("it asks about a request")
    };
    let update = with(&format!("before: {pod}\nafter: {pod}\nuser: {{username: eve, groups: [ops]}}"));
    assert_eq!(update["operation"], "UPDATE");
    assert_eq!(update["kind"], json!({"group": "apps", "version": "v1", "kind": "Deployment"}));
    assert_eq!(update["resource"]["resource"], "deployments");
    assert_eq!((&update["name"], &update["namespace"]), (&json!("web"), &json!("shop")));
    assert_eq!(update["userInfo"], json!({"username": "eve", "groups": ["ops"]}));
    assert_eq!(update["oldObject"]["metadata"]["name"], "web");
    let create = with(&format!("after: {pod}"));
    assert_eq!((&create["operation"], &create["oldObject"]), (&json!("CREATE"), &Value::Null));
    let delete = with(&format!("before: {pod}"));
    assert_eq!((&delete["operation"], &delete["object"]), (&json!("DELETE"), &Value::Null));
}

#[test]
fn every_difference_is_told() {
    let case = expecting(
        "{allowed: false, code: 403, findings: [a, b], annotations: {relation: narrowed, facts: null, \
         losesNode: {zone: c}}, message: all of it, says: [part], warnings: [w]}",
    );
    let answer = json!({"accepted": true, "audit_annotations": {
        "findings": "b,a", "relation": "widened", "facts": "some", "losesNode": "{\"zone\":\"b\"}"},
        "mutated_object": {}, "warnings": ["v"]});
    let said = case.check(&answer).expect_err("nothing of it is as expected");
    for part in [
        "`mutated_object` is not part of a decision",
        "accepted: expected false, got true",
        "code: expected 403, got null",
        r#"findings: expected "a,b", got "b,a""#,
        r#"facts: expected null, got "some""#,
        r#"relation: expected "narrowed", got "widened""#,
        r#"losesNode: expected {"zone":"c"}, got {"zone":"b"}"#,
        r#"message: expected "all of it", got null"#,
        "a refusal has one and an acceptance none",
        r#"does not say "part""#,
        r#"warnings: expected ["w"], got ["v"]"#,
    ] {
        assert!(said.contains(part), "`{part}` is not in {said}");
    }
}

#[test]
fn the_expected_answer_passes() {
    let case =
        expecting("{allowed: false, code: 403, findings: [a], annotations: {losesNode: {zone: c}}, says: [part]}");
    let annotations = json!({"findings": "a", "losesNode": "{\"zone\":\"c\"}", "relation": "narrowed"});
    let answer = json!({"accepted": false, "code": 403, "message": "a part", "audit_annotations": annotations});
    assert_eq!(case.check(&answer), Ok(()));
    let accepted = json!({"accepted": true});
    assert_eq!(expecting("{allowed: true, findings: []}").check(&accepted), Ok(()));
    let settings =
        read("why: a reason\nsettings: {}\nexpect: {settings: bad}").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(settings.check(&json!({"valid": false, "message": "bad"})), Ok(()));
    assert!(settings.check(&json!({"valid": true, "message": null})).is_err());
}
