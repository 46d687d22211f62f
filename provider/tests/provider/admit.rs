//! What API servers are answered.

use serde_json::{Value, json};

use crate::running::{bounds, built, start};

/// What an API server sent.
fn recorded(name: &str) -> Value {
    let path = format!("{}/../tests/requests/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_recorded_review_is_answered_under_its_uid() {
    let server = start(built(), bounds(), Some(r#"{"volumeNodeAffinity":{}}"#)).await;
    let review = recorded("pv-update-zone-to-region");
    let (status, answer) = server.client().post("/v1/admit", review.to_string()).await;
    assert_eq!(status, 200);
    assert_eq!(answer["kind"], "AdmissionReview");
    assert_eq!(answer["response"]["uid"], review["request"]["uid"]);
    assert_eq!(answer["response"]["allowed"], json!(false));
    assert_eq!(answer["response"]["status"]["code"], json!(403));
    assert_eq!(answer["response"]["auditAnnotations"]["relation"], "shifted");
}
