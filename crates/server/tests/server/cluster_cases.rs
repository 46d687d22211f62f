//! The cases about live clusters, answered from what the server holds of an API server with their objects.

use std::sync::Arc;
use std::time::Duration;

use host::HostCalls;
use placement_guard::kubernetes::kind::Kind;
use placement_guard::kubewarden;
use serde_json::{Value, json};
use server::cluster::Reader;
use testkit::Case;

use crate::cluster::Fixture;

/// An object as the API server would have it.
pub fn stored(object: &Value) -> Option<Value> {
    let kind = Kind::named(object["kind"].as_str()?)?;
    if object["apiVersion"] != kind.api_version() || !object["metadata"]["name"].is_string() {
        return None;
    }
    let mut object = object.clone();
    if kind.is_namespaced() && object["metadata"]["namespace"].is_null() {
        object["metadata"]["namespace"] = json!("default");
    }
    Some(object)
}

async fn answer(case: &Case, objects: &[Value]) -> Value {
    let fixture = Fixture::empty();
    fixture.api.fill(objects.iter().filter_map(stored));
    let cluster = fixture.synced(&Kind::ALL).await;
    let payload = case.payload();
    let judged = move || {
        let reader = Reader::new(Arc::clone(&cluster), Duration::from_secs(30));
        kubewarden::validate_with(&payload, &|operation, payload| {
            let answer = reader.call("kubewarden", "kubernetes", operation, payload);
            // As the library for waPC in the module says it.
            answer.map_err(|error| format!("Host error: {error}"))
        })
    };
    serde_json::from_slice(&tokio::task::spawn_blocking(judged).await.unwrap()).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cases_are_answered_from_what_is_held() {
    let cases = testkit::cases().unwrap_or_else(|complaints| panic!("{complaints}"));
    let (mut asked, mut wrong) = (0, Vec::new());
    for case in cases {
        let Some(objects) = case.cluster() else { continue };
        asked += 1;
        if let Err(difference) = case.check(&answer(&case, objects).await) {
            wrong.push(format!("{}: {difference}", case.name));
        }
    }
    assert!(asked >= 10, "only {asked} cases were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
