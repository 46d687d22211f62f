//! The templates with the real provider: TLS with Gatekeeper's certificate, the built module in wasmtime, every case. The
//! same verdicts as the library alone, in the same words.

use std::collections::BTreeMap;
use std::sync::Arc;

use gatekeeper_tests::engine::Template;
use gatekeeper_tests::provider::{Reply, on_one_line, verdict_in};
use gatekeeper_tests::review;
use running_server::running;
use serde_json::{Value, json};
use templates::RULES;
use testkit::fake_host::{Cause, FakeHost};
use tokio::runtime::Runtime;
use tokio::sync::Mutex;

/// What Gatekeeper sends for one key.
fn request(key: &str) -> Vec<u8> {
    let request = json!({
        "apiVersion": "externaldata.gatekeeper.sh/v1beta1", "kind": "ProviderRequest", "request": {"keys": [key]},
    });
    request.to_string().into()
}

#[test]
fn every_case_is_decided_as_the_library_decides_it_and_a_provider_that_stopped_lets_nothing_pass() {
    let runtime = Runtime::new().expect("a runtime");
    let mut running = runtime.block_on(running::start(running::built(), running::bounds(), None));
    let client = running.gatekeeper();
    let connection = Arc::new(Mutex::new(runtime.block_on(client.open())));
    let handle = runtime.handle().clone();
    let provider = move |key: &str| {
        let answer = handle.block_on(async { connection.lock().await.post("/v1/query", request(key)).await });
        match answer {
            Ok((status, body)) => Reply::Http(status, body.to_string().into()),
            Err(error) => Reply::Fails(error.to_string()),
        }
    };
    let templates = RULES.map(|rule| (rule, Template::read(&rule).unwrap_or_else(|error| panic!("{error}"))));
    let nothing = FakeHost::new(Vec::new(), BTreeMap::from([(String::from("*"), Cause::NotGranted)]));
    let (mut asked, mut failures, mut last) = (0, Vec::new(), None);
    for case in testkit::cases().unwrap_or_else(|complaints| panic!("{complaints}")) {
        let Some(request) = case.request() else { continue };
        let settings: Value = serde_json::from_slice(&case.settings()).expect("settings are JSON");
        for (rule, template) in &templates {
            let Some(parameters) = settings.get(rule.section).filter(|section| section.is_object()) else { continue };
            let review = review::at_admission(request);
            let judged = template.judge(&review, parameters, provider.clone());
            let judged = judged.unwrap_or_else(|error| panic!("{}: {error}", case.name));
            // The provider of this test has no cluster to read.
            let expected = verdict_in(&nothing, &json!({rule.section: parameters}).to_string(), &request.to_string());
            let same = match expected.code {
                Some(422) => judged.message().is_some_and(|message| message.starts_with("unreadable: ")),
                _ => judged.message() == expected.message.as_deref().map(on_one_line).as_deref(),
            };
            if !same {
                failures.push(format!("{} by {}: expected {expected:?}, got {judged:?}", case.name, rule.file));
            }
            if !judged.keys.is_empty() {
                asked += 1;
                last = Some((rule, review, parameters.clone()));
            }
        }
    }
    assert!(failures.is_empty(), "{} cases fail:\n{}", failures.len(), failures.join("\n"));
    assert!(asked > 200, "the provider was asked {asked} times");

    drop(running.stop.take());
    runtime.block_on(running.task).expect("the server ends");
    let (rule, review, parameters) = last.expect("something was asked");
    let judged = Template::read(rule).and_then(|template| template.judge(&review, &parameters, provider));
    let judged = judged.unwrap_or_else(|error| panic!("{error}"));
    let message = judged.message().unwrap_or_default();
    assert!(message.starts_with("placement-guard gave no decision, so the request is refused: "), "{judged:?}");
}
