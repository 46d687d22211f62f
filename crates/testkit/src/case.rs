//! The cases in `policies/cases/`, one YAML file each, that every face of placement-guard must answer alike.
//!
//! ```yaml
//! why: A zone is added, so every node that could use the volume still can.
//! settings:
//!   volumeNodeAffinity: {}
//! recorded: pv-update-zone-added        # or `request`, or `after`, or `before` and `after`
//! expect:
//!   allowed: true
//!   findings: []
//!   annotations:
//!     relation: widened
//!     gainsNode: {topology.kubernetes.io/zone: us-east1-c}
//!     losesNode: null
//! ```
//!
//! * `why`: what is decided and for what reason, in a sentence.
//! * `settings`: as the policy is given them.
//! * What is asked, exactly one of
//!   * `request`: an admission request, field by field;
//!   * `recorded`: the name of a file in `tests/requests/` that holds what an API server sent;
//!   * `after`, or `before` and `after`: the manifests of a CREATE or an UPDATE. Kind, name and namespace are theirs.
//!     `before` alone is a DELETE.
//! * `user`: `{username, groups}`, who sends it. Not together with `request`, which names its own user; with `recorded` it
//!   takes the place of the recorded user.
//! * `cluster`: the objects that are in the cluster; without it there is none that could be asked. `unreadable`: why the
//!   objects of a kind (`"*"`: of every kind) cannot be read, as [`Cause`] names it. Both only where the settings read it.
//! * `expect`, of a request:
//!   * `allowed` and `findings` (the codes in report order, `[]` for none) are always stated; so is `code` of a refusal.
//!   * `annotations`: for each key that is named, the exact value; `null` for a key that must not be there. A node
//!     (`losesNode`, `gainsNode`) is written as a mapping.
//!   * `message`: the whole text of a refusal. `says`: strings that must occur in it. `warnings`: all of them, exactly.
//! * `expect: {settings: MESSAGE}`, with nothing asked: the settings are refused with exactly this message. Every other
//!   case's settings must be valid.
//!
//! Unknown keys are refused everywhere, so that nothing expected is silently not checked.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::fake_host::{Cause, FakeHost};

/// The annotations that a decision may carry, but `findings`, which every case states by itself.
const ANNOTATIONS: [&str; 7] =
    ["relation", "losesNode", "gainsNode", "losesLiveNodes", "gainsLiveNodes", "facts", "taint"];

/// The members of an answer of `validate`.
const ANSWERS: [&str; 5] = ["accepted", "message", "code", "audit_annotations", "warnings"];

/// One case.
#[derive(Debug)]
pub struct Case {
    /// The path of its file below `policies/cases/`, without the ending.
    pub name: String,
    /// What is decided and for what reason.
    pub why: String,
    settings: Value,
    cluster: Option<Vec<Value>>,
    unreadable: Option<BTreeMap<String, Cause>>,
    asks: Asks,
}

#[derive(Debug)]
enum Asks {
    /// Whether a request is accepted.
    Review { request: Value, expect: Box<Expected> },
    /// Whether the settings are valid: they are not, and this is why.
    Settings { message: String },
}

/// The decision that is expected. Consistent: a refusal has a code, an acceptance has neither code nor message.
#[derive(Debug)]
struct Expected {
    allowed: bool,
    code: Option<u16>,
    findings: Vec<String>,
    annotations: BTreeMap<String, Value>,
    message: Option<String>,
    says: Vec<String>,
    warnings: Option<Vec<String>>,
}

