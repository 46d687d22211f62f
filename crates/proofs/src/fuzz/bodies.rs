//! Bodies as the server's clients send them, and what its readers make of them.

use protocol::{key, provider_request, review};
use serde_json::{Value, json};

use super::{answers, mutate};
use crate::random::Random;

/// The keys that a request may have.
const MOST_KEYS: usize = 50;

/// The body of an API server, or of Gatekeeper with one key.
pub fn seed(settings: &Value, request: &Value, is_review: bool) -> Value {
    if is_review {
        return json!({"apiVersion": review::API_VERSION, "kind": "AdmissionReview", "request": request});
    }
    let key = json!({"v": key::VERSION, "settings": settings, "request": request}).to_string();
    json!({"apiVersion": provider_request::API_VERSION, "kind": "ProviderRequest", "request": {"keys": [key]}})
}

/// Changes a body, or the document in one of its keys. Parts may be taken from `other`.
pub fn change(body: &mut Value, other: &Value, random: &mut Random) {
    if !random.one_in(3)
        && let Some(keys) = body.pointer_mut("/request/keys").and_then(Value::as_array_mut)
        && !keys.is_empty()
    {
        let at = random.below(keys.len());
        if let Some(mut inner) = keys[at].as_str().and_then(|key| serde_json::from_str::<Value>(key).ok()) {
            mutate::change(&mut inner, other, random);
            let mut key = inner.to_string();
            if random.one_in(20) {
                mutate::break_text(&mut key, random);
            }
            keys[at] = json!(key);
            return;
        }
    }
    mutate::change(body, other, random);
}

/// Changes bytes so that they are perhaps not JSON any more, or not UTF-8.
pub fn break_bytes(bytes: &mut Vec<u8>, random: &mut Random) {
    match String::from_utf8(bytes.clone()) {
        Ok(mut text) if !random.one_in(4) => {
            mutate::break_text(&mut text, random);
            *bytes = text.into_bytes();
        }
        _ if bytes.is_empty() => bytes.push(random.number() as u8),
        _ => {
            let at = random.below(bytes.len());
            bytes[at] = random.number() as u8;
        }
    }
}

/// Reads a body as both clients' bodies are read, and compares with another reader of JSON. `document` is the body where it
/// is known that no member appears twice in it. Whether it is a review or a request.
///
/// # Errors
/// What is read otherwise than it is written.
pub fn check(bytes: &[u8], document: Option<&Value>) -> Result<bool, String> {
    let parsed = match document {
        Some(_) => None,
        None => serde_json::from_slice::<Value>(bytes).ok(),
    };
    let written = document.or(parsed.as_ref());
    let is = |value: &Value, api_version: &str, kind: &str| value["apiVersion"] == api_version && value["kind"] == kind;
    let review = review::read(bytes);
    let is_review = review.is_ok();
    match (review, written) {
        (Ok((uid, request)), Some(body)) => {
            let same = serde_json::from_str::<Value>(request.get()).is_ok_and(|request| request == body["request"]);
            let uid_is_right = uid.is_empty() || body["request"]["uid"] == uid;
            if !is(body, review::API_VERSION, "AdmissionReview") || !same || !uid_is_right {
                return Err(format!("the review is read as `{uid}`, {request}, but is {body}"));
            }
        }
        (Err(problem), Some(body)) => {
            let uid = body["request"]["uid"].as_str().unwrap_or_default();
            let has_shape = is(body, review::API_VERSION, "AdmissionReview") && !body["request"].is_null();
            if document.is_some() && has_shape && uid.chars().count() <= review::LONGEST_UID {
                return Err(format!("a review is refused: {problem}"));
            }
        }
        (_, None) => {}
    }
    match (provider_request::read(bytes, MOST_KEYS), written) {
        (Ok(keys), written) => {
            if let Some(body) = written {
                let same = match &body["request"]["keys"] {
                    Value::Null => keys.is_empty(),
                    listed => *listed == json!(keys),
                };
                if !is(body, provider_request::API_VERSION, "ProviderRequest") || !same || keys.len() > MOST_KEYS {
                    return Err(format!("the request is read as {keys:?}, but is {body}"));
                }
            }
            keys.iter().try_for_each(|key| check_key(key))?;
            Ok(true)
        }
        (Err(problem), Some(body)) if document.is_some() => {
            let keys = &body["request"]["keys"];
            let has_shape = body["request"].is_null()
                || body["request"].is_object()
                    && keys
                        .as_array()
                        .map_or(keys.is_null(), |keys| keys.len() <= MOST_KEYS && keys.iter().all(Value::is_string));
            if is(body, provider_request::API_VERSION, "ProviderRequest") && has_shape {
                return Err(format!("a request is refused: {problem}"));
            }
            Ok(is_review)
        }
        (Err(_), _) => Ok(is_review),
    }
}

/// What the module gets of a key must be what the key says, and nothing else.
fn check_key(key: &str) -> Result<(), String> {
    let written = serde_json::from_str::<Value>(key);
    match (key::read(key), written) {
        (Ok(question), Ok(written)) => {
            let payload = payload(&question);
            let given = serde_json::from_str::<Value>(&payload).map_err(|error| format!("{error}: {payload}"))?;
            let wanted = json!({"settings": written["settings"], "request": written["request"]});
            // The number itself, not something that is equal to it.
            if given != wanted || written["v"].as_u64() != Some(key::VERSION) {
                return Err(format!("the key {key} is given to the module as {payload}"));
            }
            Ok(())
        }
        // Where the text is what would be written of it, no member appears twice.
        (Err(problem), Ok(written)) if is_written_as(&written, key) => {
            let has_all = written.is_object() && !written["settings"].is_null() && !written["request"].is_null();
            let is_ours = written["v"].is_u64() && written["v"] == key::VERSION;
            if has_all && is_ours { Err(format!("a key is refused: {problem}: {key}")) } else { Ok(()) }
        }
        _ => Ok(()),
    }
}

fn is_written_as(value: &Value, text: &str) -> bool {
    let written = value.to_string();
    written == text
}

/// The payload of `validate`, as the server writes it.
fn payload(question: &key::Question<'_>) -> String {
    [r#"{"settings":"#, question.settings.get(), r#","request":"#, question.request.get(), "}"].concat()
}

/// Judges every request of a body: a review under all rules, a key under its own settings.
///
/// # Errors
/// What is wrong with a verdict.
pub fn judge(bytes: &[u8]) -> Result<(), String> {
    if let Ok((_, request)) = review::read(bytes) {
        _ = answers::judge(None, request.get())?;
    }
    for key in provider_request::read(bytes, MOST_KEYS).unwrap_or_default() {
        if let Ok(question) = key::read(&key) {
            _ = answers::judge(Some(question.settings.get()), question.request.get())?;
        }
    }
    Ok(())
}
