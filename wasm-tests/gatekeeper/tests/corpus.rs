//! Every case of `policies/cases/`, put to the templates as Gatekeeper puts requests to them: the same verdict as the
//! library's, with the same words, and the provider asked for nothing that cannot change it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use gatekeeper_tests::engine::{Judged, Template};
use gatekeeper_tests::provider::{Reply, body, judged, on_one_line, verdict_in};
use gatekeeper_tests::review;
use placement_guard::kubernetes::field::{self, Field};
use placement_guard::rules::read_settings;
use placement_guard::verdict::Verdict;
use serde_json::{Value, json};
use templates::{RULES, Rule};
use testkit::fake_host::FakeHost;

/// One section of the settings of one case, as the library and as the template judge it.
struct Answered {
    case: String,
    rule: Rule,
    request: Value,
    host: FakeHost,
    /// Whether the answer may depend on the cluster.
    reads_cluster: bool,
    verdict: Verdict,
    judged: Judged,
}

static TEMPLATES: LazyLock<[(Rule, Template); 7]> = LazyLock::new(|| {
    RULES.map(|rule| {
        (rule, Template::read(&rule).unwrap_or_else(|error| panic!("templates/{}.yaml: {error}", rule.file)))
    })
});

fn template(rule: &Rule) -> &'static Template {
    let found = TEMPLATES.iter().find(|(other, _)| other == rule);
    found.map(|(_, template)| template).expect("a template for each rule")
}

static ANSWERED: LazyLock<Vec<Answered>> = LazyLock::new(|| {
    let mut answered = Vec::new();
    for case in testkit::cases().unwrap_or_else(|complaints| panic!("cases that cannot be read:\n{complaints}")) {
        let Some(request) = case.request() else { continue };
        let settings: Value = serde_json::from_slice(&case.settings()).expect("settings are JSON");
        for (rule, template) in TEMPLATES.iter() {
            let Some(parameters) = settings.get(rule.section).filter(|section| section.is_object()) else { continue };
            let host = case.host();
            let settings = json!({rule.section: parameters}).to_string();
            let verdict = verdict_in(&host, &settings, &request.to_string());
            let judged = template
                .judge(&review::at_admission(request), parameters, library(&host))
                .unwrap_or_else(|error| panic!("{}: {error}", case.name));
            let (case, rule, reads_cluster) = (case.name.clone(), *rule, reads_cluster(&settings));
            answered.push(Answered { case, rule, request: request.clone(), host, reads_cluster, verdict, judged });
        }
    }
    answered
});

fn reads_cluster(settings: &str) -> bool {
    let document = field::parse(settings.as_bytes()).expect("settings are JSON");
    read_settings(&Field::root("settings", &document)).is_ok_and(|settings| !settings.needs().is_empty())
}

/// A provider that answers as the library does.
fn library(host: &FakeHost) -> impl Fn(&str) -> Reply + Clone + use<> {
    let host = host.clone();
    move |key| Reply::Http(200, body(&[json!({"key": key, "value": judged(&host, key)})]))
}

/// Whether a message is that of the verdict. Of what cannot be read, which no API server sends, the template hands on so
/// little that the provider may complain of another place.
fn tells_the_same(verdict: &Verdict, message: Option<&str>) -> bool {
    match verdict.code {
        Some(422) => message.is_some_and(|message| message.starts_with("unreadable: ")),
        _ => message == verdict.message.as_deref().map(on_one_line).as_deref(),
    }
}