/// A case file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    why: String,
    settings: Value,
    request: Option<Value>,
    recorded: Option<String>,
    before: Option<Value>,
    after: Option<Value>,
    user: Option<User>,
    cluster: Option<Vec<Value>>,
    unreadable: Option<BTreeMap<String, Cause>>,
    expect: WrittenExpected,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct User {
    username: String,
    #[serde(default)]
    groups: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenExpected {
    settings: Option<String>,
    allowed: Option<bool>,
    code: Option<u16>,
    findings: Option<Vec<String>>,
    annotations: Option<BTreeMap<String, Value>>,
    message: Option<String>,
    says: Option<Vec<String>>,
    warnings: Option<Vec<String>>,
}

/// Every case, by name.
///
/// # Errors
/// All files that are not cases, one line each.
pub fn cases() -> Result<Vec<Case>, String> {
    let root = repository().join("policies/cases");
    let mut files = Vec::new();
    collect(&root, &mut files)?;
    files.sort();
    let (mut cases, mut complaints) = (Vec::new(), Vec::new());
    for file in files {
        let name = file.strip_prefix(&root).unwrap_or(&file).with_extension("").display().to_string();
        match read(&file).and_then(|text| Case::read(&name, &text)) {
            Ok(case) => cases.push(case),
            Err(complaint) => complaints.push(format!("{name}: {complaint}")),
        }
    }
    if complaints.is_empty() { Ok(cases) } else { Err(complaints.join("\n")) }
}

/// The request of a recorded AdmissionReview, by the name of its file in `tests/requests/`.
///
/// # Errors
/// When the file does not exist or does not contain a review.
pub fn recorded(name: &str) -> Result<Value, String> {
    let review = read(&repository().join("tests/requests").join(name).with_extension("json"))?;
    let review: Value = serde_json::from_str(&review).map_err(|error| format!("{name}: {error}"))?;
    review.get("request").cloned().ok_or_else(|| format!("{name}: no `request`"))
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(file: &Path) -> Result<String, String> {
    std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), String> {
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for entry in entries {
        let path = entry.map_err(|error| format!("{}: {error}", folder.display()))?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|ending| ending == "yaml") {
            files.push(path);
        }
    }
    Ok(())
}

impl Case {
    /// Reads one case.
    ///
    /// # Errors
    /// Everything that the format does not know or does not allow together.
    pub fn read(name: &str, text: &str) -> Result<Self, String> {
        let written: Written = serde_saphyr::from_str(text).map_err(|error| error.to_string())?;
        if written.why.trim().is_empty() {
            return Err(String::from("`why` is empty"));
        }
        let request = request(&written)?;
        let asks = match (request, written.expect) {
            (
                None,
                WrittenExpected {
                    settings: Some(message),
                    allowed: None,
                    code: None,
                    findings: None,
                    annotations: None,
                    message: None,
                    says: None,
                    warnings: None,
                },
            ) => Asks::Settings { message },
            (None, WrittenExpected { settings: Some(_), .. }) => {
                return Err(String::from("`expect.settings` must be the only question: no request is judged"));
            }
            (Some(_), WrittenExpected { settings: Some(_), .. }) => {
                return Err(String::from("`expect.settings` and a request: which is asked?"));
            }
            (Some(request), expect) => Asks::Review { request, expect: Box::new(Expected::check(expect)?) },
            (None, _) => {
                return Err(String::from("nothing is asked: `request`, `recorded`, `after`, or `expect.settings`"));
            }
        };
        if matches!(asks, Asks::Settings { .. }) && (written.cluster.is_some() || written.unreadable.is_some()) {
            return Err(String::from("settings are checked without a cluster"));
        }
        let Written { why, settings, cluster, unreadable, .. } = written;
        Ok(Case { name: name.to_owned(), why, settings, cluster, unreadable, asks })
    }

    /// The function of the module that answers.
    pub fn function(&self) -> &'static str {
        match self.asks {
            Asks::Review { .. } => "validate",
            Asks::Settings { .. } => "validate_settings",
        }
    }

    /// What the function is called with.
    pub fn payload(&self) -> Vec<u8> {
        match &self.asks {
            Asks::Review { request, .. } => json!({"settings": self.settings, "request": request}).to_string().into(),
            Asks::Settings { .. } => self.settings(),
        }
    }

    /// The settings as `validate_settings` is called with them.
    pub fn settings(&self) -> Vec<u8> {
        self.settings.to_string().into()
    }

    /// The objects that are in the cluster; `None` when it cannot be asked, or not for every kind.
    pub fn cluster(&self) -> Option<&[Value]> {
        if self.unreadable.is_some() { None } else { self.cluster.as_deref() }
    }

    /// Whether some kinds of the cluster cannot be read.
    pub fn has_unreadable_kinds(&self) -> bool {
        self.unreadable.is_some()
    }

    /// Why the objects of some kinds, by name, cannot be read.
    pub fn unreadable(&self) -> impl Iterator<Item = (&str, Cause)> {
        self.unreadable.iter().flatten().map(|(kind, cause)| (kind.as_str(), *cause))
    }

    /// A host that answers about the cluster. Without a cluster the policy was granted nothing.
    pub fn host(&self) -> FakeHost {
        self.host_with(|_| {})
    }

    /// The same with the objects in another order, as an engine may keep none.
    pub fn host_with(&self, reorder: impl FnOnce(&mut Vec<Value>)) -> FakeHost {
        let nothing = || BTreeMap::from([(String::from("*"), Cause::NotGranted)]);
        let unreadable = match (&self.unreadable, &self.cluster) {
            (None, None) => nothing(),
            (unreadable, _) => unreadable.clone().unwrap_or_default(),
        };
        let mut objects = self.cluster.clone().unwrap_or_default();
        reorder(&mut objects);
        FakeHost::new(objects, unreadable)
    }

    /// The request that is judged, if one is.
    pub fn request(&self) -> Option<&Value> {
        match &self.asks {
            Asks::Review { request, .. } => Some(request),
            Asks::Settings { .. } => None,
        }
    }

    /// Whether the answer of the function is the expected one.
    ///
    /// # Errors
    /// Every difference, in one line.
    pub fn check(&self, answer: &Value) -> Result<(), String> {
        let differences = match &self.asks {
            Asks::Review { expect, .. } => expect.differences(answer),
            Asks::Settings { message } => {
                let expected = json!({"valid": false, "message": message});
                if *answer == expected { vec![] } else { vec![format!("settings: expected {expected}, got {answer}")] }
            }
        };
        if differences.is_empty() { Ok(()) } else { Err(differences.join("\n")) }
    }
}

