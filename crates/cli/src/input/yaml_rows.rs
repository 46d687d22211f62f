//! Documents of YAML, separated as `kubectl` separates them: by lines that begin with `---`. So one that cannot be read costs
//! nothing but itself, and of a long text no more than one document is held.
//!
//! Of a long text also the items of a List are read one by one, as `kubectl get -o yaml` prints them: all begin at one
//! column, each behind a `-`. Nothing inside an item can begin at that column or before it, except within quotes, brackets
//! or braces that are still open; then the item is not YAML, and is read again together with what follows.

use std::io::{BufRead, Read};

use super::not_judged::Reason;
use super::written::{ListKind, Place, Syntax, Written};
use super::yaml::{self, Node};
use super::{Emit, LONGEST, json, too_long};

/// So many items are read together before the first of them is given up.
const JOINED: usize = 8;

/// Some rows of a text.
#[derive(Default)]
struct Rows {
    bytes: Vec<u8>,
    /// The rows and bytes of the text before them.
    rows_before: usize,
    offset: u64,
}

struct Reader<'a, 'e> {
    emit: &'a mut Emit<'e>,
    document: Rows,
    /// The items of a long List that are not read yet; `None` outside of one.
    items: Option<Items>,
    /// Items whose type only the end of the document will tell.
    nameless: Vec<(Node, Rows)>,
    /// Whether anything but comments and directives is in the document.
    begun: bool,
    directives: bool,
}

struct Items {
    margin: Option<usize>,
    waiting: Vec<Rows>,
    open: bool,
    any: bool,
}

/// Reads every document. `begin` is the line and the byte at which the input begins; `long` says whether to take long
/// Lists apart while they are read.
///
/// # Errors
/// When the input cannot be read any further.
pub fn read(input: &mut dyn BufRead, begin: (usize, u64), long: bool, emit: &mut Emit<'_>) -> std::io::Result<()> {
    let (mut number, mut offset) = (begin.0.saturating_sub(1), begin.1);
    let mut reader = Reader {
        emit,
        document: Rows { bytes: Vec::new(), rows_before: number, offset },
        items: None,
        nameless: Vec::new(),
        begun: false,
        directives: false,
    };
    let mut row = Vec::new();
    loop {
        row.clear();
        if (&mut *input).take((LONGEST as u64).saturating_add(1)).read_until(b'\n', &mut row)? == 0 {
            break;
        }
        if row.len().saturating_add(reader.held()) > LONGEST {
            return Err(too_long(number.saturating_add(1)));
        }
        let next = (number.saturating_add(1), offset.saturating_add(row.len() as u64));
        // The last row of a file may not end, and what is in it must not be lost with its end.
        if row.last() != Some(&b'\n') {
            row.push(b'\n');
        }
        match Separator::of(&row) {
            Some(Separator::Alone) if reader.directives && !reader.begun => reader.document.bytes.extend(&row),
            Some(Separator::Alone) => reader.finish(next),
            Some(Separator::WithContent) => {
                if !reader.directives || reader.begun {
                    reader.finish((number, offset));
                }
                reader.begun = true;
                reader.document.bytes.extend(&row);
            }
            None => reader.row(&row, (number, offset), long),
        }
        (number, offset) = next;
        reader.emit.came(offset);
    }
    reader.finish((number, offset));
    Ok(())
}

enum Separator {
    Alone,
    WithContent,
}

impl Separator {
    fn of(row: &[u8]) -> Option<Self> {
        let rest = row.strip_prefix(b"---").or_else(|| row.strip_prefix(b"...").filter(|rest| is_blank(rest)))?;
        match rest.first() {
            _ if is_blank(rest) => Some(Separator::Alone),
            Some(b' ' | b'\t' | b'#') => {
                let comment = rest.trim_ascii_start().starts_with(b"#");
                Some(if comment { Separator::Alone } else { Separator::WithContent })
            }
            _ => None,
        }
    }
}

fn is_blank(row: &[u8]) -> bool {
    row.trim_ascii().is_empty()
}

impl Reader<'_, '_> {
    /// The bytes that wait for their end.
    fn held(&self) -> usize {
        let waiting = self.items.iter().flat_map(|items| &items.waiting).map(|rows| rows.bytes.len());
        waiting.fold(self.document.bytes.len(), usize::saturating_add)
    }

