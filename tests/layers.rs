//! Arrows go one way: `kubewarden, verdict → rules → kubernetes → logic`. Each layer names only itself and those below it, and
//! only the crates that are its business. Read from the text of the sources, so that no build can hide an arrow.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The layers, lowest first, and above them the heap of the module, which no layer may name.
const LAYERS: [&str; 6] = ["logic", "kubernetes", "rules", "verdict", "kubewarden", HEAP];

/// What serves all layers without a word of theirs, and names none of them.
const HEAP: &str = "heap";

/// Layers that may name no dependency at all, and nothing of the standard library that reaches out of the computation.
const ALONE: [&str; 2] = ["logic", HEAP];

/// Dependencies that other layers may not name.
const NOT_FOR: [(&str, &[&str]); 3] =
    [("kubernetes", &["wapc_guest"]), ("rules", &["wapc_guest"]), ("verdict", &["wapc_guest"])];

/// Parts of the standard library that reach out of the computation.
const OUTSIDE: [&str; 8] = ["env", "fs", "io", "net", "os", "process", "thread", "time"];

#[test]
fn no_arrow_runs_backwards() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let dependencies = dependencies(&read(&root.join("Cargo.toml")));
    let mut files = Vec::new();
    collect(&root.join("src"), &mut files);
    let mut seen = BTreeSet::new();
    let mut complaints = Vec::new();
    for file in files {
        let path = file.strip_prefix(root.join("src")).expect("it lies there").to_path_buf();
        if path == Path::new("lib.rs") {
            continue;
        }
        let module = module_of(&path);
        match LAYERS.iter().find(|layer| **layer == module[0]) {
            Some(layer) => seen.insert(*layer),
            None => panic!("src/{} lies in no layer", path.display()),
        };
        let wrong = wrong_arrows(&module, &read(&file), &dependencies);
        complaints.extend(wrong.into_iter().map(|arrow| format!("src/{}: {arrow}", path.display())));
    }
    assert_eq!(seen.len(), LAYERS.len(), "layers found: {seen:?}");
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn an_arrow_that_runs_backwards_is_found_however_it_is_written() {
    let planted = [
        ("logic/x.rs", "use crate::kubernetes::field;", "crate::kubernetes::field"),
        ("logic/x.rs", "use super::super::kubernetes::field::Field as F;", "crate::kubernetes::field::Field"),
        ("logic/mod.rs", "use super::rules;", "crate::rules"),
        (
            "kubernetes/x.rs",
            "pub use crate::{logic::Axis, rules::{decision, finding::Code}};",
            "crate::rules::decision",
        ),
        (
            "kubernetes/x.rs",
            "fn f() -> crate::rules::decision::Decision { todo() }",
            "crate::rules::decision::Decision",
        ),
        ("rules/x.rs", "fn f() { let _ = crate :: kubewarden\n:: validate(&[]); }", "crate::kubewarden::validate"),
        ("rules/deep/x.rs", "use super::super::super::kubewarden;", "crate::kubewarden"),
        ("logic/x.rs", "mod tests { use super::super::super::kubernetes::*; }", "crate::kubernetes::*"),
        ("logic/x.rs", "mod a { } use super::super::kubernetes;", "crate::kubernetes"),
        ("logic/x.rs", "crate::kubernetes::f::<u8>(1)", "crate::kubernetes::f"),
        ("logic/x.rs", "use crate::{self as all, logic::Axis};", "crate"),
        ("logic/x.rs", "use super::super::*;", "crate::*"),
        ("logic/x.rs", "use crate as everything;", "crate"),
        ("logic/x.rs", "use {crate::kubernetes::volume, std::fmt};", "crate::kubernetes::volume"),
        ("logic/x.rs", "#[derive(serde::Serialize)] struct S;", "serde::Serialize"),
        ("logic/x.rs", "use ::serde_json::Value;", "serde_json::Value"),
        ("logic/x.rs", "const X: u8 = b'\"'; use k8s_openapi::api;", "k8s_openapi::api"),
        ("logic/x.rs", "use std::{collections::BTreeMap, fs};", "std::fs"),
        ("rules/x.rs", "wapc_guest::host_call();", "wapc_guest::host_call"),
        ("kubewarden.rs", "use crate::heap::Heap;", "crate::heap::Heap"),
        ("heap.rs", "mod tests { use crate::logic; }", "crate::logic"),
        ("heap.rs", "use wapc_guest as host;", "wapc_guest"),
        ("kubernetes/x.rs", "use wapc_guest as host;", "wapc_guest"),
    ];
    for (file, text, arrow) in planted {
        let found = wrong_arrows(&module_of(Path::new(file)), text, &dependencies(MANIFEST));
        assert!(found.iter().any(|found| found == arrow), "{file}: {text}: found {found:?}");
    }
}

