//! A path is allowed exactly when, cleaned, it begins with every segment of an allowed prefix.

#![allow(clippy::restriction)]

use placement_guard::kubernetes::paths::NodePath;
use placement_guard::kubewarden;
use proptest::prelude::*;
use serde_json::{Value, json};

/// The definition, written to be read: walk down from the root, one segment after the other.
fn walked(path: &str, separators: &[char]) -> Vec<String> {
    let mut here: Vec<String> = Vec::new();
    for step in path.split(separators) {
        if step == ".." {
            // Above the root there is the root.
            here.truncate(here.len().saturating_sub(1));
        } else if !step.is_empty() && step != "." {
            here.push(step.to_owned());
        }
    }
    here
}

/// Whether a path lies within a prefix, whichever kind of node walks it.
fn lies_within(path: &str, prefix: &str) -> bool {
    let prefix = walked(prefix, &['/']);
    [&['/'][..], &['/', '\\'][..]].iter().all(|separators| {
        let path = walked(path, separators);
        prefix.len() <= path.len() && prefix.iter().zip(&path).all(|(wanted, found)| wanted == found)
    })
}

/// Steps that are apt to be confused with one another.
fn any_step() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "data",
        "database",
        "dat",
        "etc",
        "",
        ".",
        "..",
        "...",
        "..data",
        "a\\b",
        "data\\x",
        "..\\..\\etc",
        "data ",
        "dätа",
    ])
}

fn any_path() -> impl Strategy<Value = String> {
    (prop::collection::vec(any_step(), 0..7), any::<bool>())
        .prop_map(|(steps, absolute)| format!("{}{}", if absolute { "/" } else { "" }, steps.join("/")))
}

fn any_prefix() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(vec!["data", "database", "etc", "...", "..data"]), 0..3)
        .prop_map(|steps| format!("/{}", steps.join("/")))
}

fn decide(settings: Value, kind: &str, object: Value) -> Value {
    let kind = json!({"group": "", "version": "v1", "kind": kind});
    let request = json!({"uid": "1", "kind": kind, "operation": "CREATE", "object": object});
    let payload = json!({"settings": settings, "request": request}).to_string();
    serde_json::from_slice(&kubewarden::validate(payload.as_bytes())).expect("an answer is JSON")
}

proptest! {
    #[test]
    fn a_cleaned_path_lies_within_a_prefix_as_the_definition_says(path in any_path(), prefix in any_prefix()) {
        let is_within = NodePath::clean(&path).is_within(&NodePath::clean(&prefix));
        prop_assert_eq!(is_within, lies_within(&path, &prefix), "{} within {}", path, prefix);
    }

    #[test]
    fn cleaning_twice_is_cleaning_once(path in any_path()) {
        let once = NodePath::clean(&path).to_string();
        prop_assert_eq!(NodePath::clean(&once).to_string(), once);
    }

    #[test]
    fn local_volumes_are_allowed_as_the_definition_says(
        path in any_path(),
        prefixes in prop::collection::vec(any_prefix(), 0..3),
    ) {
        let settings = json!({"localVolumes": {"paths": prefixes}});
        let volume = json!({"metadata": {"name": "pv"}, "spec": {"local": {"path": path}}});
        let decision = decide(settings, "PersistentVolume", volume);
        let allowed = prefixes.iter().any(|prefix| lies_within(&path, prefix));
        prop_assert_eq!(&decision["accepted"], &json!(allowed), "{} within {:?}: {}", path, prefixes, decision);
    }

    /// For reading only: allowed when every mount only reads and there is one.
    #[test]
    fn host_paths_are_allowed_as_the_definition_says(
        path in any_path(),
        prefixes in prop::collection::vec((any_prefix(), any::<bool>()), 0..3),
        mounts in prop::collection::vec(any::<bool>(), 0..3),
    ) {
        let entry = |(prefix, read_only): &(String, bool)| json!({"prefix": prefix, "readOnly": read_only});
        let entries: Vec<Value> = prefixes.iter().map(entry).collect();
        let container = |(index, read_only): (usize, &bool)| {
            json!({"name": index.to_string(), "volumeMounts": [{"name": "v", "readOnly": read_only}]})
        };
        let containers: Vec<Value> = mounts.iter().enumerate().map(container).collect();
        let pod = json!({"spec": {"volumes": [{"name": "v", "hostPath": {"path": path}}], "containers": containers}});
        let decision = decide(json!({"localVolumes": {"hostPaths": entries}}), "Pod", pod);
        let only_reads = !mounts.is_empty() && mounts.iter().all(|read_only| *read_only);
        let allows = |(prefix, read_only): &(String, bool)| lies_within(&path, prefix) && (!read_only || only_reads);
        let allowed = prefixes.iter().any(allows);
        prop_assert_eq!(&decision["accepted"], &json!(allowed), "{} within {:?} by {:?}", path, prefixes, mounts);
    }
}

/// Source: `cleantests` in `path_test.go` of Go's standard library, each path put behind a slash as the kubelet does.
#[test]
fn paths_are_cleaned_as_go_cleans_them() {
    for (path, clean) in [
        ("abc", "/abc"),
        ("abc/def", "/abc/def"),
        (".", "/"),
        ("..", "/"),
        ("../..", "/"),
        ("../../abc", "/abc"),
        ("/abc", "/abc"),
        ("/", "/"),
        ("", "/"),
        ("abc/", "/abc"),
        ("abc/def/", "/abc/def"),
        ("a/b/c/", "/a/b/c"),
        ("./", "/"),
        ("../", "/"),
        ("/abc/", "/abc"),
        ("abc//def//ghi", "/abc/def/ghi"),
        ("//abc", "/abc"),
        ("///abc", "/abc"),
        ("//abc//", "/abc"),
        ("abc//", "/abc"),
        ("abc/./def", "/abc/def"),
        ("/./abc/def", "/abc/def"),
        ("abc/.", "/abc"),
        ("abc/def/ghi/../jkl", "/abc/def/jkl"),
        ("abc/def/../ghi/../jkl", "/abc/jkl"),
        ("abc/def/..", "/abc"),
        ("abc/def/../..", "/"),
        ("/abc/def/../..", "/"),
        ("abc/def/../../..", "/"),
        ("/abc/def/../../..", "/"),
        ("abc/def/../../../ghi/jkl/../../../mno", "/mno"),
        ("abc/./../def", "/def"),
        ("abc//./../def", "/def"),
        ("abc/../../././../def", "/def"),
    ] {
        assert_eq!(NodePath::clean(path).to_string(), clean, "{path}");
    }
}
