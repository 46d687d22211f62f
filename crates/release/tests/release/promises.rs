//! `docs/releases.md` promises what the workspace says.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

use crate::stand_in::root;

fn page() -> String {
    std::fs::read_to_string(root().join("docs/releases.md")).unwrap()
}

fn manifest() -> String {
    std::fs::read_to_string(root().join("Cargo.toml")).unwrap()
}

fn value(manifest: &str, key: &str) -> String {
    let line = manifest.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = \"")).unwrap();
    line.trim_end_matches('"').to_owned()
}

/// A version of Rust as two numbers.
fn rust(version: &str) -> (u32, u32) {
    let mut parts = version.split('.').map(|part| part.parse().unwrap());
    (parts.next().unwrap(), parts.next().unwrap())
}

#[test]
fn the_page_names_the_version_and_the_oldest_compiler() {
    let (page, manifest) = (page(), manifest());
    let (version, rust) = (value(&manifest, "version"), value(&manifest, "rust-version"));
    assert!(page.contains(&format!("`v{version}`")), "docs/releases.md does not name v{version}");
    assert!(page.contains(&format!("Rust {rust}")), "docs/releases.md does not name Rust {rust}");
}

#[test]
fn the_page_names_every_file_of_a_release() {
    let page = page();
    for name in crate::files::files(&crate::files::with_chart(env!("CARGO_PKG_VERSION"))).into_keys() {
        let written = match name.strip_suffix(".cdx.json") {
            Some(_) => String::from("*.cdx.json"),
            None => name.replace("-amd64", "-ARCHITECTURE"),
        };
        assert!(page.contains(&format!("`{written}`")), "docs/releases.md does not name {written}");
    }
}

/// The crates that people build, and not those of the tests.
const BUILT: [&str; 4] = ["placement-guard", "placement-guard-cli", "placement-guard-js", "release"];

/// A compiler of that version is not always at hand; that no dependency wants a newer one is always known.
#[test]
fn no_dependency_wants_a_newer_compiler() {
    let oldest = rust(&value(&manifest(), "rust-version"));
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked", "--offline"])
        .args(["--filter-platform", "x86_64-unknown-linux-gnu"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let by_id = |list: &Value| -> BTreeMap<String, Value> {
        list.as_array().unwrap().iter().map(|item| (item["id"].as_str().unwrap().to_owned(), item.clone())).collect()
    };
    let (packages, nodes) = (by_id(&metadata["packages"]), by_id(&metadata["resolve"]["nodes"]));
    let mut waiting: Vec<&str> = packages
        .iter()
        .filter(|(_, package)| package["source"].is_null() && BUILT.iter().any(|name| package["name"] == **name))
        .map(|(id, _)| id.as_str())
        .collect();
    assert_eq!(waiting.len(), BUILT.len());
    let mut seen = BTreeSet::new();
    while let Some(id) = waiting.pop() {
        if seen.insert(id) {
            let dependencies = nodes[id]["deps"].as_array().unwrap();
            let is_built = |dependency: &&Value| {
                dependency["dep_kinds"].as_array().unwrap().iter().any(|kind| kind["kind"] != "dev")
            };
            waiting.extend(dependencies.iter().filter(is_built).map(|dependency| dependency["pkg"].as_str().unwrap()));
        }
    }
    assert!(seen.len() > 200, "only {} packages", seen.len());
    let newer: Vec<&str> =
        seen.into_iter().filter(|id| packages[*id]["rust_version"].as_str().map(rust) > Some(oldest)).collect();
    assert_eq!(newer, [""; 0], "these want more than `rust-version` says");
}

/// Lint in CI also refuses what the standard library has only since a later version.
#[test]
fn what_the_standard_library_lacks_in_that_version_is_refused() {
    assert!(manifest().contains("incompatible_msrv = \"deny\""));
}
