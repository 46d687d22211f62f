//! Fields of an object, as a tree of their names, and JSON of which only these are kept.
//!
//! As in Kubewarden's field masks, lists are passed through: a name below a list means that member of each of its elements.
//! Nothing is held as a tree of values: what is kept is copied from one string into another.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// Names, each with the fields below it. Without names it is everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fields(Vec<(Box<str>, Fields)>);

impl Fields {
    /// Of paths with dots. A name in square brackets may contain dots itself.
    pub fn of(paths: &[&str]) -> Self {
        let mut fields = Fields::default();
        for path in paths {
            fields.add(path, true);
        }
        fields
    }

    /// Of the field masks of a call. The names of objects are always among them, as in the policy server.
    pub fn of_masks(masks: &BTreeSet<String>) -> Self {
        let mut fields = Fields::of(&["metadata.name", "metadata.namespace"]);
        for mask in masks {
            fields.add(mask, false);
        }
        fields
    }

    fn add(&mut self, path: &str, with_brackets: bool) {
        let (name, rest) = match path.strip_prefix('[').filter(|_| with_brackets).and_then(|it| it.split_once(']')) {
            Some((name, rest)) => (name, rest.strip_prefix('.')),
            None => path.split_once('.').map_or((path, None), |(name, rest)| (name, Some(rest))),
        };
        let at = match self.0.binary_search_by(|(known, _)| (**known).cmp(name)) {
            // It is there as a whole already.
            Ok(at) if self.0.get(at).is_some_and(|(_, below)| below.0.is_empty()) => return,
            Ok(at) => at,
            Err(at) => {
                self.0.insert(at, (Box::from(name), Fields::default()));
                at
            }
        };
        let Some((_, below)) = self.0.get_mut(at) else { return };
        match rest {
            Some(rest) => below.add(rest, with_brackets),
            None => below.0.clear(),
        }
    }

    fn below(&self, name: &str) -> Option<&Fields> {
        let at = self.0.binary_search_by(|(known, _)| (**known).cmp(name)).ok()?;
        self.0.get(at).map(|(_, below)| below)
    }

    /// Whether these fields contain the one at this path, or at least something below it.
    pub fn contain(&self, mask: &str) -> bool {
        let mut here = self;
        for name in mask.split('.') {
            match here.below(name) {
                Some(below) if below.0.is_empty() => return true,
                Some(below) => here = below,
                None => return false,
            }
        }
        true
    }

    /// Appends a JSON object of which only these fields are kept.
    ///
    /// # Errors
    /// When it is not JSON. What was appended is then to be thrown away.
    pub fn pick(&self, json: &str, out: &mut String) -> Result<(), serde_json::Error> {
        let mut reading = serde_json::Deserializer::from_str(json);
        Pick { fields: self, out }.deserialize(&mut reading)?;
        reading.end()
    }
}

struct Pick<'p> {
    fields: &'p Fields,
    out: &'p mut String,
}

impl Pick<'_> {
    /// Other values than objects and lists have nothing below them: they are kept, so that who reads them sees what is wrong.
    fn write<E: Error>(self, value: &impl serde::Serialize) -> Result<(), E> {
        self.out.push_str(&serde_json::to_string(value).map_err(E::custom)?);
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Pick<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        if self.fields.0.is_empty() {
            self.out.push_str(<&RawValue>::deserialize(deserializer)?.get());
            return Ok(());
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Pick<'_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let mut separator = '{';
        while let Some(found) = members.next_key_seed(Name(self.fields))? {
            let Some((name, fields)) = found else {
                members.next_value::<IgnoredAny>()?;
                continue;
            };
            self.out.push(separator);
            separator = ',';
            self.out.push_str(&serde_json::to_string(name).map_err(A::Error::custom)?);
            self.out.push(':');
            members.next_value_seed(Pick { fields, out: self.out })?;
        }
        if separator == '{' {
            self.out.push('{');
        }
        self.out.push('}');
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        let Pick { fields, out } = self;
        let mut separator = '[';
        while elements.next_element_seed(Element { separator, pick: Pick { fields, out: &mut *out } })?.is_some() {
            separator = ',';
        }
        if separator == '[' {
            out.push('[');
        }
        out.push(']');
        Ok(())
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        self.write(&value)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        self.write(&value)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        self.write(&value)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        self.write(&value)
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<(), E> {
        self.write(&value)
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.write(&())
    }
}

/// An element of a list, with what is written before it.
struct Element<'p> {
    separator: char,
    pick: Pick<'p>,
}

impl<'de> DeserializeSeed<'de> for Element<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.pick.out.push(self.separator);
        self.pick.deserialize(deserializer)
    }
}

