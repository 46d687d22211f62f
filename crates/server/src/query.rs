//! `POST /v1/query`: the external data protocol of Gatekeeper.

use std::collections::HashSet;
use std::sync::Arc;

use futures_util::future::join_all;
use hyper::StatusCode;
use placement_guard::verdict::Verdict;
use serde::{Deserialize, Serialize};

use crate::evaluation::Pool;
use crate::judge::{Fault, Judge};
use crate::key;
use crate::metrics::Metrics;

const API_VERSION: &str = "externaldata.gatekeeper.sh/v1beta1";

/// Answers Gatekeeper.
pub struct Query {
    pub judge: Arc<Judge>,
    pub pool: Arc<Pool>,
    pub metrics: Arc<Metrics>,
    /// Of one request.
    pub most_keys: usize,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ProviderRequest {
    api_version: String,
    kind: String,
    request: Option<Keys>,
}

#[derive(Deserialize)]
struct Keys {
    #[serde(default)]
    keys: Option<Vec<String>>,
}

/// A `ProviderResponse`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ProviderResponse<'k> {
    api_version: &'static str,
    kind: &'static str,
    response: Response<'k>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Response<'k> {
    idempotent: bool,
    items: Vec<Item<'k>>,
    system_error: String,
}

#[derive(Debug, Serialize)]
struct Item<'k> {
    key: &'k str,
    value: Value,
}

/// A decision as templates read it. Everything is a text, a list of texts or `allowed`, but for the code: Gatekeeper reads
/// numbers as floating point.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Value {
    allowed: bool,
    message: String,
    warnings: Vec<String>,
    findings: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<u16>,
    #[serde(skip_serializing_if = "std::collections::BTreeMap::is_empty")]
    annotations: std::collections::BTreeMap<String, String>,
}

impl From<Verdict> for Value {
    fn from(verdict: Verdict) -> Self {
        let Verdict { allowed, code, message, findings, warnings, annotations } = verdict;
        Value { allowed, message: message.unwrap_or_default(), warnings, findings, code, annotations }
    }
}

/// A status and a body.
pub type Answer = (StatusCode, Vec<u8>);

/// An answer without decisions. Gatekeeper keeps nothing of it.
pub fn system_error(status: StatusCode, problem: impl Into<String>) -> Answer {
    (status, body(Vec::new(), problem.into()))
}

fn body(items: Vec<Item<'_>>, system_error: String) -> Vec<u8> {
    let response = Response { idempotent: true, items, system_error };
    let response = ProviderResponse { api_version: API_VERSION, kind: "ProviderResponse", response };
    // Structs of texts always have a form in JSON; were that ever untrue, an empty body is what templates refuse.
    serde_json::to_vec(&response).unwrap_or_default()
}

impl Query {
    /// Answers every key once, in the order in which they first occur.
    pub async fn answer(&self, bytes: &[u8]) -> Answer {
        let keys = match self.read(bytes) {
            Ok(keys) => keys,
            Err(problem) => {
                self.metrics.fault("request");
                return system_error(StatusCode::BAD_REQUEST, problem);
            }
        };
        let mut seen = HashSet::new();
        let keys: Vec<Arc<str>> = keys.into_iter().map(Arc::from).filter(|key| seen.insert(Arc::clone(key))).collect();
        let values = join_all(keys.iter().map(|key| self.value(Arc::clone(key)))).await;
        let mut faults = 0_usize;
        let mut first = None;
        let mut items = Vec::with_capacity(keys.len());
        for (key, value) in keys.iter().zip(values) {
            match value {
                Ok(value) => items.push(Item { key, value }),
                Err(fault) => {
                    faults = faults.saturating_add(1);
                    first.get_or_insert(fault);
                }
            }
        }
        let system_error = first.map(|fault| format!("{faults} of {} keys have no decision: {fault}", keys.len()));
        let status = if faults == 0 { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
        (status, body(items, system_error.unwrap_or_default()))
    }

    fn read(&self, bytes: &[u8]) -> Result<Vec<String>, String> {
        let request: ProviderRequest = serde_json::from_slice(bytes).map_err(|error| {
            format!("the body is no ProviderRequest: line {}, column {}", error.line(), error.column())
        })?;
        if (request.api_version.as_str(), request.kind.as_str()) != (API_VERSION, "ProviderRequest") {
            return Err(format!("the body is no ProviderRequest of `{API_VERSION}`"));
        }
        let keys = request.request.and_then(|request| request.keys).unwrap_or_default();
        if keys.len() > self.most_keys {
            return Err(format!("{} keys are asked, the most is {}; ask fewer at once", keys.len(), self.most_keys));
        }
        Ok(keys)
    }

    async fn value(&self, key: Arc<str>) -> Result<Value, Fault> {
        let judge = Arc::clone(&self.judge);
        let metrics = Arc::clone(&self.metrics);
        let evaluated = self.pool.run(move || match key::read(&key) {
            Ok(question) => judge.judge("query", question.settings, question.request).map(Value::from),
            Err(problem) => {
                metrics.decided("none", "unreadable");
                tracing::info!(face = "query", verdict = "unreadable", problem, "key");
                Ok(refusal(&problem))
            }
        });
        evaluated.await.unwrap_or_else(|not_evaluated| {
            let fault = Fault::from(not_evaluated);
            self.metrics.fault(fault.reason());
            Err(fault)
        })
    }
}

/// The one answer to a key that cannot be read: whoever sends it again gets it again, so it may be kept.
fn refusal(problem: &str) -> Value {
    Value {
        allowed: false,
        message: format!("the key cannot be read: {problem}; use the templates of this version"),
        warnings: Vec::new(),
        findings: Vec::new(),
        code: Some(422),
        annotations: std::collections::BTreeMap::new(),
    }
}
