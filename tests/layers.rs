//! Arrows go one way: `kubewarden, verdict → rules → kubernetes → logic`. Each layer names only itself and those below it, and
//! only the crates that are its business; the crates of the workspace name only those that they are built on; and no two
//! files name each other, straight or by way of others. Read from the sources, so that no build can hide an arrow.

#![allow(clippy::restriction)]

mod layer_sources;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use layer_sources::{Source, Tests, circles, paths, read, sources_below};

/// The layers, lowest first, and above them the heap of the module, which no layer may name.
const LAYERS: [&str; 7] = ["logic", "kubernetes", "rules", "objects", "verdict", "kubewarden", HEAP];

/// What serves all layers without a word of theirs, and names none of them.
const HEAP: &str = "heap";

/// Layers that may name no dependency at all, and nothing of the standard library that reaches out of the computation.
const ALONE: [&str; 2] = ["logic", HEAP];

/// Dependencies that other layers may not name.
const NOT_FOR: [(&str, &[&str]); 4] = [
    ("kubernetes", &["wapc_guest"]),
    ("rules", &["wapc_guest"]),
    ("objects", &["wapc_guest"]),
    ("verdict", &["wapc_guest"]),
];

/// Parts of the standard library that reach out of the computation.
const OUTSIDE: [&str; 8] = ["env", "fs", "io", "net", "os", "process", "thread", "time"];

/// The crates that a program or the module is made of, by folder, and the crates of the workspace that each is built on. Only
/// faces know the rules, and what carries modules about does not know what they decide.
const CRATES: [(&str, &[&str]); 11] = [
    (".", &[]),
    ("crates/cli", &["host", "package", "placement-guard", "registry", "server", "templates"]),
    ("crates/host", &[]),
    ("crates/js", &["placement-guard"]),
    ("crates/js/package", &[]),
    ("crates/package", &[]),
    ("crates/protocol", &[]),
    ("crates/registry", &["package"]),
    ("crates/release", &["package", "placement-guard-cli"]),
    ("crates/server", &["host", "placement-guard", "protocol"]),
    ("crates/templates", &["placement-guard"]),
];

/// Files that still name each other; the aim is none. An error of the registry says whom it asked and what.
const CIRCLES: [&str; 0] = [];

/// Crates that only tests and benchmarks use.
const OF_TESTS: [&str; 7] = [
    "crates/proofs",
    "crates/testkit",
    "crates/testkit/features",
    "crates/testkit/server",
    "wasm-tests",
    "wasm-tests/gatekeeper",
    "wasm-tests/noop-policy",
];

