//! A long List, as `kubectl` prints it, read in chunks by as many threads as there are processors: reading YAML takes most
//! of an audit's time.
//!
//! All items begin at one column, each behind a `-`. Nothing inside an item can begin at that column or before it, except
//! within quotes, brackets or braces that are still open; then the chunk before it does not end and is not YAML. A text
//! that does not split exactly like this, for instance because an alias and its anchor are in different chunks, is read
//! again as a whole.

use std::borrow::Cow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

use serde_saphyr::Spanned;

use super::Document;
use super::yaml_document::{Whole, line, options};
use super::yaml_json::Json;

/// Below this length a text is read as a whole.
const LONG: usize = 1 << 20;
/// The least that a thread is given at once.
const CHUNK: usize = 1 << 18;

/// Some items, and the number of lines before them.
struct Chunk<'t> {
    text: &'t str,
    lines_before: usize,
}

/// The items of a long List; `None` for every other text.
pub fn documents(text: &str, seen: &dyn Fn(u64)) -> Option<Vec<Document<'static>>> {
    if text.len() < LONG {
        return None;
    }
    let (frame, chunks) = split(text)?;
    let frame: Whole = serde_saphyr::from_str_with_options(&frame, options()).ok()?;
    let Whole::List(kind, _) = frame else { return None };
    let items = read(&chunks, seen)?;
    let document = |(line, json)| Document { json: Cow::Owned(json), line, of_list: kind.clone() };
    Some(items.into_iter().flatten().map(document).collect())
}

/// The text without its items, and the items in chunks.
fn split(text: &str) -> Option<(String, Vec<Chunk<'_>>)> {
    let (mut frame, mut chunks) = (String::new(), Vec::new());
    // Where the chunk begins that is being gathered, and the lines before it.
    let mut open: Option<(usize, usize)> = None;
    let (mut at, mut in_items, mut margin) = (0, false, 0);
    for (number, row) in text.split_inclusive('\n').enumerate() {
        let bare = row.trim_start_matches(' ');
        let indent = row.len().saturating_sub(bare.len());
        if in_items && open.is_none() {
            margin = indent;
        }
        let begins_item = indent == margin && bare.starts_with("- ");
        let says_nothing = bare.trim().is_empty() || bare.starts_with('#');
        if in_items && !begins_item && indent <= margin && !says_nothing {
            in_items = false;
            let (start, lines_before) = open.take()?;
            chunks.push(Chunk { text: text.get(start..at)?, lines_before });
        }
        match (in_items, open) {
            (true, None) if !begins_item => return None,
            (true, None) => open = Some((at, number)),
            (true, Some((start, lines_before))) if begins_item && at.saturating_sub(start) >= CHUNK => {
                chunks.push(Chunk { text: text.get(start..at)?, lines_before });
                open = Some((at, number));
            }
            (true, Some(_)) => {}
            // Other documents and directives are for the whole.
            (false, _) if row.starts_with("...") || row.starts_with('%') => return None,
            (false, _) if row.starts_with("---") && (number > 0 || row.trim_end() != "---") => return None,
            // A second list of items is an error, or only looks like one: reading the whole text tells.
            (false, _) if row.trim_end() == "items:" && !chunks.is_empty() => return None,
            (false, _) if row.trim_end() == "items:" => {
                frame.push_str("items: []\n");
                in_items = true;
            }
            (false, _) => frame.push_str(row),
        }
        at = at.saturating_add(row.len());
    }
    if let Some((start, lines_before)) = open {
        chunks.push(Chunk { text: text.get(start..)?, lines_before });
    }
    Some((frame, chunks))
}

/// An item with its line, as JSON.
type Item = (usize, String);

/// Reads every chunk; `None` as soon as one cannot be read by itself.
fn read(chunks: &[Chunk<'_>], seen: &dyn Fn(u64)) -> Option<Vec<Vec<Item>>> {
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(chunks.len());
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..workers {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(chunk) = chunks.get(index) else { return };
                    if sender.send((index, chunk.text.len(), items(chunk))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let mut all: Vec<Vec<Item>> = chunks.iter().map(|_| Vec::new()).collect();
        let mut bytes = 0_u64;
        for (index, length, read) in receiver {
            *all.get_mut(index)? = read?;
            bytes = bytes.saturating_add(length as u64);
            seen(bytes);
        }
        Some(all)
    })
}

fn items(chunk: &Chunk<'_>) -> Option<Vec<Item>> {
    let items: Vec<Spanned<Json>> = serde_saphyr::from_str_with_options(chunk.text, options()).ok()?;
    let item = |item: Spanned<Json>| (line(&item).saturating_add(chunk.lines_before), item.value.0);
    Some(items.into_iter().map(item).collect())
}
