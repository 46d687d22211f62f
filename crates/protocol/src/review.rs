//! The body of `POST /v1/admit`: an AdmissionReview.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::json;

/// The only version that is answered.
pub const API_VERSION: &str = "admission.k8s.io/v1";

/// Characters of a uid. API servers send 36. Each answer repeats the uid, so a long one would cost memory twice.
pub const LONGEST_UID: usize = 128;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Review<'b> {
    api_version: Option<String>,
    kind: Option<String>,
    #[serde(borrow)]
    request: Option<&'b RawValue>,
}

/// The uid of the request of a review, which is empty where the request has none, and the request.
///
/// # Errors
/// Why the body is not such a review: a sentence for the caller.
pub fn read(bytes: &[u8]) -> Result<(String, &RawValue), String> {
    let text = std::str::from_utf8(bytes).map_err(|_error| String::from("the body is not UTF-8"))?;
    let review: Review<'_> =
        json::object(text).map_err(|problem| format!("the body is not an AdmissionReview: {problem}"))?;
    let is = |text: &Option<String>, required: &str| text.as_deref() == Some(required);
    if !is(&review.api_version, API_VERSION) || !is(&review.kind, "AdmissionReview") {
        return Err(format!("the body is not an AdmissionReview of `{API_VERSION}`"));
    }
    let request = review.request.ok_or_else(|| String::from("the AdmissionReview has no request"))?;
    let uid = uid(request);
    let length = uid.chars().count();
    if length > LONGEST_UID {
        return Err(format!("request.uid: has {length} characters; at most {LONGEST_UID} are allowed"));
    }
    Ok((uid, request))
}

/// The uid of a request, even if the rest of the request cannot be read.
fn uid(request: &RawValue) -> String {
    #[derive(Deserialize)]
    struct Named {
        uid: Option<String>,
    }
    json::object::<Named>(request.get()).ok().and_then(|request| request.uid).unwrap_or_default()
}
