//! What `check` takes: reviews and bare requests, YAML and JSON, several documents, files and standard input; and which
//! exit code comes of it.

#![allow(clippy::restriction)]

mod program;

use program::Folder;

const ACCEPTED: &str =
    r#"{"operation": "DELETE", "kind": {"group": "", "version": "v1", "kind": "PersistentVolume"}, "name": "pv"}"#;
const REFUSED: &str = r#"{"operation": "CREATE", "kind": {"group": "", "version": "v1", "kind": "Pod"}, "name": "pod",
  "namespace": "team", "object": {"spec": {"tolerations": [{"key": "spot", "operator": "Exists"}]}}}"#;
const UNREADABLE: &str =
    r#"{"operation": "CREATE", "kind": {"group": "", "version": "v1", "kind": "Pod"}, "object": {"spec": 5}}"#;

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("settings.yaml", "tolerations: {allowed: []}\nvolumeNodeAffinity: {}\n");
    folder
}

/// The first line of the text output of each request, and the sum.
fn heads(out: &str) -> Vec<&str> {
    let is_head =
        |line: &&str| ["accepted ", "refused ", "0 ", "1 ", "3 ", "6 "].iter().any(|head| line.starts_with(head));
    out.lines().map(|line| line.strip_prefix("  ").unwrap_or(line)).filter(is_head).collect()
}

