//! A long List in YAML is read in chunks, and yet comes out as it would as a whole.

#![allow(clippy::restriction)]

use placement_guard_cli::input::{Document, Source};

/// So many items make a List that is long enough for chunks, several of them.
const ITEMS: usize = 1000;
const FILLER: usize = 1200;

/// Items whose insides look like the beginning of an item, of a document, or of the frame.
fn item(number: usize) -> String {
    let data = match number % 6 {
        0 => "  note: |\n    - a\n    items:\n\n    ---\n  other: >-\n    folded\n    text\n",
        1 => "  note: \"quoted\n\n    - over\n    lines\"\n# - a comment\n",
        2 => "  flow: {list: [a, b,\n    c], text: 'it''s'}\n",
        3 => "  list:\n  - &here {a: 1}\n  - *here\n",
        4 => "  numbers: [9223372036854775807, 010, 1.5, yes, ~]\n",
        _ => "  text: ä - ö\n\n",
    };
    let filler = "x".repeat(FILLER);
    format!("- apiVersion: v1\n  kind: Node\n  metadata:\n    name: node-{number}\n{data}  filler: {filler}\n")
}

fn list(begin: &str, end: &str, item: impl Fn(usize) -> String) -> String {
    let items: String = (0..ITEMS).map(item).collect();
    format!("{begin}items:\n{items}{end}")
}

/// Everything of every document, and how many times progress was told: never of a text that is read as a whole.
fn read(text: &str) -> Result<(Vec<String>, usize), String> {
    let source = Source::of("list.yaml", text);
    let told = std::cell::Cell::new(0);
    let documents = source.documents_seen(&|_| told.set(told.get() + 1)).map_err(|complaint| complaint.to_string())?;
    let documents = documents.unwrap_or_default();
    let shown = |document: &Document<'_>| format!("{} {:?} {}", document.line, document.of_list, document.json);
    Ok((documents.iter().map(shown).collect(), told.get()))
}

#[test]
fn chunks_give_what_the_whole_gives() {
    let plain = ("apiVersion: v1\n", "kind: List\nmetadata:\n  resourceVersion: \"\"\n");
    let typed = ("---\napiVersion: v1\nkind: NodeList\n", "");
    // As other programs than `kubectl` print it.
    let indented = |number: usize| item(number).lines().map(|line| format!("  {line}\n")).collect::<String>();
    let texts = [list(plain.0, plain.1, item), list(typed.0, typed.1, item), list(plain.0, plain.1, indented)];
    for text in texts {
        let (chunks, told) = read(&text).unwrap();
        assert!(text.len() > 1 << 20 && told > 3, "{told} chunks of {} bytes", text.len());
        // A second document, though it is empty, is for the whole to read.
        let (whole, untold) = read(&format!("{text}\n---\n")).unwrap();
        assert_eq!((whole.len(), untold), (ITEMS, 0));
        assert!(chunks == whole, "{:?}", chunks.iter().zip(&whole).find(|(chunk, whole)| chunk != whole));
    }
}

#[test]
fn what_cannot_be_read_in_chunks_is_read_as_a_whole() {
    let filler = "x".repeat(FILLER);
    // Quotes that are still open where the first column says that an item begins.
    let quotes = list("kind: List\n", "", |number| format!("- {{name: \"{number}\n- {filler}\"}}\n"));
    assert_eq!(read(&quotes).unwrap().0[1], format!(r#"5 None {{"name":"1 - {filler}"}}"#));
    let alias = list("kind: List\n", "- *first\n", |number| match number {
        0 => format!("- &first {{name: {filler}}}\n"),
        _ => format!("- name: {filler}\n"),
    });
    assert_eq!(read(&alias).unwrap().0[ITEMS], format!(r#"{} None {{"name":"{filler}"}}"#, ITEMS + 3));
    let no_list = list("kind: Other\n", "", item);
    assert_eq!(read(&no_list).unwrap().0.len(), 1);
    let twice = list("kind: List\n", "items:\n- a: b\n", item);
    assert!(read(&twice).unwrap_err().ends_with("duplicate mapping key `items` is not allowed here; correct it"));
}

#[test]
fn what_is_wrong_in_a_chunk_is_said_with_its_location_in_the_whole() {
    let text = list("apiVersion: v1\nkind: List\n", "", |number| {
        if number == ITEMS / 2 { format!("- name: {number}\n  name: again\n") } else { item(number) }
    });
    let line = text.lines().position(|line| line == "  name: again").unwrap() + 1;
    let problem = "is not usable YAML: duplicate mapping key `name` is not allowed here";
    assert_eq!(read(&text), Err(format!("list.yaml:{line}:3: {problem}; correct it")));
}