    fn row(&mut self, row: &[u8], (number, offset): (usize, u64), long: bool) {
        let bare = row.trim_ascii_start();
        let indent = row.len().saturating_sub(bare.len());
        let says_nothing = bare.is_empty() || bare.starts_with(b"#");
        if let Some(template) = row.strip_prefix(b"# Source: ") {
            self.emit.template = std::str::from_utf8(template).ok().map(|template| template.trim().to_owned());
        }
        if !self.begun && row.starts_with(b"%") {
            self.directives = true;
        } else if !says_nothing {
            self.begun = true;
        }
        if let Some(items) = self.items.as_mut().filter(|items| items.open) {
            let begins = bare.starts_with(b"- ") || bare.trim_ascii_end() == b"-";
            let margin = *items.margin.get_or_insert(indent);
            if says_nothing || indent > margin {
                match items.waiting.last_mut() {
                    Some(last) => last.bytes.extend(row),
                    None if says_nothing => items.margin = None,
                    None => {}
                }
                return;
            }
            if begins && indent == margin {
                self.read_items(false);
                if let Some(items) = &mut self.items {
                    if !std::mem::replace(&mut items.any, true) {
                        self.document.bytes.extend(b"items: []\n");
                    }
                    items.waiting.push(Rows { bytes: row.to_vec(), rows_before: number, offset });
                }
                return;
            }
            self.close_items();
        }
        if long && self.items.is_none() && row.trim_ascii_end() == b"items:" {
            self.items = Some(Items { margin: None, waiting: Vec::new(), open: true, any: false });
            self.emit.any = true;
            return;
        }
        self.document.bytes.extend(row);
    }

    /// No item follows.
    fn close_items(&mut self) {
        self.read_items(true);
        let Some(items) = self.items.as_mut().filter(|items| items.open) else { return };
        items.open = false;
        if !items.any {
            self.document.bytes.extend(b"items:\n");
        }
    }

    /// Reads the items that wait; `all` where none will follow.
    fn read_items(&mut self, all: bool) {
        let Some(items) = &mut self.items else { return };
        let mut waiting = std::mem::take(&mut items.waiting);
        while let Some(first) = waiting.first() {
            let bytes = waiting.iter().flat_map(|rows| rows.bytes.iter().copied()).collect();
            let joined = Rows { bytes, rows_before: first.rows_before, offset: first.offset };
            match nodes(&joined) {
                (nodes, None) => {
                    nodes.into_iter().for_each(|node| self.item(node, &joined));
                    waiting.clear();
                }
                (_, Some(_)) if !all && waiting.len() < JOINED => break,
                (_, Some(_)) => {
                    // The first is given up; the others may be readable without it.
                    let first = waiting.remove(0);
                    match nodes(&first) {
                        (nodes, None) => nodes.into_iter().for_each(|node| self.item(node, &first)),
                        (_, Some((reason, place, said))) => self.emit.broken(reason, place, said),
                    }
                }
            }
        }
        if let Some(items) = &mut self.items {
            items.waiting = waiting;
        }
    }

    /// Takes the item of a List: a list of one.
    fn item(&mut self, node: Node, rows: &Rows) {
        let of_list = of_list(&self.document);
        if of_list.is_none() && !node.json.contains("\"kind\"") {
            let rows = Rows { bytes: rows.bytes.clone(), ..*rows };
            self.nameless.push((node, rows));
        } else {
            emit_items(&node, rows, of_list.as_ref(), self.emit);
        }
    }

    /// The document ends; the next one begins after `next` rows and bytes.
    fn finish(&mut self, next: (usize, u64)) {
        self.close_items();
        let document =
            std::mem::replace(&mut self.document, Rows { bytes: Vec::new(), rows_before: next.0, offset: next.1 });
        for (node, rows) in std::mem::take(&mut self.nameless) {
            emit_items(&node, &rows, of_list(&document).as_ref(), self.emit);
        }
        if self.begun {
            let (nodes, broken) = nodes(&document);
            nodes.iter().for_each(|node| emit_document(node, &document, self.emit));
            if let Some((reason, place, said)) = broken {
                self.emit.broken(reason, place, said);
            }
        }
        self.items = None;
        self.emit.template = None;
        (self.begun, self.directives) = (false, false);
    }
}

