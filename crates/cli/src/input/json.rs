//! JSON stays as it was written, so that the rules see every member, including a key that appears twice.

use std::borrow::Cow;

use serde_json::Deserializer;
use serde_json::value::RawValue;

use super::{Document, ListKind, Source};
use crate::complaint::Complaint;

/// Every document of a JSON text; several follow one another with nothing or white space between them. `None` for none.
pub fn documents(source: &Source) -> Result<Option<Vec<Document<'_>>>, Complaint> {
    let text = source.text();
    let mut documents = None;
    let mut lines = Lines { text, at: 0, line: 1 };
    for raw in Deserializer::from_str(text).into_iter::<&RawValue>() {
        let raw = raw.map_err(|error| {
            let location = format!("{}:{}:{}", source.shown(), error.line(), error.column());
            // The location is said already.
            let problem = error.to_string();
            let problem = problem.split(" at line ").next().unwrap_or_default();
            Complaint::new(location, format!("is not JSON: {problem}"), "correct it")
        })?;
        let documents: &mut Vec<Document<'_>> = documents.get_or_insert_default();
        match list(raw) {
            None => documents.push(Document { json: Cow::Borrowed(raw.get()), line: lines.of(raw), of_list: None }),
            Some((kind, items)) => documents.extend(items.into_iter().map(|item| Document {
                json: Cow::Borrowed(item.get()),
                line: lines.of(item),
                of_list: kind.clone(),
            })),
        }
    }
    Ok(documents)
}

/// The items of a List, with the type that it gives them; `None` for everything else.
fn list(raw: &RawValue) -> Option<(Option<ListKind>, Vec<&RawValue>)> {
    let members: Members<'_> = serde_json::from_str(raw.get()).ok()?;
    let text = |name: &str| serde_json::from_str::<String>(members.only(name)?.get()).ok();
    let kind = text("kind").filter(|kind| kind.ends_with("List"))?;
    let items = serde_json::from_str(members.only("items")?.get()).ok()?;
    Some((ListKind::of(text("apiVersion").as_deref(), &kind), items))
}

/// The members of an object in their order, including keys that appear twice.
pub struct Members<'t>(pub Vec<(Cow<'t, str>, &'t RawValue)>);

impl<'t> Members<'t> {
    /// The values of a member, one for each time that it appears.
    pub fn all<'s>(&'s self, name: &'s str) -> impl Iterator<Item = &'t RawValue> + 's {
        self.0.iter().filter(move |(key, _)| key == name).map(|(_, value)| *value)
    }

    /// A member that appears exactly once.
    fn only(&self, name: &str) -> Option<&'t RawValue> {
        let mut all = self.all(name);
        all.next().filter(|_| all.next().is_none())
    }
}

impl<'de: 't, 't> serde::Deserialize<'de> for Members<'t> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;

        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Members<'de>;

            fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.write_str("an object")
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some((key, value)) = map.next_entry::<String, &RawValue>()? {
                    members.push((Cow::Owned(key), value));
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(Visitor)
    }
}

/// Counts lines up to values that come in the order of the text.
struct Lines<'t> {
    text: &'t str,
    at: usize,
    line: usize,
}

impl Lines<'_> {
    fn of(&mut self, value: &RawValue) -> usize {
        // Values are slices of the text.
        let start = (value.get().as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize);
        let between = self.text.as_bytes().get(self.at..start).unwrap_or_default();
        let breaks = between.iter().filter(|byte| **byte == b'\n').count();
        self.line = self.line.saturating_add(breaks);
        self.at = self.at.max(start);
        self.line
    }
}