/// The admission request that a case asks about.
fn request(written: &Written) -> Result<Option<Value>, String> {
    let Written { request, recorded: name, before, after, user, .. } = written;
    let request = match (request, name, before.is_some() || after.is_some()) {
        (None, None, false) => {
            return if user.is_some() { Err(String::from("`user` of no request")) } else { Ok(None) };
        }
        (Some(_), None, false) if user.is_some() => return Err(String::from("`request` names its user itself")),
        (Some(request), None, false) => request.clone(),
        (None, Some(name), false) => recorded(name)?,
        (None, None, true) => of_manifests(before.as_ref(), after.as_ref())?,
        _ => return Err(String::from("only one of `request`, `recorded` and `before`/`after` can be asked")),
    };
    let mut request = request;
    if let (Some(user), Some(request)) = (user, request.as_object_mut()) {
        request.insert(String::from("userInfo"), json!({"username": user.username, "groups": user.groups}));
    }
    Ok(Some(request))
}

/// The request with which an API server would ask about manifests.
fn of_manifests(before: Option<&Value>, after: Option<&Value>) -> Result<Value, String> {
    let (operation, manifest) = match (before, after) {
        (None, Some(after)) => ("CREATE", after),
        (Some(_), Some(after)) => ("UPDATE", after),
        (Some(before), None) => ("DELETE", before),
        (None, None) => return Err(String::from("no manifest")),
    };
    let text = |pointer: &str| manifest.pointer(pointer).and_then(Value::as_str);
    let kind = text("/kind").ok_or("a manifest has a `kind`")?;
    let api_version = text("/apiVersion").ok_or("a manifest has an `apiVersion`")?;
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let lower = kind.to_lowercase();
    let plural = if lower.ends_with('s') { lower + "es" } else { lower + "s" };
    Ok(json!({
        "uid": "00000000-0000-4000-8000-000000000000",
        "kind": {"group": group, "version": version, "kind": kind},
        "resource": {"group": group, "version": version, "resource": plural},
        "requestKind": {"group": group, "version": version, "kind": kind},
        "requestResource": {"group": group, "version": version, "resource": plural},
        "name": text("/metadata/name"),
        "namespace": text("/metadata/namespace"),
        "operation": operation,
        "userInfo": {"username": "kubernetes-admin", "groups": ["system:authenticated"]},
        "object": after,
        "oldObject": before,
        "dryRun": false,
        "options": null,
    }))
}

