//! `POST /v1/query`: the external data protocol of Gatekeeper.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::future::join_all;
use hyper::StatusCode;
use placement_guard::verdict::Verdict;
use protocol::key;
use protocol::provider_request::{self, API_VERSION};
use serde::Serialize;

use crate::asker::Asker;
use crate::evaluation::Pool;
use crate::judge::{Fault, Judge};
use crate::metrics::Metrics;

/// Answers Gatekeeper.
pub struct Query {
    pub judge: Arc<Judge>,
    pub pool: Arc<Pool>,
    pub metrics: Arc<Metrics>,
    /// Of one request.
    pub most_keys: usize,
    /// For all keys of one request.
    pub time: Duration,
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

/// A decision as templates read it. Only the code is a number: Gatekeeper reads numbers as floating point.
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

/// An answer without decisions. Gatekeeper caches nothing of it.
pub fn system_error(status: StatusCode, problem: impl Into<String>) -> Answer {
    (status, body(Vec::new(), problem.into()))
}

fn body(items: Vec<Item<'_>>, system_error: String) -> Vec<u8> {
    let response = Response { idempotent: true, items, system_error };
    let response = ProviderResponse { api_version: API_VERSION, kind: "ProviderResponse", response };
    // Structs of strings can always be written as JSON; if that ever fails, templates refuse an empty body.
    serde_json::to_vec(&response).unwrap_or_default()
}

impl Query {
    /// Answers every key once, in the order in which they first occur.
    pub async fn answer(&self, bytes: Bytes, asker: &Arc<Asker>) -> Answer {
        let deadline = Instant::now().checked_add(self.time);
        let keys = match provider_request::read(&bytes, self.most_keys) {
            Ok(keys) => keys,
            Err(problem) => {
                self.metrics.fault("request");
                return system_error(StatusCode::BAD_REQUEST, problem);
            }
        };
        // The keys are a copy of all that matters.
        drop(bytes);
        let mut seen = HashSet::new();
        let keys: Vec<Arc<str>> = keys.into_iter().map(Arc::from).filter(|key| seen.insert(Arc::clone(key))).collect();
        drop(seen);
        let values = join_all(keys.iter().map(|key| self.value_until(deadline, key, asker))).await;
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

    async fn value_until(&self, deadline: Option<Instant>, key: &Arc<str>, asker: &Arc<Asker>) -> Result<Value, Fault> {
        let value = self.value(Arc::clone(key), asker);
        let Some(deadline) = deadline else { return value.await };
        tokio::time::timeout_at(deadline.into(), value).await.unwrap_or_else(|_elapsed| {
            let fault = Fault::RequestDeadline(self.time.as_secs());
            self.metrics.fault(fault.reason());
            Err(fault)
        })
    }

    async fn value(&self, key: Arc<str>, asker: &Arc<Asker>) -> Result<Value, Fault> {
        let (judge, metrics, asking) = (Arc::clone(&self.judge), Arc::clone(&self.metrics), Arc::clone(asker));
        let evaluated = self.pool.run(asker, key.len(), move || match key::read(&key) {
            Ok(question) => judge.question(&question, &asking).map(Value::from),
            Err(problem) => {
                metrics.decided("none", "unreadable");
                if asking.may_log_complaint() {
                    tracing::info!(face = "query", verdict = "unreadable", problem, "key");
                }
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

/// The only answer to a key that cannot be read. It never changes, so Gatekeeper may cache it.
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
