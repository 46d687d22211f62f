//! Nothing but a well-formed answer to the very key that says so lets a request pass: every way in which a provider can
//! fail, put to every template.

use gatekeeper_tests::engine::{Judged, Template};
use gatekeeper_tests::provider::{Reply, body};
use gatekeeper_tests::review;
use serde_json::{Value, json};
use templates::{RULES, Rule};
use testkit::fake_host::FakeHost;

/// For each rule a request that it judges, and parameters that accept it.
fn question(rule: &Rule) -> (Value, Value) {
    let (recorded, parameters) = match rule.section {
        "volumeNodeAffinity" => ("pv-update-zone-added", json!({})),
        "tolerations" => ("pod-create-batch-lt20", json!({"denied": []})),
        "nodeTaints" => ("node-create-spot", json!({"numericKeys": []})),
        "csiDriverTokens" => ("csidriver-create-tokens-in-context", json!({})),
        "accessModes" => ("pvc-create-rwo", json!({})),
        "localVolumes" => ("pv-create-local", json!({"pinned": true})),
        "volumeBinding" => ("pod-binding", json!({})),
        other => panic!("no question for {other}"),
    };
    (review::at_admission(&testkit::recorded(recorded).expect("a recorded request")), parameters)
}

fn judge(rule: &Rule, reply: impl Fn(&str) -> Reply + Clone + Send + Sync + 'static) -> Judged {
    let (review, parameters) = question(rule);
    let template = Template::read(rule).unwrap_or_else(|error| panic!("{error}"));
    template.judge(&review, &parameters, reply).unwrap_or_else(|error| panic!("{}: {error}", rule.file))
}

fn allowing() -> Value {
    json!({"allowed": true, "message": null, "warnings": [], "findings": []})
}

const NO_DECISION: &str = "placement-guard gave no decision, so the request is refused: ";
const NOT_UNDERSTOOD: &str = "provider `placement-guard` sent an answer that the template cannot read";

#[test]
fn a_good_answer_lets_a_request_pass_whatever_its_http_status_and_from_the_cache_too() {
    for rule in RULES {
        for status in [200, 500] {
            let judged =
                judge(&rule, move |key| Reply::Http(status, body(&[json!({"key": key, "value": allowing()})])));
            assert_eq!((judged.violations.len(), judged.keys.len()), (0, 1), "{}", rule.file);
        }
        let judged = judge(&rule, |key| Reply::Cached(vec![json!({"key": key, "value": allowing()})]));
        assert!(judged.violations.is_empty(), "{}: {:?}", rule.file, judged.violations);
    }
}

#[test]
fn a_refusal_is_told_in_its_words_and_its_details_are_kept() {
    for rule in RULES {
        let value = json!({"allowed": false, "message": "no\n  because", "code": 403, "findings": ["a", "b"]});
        let judged = judge(&rule, move |key| Reply::Http(200, body(&[json!({"key": key, "value": value})])));
        let details = json!({"message": "no\n  because", "code": 403, "findings": ["a", "b"]});
        let expected = json!({"msg": "no; because", "details": details});
        assert_eq!(judged.violations, [expected], "{}", rule.file);
    }
}

