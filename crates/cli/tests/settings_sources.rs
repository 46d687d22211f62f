//! `--settings` reads what is deployed: policies of Kubewarden, constraints of Gatekeeper, folders of them.

#![allow(clippy::restriction)]

mod program;

use program::{Folder, repository};

const POD: &str =
    "apiVersion: v1\nkind: Pod\nmetadata: {name: pod, namespace: team}\nspec: {tolerations: [{operator: Exists}]}\n";

fn policy(name: &str, settings: &str) -> String {
    format!(
        "apiVersion: policies.kubewarden.io/v1\nkind: ClusterAdmissionPolicy\nmetadata: {{name: {name}}}\nspec:\n  \
         module: registry://example.com/placement-guard:v1\n  settings: {settings}\n"
    )
}

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("pod.yaml", POD).write("settings.yaml", "tolerations: {allowed: []}\n");
    folder.write("policy.yaml", policy("a", "{tolerations: {allowed: []}}"));
    let constraint =
        "apiVersion: constraints.gatekeeper.sh/v1beta1\nkind: PlacementGuardTolerations\nmetadata: {name: t}\n";
    folder.write("constraint.yaml", format!("{constraint}spec: {{parameters: {{allowed: []}}}}\n"));
    folder
}

#[test]
fn one_source_of_truth_gives_one_answer() {
    let folder = folder();
    folder
        .write("policies/a.yaml", policy("a", "{volumeNodeAffinity: {}}"))
        .write("policies/deep/b.yml", policy("b", "{tolerations: {allowed: []}}"));
    folder.write("policies/other.yaml", POD);
    let answer = folder.run("check --settings settings.yaml pod.yaml");
    assert_eq!(answer.code, Some(1));
    for settings in ["policy.yaml", "constraint.yaml", "policies"] {
        assert_eq!(folder.run(&format!("check --settings {settings} pod.yaml")), answer, "{settings}");
        assert_eq!(folder.run(&format!("audit --settings {settings} pod.yaml")).code, Some(1), "{settings}");
    }
}

#[test]
fn what_this_repository_deploys_can_be_used() {
    let folder = folder();
    let of = |name: &str| repository().join("policies").join(name).display().to_string();
    for path in [
        "kubewarden",
        "kubewarden/all-rules.yaml",
        "gatekeeper",
        "gatekeeper/constraints",
        "gatekeeper/constraints/tolerations.yaml",
        "webhook",
        "webhook/settings.yaml",
    ] {
        let ran = folder.run(&format!("check --settings {} pod.yaml", of(path)));
        // Each set denies or warns of what tolerates everything.
        assert!(ran.out.contains("[toleration-"), "{path}: {}{}", ran.out, ran.err);
        assert!(ran.code != Some(2), "{path}: {}", ran.err);
    }
}

/// As a server mounts it.
#[test]
fn a_config_map_holds_settings() {
    let folder = folder();
    let map = |data: &str| format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\n{data}");
    let answer = folder.run("check --settings settings.yaml pod.yaml");
    let block =
        "data:\n  settings.yaml: |\n    # which tolerations\n    tolerations:\n      allowed: []\n  notes.txt: hello\n";
    folder.write("block.yaml", map(block));
    folder.write("quoted.yaml", map("data: {settings: \"tolerations:\\n  allowed: []\\n\"}\n"));
    let json = serde_json::json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"a.json": "{\"tolerations\": {\"allowed\": []}}"}});
    folder.write("map.json", json.to_string());
    let item = map(block).replace('\n', "\n  ");
    folder.write("list.yaml", format!("apiVersion: v1\nkind: List\nitems:\n- {}\n", item.trim_end()));
    folder.write("deployed/settings.yaml", map(block)).write("deployed/pod.yaml", POD);
    folder.write("deployed/other.yaml", map("data: {a.yaml: \"b: c\"}\n"));
    for settings in ["block.yaml", "quoted.yaml", "map.json", "list.yaml", "deployed"] {
        assert_eq!(folder.run(&format!("check --settings {settings} pod.yaml")), answer, "{settings}");
    }
    // Lines and columns are those of the file.
    for (file, text, at) in [
        ("wrong.yaml", map(&block.replace("allowed", "allow")), "wrong.yaml:8:7: tolerations.allow: "),
        ("section.yaml", map("data:\n  a: |\n      toleration: {}\n"), "section.yaml:6:7: toleration: "),
        ("broken.yaml", map("data:\n  a: |\n    a: [\n"), "broken.yaml:7:1: "),
        (
            "escaped.yaml",
            map("data: {a: \"tolerations:\\n  allow: []\"}\n"),
            "escaped.yaml (data.a):2:3: tolerations.allow: ",
        ),
        (
            "nothing.yaml",
            map("data: {a: b, c: d}\n"),
            "nothing.yaml:1: is a ConfigMap whose `data` holds no settings; ",
        ),
    ] {
        folder.write(file, text);
        let ran = folder.run(&format!("check --settings {file} pod.yaml"));
        assert_eq!(ran.code, Some(2), "{file}: {}", ran.out);
        assert!(ran.err.starts_with(&format!("error: {at}")), "{file}: {}", ran.err);
    }
    folder.write("several.yaml", format!("{POD}---\n{POD}"));
    let ran = folder.run("check --settings several.yaml pod.yaml");
    assert!(
        ran.err.starts_with("error: several.yaml: holds neither settings nor a policy of this program; "),
        "{}",
        ran.err
    );
}

#[test]
fn what_is_wrong_in_a_policy_is_said_where_it_is_written() {
    let folder = folder();
    folder.write("wrong.yaml", policy("a", "{tolerations: {allow: []}}"));
    let ran = folder.run("check --settings wrong.yaml pod.yaml");
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.starts_with("error: wrong.yaml:6:28: "), "{}", ran.err);
    let ran = folder.run("check --settings pod.yaml pod.yaml");
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("is neither settings nor a policy of this program"), "{}", ran.err);
    folder.run("check pod.yaml").complained(
        "--settings: is required here; name a file with `--settings <PATH>`, or write `settings: PATH` into `.placement-guard.yaml`",
    );
}

#[test]
fn a_file_in_the_root_of_the_repository_is_found() {
    let folder = folder();
    std::fs::create_dir(folder.path().join(".git")).unwrap();
    folder
        .write(".placement-guard.yaml", "settings: policy.yaml\nexclude: [\"old/**\"]\n")
        .write("old/pod.yaml", POD)
        .write("deep/node.yaml", "apiVersion: v1\nkind: Node\nmetadata: {name: a}\n");
    assert_eq!(folder.run("check pod.yaml").code, Some(1));
    assert_eq!(folder.run("check deep old").code, Some(2), "nothing is left of `old`");
    let mut command = folder.command();
    command.current_dir(folder.path().join("deep")).args(["audit", "..", "--exclude", "../pod.yaml"]);
    let ran = program::ran(command, b"");
    assert!(!ran.out.contains("old/pod.yaml"), "{}", ran.out);
}
