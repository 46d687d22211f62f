//! `POST /v1/admit`: the admission webhook of the API server, `admission.k8s.io/v1`.
//!
//! Whatever comes is answered with a review: an answer that the API server cannot read would leave the decision to the
//! webhook's `failurePolicy`.

use std::collections::BTreeMap;
use std::sync::Arc;

use placement_guard::verdict::Verdict;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::evaluation::Pool;
use crate::judge::{Fault, Judge};
use crate::metrics::Metrics;

const API_VERSION: &str = "admission.k8s.io/v1";

/// Answers API servers.
pub struct Admit {
    pub judge: Arc<Judge>,
    pub pool: Arc<Pool>,
    pub metrics: Arc<Metrics>,
    /// Under which everything is judged.
    pub settings: Option<Arc<RawValue>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Review {
    api_version: Option<String>,
    kind: Option<String>,
    request: Option<Box<RawValue>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    api_version: &'static str,
    kind: &'static str,
    response: Response,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Response {
    uid: String,
    allowed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<Status>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    audit_annotations: BTreeMap<String, String>,
}

#[derive(Debug, Serialize)]
struct Status {
    code: u16,
    message: String,
    reason: &'static str,
}

impl Response {
    fn refusal(uid: String, code: u16, message: String) -> Self {
        let status = Some(Status { code, message, reason: reason(code) });
        Response { uid, allowed: false, status, warnings: Vec::new(), audit_annotations: BTreeMap::new() }
    }

    fn of(uid: String, verdict: Verdict) -> Self {
        let Verdict { allowed, code, message, findings: _, warnings, annotations } = verdict;
        let code = code.unwrap_or(403);
        let status = (!allowed).then(|| Status { code, message: message.unwrap_or_default(), reason: reason(code) });
        Response { uid, allowed, status, warnings, audit_annotations: annotations }
    }
}

/// As Kubernetes itself names these codes.
fn reason(code: u16) -> &'static str {
    match code {
        422 => "Invalid",
        413 => "RequestEntityTooLarge",
        503 => "ServiceUnavailable",
        _ => "Forbidden",
    }
}

/// A refusal of what was not even read.
pub fn unread(code: u16, problem: &str) -> Vec<u8> {
    body(Response::refusal(String::new(), code, problem.to_owned()))
}

fn body(response: Response) -> Vec<u8> {
    // Structs of texts always have a form in JSON; were that ever untrue, an empty body is what API servers refuse.
    serde_json::to_vec(&Answer { api_version: API_VERSION, kind: "AdmissionReview", response }).unwrap_or_default()
}

impl Admit {
    /// Answers a review, under the uid of its request.
    pub async fn answer(&self, bytes: bytes::Bytes) -> Vec<u8> {
        let (judge, settings, metrics) = (Arc::clone(&self.judge), self.settings.clone(), Arc::clone(&self.metrics));
        let copy = bytes.clone();
        let evaluated = self.pool.run(move || {
            let unreadable = |uid: String, problem: String| {
                metrics.decided("none", "unreadable");
                tracing::info!(face = "admit", verdict = "unreadable", problem, "review");
                Response::refusal(uid, 422, problem)
            };
            let review = match read(&bytes) {
                Ok(review) => review,
                Err(problem) => return unreadable(String::new(), problem),
            };
            let uid = uid(&review);
            let Some(settings) = settings else {
                return unreadable(uid, String::from("there are no settings; start `serve` with `--settings`"));
            };
            judge.judge("admit", &settings, &review).map_or_else(
                |fault| Response::refusal(uid.clone(), 503, fault.to_string()),
                |verdict| Response::of(uid.clone(), verdict),
            )
        });
        body(evaluated.await.unwrap_or_else(|not_evaluated| {
            let fault = Fault::from(not_evaluated);
            self.metrics.fault(fault.reason());
            let uid = read(&copy).map(|review| uid(&review)).unwrap_or_default();
            Response::refusal(uid, 503, fault.to_string())
        }))
    }
}

fn read(bytes: &[u8]) -> Result<Box<RawValue>, String> {
    let review: Review = serde_json::from_slice(bytes)
        .map_err(|error| format!("the body is no AdmissionReview: line {}, column {}", error.line(), error.column()))?;
    let is = |text: &Option<String>, wanted: &str| text.as_deref() == Some(wanted);
    if !is(&review.api_version, API_VERSION) || !is(&review.kind, "AdmissionReview") {
        return Err(format!("the body is no AdmissionReview of `{API_VERSION}`"));
    }
    review.request.ok_or_else(|| String::from("the AdmissionReview has no request"))
}

/// The uid of a request, also of one that is no good otherwise.
fn uid(request: &RawValue) -> String {
    #[derive(Deserialize)]
    struct Named {
        uid: Option<String>,
    }
    serde_json::from_str::<Named>(request.get()).ok().and_then(|request| request.uid).unwrap_or_default()
}