#[test]
fn no_arrow_runs_backwards() {
    let dependencies = dependencies(&read(&root().join("Cargo.toml")));
    let sources = sources_below(&root().join("src"));
    let modules = sources.iter().map(|source| source.module.clone()).collect();
    let mut seen = BTreeSet::new();
    let mut complaints = Vec::new();
    for source in sources.iter().filter(|source| !source.module.is_empty()) {
        match LAYERS.iter().find(|layer| **layer == source.module[0]) {
            Some(layer) => seen.insert(*layer),
            None => panic!("src/{} lies in no layer", source.file),
        };
        let wrong = wrong_arrows(source, &modules, &dependencies);
        complaints.extend(wrong.into_iter().map(|arrow| format!("src/{}: {arrow}", source.file)));
    }
    assert_eq!(seen.len(), LAYERS.len(), "layers found: {seen:?}");
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn no_files_name_each_other() {
    let mut files = 0;
    let mut found = Vec::new();
    for (folder, _) in CRATES {
        let sources = sources_below(&root().join(folder).join("src"));
        files += sources.len();
        found.extend(circles(&sources).into_iter().map(|circle| format!("{folder}/src: {}", circle.join(", "))));
    }
    assert!(files > 100, "only {files} files were read");
    // Whether there are others, and whether one of these is gone.
    assert_eq!(found, CIRCLES, "files that name each other, straight or by way of others");
}

#[test]
fn crates_are_built_on_those_that_they_may_know() {
    let members: BTreeSet<String> = {
        let manifest = read(&root().join("Cargo.toml"));
        let listed = manifest.split("members = [").nth(1).and_then(|rest| rest.split(']').next()).expect("members");
        listed.split('"').skip(1).step_by(2).map(String::from).chain([String::from(".")]).collect()
    };
    let known: BTreeSet<String> = CRATES.iter().map(|(folder, _)| *folder).chain(OF_TESTS).map(String::from).collect();
    assert_eq!(members, known, "every crate must be in one of the two lists of this test");
    let manifest = |folder: &str| read(&root().join(folder).join("Cargo.toml"));
    for (folder, may) in CRATES {
        let wrong: Vec<String> =
            neighbours(&manifest(folder)).into_iter().filter(|name| !may.contains(&name.as_str())).collect();
        assert!(wrong.is_empty(), "{folder} is built on {}", wrong.join(", "));
    }
}

#[test]
fn a_crate_of_the_workspace_is_found_however_it_is_named() {
    let manifest = "[features]\nhost = []\n[dependencies]\nhost.path = \"../host\"\nregistry = { path = \"../registry\" }\n\
                    serde.workspace = true\n[target.'cfg(unix)'.dependencies]\nserver = { path = \"../server\" }\n\
                    [dev-dependencies]\ntestkit.path = \"../testkit\"\n[build-dependencies]\npackage.path = \"../p\"\n";
    assert_eq!(neighbours(manifest), ["host", "package", "registry", "server"].map(String::from).into());
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
        ("logic/x.rs", "fn f() { crate::kubernetes::f::<u8>(1) }", "crate::kubernetes::f"),
        ("logic/x.rs", "fn f() { Vec::<crate::kubernetes::X>::new() }", "crate::kubernetes::X"),
        ("logic/x.rs", "fn f() { assert!(crate::kubernetes::f(1), \"{}\", 2); }", "crate::kubernetes::f"),
        ("logic/x.rs", "fn f() { if let Some(crate::rules::X) = y {} }", "crate::rules::X"),
        ("logic/x.rs", "macro_rules! m { () => { $crate::rules::f() } }", "crate::rules::f"),
        ("logic/x.rs", "pub(in crate::kubernetes) fn f() {}", "crate::kubernetes"),
        ("logic/x.rs", "use crate::{self as all, logic::Axis};", "crate"),
        ("logic/x.rs", "use super::super::*;", "crate::*"),
        ("logic/x.rs", "use crate as everything;", "crate"),
        ("logic/x.rs", "use {crate::kubernetes::volume, std::fmt};", "crate::kubernetes::volume"),
        ("logic/x.rs", "#[derive(serde::Serialize)] struct S;", "serde::Serialize"),
        ("logic/x.rs", "#[cfg_attr(test, derive(serde::Serialize))] struct S;", "serde::Serialize"),
        ("logic/x.rs", "use ::serde_json::Value;", "serde_json::Value"),
        ("logic/x.rs", "extern crate serde;", "serde"),
        ("logic/x.rs", "const X: u8 = b'\"'; use k8s_openapi::api;", "k8s_openapi::api"),
        ("logic/x.rs", "use std::{collections::BTreeMap, fs};", "std::fs"),
        ("rules/x.rs", "fn f() { wapc_guest::host_call(); }", "wapc_guest::host_call"),
        ("kubewarden.rs", "use crate::heap::Heap;", "crate::heap::Heap"),
        ("heap.rs", "mod tests { use crate::logic; }", "crate::logic"),
        ("heap.rs", "use wapc_guest as host;", "wapc_guest"),
        ("kubernetes/x.rs", "use wapc_guest as host;", "wapc_guest"),
    ];
    for (file, text, arrow) in planted {
        let found = wrong_arrows(&Source::of(file, text), &BTreeSet::new(), &dependencies(MANIFEST));
        assert!(found.iter().any(|found| found == arrow), "{file}: {text}: found {found:?}");
    }
}

#[test]
fn what_is_no_arrow_or_runs_forward_is_left_alone() {
    let fine = [
        ("logic/x.rs", "// crate::rules\n/* use crate::rules; /* crate::kubernetes */ */ use super::facts::Facts;"),
        ("logic/x.rs", "/// As in [`crate::rules`].\nstruct S;"),
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
        let found = wrong_arrows(&Source::of(file, text), &BTreeSet::new(), &dependencies(MANIFEST));
        assert!(found.is_empty(), "{file}: {text}: found {found:?}");
    }
}