#[test]
fn everything_else_is_a_refusal() {
    type Broken = (&'static str, fn(&str) -> Reply, &'static str);
    let broken: &[Broken] = &[
        ("down", |_| Reply::Fails(String::from("connection refused")), "connection refused"),
        ("an empty body", |_| Reply::Http(200, vec![]), "failed to unmarshal provider response"),
        ("no JSON", |_| Reply::Http(503, b"<html>".to_vec()), "failed to unmarshal provider response"),
        ("null", |_| Reply::Http(200, b"null".to_vec()), NOT_UNDERSTOOD),
        ("an empty object", |_| Reply::Http(500, b"{}".to_vec()), NOT_UNDERSTOOD),
        ("a list", |_| Reply::Http(200, b"[]".to_vec()), "failed to unmarshal provider response"),
        (
            "a response that is none",
            |_| Reply::Http(200, json!({"response": []}).to_string().into()),
            "failed to unmarshal",
        ),
        ("no items", |_| Reply::Http(200, body(&[])), NOT_UNDERSTOOD),
        ("nothing in the cache", |_| Reply::Cached(vec![]), NOT_UNDERSTOOD),
        ("an undefined function", |_| Reply::Undefined, NOT_UNDERSTOOD),
        ("an error for the key", |key| items(&[json!({"key": key, "error": "no"})]), NOT_UNDERSTOOD),
        ("an error from the cache", |key| Reply::Cached(vec![json!({"key": key, "error": "no"})]), NOT_UNDERSTOOD),
        (
            "an error beside the answer",
            |key| items(&[json!({"key": key, "value": allowing()}), json!({"key": key, "error": "no"})]),
            NOT_UNDERSTOOD,
        ),
        ("another key", |_| items(&[json!({"key": "other", "value": allowing()})]), NOT_UNDERSTOOD),
        ("no key", |_| items(&[json!({"value": allowing()})]), NOT_UNDERSTOOD),
        (
            "an answer too many",
            |key| items(&[json!({"key": key, "value": allowing()}), json!({"key": "other", "value": allowing()})]),
            NOT_UNDERSTOOD,
        ),
        (
            "the answer twice",
            |key| items(&[json!({"key": key, "value": allowing()}), json!({"key": key, "value": allowing()})]),
            NOT_UNDERSTOOD,
        ),
        (
            "a fault of the moment beside the answer",
            |key| {
                let response = json!({"items": [{"key": key, "value": allowing()}], "systemError": "busy"});
                Reply::Http(200, json!({"response": response}).to_string().into())
            },
            "busy",
        ),
        ("no value", |key| items(&[json!({"key": key})]), NOT_UNDERSTOOD),
        ("null as value", |key| items(&[json!({"key": key, "value": null})]), NOT_UNDERSTOOD),
        ("true as value", |key| items(&[json!({"key": key, "value": true})]), NOT_UNDERSTOOD),
        ("a value that says nothing", |key| items(&[json!({"key": key, "value": {}})]), NOT_UNDERSTOOD),
        ("the text true", |key| items(&[json!({"key": key, "value": {"allowed": "true"}})]), NOT_UNDERSTOOD),
        ("the number 1", |key| items(&[json!({"key": key, "value": {"allowed": 1}})]), NOT_UNDERSTOOD),
        ("a list that is true", |key| items(&[json!({"key": key, "value": {"allowed": [true]}})]), NOT_UNDERSTOOD),
        (
            "a refusal without a word",
            |key| items(&[json!({"key": key, "value": {"allowed": false, "message": null}})]),
            NOT_UNDERSTOOD,
        ),
        ("a value in a list", |key| items(&[json!({"key": key, "value": [allowing()]})]), NOT_UNDERSTOOD),
    ];
    for rule in RULES {
        for (what, reply, reason) in broken {
            let judged = judge(&rule, *reply);
            let [violation] = judged.violations.as_slice() else {
                panic!("{}, {what}: {:?}", rule.file, judged.violations)
            };
            let message = violation["msg"].as_str().expect("a message");
            let told = message.strip_prefix(NO_DECISION).unwrap_or_else(|| panic!("{}, {what}: {message}", rule.file));
            assert!(told.starts_with(reason), "{}, {what}: {message}", rule.file);
        }
    }
}

fn items(items: &[Value]) -> Reply {
    Reply::Http(200, body(items))
}

/// The template refuses a request that it should judge but cannot read, without asking the provider.
#[test]
fn what_a_template_cannot_read_is_refused() {
    for (rule, member, value) in RULES.iter().flat_map(|rule| {
        let broken = [("object", json!("no object")), ("kind", json!(null)), ("kind", json!("Pod"))];
        broken.map(|(member, value)| (*rule, member, value))
    }) {
        let (mut review, parameters) = question(&rule);
        review[member] = value;
        let template = Template::read(&rule).expect("a template");
        let judged = template.judge(&review, &parameters, |key| items(&[json!({"key": key, "value": allowing()})]));
        let judged = judged.expect("a judgement");
        // Either it says so itself, or it hands on what it was given and the provider says so.
        let handed_on = judged.keys.iter().any(|key| {
            let verdict = gatekeeper_tests::provider::judged(&FakeHost::default(), key);
            verdict["code"] == json!(422)
        });
        assert!(handed_on || judged.violations.len() == 1, "{}: {:?}", rule.file, judged);
    }
}
