//! `audit`: what is found in files and in what is piped in, grouped, sorted and counted.

#![allow(clippy::restriction)]

mod program;

use program::{Folder, assert_golden, repository};
use serde_json::Value;

fn golden(arguments: &str, file: &str) {
    let ran = Folder::copy_of("cluster").run(&format!("audit {arguments}"));
    assert_eq!((ran.code, ran.err.as_str()), (Some(1), ""));
    assert_golden(file, &ran.out);
}

#[test]
fn people_read_groups_in_report_order_and_the_sum() {
    golden(".", "audit.txt");
}

#[test]
fn programs_read_the_same() {
    golden("--output json .", "audit.json");
    golden("--output yaml .", "audit.yaml");
    let read = |file: &str| {
        let text = std::fs::read_to_string(repository().join("crates/cli/tests/golden").join(file)).unwrap();
        serde_saphyr::from_str::<Value>(&text).unwrap()
    };
    assert_eq!(read("audit.json"), read("audit.yaml"));
}

#[test]
fn a_terminal_shows_colours() {
    let (code, shown) = Folder::copy_of("cluster").on_terminal(&[], "audit volumes.yaml");
    assert_eq!(code, Some(1));
    assert_golden("audit-colours.txt", &shown);
}

#[test]
fn files_and_pipes_and_their_order_find_the_same() {
    let folder = Folder::copy_of("cluster");
    let volumes = std::fs::read_to_string(folder.path().join("volumes.yaml")).unwrap();
    let named = folder.run("audit volumes.yaml").out;
    for arguments in ["audit", "audit -"] {
        let piped = folder.pipe(&volumes, arguments);
        assert_eq!((piped.code, piped.out.replace("standard input:", "volumes.yaml:")), (Some(1), named.clone()));
    }
    let json = serde_saphyr::from_str::<Value>(&volumes).unwrap().to_string();
    let of_json = folder.pipe(&json, "audit");
    let at = |line: usize| format!("(standard input:{line})");
    let expected = [4, 27, 38]
        .iter()
        .fold(named.replace("volumes.yaml:", "standard input:"), |text, line| text.replace(&at(*line), &at(1)));
    assert_eq!((of_json.code, of_json.out), (Some(1), expected));
    let one = folder.run("audit --output json rollout.yaml volumes.yaml broken.json").out;
    assert_eq!(folder.run("audit --output json broken.json volumes.yaml rollout.yaml").out, one);
}

#[test]
fn nothing_found_is_said_too() {
    let folder = Folder::new();
    folder.write("node.yaml", "apiVersion: v1\nkind: Node\nmetadata: {name: a}\n");
    folder.run("audit node.yaml").printed(0, "objects: 1, findings: 0, would be refused: 0\n");
    let no_items = "apiVersion: v1\nitems: []\nkind: List\n";
    folder.pipe(no_items, "audit").printed(0, "objects: 0, findings: 0, would be refused: 0\n");
    folder.run("audit --output json node.yaml").printed(
        0,
        "{\n  \"objects\": 1,\n  \"refused\": 0,\n  \"skipped\": 0,\n  \"findings\": [],\n  \"notTogether\": []\n}\n",
    );
}

#[test]
fn settings_decide_what_is_found_and_whether_it_refuses() {
    let folder = Folder::copy_of("cluster");
    folder.write("warn.yaml", "localVolumes: {pinned: true, enforcement: warn}\n");
    let ran = folder.run("audit --settings warn.yaml --output json volumes.yaml");
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(ran.code, Some(0));
    assert_eq!((&report["objects"], &report["refused"]), (&Value::from(5), &Value::from(0)));
    let found = &report["findings"][0];
    assert_eq!((&found["code"], &found["count"]), (&Value::from("local-not-pinned"), &Value::from(2)));
    assert_eq!(found["objects"][0]["refuses"], Value::from(false));
    assert_eq!(report["findings"].as_array().unwrap().len(), 1);
}