/// The type that a List gives to its items, as far as its rows are known.
fn of_list(frame: &Rows) -> Option<ListKind> {
    let text = std::str::from_utf8(&frame.bytes).ok()?;
    let value = |key: &str| text.lines().find_map(|row| row.strip_prefix(key)).map(str::trim);
    ListKind::of(value("apiVersion:"), value("kind:")?)
}

type Broken = (Reason, Option<Place>, String);

/// The documents in some rows, up to the first that cannot be read, and what is wrong with that.
fn nodes(rows: &Rows) -> (Vec<Node>, Option<Broken>) {
    let text = match std::str::from_utf8(&rows.bytes) {
        Ok(text) => text,
        Err(error) => {
            let at = rows.offset.saturating_add(error.valid_up_to() as u64);
            let place = Place { line: rows.rows_before.saturating_add(1), column: 1 };
            return (Vec::new(), Some((Reason::Unreadable, Some(place), format!("is not UTF-8 at byte {at}"))));
        }
    };
    let mut nodes = Vec::new();
    let read = yaml::documents(text, &mut nodes);
    for node in &mut nodes {
        node.repeated.iter_mut().for_each(|repeated| repeated.place = moved(repeated.place, rows));
    }
    let broken = read.err().map(|problem| {
        let place = problem.place.map(|place| moved(place, rows));
        if text.contains("{{") {
            return (Reason::HelmTemplate, place, String::from("is a template, and not YAML yet"));
        }
        (Reason::NotYaml, place, format!("is not usable YAML: {}", problem.said))
    });
    (nodes, broken)
}

fn moved(place: Place, rows: &Rows) -> Place {
    Place { line: place.line.saturating_add(rows.rows_before), ..place }
}

fn emit_document(node: &Node, rows: &Rows, emit: &mut Emit<'_>) {
    emit.any = true;
    emit_parts(node, rows, &json::parts(&node.json), 0, emit);
}

/// The node is a list of items.
fn emit_items(node: &Node, rows: &Rows, of_list: Option<&ListKind>, emit: &mut Emit<'_>) {
    let Ok(items) = serde_json::from_str::<Vec<&serde_json::value::RawValue>>(&node.json) else { return };
    for item in items {
        let before = (item.get().as_ptr() as usize).saturating_sub(node.json.as_ptr() as usize);
        let mut parts = json::parts(item.get());
        parts.iter_mut().for_each(|(_, kind)| *kind = kind.take().or_else(|| of_list.cloned()));
        emit_parts(node, rows, &parts, before, emit);
    }
}

fn emit_parts(
    node: &Node,
    rows: &Rows,
    parts: &[(std::ops::Range<usize>, Option<ListKind>)],
    before: usize,
    emit: &mut Emit<'_>,
) {
    let text = std::str::from_utf8(&rows.bytes).unwrap_or_default();
    for (number, (range, of_list)) in parts.iter().enumerate() {
        let (start, end) = (range.start.saturating_add(before), range.end.saturating_add(before));
        let json = node.json.get(start..end).unwrap_or_default().to_owned();
        if json == "null" {
            continue;
        }
        let found = node.mappings.binary_search_by_key(&start, |mapping| mapping.at);
        let mapping = found.ok().and_then(|found| node.mappings.get(found));
        let (place, from, to) = match mapping {
            Some(mapping) => (mapping.place, mapping.start, mapping.end),
            None => (first_place(text), 0, text.len()),
        };
        let written = Written {
            text: text.get(from..to).unwrap_or_default().trim_end().to_owned(),
            syntax: Syntax::Yaml,
            offset: rows.offset.saturating_add(from as u64),
            column: place.column.saturating_sub(1),
        };
        // What is repeated in a List is said once.
        let repeated = if number == 0 { node.repeated.clone() } else { Vec::new() };
        emit.document(moved(place, rows).line, of_list.clone(), written, Some(json), repeated);
    }
}

/// Where the first row is that says something.
fn first_place(text: &str) -> Place {
    let says = |row: &str| !row.trim().is_empty() && !row.starts_with('#') && !row.starts_with("---");
    let line = text.lines().position(says).unwrap_or_default().saturating_add(1);
    Place { line, column: 1 }
}