fn every_answer(is_right: impl Fn(&Answered) -> Result<(), String>) {
    let wrong = |answered: &Answered| {
        is_right(answered).err().map(|why| format!("{} by {}: {why}", answered.case, answered.rule.file))
    };
    let failures: Vec<String> = ANSWERED.iter().filter_map(wrong).collect();
    assert!(failures.is_empty(), "{} answers are wrong:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn every_case_is_decided_as_the_library_decides_it_and_in_its_words() {
    every_answer(|answered| {
        if answered.judged.violations.len() < 2 && tells_the_same(&answered.verdict, answered.judged.message()) {
            return Ok(());
        }
        Err(format!("expected {:?}, got {:?}", answered.verdict, answered.judged))
    });
    assert!(ANSWERED.len() > 300, "only {} sections were judged", ANSWERED.len());
}

#[test]
fn the_provider_is_asked_wherever_the_library_has_something_to_say() {
    every_answer(|answered| {
        let says_something = !answered.verdict.findings.is_empty() || !answered.verdict.warnings.is_empty();
        if says_something && answered.judged.keys.is_empty() {
            return Err(format!("{:?} is never heard of", answered.verdict.findings));
        }
        Ok(())
    });
}

/// What varies from one request to the next without a change of the answer would fill Gatekeeper's cache.
#[test]
fn keys_hold_nothing_that_varies() {
    every_answer(|answered| {
        let [key] = answered.judged.keys.as_slice() else {
            return if answered.judged.keys.is_empty() { Ok(()) } else { Err(String::from("more than one key")) };
        };
        let parsed: Value = serde_json::from_str(key).map_err(|error| error.to_string())?;
        let members = |value: &Value| value.as_object().expect("an object").keys().cloned().collect::<BTreeSet<_>>();
        if members(&parsed) != BTreeSet::from(["request", "settings", "v"].map(String::from)) {
            return Err(format!("another key: {key}"));
        }
        let known = ["kind", "name", "namespace", "object", "oldObject", "operation", "subResource", "userInfo"];
        let mut known: BTreeSet<String> = known.map(String::from).into();
        if answered.reads_cluster {
            // An answer about the cluster is told once.
            known.insert(String::from("uid"));
        }
        if !members(&parsed["request"]).is_subset(&known) {
            return Err(format!("more than the rules read: {key}"));
        }
        for object in ["object", "oldObject"] {
            let object = &parsed["request"][object];
            let status = object.get("status").map(|_| String::from("status"));
            let metadata = object["metadata"].as_object().into_iter().flat_map(|metadata| metadata.keys().cloned());
            let read = ["annotations", "generateName", "labels", "name", "ownerReferences", "uid"];
            if let Some(other) = metadata.filter(|member| !read.contains(&member.as_str())).chain(status).next() {
                return Err(format!("{other} in {key}"));
            }
        }
        // As OPA prints it: members in order, no space.
        let canonical = parsed.to_string();
        if canonical == *key { Ok(()) } else { Err(format!("not canonical: {key}")) }
    });
}

/// The rest of an object may change as it likes: the key stays the same.
#[test]
fn a_key_is_the_same_for_the_same_question() {
    let mut compared = BTreeMap::new();
    for answered in ANSWERED.iter().filter(|answered| !answered.judged.keys.is_empty()) {
        let of_rule = compared.entry(answered.rule.file).or_insert(0_u32);
        if *of_rule >= 25 {
            continue;
        }
        *of_rule += 1;
        let mut request = answered.request.clone();
        request["uid"] = json!("another");
        for object in ["object", "oldObject"].into_iter().filter(|name| answered.request[name]["metadata"].is_object())
        {
            let metadata = &mut request[object]["metadata"];
            metadata["resourceVersion"] = json!("4711");
            metadata["uid"] = json!(object);
            metadata["managedFields"] = json!([{"manager": object}]);
            request[object]["status"] = json!({"phase": object});
        }
        let settings: Value = serde_json::from_str(&answered.judged.keys[0]).expect("a key");
        let parameters = &settings["settings"][answered.rule.section];
        let host = &answered.host;
        let judged = template(&answered.rule).judge(&review::at_admission(&request), parameters, library(host));
        let judged = judged.expect("a judgement");
        // Of what depends on the cluster no answer may be told a second time.
        assert_eq!(judged.keys == answered.judged.keys, !answered.reads_cluster, "{}", answered.case);
    }
    assert!(compared.len() >= 3, "{compared:?}");
}

/// Status of a constraint keeps 256 bytes of a message.
#[test]
fn a_message_is_one_line_and_its_sense_survives_256_bytes() {
    every_answer(|answered| {
        let Some(message) = answered.judged.message() else { return Ok(()) };
        if message.chars().any(char::is_control) {
            return Err(format!("an HTTP header cannot carry {message:?}"));
        }
        let headline = message.split("; ").next().unwrap_or_default();
        let kept = String::from_utf8_lossy(&message.as_bytes()[..message.len().min(256)]).into_owned();
        let sense: String = headline.chars().take(120).collect();
        if kept.starts_with(&sense) { Ok(()) } else { Err(format!("cut: {kept}")) }
    });
}

/// What an audit sees of the same objects: the same verdict as for a CREATE without a user.
#[test]
fn an_audit_is_judged_as_a_create_without_a_user() {
    let mut judged_so = 0;
    for answered in ANSWERED.iter().filter(|answered| answered.request["object"]["apiVersion"].is_string()) {
        let object = &answered.request["object"];
        let review = review::in_audit(object);
        let settings: Value =
            answered.judged.keys.first().map_or(json!({}), |key| serde_json::from_str(key).expect("a key"));
        let Some(parameters) = settings["settings"].get(answered.rule.section) else { continue };
        let request = json!({
            "operation": "CREATE", "kind": review["kind"], "object": object,
            "name": object["metadata"]["name"], "namespace": object["metadata"]["namespace"],
        });
        let host = &answered.host;
        let settings = json!({answered.rule.section: parameters}).to_string();
        let expected = verdict_in(host, &settings, &request.to_string());
        let judged = template(&answered.rule).judge(&review, parameters, library(host)).expect("a judgement");
        let tells_the_same = tells_the_same(&expected, judged.message());
        assert!(tells_the_same, "{} by {}: {judged:?}", answered.case, answered.rule.file);
        judged_so += 1;
    }
    assert!(judged_so > 100, "only {judged_so} objects were audited");
}

/// On the way to Rego numbers pass through a floating-point type. They arrive as integers, and those beyond 2^53 as the
/// nearest that fits into 64 bits.
#[test]
fn large_numbers_arrive_as_integers() {
    let rule = RULES[1];
    let parameters = json!({"allowed": [{"key": "spot", "operator": "Exists", "maxTolerationSeconds": 60}]});
    for (seconds, told) in [
        (1_000_000, "1000000 s"),
        (31_536_000, "31536000 s"),
        (4_294_967_296, "4294967296 s"),
        (9_007_199_254_740_992, "9007199254740992 s"),
        (i64::MAX, "9223372036854774784 s"),
        (-31_536_000, ""),
    ] {
        let toleration =
            json!({"key": "spot", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": seconds});
        let request = json!({
            "operation": "CREATE", "kind": {"group": "", "version": "v1", "kind": "Pod"},
            "userInfo": {"username": "eve"}, "object": {"spec": {"tolerations": [toleration]}},
        });
        let judged = template(&rule)
            .judge(&review::at_admission(&request), &parameters, library(&FakeHost::default()))
            .expect("a judgement");
        let expected = format!("toleration seconds exceeded: the pod stays {told} on a node with");
        let message = judged.message();
        let is_right =
            if told.is_empty() { message.is_none() } else { message.is_some_and(|text| text.starts_with(&expected)) };
        assert!(is_right, "{seconds}: {message:?}");
    }
}
