//! Every case of `policies/cases/`, answered by the library, as a test of its own: `cargo test --test corpus -- NAME`. The
//! built module answers the same cases in `wasm-tests`.

#![allow(clippy::restriction)]

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{LazyLock, OnceLock};

use libtest_mimic::{Arguments, Failed, Trial};
use placement_guard::kubernetes::field::{self, Field};
use placement_guard::kubernetes::node_selector::Labels;
use placement_guard::kubernetes::request::Request;
use placement_guard::kubernetes::volume::Volume;
use placement_guard::kubewarden::{self, host::HostCluster};
use placement_guard::rules::decision::Decision;
use placement_guard::rules::finding::Code;
use placement_guard::rules::{findings, read_settings};
use placement_guard::verdict::{self, Verdict};
use serde_json::{Value, json};
use testkit::Case;

/// What each case is checked against, in addition to its own expectations.
type Law = fn(&Case, &Value) -> Result<(), String>;

const LAWS: [Law; 5] = [
    Case::check,
    the_verdict_is_the_decision,
    settings_are_valid_where_requests_are_judged,
    replay,
    findings_name_their_fields,
];

fn main() -> ExitCode {
    let cases = CASES.iter().map(|asked| {
        Trial::test(&asked.case.name, || {
            let wrong: Vec<String> = LAWS.iter().filter_map(|law| law(&asked.case, asked.answer()).err()).collect();
            if wrong.is_empty() { Ok(()) } else { Err(Failed::from(wrong.join("\n"))) }
        })
    });
    let recorded = recorded_requests().into_iter().map(|name| {
        Trial::test(format!("recorded::{name}"), move || recorded_request_can_be_read(&name).map_err(Failed::from))
    });
    let all = [
        Trial::test("all::examples_are_replayed", || {
            let replayed: usize = CASES.iter().map(|asked| examples(asked.answer()).count()).sum();
            if replayed >= 50 { Ok(()) } else { Err(format!("only {replayed} examples were replayed").into()) }
        }),
        Trial::test("all::recorded_requests_are_there", || {
            let found = recorded_requests().len();
            if found == 71 { Ok(()) } else { Err(format!("found {found} recorded requests of 71").into()) }
        }),
    ];
    let trials = cases.chain(recorded).chain(all).collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// A case with its answer. Some cost their whole budget, so each is answered once.
struct Asked {
    case: Case,
    answer: OnceLock<Value>,
}

static CASES: LazyLock<Vec<Asked>> = LazyLock::new(|| {
    let cases = testkit::cases().unwrap_or_else(|complaints| panic!("cases that cannot be read:\n{complaints}"));
    cases.into_iter().map(|case| Asked { case, answer: OnceLock::new() }).collect()
});

impl Asked {
    fn answer(&self) -> &Value {
        self.answer.get_or_init(|| {
            json_of(&match self.case.function() {
                "validate" => {
                    let host = self.case.host();
                    kubewarden::validate_with(&self.case.payload(), &|operation, payload| {
                        host.call(operation, payload).map_err(|said| format!("Host error: {said}"))
                    })
                }
                _ => kubewarden::validate_settings(&self.case.payload()),
            })
        })
    }
}

fn json_of(answer: &[u8]) -> Value {
    serde_json::from_slice(answer).expect("an answer is JSON")
}

/// With and without the review around the request.
fn the_verdict_is_the_decision(case: &Case, answer: &Value) -> Result<(), String> {
    let Some(request) = case.request() else { return Ok(()) };
    let host = case.host();
    let cluster = HostCluster {
        call: &|operation, payload| host.call(operation, payload).map_err(|said| format!("Host error: {said}")),
    };
    let decision: Decision = serde_json::from_value(answer.clone()).map_err(|error| error.to_string())?;
    let settings = String::from_utf8_lossy(&case.settings()).into_owned();
    let review = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request});
    for asked in [request, &review] {
        let verdict = verdict::check_in(&settings, &asked.to_string(), &cluster);
        if verdict != Verdict::from(decision.clone()) {
            return Err(format!("the verdict is {verdict:?}"));
        }
    }
    Ok(())
}

/// And no other settings are.
fn settings_are_valid_where_requests_are_judged(case: &Case, answer: &Value) -> Result<(), String> {
    match case.request() {
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
    }
}