/// Finds the name of a member among those that are kept.
struct Name<'p>(&'p Fields);

impl<'de, 'p> DeserializeSeed<'de> for Name<'p> {
    type Value = Option<(&'p str, &'p Fields)>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'p> Visitor<'_> for Name<'p> {
    type Value = Option<(&'p str, &'p Fields)>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a name")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Self::Value, E> {
        Ok(self.0.0.iter().find(|(known, _)| **known == *name).map(|(known, below)| (&**known, below)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picked(paths: &[&str], json: &str) -> String {
        let mut out = String::new();
        Fields::of(paths).pick(json, &mut out).unwrap();
        out
    }

    #[test]
    fn what_is_named_is_kept_as_it_is_written() {
        let json = r#"{"a":{"b":[1, 2],"c":1e400},"d":"\u0041","e":{"f":{}}}"#;
        assert_eq!(picked(&["a.b", "d"], json), r#"{"a":{"b":[1, 2]},"d":"\u0041"}"#);
        assert_eq!(picked(&["a"], json), r#"{"a":{"b":[1, 2],"c":1e400}}"#);
        assert_eq!(picked(&["a.x", "e.f.g"], json), r#"{"a":{},"e":{"f":{}}}"#);
        assert_eq!(picked(&["x"], json), "{}");
        assert_eq!(picked(&["a", "a.b"], json), picked(&["a.b", "a"], json));
    }

    #[test]
    fn lists_are_passed_through() {
        let json = r#"{"v":[{"n":1,"m":2},{"m":3},[],[{"n":null}]],"w":[]}"#;
        assert_eq!(picked(&["v.n", "w.x"], json), r#"{"v":[{"n":1},{},[],[{"n":null}]],"w":[]}"#);
    }

    #[test]
    fn what_has_another_type_than_expected_is_kept() {
        let json = r#"{"a":"text\n","b":7,"c":null,"d":true,"e":-1,"f":0.5,"g":18446744073709551615}"#;
        assert_eq!(picked(&["a.x", "b.x", "c.x", "d.x", "e.x", "f.x", "g.x"], json), json);
    }

    #[test]
    fn a_name_in_brackets_may_contain_dots() {
        let json = r#"{"a":{"k.io/x":1,"k":{"io/x":2}}}"#;
        assert_eq!(picked(&["a.[k.io/x]"], json), r#"{"a":{"k.io/x":1}}"#);
        assert_eq!(picked(&["a.k.io/x"], json), r#"{"a":{"k":{"io/x":2}}}"#);
        assert_eq!(
            picked(&["a.[k.io/x].y", "a.k"], r#"{"a":{"k.io/x":{"y":1,"z":2}}}"#),
            r#"{"a":{"k.io/x":{"y":1}}}"#
        );
    }

    #[test]
    fn what_is_not_json_is_an_error() {
        for json in ["", "{", r#"{"a":1}}"#, r#"{"a":01}"#, r#"{"b":[}"#] {
            assert!(Fields::of(&["a"]).pick(json, &mut String::new()).is_err(), "{json}");
        }
    }

    #[test]
    fn masks_keep_the_name() {
        let masks = BTreeSet::from([String::from("spec.nodeName")]);
        let mut out = String::new();
        let json = r#"{"metadata":{"name":"p","namespace":"ns","uid":"u"},"spec":{"nodeName":"n","x":1}}"#;
        Fields::of_masks(&masks).pick(json, &mut out).unwrap();
        assert_eq!(out, r#"{"metadata":{"name":"p","namespace":"ns"},"spec":{"nodeName":"n"}}"#);
    }

    #[test]
    fn a_mask_is_contained_where_something_of_it_is_kept() {
        let fields = Fields::of(&["spec.taints", "status.nodeInfo.kubeletVersion"]);
        for mask in ["spec", "spec.taints", "spec.taints.key", "status.nodeInfo"] {
            assert!(fields.contain(mask), "{mask}");
        }
        for mask in ["spec.podCIDR", "status.nodeInfo.osImage", "metadata", ""] {
            assert!(!fields.contain(mask), "{mask}");
        }
    }
}
