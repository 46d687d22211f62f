//! JSON stays as it was written, so that the rules see every member, including a key that appears twice.

use std::borrow::Cow;
use std::ops::Range;

use serde_json::Deserializer;
use serde_json::value::RawValue;

use super::Emit;
use super::not_judged::{NotJudged, Reason};
use super::written::{ListKind, Place, Syntax, Written};

/// Takes every document of a JSON text; several follow one another with nothing or white space between them.
///
/// # Errors
/// The byte at which a document that is not JSON begins, and what is wrong with it; those before it were taken.
pub fn documents(text: &str, lines: &mut Lines<'_>, emit: &mut Emit<'_>) -> Result<bool, (usize, NotJudged)> {
    let mut any = false;
    let mut stream = Deserializer::from_str(text).into_iter::<&RawValue>();
    loop {
        let start = stream.byte_offset();
        match stream.next() {
            None => return Ok(any),
            Some(Ok(raw)) => {
                any = true;
                take(raw.get(), lines, None, emit);
            }
            Some(Err(error)) => {
                let said = error.to_string();
                // The location is said already.
                let said = said.split(" at line ").next().unwrap_or_default();
                let place = Place { line: error.line(), column: error.column() };
                return Err((start, emit.not_judged(Reason::NotYaml, Some(place), format!("is not JSON: {said}"))));
            }
        }
    }
}

/// So deep may Lists be in Lists: each level is read again for each level above it.
const DEPTH: usize = 16;

/// Takes a value, of a List each item, of a List in a List too.
pub fn take(text: &str, lines: &mut Lines<'_>, of_list: Option<&ListKind>, emit: &mut Emit<'_>) {
    take_at(0, text, lines, of_list, emit);
}

fn take_at(depth: usize, text: &str, lines: &mut Lines<'_>, of_list: Option<&ListKind>, emit: &mut Emit<'_>) {
    if text == "null" {
        return;
    }
    match list(text) {
        None => {
            let (place, offset) = lines.of(text);
            let column = place.column.saturating_sub(1);
            let written = Written { text: text.to_owned(), syntax: Syntax::Json, offset, column };
            emit.document(place.line, of_list.cloned(), written, None, Vec::new());
        }
        Some(_) if depth >= DEPTH => {
            let said = format!("it holds Lists in Lists, more than {DEPTH} levels deep");
            emit.broken(Reason::NotYaml, Some(lines.of(text).0), said);
        }
        Some((kind, items)) => {
            emit.any = true;
            items.into_iter().for_each(|item| take_at(depth.saturating_add(1), item.get(), lines, kind.as_ref(), emit));
        }
    }
}

/// The items of a List, with the type that it gives them; `None` for everything else.
pub fn list(text: &str) -> Option<(Option<ListKind>, Vec<&RawValue>)> {
    if !(text.starts_with('{') && text.contains("List\"") && text.contains("\"items\"")) {
        return None;
    }
    let members: Members<'_> = serde_json::from_str(text).ok()?;
    let string = |name: &str| serde_json::from_str::<String>(members.last(name)?.get()).ok();
    let kind = string("kind").filter(|kind| kind.ends_with("List"))?;
    let items = serde_json::from_str(members.last("items")?.get()).ok()?;
    Some((ListKind::of(string("apiVersion").as_deref(), &kind), items))
}

/// The documents in a value that was YAML, each with its bytes in the JSON: itself, or the items of a List.
pub fn parts(text: &str) -> Vec<(Range<usize>, Option<ListKind>)> {
    fn gather(whole: &str, part: &str, of_list: Option<ListKind>, parts: &mut Vec<(Range<usize>, Option<ListKind>)>) {
        match list(part) {
            None => {
                // Parts are slices of the whole.
                let start = (part.as_ptr() as usize).saturating_sub(whole.as_ptr() as usize);
                parts.push((start..start.saturating_add(part.len()), of_list));
            }
            Some((kind, items)) => items.into_iter().for_each(|item| gather(whole, item.get(), kind.clone(), parts)),
        }
    }
    let mut parts = Vec::new();
    gather(text, text, None, &mut parts);
    parts
}

/// The members of an object in their order, including keys that appear twice.
pub struct Members<'t>(pub Vec<(Cow<'t, str>, &'t RawValue)>);

impl<'t> Members<'t> {
    /// The values of a member, one for each time that it appears.
    pub fn all<'s>(&'s self, name: &'s str) -> impl Iterator<Item = &'t RawValue> + 's {
        self.0.iter().filter(move |(key, _)| key == name).map(|(_, value)| *value)
    }

    /// The value that counts.
    pub fn last(&self, name: &str) -> Option<&'t RawValue> {
        self.all(name).last()
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

/// Counts lines and columns up to slices of a text that come in its order.
pub struct Lines<'t> {
    text: &'t str,
    at: usize,
    place: Place,
    offset: u64,
}

impl<'t> Lines<'t> {
    /// `text` begins at `place` and `offset` of its file.
    pub fn new(text: &'t str, place: Place, offset: u64) -> Self {
        Lines { text, at: 0, place, offset }
    }

    /// Where a slice of the text begins.
    pub fn of(&mut self, slice: &str) -> (Place, u64) {
        let start = (slice.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize);
        let between = self.text.as_bytes().get(self.at..start).unwrap_or_default();
        self.place = after(self.place, between);
        self.at = self.at.max(start);
        (self.place, self.offset.saturating_add(start as u64))
    }
}

/// The place after some bytes.
pub fn after(place: Place, bytes: &[u8]) -> Place {
    let Place { mut line, mut column } = place;
    for byte in bytes {
        match byte {
            b'\n' => (line, column) = (line.saturating_add(1), 1),
            // Only the first byte of a character counts.
            0x80..=0xBF => {}
            _ => column = column.saturating_add(1),
        }
    }
    Place { line, column }
}
