//! From the path of a field to its line and column.

use super::events::{self, Parser};
use super::written::{Found, Place, Syntax, Written};
use super::{json, yaml};

/// The place of a field in a document that begins on this line.
pub fn find(written: &Written, line: usize, path: &str) -> Found {
    let start = Place { line, column: written.column.saturating_add(1) };
    let mut found = Found { key: start, value: start, exact: path.is_empty() };
    let mut length = 0;
    visit(written, start, &mut |at, key, value| {
        let within = path.strip_prefix(at).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']));
        // Of two equal keys the last one counts.
        if within && at.len() >= length {
            found = Found { key, value, exact: at == path };
            length = at.len();
        }
    });
    found
}

/// Takes the path of a field, the place of its key and that of its value.
type See<'a> = dyn FnMut(&str, Place, Place) + 'a;

fn visit(written: &Written, start: Place, see: &mut See<'_>) {
    match written.syntax {
        Syntax::Json => {
            let mut json = Json { rest: written.text.as_bytes(), place: start, depth: 0 };
            json.value("", see).unwrap_or_default();
        }
        Syntax::Yaml => visit_yaml(written, start.line, see),
    }
}

/// A collection whose members are being visited.
struct Open {
    path: String,
    kind: Kind,
}

enum Kind {
    List(usize),
    Mapping(Option<(String, Place)>),
}

fn visit_yaml(written: &Written, line: usize, see: &mut See<'_>) {
    // An item of a List begins behind its `-`, and its other rows below that column.
    let text = format!("{}{}", " ".repeat(written.column), written.text);
    let before = line.saturating_sub(1);
    let mut parser = Parser::new(&text);
    let mut open: Vec<Open> = Vec::new();
    while let Ok(event) = parser.next() {
        let place = Place { line: event.place.line.saturating_add(before), ..event.place };
        let kind = match &event.kind {
            events::Kind::List { .. } => Some(Kind::List(0)),
            events::Kind::Mapping { .. } => Some(Kind::Mapping(None)),
            events::Kind::Scalar { .. } | events::Kind::Alias(_) => None,
            events::Kind::StreamEnd => return,
            events::Kind::End => {
                open.pop();
                if open.is_empty() {
                    return;
                }
                continue;
            }
            _ => continue,
        };
        let (path, key) = match open.last_mut() {
            None => (String::new(), place),
            Some(Open { path, kind: Kind::List(items) }) => {
                let path = format!("{path}[{items}]");
                *items = items.saturating_add(1);
                (path, place)
            }
            Some(Open { path, kind: Kind::Mapping(key) }) => match key.take() {
                Some((name, at)) => (yaml::below(path, &name), at),
                None => {
                    let name = if let events::Kind::Scalar { text, .. } = event.kind { text } else { String::new() };
                    *key = Some((name, place));
                    if kind.is_some() {
                        return;
                    }
                    continue;
                }
            },
        };
        see(&path, key, place);
        if let Some(kind) = kind {
            open.push(Open { path, kind });
        }
    }
}

/// Reads JSON only as far as its places are concerned.
struct Json<'t> {
    rest: &'t [u8],
    place: Place,
    /// Of the value that is being visited.
    depth: usize,
}

/// The library reads no value that is nested deeper.
const DEPTH: usize = 128;

impl Json<'_> {
    fn advance(&mut self, length: usize) {
        let (taken, rest) = self.rest.split_at_checked(length).unwrap_or((self.rest, &[]));
        self.place = json::after(self.place, taken);
        self.rest = rest;
    }

    fn first(&mut self) -> Option<u8> {
        let space = self.rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        self.advance(space);
        self.rest.first().copied()
    }

    /// Passes one byte after white space.
    fn pass(&mut self, byte: u8) -> Option<()> {
        (self.first()? == byte).then(|| self.advance(1))
    }

    fn string(&mut self) -> Option<String> {
        self.first().filter(|byte| *byte == b'"')?;
        let mut escaped = true;
        let length = self.rest.iter().position(|byte| {
            let ends = *byte == b'"' && !escaped;
            escaped = *byte == b'\\' && !escaped;
            ends
        })?;
        let end = length.saturating_add(1);
        let text = serde_json::from_slice(self.rest.get(..end)?).ok()?;
        self.advance(end);
        Some(text)
    }

    /// Visits everything below a value, down to some depth.
    fn value(&mut self, path: &str, see: &mut See<'_>) -> Option<()> {
        self.depth = self.depth.checked_add(1).filter(|depth| *depth <= DEPTH)?;
        self.members(path, see)?;
        self.depth = self.depth.saturating_sub(1);
        Some(())
    }

    fn members(&mut self, path: &str, see: &mut See<'_>) -> Option<()> {
        match self.first()? {
            b'{' => {
                self.advance(1);
                while self.first()? != b'}' {
                    let key = self.place;
                    let path = yaml::below(path, &self.string()?);
                    self.pass(b':')?;
                    self.first()?;
                    see(&path, key, self.place);
                    self.value(&path, see)?;
                    if self.first()? == b',' {
                        self.advance(1);
                    }
                }
                self.advance(1);
            }
            b'[' => {
                self.advance(1);
                let mut index = 0_usize;
                while self.first()? != b']' {
                    let path = format!("{path}[{index}]");
                    index = index.saturating_add(1);
                    see(&path, self.place, self.place);
                    self.value(&path, see)?;
                    if self.first()? == b',' {
                        self.advance(1);
                    }
                }
                self.advance(1);
            }
            b'"' => drop(self.string()?),
            _ => {
                let word = |byte: &&u8| !byte.is_ascii_whitespace() && !matches!(byte, b',' | b'}' | b']');
                let length = self.rest.iter().take_while(word).count();
                if length == 0 {
                    return None;
                }
                self.advance(length);
            }
        }
        Some(())
    }
}
