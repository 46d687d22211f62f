//! Objects of the cluster, of which only the fields that a rule reads are kept while they are parsed: a list of thousands of
//! nodes or pods is never held as a tree.

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, de};
use serde_json_borrow::Value;

use super::field::{Field, Unreadable};

/// The fields of an object that are kept, as a tree of names. Lists are passed through: a name below one is kept of each
/// element. A name without names below it is kept whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fields(pub &'static [(&'static str, Fields)]);

/// Everything below a name.
pub const WHOLE: Fields = Fields(&[]);

impl Fields {
    /// The paths as Kubewarden's field masks write them: `spec.volumes.name`.
    pub fn masks(self) -> Vec<String> {
        let mut masks = Vec::new();
        self.collect("", &mut masks);
        masks
    }

    fn collect(self, above: &str, masks: &mut Vec<String>) {
        for (name, below) in self.0 {
            let path = if above.is_empty() { (*name).to_owned() } else { format!("{above}.{name}") };
            if below.0.is_empty() { masks.push(path) } else { below.collect(&path, masks) }
        }
    }
}

/// Reads one object, of which `fields` and its `kind` are kept.
///
/// # Errors
/// When the bytes are not a JSON object, or `read` complains.
pub fn read_object<T>(
    bytes: &[u8],
    fields: Fields,
    read: impl FnOnce(&Field<'_, '_>) -> Result<T, Unreadable>,
) -> Result<T, Unreadable> {
    let mut json = serde_json::Deserializer::from_str(text(bytes)?);
    let pick = Pick { fields, with_kind: true };
    let value = pick.deserialize(&mut json).and_then(|value| json.end().map(|()| value)).map_err(|_| no_json())?;
    let object = Field::root("", &value);
    read(&object.renamed(""))
}

/// Reads the items of a list, one after the other, each with `fields` kept.
///
/// # Errors
/// When the bytes are not a list of objects, and as soon as `read` complains of an item.
pub fn read_items(
    bytes: &[u8],
    fields: Fields,
    read: &mut dyn FnMut(&Field<'_, '_>) -> Result<(), Unreadable>,
) -> Result<(), Unreadable> {
    let mut complaint = None;
    let mut json = serde_json::Deserializer::from_str(text(bytes)?);
    let list = List { fields, read, complaint: &mut complaint };
    let has_items = json.deserialize_any(list).and_then(|has_items| json.end().map(|()| has_items));
    match (has_items, complaint) {
        (_, Some(complaint)) => Err(complaint),
        (Ok(true), None) => Ok(()),
        (Ok(false), None) => Err(Unreadable { path: String::from("items"), problem: String::from("is missing") }),
        (Err(_), None) => Err(no_json()),
    }
}

/// One look at the whole answer costs less than one at every string of it.
fn text(bytes: &[u8]) -> Result<&str, Unreadable> {
    std::str::from_utf8(bytes).map_err(|_| no_json())
}

fn no_json() -> Unreadable {
    Unreadable { path: String::from("answer"), problem: String::from("is not the JSON that was asked for") }
}

/// Reads the name of a member: which of the fields it is. Nothing is kept of the others, of which there are many.
#[derive(Clone, Copy)]
struct Name(Pick);

impl<'de> DeserializeSeed<'de> for Name {
    type Value = Option<(&'static str, Fields)>;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Self::Value, D::Error> {
        json.deserialize_str(self)
    }
}

impl Visitor<'_> for Name {
    type Value = Option<(&'static str, Fields)>;

    fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("a name")
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        let kind = (self.0.with_kind && name == "kind").then_some(("kind", WHOLE));
        Ok(self.0.fields.0.iter().find(|(field, _)| *field == name).copied().or(kind))
    }
}

/// Reads a value, of which the fields are kept.
#[derive(Clone, Copy)]
struct Pick {
    fields: Fields,
    /// Whether the kind of the object is kept too.
    with_kind: bool,
}

impl Pick {
    /// What is below a member, or in a list.
    fn of(fields: Fields) -> Self {
        Pick { fields, with_kind: false }
    }
}

impl<'de> DeserializeSeed<'de> for Pick {
    type Value = Value<'de>;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Value<'de>, D::Error> {
        if self.fields.0.is_empty() { Value::deserialize(json) } else { json.deserialize_any(self) }
    }
}

