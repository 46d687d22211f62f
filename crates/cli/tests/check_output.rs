//! `check --before --after`: how the decision looks, for people and for programs.

#![allow(clippy::restriction)]

mod program;

use program::{Folder, Ran, assert_golden};
use serde_json::Value;

const CHECK: &str =
    "check --settings settings.yaml --before before.yaml --after after.yaml --nodes nodes.yaml --output";

fn golden(format: &str, file: &str) -> Ran {
    let ran = Folder::copy_of("step").run(&format!("{CHECK} {format}"));
    assert_eq!((ran.code, ran.err.as_str()), (Some(1), ""));
    assert_golden(file, &ran.out);
    ran
}

#[test]
fn text_in_a_pipe_has_no_colours() {
    assert!(!golden("text", "check.txt").out.contains('\x1b'));
}

#[test]
fn a_terminal_shows_the_same_text_in_colours_unless_nobody_wants_them() {
    let folder = Folder::copy_of("step");
    let (code, shown) = folder.on_terminal(&[], &format!("{CHECK} text"));
    assert_eq!(code, Some(1));
    assert_golden("check-colours.txt", &shown);
    let plain = folder.run(&format!("{CHECK} text")).out;
    assert_eq!(anstream::adapter::strip_str(&shown).to_string(), plain);
    for unwanted in [("NO_COLOR", "1"), ("CLICOLOR", "0"), ("TERM", "dumb")] {
        assert_eq!(folder.on_terminal(&[unwanted], &format!("{CHECK} text")), (Some(1), plain.clone()), "{unwanted:?}");
    }
}

#[test]
fn github_finds_file_and_line() {
    golden("github", "check-github.txt");
}

#[test]
fn programs_read_every_decision_with_its_place_and_yaml_says_what_json_says() {
    let json = golden("json", "check.json").out;
    let yaml = golden("yaml", "check.yaml").out;
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(serde_saphyr::from_str::<Value>(&yaml).unwrap(), json);
    let subjects: Vec<String> = json["objects"].as_array().unwrap().iter().map(subject).collect();
    // In the order of the new manifests; what is no longer among them comes last.
    assert_eq!(
        subjects,
        [
            "UPDATE pv-data after.yaml:4",
            "UPDATE pv-wide after.yaml:15",
            "CREATE batch after.yaml:27",
            "CREATE secure.csi.example.com after.yaml:34",
            "UPDATE tokens.csi.example.com after.yaml:41",
            "CREATE tokens-node after.yaml:49",
            "DELETE pv-old before.yaml:26",
        ]
    );
}

fn subject(judged: &Value) -> String {
    let text = |name: &str| judged[name].as_str().unwrap().to_owned();
    format!("{} {} {}:{}", text("operation"), text("name"), text("file"), judged["line"])
}

#[test]
fn live_nodes_are_named_and_change_no_decision() {
    let folder = Folder::copy_of("step");
    let judge = |nodes: &str| -> Vec<Value> {
        let ran = folder.run(&format!(
            "check --settings settings.yaml --before before.yaml --after after.yaml --output json {nodes}"
        ));
        let report: Value = serde_json::from_str(&ran.out).unwrap();
        report["objects"].as_array().unwrap().iter().map(|judged| judged["verdict"].clone()).collect()
    };
    let (without, mut with) = (judge(""), judge("--nodes nodes.yaml"));
    let mut taken = Vec::new();
    for verdict in &mut with {
        let annotations = verdict["annotations"].as_object_mut().unwrap();
        taken.extend(["losesLiveNodes", "gainsLiveNodes"].map(|key| annotations.remove(key)));
        if let Some(message) = verdict["message"].as_str() {
            let said = message.lines().filter(|line| !line.starts_with("  in this cluster: "));
            verdict["message"] = said.collect::<Vec<_>>().join("\n").into();
        }
    }
    let taken: Vec<Value> = taken.into_iter().flatten().collect();
    assert_eq!(taken, ["node-c-1,node-c-2", "node-c-1,node-c-2,node-d"]);
    assert_eq!(with, without);
}

#[test]
fn of_many_live_nodes_twenty_are_named() {
    let folder = Folder::copy_of("step");
    let node = |number: usize| {
        format!(
            "apiVersion: v1\nkind: Node\nmetadata:\n  name: n{number:02}\n  labels: {{topology.kubernetes.io/zone: us-east1-c}}\n"
        )
    };
    folder.write("nodes.yaml", (1..=23).map(node).collect::<Vec<_>>().join("---\n"));
    let out = folder.run(&format!("{CHECK} text")).out;
    let line = out.lines().find(|line| line.contains("in this cluster")).unwrap();
    let begin = "      in this cluster: loses `n01`, `n02`,";
    assert!(line.starts_with(begin) && line.ends_with("`n19`, `n20`, +3"), "{line}");
}
