//! The one door through which JSON comes in: a value together with the path that leads to it.
//!
//! `null` is absent, at every field. A wrong JSON type, a key that appears twice and a missing required field are
//! [`Unreadable`], and say where. What a readable value means is for the other files of this layer.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json_borrow::{ObjectAsVec, Value};
use serde_path_to_error::Segment;

use super::names::Names;

/// Input that cannot be read, with the path of the field and what is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {problem}")]
pub struct Unreadable {
    /// Where, for instance `object.spec.nodeAffinity`.
    pub path: String,
    /// What is wrong and what would be accepted.
    pub problem: String,
}

/// A JSON value that may be absent, and its path. Cheap to copy: the path is a chain of steps back to the root and is
/// spelled out only for a complaint or a finding.
#[derive(Debug, Clone, Copy)]
pub struct Field<'v, 'p> {
    value: Option<&'v Value<'v>>,
    parent: Option<&'p Field<'v, 'p>>,
    step: Step<'p>,
}

#[derive(Debug, Clone, Copy)]
enum Step<'p> {
    Key(&'p str),
    Index(usize),
}

/// What is wrong with a key that appears twice in one object: readers disagree on which of the two counts.
const TWICE: &str = "appears twice";

/// Parses a JSON document.
///
/// # Errors
/// Names the field at which the document stops being JSON, or stops being JSON of a sane depth (127 levels).
pub fn parse(bytes: &[u8]) -> Result<Value<'_>, Unreadable> {
    // One look at the whole document costs less than one at every string of it.
    let (text, unread) = match std::str::from_utf8(bytes) {
        Ok(text) => match serde_json::from_str(text) {
            Ok(value) => return Ok(value),
            Err(error) => (text, Some(error)),
        },
        Err(error) => {
            let begin = bytes.get(..error.valid_up_to()).unwrap_or_default();
            (std::str::from_utf8(begin).unwrap_or_default(), None)
        }
    };
    // The fast parse does not know where it is; only a document that fails is read a second time.
    let mut again = serde_json::Deserializer::from_str(text);
    let path = match serde_path_to_error::deserialize::<_, Walk>(&mut again) {
        Err(located) => spelled(located.path()),
        Ok(_) => String::new(),
    };
    let path = if path.is_empty() { String::from("payload") } else { path };
    let problem = unread.map_or_else(|| String::from("it is not UTF-8"), |error| error.to_string());
    Err(Unreadable { path, problem: format!("is not readable JSON: {problem}") })
}

/// A path as this file writes paths.
fn spelled(path: &serde_path_to_error::Path) -> String {
    let mut text = String::new();
    for segment in path.iter() {
        match segment {
            Segment::Seq { index } => text.push_str(&format!("[{index}]")),
            Segment::Map { key } if key.contains(['.', '/']) && !text.is_empty() => text.push_str(&format!("[{key}]")),
            Segment::Map { key } if text.is_empty() => text.push_str(key),
            Segment::Map { key } => text.push_str(&format!(".{key}")),
            Segment::Enum { .. } | Segment::Unknown => {}
        }
    }
    short(&text, 200)
}

/// Any JSON value. It is read only for the names on the way to the place where the document stops being JSON.
struct Walk;

impl<'de> Deserialize<'de> for Walk {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Walk)
    }
}

impl<'de> Visitor<'de> for Walk {
    type Value = Walk;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a JSON value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Walk, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Walk, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Walk, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Walk, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Walk, E> {
        Ok(self)
    }

    fn visit_unit<E>(self) -> Result<Walk, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Walk, A::Error> {
        while items.next_element::<Walk>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Walk, A::Error> {
        while members.next_entry::<String, Walk>()?.is_some() {}
        Ok(self)
    }
}

impl<'v, 'p> Field<'v, 'p> {
    /// The root of a document. `name` starts every path below it; an empty name starts none.
    pub fn root(name: &'p str, value: &'v Value<'v>) -> Self {
        Field { value: present(value), parent: None, step: Step::Key(name) }
    }

    /// The same value under another name, for a document inside a document: readers know its paths without the outer one.
    #[must_use]
    pub fn renamed(&self, name: &'p str) -> Self {
        Field { value: self.value, parent: None, step: Step::Key(name) }
    }

    /// Whether there is a value other than `null`.
    pub fn is_present(&self) -> bool {
        self.value.is_some()
    }

    /// Whether two fields hold the same JSON value. Nothing is read, so members in another order are another value.
    pub fn is_same(&self, other: &Field<'_, '_>) -> bool {
        self.value == other.value
    }

    /// Whether this field is an object at all. Its keys are checked where they are read.
    ///
    /// # Errors
    /// When this field is present and not an object.
    pub fn check_object(&self) -> Result<(), Unreadable> {
        match self.value {
            None | Some(Value::Object(_)) => Ok(()),
            Some(_) => Err(self.wrong_type("an object")),
        }
    }

