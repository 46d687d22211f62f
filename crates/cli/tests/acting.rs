//! What a run is told to do with what it finds: when it fails, what it knows already, what an object silences, how much it says;
//! and `explain`.

#![allow(clippy::restriction)]

mod program;

use program::{Folder, Ran};
use serde_json::Value;

const POD: &str = "apiVersion: v1\nkind: Pod\nmetadata: {name: app, namespace: team}\nspec:\n  tolerations:\n";

fn pod(keys: &[&str]) -> String {
    keys.iter().fold(POD.to_owned(), |text, key| format!("{text}    - {{key: {key}, operator: Exists}}\n"))
}

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("settings.yaml", "tolerations: {allowed: []}\n").write("pod.yaml", pod(&["spot"]));
    folder.write("warn.yaml", "tolerations: {allowed: [], enforcement: warn}\n");
    folder
}

fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{}{}", ran.out, ran.err))
}

#[test]
fn fail_on_says_what_fails() {
    let folder = folder();
    for command in ["check --after pod.yaml", "audit pod.yaml"] {
        let cases = [
            ("settings", "", 1),
            ("settings", "--fail-on warnings", 1),
            ("settings", "--fail-on never", 0),
            ("warn", "", 0),
            ("warn", "--fail-on refusals", 0),
            ("warn", "--fail-on warnings", 1),
            ("warn", "--fail-on never", 0),
        ];
        for (settings, option, code) in cases {
            let ran = folder.run(&format!("{command} --settings {settings}.yaml {option}"));
            assert_eq!(ran.code, Some(code), "{command} {settings} {option}: {}{}", ran.out, ran.err);
        }
    }
}

#[test]
fn a_baseline_knows_a_finding_wherever_it_moves_and_not_a_new_one() {
    let folder = folder();
    let write = folder.run("audit --settings settings.yaml --write-baseline known.json pod.yaml");
    assert_eq!(write.code, Some(0), "{}", write.err);
    let audit = |text: String| {
        folder
            .write("pod.yaml", text)
            .run("audit --settings settings.yaml --baseline known.json --output json pod.yaml")
    };
    let known = audit(pod(&["spot"]));
    assert_eq!((known.code, &json(&known)["summary"]["inBaseline"]), (Some(0), &Value::from(1)));
    // Moved down, and behind another document.
    let moved = format!("# later\n\napiVersion: v1\nkind: Node\nmetadata: {{name: a}}\n---\n{}", pod(&["spot"]));
    assert_eq!(audit(moved).code, Some(0));
    let new = audit(pod(&["gpu", "spot"]));
    let report = json(&new);
    assert_eq!((new.code, &report["summary"]["refusals"]), (Some(1), &Value::from(1)), "{report:#}");
    // The same once more is new too.
    let twice = audit(pod(&["spot", "spot"]));
    assert_eq!((twice.code, &json(&twice)["summary"]["refusals"]), (Some(1), &Value::from(1)));
    // What was known and is gone changes nothing.
    assert_eq!(audit(pod(&[])).code, Some(0));
    folder.write("known.json", "{\"version\": 2, \"findings\": []}");
    folder
        .run("audit --settings settings.yaml --baseline known.json pod.yaml")
        .complained("known.json: is a baseline of version 2, not 1; write it again with `--write-baseline`");
}

#[test]
fn an_object_silences_a_code_for_a_reason() {
    let folder = folder();
    let with = |annotation: &str| {
        let annotations = format!("annotations: {{placement-guard.dev/ignore: '{annotation}'}}");
        let text = pod(&["spot"]).replace("namespace: team}", &format!("namespace: team, {annotations}}}"));
        folder.write("pod.yaml", text);
        ["check --after pod.yaml", "audit pod.yaml"]
            .map(|command| folder.run(&format!("{command} --settings settings.yaml --output json")))
    };
    for ran in with("toleration-not-allowed: a batch job, agreed with the platform team") {
        let report = json(&ran);
        assert_eq!((ran.code, &report["summary"]["silenced"]), (Some(0), &Value::from(1)), "{report:#}");
        // A cluster refuses it all the same.
        assert_eq!(report["objects"][0]["verdict"]["allowed"], Value::from(false));
        assert_eq!(report["objects"][0]["findings"][0]["silenced"], "a batch job, agreed with the platform team");
    }
    for wrong in ["toleration-denied: another", "toleration-not-allowed", "toleration-not-allowd: typo"] {
        for ran in with(wrong) {
            assert_eq!(ran.code, Some(1), "{wrong}: {}", ran.out);
            let says_so = ran.out.contains("ignore-not-understood");
            assert_eq!(says_so, !wrong.starts_with("toleration-denied"), "{wrong}: {}", ran.out);
        }
    }
}

