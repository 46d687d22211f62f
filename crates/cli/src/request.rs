//! What is to be judged: a request with the place where it was written.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;

use placement_guard::kubernetes::field::{self, Field};

use crate::complaint::Complaint;
use crate::input::{Document, Members, Source};
use crate::manifest::{self, Identity, Manifest, Operation};

/// One request.
pub struct Asked<'t> {
    /// The AdmissionReview or the request, as JSON.
    pub json: Cow<'t, str>,
    /// What it is about, as far as it says so.
    pub identity: Option<Identity>,
    pub operation: Option<String>,
    /// The file, as it was given.
    pub file: &'t str,
    pub line: usize,
    /// The two objects, where manifests were given.
    pub step: Option<Step<'t>>,
}

/// One object before and after, as JSON.
pub struct Step<'t> {
    pub before: Option<Cow<'t, str>>,
    pub after: Option<Cow<'t, str>>,
}

/// The requests in a source.
///
/// # Errors
/// Documents that are neither an AdmissionReview nor a request.
pub fn reviews(source: &Source) -> Result<Vec<Asked<'_>>, Complaint> {
    let documents = source.documents()?.unwrap_or_default();
    if documents.is_empty() {
        return Err(Complaint::new(source.shown(), "holds no document", "give an AdmissionReview or its request"));
    }
    documents.into_iter().map(|document| review(source, document)).collect()
}

fn review<'t>(source: &'t Source, document: Document<'t>) -> Result<Asked<'t>, Complaint> {
    let mut asked = Asked {
        json: document.json,
        identity: None,
        operation: None,
        file: &source.name,
        line: document.line,
        step: None,
    };
    // The library refuses what cannot be read here, and names the field.
    let Ok(json) = field::parse(asked.json.as_bytes()) else { return Ok(asked) };
    let root = Field::root("", &json);
    let text = |field: &Field<'_, '_>, name: &str| field.string_of(name).ok().flatten().map(str::to_owned);
    let request = match text(&root, "kind").as_deref() {
        Some("AdmissionReview") => root.get("request").ok(),
        Some(kind) => {
            return Err(Complaint::new(
                format!("{}:{}", source.shown(), asked.line),
                format!("is a `{}`, neither an AdmissionReview nor a request", field::short(kind, 60)),
                "give manifests with `--before` and `--after`",
            ));
        }
        None => Some(root),
    };
    let Some(request) = request else { return Ok(asked) };
    let kind = request.get("kind").ok();
    let of_kind = |name: &str| kind.as_ref().and_then(|kind| text(kind, name));
    let identity = of_kind("kind").map(|kind| Identity {
        kind,
        namespace: text(&request, "namespace").filter(|name| !name.is_empty()),
        name: text(&request, "name").filter(|name| !name.is_empty()),
        group: of_kind("group").unwrap_or_default(),
        version: of_kind("version").unwrap_or_default(),
    });
    let operation = text(&request, "operation");
    if identity.is_none() && operation.is_none() && !request.get("object").is_ok_and(|object| object.is_present()) {
        return Err(Complaint::new(
            format!("{}:{}", source.shown(), asked.line),
            "has neither `kind` nor `operation` nor `object`, as a request has",
            "give an AdmissionReview or its `request`",
        ));
    }
    (asked.identity, asked.operation) = (identity, operation);
    Ok(asked)
}

/// The step from one set of manifests to another: what is only in the new one is created, what is only in the old one is
/// deleted.
///
/// # Errors
/// Documents that are not objects, and an object that appears twice on one side.
pub fn steps<'t>(before: &'t [Source], after: &'t [Source]) -> Result<Vec<Asked<'t>>, Complaint> {
    let mut old = BTreeMap::new();
    for (source, manifest) in manifests(before)? {
        let key = key(&manifest.identity);
        if key.3.is_none() {
            continue;
        }
        if old.contains_key(&key) {
            return Err(twice(source, &manifest));
        }
        old.insert(key, (source, manifest));
    }
    let mut new_keys = std::collections::BTreeSet::new();
    let mut asked = Vec::new();
    for (source, manifest) in manifests(after)? {
        let key = key(&manifest.identity);
        let before = old.remove(&key).map(|(_, before)| before.document.json);
        // Without a name nothing is matched: each makes an object of its own.
        if key.3.is_some() && !new_keys.insert(key) {
            return Err(twice(source, &manifest));
        }
        let Manifest { identity, document } = manifest;
        asked.push(step(source, identity, document.line, before, Some(document.json)));
    }
    for (_, (source, Manifest { identity, document })) in old {
        asked.push(step(source, identity, document.line, Some(document.json), None));
    }
    Ok(asked)
}

fn manifests(sources: &[Source]) -> Result<Vec<(&Source, Manifest<'_>)>, Complaint> {
    let mut all = Vec::new();
    for source in sources {
        all.extend(Manifest::all(source)?.into_iter().map(|manifest| (source, manifest)));
    }
    Ok(all)
}

/// What makes two manifests the same object.
type Key = (String, String, Option<String>, Option<String>);

fn key(identity: &Identity) -> Key {
    let Identity { group, kind, namespace, name, .. } = identity.clone();
    (group, kind, namespace, name)
}

fn twice(source: &Source, manifest: &Manifest<'_>) -> Complaint {
    let location = format!("{}:{}", source.shown(), manifest.document.line);
    Complaint::new(location, format!("{} appears twice", manifest.identity), "remove one of them")
}

fn step<'t>(
    source: &'t Source,
    identity: Identity,
    line: usize,
    before: Option<Cow<'t, str>>,
    after: Option<Cow<'t, str>>,
) -> Asked<'t> {
    let operation = match (&before, &after) {
        (None, _) => Operation::Create,
        (Some(_), Some(_)) => Operation::Update,
        (Some(_), None) => Operation::Delete,
    };
    Asked {
        json: Cow::Owned(manifest::request(&identity, operation, before.as_deref(), after.as_deref())),
        identity: Some(identity),
        operation: Some(operation.name().to_owned()),
        file: &source.name,
        line,
        step: Some(Step { before, after }),
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

/// Reads every path.
///
/// # Errors
/// The first that cannot be read.
pub fn sources(paths: &[PathBuf]) -> Result<Vec<Source>, Complaint> {
    paths.iter().map(|path| Source::read(path)).collect()
}