#[test]
fn every_form_of_a_request_is_the_same_request() {
    let folder = folder();
    let review = format!(r#"{{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {REFUSED}}}"#);
    let yaml = "kind: {kind: Pod, version: v1, group: \"\"}\nname: pod\nnamespace: team\noperation: CREATE\nobject:\n  spec:\n    \
                tolerations:\n    - key: spot\n      operator: Exists\n";
    let reviewed = format!(
        "# A review.\nkind: AdmissionReview\napiVersion: admission.k8s.io/v1\nrequest:\n  {}",
        yaml.replace('\n', "\n  ")
    );
    let mut printed = Vec::new();
    for (text, line) in [(REFUSED, 1), (&review, 1), (yaml, 1), (&reviewed, 2)] {
        let piped = folder.pipe(text, "check --settings settings.yaml -");
        assert_eq!((piped.code, piped.err.as_str()), (Some(1), ""));
        let head = format!("refused (403) Pod team/pod CREATE (standard input:{line})");
        let sum = String::from("1 request: 0 accepted, 1 refused, warnings: 0");
        assert_eq!(heads(&piped.out), [head, sum], "{text}");
        let json = folder.write("request", text).run("check --settings settings.yaml --output json request").out;
        let report: serde_json::Value = serde_json::from_str(&json).unwrap();
        printed.push(report["objects"][0]["verdict"].clone());
    }
    printed.dedup();
    assert_eq!(printed.len(), 1, "{printed:?}");
}

#[test]
fn several_documents_are_judged_one_by_one_in_their_order() {
    let folder = folder();
    folder.write("some.json", format!("{ACCEPTED}\n\n{REFUSED}{UNREADABLE}"));
    folder.write("more.yaml", format!("---\n# Nothing yet.\n---\n{ACCEPTED}\n---\n{REFUSED}\n...\n"));
    let ran = folder.pipe(ACCEPTED, "check --settings settings.yaml some.json - more.yaml");
    assert_eq!(
        heads(&ran.out),
        [
            "accepted PersistentVolume pv DELETE (some.json:1)",
            "refused (403) Pod team/pod CREATE (some.json:3)",
            "refused (422) Pod without a name CREATE (some.json:4)",
            "accepted PersistentVolume pv DELETE (standard input:1)",
            "accepted PersistentVolume pv DELETE (more.yaml:4)",
            "refused (403) Pod team/pod CREATE (more.yaml:6)",
            "6 requests: 3 accepted, 3 refused, warnings: 0",
        ]
    );
    assert_eq!((ran.code, ran.err.as_str()), (Some(1), ""));
}

#[test]
fn the_exit_code_says_whether_everything_is_accepted() {
    let folder = folder();
    folder.write("accepted.json", ACCEPTED).write("refused.json", REFUSED).write("unreadable.json", UNREADABLE);
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: pod, namespace: team}\nspec: {}\n";
    folder.write("pod.yaml", pod).write("tolerant.yaml", pod.replace("{}", "{tolerations: [{operator: Exists}]}"));
    let cases = [
        (0, "accepted.json"),
        (0, "accepted.json accepted.json"),
        (0, "--after pod.yaml"),
        (0, "--before tolerant.yaml"),
        (0, "--before tolerant.yaml --after tolerant.yaml"),
        (0, "--before tolerant.yaml --after pod.yaml"),
        (1, "refused.json"),
        (1, "unreadable.json"),
        (1, "accepted.json refused.json"),
        (1, "--after tolerant.yaml"),
        (1, "--before pod.yaml --after tolerant.yaml"),
        (2, "absent.json"),
        (2, "accepted.json absent.json"),
        (0, "pod.yaml"),
        (1, "tolerant.yaml pod.yaml"),
        (2, "--after accepted.json"),
        (2, "accepted.json --output xml"),
        (2, "accepted.json --unknown"),
        (2, "accepted.json --after pod.yaml"),
        (2, "--nodes pod.yaml accepted.json"),
        (2, ""),
    ];
    for (code, arguments) in cases {
        let ran = folder.run(&format!("check --settings settings.yaml {arguments}"));
        assert_eq!(ran.code, Some(code), "{arguments}: {}", ran.err);
        assert_eq!((ran.out.is_empty(), ran.err.is_empty()), (code == 2, code != 2), "{arguments}");
    }
    assert_eq!(folder.run("check accepted.json").code, Some(2), "no settings");
    folder.write("settings.yaml", "tolerations: {allow: []}\n");
    assert_eq!(folder.run("check --settings settings.yaml accepted.json").code, Some(2), "wrong settings");
    assert_eq!(folder.run("").code, Some(2), "no command");
    assert_eq!(folder.run("--help").code, Some(0));
    assert_eq!(folder.run("--version").out, format!("placement-guard {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn manifests_are_matched_by_kind_namespace_and_name() {
    let folder = folder();
    let pod = |namespace: &str, name: &str| {
        format!("apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, namespace: {namespace}}}\n")
    };
    let generated = "apiVersion: v1\nkind: Pod\nmetadata: {generateName: job-, namespace: team}\n";
    folder.write("before.yaml", [pod("a", "one"), pod("b", "one"), pod("a", "two")].join("---\n"));
    // The items of a typed list carry no type of their own.
    let list = "apiVersion: v1\nkind: PodList\nitems:\n- metadata: {name: two, namespace: a}\n- metadata: {name: one, namespace: c}\n";
    folder.write("after.yaml", [pod("b", "one").as_str(), list, generated, generated].join("---\n"));
    let ran = folder.run("check --settings settings.yaml --before before.yaml --after after.yaml");
    assert_eq!(ran.err, "");
    assert_eq!(
        heads(&ran.out),
        [
            // `b/one` is the same on both sides, and nothing is said about it.
            "accepted Pod a/two UPDATE (after.yaml:8)",
            "accepted Pod c/one CREATE (after.yaml:9)",
            "accepted Pod without a name in team CREATE (after.yaml:11)",
            "accepted Pod without a name in team CREATE (after.yaml:15)",
            "accepted Pod a/one DELETE (before.yaml:1)",
            "6 requests: 6 accepted, 0 refused, warnings: 0",
        ]
    );
}

#[test]
fn a_cluster_without_such_objects_has_nothing_before() {
    let folder = folder();
    folder.write("none.yaml", "apiVersion: v1\nitems: []\nkind: List\n");
    folder.write("none.json", "{\"apiVersion\": \"v1\", \"kind\": \"List\", \"items\": []}");
    folder.write("pod.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: pod}\n").write("null.json", "null");
    let check = |arguments: &str| folder.run(&format!("check --settings settings.yaml {arguments}"));
    let one = "pod.yaml\n  accepted Pod pod CREATE (pod.yaml:1)\n1 request: 1 accepted, 0 refused, warnings: 0\n";
    check("--before none.yaml --after pod.yaml").printed(0, one);
    let nothing = "0 requests: 0 accepted, 0 refused, warnings: 0\n";
    check("--before none.json --after none.yaml").printed(0, nothing);
    check("--after null.json").printed(0, nothing);
    check("none.yaml").printed(0, nothing);
}

#[test]
fn a_reader_that_goes_away_ends_the_program_quietly() {
    use std::io::{BufRead, BufReader, Read};
    let folder = folder();
    // More than a pipe holds, so that the program is still writing when the reader is gone.
    folder.write("many.json", REFUSED.repeat(2000));
    let mut command = folder.command();
    command.args(["check", "--settings", "settings.yaml", "many.json"]);
    let mut child = command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    let mut first = String::new();
    BufReader::with_capacity(1, child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    let mut err = String::new();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    assert_eq!(first, "many.json\n");
    assert_eq!((child.wait().unwrap().code(), err.as_str()), (Some(1), ""));
}

/// Manifests are what people write, so a pod among them is not a pod that a cluster already runs.
#[test]
fn manifests_are_judged_as_requests_of_a_user_and_not_as_an_audit() {
    let folder = Folder::new();
    folder.write("settings.yaml", "tolerations: {allowed: []}\nlocalVolumes: {hostPaths: []}\n");
    let named = "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {nodeName: n1}}\n";
    let mirror = "{apiVersion: v1, kind: Pod, metadata: {name: b, annotations: {kubernetes.io/config.mirror: x}, \
        ownerReferences: [{apiVersion: v1, kind: Node, name: n1, uid: u, controller: true}]}, \
        spec: {volumes: [{name: v, hostPath: {path: /etc}}]}}\n";
    folder.write("named.yaml", named).write("mirror.yaml", mirror);
    for (file, finding) in [("named.yaml", "node-name-skips-taints"), ("mirror.yaml", "host-path-not-allowed")] {
        let ran = folder.run(&format!("check --settings settings.yaml --after {file} --output json"));
        assert_eq!((ran.code, ran.err.as_str()), (Some(1), ""), "{file}");
        assert!(ran.out.contains(&format!("\"{finding}\"")), "{file}: {}", ran.out);
    }
}