    /// The members of the object, `null` ones included; `None` when this field is absent.
    fn object(&self) -> Result<Option<&'v ObjectAsVec<'v>>, Unreadable> {
        let members = match self.value {
            None => return Ok(None),
            Some(Value::Object(members)) => members,
            Some(_) => return Err(self.wrong_type("an object")),
        };
        // The caller's budget does not reach this place, so a large object must not cost its square.
        let mut seen = Names::default();
        for (name, _) in members.iter() {
            if !seen.add(name, 0) {
                return Err(self.below(name).unreadable(TWICE));
            }
        }
        Ok(Some(members))
    }

    /// The absent member `key`, for complaints about it.
    fn below<'s>(&'s self, key: &'s str) -> Field<'v, 's> {
        Field { value: None, parent: Some(self), step: Step::Key(key) }
    }

    /// The member `key`; absent when this field is absent or has no such member.
    ///
    /// # Errors
    /// When this field is not an object, or `key` appears in it twice.
    pub fn get<'s>(&'s self, key: &'s str) -> Result<Field<'v, 's>, Unreadable> {
        let mut found = self.below(key);
        let Some(value) = self.value else { return Ok(found) };
        let Value::Object(members) = value else { return Err(self.wrong_type("an object")) };
        let mut seen = false;
        for (name, member) in members.iter() {
            if name == key {
                if seen {
                    return Err(found.unreadable(TWICE));
                }
                seen = true;
                found.value = present(member);
            }
        }
        Ok(found)
    }

    /// The members that are not `null`, in the order of the document.
    ///
    /// # Errors
    /// When this field is not an object, or one of its keys appears twice.
    pub fn members<'s>(&'s self) -> Result<impl Iterator<Item = (&'v str, Field<'v, 's>)>, Unreadable> {
        Ok(self.object()?.into_iter().flat_map(|members| members.iter()).filter_map(move |(name, member)| {
            let value = present(member)?;
            Some((name, Field { value: Some(value), parent: Some(self), step: Step::Key(name) }))
        }))
    }

    /// The elements of a list; none when the field is absent. An element may itself be absent.
    ///
    /// # Errors
    /// When this field is not a list.
    pub fn items<'s>(&'s self) -> Result<impl ExactSizeIterator<Item = Field<'v, 's>>, Unreadable> {
        let items: &'v [Value<'v>] = match self.value {
            None => &[],
            Some(Value::Array(items)) => items,
            Some(_) => return Err(self.wrong_type("a list")),
        };
        Ok(items.iter().enumerate().map(move |(index, item)| Field {
            value: present(item),
            parent: Some(self),
            step: Step::Index(index),
        }))
    }

    /// Reads every element of a list.
    ///
    /// # Errors
    /// When the field is not a list, and what `read` complains about.
    pub fn each<T>(&self, read: impl Fn(&Field<'v, '_>) -> Result<T, Unreadable>) -> Result<Vec<T>, Unreadable> {
        let mut all = Vec::new();
        for item in self.items()? {
            all.push(read(&item)?);
        }
        Ok(all)
    }

    /// # Errors
    /// When the value is not a string.
    pub fn string(&self) -> Result<Option<&'v str>, Unreadable> {
        match self.value {
            None => Ok(None),
            Some(Value::Str(text)) => Ok(Some(text.as_ref())),
            Some(_) => Err(self.wrong_type("a string")),
        }
    }

    /// The member `key`, which is a string.
    ///
    /// # Errors
    /// When this is not an object, and when the member is not a string.
    pub fn string_of(&self, key: &str) -> Result<Option<&'v str>, Unreadable> {
        self.get(key)?.string()
    }

    /// The member `key`, which is a boolean.
    ///
    /// # Errors
    /// When this is not an object, and when the member is not a boolean.
    pub fn boolean_of(&self, key: &str) -> Result<Option<bool>, Unreadable> {
        self.get(key)?.boolean()
    }

    /// # Errors
    /// When the value is absent or not a string.
    pub fn required_string(&self) -> Result<&'v str, Unreadable> {
        self.string()?.ok_or_else(|| self.unreadable("is missing; must be a string"))
    }

    /// # Errors
    /// When the value is not a list of strings.
    pub fn strings(&self) -> Result<Vec<&'v str>, Unreadable> {
        self.each(|item| item.required_string())
    }

    /// The value where it is a number, as near as a float comes to it; `None` for every other type.
    pub fn number(&self) -> Option<f64> {
        match self.value {
            Some(Value::Number(number)) => number.as_f64(),
            _ => None,
        }
    }

    /// # Errors
    /// When the value is not a boolean.
    pub fn boolean(&self) -> Result<Option<bool>, Unreadable> {
        match self.value {
            None => Ok(None),
            Some(Value::Bool(value)) => Ok(Some(*value)),
            Some(_) => Err(self.wrong_type("true or false")),
        }
    }

    /// # Errors
    /// When the value is not a 64-bit integer. `3.0` is not one: the API server does not read it as one either.
    pub fn integer(&self) -> Result<Option<i64>, Unreadable> {
        match self.value {
            None => Ok(None),
            Some(Value::Number(number)) => {
                number.as_i64().map(Some).ok_or_else(|| self.unreadable("is not a 64-bit integer"))
            }
            Some(_) => Err(self.wrong_type("a 64-bit integer")),
        }
    }

    /// Refuses keys that are not among `known`, and keys that appear twice.
    ///
    /// # Errors
    /// Names the first such key. For an unknown key, lists the known ones.
    pub fn only(&self, known: &[&str]) -> Result<(), Unreadable> {
        for (name, _) in self.object()?.into_iter().flat_map(|members| members.iter()) {
            if !known.contains(&name) {
                let one_of = if known.len() == 1 { "" } else { "one of " };
                let expected = quoted(known);
                return Err(self.below(name).unreadable(format!("is not a known key; expected {one_of}{expected}")));
            }
        }
        Ok(())
    }

    /// The value as JSON.
    pub fn to_json(&self) -> String {
        // A value that was parsed can be written.
        self.value.and_then(|value| serde_json::to_string(value).ok()).unwrap_or_else(|| String::from("null"))
    }

    /// A complaint about this field.
    pub fn unreadable(&self, problem: impl Into<String>) -> Unreadable {
        Unreadable { path: self.path(), problem: problem.into() }
    }

    /// A complaint about this field that shows its value.
    pub fn unacceptable(&self, accepted: &str) -> Unreadable {
        self.unreadable(format!("must be {accepted}, but is {}", self.shown()))
    }

    fn wrong_type(&self, wanted: &str) -> Unreadable {
        let kind = match self.value {
            None | Some(Value::Null | Value::Array(_)) => "",
            Some(Value::Bool(_)) => "a boolean: ",
            Some(Value::Number(_)) => "a number: ",
            Some(Value::Str(_)) => "a string: ",
            Some(Value::Object(_)) => "an object: ",
        };
        // YAML reads `20` and `true` as they are written; only quotes make strings of them.
        let quotes = match self.value {
            Some(Value::Number(_) | Value::Bool(_)) if wanted == "a string" => "; write it in quotes",
            _ => "",
        };
        self.unreadable(format!("must be {wanted}, but is {kind}{}{quotes}", self.shown()))
    }

    /// The value in a few characters. A message must not show a whole subtree: it is long and may hold secrets.
    pub fn shown(&self) -> String {
        let text = match self.value {
            None | Some(Value::Null) => String::from("null"),
            Some(Value::Bool(value)) => value.to_string(),
            Some(Value::Number(number)) => match (number.as_i64(), number.as_u64()) {
                (Some(number), _) => number.to_string(),
                (_, Some(number)) => number.to_string(),
                // The code that writes a fraction would make the module some kilobytes larger.
                _ => String::from("…"),
            },
            Some(Value::Str(text)) => short(text, 60),
            Some(Value::Array(items)) => {
                return match items.len() {
                    0 => String::from("an empty list"),
                    1 => String::from("a list of 1 item"),
                    count => format!("a list of {count} items"),
                };
            }
            Some(Value::Object(members)) => {
                let names: Vec<&str> = members.iter().map(|(name, _)| name).take(5).collect();
                short(&format!("{{{}}}", names.join(", ")), 60)
            }
        };
        format!("`{text}`")
    }

    /// The path from the root, as Kubernetes writes it: `spec.terms[0].key`, `metadata.labels[example.com/zone]`.
    pub fn path(&self) -> String {
        self.to_string()
    }

    /// The path within the object that a request carries, for findings: without the step from the request to the object.
    pub fn path_in_object(&self) -> String {
        let path = self.path();
        match path.split_once('.') {
            Some(("object" | "oldObject", rest)) => rest.to_owned(),
            _ => path,
        }
    }
}

impl fmt::Display for Field<'_, '_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Depth is bounded by the parser's, so the steps fit in a small list.
        let mut steps = vec![self.step];
        let mut above = self.parent;
        while let Some(field) = above {
            steps.push(field.step);
            above = field.parent;
        }
        let mut empty = true;
        for step in steps.into_iter().rev() {
            match step {
                Step::Key("") if empty => continue,
                Step::Key(key) if key.contains(['.', '/']) && !empty => write!(out, "[{}]", short(key, 120))?,
                Step::Key(key) if empty => out.write_str(&short(key, 120))?,
                Step::Key(key) => write!(out, ".{}", short(key, 120))?,
                Step::Index(index) => write!(out, "[{index}]")?,
            }
            empty = false;
        }
        Ok(())
    }
}

fn present<'v>(value: &'v Value<'v>) -> Option<&'v Value<'v>> {
    (!value.is_null()).then_some(value)
}

/// `text`, cut to `most` characters, without line breaks or control characters.
pub fn short(text: &str, most: usize) -> String {
    let mut shown: String =
        text.chars().take(most).map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    if text.chars().nth(most).is_some() {
        shown.push('…');
    }
    shown
}

/// `` `a`, `b` ``
pub fn quoted(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
