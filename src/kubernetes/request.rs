//! The admission request, as Kubewarden hands it to a policy and as `admission.k8s.io/v1` writes it.
//!
//! The fields that the API server, the audit scanner and a hand-written test leave out or set to `null` are absent here.
//! Audit scans send the live object on CREATE, with no user, and the kind where the plural resource name belongs:
//! nothing here depends on that name.

use super::field::{Field, Unreadable};

/// What is being asked of the cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    Create,
    Update,
    Delete,
    Connect,
}

/// One admission request. Objects are left unread: each rule reads the fragment that it judges.
#[derive(Debug)]
pub struct Request<'v, 'p> {
    pub group: &'v str,
    pub kind: &'v str,
    pub sub_resource: Option<&'v str>,
    pub name: Option<&'v str>,
    pub namespace: Option<&'v str>,
    pub operation: Operation,
    pub user: User<'v>,
    pub object: Field<'v, 'p>,
    pub old_object: Field<'v, 'p>,
}

/// Who asks.
#[derive(Debug)]
pub struct User<'v> {
    pub name: Option<&'v str>,
    pub groups: Vec<&'v str>,
    /// The node to which the credentials are bound: `extra["authentication.kubernetes.io/node-name"]`, which every token of
    /// a pod's service account carries, or the name of the kubelet that asks.
    pub node: Option<&'v str>,
}

impl<'v, 'p> Request<'v, 'p> {
    /// Reads the request's own fields, all of them, so that a broken sender is told at the first sign.
    ///
    /// # Errors
    /// A wrong JSON type anywhere in the envelope; no kind; no or an unknown operation; an object that the operation needs.
    pub fn read(root: &'p Field<'v, 'p>) -> Result<Self, Unreadable> {
        root.get("uid")?.string()?;
        let kind_field = root.get("kind")?;
        kind_field.get("version")?.string()?;
        let group = kind_field.get("group")?.string()?.unwrap_or_default();
        let kind = kind_field.get("kind")?.required_string()?;
        for other in ["resource", "requestKind", "requestResource"] {
            let other = root.get(other)?;
            for part in ["group", "version", "kind", "resource"] {
                other.get(part)?.string()?;
            }
        }
        root.get("requestSubResource")?.string()?;
        root.get("dryRun")?.boolean()?;
        root.get("options")?.get("kind")?;
        let operation_field = root.get("operation")?;
        let operation = match operation_field.required_string()? {
            "CREATE" => Operation::Create,
            "UPDATE" => Operation::Update,
            "DELETE" => Operation::Delete,
            "CONNECT" => Operation::Connect,
            _ => return Err(operation_field.unacceptable("`CREATE`, `UPDATE`, `DELETE` or `CONNECT`")),
        };
        let object = root.get("object")?;
        let old_object = root.get("oldObject")?;
        object.check_object()?;
        old_object.check_object()?;
        Ok(Request {
            group,
            kind,
            sub_resource: root.get("subResource")?.string()?.filter(|name| !name.is_empty()),
            name: root.get("name")?.string()?.filter(|name| !name.is_empty()),
            namespace: root.get("namespace")?.string()?.filter(|name| !name.is_empty()),
            operation,
            user: User::read(&root.get("userInfo")?)?,
            object,
            old_object,
        })
    }

    /// Whether the request stores an object: a CREATE or an UPDATE.
    pub fn stores(&self) -> bool {
        matches!(self.operation, Operation::Create | Operation::Update)
    }

    /// Whether the request is about an object of this group and kind itself, not about a sub-resource of it.
    pub fn is_about(&self, group: &str, kind: &str) -> bool {
        self.group == group && self.kind == kind && self.sub_resource.is_none()
    }

    /// Whether the request stores labels of an object of this group and kind: a write of the status does too, where the
    /// API server takes back the spec alone (`persistentvolumeStatusStrategy`).
    pub fn stores_labels_of(&self, group: &str, kind: &str) -> bool {
        self.group == group && self.kind == kind && matches!(self.sub_resource, None | Some("status"))
    }

    /// Whether an audit scan asks about an object that exists already. Scans are CREATE requests without a user; the API
    /// server always names one.
    pub fn is_audit(&self) -> bool {
        self.operation == Operation::Create && self.user.name.is_none()
    }

    /// The object's namespace: the request's own, or what the object says.
    ///
    /// # Errors
    /// A namespace in the object's metadata that is not a string.
    pub fn object_namespace(&self) -> Result<&'v str, Unreadable> {
        match self.namespace {
            Some(namespace) => Ok(namespace),
            None => Ok(self.object.get("metadata")?.string_of("namespace")?.unwrap_or("default")),
        }
    }

    /// The object's name: the request's own, or on a CREATE with a generated name what the object says.
    ///
    /// # Errors
    /// A name in the object's metadata that is not a string.
    pub fn object_name(&self) -> Result<&'v str, Unreadable> {
        if let Some(name) = self.name {
            return Ok(name);
        }
        let metadata = self.object.get("metadata")?;
        let name = metadata.get("name")?.string()?;
        let generated = metadata.get("generateName")?.string()?;
        Ok(name.or(generated).unwrap_or_default())
    }

    /// The object that is to be stored.
    ///
    /// # Errors
    /// When there is none.
    pub fn new_state(&self) -> Result<&Field<'v, 'p>, Unreadable> {
        if self.object.is_present() {
            return Ok(&self.object);
        }
        Err(self.object.unreadable("is missing; CREATE and UPDATE carry the object that is to be stored"))
    }

    /// On an UPDATE, the object that is stored now; `None` on a CREATE and in an audit.
    ///
    /// # Errors
    /// An UPDATE without one: what changed cannot be known.
    pub fn old_state(&self) -> Result<Option<&Field<'v, 'p>>, Unreadable> {
        match self.operation {
            Operation::Update if self.old_object.is_present() => Ok(Some(&self.old_object)),
            Operation::Update => {
                Err(self.old_object.unreadable("is missing; UPDATE carries the object that is stored now"))
            }
            _ => Ok(None),
        }
    }
}

impl<'v> User<'v> {
    fn read(field: &Field<'v, '_>) -> Result<Self, Unreadable> {
        field.get("uid")?.string()?;
        let mut node = None;
        let extra = field.get("extra")?;
        for (key, values) in extra.members()? {
            let values = values.strings()?;
            if key == "authentication.kubernetes.io/node-name" {
                node = values.first().copied();
            }
        }
        let name = field.get("username")?.string()?;
        let groups = field.get("groups")?.strings()?;
        let node = node.or_else(|| kubelet_node(name?, &groups));
        Ok(User { name, groups, node })
    }
}

/// The node of a kubelet: user `system:node:NAME` in group `system:nodes` (`NodeIdentity` of the node authorizer,
/// Kubernetes 1.36).
fn kubelet_node<'v>(user: &'v str, groups: &[&str]) -> Option<&'v str> {
    let node = user.strip_prefix("system:node:").filter(|node| !node.is_empty())?;
    groups.contains(&"system:nodes").then_some(node)
}
