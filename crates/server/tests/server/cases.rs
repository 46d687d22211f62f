//! Every case of `policies/cases/` that has a cluster, on `/v1/admit` of a server that reads it from an API server.

use std::sync::Arc;
use std::time::Duration;

use placement_guard::kubernetes::kind::Kind;
use placement_guard::kubewarden;
use serde_json::{Value, json};
use server::cluster::{Access, Reading};
use testkit::Case;
use testkit::api_server::ApiServer;
use testkit::fake_host::Cause;

use crate::cluster::limits;
use crate::cluster_cases::stored;
use running_server::running::{built, start_with};

/// The cluster of a case behind an API server; `None` for what an API server cannot do to one kind alone.
fn served(case: &Case) -> Option<ApiServer> {
    let api = ApiServer::start();
    let mut objects = Vec::new();
    case.host_with(|all| objects.clone_from(all));
    objects.iter().filter_map(stored).for_each(|object| api.put(&object));
    for (unreadable, cause) in case.unreadable() {
        if (unreadable, cause) == ("*", Cause::Down) {
            api.stop();
            return Some(api);
        }
        for kind in Kind::ALL.into_iter().filter(|kind| unreadable == "*" || unreadable == kind.name()) {
            let resource = kind.resource();
            match cause {
                Cause::Forbidden => ["get", "list", "watch"].into_iter().for_each(|verb| api.forbid(verb, resource)),
                Cause::NotServed => api.unserve(resource),
                Cause::NotGranted | Cause::Down | Cause::TookTooLong | Cause::Half => return None,
            }
        }
    }
    Some(api)
}

/// What the library decides, as an API server is answered.
fn expected(case: &Case) -> Value {
    let host = case.host();
    let answer = kubewarden::validate_with(&case.payload(), &|operation, payload| {
        host.call(operation, payload).map_err(|said| format!("Host error: {said}"))
    });
    let decision: Value = serde_json::from_slice(&answer).unwrap();
    said(&json!({
        "allowed": decision["accepted"],
        "auditAnnotations": decision["audit_annotations"],
        "warnings": decision["warnings"],
        "status": {"code": decision["code"], "message": decision["message"]},
    }))
}

fn said(response: &Value) -> Value {
    let (annotations, warnings) = (&response["auditAnnotations"], &response["warnings"]);
    let said = json!({
        "allowed": response["allowed"],
        "code": response["status"]["code"],
        "message": response["status"]["message"],
        "annotations": if annotations.is_null() { json!({}) } else { annotations.clone() },
        "warnings": if warnings.is_null() { json!([]) } else { warnings.clone() },
    });
    // The policy server is asked for one object before it lists. Here it is known what may not be listed.
    said.to_string().replace("account may not list them", "account may not get them").parse().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_case_in_a_cluster_is_answered_as_the_library_answers_it() {
    let (mut judged, mut with_unreadable, mut left_out) = (0, 0, 0);
    let folder = tempfile::tempdir().unwrap();
    let kubeconfig = folder.path().join("kubeconfig");
    for case in testkit::cases().unwrap() {
        let is_live = case.cluster().is_some() || case.has_unreadable_kinds();
        let Some(request) = case.request().filter(|_| is_live) else { continue };
        let Some(api) = served(&case) else {
            left_out += 1;
            continue;
        };
        std::fs::write(&kubeconfig, api.kubeconfig()).unwrap();
        let server = start_with(Arc::clone(&built()), |config| {
            let access = Access::Kubeconfig { file: kubeconfig.clone(), context: None };
            config.cluster = Reading { access: Some(access), kinds: Kind::ALL.into(), limits: limits() };
            config.settings = Some(String::from_utf8(case.settings()).unwrap());
        })
        .await;
        if case.has_unreadable_kinds() {
            with_unreadable += 1;
        }
        let review = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request});
        let expected = expected(&case);
        let mut connection = server.client().open().await;
        let mut answered = Value::Null;
        // Until the first lists have come, nothing can be read yet.
        for _ in 0..200 {
            let (status, answer) = connection.post("/v1/admit", review.to_string()).await.unwrap();
            assert_eq!(status, 200, "{}", case.name);
            answered = said(&answer["response"]);
            if answered == expected {
                break;
            }
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
        assert_eq!(answered, expected, "{}", case.name);
        judged += 1;
    }
    assert!(judged >= 20 && with_unreadable >= 4, "{judged} cases, {with_unreadable} with kinds that cannot be read");
    assert_eq!(left_out, LEFT_OUT, "cases are left out");
}

/// Cases that need what an API server cannot do to one kind alone.
const LEFT_OUT: usize = 66;
