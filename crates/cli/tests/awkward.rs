//! Awkward inputs, each with its exit code and everything that is printed, in `golden/awkward`.

#![allow(clippy::restriction)]

mod program;

use program::{Folder, Ran, assert_golden};

const POD: &str =
    "apiVersion: v1\nkind: Pod\nmetadata: {name: pod, namespace: team}\nspec: {tolerations: [{operator: Exists}]}\n";
const NODE: &str = "apiVersion: v1\nkind: Node\nmetadata: {name: node}\n";

fn settings() -> Folder {
    let folder = Folder::new();
    folder.write("settings.yaml", "tolerations: {allowed: []}\n");
    folder
}

#[track_caller]
fn is(name: &str, ran: &Ran) {
    let code = ran.code.map_or_else(|| String::from("none"), |code| code.to_string());
    let shown = format!("exit code: {code}\n--- standard output\n{}--- standard error\n{}", ran.out, ran.err);
    assert_golden(&format!("awkward/{name}.txt"), &shown);
}

#[test]
fn a_folder_with_everything() {
    let folder = settings();
    folder.write("app/pod.YAML", POD).write("app/broken.yaml", format!("a: [1\n---\n{NODE}---\n- a\n---\ntext\n"));
    folder
        .write("app/values.yaml", "replicas: 1\n")
        .write("app/name.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: yes}\n");
    folder.write("chart/templates/pod.yaml", "{{- if .Values.pod }}\napiVersion: v1\nkind: Pod\n{{- end }}\n");
    folder
        .write("chart/templates/name.yaml", "apiVersion: v1\nkind: Pod\nmetadata:\n  name: \"{{ .Release.Name }}\"\n");
    folder.write("twice.yaml", format!("{NODE}kind: Node\n")).write("latin.yaml", b"a: \xe4\n").write("empty.yaml", "");
    folder.write(".hidden/pod.yaml", POD).write("build/pod.yaml", POD).write(".gitignore", "build/\n");
    folder.write("ours/pod.yaml", POD).write(".placementguardignore", "/ours\n").write("vendor/pod.yaml", POD);
    folder.write("playbook.yml", "- hosts: all\n  tasks: []\n");
    std::os::unix::fs::symlink("app/pod.YAML", folder.path().join("link.yaml")).unwrap();
    std::os::unix::fs::symlink(".", folder.path().join("loop")).unwrap();
    std::os::unix::fs::symlink("nowhere", folder.path().join("dangling.yaml")).unwrap();
    is("folder-audit", &folder.run("audit --settings settings.yaml --exclude vendor ."));
    is("folder-check", &folder.run("check --settings settings.yaml --exclude vendor/** app chart"));
    is("folder-strict", &folder.run("audit --settings settings.yaml --strict --exclude vendor ."));
    is("folder-json", &folder.run("audit --settings settings.yaml --exclude vendor --output json ."));
}

#[test]
fn what_was_named_and_cannot_be_read() {
    let folder = settings();
    folder
        .write("broken.yaml", "a: [1\n")
        .write("list.yaml", "- a\n")
        .write("chart.yaml", "{{ if x }}\na: b\n{{ end }}\n");
    folder.write("node.yaml", NODE);
    for file in ["broken.yaml", "list.yaml", "chart.yaml", "absent.yaml"] {
        is(&format!("named-{file}"), &folder.run(&format!("audit --settings settings.yaml node.yaml {file}")));
    }
    is("named-check", &folder.run("check --settings settings.yaml node.yaml broken.yaml"));
}

