//! Every case of `policies/cases/`, through the built program and real pipes: the library's verdict byte for byte, and the
//! corpus' answer.

#![allow(clippy::restriction)]

mod program;

use std::collections::BTreeMap;

use placement_guard::verdict::{self, Verdict};
use program::Folder;
use serde_json::{Value, json};
use testkit::Case;

fn cases() -> Vec<Case> {
    testkit::cases().unwrap_or_else(|complaints| panic!("cases that cannot be read:\n{complaints}"))
}

fn library(case: &Case) -> Verdict {
    let settings = String::from_utf8(case.settings()).unwrap();
    verdict::check(&settings, &case.request().unwrap().to_string())
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
        let ran = folder.pipe(request.to_string(), "check --settings settings.json --output json -");
        let verdict = library(&case);
        let report: Value = serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{}: {}", case.name, ran.err));
        let printed = &report["objects"][0]["verdict"];
        assert_eq!(*printed, json!(verdict), "{}: {}", case.name, ran.err);
        assert_eq!((ran.code, ran.err.as_str()), (Some(i32::from(!verdict.allowed)), ""), "{}", case.name);
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
    let mut of_settings: BTreeMap<Vec<u8>, Vec<Case>> = BTreeMap::new();
    for case in cases().into_iter().filter(|case| case.request().is_some()) {
        of_settings.entry(case.settings()).or_default().push(case);
    }
    for (settings, cases) in of_settings {
        let text: Vec<String> = cases.iter().enumerate().map(|(index, case)| document(index, case)).collect();
        folder.write("settings.json", settings).write("requests.yaml", text.join("---\n"));
        let ran = folder.run("check --settings settings.json --output json requests.yaml");
        let verdicts: Vec<Verdict> = cases.iter().map(library).collect();
        let printed: Value = serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{}", ran.err));
        let printed = printed["objects"].as_array().unwrap().iter();
        let printed: Vec<Value> = printed.map(|judged| judged["verdict"].clone()).collect();
        for ((case, verdict), printed) in cases.iter().zip(&verdicts).zip(&printed) {
            assert_eq!(&serde_json::from_value::<Verdict>(printed.clone()).unwrap(), verdict, "{}", case.name);
        }
        assert_eq!(printed.len(), verdicts.len());
        let refused = verdicts.iter().any(|verdict| !verdict.allowed);
        assert_eq!((ran.code, ran.err.as_str()), (Some(i32::from(refused)), ""));
    }
}

/// A case's request as a document in YAML: every other one in a review.
fn document(index: usize, case: &Case) -> String {
    let request = case.request().unwrap();
    let review = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request});
    serde_saphyr::to_string(if index.is_multiple_of(2) { &review } else { request }).unwrap() + "\n"
}
