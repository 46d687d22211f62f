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

/// The text without the lines and columns behind `standard input`.
fn without_places(text: &str) -> String {
    let (first, rest) = text.split_once("standard input:").unwrap_or((text, ""));
    if rest.is_empty() {
        return first.to_owned();
    }
    format!(
        "{first}standard input{}",
        without_places(rest.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == ':'))
    )
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
    let of_json = folder.pipe(json, "audit");
    let expected = without_places(&named.replace("volumes.yaml:", "standard input:"));
    assert_eq!((of_json.code, without_places(&of_json.out)), (Some(1), expected));
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
    let report: Value = serde_json::from_str(&folder.run("audit --output json node.yaml").out).unwrap();
    assert_eq!((&report["summary"]["objects"], &report["objects"]), (&Value::from(1), &Value::Array(Vec::new())));
}

#[test]
fn settings_decide_what_is_found_and_whether_it_refuses() {
    let folder = Folder::copy_of("cluster");
    folder.write("warn.yaml", "localVolumes: {pinned: true, enforcement: warn}\n");
    let ran = folder.run("audit --settings warn.yaml --output json volumes.yaml");
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(ran.code, Some(0));
    let summary = &report["summary"];
    assert_eq!((&summary["objects"], &summary["refused"], &summary["warnings"]), (&4.into(), &0.into(), &2.into()));
    let of_other_kinds = summary["notJudged"]["kinds"].as_object().unwrap().values();
    assert_eq!(of_other_kinds.map(|count| count.as_u64().unwrap()).sum::<u64>(), 1);
    let findings: Vec<&Value> = report["objects"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|judged| judged["findings"].as_array().unwrap())
        .collect();
    assert_eq!(findings.len(), 2);
    for found in findings {
        assert_eq!((&found["code"], &found["effect"]), (&"local-not-pinned".into(), &"warns".into()));
    }
}

#[test]
fn what_cannot_be_read_costs_only_itself() {
    let folder = Folder::copy_of("cluster");
    folder.write("a.yaml", "a: [\n").write("b.json", "{").write(".hidden/c.yaml", "a: [\n");
    folder.write("deeper/node.yaml", "apiVersion: v1\nkind: Node\nmetadata: {name: a}\n");
    let ran = folder.run("audit .");
    assert_eq!(ran.code, Some(1));
    for file in ["a.yaml:", "b.json:"] {
        assert!(ran.err.contains(file), "{}", ran.err);
    }
    assert!(!ran.err.contains("c.yaml"), "{}", ran.err);
    assert!(ran.out.contains("objects: 10, findings: 8, "), "{}", ran.out);
}

#[test]
fn a_daemon_set_and_the_driver_whose_tokens_it_reads_are_not_applied_together() {
    let folder = Folder::copy_of("cluster");
    let found = |ran: &program::Ran, driver: &str, daemon_set: &str| {
        assert_eq!(ran.code, Some(1), "{}", ran.out);
        let subject = format!("  CSIDriver tokens.csi.example.com ({driver}:1)\n");
        let plugin = format!("DaemonSet `kube-system/tokens-node` ({daemon_set}) brings the driver to the nodes\n");
        let field = format!("\n      {driver}:7:3: spec.serviceAccountTokenInSecrets: `true`\n");
        for part in ["not-together (1): ", &subject, &plugin, &field, "findings: 1, would be refused: 0\n"] {
            assert!(ran.out.contains(part), "{part} is not in {}", ran.out);
        }
    };
    found(&folder.run("audit rollout.yaml"), "rollout.yaml", "rollout.yaml:9");
    let rollout = std::fs::read_to_string(folder.path().join("rollout.yaml")).unwrap();
    let (driver, daemon_set) = rollout.split_once("---\n").unwrap();
    folder.write("driver.yaml", driver).write("daemon-set.yaml", daemon_set);
    found(&folder.run("audit driver.yaml daemon-set.yaml"), "driver.yaml", "daemon-set.yaml:1");
    found(&folder.run("audit daemon-set.yaml driver.yaml"), "driver.yaml", "daemon-set.yaml:1");
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
        assert!(!ran.out.contains("not-together"), "{}", ran.out);
    }
}
