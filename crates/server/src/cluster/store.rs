//! The objects of one kind, as the API server told them last.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::fields::Fields;

/// Objects by namespace and name, which is their order in every answer. Of each only the kept fields are held, as one string
/// of JSON: that takes a fraction of the memory of any tree.
#[derive(Debug, Default)]
pub struct Objects {
    by_name: BTreeMap<Box<str>, Box<str>>,
    bytes: usize,
}

/// What every object says about itself.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Metadata {
    name: String,
    #[serde(default)]
    namespace: Option<String>,
    #[serde(default)]
    pub resource_version: Option<String>,
}

#[derive(Deserialize)]
struct Object {
    metadata: Metadata,
}

impl Metadata {
    /// Of an object.
    pub fn of(object: &RawValue) -> serde_json::Result<Self> {
        serde_json::from_str::<Object>(object.get()).map(|object| object.metadata)
    }

    fn key(&self) -> Box<str> {
        key(self.namespace.as_deref(), &self.name)
    }
}

/// A name cannot contain a zero byte, and nothing sorts before it, so keys sort by namespace first.
fn key(namespace: Option<&str>, name: &str) -> Box<str> {
    format!("{}\0{name}", namespace.unwrap_or_default()).into()
}

impl Objects {
    /// Puts an object in, of which `kept` is kept, and returns what it says about itself.
    pub fn put(&mut self, object: &RawValue, kept: &Fields) -> serde_json::Result<Metadata> {
        let metadata = Metadata::of(object)?;
        let mut json = String::with_capacity(object.get().len());
        kept.pick(object.get(), &mut json)?;
        let (key, json) = (metadata.key(), Box::<str>::from(json));
        self.bytes = self.bytes.saturating_add(json.len());
        if let Some(old) = self.by_name.insert(key, json) {
            self.bytes = self.bytes.saturating_sub(old.len());
        }
        Ok(metadata)
    }

    pub fn remove(&mut self, metadata: &Metadata) {
        if let Some(old) = self.by_name.remove(&metadata.key()) {
            self.bytes = self.bytes.saturating_sub(old.len());
        }
    }

    pub fn get(&self, namespace: Option<&str>, name: &str) -> Option<&str> {
        self.by_name.get(&key(namespace, name)).map(|json| &**json)
    }

    pub fn len(&self) -> usize {
        self.by_name.len()
    }

    /// All objects, or those of one namespace, in their order.
    pub fn each(&self, namespace: Option<&str>) -> impl Iterator<Item = &str> {
        let prefix = namespace.map(|namespace| key(Some(namespace), ""));
        let begin = prefix.clone().unwrap_or_default();
        let here = move |key: &str| prefix.as_ref().is_none_or(|prefix| key.starts_with(&**prefix));
        self.by_name.range(begin..).take_while(move |(key, _)| here(key)).map(|(_, json)| &**json)
    }

    /// How long a list of all is, without what surrounds it.
    pub fn bytes(&self) -> usize {
        self.bytes.saturating_add(self.by_name.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(objects: &mut Objects, namespace: &str, name: &str, node: &str) {
        let json = serde_json::json!({"metadata": {"namespace": namespace, "name": name, "resourceVersion": "7"},
            "spec": {"nodeName": node, "containers": []}});
        let kept = Fields::of(&["metadata.name", "spec.nodeName"]);
        let metadata = objects.put(&RawValue::from_string(json.to_string()).unwrap(), &kept).unwrap();
        assert_eq!(metadata.resource_version.as_deref(), Some("7"));
    }

    #[test]
    fn objects_come_by_namespace_and_name() {
        let mut objects = Objects::default();
        for (namespace, name) in [("a-b", "a"), ("a", "b"), ("b", "a"), ("a", "a-a"), ("a", "a")] {
            put(&mut objects, namespace, name, namespace);
        }
        let of = |namespace| objects.each(namespace).map(str::to_owned).collect::<Vec<_>>();
        let json =
            |name: &str, node: &str| format!(r#"{{"metadata":{{"name":"{name}"}},"spec":{{"nodeName":"{node}"}}}}"#);
        let a = [json("a", "a"), json("a-a", "a"), json("b", "a")];
        assert_eq!(of(Some("a")), a);
        assert_eq!(of(None)[..3], a);
        assert_eq!(of(None)[3..], [json("a", "a-b"), json("a", "b")]);
        assert_eq!(of(Some("c")), [""; 0]);
        assert_eq!(objects.get(Some("a"), "a-a"), Some(&*json("a-a", "a")));
        assert_eq!(objects.get(None, "a"), None);
    }

    #[test]
    fn the_length_is_that_of_what_is_held() {
        let mut objects = Objects::default();
        put(&mut objects, "a", "a", "long");
        put(&mut objects, "a", "a", "n");
        put(&mut objects, "a", "b", "n");
        let sum: usize = objects.each(None).map(|json| json.len() + 1).sum();
        assert_eq!((objects.bytes(), objects.len()), (sum, 2));
        let gone = RawValue::from_string(String::from(r#"{"metadata":{"namespace":"a","name":"a"}}"#)).unwrap();
        objects.remove(&Metadata::of(&gone).unwrap());
        assert_eq!(objects.len(), 1);
        assert_eq!(objects.bytes(), objects.each(None).map(|json| json.len() + 1).sum::<usize>());
    }
}