#[test]
fn what_cannot_be_read_is_said_after_everything_else_was_judged() {
    let folder = Folder::copy_of("cluster");
    folder.write("a.yaml", "a: [\n").write("b.json", "{").write(".hidden/c.yaml", "a: [\n");
    folder.write("deeper/node.yaml", "apiVersion: v1\nkind: Node\nmetadata: {name: a}\n");
    let ran = folder.run("audit --quiet .");
    let judged = Folder::copy_of("cluster").run("audit --quiet .").out;
    let groups = |out: &str| out.split("\nobjects: ").next().unwrap().to_owned();
    assert_eq!(groups(&ran.out), groups(&judged));
    assert_eq!(
        (ran.code, ran.err.as_str()),
        (
            Some(1),
            "warning: ./a.yaml:2:1: is not usable YAML: did not find expected node content while parsing a flow node; it is not \
             judged\nwarning: ./b.json:1:1: is not JSON: EOF while parsing an object; it is not judged\n"
        )
    );
}

#[test]
fn what_was_named_and_is_not_for_an_audit() {
    let folder = Folder::copy_of("cluster");
    folder
        .write("none/notes.txt", "")
        .write("text.yaml", "---\nsome text\n")
        .write("name.yaml", "apiVersion: v1\nkind: {}\n");
    let cases = [
        ("absent.yaml", "cannot be read: No such file or directory (os error 2); name a file, or `-`"),
        ("text.yaml", "2:1: a manifest: must be an object, is a string: `some text`; correct the manifest"),
        ("name.yaml", "2:7: kind: must be a string, is an object: `{}`; correct the manifest"),
    ];
    for (file, complaint) in cases {
        let ran = folder.run(&format!("audit {file}"));
        let last = ran.err.lines().last().unwrap().to_owned();
        assert_eq!(ran.code, Some(2), "{file}");
        assert!(last.starts_with(&format!("error: {file}:")) && last.ends_with(complaint), "{last}");
    }
    let empty = "none: holds no file that ends in `.yaml`, `.yml` or `.json`; name another folder";
    folder.run("audit none").complained(empty);
}

#[test]
fn a_daemon_set_and_the_driver_whose_tokens_it_reads_are_not_applied_together() {
    let folder = Folder::copy_of("cluster");
    let warning = |driver: &str, daemon_set: &str| {
        format!(
            "warning: not together: CSIDriver `tokens.csi.example.com` ({driver}) puts its tokens into `secrets`, and \
             DaemonSet `kube-system/tokens-node` ({daemon_set}) brings the driver to the nodes; apply the DaemonSet first, \
             wait for `kubectl rollout status`, then apply the CSIDriver\n\n"
        )
    };
    let sum = "objects: 2, findings: 0, would be refused: 0\n";
    folder.run("audit rollout.yaml").printed(0, &(warning("rollout.yaml:1", "rollout.yaml:9") + sum));
    let rollout = std::fs::read_to_string(folder.path().join("rollout.yaml")).unwrap();
    let (driver, daemon_set) = rollout.split_once("---\n").unwrap();
    folder.write("driver.yaml", driver).write("daemon-set.yaml", daemon_set);
    let said = warning("driver.yaml:1", "daemon-set.yaml:1") + sum;
    folder.run("audit driver.yaml daemon-set.yaml").printed(0, &said);
    folder.run("audit daemon-set.yaml driver.yaml").printed(0, &said);
    let alone = "objects: 1, findings: 0, would be refused: 0\n";
    folder.run("audit driver.yaml").printed(0, alone);
    folder.run("audit daemon-set.yaml").printed(0, alone);
    // Of another driver, without tokens in secrets, and as the cluster has it already.
    let others = [
        (daemon_set.replace("tokens.csi", "other.csi"), driver.to_owned()),
        (daemon_set.to_owned(), driver.replace("InSecrets: true", "InSecrets: false")),
        (daemon_set.to_owned(), driver.replace("com}", "com, uid: 0-0}")),
        (daemon_set.replace("system}", "system, uid: 0-0}"), driver.to_owned()),
    ];
    for (daemon_set, driver) in others {
        folder.write("driver.yaml", driver).write("daemon-set.yaml", daemon_set);
        let ran = folder.run("audit driver.yaml daemon-set.yaml");
        assert!(!ran.out.contains("not together"), "{}", ran.out);
    }
}
