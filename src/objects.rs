//! A cluster that is a set of objects: what `kubectl get -o json` printed, or what a program holds.

use std::collections::BTreeMap;

use crate::kubernetes::field::{self, Field, Unreadable};
use crate::kubernetes::kind::Kind;
use crate::kubernetes::picked::Fields;
use crate::rules::cluster::{CannotRead, Cluster, Wanted};

/// A cluster in which these objects are, and no others.
#[derive(Debug, Clone)]
pub struct Objects {
    /// As JSON, by kind, namespace (empty where the kind has none) and name.
    objects: BTreeMap<(Kind, String, String), String>,
    kinds: Vec<Kind>,
}

impl Objects {
    /// A cluster without objects, of which only these kinds are known. The others cannot be read.
    pub fn of_kinds(kinds: &[Kind]) -> Self {
        Objects { objects: BTreeMap::new(), kinds: kinds.to_vec() }
    }

    /// Reads objects from JSON: one, a list of them, or what Kubernetes calls a List. Kinds that no rule reads are left out.
    /// Of two objects of one name the last counts.
    ///
    /// # Errors
    /// What is not JSON, and what is not a Kubernetes object.
    pub fn read(json: &str) -> Result<Self, Unreadable> {
        let document = field::parse(json.as_bytes())?;
        Objects::of(&Field::root("cluster", &document))
    }

    /// The same for JSON that was parsed.
    ///
    /// # Errors
    /// What is not a Kubernetes object.
    pub fn of(root: &Field<'_, '_>) -> Result<Self, Unreadable> {
        let mut objects = Objects::of_kinds(&Kind::ALL);
        if root.check_object().is_ok() {
            objects.add(root)?;
        } else {
            for item in root.items()? {
                objects.add(&item)?;
            }
        }
        Ok(objects)
    }

    /// Adds one object, or those of a List.
    ///
    /// # Errors
    /// What is not a Kubernetes object.
    pub fn add(&mut self, object: &Field<'_, '_>) -> Result<(), Unreadable> {
        let kind = object.get("kind")?.required_string()?;
        if let Some(of_items) = kind.strip_suffix("List") {
            for item in object.get("items")?.items()? {
                // Items of a typed list may leave out what they are.
                match (item.get("kind")?.is_present(), of_items) {
                    (false, kind) if !kind.is_empty() => self.add_as(kind, &object.get("apiVersion")?, &item)?,
                    _ => self.add(&item)?,
                }
            }
            return Ok(());
        }
        self.add_as(kind, &object.get("apiVersion")?, object)
    }

    fn add_as(&mut self, kind: &str, api_version: &Field<'_, '_>, object: &Field<'_, '_>) -> Result<(), Unreadable> {
        let group = api_version.required_string()?.split_once('/').map_or("", |(group, _)| group);
        let Some(kind) = Kind::ALL.into_iter().find(|known| known.name() == kind && known.group() == group) else {
            return Ok(());
        };
        self.insert(kind, object)
    }

    /// Adds an object of this kind, whether it says so itself or not.
    ///
    /// # Errors
    /// What has no name.
    pub fn insert(&mut self, kind: Kind, object: &Field<'_, '_>) -> Result<(), Unreadable> {
        let metadata = object.get("metadata")?;
        let name = metadata.get("name")?.required_string()?.to_owned();
        let namespace = metadata.string_of("namespace")?.filter(|name| !name.is_empty());
        let namespace = if kind.is_namespaced() { namespace.unwrap_or("default") } else { "" };
        self.objects.insert((kind, namespace.to_owned(), name), object.to_json());
        Ok(())
    }

    /// How many objects of a kind there are.
    pub fn count(&self, kind: Kind) -> usize {
        self.objects.keys().filter(|(of, _, _)| *of == kind).count()
    }
}

impl Cluster for Objects {
    fn is_at_hand(&self) -> bool {
        true
    }

    fn get(&self, kind: Kind, namespace: Option<&str>, name: &str, _: Wanted) -> Result<Option<Vec<u8>>, CannotRead> {
        if !self.kinds.contains(&kind) {
            return Err(CannotRead::NotGiven);
        }
        let key = (kind, namespace.unwrap_or_default().to_owned(), name.to_owned());
        Ok(self.objects.get(&key).map(|object| object.clone().into_bytes()))
    }

    fn list(&self, kind: Kind, _: Fields) -> Result<Vec<u8>, CannotRead> {
        if !self.kinds.contains(&kind) {
            return Err(CannotRead::NotGiven);
        }
        let items = self.objects.iter().filter(|((of, _, _), _)| *of == kind);
        let items: Vec<&str> = items.map(|(_, object)| object.as_str()).collect();
        Ok(format!("{{\"items\":[{}]}}", items.join(",")).into_bytes())
    }
}

#[cfg(test)]
mod tests;
