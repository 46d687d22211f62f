//! What comes back when Gatekeeper asks a provider, and what Rego sees of it (`externaldata` of OPA's frameworks).

use placement_guard::kubewarden::host::HostCluster;
use placement_guard::verdict::{self, Verdict};
use serde_json::{Value, json};
use testkit::fake_host::FakeHost;

/// What a provider does when it is asked.
#[derive(Debug, Clone)]
pub enum Reply {
    /// It answers over HTTP: the status, which Gatekeeper does not look at, and the body.
    Http(u16, Vec<u8>),
    /// The connection fails.
    Fails(String),
    /// Gatekeeper has the items in its cache and does not ask.
    Cached(Vec<Value>),
    /// The function fails, so that the expression around it is undefined.
    Undefined,
}

/// What `external_data` returns; `None` is undefined.
pub fn seen_by_rego(reply: &Reply) -> Option<Value> {
    let failed = |status: u16, error: String| json!({"responses": null, "errors": null, "status_code": status, "system_error": error});
    match reply {
        Reply::Undefined => None,
        Reply::Fails(error) => Some(failed(500, error.clone())),
        Reply::Cached(items) => Some(pairs(0, items, "")),
        Reply::Http(status, body) => Some(match decoded(body) {
            Ok((items, system_error)) => pairs(*status, &items, &system_error),
            Err(error) => failed(500, format!("failed to unmarshal provider response: {error}")),
        }),
    }
}

/// The items and the error of a ProviderResponse as Go decodes it: what is absent or null is empty, an unknown member is
/// skipped, a wrong type is an error.
fn decoded(body: &[u8]) -> Result<(Vec<Value>, String), String> {
    let document: Value = serde_json::from_slice(body).map_err(|error| error.to_string())?;
    let object = |value: &Value| match value {
        Value::Null => Ok(json!({})),
        Value::Object(_) => Ok(value.clone()),
        other => Err(format!("cannot unmarshal {other}")),
    };
    let response = object(&object(&document)?["response"])?;
    let items = match &response["items"] {
        Value::Null => Vec::new(),
        Value::Array(items) => items.iter().map(object).collect::<Result<_, _>>()?,
        other => return Err(format!("cannot unmarshal {other}")),
    };
    for text in items.iter().flat_map(|item| [&item["key"], &item["error"]]).chain([&response["systemError"]]) {
        if !(text.is_null() || text.is_string()) {
            return Err(format!("cannot unmarshal {text}"));
        }
    }
    Ok((items, response["systemError"].as_str().unwrap_or_default().to_owned()))
}

fn pairs(status: u16, items: &[Value], system_error: &str) -> Value {
    let error = |item: &Value| item["error"].as_str().unwrap_or_default().to_owned();
    let key = |item: &Value| item["key"].as_str().unwrap_or_default().to_owned();
    let (failed, answered): (Vec<&Value>, Vec<&Value>) = items.iter().partition(|item| !error(item).is_empty());
    let responses: Vec<Value> = answered.iter().map(|item| json!([key(item), item["value"]])).collect();
    let errors: Vec<Value> = failed.iter().map(|item| json!([key(item), error(item)])).collect();
    json!({"responses": responses, "errors": errors, "status_code": status, "system_error": system_error})
}

/// The answer to one key, by the library: the settings and the request of the key, judged in the cluster of a host.
pub fn judged(host: &FakeHost, key: &str) -> Value {
    let parsed: Value = serde_json::from_str(key).unwrap_or_default();
    let verdict = verdict_in(host, &parsed["settings"].to_string(), &parsed["request"].to_string());
    serde_json::to_value(verdict).unwrap_or_default()
}

/// The verdict of the library in the cluster of a host.
pub fn verdict_in(host: &FakeHost, settings: &str, request: &str) -> Verdict {
    let call =
        |operation: &str, payload: &[u8]| host.call(operation, payload).map_err(|said| format!("Host error: {said}"));
    verdict::check_in(settings, request, &HostCluster { call: &call })
}

/// A message of the library as templates tell it: without line breaks.
pub fn on_one_line(message: &str) -> String {
    message.replace("\n  ", "; ").replace('\n', "; ")
}

/// The body of a response with these items.
pub fn body(items: &[Value]) -> Vec<u8> {
    json!({
        "apiVersion": "externaldata.gatekeeper.sh/v1beta1",
        "kind": "ProviderResponse",
        "response": {"idempotent": true, "items": items, "systemError": ""},
    })
    .to_string()
    .into()
}
