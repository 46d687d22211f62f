//! Every case of `policies/cases/`, through the built program and real pipes: the library's verdict byte for byte, and the
//! corpus' answer.

#![allow(clippy::restriction)]

mod program;

use std::collections::BTreeMap;

use placement_guard::objects::Objects;
use placement_guard::verdict::{self, Verdict};
use program::Folder;
use serde_json::{Value, json};
use testkit::Case;

/// But those in which a kind of the cluster cannot be read: a file has objects of a kind, or has none.
fn cases() -> Vec<Case> {
    let cases = testkit::cases().unwrap_or_else(|complaints| panic!("cases that cannot be read:\n{complaints}"));
    cases.into_iter().filter(|case| !case.has_unreadable_kinds()).collect()
}

fn library(case: &Case) -> Verdict {
    let settings = String::from_utf8(case.settings()).unwrap();
    let request = case.request().unwrap().to_string();
    match case.cluster() {
        None => verdict::check(&settings, &request),
        Some(objects) => verdict::check_in(&settings, &request, &Objects::read(&json!(objects).to_string()).unwrap()),
    }
}

/// The option that gives the cluster of a case.
fn given(folder: &Folder, cluster: Option<&[Value]>) -> &'static str {
    let Some(objects) = cluster else { return "" };
    folder.write("cluster.json", json!({"apiVersion": "v1", "kind": "List", "items": objects}).to_string());
    "--cluster cluster.json"
}

/// What is said on standard error: at most that the cluster has no object of some kinds.
#[track_caller]
fn assert_says_little(said: &str, what: &str) {
    let is_expected = |line: &str| line.starts_with("warning: no ") && line.ends_with("as one without any");
    assert!(said.lines().all(is_expected), "{what}: {said}");
}

/// The verdict under the names that the module gives its members, as the corpus knows them.
fn as_the_module_says(verdict: &Value) -> Value {
    json!({
        "accepted": verdict["allowed"],
        "code": verdict["code"],
        "message": verdict["message"],
        "warnings": verdict["warnings"],
        "audit_annotations": verdict["annotations"],
    })
}

/// The verdict as it follows from the findings: they are all that there is to say.
fn as_findings_say(judged: &Value) -> Value {
    let findings = judged["findings"].as_array().unwrap();
    let lines = |found: &Value| -> Vec<String> {
        let details = found["details"].as_array().unwrap().iter();
        [&found["message"]].into_iter().chain(details).map(|line| line.as_str().unwrap().to_owned()).collect()
    };
    let of = |effect: &str, separator: &str| -> Vec<String> {
        let all = findings.iter().filter(|found| found["effect"] == effect);
        all.map(|found| lines(found).join(separator)).collect()
    };
    let refusals = of("refuses", "\n  ");
    let mut verdict = judged["verdict"].clone();
    verdict["message"] = if refusals.is_empty() { Value::Null } else { Value::from(refusals.join("\n")) };
    verdict["warnings"] = Value::from(of("warns", "; "));
    verdict["allowed"] = Value::from(refusals.is_empty());
    verdict
}

#[test]
fn every_request_gets_the_verdict_of_the_library_and_the_answer_of_its_case() {
    let folder = Folder::new();
    let mut judged = 0;
    for case in cases() {
        let Some(request) = case.request() else { continue };
        folder.write("settings.json", case.settings());
        let given = given(&folder, case.cluster());
        let ran = folder.pipe(request.to_string(), &format!("check --settings settings.json --output json {given} -"));
        let verdict = library(&case);
        let report: Value = serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{}: {}", case.name, ran.err));
        let printed = &report["objects"][0]["verdict"];
        assert_eq!(*printed, json!(verdict), "{}: {}", case.name, ran.err);
        assert_eq!(ran.code, Some(i32::from(!verdict.allowed)), "{}", case.name);
        assert_says_little(&ran.err, &case.name);
        assert_eq!(case.check(&as_the_module_says(printed)), Ok(()), "{}", case.name);
        assert_eq!(as_findings_say(&report["objects"][0]), *printed, "{}", case.name);
        judged += 1;
    }
    assert!(judged > 300, "only {judged} requests");
}

#[test]
fn settings_that_a_case_refuses_are_refused_with_its_words() {
    let folder = Folder::new();
    let mut refused = 0;
    for case in cases().into_iter().filter(|case| case.request().is_none()) {
        let ran = folder.pipe(case.settings(), "settings check -");
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{}", case.name);
        let unreadable = verdict::validate_settings(str::from_utf8(&case.settings()).unwrap()).unwrap_err();
        let message = format!("{}: {}", unreadable.path, unreadable.problem);
        let answer = json!({"valid": false, "message": format!("settings are not valid: {message}")});
        assert_eq!(case.check(&answer), Ok(()), "{}", case.name);
        // Everything that is wrong is said; this comes first.
        let first = ran.err.lines().next().unwrap();
        let said = first.split_once(&format!(": {message}; "));
        let place = said.and_then(|(place, _)| place.strip_prefix("error: standard input:1:"));
        assert!(place.is_some_and(|column| column.parse::<usize>().is_ok()), "{}: {}", case.name, ran.err);
        refused += 1;
    }
    assert!(refused > 30, "only {refused} cases");
}

#[test]
fn documents_in_yaml_and_reviews_around_them_change_no_verdict() {
    let folder = Folder::new();
    let mut of_settings: BTreeMap<(Vec<u8>, String), Vec<Case>> = BTreeMap::new();
    for case in cases().into_iter().filter(|case| case.request().is_some()) {
        of_settings.entry((case.settings(), json!(case.cluster()).to_string())).or_default().push(case);
    }
    for ((settings, _), cases) in of_settings {
        let given = given(&folder, cases.first().and_then(Case::cluster));
        let text: Vec<String> = cases.iter().enumerate().map(|(index, case)| document(index, case)).collect();
        folder.write("settings.json", settings).write("requests.yaml", text.join("---\n"));
        let ran = folder.run(&format!("check --settings settings.json --output json {given} requests.yaml"));
        let verdicts: Vec<Verdict> = cases.iter().map(library).collect();
        let printed: Value = serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{}", ran.err));
        let printed = printed["objects"].as_array().unwrap().iter();
        let printed: Vec<Value> = printed.map(|judged| judged["verdict"].clone()).collect();
        for ((case, verdict), printed) in cases.iter().zip(&verdicts).zip(&printed) {
            assert_eq!(&serde_json::from_value::<Verdict>(printed.clone()).unwrap(), verdict, "{}", case.name);
        }
        assert_eq!(printed.len(), verdicts.len());
        let refused = verdicts.iter().any(|verdict| !verdict.allowed);
        assert_eq!(ran.code, Some(i32::from(refused)));
        assert_says_little(&ran.err, "the cases together");
    }
}

/// A case's request as a document in YAML: every other one in a review.
fn document(index: usize, case: &Case) -> String {
    let request = case.request().unwrap();
    let review = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request});
    serde_saphyr::to_string(if index.is_multiple_of(2) { &review } else { request }).unwrap() + "\n"
}