#[test]
fn a_run_says_as_much_as_it_is_asked_to() {
    let folder = folder();
    let calm = "apiVersion: v1\nkind: Pod\nmetadata: {name: calm, namespace: team}\n";
    let other = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other, namespace: team}\n";
    folder.write("after.yaml", format!("{}---\n{calm}---\n{other}", pod(&["spot"])));
    folder.write("before.yaml", format!("{other}---\n{calm}"));
    let check = |options: &str| {
        folder.run(&format!("check --settings settings.yaml --before before.yaml --after after.yaml {options}")).out
    };
    let last = "2 requests: 1 accepted, 1 refused, warnings: 0\n\
        not judged, because no section of the settings is about the kind: 1 (ConfigMap 1)\n";
    let refused = "after.yaml\n  refused (403) Pod team/app CREATE (after.yaml:1)\n    \
        toleration not allowed: tolerates `spot:NoExecute` [toleration-not-allowed]\n      \
        after.yaml:6:7: spec.tolerations[0]: `spot exists, every effect` admits every taint value\n      \
        allowed for `spot`: nothing\n";
    // What is unchanged says nothing.
    for options in ["", "--quiet"] {
        assert_eq!(check(options), format!("{refused}{last}"), "{options}");
    }
    assert_eq!(check("--summary"), last);
    folder.write("before.yaml", other);
    assert_eq!(check(""), format!("{refused}  accepted Pod team/calm CREATE (after.yaml:8)\n{last}"));
    assert_eq!(check("--quiet"), format!("{refused}{last}"));
}

#[test]
fn what_several_findings_say_alike_is_said_once() {
    let folder = Folder::new();
    folder.write("settings.yaml", "tolerations: {allowed: [], denied: [{key: spot, operator: Exists}]}\nlocalVolumes: {hostPaths: [{prefix: /log}]}\n");
    let volumes: Vec<String> =
        (0..4).map(|number| format!("    - {{name: v{number}, hostPath: {{path: /etc/{number}}}}}\n")).collect();
    folder.write("pod.yaml", format!("{}  volumes:\n{}", pod(&["spot"]), volumes.concat()));
    let out = folder.run("check --settings settings.yaml --after pod.yaml").out;
    assert_eq!(out.matches("accepted: `/log` and everything below").count(), 1, "{out}");
    assert_eq!(out.matches("host path not allowed: volume ").count(), 4, "{out}");
    assert_eq!(out.matches("[toleration-denied, toleration-not-allowed]").count(), 1, "{out}");
    assert_eq!(out.matches("spec.tolerations[0]").count(), 1, "{out}");
}

#[test]
fn a_daemon_set_that_runs_everywhere_is_counted_where_no_settings_were_written() {
    let folder = Folder::new();
    let tolerations = "spec: {template: {spec: {tolerations: [{operator: Exists}]}}}";
    let daemon_set = format!("apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {{name: log}}\n{tolerations}\n");
    folder.write("all.yaml", format!("{daemon_set}---\n{}", daemon_set.replace("DaemonSet", "Deployment")));
    folder.write("settings.yaml", "tolerations: {}\n");
    let ran = folder.run("audit all.yaml");
    assert!(
        ran.out.contains("toleration-admits-everything (1)") && ran.out.contains("  Deployment log"),
        "{}",
        ran.out
    );
    assert!(!ran.out.contains("  DaemonSet log"), "{}", ran.out);
    assert!(ran.out.contains("not listed: 1 toleration-admits-everything, on DaemonSets"), "{}", ran.out);
    let ran = folder.run("audit --settings settings.yaml all.yaml");
    assert!(ran.out.contains("toleration-admits-everything (2)"), "{}", ran.out);
}

#[test]
fn a_driver_that_is_switched_alone_says_which_servers_come_first() {
    let folder = Folder::new();
    let driver = |switched: bool| {
        format!(
            "apiVersion: storage.k8s.io/v1\nkind: CSIDriver\nmetadata: {{name: csi.example.com}}\nspec:\n  \
             tokenRequests: [{{audience: vault}}]\n  serviceAccountTokenInSecrets: {switched}\n"
        )
    };
    folder.write("settings.yaml", "csiDriverTokens: {}\n");
    folder.write("before.yaml", driver(false)).write("after.yaml", driver(true));
    let ran = folder.run("check --settings settings.yaml --before before.yaml --after after.yaml");
    assert_eq!(ran.code, Some(0));
    assert!(ran.out.contains("[token-secrets-need-servers]") && ran.out.contains("after.yaml:6:3"), "{}", ran.out);
    let unchanged = folder.run("check --settings settings.yaml --before after.yaml --after after.yaml");
    assert!(!unchanged.out.contains("token-secrets-need-servers"), "{}", unchanged.out);
}

#[test]
fn every_code_is_explained() {
    let folder = Folder::new();
    let list = folder.run("explain");
    assert_eq!(list.code, Some(0));
    assert!(list.out.lines().count() > 35, "{}", list.out);
    for line in list.out.lines() {
        let code = line.split(' ').next().unwrap();
        let ran = folder.run(&format!("explain {code}"));
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{code}");
        assert!(ran.out.starts_with(&format!("{code}\n")) && ran.out.contains("Accepted: "), "{}", ran.out);
    }
    folder
        .run("explain local-not-pined")
        .complained("`local-not-pined`: is not a known code; did you mean `local-not-pinned`?");
    folder.run("explain x").complained("`x`: is not a known code; `placement-guard explain` lists every code");
}

#[test]
fn help_explains_itself() {
    let folder = Folder::new();
    let ran = folder.run("help --help");
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    assert_eq!(ran.out, folder.run("help").out);
    let usage = folder.run("check --settings settings.yaml").err;
    for way in ["--before <PATH>... --after <PATH>...", "--since <REVISION>"] {
        assert!(usage.contains(way), "{usage}");
    }
}
