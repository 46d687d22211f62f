//! A text that is too long to be held as a whole is read piece by piece, and gives what the whole gives.

#![allow(clippy::restriction)]

use std::io::Write;

use placement_guard_cli::input::{self, Piece};
use serde_json::Value;

/// So many items make a text of more than four mebibytes.
const ITEMS: usize = 4000;

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
    let filler = "x".repeat(1200);
    format!("- apiVersion: v1\n  kind: Node\n  metadata:\n    name: node-{number}\n{data}  filler: {filler}\n")
}

fn list(begin: &str, end: &str, item: impl Fn(usize) -> String) -> String {
    let items: String = (0..ITEMS).map(item).collect();
    format!("{begin}items:\n{items}{end}")
}

/// The line of a document, the type that its list gives it, and what it says.
type Seen = (usize, Option<String>, Value);

/// Every document with its line and type, every problem, and the length of the longest text that was held.
fn read(name: &str, text: &str) -> (Vec<Seen>, Vec<String>, usize) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::File::create(&path).unwrap().write_all(text.as_bytes()).unwrap();
    let (mut documents, mut wrong, mut longest) = (Vec::new(), Vec::new(), 0);
    let opened = input::read(&path, &mut |piece| match piece {
        Piece::Document(document) => {
            longest = longest.max(document.written.text.len());
            let kind = document.of_list.as_ref().map(|list| list.kind.clone());
            documents.push((document.line, kind, serde_json::from_str(document.json()).unwrap()));
        }
        Piece::NotJudged(one) => wrong.push(one.to_string().rsplit('/').next().unwrap().to_owned()),
        Piece::Came(_) => {}
    });
    assert_eq!(opened, Ok(true));
    (documents, wrong, longest)
}

#[test]
fn items_are_read_one_by_one() {
    let plain = ("apiVersion: v1\n", "kind: List\nmetadata:\n  resourceVersion: \"\"\n");
    let indented = |number: usize| item(number).lines().map(|line| format!("  {line}\n")).collect::<String>();
    for text in [list(plain.0, plain.1, item), list(plain.0, plain.1, indented)] {
        assert!(text.len() > 1 << 22);
        let (documents, wrong, longest) = read("a.yaml", &text);
        assert_eq!((documents.len(), wrong.as_slice()), (ITEMS, [].as_slice()));
        assert!(longest < 4096, "{longest}");
        let lines: Vec<&str> = text.lines().collect();
        // A document of its own for each item, read as a whole.
        for (number, (line, kind, json)) in documents.iter().enumerate() {
            let at = lines[line - 1];
            assert!(at.trim_start().starts_with("- apiVersion"), "line {line} is {at}");
            let mut alone = Vec::new();
            input::read_text("b.yaml", format!("kind: List\nitems:\n{}", item(number)).as_bytes(), &mut |piece| {
                if let Piece::Document(document) = piece {
                    alone.push(serde_json::from_str::<Value>(document.json()).unwrap());
                }
            });
            assert_eq!((kind, &alone), (&None, &vec![json.clone()]), "item {number}");
        }
    }
}

#[test]
fn a_list_gives_its_items_a_type_wherever_it_says_it() {
    let item = |number: usize| format!("- metadata: {{name: n{number}, labels: {{a: {}}}}}\n", "x".repeat(1200));
    let json =
        |number: usize| format!("{{\"metadata\": {{\"name\": \"n{number}\", \"l\": \"{}\"}}}}", "x".repeat(1200));
    let items: Vec<String> = (0..ITEMS).map(json).collect();
    let items = items.join(",\n");
    let cases = [
        ("a.yaml", list("apiVersion: v1\nkind: NodeList\n", "", item)),
        ("a.yaml", list("", "apiVersion: v1\nkind: NodeList\n", item)),
        ("a.json", format!("{{\"apiVersion\": \"v1\", \"kind\": \"NodeList\", \"items\": [{items}]}}")),
        ("a.json", format!("{{\"items\": [\n{items}\n], \"kind\": \"NodeList\", \"apiVersion\": \"v1\"}}")),
    ];
    for (name, text) in cases {
        let (documents, wrong, _) = read(name, &text);
        assert_eq!((documents.len(), wrong.as_slice()), (ITEMS, [].as_slice()), "{}", &text[..60]);
        assert!(documents.iter().all(|(_, kind, _)| kind.as_deref() == Some("Node")));
    }
}

#[test]
fn one_broken_item_costs_itself() {
    let middle = ITEMS / 2;
    let text = list("apiVersion: v1\nkind: List\n", "---\napiVersion: v1\nkind: Last\n", |number| match number {
        _ if number == middle => String::from("- name: [broken\n  x: 1\n"),
        _ => item(number),
    });
    let (documents, wrong, _) = read("a.yaml", &text);
    let line = text.lines().position(|line| line.contains("broken")).unwrap() + 1;
    assert_eq!(documents.len(), ITEMS);
    assert_eq!(wrong.len(), 1);
    assert!(wrong[0].starts_with(&format!("a.yaml:{}:", line + 1)), "{wrong:?}, line {line}");
    assert_eq!(documents.last().unwrap().2["kind"], "Last");
    // Quotes that are still open where the first column says that an item begins.
    let text = list("kind: List\n", "", |number| match number {
        _ if number == middle => String::from("- {kind: a, name: \"x\n- y\"}\n"),
        _ => item(number),
    });
    let (documents, wrong, _) = read("a.yaml", &text);
    assert_eq!((documents.len(), wrong), (ITEMS, Vec::<String>::new()));
    assert_eq!(documents[middle].2["name"], "x - y");
}

#[test]
fn a_long_text_of_json_is_held_item_by_item() {
    let object = |number: usize| {
        format!(
            "{{\"kind\": \"Node\", \"apiVersion\": \"v1\", \"l\": [\"]}}\\\"{}\"], \"n\": {number}}}",
            "x".repeat(1200)
        )
    };
    let items: Vec<String> = (0..ITEMS).map(object).collect();
    let text = format!(
        "{{\n\"apiVersion\": \"v1\",\n\"items\": [\n{}\n],\n\"kind\": \"List\"\n}}\n{}\n",
        items.join(",\n"),
        object(ITEMS)
    );
    let (documents, wrong, longest) = read("a.json", &text);
    assert_eq!((documents.len(), wrong), (ITEMS + 1, Vec::<String>::new()));
    assert!(longest < 2048);
    for (number, (line, _, json)) in documents.iter().enumerate().take(ITEMS) {
        assert_eq!((*line, &json["n"]), (number + 4, &Value::from(number)));
    }
    let (documents, wrong, _) = read("a.json", text.trim_end().strip_suffix('}').unwrap());
    assert_eq!(documents.len(), ITEMS);
    assert!(wrong[0].contains("is not JSON: the text ends within an object"), "{wrong:?}");
}
