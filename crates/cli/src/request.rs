//! What is to be judged: a request with the place where it was written.

use placement_guard::kubernetes::field::{self, Field};

use crate::input::{Document, Members};
use crate::kinds::{Kinds, Moved, Part};
use crate::manifest::{self, Identity, Manifest, Operation};
use crate::pairs::pairs;
use crate::reading::Read;

/// One request.
pub struct Asked {
    /// The AdmissionReview or the request, as JSON.
    pub json: String,
    /// What it is about, as far as it says so.
    pub identity: Option<Identity>,
    pub operation: Option<String>,
    /// What is asked for; of a DELETE, what is there.
    pub document: Document,
    /// The two objects, where manifests were given.
    pub step: Option<Step>,
    /// What a part of a custom resource is judged as, and where it is.
    pub part: Option<(Identity, Moved)>,
}

/// One object before and after, as JSON.
pub struct Step {
    pub before: Option<String>,
    pub after: Option<String>,
}

/// A document on the command line: an AdmissionReview, its request, or a manifest that is to be created.
pub fn one(document: Document, kinds: &Kinds, read: &mut Read) -> Vec<Asked> {
    if is_manifest(&document) {
        return read.manifest(document).map(|manifest| step(None, manifest, kinds)).unwrap_or_default();
    }
    read.took(&document);
    vec![review(document)]
}

/// Whether a document says its type as a manifest does, and is not an AdmissionReview.
fn is_manifest(document: &Document) -> bool {
    let Ok(members) = serde_json::from_str::<Members<'_>>(document.json()) else { return true };
    let string = |name: &str| members.last(name).and_then(|value| serde_json::from_str::<String>(value.get()).ok());
    match string("kind").as_deref() {
        Some("AdmissionReview") => false,
        Some(_) => true,
        // A request has a `kind` that is an object.
        None => {
            document.of_list.is_some()
                || ["kind", "operation", "object"].iter().all(|name| members.last(name).is_none())
        }
    }
}

fn review(document: Document) -> Asked {
    let json = document.json().to_owned();
    let mut asked = Asked { json: json.clone(), identity: None, operation: None, document, step: None, part: None };
    // The library refuses what cannot be read here, and names the field.
    let Ok(json) = field::parse(json.as_bytes()) else { return asked };
    let root = Field::root("", &json);
    let text = |field: &Field<'_, '_>, name: &str| field.string_of(name).ok().flatten().map(str::to_owned);
    let request = match text(&root, "kind").as_deref() {
        Some("AdmissionReview") => root.get("request").ok(),
        _ => Some(root),
    };
    let Some(request) = request else { return asked };
    let kind = request.get("kind").ok();
    let of_kind = |name: &str| kind.as_ref().and_then(|kind| text(kind, name));
    asked.identity = of_kind("kind").map(|kind| Identity {
        kind,
        namespace: text(&request, "namespace").filter(|name| !name.is_empty()),
        name: text(&request, "name").filter(|name| !name.is_empty()),
        group: of_kind("group").unwrap_or_default(),
        version: of_kind("version").unwrap_or_default(),
    });
    asked.operation = text(&request, "operation");
    asked
}

/// The step from one set of manifests to another: what is only in the new one is created, what is only in the old one is
/// deleted.
pub fn steps(before: Vec<Manifest>, after: Vec<Manifest>, kinds: &Kinds) -> Vec<Asked> {
    let (changed, gone) = pairs(before, after);
    let mut asked: Vec<Asked> = changed.into_iter().flat_map(|(old, new)| step(old, new, kinds)).collect();
    asked.extend(gone.into_iter().map(|Manifest { identity, document }| delete(identity, document)));
    asked
}

/// The requests about one object: of a custom resource, one for each of its parts.
fn step(old: Option<Manifest>, new: Manifest, kinds: &Kinds) -> Vec<Asked> {
    let parts = kinds.parts(&new);
    let Manifest { identity, document } = new;
    if parts.is_empty() {
        let before = old.map(|old| old.document.json().to_owned());
        let after = document.json().to_owned();
        return vec![asked(identity.clone(), before, after, document, &identity, None)];
    }
    let mut old_parts = old.as_ref().map(|old| kinds.parts(old)).unwrap_or_default();
    let of_part = |part: Part| {
        let at = old_parts.iter().position(|old| old.moved == part.moved);
        let before = at.map(|at| old_parts.swap_remove(at).json);
        let Part { identity: judged_as, json, moved } = part;
        let part = Some((judged_as.clone(), moved));
        asked(identity.clone(), before, json, document.clone(), &judged_as, part)
    };
    parts.into_iter().map(of_part).collect()
}

fn asked(
    identity: Identity,
    before: Option<String>,
    after: String,
    document: Document,
    judged_as: &Identity,
    part: Option<(Identity, Moved)>,
) -> Asked {
    let operation = if before.is_some() { Operation::Update } else { Operation::Create };
    Asked {
        json: manifest::request(judged_as, operation, before.as_deref(), Some(&after)),
        identity: Some(identity),
        operation: Some(operation.name().to_owned()),
        document,
        step: Some(Step { before, after: Some(after) }),
        part,
    }
}

fn delete(identity: Identity, document: Document) -> Asked {
    let before = document.json().to_owned();
    Asked {
        json: manifest::request(&identity, Operation::Delete, Some(&before), None),
        identity: Some(identity),
        operation: Some(Operation::Delete.name().to_owned()),
        document,
        step: Some(Step { before: Some(before), after: None }),
        part: None,
    }
}

/// The request in an AdmissionReview as members of a payload: `"request":…`, as often as it appears there.
pub fn unwrapped(json: &str) -> String {
    if let Ok(members) = serde_json::from_str::<Members<'_>>(json) {
        let mut kinds = members.all("kind");
        if let (Some(r#""AdmissionReview""#), None) = (kinds.next().map(|kind| kind.get()), kinds.next()) {
            let requests = members.all("request").map(|request| format!(r#""request":{request}"#));
            let requests: Vec<String> = requests.collect();
            return if requests.is_empty() { String::from(r#""request":null"#) } else { requests.join(",") };
        }
    }
    format!(r#""request":{json}"#)
}
