//! Documents are read as `kubectl` reads them. `tests/yaml` holds awkward ones; the file of the same name that ends in `.txt`
//! is what `tests/cluster/yamlread` printed of them, one line for each document, `error` for one that `kubectl` refuses.

#![allow(clippy::restriction)]

use std::path::{Path, PathBuf};

use placement_guard_cli::input::{Piece, read_text};
use serde_json::Value;

fn documents(name: &str, text: &[u8]) -> Vec<Result<Value, String>> {
    let mut all = Vec::new();
    read_text(name, text, &mut |piece| match piece {
        Piece::Document(document) => all.push(Ok(serde_json::from_str(document.json()).unwrap())),
        Piece::NotJudged(one) => all.push(Err(one.to_string())),
        Piece::Came(_) => {}
    });
    all
}

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/yaml");
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let mut files: Vec<PathBuf> =
        files.filter(|file| file.extension().is_some_and(|ending| ending == "yaml")).collect();
    files.sort();
    files
}

#[test]
fn awkward_documents_are_read_as_kubectl_reads_them() {
    assert!(files().len() >= 7);
    for file in files() {
        let expected = std::fs::read_to_string(file.with_extension("txt")).unwrap();
        let expected: Vec<Option<Value>> = expected.lines().map(|line| serde_json::from_str(line).ok()).collect();
        let read = documents("a.yaml", &std::fs::read(&file).unwrap());
        let read: Vec<Option<Value>> = read.into_iter().map(Result::ok).collect();
        assert_eq!(read, expected, "{}", file.display());
    }
}

/// Valid documents of the YAML test suite that `kubectl` reads, and this program does not read in the same way.
const DIFFERENT: [(&str, &str); 4] = [
    ("4ABK", "a key in braces that is not in quotes and holds a colon, `http://foo.com`, is refused"),
    ("565N", "`!!binary` whose bytes are not UTF-8 is refused"),
    ("7Z25", "a document behind `...` is read too"),
    ("M7A3", "a document behind `...` is read too, or refused"),
];

#[test]
fn the_yaml_test_suite_is_read_as_kubectl_reads_it() {
    let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/yaml/suite.jsonl");
    let suite = std::fs::read_to_string(suite).unwrap();
    let (mut different, mut alike) = (Vec::new(), 0);
    for line in suite.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let (id, yaml) = (case["id"].as_str().unwrap(), case["yaml"].as_str().unwrap());
        let kubectl = case["kubectl"].as_array().unwrap();
        let kubectl: Option<Vec<Value>> =
            kubectl.iter().map(|said| Some(serde_json::from_str(said.as_str()?).unwrap())).collect();
        // What `kubectl` refuses as a whole or in part may be read: it refuses many documents that are valid, such as all whose
        // first row begins with `---` and goes on.
        let Some(kubectl) = kubectl else { continue };
        let read = documents("a.yaml", yaml.as_bytes());
        if case["valid"] == true {
            if read.iter().flatten().eq(&kubectl) && read.iter().all(Result::is_ok) {
                alike += 1;
            } else {
                different.push(id.to_owned());
            }
        } else {
            // More of it may be refused, but nothing is read as something else.
            let mut rest = kubectl.iter();
            let is_part = read.iter().flatten().all(|document| rest.any(|other| other == document));
            assert!(is_part, "{id}: {read:?}");
        }
    }
    assert_eq!(different, DIFFERENT.map(|(id, _)| id));
    assert!(alike >= 200, "{alike}");
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let broken = std::fs::read(files().into_iter().find(|file| file.ends_with("broken.yaml")).unwrap()).unwrap();
    let wrong: Vec<String> = documents("a.yaml", &broken).into_iter().filter_map(Result::err).collect();
    assert_eq!(
        wrong,
        [
            "a.yaml:4:1: is not usable YAML: did not find expected ',' or ']' while parsing a flow sequence",
            "a.yaml:5:4: is not usable YAML: the alias `*nothing` has no anchor before it",
            "a.yaml:7:4: is not usable YAML: a number must be finite",
            "a.yaml:9:3: is not usable YAML: a key must be a string, a number or a boolean",
            "a.yaml:12:1: is not usable YAML: a key must be a string, a number or a boolean",
        ]
    );
}

/// Aliases multiply: 10 levels of 10 make ten thousand million.
#[test]
fn what_multiplies_without_end_ends() {
    let levels = ('a'..='i').map(|name| {
        let next = char::from(name as u8 + 1);
        format!("{next}: &{next} [{}]\n", vec![format!("*{name}"); 10].join(", "))
    });
    let bomb: String = std::iter::once(String::from("a: &a [x, x, x, x]\n")).chain(levels).collect();
    let read = documents("a.yaml", bomb.as_bytes());
    assert!(read[0].as_ref().unwrap_err().ends_with("its aliases repeat more than 4 MiB"), "{read:?}");
    let deep = format!("a: {}{}", "[".repeat(200), "]".repeat(200));
    let read = documents("a.yaml", deep.as_bytes());
    assert!(read[0].as_ref().unwrap_err().ends_with("it is nested more than 127 levels deep"), "{read:?}");
    let own = documents("a.yaml", b"a: &a [*a]\n");
    assert!(own[0].as_ref().unwrap_err().ends_with("the alias `*a` has no anchor before it"), "{own:?}");
}

#[test]
fn other_encodings_are_read_as_well() {
    let text = "a: \u{e4}\n";
    let marked = format!("\u{feff}{text}");
    let wide: Vec<u8> = [0xFEFF].into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    let expected = Value::from_iter([("a", "\u{e4}")]);
    for bytes in [text.as_bytes(), marked.as_bytes(), &wide] {
        assert_eq!(documents("a.yaml", bytes), [Ok(expected.clone())]);
    }
    let read = documents("a.yaml", b"a: 1\n---\na: \xe4\n---\nb: 2\n");
    assert_eq!(read.iter().filter(|document| document.is_ok()).count(), 2);
    assert!(read[1].as_ref().unwrap_err().contains("is not UTF-8 at byte 12"), "{read:?}");
}
