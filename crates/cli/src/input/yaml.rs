//! YAML becomes JSON as `kubectl` makes it: the last of two equal keys counts, merge keys, and the scalars of
//! [`super::yaml_scalar`].
//!
//! The parser is libyaml, of which the parser of `kubectl` is a port. So it takes what that takes, such as a quoted scalar
//! that continues at the indent of its key. It stays at the level of events, so that no tree is built.

use std::collections::BTreeMap;

use super::events::{self, Event, Parser};
use super::json::Members;
use super::written::{Place, Problem, Repeated};
use super::yaml_scalar::{self, Scalar, push_text};

/// The depth to which the library reads JSON.
const DEPTH: usize = 127;

/// What the aliases of a document may repeat, in bytes.
const REPEATED: usize = 1 << 22;

/// A document as JSON.
pub struct Node {
    pub json: String,
    /// The mappings near the top, in the order of the JSON.
    pub mappings: Vec<Mapping>,
    pub repeated: Vec<Repeated>,
}

/// Where a mapping is in the JSON and in the YAML.
#[derive(Debug, Clone, Copy)]
pub struct Mapping {
    /// The byte of the JSON at which it begins.
    pub at: usize,
    /// The bytes of the text from which it comes.
    pub start: usize,
    pub end: usize,
    pub place: Place,
}

/// Mappings are listed down to here: deep enough for Lists in Lists.
const LISTED: usize = 12;

/// Reads every document of a text; empty ones are left out.
///
/// # Errors
/// What is wrong, and where. The documents before it are in `documents` already.
pub fn documents(text: &str, documents: &mut Vec<Node>) -> Result<(), Problem> {
    let mut parser = Parser::new(text);
    let mut builder = Builder { bytes: Bytes::new(text), ..Builder::default() };
    loop {
        let event = parser.next()?;
        if event.kind == events::Kind::StreamEnd {
            return Ok(());
        }
        if event.kind == events::Kind::DocumentEnd {
            let next = Builder { bytes: std::mem::take(&mut builder.bytes), ..Builder::default() };
            let built = std::mem::replace(&mut builder, next);
            if !built.json.is_empty() && built.json != "null" {
                documents.push(Node { json: built.json, mappings: built.mappings, repeated: built.repeated });
            }
        } else {
            builder.take(event)?;
        }
    }
}

/// From lines and columns to the bytes of a text.
#[derive(Default)]
struct Bytes<'t> {
    text: &'t str,
    /// The line that was asked for last, and the byte at which it begins.
    line: usize,
    start: usize,
}

impl<'t> Bytes<'t> {
    fn new(text: &'t str) -> Self {
        Bytes { text, line: 1, start: 0 }
    }

    /// The byte at a place that is not above the one before.
    fn at(&mut self, place: Place) -> usize {
        while self.line < place.line {
            let rest = self.text.get(self.start..).unwrap_or_default();
            let Some(end) = rest.find('\n') else { break };
            self.start = self.start.saturating_add(end).saturating_add(1);
            self.line = self.line.saturating_add(1);
        }
        let row = self.text.get(self.start..).unwrap_or_default();
        let before = row.char_indices().nth(place.column.saturating_sub(1)).map_or(row.len(), |(byte, _)| byte);
        self.start.saturating_add(before)
    }
}

/// Gathers the JSON of one document.
#[derive(Default)]
struct Builder<'t> {
    bytes: Bytes<'t>,
    json: String,
    open: Vec<Open>,
    anchors: BTreeMap<String, String>,
    copied: usize,
    mappings: Vec<Mapping>,
    repeated: Vec<Repeated>,
}

/// A collection that is not finished.
struct Open {
    /// Where it begins in the JSON.
    at: usize,
    anchor: Option<String>,
    /// Its number in `mappings`.
    listed: Option<usize>,
    kind: Kind,
}

enum Kind {
    List { items: usize },
    Mapping { members: Vec<Member>, key: Option<Key>, merges: bool },
}

/// A member of a mapping.
struct Member {
    key: String,
    /// From its key to the end of its value in the JSON; of a merge, the value.
    start: usize,
    end: usize,
    merge: bool,
    place: Place,
}

/// A key whose value comes next.
struct Key {
    text: String,
    start: usize,
    merge: bool,
    place: Place,
}