impl Expected {
    fn check(written: WrittenExpected) -> Result<Self, String> {
        let WrittenExpected { settings: _, allowed, code, findings, annotations, message, says, warnings } = written;
        let allowed = allowed.ok_or("`expect.allowed` is missing")?;
        let findings = findings.ok_or("`expect.findings` is missing; `[]` for none")?;
        match (allowed, code) {
            (true, Some(_)) => return Err(String::from("`expect.code` of an accepted request")),
            (false, None) => return Err(String::from("`expect.code` of a refusal is missing")),
            _ => {}
        }
        if allowed && (message.is_some() || says.is_some()) {
            return Err(String::from("an accepted request has no message"));
        }
        let annotations = annotations.unwrap_or_default();
        for (key, value) in &annotations {
            if !ANNOTATIONS.contains(&key.as_str()) {
                return Err(format!("`expect.annotations.{key}` is not one of {}", ANNOTATIONS.join(", ")));
            }
            let is_node = matches!(key.as_str(), "losesNode" | "gainsNode");
            if !(value.is_null() || if is_node { value.is_object() } else { value.is_string() }) {
                let kind = if is_node { "a mapping" } else { "a string" };
                return Err(format!("`expect.annotations.{key}` is {kind}, or null"));
            }
        }
        let message = message.map(|text| text.trim_end_matches('\n').to_owned());
        let says = says.unwrap_or_default();
        Ok(Expected { allowed, code, findings, annotations, message, says, warnings })
    }

    fn differences(&self, answer: &Value) -> Vec<String> {
        let Some(members) = answer.as_object() else { return vec![format!("no decision: {answer}")] };
        let unknown = members.keys().filter(|key| !ANSWERS.contains(&key.as_str()));
        let mut differences: Vec<String> = unknown.map(|key| format!("`{key}` is not part of a decision")).collect();
        let annotations = &answer["audit_annotations"];
        let findings = if self.findings.is_empty() { Value::Null } else { json!(self.findings.join(",")) };
        differences.extend(difference("accepted", &json!(self.allowed), &answer["accepted"]));
        differences.extend(difference("code", &json!(self.code), &answer["code"]));
        differences.extend(difference("findings", &findings, &annotations["findings"]));
        for (key, expected) in &self.annotations {
            // A node travels as JSON in a string.
            let node = annotations[key].as_str().and_then(|text| serde_json::from_str(text).ok());
            let actual = if expected.is_object() { node.unwrap_or(Value::Null) } else { annotations[key].clone() };
            differences.extend(difference(key, expected, &actual));
        }
        if let Some(message) = &self.message {
            differences.extend(difference("message", &json!(message), &answer["message"]));
        }
        if let Some(warnings) = &self.warnings {
            let actual = if answer["warnings"].is_null() { json!([]) } else { answer["warnings"].clone() };
            differences.extend(difference("warnings", &json!(warnings), &actual));
        }
        let message = answer["message"].as_str();
        if self.allowed == message.is_some() {
            differences.push(format!("message: a refusal has one and an acceptance none, got {}", answer["message"]));
        }
        let message = message.unwrap_or_default();
        let unsaid = self.says.iter().filter(|text| !message.contains(text.as_str()));
        differences.extend(unsaid.map(|text| format!("message: does not say {text:?}: {message:?}")));
        differences
    }
}

fn difference(what: &str, expected: &Value, actual: &Value) -> Option<String> {
    (expected != actual).then(|| format!("{what}: expected {expected}, got {actual}"))
}
