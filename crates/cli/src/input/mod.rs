//! What comes in: files and standard input, YAML or JSON, with one document or several.
//!
//! A document that cannot be read costs nothing but itself: it is reported as [`NotJudged`], and the others are taken. A
//! text that is longer than [`LONG`] is never held as a whole.

mod document;
mod events;
pub mod files;
pub mod git;
mod json;
mod long_json;
mod not_judged;
mod places;
mod settled;
mod written;
mod yaml;
mod yaml_rows;
mod yaml_scalar;

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;

use crate::complaint::Complaint;

pub use document::Document;
pub use json::Members;
pub use not_judged::{NotJudged, Omitted, Reason};
pub use written::{Found, ListKind, Place, Repeated, Syntax, Written};
pub use yaml::below;

/// A shorter text is read as a whole.
const LONG: usize = 1 << 22;

/// A document, or an item of a List, that is longer is not read: no object of Kubernetes is nearly as long.
const LONGEST: usize = 1 << 26;

/// After so many bytes the caller hears how far the reading came.
const STEP: u64 = 1 << 18;

/// What a file gives.
#[derive(Debug)]
pub enum Piece {
    Document(Document),
    NotJudged(NotJudged),
    /// So many bytes of it have been read.
    Came(u64),
}

/// Reads a file, or standard input where the path is `-`, and passes on what it holds. Says whether it holds anything: an
/// empty text, a comment and `null` are nothing, and a List without items is something.
///
/// # Errors
/// When it cannot be opened or read.
pub fn read(path: &Path, take: &mut dyn FnMut(Piece)) -> Result<bool, NotJudged> {
    let name = path.display().to_string();
    let opened = if name == "-" {
        read_from(&mut std::io::stdin().lock(), &name, take)
    } else {
        std::fs::File::open(path).and_then(|file| read_from(&mut BufReader::with_capacity(1 << 16, file), &name, take))
    };
    opened.map_err(|error| cannot_be_read(&name, &error))
}

/// Reads what comes from somewhere else than a file, under the name of a file.
pub fn read_text(name: &str, text: &[u8], take: &mut dyn FnMut(Piece)) -> bool {
    let mut emit = Emit::new(name, take);
    short(text, &mut emit);
    emit.any
}

fn cannot_be_read(name: &str, error: &std::io::Error) -> NotJudged {
    let problem = format!("cannot be read: {error}");
    NotJudged { reason: Reason::Unreadable, file: name.to_owned(), place: None, problem }
}

/// What has no end, such as a device, is not held.
fn too_long(line: usize) -> std::io::Error {
    let said = format!("the document or item at line {line} is longer than {} MiB", LONGEST >> 20);
    std::io::Error::new(std::io::ErrorKind::FileTooLarge, said)
}

fn read_from(input: &mut dyn BufRead, name: &str, take: &mut dyn FnMut(Piece)) -> std::io::Result<bool> {
    let mut begin = Vec::new();
    while begin.len() < LONG {
        let some = input.fill_buf()?;
        if some.is_empty() {
            break;
        }
        begin.extend_from_slice(some);
        let length = some.len();
        input.consume(length);
        take(Piece::Came(begin.len() as u64));
    }
    let mut emit = Emit::new(name, take);
    if begin.len() < LONG {
        short(&begin, &mut emit);
        return Ok(emit.any);
    }
    let is_json = without_mark(&begin).iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{');
    let mark = begin.len().saturating_sub(without_mark(&begin).len());
    let mut input = BufReader::with_capacity(1 << 16, std::io::Cursor::new(begin).chain(input));
    input.consume_exactly(mark)?;
    if is_json {
        long_json::read(&mut input, &mut emit)?;
    } else {
        yaml_rows::read(&mut input, (1, mark as u64), true, &mut emit)?;
    }
    Ok(emit.any)
}

trait ConsumeExactly {
    fn consume_exactly(&mut self, length: usize) -> std::io::Result<()>;
}

impl<R: BufRead> ConsumeExactly for R {
    fn consume_exactly(&mut self, length: usize) -> std::io::Result<()> {
        let mut passed = vec![0; length];
        self.read_exact(&mut passed)
    }
}

/// Some editors begin a file with a byte order mark.
fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes)
}

