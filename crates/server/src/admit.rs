//! `POST /v1/admit`: the admission webhook of the API server, `admission.k8s.io/v1`.
//!
//! The answer is always a review: with an answer that the API server cannot read, the webhook's `failurePolicy` would
//! decide.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use placement_guard::verdict::Verdict;
use protocol::review::{self, API_VERSION};
use serde::Serialize;

use crate::asker::Asker;
use crate::evaluation::Pool;
use crate::judge::{Fault, Judge};
use crate::metrics::Metrics;
use crate::settings::CheckedSettings;

/// Answers API servers.
pub struct Admit {
    pub judge: Arc<Judge>,
    pub pool: Arc<Pool>,
    pub metrics: Arc<Metrics>,
    /// For all requests.
    pub settings: Arc<CheckedSettings>,
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
        404 => "NotFound",
        413 => "RequestEntityTooLarge",
        422 => "Invalid",
        503 => "ServiceUnavailable",
        _ => "Forbidden",
    }
}

/// A refusal without reading the request.
pub fn unread(code: u16, problem: &str) -> Vec<u8> {
    body(Response::refusal(String::new(), code, problem.to_owned()))
}

fn body(response: Response) -> Vec<u8> {
    // Structs of strings can always be written as JSON; if that ever fails, API servers refuse an empty body.
    serde_json::to_vec(&Answer { api_version: API_VERSION, kind: "AdmissionReview", response }).unwrap_or_default()
}

impl Admit {
    /// Answers a review, under the uid of its request.
    pub async fn answer(&self, bytes: Bytes, asker: &Arc<Asker>) -> Vec<u8> {
        let (judge, settings, metrics) =
            (Arc::clone(&self.judge), Arc::clone(&self.settings), Arc::clone(&self.metrics));
        let (asked, asking) = (bytes.clone(), Arc::clone(asker));
        let evaluated = self.pool.run(asker, asked.len(), move || match review::read(&asked) {
            Ok((uid, request)) => match judge.review(&settings, request, &asking) {
                Ok(verdict) => Response::of(uid, verdict),
                Err(fault) => Response::refusal(uid, 503, fault.to_string()),
            },
            Err(problem) => {
                metrics.decided("none", "unreadable");
                if asking.may_log_complaint() {
                    tracing::info!(face = "admit", verdict = "unreadable", problem, "review");
                }
                Response::refusal(String::new(), 422, problem)
            }
        });
        body(evaluated.await.unwrap_or_else(|not_evaluated| {
            let fault = Fault::from(not_evaluated);
            self.metrics.fault(fault.reason());
            let uid = review::read(&bytes).map(|(uid, _)| uid).unwrap_or_default();
            Response::refusal(uid, 503, fault.to_string())
        }))
    }
}
