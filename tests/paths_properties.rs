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

/// Whether a Windows node takes a path for a share of another host: two separators begin it, and the kubelet puts no drive
/// before a path with a colon.
fn is_share(path: &str) -> bool {
    let mut letters = path.chars();
    let begins = [letters.next(), letters.next()].iter().all(|letter| matches!(letter, Some('/' | '\\')));
    begins && path.contains(':')
}

/// Whether a path lies within a prefix, whichever kind of node walks it.
fn lies_within(path: &str, prefix: &str) -> bool {
    let prefix = walked(prefix, &['/']);
    if is_share(path) && !prefix.is_empty() {
        return false;
    }
    [&['/'][..], &['/', '\\'][..]].iter().all(|separators| {
        let path = walked(path, separators);
        prefix.len() <= path.len() && prefix.iter().zip(&path).all(|(wanted, found)| wanted == found)
    })
}

/// Whether one of two paths is the other or lies below it, on some kind of node.
fn lie_in_one_another(one: &str, other: &str) -> bool {
    let on_linux = |path: &str| walked(path, &['/']);
    let on_windows = |path: &str| {
        let mut steps = walked(path, &['/', '\\']);
        if is_share(path) {
            steps.insert(0, String::from("the share of a host"));
        }
        steps
    };
    let nested = |one: Vec<String>, other: Vec<String>| one.iter().zip(&other).all(|(one, other)| one == other);
    nested(on_linux(one), on_linux(other)) || nested(on_windows(one), on_windows(other))
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
        "data:",
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
    #![proptest_config(ProptestConfig { max_shrink_iters: testkit::max_shrink_iters(), ..ProptestConfig::default() })]

    #[test]
    fn a_cleaned_path_lies_within_a_prefix_as_the_definition_says(path in any_path(), prefix in any_prefix()) {
        let is_within = NodePath::clean(&path).is_within(&NodePath::clean(&prefix).to_string());
        prop_assert_eq!(is_within, lies_within(&path, &prefix), "{} within {}", path, prefix);
    }

    #[test]
    fn paths_overlap_as_the_definition_says(one in any_path(), other in any_path()) {
        let overlaps = NodePath::clean(&one).overlaps(&NodePath::clean(&other));
        prop_assert_eq!(overlaps, lie_in_one_another(&one, &other), "{} and {}", one, other);
        prop_assert_eq!(overlaps, NodePath::clean(&other).overlaps(&NodePath::clean(&one)));
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

    #[test]
    fn host_paths_are_allowed_as_the_definition_says(
        path in any_path(),
        prefixes in prop::collection::vec((any_prefix(), any_access()), 0..3),
        pod in any_pod(),
    ) {
        let found = findings(&prefixes, None, &pod.object(&path));
        prop_assert_eq!(&found, expected(&prefixes, &path, &pod), "{} within {:?} by {:?}", path, prefixes, pod);
    }

    /// What a container could do before it may do afterwards; everything else is judged as in a new pod.
    #[test]
    fn an_update_is_judged_where_it_gives_more(
        path in any_path(),
        prefixes in prop::collection::vec((any_prefix(), any_access()), 0..3),
        old in any_pod(),
        new in any_pod(),
    ) {
        let most = |pod: &Pod, container: usize| {
            pod.mounts.iter().filter(|(name, _)| *name == container).map(|(_, mount)| mount.access()).max()
        };
        let gives_more = new.mounts.iter().any(|(container, mount)| Some(mount.access()) > most(&old, *container))
            || (new.is_made && !old.is_made);
        let found = findings(&prefixes, Some(&old.object(&path)), &new.object(&path));
        let expected = if gives_more { expected(&prefixes, &path, &new) } else { "" };
        prop_assert_eq!(&found, expected, "{:?} becomes {:?} within {:?}", old, new, prefixes);
    }
}

/// What may be done with a folder: to read it with everything that is mounted below it, to read it, to write it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Access {
    Recursive,
    ReadOnly,
    Writes,
}

/// The ways to write a mount.
#[derive(Debug, Clone, Copy)]
enum Mount {
    Unsaid,
    ReadOnly,
    IfPossible,
    Enabled,
    EnabledAlone,
    BothDirections,
}

#[derive(Debug, Clone)]
struct Pod {
    /// `type: DirectoryOrCreate`
    is_made: bool,
    /// The container, and how it mounts the volume. A container may mount it twice.
    mounts: Vec<(usize, Mount)>,
}