/// The text of a file that some shells of Windows write as UTF-16.
fn from_utf16(bytes: &[u8]) -> Option<String> {
    let (unit, bytes): (fn([u8; 2]) -> u16, _) = match bytes {
        [0xFF, 0xFE, rest @ ..] => (u16::from_le_bytes, rest),
        [0xFE, 0xFF, rest @ ..] => (u16::from_be_bytes, rest),
        _ => return None,
    };
    let (pairs, odd) = bytes.as_chunks::<2>();
    let units: Vec<u16> = pairs.iter().map(|pair| unit(*pair)).collect();
    String::from_utf16(&units).ok().filter(|_| odd.is_empty())
}

/// Reads a text that is held as a whole.
fn short(bytes: &[u8], emit: &mut Emit<'_>) {
    let decoded = from_utf16(bytes);
    let bytes = decoded.as_ref().map_or_else(|| without_mark(bytes), |text| text.as_bytes());
    let text = std::str::from_utf8(bytes).unwrap_or_default();
    if !text.trim_start().starts_with(['{', '[']) {
        return rows(bytes, Place { line: 1, column: 1 }, 0, emit);
    }
    let mut lines = json::Lines::new(text, Place { line: 1, column: 1 }, 0);
    let mut from = 0_usize;
    while let Some(rest) = text.get(from..) {
        let (place, _) = lines.of(rest);
        let Err((start, mut wrong)) = json::documents(rest, &mut lines, emit) else { return };
        let start = from.saturating_add(start);
        // serde counts from where it began.
        if let Some(at) = &mut wrong.place {
            if at.line == 1 {
                at.column = at.column.saturating_add(place.column).saturating_sub(1);
            }
            at.line = at.line.saturating_add(place.line).saturating_sub(1);
        }
        let rest = text.get(start..).unwrap_or_default();
        // Every JSON text is YAML too, but a reader of YAML would not leave it as it is.
        if !emit.file.ends_with(".json") || rest.trim_start().starts_with("---") {
            let (place, offset) = lines.of(rest.trim_start());
            let mut pieces = Vec::new();
            let mut of_yaml = |piece| pieces.push(piece);
            let mut yaml = Emit::new(&emit.file, &mut of_yaml);
            rows(rest.trim_start().as_bytes(), place, offset, &mut yaml);
            let any = yaml.any;
            let is_template =
                |piece: &Piece| matches!(piece, Piece::NotJudged(one) if one.reason == Reason::HelmTemplate);
            if pieces.iter().any(is_template) || !pieces.iter().any(|piece| matches!(piece, Piece::NotJudged(_))) {
                emit.any |= any;
                return pieces.into_iter().for_each(|piece| (emit.take)(piece));
            }
        }
        emit.any = true;
        (emit.take)(Piece::NotJudged(wrong));
        // The next text that begins a line with a brace may be readable again.
        let Some(next) = rest.get(1..).and_then(|rest| rest.find("\n{")) else { return };
        from = start.saturating_add(next).saturating_add(2);
    }
}

fn rows(mut bytes: &[u8], place: Place, offset: u64, emit: &mut Emit<'_>) {
    // Reading from memory does not fail.
    let _never = yaml_rows::read(&mut bytes, (place.line, offset), false, emit);
}

/// Where pieces go, and what they have in common.
struct Emit<'a> {
    file: Arc<str>,
    template: Option<String>,
    /// Whether there was anything.
    any: bool,
    came: u64,
    take: &'a mut dyn FnMut(Piece),
}

impl<'a> Emit<'a> {
    fn new(name: &str, take: &'a mut dyn FnMut(Piece)) -> Self {
        Emit { file: Arc::from(name), template: None, any: false, came: 0, take }
    }