#[test]
fn what_is_no_arrow_or_runs_forward_is_left_alone() {
    let fine = [
        ("logic/x.rs", "// crate::rules\n/* use crate::rules; /* crate::kubernetes */ */ use super::facts::Facts;"),
        ("logic/x.rs", r##"const X: &str = "crate::rules"; const Y: &str = r#"use "crate::rules"#;"##),
        ("logic/x.rs", "fn f<'a>(c: char) -> &'a str { if c == '\\'' || c == '\"' { \"serde::x\" } else { \"\" } }"),
        ("logic/mod.rs", "pub use space::{Axis, Space}; pub(super) fn f() {} pub(crate) fn g() {}"),
        (
            "logic/x.rs",
            "mod tests { use super::super::facts; use crate::logic::{self, Axis}; use std::cmp::Ordering; }",
        ),
        ("kubernetes/x.rs", "use crate::logic::Axis; use super::super::logic; use k8s_openapi::api; use super::field;"),
        (
            "rules/x.rs",
            "use crate::{kubernetes::field as kubewarden, logic::*}; use serde::Serialize; use super::finding::Code;",
        ),
        ("kubewarden.rs", "use crate::rules::{self, decision::Decision}; use wapc_guest::register_function;"),
        ("heap.rs", "mod tests { use super::*; }"),
    ];
    for (file, text) in fine {
        let found = wrong_arrows(&module_of(Path::new(file)), text, &dependencies(MANIFEST));
        assert!(found.is_empty(), "{file}: {text}: found {found:?}");
    }
}

const MANIFEST: &str = "[dependencies]\nk8s-openapi.workspace = true\nserde = \"1\"\n# a reason\nserde_json = \"1\"\n\
                        wapc-guest = \"1\"\n\n[dev-dependencies]\nproptest = \"1\"\n";

/// The paths in a file that its layer may not name, in the order of the text.
fn wrong_arrows(module: &[String], text: &str, dependencies: &BTreeSet<String>) -> Vec<String> {
    let layer = module[0].as_str();
    let height = |name: &str| LAYERS.iter().position(|layer| *layer == name);
    let wrong = |path: &[String]| match path[0].as_str() {
        "crate" => {
            let target = path.get(1).and_then(|name| height(name));
            // A path to the crate itself, or to something beside the layers, leads anywhere.
            target.is_none_or(|target| Some(target) > height(layer) || layer == HEAP && Some(target) < height(layer))
        }
        "std" => ALONE.contains(&layer) && path.get(1).is_some_and(|part| OUTSIDE.contains(&part.as_str())),
        name if ALONE.contains(&layer) => dependencies.contains(name),
        name => NOT_FOR.iter().any(|(other, crates)| *other == layer && crates.contains(&name)),
    };
    paths(module, &tokens(text)).into_iter().filter(|path| wrong(path)).map(|path| path.join("::")).collect()
}

/// The module of a file below `src`.
fn module_of(file: &Path) -> Vec<String> {
    let names = file.with_extension("");
    let mut module: Vec<String> = names.iter().map(|name| name.to_string_lossy().into_owned()).collect();
    if module.last().is_some_and(|name| name == "mod") {
        module.pop();
    }
    module
}

/// The names of a manifest's dependencies, as code spells them.
fn dependencies(manifest: &str) -> BTreeSet<String> {
    let section = manifest.lines().skip_while(|line| *line != "[dependencies]").skip(1);
    let lines = section.take_while(|line| !line.starts_with('['));
    let names = lines.filter_map(|line| line.split(['.', ' ', '=']).next()).filter(|name| !name.is_empty());
    names.filter(|name| !name.starts_with('#')).map(|name| name.replace('-', "_")).collect()
}

/// Every path of more than one name, and every single name that a `use` brings in; absolute where it begins with
/// `crate`, `super` or `self`.
fn paths(module: &[String], tokens: &[String]) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    // The modules that are open at this place, each with the number of braces that were open before.
    let mut inside: Vec<(String, usize)> = Vec::new();
    let (mut at, mut braces) = (0, 0);
    while let Some(token) = tokens.get(at) {
        let here = || module.iter().cloned().chain(inside.iter().map(|(name, _)| name.clone())).collect::<Vec<_>>();
        match token.as_str() {
            "mod" if tokens.get(at + 2).is_some_and(|token| token == "{") => {
                inside.push((tokens[at + 1].clone(), braces));
                at += 1;
            }
            "{" => braces += 1,
            "}" => {
                braces -= 1;
                inside.pop_if(|(_, before)| *before == braces);
            }
            "use" => {
                at = tree(tokens, at + 1, &[], &mut |path| found.push(absolute(&here(), path)));
                continue;
            }
            name if is_name(name) => {
                let mut several = Vec::new();
                let end = tree(tokens, at, &[], &mut |path| several.push(absolute(&here(), path)));
                found.extend(several.into_iter().filter(|path| path.len() > 1));
                at = end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// Reads one path or one tree of paths, and tells where it ends.
fn tree(tokens: &[String], start: usize, prefix: &[String], found: &mut dyn FnMut(&[String])) -> usize {
    let mut path = prefix.to_vec();
    let mut at = start;
    loop {
        match tokens.get(at).map(String::as_str) {
            Some("::") if path.is_empty() => at += 1,
            Some("{") if path.len() == prefix.len() || tokens[at - 1] == "::" => {
                at += 1;
                while tokens.get(at).is_some_and(|token| token != "}") {
                    let before = at;
                    at = tree(tokens, at, &path, found);
                    match tokens.get(at).map(String::as_str) {
                        // The other name that a path is given is no path.
                        Some("as") => at += 2,
                        Some(",") => at += 1,
                        // Whatever is no path.
                        _ if at == before => at += 1,
                        _ => {}
                    }
                }
                return at + 1;
            }
            Some(name) if is_name(name) || name == "*" => {
                // `self` in a tree is the path before it.
                if name != "self" || path.is_empty() {
                    path.push(name.to_owned());
                }
                at += 1;
            }
            _ => break,
        }
        match tokens.get(at).map(String::as_str) {
            Some("::") => at += 1,
            Some("{") if path.is_empty() => {}
            _ => break,
        }
    }
    if at > start && !path.is_empty() {
        found(&path);
    }
    at
}

fn is_name(token: &str) -> bool {
    token.starts_with(|letter: char| letter.is_alphabetic() || letter == '_')
}

/// The path from the root of the crate, `crate` first; a path that begins elsewhere as it is.
fn absolute(module: &[String], path: &[String]) -> Vec<String> {
    let up = path.iter().take_while(|name| *name == "super").count();
    let root = std::iter::once(String::from("crate"));
    match path[0].as_str() {
        "super" => {
            let above = &module[..module.len().saturating_sub(up)];
            root.chain(above.iter().cloned()).chain(path[up..].iter().cloned()).collect()
        }
        "self" => root.chain(module.iter().cloned()).chain(path[1..].iter().cloned()).collect(),
        _ => path.to_vec(),
    }
}

/// Names, `::` and single characters, without comments and without the insides of strings.
fn tokens(text: &str) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    let is =
        |at: usize, wanted: &str| wanted.chars().enumerate().all(|(n, letter)| letters.get(at + n) == Some(&letter));
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < letters.len() {
        let letter = letters[at];
        if is(at, "//") {
            while at < letters.len() && letters[at] != '\n' {
                at += 1;
            }
        } else if is(at, "/*") {
            let mut depth = 0;
            loop {
                match () {
                    () if is(at, "/*") => (depth, at) = (depth + 1, at + 2),
                    () if is(at, "*/") => (depth, at) = (depth - 1, at + 2),
                    () => at += 1,
                }
                if depth == 0 || at >= letters.len() {
                    break;
                }
            }
        } else if letter == '"' {
            at += 1;
            while at < letters.len() && letters[at] != '"' {
                at += if letters[at] == '\\' { 2 } else { 1 };
            }
            at += 1;
        } else if letter == '\'' {
            // A character ends with another quote; a lifetime does not.
            if letters.get(at + 1) == Some(&'\\') {
                at += 3;
                while at < letters.len() && letters[at] != '\'' {
                    at += 1;
                }
                at += 1;
            } else {
                at += if letters.get(at + 2) == Some(&'\'') { 3 } else { 1 };
            }
        } else if letter.is_alphanumeric() || letter == '_' {
            let start = at;
            while at < letters.len() && (letters[at].is_alphanumeric() || letters[at] == '_') {
                at += 1;
            }
            let name: String = letters[start..at].iter().collect();
            let hashes = letters[at..].iter().take_while(|letter| **letter == '#').count();
            if matches!(name.as_str(), "r" | "br" | "cr") && letters.get(at + hashes) == Some(&'"') {
                let end: String = std::iter::once('"').chain(std::iter::repeat_n('#', hashes)).collect();
                at += hashes + 1;
                while at < letters.len() && !is(at, &end) {
                    at += 1;
                }
                at += end.len();
            } else {
                tokens.push(name);
            }
        } else if is(at, "::") {
            tokens.push(String::from("::"));
            at += 2;
        } else {
            if !letter.is_whitespace() {
                tokens.push(letter.to_string());
            }
            at += 1;
        }
    }
    tokens
}

fn read(file: &Path) -> String {
    std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("the sources are there") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            files.push(path);
        }
    }
}
