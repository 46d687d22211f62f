//! What the policies match is what the module judges: nothing else, and nothing less.

use std::collections::BTreeMap;

use placement_guard::verdict::{self, Verdict};
use serde_json::{Value, json};

use crate::policy::{policies, repository};

/// The requests that a real API server sent, by the names of their files.
fn recorded() -> Vec<(String, Value)> {
    let entries = std::fs::read_dir(repository("tests/requests")).expect("the recorded requests are there");
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.expect("a file").file_name().to_str()?.strip_suffix(".json").map(str::to_owned))
        .collect();
    names.sort();
    names.into_iter().map(|name| (name.clone(), testkit::recorded(&name).expect("a recorded request"))).collect()
}

/// Whether a verdict says more than that nothing was touched.
fn says_something(verdict: &Verdict) -> bool {
    let is_news = |(key, value): (&String, &String)| (key.as_str(), value.as_str()) != ("relation", "unchanged");
    !verdict.allowed || !verdict.warnings.is_empty() || verdict.annotations.iter().any(is_news)
}

/// What is matched is judged: with an object of which nothing is readable, the module says so.
#[test]
fn every_recorded_request_that_a_policy_matches_is_judged() {
    let mut matched: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for policy in policies() {
        for (name, mut request) in recorded() {
            if !policy.matches(&request) {
                continue;
            }
            for member in ["spec", "target", "template", "provisioner"] {
                request["object"][member] = json!([1]);
            }
            let verdict = policy.verdict(&request);
            assert_eq!(verdict.code, Some(422), "{} matches {name} and does not judge it: {verdict:?}", policy.name);
            matched.entry(policy.name).or_default().push(name);
        }
    }
    let counts: Vec<(&str, usize)> = matched.iter().map(|(policy, names)| (*policy, names.len())).collect();
    let expected = [
        ("access-modes", 23),
        ("all-rules", 58),
        ("csi-driver-tokens", 4),
        ("local-volumes", 11),
        ("node-taints", 6),
        ("tolerations", 16),
        ("volume-binding", 4),
        ("volume-node-affinity", 24),
    ];
    assert_eq!(counts, expected, "{matched:#?}");
    let all = &matched["all-rules"];
    for untouched in ["pv-update-claimref-bind", "pod-update-label-only", "node-update-label-only", "pv-delete"] {
        assert!(!all.iter().any(|name| name == untouched), "{untouched} changes nothing that is judged");
    }
}

#[test]
fn every_recorded_request_about_which_the_module_has_something_to_say_is_matched() {
    let mut said: BTreeMap<&str, usize> = BTreeMap::new();
    for policy in policies() {
        for (name, request) in recorded() {
            let verdict = policy.verdict(&request);
            if says_something(&verdict) {
                assert!(policy.matches(&request), "{} leaves out {name}: {verdict:?}", policy.name);
                *said.entry(policy.name).or_default() += 1;
            }
        }
    }
    let expected = [
        ("access-modes", 5),
        ("all-rules", 38),
        ("csi-driver-tokens", 3),
        ("local-volumes", 5),
        ("node-taints", 2),
        ("tolerations", 12),
        ("volume-binding", 2),
        ("volume-node-affinity", 13),
    ];
    assert_eq!(said, BTreeMap::from(expected));
}

/// The conditions depend on the rules, not on the values in the settings: they hold under the settings of every case.
#[test]
fn every_case_about_which_the_module_has_something_to_say_is_matched() {
    let mut said: BTreeMap<&str, usize> = BTreeMap::new();
    let policies = policies();
    for case in testkit::cases().expect("the cases are readable") {
        let Some(request) = case.request().map(completed) else { continue };
        // If not only controllers may write it, it needs a separate policy: audits do not know sub-resources.
        if request["subResource"] == "status" {
            continue;
        }
        let settings: Value = serde_json::from_slice(&case.settings()).expect("settings are JSON");
        for policy in &policies {
            let sections: serde_json::Map<String, Value> = policy
                .sections
                .iter()
                .filter_map(|name| Some(((*name).to_owned(), settings.get(*name)?.clone())))
                .collect();
            if sections.is_empty() {
                continue;
            }
            let verdict = verdict::check(&Value::from(sections).to_string(), &request.to_string());
            // What the module cannot read an API server does not send.
            if verdict.code != Some(422) && says_something(&verdict) {
                assert!(policy.matches(&request), "{} leaves out {}: {verdict:?}", policy.name, case.name);
                *said.entry(policy.name).or_default() += 1;
            }
        }
    }
    // Cases are added all the time, so these are not counted exactly.
    for (policy, least) in [
        ("access-modes", 24),
        ("all-rules", 243),
        ("csi-driver-tokens", 16),
        ("local-volumes", 76),
        ("node-taints", 4),
        ("tolerations", 54),
        ("volume-binding", 40),
        ("volume-node-affinity", 83),
    ] {
        assert!(said.get(policy).is_some_and(|count| *count >= least), "{policy}: {said:?}");
    }
    assert_eq!(said.len(), policies.len(), "a policy about which no case says anything: {said:?}");
}

/// A request with the resource that an API server would name, where a case only has the kind.
fn completed(request: &Value) -> Value {
    let mut request = request.clone();
    let kind = request["kind"].clone();
    let is_bound = request["subResource"] == "binding";
    let plural = match kind["kind"].as_str().unwrap_or_default().to_lowercase() {
        _ if is_bound => String::from("pods"),
        name if name.ends_with('s') => name + "es",
        name => name + "s",
    };
    request["resource"] = json!({"group": kind["group"], "version": "v1", "resource": plural});
    request
}