    fn document(
        &mut self,
        line: usize,
        of_list: Option<ListKind>,
        written: Written,
        json: Option<String>,
        repeated: Vec<Repeated>,
    ) {
        self.any = true;
        let (file, template) = (Arc::clone(&self.file), self.template.clone());
        (self.take)(Piece::Document(Document { file, template, line, of_list, repeated, written, json }));
    }

    fn not_judged(&self, reason: Reason, place: Option<Place>, problem: String) -> NotJudged {
        NotJudged { reason, file: self.file.to_string(), place, problem }
    }

    fn broken(&mut self, reason: Reason, place: Option<Place>, problem: String) {
        self.any = true;
        let one = self.not_judged(reason, place, problem);
        (self.take)(Piece::NotJudged(one));
    }

    fn came(&mut self, bytes: u64) {
        if bytes.saturating_sub(self.came) >= STEP {
            self.came = bytes;
            (self.take)(Piece::Came(bytes));
        }
    }
}

/// The text of a file that has to be read as a whole, or not at all.
#[derive(Debug)]
pub struct Source {
    /// The path as it was given; `-` is standard input.
    pub name: String,
    text: Vec<u8>,
}

impl Source {
    /// Reads a file, or standard input where the path is `-`.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read(path: &Path) -> Result<Self, Complaint> {
        let name = path.display().to_string();
        let mut text = Vec::new();
        let read = if name == "-" {
            std::io::stdin().lock().read_to_end(&mut text).map(drop)
        } else {
            std::fs::read(path).map(|read| text = read)
        };
        match read {
            Ok(()) => Ok(Source { name, text }),
            Err(error) => Err(Complaint::new(shown(&name), format!("cannot be read: {error}"), "name a file, or `-`")),
        }
    }

    /// A text that comes from no file.
    pub fn of(name: &str, text: &str) -> Self {
        Source { name: name.to_owned(), text: text.as_bytes().to_owned() }
    }

    /// The name in words.
    pub fn shown(&self) -> &str {
        shown(&self.name)
    }

    /// The text itself.
    ///
    /// # Errors
    /// When it is not UTF-8.
    pub fn text(&self) -> Result<&str, Complaint> {
        std::str::from_utf8(without_mark(&self.text)).map_err(|error| {
            let problem = format!("is not UTF-8 at byte {}", error.valid_up_to());
            Complaint::new(self.shown(), problem, "save it as UTF-8")
        })
    }

    /// Every document, Lists taken apart; `None` where there are only comments. A List without items is not nothing.
    ///
    /// # Errors
    /// The first thing that is neither JSON nor YAML.
    pub fn documents(&self) -> Result<Option<Vec<Document>>, Complaint> {
        let (mut documents, mut wrong) = (Vec::new(), None);
        let any = read_text(&self.name, &self.text, &mut |piece| match piece {
            Piece::Document(document) => documents.push(document),
            Piece::NotJudged(one) => drop(wrong.get_or_insert(one)),
            Piece::Came(_) => {}
        });
        match wrong {
            Some(wrong) => Err(wrong.complaint()),
            None => Ok(any.then_some(documents)),
        }
    }

    /// The one document that the text must hold.
    ///
    /// # Errors
    /// When there is none, or more than one.
    pub fn only_document(&self, what: &str) -> Result<Document, Complaint> {
        let mut documents = self.documents()?.unwrap_or_default();
        match (documents.pop(), documents.len()) {
            (Some(document), 0) => Ok(document),
            (None, _) => Err(Complaint::new(self.shown(), "holds no document", format!("write {what}, into it"))),
            (Some(second), _) => Err(Complaint::new(
                format!("{}:{}", self.shown(), second.line),
                "is another document",
                format!("leave one: {what}"),
            )),
        }
    }
}

/// A file in words.
pub fn shown(name: &str) -> &str {
    if name == "-" { "standard input" } else { name }
}
