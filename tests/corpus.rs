//! Every case of `policies/cases/`, answered by the library. The built module answers the same cases in `wasm-tests`.

use std::sync::LazyLock;

use placement_guard::kubernetes::field::{self, Field};
use placement_guard::kubernetes::node_selector::Labels;
use placement_guard::kubernetes::volume::Volume;
use placement_guard::kubewarden;
use placement_guard::rules::decision::Decision;
use placement_guard::verdict::{self, Verdict};
use serde_json::{Value, json};
use testkit::Case;

/// Every case with its answer. Some cost their whole budget, so each is answered once.
static ANSWERED: LazyLock<Vec<(Case, Value)>> = LazyLock::new(|| {
    let cases = testkit::cases().unwrap_or_else(|complaints| panic!("cases that cannot be read:\n{complaints}"));
    let answer = |case: &Case| match case.function() {
        "validate" => kubewarden::validate(&case.payload()),
        _ => kubewarden::validate_settings(&case.payload()),
    };
    let answered = cases.into_iter().map(|case| {
        let answer = json_of(&answer(&case));
        (case, answer)
    });
    answered.collect()
});

fn json_of(answer: &[u8]) -> Value {
    serde_json::from_slice(answer).expect("an answer is JSON")
}

/// Fails with one line per case that is not as it should be.
fn every_case(is_right: impl Fn(&Case, &Value) -> Result<(), String>) {
    let failures: Vec<String> = ANSWERED
        .iter()
        .filter_map(|(case, answer)| is_right(case, answer).err().map(|why| format!("{}: {why}", case.name)))
        .collect();
    assert!(failures.is_empty(), "{} cases fail:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn every_case_is_decided_as_it_says() {
    every_case(Case::check);
}

#[test]
fn the_verdict_is_the_decision_with_and_without_the_review_around_the_request() {
    every_case(|case, answer| {
        let Some(request) = case.request() else { return Ok(()) };
        let decision: Decision = serde_json::from_value(answer.clone()).map_err(|error| error.to_string())?;
        let settings = String::from_utf8_lossy(&case.settings()).into_owned();
        let review = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request});
        for asked in [request, &review] {
            let verdict = verdict::check(&settings, &asked.to_string());
            if verdict != Verdict::from(decision.clone()) {
                return Err(format!("the verdict is {verdict:?}"));
            }
        }
        Ok(())
    });
}

#[test]
fn settings_under_which_a_request_is_judged_are_valid_and_no_others() {
    every_case(|case, answer| match case.request() {
        Some(_) => {
            let verdict = json_of(&kubewarden::validate_settings(&case.settings()));
            let valid = verdict == json!({"valid": true, "message": null});
            if valid { Ok(()) } else { Err(format!("settings: {verdict}")) }
        }
        None => {
            // A host that never asked whether the settings are valid is told with the first request.
            let settings: Value = json_of(&case.settings());
            let refusal = json_of(&kubewarden::validate(json!({"settings": settings}).to_string().as_bytes()));
            let expected = json!({"accepted": false, "code": 422, "message": answer["message"]});
            if refusal == expected { Ok(()) } else { Err(format!("a request is answered {refusal}")) }
        }
    });
}

/// What the annotations cite as evidence is put to the plain matcher, whether or not the case expects it.
#[test]
fn every_example_node_is_admitted_by_one_side_and_refused_by_the_other() {
    let mut replayed = 0;
    for (case, answer) in ANSWERED.iter() {
        for (annotation, winner, loser) in [("losesNode", "oldObject", "object"), ("gainsNode", "object", "oldObject")]
        {
            let Some(node) = answer["audit_annotations"][annotation].as_str() else { continue };
            let node: Labels = serde_json::from_str(node).expect("a node is a mapping of labels");
            let admits = |object: &str| {
                let text = case.request().expect("only requests have evidence")[object].to_string();
                let object = field::parse(text.as_bytes()).expect("it is JSON");
                Volume::read(&Field::root("object", &object)).expect("it was judged").admits(&node)
            };
            assert!(admits(winner), "{}: {annotation} {node:?} is not admitted by {winner}", case.name);
            assert!(!admits(loser), "{}: {annotation} {node:?} is admitted by {loser}", case.name);
            replayed += 1;
        }
    }
    assert!(replayed >= 50, "only {replayed} examples were replayed");
}

#[test]
fn every_recorded_request_can_be_read_and_is_accepted_where_no_rule_is_about_it() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/requests");
    let mut read = 0;
    for file in std::fs::read_dir(folder).expect("the recorded requests are there") {
        let name = file.expect("a file").path().file_stem().expect("a name").to_string_lossy().into_owned();
        let request = testkit::recorded(&name).unwrap_or_else(|error| panic!("{error}"));
        let payload = json!({"settings": {"volumeNodeAffinity": {}}, "request": request}).to_string();
        let answer = json_of(&kubewarden::validate(payload.as_bytes()));
        assert_ne!(answer["code"], 422, "{name}: {answer}");
        let judged = name.starts_with("pv-update") || name.starts_with("pv-create");
        assert!(judged || answer == json!({"accepted": true}), "{name}: {answer}");
        read += 1;
    }
    assert_eq!(read, 71);
}
