//! A long JSON text, of which one item of a List after the other is held, and nothing else.

use std::io::BufRead;

use super::json::{self, Lines};
use super::not_judged::Reason;
use super::written::{ListKind, Place};
use super::{Emit, LONGEST, too_long, yaml_rows};

/// Reads the values of a text. Where YAML documents follow, separated by `---`, they are read too.
///
/// # Errors
/// When the input cannot be read any further.
pub fn read(input: &mut dyn BufRead, emit: &mut Emit<'_>) -> std::io::Result<()> {
    let mut cursor = Cursor { input, place: Place { line: 1, column: 1 }, offset: 0 };
    loop {
        match cursor.skip_space()? {
            None => return Ok(()),
            Some(b'{') => {
                if let Some(said) = object(&mut cursor, emit)? {
                    let place = cursor.place;
                    emit.broken(Reason::NotYaml, Some(place), format!("is not JSON: {said}"));
                    return Ok(());
                }
            }
            Some(b'-' | b'#') if emit.any => {
                let Cursor { input, place, offset } = cursor;
                return yaml_rows::read(input, (place.line, offset), true, emit);
            }
            Some(_) => {
                let (place, offset, mut text) = (cursor.place, cursor.offset, Vec::new());
                match cursor.value(&mut text)? {
                    None => whole(&text, place, offset, None, emit),
                    Some(said) => {
                        emit.broken(Reason::NotYaml, Some(cursor.place), format!("is not JSON: {said}"));
                        return Ok(());
                    }
                }
            }
        }
    }
}

type Wrong = Option<&'static str>;

/// Reads an object; the items of its `items` are taken one by one.
fn object(cursor: &mut Cursor<'_>, emit: &mut Emit<'_>) -> std::io::Result<Wrong> {
    let (place, offset) = (cursor.place, cursor.offset);
    // The text without the items.
    let mut frame = Vec::new();
    let mut streamed = false;
    let mut nameless = Vec::new();
    cursor.push(&mut frame)?;
    loop {
        match cursor.copy_space(&mut frame)? {
            Some(b'"') => {}
            Some(b'}') => {
                cursor.push(&mut frame)?;
                break;
            }
            _ => return Ok(Some("expected a key in quotes or `}`")),
        }
        let begin = frame.len();
        if let Some(said) = cursor.value(&mut frame)? {
            return Ok(Some(said));
        }
        let is_items = frame.get(begin..) == Some(br#""items""#);
        if cursor.copy_space(&mut frame)? != Some(b':') {
            return Ok(Some("expected `:`"));
        }
        cursor.push(&mut frame)?;
        let first = cursor.copy_space(&mut frame)?;
        if is_items && first == Some(b'[') {
            streamed = true;
            emit.any = true;
            frame.extend_from_slice(b"[]");
            if let Some(said) = items(cursor, &kind_of(&frame), &mut nameless, emit)? {
                return Ok(Some(said));
            }
        } else if let Some(said) = cursor.value(&mut frame)? {
            return Ok(Some(said));
        }
        match cursor.copy_space(&mut frame)? {
            Some(b',') => cursor.push(&mut frame)?,
            Some(b'}') => {}
            None => return Ok(Some("the text ends within an object")),
            Some(_) => return Ok(Some("expected `,` or `}`")),
        }
    }
    if !streamed {
        whole(&frame, place, offset, None, emit);
        return Ok(None);
    }
    let of_list = kind_of(&frame);
    for Item { text, place, offset } in nameless {
        whole(&text, place, offset, of_list.as_ref(), emit);
    }
    Ok(None)
}

/// An item whose type only the end of the List will tell.
struct Item {
    text: Vec<u8>,
    place: Place,
    offset: u64,
}

fn items(
    cursor: &mut Cursor<'_>,
    of_list: &Option<ListKind>,
    nameless: &mut Vec<Item>,
    emit: &mut Emit<'_>,
) -> std::io::Result<Wrong> {
    let mut text = Vec::new();
    cursor.push(&mut text)?;
    loop {
        match cursor.skip_space()? {
            Some(b']') => {
                cursor.push(&mut text)?;
                return Ok(None);
            }
            Some(b',') => {
                cursor.push(&mut text)?;
                continue;
            }
            None => return Ok(Some("the text ends within a list")),
            Some(_) => {}
        }
        let (place, offset) = (cursor.place, cursor.offset);
        text.clear();
        if let Some(said) = cursor.value(&mut text)? {
            return Ok(Some(said));
        }
        emit.came(cursor.offset);
        if of_list.is_none() && !text.windows(6).any(|six| six == br#""kind""#) {
            nameless.push(Item { text: text.clone(), place, offset });
        } else {
            whole(&text, place, offset, of_list.as_ref(), emit);
        }
    }
}

fn kind_of(frame: &[u8]) -> Option<ListKind> {
    // The frame may still be open.
    let text = std::str::from_utf8(frame).ok()?.trim_end().trim_end_matches(',');
    let closed = if text.ends_with('}') { text.to_owned() } else { format!("{text}}}") };
    json::list(&closed)?.0
}

fn whole(bytes: &[u8], place: Place, offset: u64, of_list: Option<&ListKind>, emit: &mut Emit<'_>) {
    emit.any = true;
    match std::str::from_utf8(bytes) {
        Ok(text) => json::take(text, &mut Lines::new(text, place, offset), of_list, emit),
        Err(error) => {
            let at = offset.saturating_add(error.valid_up_to() as u64);
            emit.broken(Reason::Unreadable, Some(place), format!("is not UTF-8 at byte {at}"));
        }
    }
}

/// Reads bytes and knows where it is.
struct Cursor<'a> {
    input: &'a mut dyn BufRead,
    place: Place,
    offset: u64,
}