impl<'de> Visitor<'de> for Pick {
    type Value = Value<'de>;

    fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("an object or a list of objects")
    }

    // A value that is neither an object nor a list becomes a boolean, which is refused where an object is read. The trait's own
    // refusal would bring the code that writes fractions into the module.
    fn visit_unit<E>(self) -> Result<Value<'de>, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Value<'de>, E> {
        Ok(Value::Bool(false))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Value<'de>, E> {
        Ok(Value::Bool(false))
    }

    fn visit_u64<E>(self, _: u64) -> Result<Value<'de>, E> {
        Ok(Value::Bool(false))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Value<'de>, E> {
        Ok(Value::Bool(false))
    }

    fn visit_str<E>(self, _: &str) -> Result<Value<'de>, E> {
        Ok(Value::Bool(false))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Value<'de>, A::Error> {
        let mut list = Vec::new();
        while let Some(element) = elements.next_element_seed(self)? {
            list.push(element);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value<'de>, A::Error> {
        let mut object: Vec<(&'de str, Value<'de>)> = Vec::new();
        while let Some(field) = members.next_key_seed(Name(self))? {
            match field {
                Some((name, below)) => object.push((name, members.next_value_seed(Pick::of(below))?)),
                None => {
                    members.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(Value::Object(object.into()))
    }
}

/// Refuses every value but what a visitor of lists visits, in a word: the trait's own refusals name the value.
macro_rules! only_what_is_visited {
    () => {
        fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
            Err(E::custom("unexpected"))
        }

        fn visit_bool<E: de::Error>(self, _: bool) -> Result<Self::Value, E> {
            Err(E::custom("unexpected"))
        }

        fn visit_i64<E: de::Error>(self, _: i64) -> Result<Self::Value, E> {
            Err(E::custom("unexpected"))
        }

        fn visit_u64<E: de::Error>(self, _: u64) -> Result<Self::Value, E> {
            Err(E::custom("unexpected"))
        }

        fn visit_f64<E: de::Error>(self, _: f64) -> Result<Self::Value, E> {
            Err(E::custom("unexpected"))
        }

        fn visit_str<E: de::Error>(self, _: &str) -> Result<Self::Value, E> {
            Err(E::custom("unexpected"))
        }
    };
}

const ITEMS: Name = Name(Pick { fields: Fields(&[("items", WHOLE)]), with_kind: false });

/// Reads the items of a list; says whether there was a list of items.
struct List<'r> {
    fields: Fields,
    read: &'r mut dyn FnMut(&Field<'_, '_>) -> Result<(), Unreadable>,
    complaint: &'r mut Option<Unreadable>,
}

impl<'de> Visitor<'de> for List<'_> {
    type Value = bool;

    fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("a list of objects")
    }

    only_what_is_visited!();

    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<bool, A::Error> {
        Err(de::Error::custom("unexpected"))
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut members: A) -> Result<bool, A::Error> {
        let mut has_items = false;
        while let Some(field) = members.next_key_seed(ITEMS)? {
            if field.is_some() {
                if std::mem::replace(&mut has_items, true) {
                    return Err(de::Error::custom("twice"));
                }
                members.next_value_seed(&mut self)?;
            } else {
                members.next_value::<IgnoredAny>()?;
            }
        }
        Ok(has_items)
    }
}

impl<'de> DeserializeSeed<'de> for &mut List<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_any(Items(self))
    }
}

struct Items<'i, 'r>(&'i mut List<'r>);

impl<'de> Visitor<'de> for Items<'_, '_> {
    type Value = ();

    fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("a list of objects")
    }

    only_what_is_visited!();

    fn visit_map<A: MapAccess<'de>>(self, _: A) -> Result<(), A::Error> {
        Err(de::Error::custom("unexpected"))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while let Some(item) = items.next_element_seed(Pick::of(self.0.fields))? {
            let root = Field::root("item", &item);
            if let Err(complaint) = root.check_object().and_then(|()| (self.0.read)(&root)) {
                *self.0.complaint = Some(complaint);
                return Err(de::Error::custom("unreadable"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
