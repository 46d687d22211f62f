//! What API servers are answered.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::hostile::{self, LOOPS};
use running_server::pki::{Ca, GATEKEEPER};
use running_server::running::{bounds, built, refused_to_start, start, start_with};

const SETTINGS: &str = r#"{"volumeNodeAffinity":{},"tolerations":{"allowed":[]}}"#;

/// What an API server sent.
fn recorded(name: &str) -> Value {
    let path = format!("{}/../../tests/requests/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn review(response: &Value) -> Value {
    json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response})
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn recorded_reviews_are_answered_under_their_uids() {
    let server = start(built(), bounds(), Some(SETTINGS)).await;
    let mut connection = server.client().tls12().open().await;

    let shifted = recorded("pv-update-zone-to-region");
    let (status, answer) = connection.post("/v1/admit", shifted.to_string()).await.unwrap();
    assert_eq!(status, 200);
    let message = answer["response"]["status"]["message"].as_str().unwrap();
    assert!(message.starts_with("node affinity shifted: a node with "), "{message}");
    let annotations = &answer["response"]["auditAnnotations"];
    assert_eq!(
        (&annotations["relation"], &annotations["findings"]),
        (&json!("shifted"), &json!("node-affinity-shifted"))
    );
    let refused = json!({"uid": shifted["request"]["uid"], "allowed": false, "auditAnnotations": annotations,
        "status": {"code": 403, "reason": "Forbidden", "message": message}});
    assert_eq!(answer, review(&refused));

    let widened = recorded("pv-update-zone-added");
    let (status, answer) = connection.post("/v1/admit", widened.to_string()).await.unwrap();
    let annotations = &answer["response"]["auditAnnotations"];
    assert_eq!((status, &annotations["relation"]), (200, &json!("widened")));
    let allowed = json!({"uid": widened["request"]["uid"], "allowed": true, "auditAnnotations": annotations});
    assert_eq!(answer, review(&allowed));

    // Both rules are in force, so each decision counts for both.
    for rule in ["volumeNodeAffinity", "tolerations"] {
        for verdict in ["allowed", "refused"] {
            let series = format!("placement_guard_decisions_total{{rule=\"{rule}\",verdict=\"{verdict}\"}}");
            assert_eq!(server.metric(&series).await, 1.0, "{series}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bad_body_is_refused_under_its_uid_where_it_has_one() {
    let server = start(built(), bounds(), Some(SETTINGS)).await;
    let of = |request: &str| {
        format!(r#"{{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{request}}}"#)
    };
    // In the module's own words, which the library shares.
    let not_an_object = placement_guard::verdict::check(SETTINGS, r#"["u-3"]"#).message.unwrap();
    let long = format!(r#"{{"uid":"{}"}}"#, "é".repeat(129));
    let just_short_enough = "é".repeat(128);
    let short = format!(r#"{{"uid":"{just_short_enough}"}}"#);
    let no_kind = "unreadable: kind.kind: is missing; must be a string";
    let cases = [
        (of(&long), "", "request.uid: has 129 characters; at most 128 are allowed"),
        (of(&short), &just_short_enough, no_kind),
        (String::new(), "", "the body is not an AdmissionReview: line 1, column 0"),
        (String::from("\u{0}"), "", "the body is not an AdmissionReview: it must be a JSON object"),
        ("[".repeat(100_000), "", "the body is not an AdmissionReview: it must be a JSON object"),
        (
            String::from(r#"["admission.k8s.io/v1","AdmissionReview",{"uid":"u-0"}]"#),
            "",
            "the body is not an AdmissionReview: it must be a JSON object",
        ),
        (of("null"), "", "the AdmissionReview has no request"),
        (
            of("{}").replace("admission.k8s.io/v1", "admission.k8s.io/v1beta1"),
            "",
            "the body is not an AdmissionReview of `admission.k8s.io/v1`",
        ),
        (of(r#"{"uid":"u-1"}"#), "u-1", "unreadable: kind.kind: is missing; must be a string"),
        (
            of(r#"{"uid":"u-2","kind":{"kind":"Pod"},"operation":"PATCH"}"#),
            "u-2",
            "unreadable: operation: must be `CREATE`, `UPDATE`, `DELETE` or `CONNECT`, but is `PATCH`",
        ),
        (of(r#"["u-3"]"#), "", &not_an_object),
        (of(r#"{"uid":7}"#), "", "unreadable: uid: must be a string, but is a number: `7`; write it in quotes"),
    ];
    let mut connection = server.client().open().await;
    for (body, uid, message) in cases {
        let answer = connection.post("/v1/admit", body.clone()).await.unwrap();
        let refusal = json!({"uid": uid, "allowed": false,
            "status": {"code": 422, "reason": "Invalid", "message": message}});
        assert_eq!(answer, (200, review(&refusal)), "{}", &body[..body.len().min(120)]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_transient_error_refuses_under_the_uid() {
    let body = r#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u-1"}}"#;
    // One question of Gatekeeper runs, and another one waits.
    let bounds = server::Bounds { evaluations: 1, queue: 1, ..bounds() };
    let server = Arc::new(start(hostile::module(5), bounds, Some("{}")).await);
    let asked = |salt| {
        let server = Arc::clone(&server);
        tokio::spawn(async move {
            let request = crate::query::provider_request(&[hostile::key(LOOPS, salt), hostile::key(LOOPS, salt + 1)]);
            server.gatekeeper().post("/v1/query", request).await
        })
    };
    let waiting = asked(0);
    server.comes_to("placement_guard_evaluations_in_flight", 1.0).await;
    let answer = server.client().post("/v1/admit", body).await;
    let refusal = json!({"uid": "u-1", "allowed": false, "status": {"code": 503, "reason": "ServiceUnavailable",
        "message": "too many evaluations are waiting; try again, and add replicas if this happens often"}});
    assert_eq!(answer, (200, review(&refusal)));
    assert_eq!(waiting.await.unwrap().0, 503);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bad_certificate_closes_nothing_that_requires_none() {
    let server = start(built(), bounds(), Some(SETTINGS)).await;
    let review = recorded("pv-update-zone-added").to_string();
    let strangers = [Ca::new("other CA").issue("api-server"), server.pki.ca.issue_expired("api-server")];
    for pair in strangers {
        for client in [server.client().with(&pair), server.client().with(&pair).tls12()] {
            let (status, answer) = client.post("/v1/admit", review.clone()).await;
            assert_eq!((status, &answer["response"]["allowed"]), (200, &json!(true)));
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn admit_client_ca_closes_it_to_others() {
    let server = start_with(built(), |config| {
        config.settings = Some(SETTINGS.to_owned());
        config.admit_client_ca = config.query_clients.as_ref().map(|clients| clients.ca.clone());
    })
    .await;
    let body = recorded("pv-update-zone-added").to_string();
    let refusal = |message: &str| {
        review(
            &json!({"uid": "", "allowed": false, "status": {"code": 403, "reason": "Forbidden", "message": message}}),
        )
    };
    let answer = server.client().post("/v1/admit", body.clone()).await;
    assert_eq!(answer, (403, refusal("a client certificate is required but none was sent")));
    let stranger = server.client().with(&Ca::new("other CA").issue(GATEKEEPER));
    let problem =
        "the client certificate is not signed by the required CA, not for client authentication, or not valid now";
    assert_eq!(stranger.post("/v1/admit", body.clone()).await, (403, refusal(problem)));
    let known = server.client().with(&server.pki.ca.issue("api-server"));
    let (status, answer) = known.post("/v1/admit", body).await;
    assert_eq!((status, &answer["response"]["allowed"]), (200, &json!(true)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_settings_there_is_no_such_path() {
    let server = start(built(), bounds(), None).await;
    let body = recorded("pv-update-zone-added").to_string();
    let refusal = json!({"uid": "", "allowed": false, "status": {"code": 404, "reason": "NotFound",
        "message": "there is no `/v1/admit`; start `serve` with `--settings`"}});
    assert_eq!(server.client().post("/v1/admit", body).await, (404, review(&refusal)));
    assert_eq!(server.metric("placement_guard_evaluation_seconds_count").await, 0.0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn settings_that_the_module_refuses_keep_it_from_starting() {
    let error = refused_to_start(|config| config.settings = Some(String::from(r#"{"tolerations":7}"#))).await;
    assert!(error.starts_with("settings are not valid: tolerations"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leaf_certificate_is_not_a_client_ca() {
    for file in ["client CA", "admit client CA"] {
        let error = refused_to_start(|config| {
            let leaf = config.certificate.clone();
            match file {
                "client CA" => config.query_clients.as_mut().unwrap().ca = leaf,
                _ => config.admit_client_ca = Some(leaf),
            }
        })
        .await;
        assert!(error.ends_with("tls.crt: the certificate of `CN=localhost` is not a CA certificate"), "{error}");
    }
}