/// A repository of tests may hold what API servers ask, and templates that are YAML already.
#[test]
fn requests_and_templates_among_manifests() {
    let folder = settings();
    let request =
        r#"{"uid": "a", "kind": {"group": "", "version": "v1", "kind": "Pod"}, "operation": "CREATE", "object": {}}"#;
    let review = format!(r#"{{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {request}}}"#);
    folder.write("tests/request.json", request).write("tests/review.json", review).write("tests/node.yaml", NODE);
    let templates = "apiVersion: v1\nkind: Pod\nmetadata: {generateName: a-}\nspec:\n  tolerations:\n  - key: \"a-{{ .Index }}\"\n    operator: Exists\n";
    folder.write("templates/pod.yaml", templates);
    is("requests-audit", &folder.run("audit --settings settings.yaml ."));
    is("requests-named", &folder.run("audit --settings settings.yaml tests/request.json templates/pod.yaml"));
    is("requests-check", &folder.run("check --settings settings.yaml --summary ."));
}

#[test]
fn what_is_nothing() {
    let folder = settings();
    folder
        .write("empty.yaml", "")
        .write("comment.yaml", "# later\n---\n")
        .write("null.json", "null")
        .write("none.json", "[]");
    folder.write("list.yaml", "apiVersion: v1\nkind: List\nitems: []\n");
    is(
        "nothing-audit",
        &folder.run("audit --settings settings.yaml empty.yaml comment.yaml null.json list.yaml /dev/null -"),
    );
    is("nothing-check", &folder.run("check --settings settings.yaml empty.yaml comment.yaml null.json list.yaml"));
    is("nothing-after", &folder.run("check --settings settings.yaml --before /dev/null --after empty.yaml"));
}

#[test]
fn manifests_and_lists_and_duplicates() {
    let folder = settings();
    let inner = format!("- apiVersion: v1\n  kind: List\n  items:\n  - {}", POD.trim_end().replace('\n', "\n    "));
    folder.write("lists.yaml", format!("apiVersion: v1\nkind: List\nitems:\n{inner}\n"));
    folder.write(
        "twice.json",
        r#"{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"tolerations": [],
  "tolerations": [{"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 3.0}]}}"#,
    );
    folder.write("whole.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {tolerations: [{key: a, operator: Exists, effect: NoExecute, tolerationSeconds: 3.0}]}\n");
    folder.write("some.json", "{\"kind\": \"Pod\", \"apiVersion\": \"v1\", \"metadata\": {\"name\": \"b\"}}\n{\"a\": }\n{\"kind\": \"Node\", \"apiVersion\": \"v1\", \"metadata\": {\"name\": \"n\"}}\n");
    folder.write("helm.yaml", format!("---\n# Source: chart/templates/pod.yaml\n{POD}"));
    for name in ["lists.yaml", "twice.json", "whole.yaml", "some.json", "helm.yaml"] {
        is(&format!("manifest-{name}"), &folder.run(&format!("check --settings settings.yaml {name}")));
    }
    is("twice-named", &folder.run("check --settings settings.yaml helm.yaml ./helm.yaml helm.yaml"));
    is("glob", &folder.run("check --settings settings.yaml --summary *.json ho*se"));
}

/// What custom resources hold is judged as what it will become.
#[test]
fn parts_of_custom_resources() {
    let folder = settings();
    folder.write("rollout.yaml", "apiVersion: argoproj.io/v1alpha1\nkind: Rollout\nmetadata: {name: web, namespace: team}\nspec:\n  template:\n    spec:\n      tolerations:\n      - {operator: Exists}\n");
    folder.write(
        "thing.yaml",
        "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: thing}\nspec:\n  where: [{operator: Exists}]\n",
    );
    is("parts", &folder.run("check --settings settings.yaml rollout.yaml thing.yaml"));
    folder.write(".placement-guard.yaml", "settings: settings.yaml\nfailOn: never\ntolerations:\n- {apiGroup: example.com, kind: Thing, path: spec.where}\n");
    is("parts-listed", &folder.run("check thing.yaml"));
    is("parts-audit", &folder.run("audit ."));
    folder.write(".placement-guard.yaml", "setting: a.yaml\n");
    is("config-unknown", &folder.run("check thing.yaml"));
}
