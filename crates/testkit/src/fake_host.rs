//! A host that answers calls about the cluster as Kubewarden's policy server does, error texts included.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// The objects of a cluster, and the kinds that cannot be read.
#[derive(Debug, Clone, Default)]
pub struct FakeHost {
    objects: Vec<Value>,
    /// By kind; `"*"` is every kind.
    unreadable: BTreeMap<String, Cause>,
}

/// Why a kind cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    NotGranted,
    Forbidden,
    NotServed,
    Down,
    TookTooLong,
    /// The answer ends in its middle.
    Half,
}

impl FakeHost {
    pub fn new(objects: Vec<Value>, unreadable: BTreeMap<String, Cause>) -> Self {
        FakeHost { objects, unreadable }
    }

    /// Answers a call of the `kubernetes` capability, as the callback of a host does.
    ///
    /// # Errors
    /// What the policy server's callback fails with.
    pub fn call(&self, operation: &str, payload: &[u8]) -> Result<Vec<u8>, String> {
        const FAILED: &str = "Callback evaluation failure: ";
        let asked: Value = serde_json::from_slice(payload).map_err(|error| error.to_string())?;
        let text = |name: &str| asked[name].as_str().unwrap_or_default().to_owned();
        let (api_version, kind, name) = (text("api_version"), text("kind"), text("name"));
        let (group, _) = api_version.split_once('/').unwrap_or(("", &api_version));
        let plural = kind.to_lowercase() + "s";
        let is_get = operation == "get_resource";
        let cause = self.unreadable.get(&kind).or_else(|| self.unreadable.get("*"));
        match cause {
            None => {}
            Some(Cause::NotGranted) => {
                return Err(format!(
                    "Policy has not been granted access to Kubernetes {api_version}/{kind} resources. The violation has been reported."
                ));
            }
            Some(Cause::Forbidden) => {
                return Err(format!(
                    "{FAILED}ApiError: {plural} \"{name}\" is forbidden: User \"system:serviceaccount:kubewarden:policy-server\" cannot {} resource \"{plural}\" in API group \"{group}\" at the cluster scope: Forbidden (Status {{ status: Some(Failure), code: 403 }})",
                    if is_get { "get" } else { "list" }
                ));
            }
            Some(Cause::NotServed) => return Err(format!("{FAILED}Cannot find resource {api_version}/{kind}")),
            Some(Cause::Down) => return Err(format!("{FAILED}ServiceError: client error (Connect)")),
            Some(Cause::TookTooLong) => return Err(format!("{FAILED}ServiceError: request timed out")),
            Some(Cause::Half) if !is_get => return Ok(br#"{"kind":"List","items":[{"metadata":{"name":"#.to_vec()),
            Some(Cause::Half) => {}
        }
        let is_kind = |object: &&Value| object["kind"] == kind.as_str() && object["apiVersion"] == api_version.as_str();
        if is_get {
            let namespace = asked["namespace"].as_str();
            let found = self.objects.iter().filter(is_kind).find(|object| {
                object["metadata"]["name"] == name.as_str()
                    && namespace.is_none_or(|namespace| namespace == namespace_of(object))
            });
            return match found {
                Some(object) => Ok(object.to_string().into_bytes()),
                None => Err(format!(
                    "{FAILED}Cannot find {api_version}/{kind} named '{name}' inside of namespace '{namespace:?}'"
                )),
            };
        }
        // The items of the host's lists do not say what they are.
        let mut items: Vec<Value> = self.objects.iter().filter(is_kind).cloned().collect();
        for item in items.iter_mut().filter_map(Value::as_object_mut) {
            item.remove("kind");
            item.remove("apiVersion");
        }
        Ok(json!({"apiVersion": api_version, "kind": "List", "metadata": {}, "items": items}).to_string().into_bytes())
    }
}

fn namespace_of(object: &Value) -> &str {
    object["metadata"]["namespace"].as_str().unwrap_or("default")
}
