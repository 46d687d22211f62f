//! Manifests that wait for a value: templates that are YAML already, because what Helm or another program will fill in is in a
//! string.

use serde_json::Value;

/// Fields of metadata in which Kubernetes accepts no braces.
const OF_METADATA: [&str; 4] = ["name", "namespace", "generateName", "labels"];

/// The same of everything below, in the groups of Kubernetes' own objects that rules judge: an API server refuses braces here,
/// so that they hide nothing which could be applied. Other programs have templates of their own, which are right as they are.
const BELOW: [&str; 11] = [
    "accessModes",
    "affinity",
    "driver",
    "nodeAffinity",
    "nodeName",
    "nodeSelector",
    "provisioner",
    "serviceAccountName",
    "storageClassName",
    "taints",
    "tolerations",
];
const GROUPS: [&str; 4] = ["", "apps", "batch", "storage.k8s.io"];

/// The first field that still waits for its value, and what it says.
pub fn placeholder(group: &str, json: &str) -> Option<(String, String)> {
    // Nearly no manifest has braces in a string, and parsing takes time.
    if !json.contains("{{") {
        return None;
    }
    let object: Value = serde_json::from_str(json).ok()?;
    let metadata = object.get("metadata");
    // What a cluster stores is never a template, whatever is in it.
    if metadata.is_some_and(|metadata| metadata.get("uid").is_some()) {
        return None;
    }
    let of_metadata = OF_METADATA.iter().find_map(|name| within(&format!("metadata.{name}"), metadata?.get(name)?));
    of_metadata.or_else(|| GROUPS.contains(&group).then(|| below("", &object))?)
}

/// The first string with braces in a value.
fn within(path: &str, value: &Value) -> Option<(String, String)> {
    match value {
        Value::String(text) => text.contains("{{").then(|| (path.to_owned(), text.clone())),
        Value::Array(items) => {
            items.iter().enumerate().find_map(|(index, item)| within(&format!("{path}[{index}]"), item))
        }
        Value::Object(members) => members.iter().find_map(|(key, value)| {
            let path = crate::input::below(path, key);
            if key.contains("{{") { Some((path, key.clone())) } else { within(&path, value) }
        }),
        _ => None,
    }
}

/// The same in the fields that [`BELOW`] names.
fn below(path: &str, value: &Value) -> Option<(String, String)> {
    match value {
        Value::Array(items) => {
            items.iter().enumerate().find_map(|(index, item)| below(&format!("{path}[{index}]"), item))
        }
        Value::Object(members) => members.iter().find_map(|(key, value)| {
            let path = crate::input::below(path, key);
            if BELOW.contains(&key.as_str()) { within(&path, value) } else { below(&path, value) }
        }),
        _ => None,
    }
}

#[cfg(test)]
#[allow(clippy::restriction)]
mod tests {
    use serde_json::json;

    use super::placeholder;

    #[test]
    fn a_field_that_takes_no_braces_waits_for_its_value() {
        let waits =
            |group: &str, object: serde_json::Value| placeholder(group, &object.to_string()).map(|(path, _)| path);
        let tolerations =
            json!({"spec": {"template": {"spec": {"tolerations": [{"key": "a"}, {"key": "b-{{ .Index }}"}]}}}});
        let at = "spec.template.spec.tolerations[1].key";
        assert_eq!(waits("apps", tolerations.clone()).as_deref(), Some(at));
        assert_eq!(waits("argoproj.io", tolerations), None, "another program may fill it in");
        assert_eq!(waits("example.com", json!({"metadata": {"name": "{{ a }}"}})).as_deref(), Some("metadata.name"));
        let key = json!({"spec": {"nodeSelector": {"{{ .key }}": "a"}}});
        assert_eq!(waits("", key).as_deref(), Some("spec.nodeSelector[{{ .key }}]"));
        let free = json!({"metadata": {"annotations": {"a": "{{ b }}"}}, "spec": {"containers": [{"args": ["{{ c }}"], "image": "{{ d }}"}]}});
        assert_eq!(waits("", free), None);
        assert_eq!(waits("", json!({"metadata": {"name": "{{ a }}", "uid": "b"}})), None, "it is in a cluster");
    }
}