impl Builder<'_> {
    fn take(&mut self, event: Event) -> Result<(), Problem> {
        let at = event.place;
        match event.kind {
            events::Kind::Scalar { anchor, tag, text, plain } => {
                let scalar = yaml_scalar::resolve(&text, plain, tag.as_deref());
                let scalar = scalar.map_err(|said| Problem { place: Some(at), said })?;
                if self.wants_key() {
                    return self.key(scalar, anchor, plain && text == "<<", at);
                }
                let start = self.begin_value();
                scalar.push(&mut self.json).map_err(|said| Problem { place: Some(at), said })?;
                self.end_value(start, anchor, at)
            }
            events::Kind::Alias(anchor) => self.alias(&anchor, at),
            events::Kind::List { anchor } => self.begin(Kind::List { items: 0 }, anchor, at),
            events::Kind::Mapping { anchor } => {
                self.begin(Kind::Mapping { members: Vec::new(), key: None, merges: false }, anchor, at)
            }
            events::Kind::End => self.end(at),
            events::Kind::DocumentEnd | events::Kind::StreamEnd | events::Kind::Other => Ok(()),
        }
    }

    fn alias(&mut self, anchor: &str, at: Place) -> Result<(), Problem> {
        let Some(json) = self.anchors.get(anchor).cloned() else {
            let said = format!("the alias `*{anchor}` has no anchor before it");
            return Err(Problem { place: Some(at), said });
        };
        self.copied = self.copied.saturating_add(json.len());
        if self.copied > REPEATED {
            let said = format!("its aliases repeat more than {} MiB", REPEATED >> 20);
            return Err(Problem { place: Some(at), said });
        }
        if self.wants_key() {
            let scalar = Scalar::of_json(&json).ok_or_else(|| not_a_key(at))?;
            return self.key(scalar, None, false, at);
        }
        let start = self.begin_value();
        self.json.push_str(&json);
        self.end_value(start, None, at)
    }

    fn wants_key(&self) -> bool {
        matches!(self.open.last(), Some(Open { kind: Kind::Mapping { key: None, .. }, .. }))
    }

    fn key(&mut self, scalar: Scalar<'_>, anchor: Option<String>, merge: bool, at: Place) -> Result<(), Problem> {
        let text = scalar.key().ok_or_else(|| not_a_key(at))?;
        if let Some(anchor) = anchor {
            let mut json = String::new();
            scalar.push(&mut json).map_err(|said| Problem { place: Some(at), said })?;
            self.anchors.insert(anchor, json);
        }
        let Some(Open { kind: Kind::Mapping { members, key, merges }, .. }) = self.open.last_mut() else {
            return Ok(());
        };
        if !members.is_empty() {
            self.json.push(',');
        }
        let start = self.json.len();
        if !merge {
            push_text(&mut self.json, &text);
            self.json.push(':');
        }
        *merges |= merge;
        *key = Some(Key { text, start, merge, place: at });
        Ok(())
    }

    /// Where the value that comes next begins.
    fn begin_value(&mut self) -> usize {
        if let Some(Open { kind: Kind::List { items }, .. }) = self.open.last_mut() {
            if *items > 0 {
                self.json.push(',');
            }
            *items = items.saturating_add(1);
        }
        self.json.len()
    }

    fn end_value(&mut self, start: usize, anchor: Option<String>, at: Place) -> Result<(), Problem> {
        let end = self.json.len();
        if let Some(anchor) = anchor {
            self.anchors.insert(anchor, self.json.get(start..end).unwrap_or_default().to_owned());
        }
        if let Some(Open { kind: Kind::Mapping { members, key, .. }, .. }) = self.open.last_mut()
            && let Some(Key { text, start, merge, place }) = key.take()
        {
            if merge && !matches!(self.json.as_bytes().get(start), Some(b'{' | b'[')) {
                let said = String::from("a merge key `<<` takes a mapping, or a list of mappings");
                return Err(Problem { place: Some(at), said });
            }
            members.push(Member { key: text, start, end, merge, place });
        }
        Ok(())
    }

    fn begin(&mut self, kind: Kind, anchor: Option<String>, at: Place) -> Result<(), Problem> {
        if self.wants_key() {
            return Err(not_a_key(at));
        }
        if self.open.len() >= DEPTH {
            return Err(Problem { place: Some(at), said: format!("it is nested more than {DEPTH} levels deep") });
        }
        let start = self.begin_value();
        let is_mapping = matches!(kind, Kind::Mapping { .. });
        self.json.push(if is_mapping { '{' } else { '[' });
        let listed = (is_mapping && self.open.len() < LISTED).then_some(self.mappings.len());
        if listed.is_some() {
            let byte = self.bytes.at(at);
            self.mappings.push(Mapping { at: start, start: byte, end: byte, place: at });
        }
        self.open.push(Open { at: start, anchor, listed, kind });
        Ok(())
    }

    fn end(&mut self, place: Place) -> Result<(), Problem> {
        let Some(Open { at, anchor, listed, kind }) = self.open.pop() else { return Ok(()) };
        if let Some(mapping) = listed.and_then(|number| self.mappings.get_mut(number)) {
            // The end of a block is where the next token begins; of braces, the last of them.
            let end = self.bytes.at(place);
            let brace = self.bytes.text.as_bytes().get(end) == Some(&b'}');
            mapping.end = end.saturating_add(usize::from(brace));
        }
        match kind {
            Kind::List { .. } => self.json.push(']'),
            Kind::Mapping { members, merges, .. } => {
                if merges || twice(&members) {
                    self.rewrite(at, members)?;
                }
                self.json.push('}');
            }
        }
        self.end_value(at, anchor, place)
    }

    /// Writes a mapping again in which merge keys or equal keys are: what comes later counts.
    fn rewrite(&mut self, at: usize, members: Vec<Member>) -> Result<(), Problem> {
        let path = self.path();
        let written = self.json.split_off(at);
        // The members as they count: the text of each, and where it was; what a merge brings was elsewhere.
        let mut order: Vec<(String, Option<usize>)> = Vec::new();
        let mut known: BTreeMap<String, (usize, bool)> = BTreeMap::new();
        for Member { key, start, end, merge, place } in members {
            let of_json = |from: usize| from.saturating_sub(at);
            let text = written.get(of_json(start)..of_json(end)).unwrap_or_default();
            let from = (!merge).then_some(start);
            let all = if merge {
                let said = || String::from("a merge key `<<` takes a mapping, or a list of mappings");
                merged(text).ok_or_else(|| Problem { place: Some(place), said: said() })?
            } else {
                vec![(key, text.to_owned())]
            };
            for (key, text) in all {
                match known.get_mut(&key) {
                    Some((number, explicit)) => {
                        if *explicit && !merge {
                            self.repeated.push(Repeated { path: below(&path, &key), place });
                        }
                        *explicit |= !merge;
                        if let Some(old) = order.get_mut(*number) {
                            *old = (text, from);
                        }
                    }
                    None => {
                        known.insert(key, (order.len(), !merge));
                        order.push((text, from));
                    }
                }
            }
        }
        self.json.push('{');
        let old: Vec<Mapping> = self.mappings.iter().filter(|mapping| mapping.at > at).copied().collect();
        self.mappings.retain(|mapping| mapping.at <= at);
        for (number, (text, from)) in order.iter().enumerate() {
            if number > 0 {
                self.json.push(',');
            }
            let now = self.json.len();
            self.json.push_str(text);
            if let Some(start) = from {
                let end = start.saturating_add(text.len());
                let kept = old.iter().filter(|mapping| (*start..end).contains(&mapping.at));
                self.mappings.extend(
                    kept.map(|mapping| Mapping {
                        at: mapping.at.saturating_sub(*start).saturating_add(now),
                        ..*mapping
                    }),
                );
            }
        }
        Ok(())
    }

    /// The path of the mapping that was just closed.
    fn path(&self) -> String {
        let mut path = String::new();
        for open in &self.open {
            match &open.kind {
                Kind::List { items } => path.push_str(&format!("[{}]", items.saturating_sub(1))),
                Kind::Mapping { key: Some(Key { text, .. }), .. } => path = below(&path, text),
                Kind::Mapping { key: None, .. } => {}
            }
        }
        path
    }
}