impl Cursor<'_> {
    fn peek(&mut self) -> std::io::Result<Option<u8>> {
        Ok(self.input.fill_buf()?.first().copied())
    }

    fn push(&mut self, into: &mut Vec<u8>) -> std::io::Result<()> {
        if let Some(byte) = self.peek()? {
            into.push(byte);
            self.advance(1)?;
        }
        Ok(())
    }

    fn advance(&mut self, length: usize) -> std::io::Result<()> {
        let bytes = self.input.fill_buf()?;
        self.place = json::after(self.place, bytes.get(..length).unwrap_or_default());
        self.offset = self.offset.saturating_add(length as u64);
        self.input.consume(length);
        Ok(())
    }

    /// The first byte after white space.
    fn skip_space(&mut self) -> std::io::Result<Option<u8>> {
        self.copy_space(&mut Vec::new())
    }

    fn copy_space(&mut self, into: &mut Vec<u8>) -> std::io::Result<Option<u8>> {
        loop {
            let bytes = self.input.fill_buf()?;
            if bytes.is_empty() {
                return Ok(None);
            }
            let space = bytes.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            into.extend_from_slice(bytes.get(..space).unwrap_or_default());
            let next = bytes.get(space).copied();
            self.advance(space)?;
            if next.is_some() {
                return Ok(next);
            }
        }
    }

    /// Copies a value: up to the end of its brackets, its string or its word. What is in it is for the reader of JSON.
    fn value(&mut self, into: &mut Vec<u8>) -> std::io::Result<Wrong> {
        let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
        let mut begun = false;
        let line = self.place.line;
        loop {
            let bytes = self.input.fill_buf()?;
            if bytes.is_empty() {
                return Ok((depth > 0 || in_string || !begun).then_some("the text ends within a value"));
            }
            let mut taken = 0_usize;
            let mut done = false;
            for byte in bytes {
                if in_string {
                    taken = taken.saturating_add(1);
                    match byte {
                        _ if escaped => escaped = false,
                        b'\\' => escaped = true,
                        b'"' => {
                            in_string = false;
                            done = depth == 0;
                        }
                        _ => {}
                    }
                } else {
                    match byte {
                        b'"' => in_string = true,
                        b'{' | b'[' => depth = depth.saturating_add(1),
                        b'}' | b']' if depth == 0 => done = true,
                        b'}' | b']' => {
                            depth = depth.saturating_sub(1);
                            if depth == 0 {
                                taken = taken.saturating_add(1);
                                done = true;
                                break;
                            }
                        }
                        b',' | b':' | b' ' | b'\t' | b'\n' | b'\r' if depth == 0 => done = true,
                        _ => {}
                    }
                    if done {
                        break;
                    }
                    taken = taken.saturating_add(1);
                }
                if done {
                    break;
                }
            }
            begun |= taken > 0;
            into.extend_from_slice(bytes.get(..taken).unwrap_or_default());
            self.advance(taken)?;
            if into.len() > LONGEST {
                return Err(too_long(line));
            }
            if done {
                return Ok((!begun).then_some("expected a value"));
            }
        }
    }
}
