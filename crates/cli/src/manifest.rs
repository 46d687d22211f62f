//! A Kubernetes object as a document, and the request with which an API server would ask about it.

use std::fmt;

use placement_guard::kubernetes::field::{self, Field};
use serde::Serialize;

use crate::complaint::Complaint;
use crate::input::{Document, NotJudged, Reason, Source};
use crate::plain::plain;
use crate::template::placeholder;

/// Which object it is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Identity {
    pub kind: String,
    pub namespace: Option<String>,
    pub name: Option<String>,
    #[serde(skip)]
    pub group: String,
    #[serde(skip)]
    pub version: String,
}

impl fmt::Display for Identity {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&Identity::described(&self.kind, self.namespace.as_deref(), self.name.as_deref()))
    }
}

/// Groups whose kinds belong to no namespace, or nearly so, and single kinds of other groups.
const GROUPS_OF_THE_CLUSTER: [&str; 7] = [
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "apiregistration.k8s.io",
    "karpenter.sh",
    "node.k8s.io",
    "scheduling.k8s.io",
    "storage.k8s.io",
];
const KINDS_OF_THE_CLUSTER: [&str; 5] = ["ClusterRole", "ClusterRoleBinding", "Namespace", "Node", "PersistentVolume"];

/// Whether objects of a kind of Kubernetes belong to no namespace. Of other kinds this is not known, and they count as
/// belonging to one.
pub fn belongs_to_no_namespace(group: &str, kind: &str) -> bool {
    let is_of_group = GROUPS_OF_THE_CLUSTER.contains(&group) && kind != "CSIStorageCapacity";
    is_of_group || matches!(group, "" | "rbac.authorization.k8s.io") && KINDS_OF_THE_CLUSTER.contains(&kind)
}

impl Identity {
    /// Puts it into this namespace, unless it names one or its kind belongs to none.
    pub fn belongs_to(&mut self, namespace: &str) {
        if !belongs_to_no_namespace(&self.group, &self.kind) {
            self.namespace.get_or_insert_with(|| namespace.to_owned());
        }
    }

    /// An object in words.
    pub fn described(kind: &str, namespace: Option<&str>, name: Option<&str>) -> String {
        let kind = field::short(kind, 63);
        let words = match (namespace, name) {
            (Some(namespace), Some(name)) => format!("{kind} {namespace}/{name}"),
            (None, Some(name)) => format!("{kind} {name}"),
            (Some(namespace), None) => format!("{kind} without a name in {namespace}"),
            (None, None) => format!("{kind} without a name"),
        };
        plain(&words).into_owned()
    }
}

/// An object that is to be judged.
#[derive(Debug)]
pub struct Manifest {
    pub identity: Identity,
    pub document: Document,
}

impl Manifest {
    /// Reads which object a document is.
    ///
    /// # Errors
    /// Why it is not an object that can be judged.
    pub fn read(mut document: Document) -> Result<Self, NotJudged> {
        document.settle();
        match identity_of(&document) {
            Ok(identity) => Ok(Manifest { identity, document }),
            Err((reason, path, problem)) => {
                let place = Some(document.find(&path).value);
                Err(NotJudged { reason, file: document.file.to_string(), place, problem })
            }
        }
    }

    /// Every object of a source.
    ///
    /// # Errors
    /// What cannot be read, and documents that are not objects.
    pub fn all(source: &Source) -> Result<Vec<Self>, Complaint> {
        let nothing = || Complaint::new(source.shown(), "holds no document", "write manifests into it");
        let documents = source.documents()?.ok_or_else(nothing)?;
        documents.into_iter().map(|document| Manifest::read(document).map_err(|wrong| wrong.complaint())).collect()
    }
}

type Wrong = (Reason, String, String);