/// The nodes that an answer cites as evidence: the annotation, the node, the side that admits it and the side that does not.
fn examples(answer: &Value) -> impl Iterator<Item = (&'static str, &str, &'static str, &'static str)> {
    let sides = [("losesNode", "oldObject", "object"), ("gainsNode", "object", "oldObject")];
    sides.into_iter().filter_map(|(annotation, winner, loser)| {
        Some((annotation, answer["audit_annotations"][annotation].as_str()?, winner, loser))
    })
}

/// Whether or not the case expects them, examples are put to the plain matcher.
fn replay(case: &Case, answer: &Value) -> Result<(), String> {
    for (annotation, node, winner, loser) in examples(answer) {
        let node: Labels = serde_json::from_str(node).map_err(|error| format!("{annotation}: {error}"))?;
        let request = case.request().ok_or("only requests have evidence")?;
        let admits = |object: &str| {
            let text = request[object].to_string();
            let object = field::parse(text.as_bytes()).expect("it is JSON");
            Volume::read(&Field::root("object", &object)).expect("it was judged").admits(&node)
        };
        if !admits(winner) || admits(loser) {
            return Err(format!("{annotation} {node:?} is not admitted by {winner} alone"));
        }
    }
    Ok(())
}

/// Every finding knows its field, except one about a request that is too large or a cluster that cannot be read. In the object the field is there, or what should
/// hold it is. It is shown as it is known.
fn findings_name_their_fields(case: &Case, _: &Value) -> Result<(), String> {
    let Some(request) = case.request() else { return Ok(()) };
    let (settings, asked) = (case.settings(), request.to_string());
    let read = |bytes| field::parse(bytes).map_err(|unreadable| unreadable.to_string());
    let (settings, asked) = (read(&settings)?, read(asked.as_bytes())?);
    let settings = read_settings(&Field::root("", &settings)).map_err(|unreadable| unreadable.to_string())?;
    let root = Field::root("", &asked);
    // What cannot be read has no findings.
    let Ok(found) = Request::read(&root).and_then(|request| {
        let host = case.host();
        let call = |operation: &str, payload: &[u8]| {
            host.call(operation, payload).map_err(|said| format!("Host error: {said}"))
        };
        findings(&settings, &request, &HostCluster { call: &call })
    }) else {
        return Ok(());
    };
    for finding in found {
        let undecided = finding.headline.contains("could not decide");
        let Some(path) = &finding.path else {
            if matches!(finding.code, Code::RequestTooLarge | Code::ClusterUnreadable) || undecided {
                continue;
            }
            return Err(format!("{finding:?} names no field"));
        };
        let is_rest = finding.headline.contains(": the same for ");
        if !is_rest && !finding.details.iter().any(|line| line == path || line.starts_with(&format!("{path}: "))) {
            return Err(format!("{finding:?} does not show its field"));
        }
        if missing(&request["object"], path) > 2 && missing(&request["oldObject"], path) > 2 {
            return Err(format!("{finding:?} names a field far from what is there"));
        }
    }
    Ok(())
}

/// How many steps of a path are not there.
fn missing(object: &Value, path: &str) -> usize {
    let mut steps = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        let (step, after) = match rest.strip_prefix('[') {
            Some(bracket) => bracket.split_once(']').expect("a bracket ends"),
            None => rest.split_at(rest.find(['.', '[']).unwrap_or(rest.len())),
        };
        steps.push(step);
        rest = after.strip_prefix('.').unwrap_or(after);
    }
    let mut at = object;
    for (index, step) in steps.iter().enumerate() {
        let below = step.parse::<usize>().map_or_else(|_| at.get(step), |number| at.get(number));
        match below {
            Some(below) if !below.is_null() => at = below,
            _ => return steps.len() - index,
        }
    }
    0
}

fn recorded_requests() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/requests");
    let files = std::fs::read_dir(folder).expect("the recorded requests are there");
    let name = |path: PathBuf| path.file_stem().expect("a name").to_string_lossy().into_owned();
    let mut names: Vec<String> = files.map(|file| name(file.expect("a file").path())).collect();
    names.sort_unstable();
    names
}

/// It is accepted where no rule is about it.
fn recorded_request_can_be_read(name: &str) -> Result<(), String> {
    let request = testkit::recorded(name)?;
    let payload = json!({"settings": {"volumeNodeAffinity": {}}, "request": request}).to_string();
    let answer = json_of(&kubewarden::validate(payload.as_bytes()));
    let judged = name.starts_with("pv-update") || name.starts_with("pv-create");
    if answer["code"] == 422 || !judged && answer != json!({"accepted": true}) {
        return Err(format!("is answered {answer}"));
    }
    Ok(())
}