/// The path of a member, as the library spells it.
pub fn below(path: &str, key: &str) -> String {
    match path {
        "" => key.to_owned(),
        _ if key.contains(['.', '/']) => format!("{path}[{key}]"),
        _ => format!("{path}.{key}"),
    }
}

fn not_a_key(at: Place) -> Problem {
    Problem { place: Some(at), said: String::from("a key must be a string, a number or a boolean") }
}

/// Whether a key appears twice. Few mappings have many members.
fn twice(members: &[Member]) -> bool {
    if members.len() <= 12 {
        return members.iter().enumerate().any(|(index, one)| {
            members
                .iter()
                .skip(index.saturating_add(1))
                .any(|other| other.key.len() == one.key.len() && other.key == one.key)
        });
    }
    let mut keys: Vec<&str> = members.iter().map(|member| member.key.as_str()).collect();
    keys.sort_unstable();
    keys.windows(2).any(|pair| matches!(pair, [one, other] if one == other))
}

/// The members that a merge key brings: of a list, those of earlier mappings count.
fn merged(json: &str) -> Option<Vec<(String, String)>> {
    let of = |json: &str| {
        let members: Members<'_> = serde_json::from_str(json).ok()?;
        let mut all = Vec::new();
        for (key, value) in &members.0 {
            let mut text = String::new();
            push_text(&mut text, key);
            text.push(':');
            text.push_str(value.get());
            all.push((key.clone().into_owned(), text));
        }
        Some(all)
    };
    if json.starts_with('{') {
        return of(json);
    }
    let list: Vec<&serde_json::value::RawValue> = serde_json::from_str(json).ok()?;
    let mut all = Vec::new();
    for mapping in list.iter().rev() {
        all.extend(of(mapping.get())?);
    }
    Some(all)
}