impl Mount {
    fn access(self) -> Access {
        match self {
            Mount::Enabled => Access::Recursive,
            Mount::ReadOnly | Mount::IfPossible => Access::ReadOnly,
            Mount::Unsaid | Mount::EnabledAlone | Mount::BothDirections => Access::Writes,
        }
    }

    fn object(self) -> Value {
        match self {
            Mount::Unsaid => json!({"name": "v"}),
            Mount::ReadOnly => json!({"name": "v", "readOnly": true, "mountPropagation": "HostToContainer"}),
            Mount::IfPossible => json!({"name": "v", "readOnly": true, "recursiveReadOnly": "IfPossible"}),
            Mount::Enabled => json!({"name": "v", "readOnly": true, "recursiveReadOnly": "Enabled"}),
            Mount::EnabledAlone => json!({"name": "v", "recursiveReadOnly": "Enabled"}),
            Mount::BothDirections => json!({"name": "v", "readOnly": true, "mountPropagation": "Bidirectional"}),
        }
    }
}

impl Pod {
    fn object(&self, path: &str) -> Value {
        let list = |list: usize| {
            let names = (0..CONTAINERS).filter(|container| container % 3 == list);
            let container = |name: usize| {
                let mounts = self.mounts.iter().filter(|(container, _)| *container == name);
                let mounts: Vec<Value> = mounts.map(|(_, mount)| mount.object()).collect();
                json!({"name": name.to_string(), "volumeMounts": mounts})
            };
            names.map(container).collect::<Vec<Value>>()
        };
        let kind = if self.is_made { "DirectoryOrCreate" } else { "Directory" };
        json!({"spec": {
            "volumes": [{"name": "other"}, {"name": "v", "hostPath": {"path": path, "type": kind}}],
            "initContainers": list(0), "containers": list(1), "ephemeralContainers": list(2),
        }})
    }
}

const CONTAINERS: usize = 4;

fn any_access() -> impl Strategy<Value = Access> {
    prop::sample::select(vec![Access::Recursive, Access::ReadOnly, Access::Writes])
}

fn any_pod() -> impl Strategy<Value = Pod> {
    let mounts = [
        Mount::Unsaid,
        Mount::ReadOnly,
        Mount::IfPossible,
        Mount::Enabled,
        Mount::Enabled,
        Mount::EnabledAlone,
        Mount::BothDirections,
    ];
    let mount = (0..CONTAINERS, prop::sample::select(mounts.to_vec()));
    (prop::bool::weighted(0.2), prop::collection::vec(mount, 0..4))
        .prop_map(|(is_made, mounts)| Pod { is_made, mounts })
}

/// What must be found in a new pod: of several prefixes the one that allows most counts.
fn expected(prefixes: &[(String, Access)], path: &str, pod: &Pod) -> &'static str {
    let most = prefixes.iter().filter(|(prefix, _)| lies_within(path, prefix)).map(|(_, access)| *access).max();
    let greatest = pod.mounts.iter().map(|(_, mount)| mount.access()).max();
    match most {
        None => "host-path-not-allowed",
        Some(Access::Writes) => "",
        Some(_) if pod.is_made || greatest > most => "host-path-not-allowed",
        Some(Access::ReadOnly) if greatest == most => "host-path-not-recursive",
        Some(_) => "",
    }
}

/// The codes that the module finds.
fn findings(prefixes: &[(String, Access)], old: Option<&Value>, pod: &Value) -> String {
    let entry = |(prefix, access): &(String, Access)| {
        let read_only = match access {
            Access::Recursive => json!("recursive"),
            Access::ReadOnly => json!(true),
            Access::Writes => json!(false),
        };
        json!({"prefix": prefix, "readOnly": read_only})
    };
    let entries: Vec<Value> = prefixes.iter().map(entry).collect();
    let request = json!({
        "uid": "1", "kind": {"group": "", "version": "v1", "kind": "Pod"},
        "operation": if old.is_some() { "UPDATE" } else { "CREATE" }, "object": pod, "oldObject": old,
    });
    let settings = json!({"localVolumes": {"hostPaths": entries}});
    let payload = json!({"settings": settings, "request": request}).to_string();
    let decision: Value = serde_json::from_slice(&kubewarden::validate(payload.as_bytes())).expect("an answer is JSON");
    let found = decision["audit_annotations"]["findings"].as_str().unwrap_or_default().to_owned();
    assert_eq!(decision["accepted"], json!(found != "host-path-not-allowed"), "{decision}");
    found
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