fn identity_of(document: &Document) -> Result<Identity, Wrong> {
    let no_identity = |unreadable: field::Unreadable| {
        let said = unreadable.to_string();
        (Reason::NoIdentity, unreadable.path, said)
    };
    let json = field::parse(document.json().as_bytes())
        .map_err(|unreadable| (Reason::NotYaml, String::new(), unreadable.to_string()))?;
    let root = Field::root("", &json);
    root.renamed("a manifest")
        .check_object()
        .map_err(|unreadable| (Reason::NotAnObject, String::new(), unreadable.to_string()))?;
    let text = |field: Result<Field<'_, '_>, field::Unreadable>| {
        field.and_then(|field| field.string().map(|text| text.map(str::to_owned))).map_err(no_identity)
    };
    if is_request(&root) {
        return Err((
            Reason::AdmissionRequest,
            String::new(),
            String::from("is an admission request, and not an object"),
        ));
    }
    let (mut kind, mut api_version) = (text(root.get("kind"))?, text(root.get("apiVersion"))?);
    if let Some(list) = &document.of_list {
        kind.get_or_insert_with(|| list.kind.clone());
        api_version.get_or_insert_with(|| list.api_version.clone());
    }
    let (Some(kind), Some(api_version)) = (kind, api_version) else {
        return Err((Reason::NotKubernetes, String::new(), String::from("has no `apiVersion` or no `kind`")));
    };
    let (group, version) = api_version.split_once('/').unwrap_or(("", &api_version));
    let metadata = root.get("metadata").map_err(no_identity)?;
    let (namespace, name) = (text(metadata.get("namespace"))?, text(metadata.get("name"))?);
    if let Some((path, text)) = placeholder(group, document.json()) {
        let said = format!("is a Helm template: {path} is `{}`", field::short(&text, 40));
        return Err((Reason::HelmTemplate, path, said));
    }
    Ok(Identity { kind, namespace, name, group: group.to_owned(), version: version.to_owned() })
}

/// Whether a document is what an API server asks, or an AdmissionReview around it.
fn is_request(root: &Field<'_, '_>) -> bool {
    let string = |name: &str| root.string_of(name).ok().flatten();
    let is_there = |name: &str| root.get(name).is_ok_and(|member| member.is_present());
    match root.get("kind").map(|kind| kind.string()) {
        Ok(Ok(Some("AdmissionReview"))) => {
            string("apiVersion").is_some_and(|version| version.starts_with("admission.k8s.io/"))
        }
        Ok(Err(_)) => is_there("operation") && (is_there("object") || is_there("oldObject")),
        _ => false,
    }
}

/// What is asked of the cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Operation {
    Create,
    Update,
    Delete,
}

impl Operation {
    pub fn name(self) -> &'static str {
        match self {
            Operation::Create => "CREATE",
            Operation::Update => "UPDATE",
            Operation::Delete => "DELETE",
        }
    }
}

/// The request of an API server about an object, as JSON. The user is unknown, and has a name nevertheless: a CREATE without a
/// user is an audit, which believes what an existing object says about its owners and its node. The objects are inserted as
/// written.
pub fn request(identity: &Identity, operation: Operation, before: Option<&str>, after: Option<&str>) -> String {
    let user = r#"{"username":"unknown"}"#;
    envelope(identity, operation, (&plural(&identity.kind), user), before, after)
}

/// The request of Kubewarden's audit scanner about an existing object: a CREATE without a user, with the kind in place
/// of the resource.
pub fn audit_request(identity: &Identity, object: &str) -> String {
    envelope(identity, Operation::Create, (&identity.kind, "{}"), None, Some(object))
}

fn envelope(
    identity: &Identity,
    operation: Operation,
    (resource, user): (&str, &str),
    before: Option<&str>,
    after: Option<&str>,
) -> String {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let optional = |text: &Option<String>| text.as_deref().map_or_else(|| String::from("null"), quoted);
    let (group, version) = (quoted(&identity.group), quoted(&identity.version));
    let kind = format!(r#"{{"group":{group},"version":{version},"kind":{}}}"#, quoted(&identity.kind));
    let resource = format!(r#"{{"group":{group},"version":{version},"resource":{}}}"#, quoted(resource));
    format!(
        r#"{{"uid":"00000000-0000-4000-8000-000000000000","kind":{kind},"resource":{resource},"requestKind":{kind},"requestResource":{resource},"name":{},"namespace":{},"operation":"{}","userInfo":{user},"object":{},"oldObject":{},"dryRun":false,"options":null}}"#,
        optional(&identity.name),
        optional(&identity.namespace),
        operation.name(),
        after.unwrap_or("null"),
        before.unwrap_or("null"),
    )
}

/// The resource of a kind, as Kubernetes names its own.
fn plural(kind: &str) -> String {
    let lower = kind.to_lowercase();
    match lower.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'i', 'o', 'u']) => format!("{stem}ies"),
        _ if lower.ends_with('s') => lower + "es",
        _ => lower + "s",
    }
}