#[test]
fn files_that_name_each_other_are_found_by_whatever_way() {
    let of =
        |files: &[(&str, &str)]| circles(&files.iter().map(|(file, text)| Source::of(file, text)).collect::<Vec<_>>());
    let two = [("a.rs", "use crate::b::B; pub struct A;"), ("b.rs", "pub struct B(super::a::A);")];
    assert_eq!(of(&two), [["a.rs", "b.rs"]]);
    let three = [
        ("lib.rs", "mod a; mod b; mod c; use a::A; use b::B; use c::C;"),
        ("a.rs", "use crate::b; pub struct A;"),
        ("b.rs", "fn f() { assert_eq!(crate::c::d::D, 1); } pub struct B;"),
        ("c/mod.rs", "pub struct C; pub mod d;"),
        ("c/d.rs", "use crate::a::A;"),
    ];
    assert_eq!(of(&three), [["a.rs", "b.rs", "c/d.rs"]]);
    let through_a_parent = [
        ("r/mod.rs", "mod one; mod two; pub use one::One as First; pub(crate) use {one::One, two::Two};"),
        ("r/one.rs", "pub struct One(super::Two);"),
        ("r/two.rs", "use crate::r::One; pub struct Two;"),
    ];
    assert_eq!(of(&through_a_parent), [["r/one.rs", "r/two.rs"]]);
    let of_a_child_and_its_aunt = [
        ("r/mod.rs", "mod one; pub struct R;"),
        ("r/one.rs", "use crate::s::S;"),
        ("s.rs", "pub struct S(crate::r::R, crate::r::one::One);"),
    ];
    assert_eq!(of(&of_a_child_and_its_aunt), [["r/one.rs", "s.rs"]]);
    let fine = [
        ("lib.rs", "mod a; mod b; pub use a::A;"),
        ("a.rs", "use crate::b::B; pub struct A; #[cfg(test)] mod tests { use super::*; use crate::c; }"),
        ("b.rs", "pub struct B; use std::a; mod a { } fn f() { self::f() }"),
        ("c.rs", "use crate::a::A;"),
        ("r/mod.rs", "mod one; pub struct R; fn f() { one::f() }"),
        ("r/one.rs", "use super::R; pub fn f() {}"),
    ];
    assert_eq!(of(&fine), [[""; 0]; 0]);
}

const MANIFEST: &str = "[dependencies]\nk8s-openapi.workspace = true\nserde = \"1\"\n# a reason\nserde_json = \"1\"\n\
                        wapc-guest = \"1\"\n\n[dev-dependencies]\nproptest = \"1\"\n";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The paths in a file that its layer may not name, in the order of the text.
fn wrong_arrows(source: &Source, modules: &BTreeSet<Vec<String>>, dependencies: &BTreeSet<String>) -> Vec<String> {
    let layer = source.module[0].as_str();
    let height = |name: &str| LAYERS.iter().position(|layer| *layer == name);
    let wrong = |path: &[String]| match path[0].as_str() {
        "crate" => {
            let target = path.get(1).and_then(|name| height(name));
            // A path to the crate itself, or to something outside the layers, can lead anywhere.
            target.is_none_or(|target| Some(target) > height(layer) || layer == HEAP && Some(target) < height(layer))
        }
        "std" => ALONE.contains(&layer) && path.get(1).is_some_and(|part| OUTSIDE.contains(&part.as_str())),
        name if ALONE.contains(&layer) => dependencies.contains(name),
        name => NOT_FOR.iter().any(|(other, crates)| *other == layer && crates.contains(&name)),
    };
    let paths = paths(source, modules, Tests::Too).into_iter();
    paths.filter(|path| wrong(path)).map(|path| path.join("::")).collect()
}

/// The names of a manifest's dependencies, as code spells them.
fn dependencies(manifest: &str) -> BTreeSet<String> {
    let section = manifest.lines().skip_while(|line| *line != "[dependencies]").skip(1);
    let lines = section.take_while(|line| !line.starts_with('['));
    let names = lines.filter_map(|line| line.split(['.', ' ', '=']).next()).filter(|name| !name.is_empty());
    names.filter(|name| !name.starts_with('#')).map(|name| name.replace('-', "_")).collect()
}

/// The crates of the workspace that a manifest names, other than for tests: they have a path.
fn neighbours(manifest: &str) -> BTreeSet<String> {
    let mut sections: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut section = "";
    for line in manifest.lines() {
        match line.strip_prefix('[') {
            Some(name) => section = name.trim_end_matches(']'),
            _ => sections.entry(section).or_default().push(line),
        }
    }
    let of_dependencies =
        sections.iter().filter(|(name, _)| name.ends_with("dependencies") && **name != "dev-dependencies");
    let lines = of_dependencies.flat_map(|(_, lines)| lines).filter(|line| line.contains("path = \"."));
    lines.filter_map(|line| line.split(['.', ' ', '=']).next()).map(String::from).collect()
}
