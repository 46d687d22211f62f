//! The plain face: JSON strings in, a [`Verdict`] out, for programs outside a cluster. It links the rules directly and
//! answers what the module answers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json_borrow::Value;

use crate::kubernetes::field::{self, Field, Unreadable};
use crate::kubernetes::kind::Kind;
use crate::kubernetes::request::Request;
use crate::rules::cluster::{Cluster, NoCluster};
use crate::rules::rule::Reads;
use crate::rules::{self, decision::Decision, finding::Finding, settings::Settings};

/// A decision under the names that every program prints. Every member is always present.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    pub allowed: bool,
    /// 403 for a refusal, 422 for input that cannot be read; null when the request is allowed.
    pub code: Option<u16>,
    /// Why the request is refused, for a person; null when it is allowed.
    pub message: Option<String>,
    /// The codes of everything found, each once, in report order.
    pub findings: Vec<String>,
    /// For people, one line each, on acceptance too.
    pub warnings: Vec<String>,
    /// For machines: `relation`, `losesNode` and the like.
    pub annotations: BTreeMap<String, String>,
}

impl From<Decision> for Verdict {
    fn from(decision: Decision) -> Self {
        let findings = decision.audit_annotations.get("findings");
        Verdict {
            allowed: decision.accepted,
            code: decision.code,
            message: decision.message,
            findings: findings.iter().flat_map(|codes| codes.split(',')).map(str::to_owned).collect(),
            warnings: decision.warnings,
            annotations: decision.audit_annotations,
        }
    }
}

/// Judges an admission request, or the AdmissionReview that holds it.
///
/// Both arguments are JSON. The verdict refuses what cannot be read, with code 422 and the path of the field.
pub fn check(settings: &str, request: &str) -> Verdict {
    check_in(settings, request, &NoCluster)
}

/// The same in a cluster that can be read.
pub fn check_in(settings: &str, request: &str, cluster: &dyn Cluster) -> Verdict {
    judge(settings, request, cluster).unwrap_or_else(|refusal| refusal).into()
}

/// The same under settings that were read before, with everything that was found.
pub fn examine(
    settings: &Settings,
    request: &str,
    cluster: &dyn Cluster,
) -> (Verdict, Result<Vec<Finding>, Unreadable>) {
    let (decision, found) = found(settings, request, cluster).unwrap_or_else(|unreadable| {
        let decision = Decision::unreadable(&unreadable);
        (decision, Err(unreadable))
    });
    (decision.into(), found)
}

type Found = (Decision, Result<Vec<Finding>, Unreadable>);

fn found(settings: &Settings, request: &str, cluster: &dyn Cluster) -> Result<Found, Unreadable> {
    let request = read(request)?;
    let root = Field::root("", &request);
    let request = in_review(&root)?;
    request.check_object()?;
    let root = request.renamed("");
    Ok(rules::judge_and_find(settings, &Request::read(&root)?, cluster))
}

fn judge(settings: &str, request: &str, cluster: &dyn Cluster) -> Result<Decision, Decision> {
    let settings = field::parse(settings.as_bytes()).map_err(|unreadable| Decision::unusable_settings(&unreadable))?;
    let request = read(request).map_err(|unreadable| Decision::unreadable(&unreadable))?;
    let root = Field::root("", &request);
    let request = in_review(&root).map_err(|unreadable| Decision::unreadable(&unreadable))?;
    Ok(rules::judge_documents(&Field::root("settings", &settings), &request, cluster))
}

/// Levels that a request may have. The module reads it one level below the top of its payload, as in an AdmissionReview.
const LEVELS: usize = 126;

/// Parses a request or a review. A bare request that is too deep is refused in the words of the module, which never sees
/// one without a level above it.
fn read(text: &str) -> Result<Value<'_>, Unreadable> {
    let parsed = field::parse(text.as_bytes());
    let too_deep = match &parsed {
        // What is no review and no request either is refused by who reads it.
        Ok(document) => !is_review(&Field::root("", document)).unwrap_or(true) && is_deeper_than(document, LEVELS),
        Err(unreadable) => !unreadable.path.starts_with("request") && unreadable.problem.contains("recursion limit"),
    };
    if too_deep {
        field::parse(format!("{{\"request\":{text}}}").as_bytes())?;
    }
    parsed
}

fn is_deeper_than(value: &Value<'_>, levels: usize) -> bool {
    let deeper = |value: &Value<'_>| is_deeper_than(value, levels.saturating_sub(1));
    match value {
        Value::Array(items) => levels == 0 || items.iter().any(deeper),
        Value::Object(members) => levels == 0 || members.iter().any(|(_, value)| deeper(value)),
        _ => false,
    }
}

/// The request of an AdmissionReview. Anything else is the request itself: its `kind` is not a string.
fn in_review<'v, 'p>(root: &'p Field<'v, 'p>) -> Result<Field<'v, 'p>, Unreadable> {
    root.renamed("request").check_object()?;
    if is_review(root)? { root.get("request") } else { Ok(root.renamed("request")) }
}

fn is_review(root: &Field<'_, '_>) -> Result<bool, Unreadable> {
    Ok(root.get("kind")?.string().ok().flatten() == Some("AdmissionReview"))
}

/// The kinds of objects that must be readable in the cluster under settings, as JSON, and how they are read: each kind once, in
/// the order of [`Kind`]. Settings that cannot be read need none: they are those of another version's module, which says
/// itself what it lacks.
pub fn needs(settings: &str) -> Vec<(Kind, Reads)> {
    let document = field::parse(settings.as_bytes());
    let read = document.and_then(|document| rules::read_settings(&Field::root("settings", &document)));
    read.map(|settings| settings.needs()).unwrap_or_default()
}

/// Whether settings, as JSON, can be used.
///
/// # Errors
/// The path of the first thing that is not understood, and what would be.
pub fn validate_settings(settings: &str) -> Result<(), Unreadable> {
    let document = field::parse(settings.as_bytes())?;
    rules::read_settings(&Field::root("settings", &document)).map(|_settings| ())
}
