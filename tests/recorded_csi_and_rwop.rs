//! What Kubernetes itself answered about CSIDrivers and access modes (`tests/vectors/csidriver.json`, `rwop.json`), asked
//! of the rules that read the same fields. How many cases of each kind run, how many are skipped and why is pinned.

#![allow(clippy::restriction)]

use std::collections::BTreeMap;
use std::path::Path;

use placement_guard::kubewarden;
use serde_json::{Value, json};

/// Why a recorded case is not run.
const OTHER_FIELD: &str = "decided by a field that no rule reads";
const UNUSED_FIELD: &str = "the field without tokenRequests: nothing is handed out, and the API server refuses it";
const NO_MODE: &str = "no mode, or one that there is not: nothing to judge, and the API server refuses it";
const CSI_CALL: &str = "the mode of the CSI call: the kubelet's business";
const SCHEDULING: &str = "scheduling beside pods that exist: needs the live cluster";
const IMMUTABLE: &str = "modes of a claim that exists cannot change: the API server's business";

fn cases(name: &str) -> Vec<Value> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors").join(name);
    let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let vectors: Value = serde_json::from_str(&text).expect("a vector file is JSON");
    vectors["cases"].as_array().expect("it has cases").clone()
}

/// What was run and skipped, per kind and, for what was skipped, per reason.
#[derive(Default)]
struct Tally(BTreeMap<String, usize>);

impl Tally {
    fn run(&mut self, kind: &str) {
        *self.0.entry(format!("{kind}: run")).or_default() += 1;
    }

    fn skip(&mut self, kind: &str, reason: &str) {
        *self.0.entry(format!("{kind}: skipped, {reason}")).or_default() += 1;
    }

    #[track_caller]
    fn is(&self, expected: &[(&str, usize)]) {
        let actual: Vec<(&str, usize)> = self.0.iter().map(|(line, count)| (line.as_str(), *count)).collect();
        assert_eq!(actual, expected);
    }
}

/// The codes that are found when an object is created, or with an old one updated.
fn found(settings: &Value, group: &str, kind: &str, old: Option<&Value>, object: &Value) -> Vec<String> {
    let operation = if old.is_some() { "UPDATE" } else { "CREATE" };
    let request = json!({
        "uid": "1", "kind": {"group": group, "version": "v1", "kind": kind}, "operation": operation,
        "userInfo": {"username": "admin"}, "object": object, "oldObject": old,
    });
    let payload = json!({"settings": settings, "request": request}).to_string();
    let answer: Value = serde_json::from_slice(&kubewarden::validate(payload.as_bytes())).expect("an answer is JSON");
    assert_ne!(answer["code"], json!(422), "whatever upstream takes is readable: {answer}");
    let findings = answer["audit_annotations"]["findings"].as_str().unwrap_or_default();
    findings.split(',').filter(|code| !code.is_empty()).map(str::to_owned).collect()
}

fn has_tokens(driver: &Value) -> bool {
    driver["spec"]["tokenRequests"].as_array().is_some_and(|requests| !requests.is_empty())
}

/// The tokens are judged where there are some; the range of their lives is the one that the API server accepts.
fn tokens_found(old: Option<&Value>, driver: &Value) -> Vec<String> {
    let range = json!({"min": 600, "max": 4_294_967_296_u64});
    let settings = json!({"csiDriverTokens": {"requireSecrets": true, "expirationSeconds": range}});
    found(&settings, "storage.k8s.io", "CSIDriver", old, driver)
}

#[test]
fn csi_drivers_are_read_as_upstream_reads_them() {
    let mut tally = Tally::default();
    for case in cases("csidriver.json") {
        let (kind, what) = (case["kind"].as_str().expect("a kind"), &case["name"]);
        let gate = case["featureGates"]["CSIServiceAccountTokenSecrets"] != json!(false);
        match kind {
            "ValidateCSIDriver" | "ValidateCSIDriverUpdate" => {
                let (old, new) = match kind {
                    "ValidateCSIDriver" => (None, &case["csiDriver"]),
                    _ => (Some(&case["oldCSIDriver"]), &case["newCSIDriver"]),
                };
                let codes = tokens_found(old, new);
                if !has_tokens(new) {
                    assert!(codes.is_empty(), "{what}: {codes:?}");
                    let is_set = !new["spec"]["serviceAccountTokenInSecrets"].is_null();
                    tally.skip(kind, if is_set { UNUSED_FIELD } else { OTHER_FIELD });
                    continue;
                }
                let in_secrets = new["spec"]["serviceAccountTokenInSecrets"] == json!(true);
                assert_eq!(codes.contains(&String::from("token-in-volume-context")), !in_secrets, "{what}: {codes:?}");
                let valid = case["expect"]["valid"] == json!(true);
                let in_range = !codes.contains(&String::from("token-expiration-out-of-range"));
                assert_eq!(in_range, valid, "{what}: {codes:?}");
                tally.run(kind);
            }
            "WarningsOnCreate" | "WarningsOnUpdate" => {
                let (old, new) = match kind {
                    "WarningsOnCreate" => (None, &case["csiDriver"]),
                    _ => (Some(&case["oldCSIDriver"]), &case["newCSIDriver"]),
                };
                let warned = case["expect"]["warnings"].as_array().is_some_and(|warnings| !warnings.is_empty());
                // DIFFERENCE: upstream warns of an absent field alone, although `false` sends the tokens the same way, and
                // not at all where the gate is off and the field cannot be set.
                let is_false = new["spec"]["serviceAccountTokenInSecrets"] == json!(false);
                let expected = warned || (is_false && has_tokens(new)) || (!gate && has_tokens(new));
                assert_eq!(
                    tokens_found(old, new).contains(&String::from("token-in-volume-context")),
                    expected,
                    "{what}"
                );
                tally.run(kind);
            }
            "PrepareForCreate" => {
                // What is stored is what an audit sees.
                let mut stored = case["csiDriver"].clone();
                stored["spec"]["serviceAccountTokenInSecrets"] = case["expect"]["serviceAccountTokenInSecrets"].clone();
                let in_context = case["expect"]["serviceAccountTokenInSecrets"] != json!(true);
                let codes = tokens_found(None, &stored);
                assert_eq!(codes.contains(&String::from("token-in-volume-context")), in_context, "{what}: {codes:?}");
                tally.run(kind);
            }
            other => panic!("{other} is no kind of case that is known here"),
        }
    }
    tally.is(&[
        ("PrepareForCreate: run", 3),
        ("ValidateCSIDriver: run", 4),
        (&format!("ValidateCSIDriver: skipped, {OTHER_FIELD}"), 22),
        (&format!("ValidateCSIDriver: skipped, {UNUSED_FIELD}"), 1),
        ("ValidateCSIDriverUpdate: run", 3),
        (&format!("ValidateCSIDriverUpdate: skipped, {OTHER_FIELD}"), 16),
        ("WarningsOnCreate: run", 4),
        ("WarningsOnUpdate: run", 7),
    ]);
}

/// The modes of an object as upstream knows them; `None` when there are none, or one that there is not.
fn modes(spec: &Value) -> Option<Vec<&str>> {
    const MODES: [&str; 4] = ["ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"];
    let modes: Vec<&str> = spec["accessModes"].as_array()?.iter().filter_map(Value::as_str).collect();
    (!modes.is_empty() && modes.iter().all(|mode| MODES.contains(mode))).then_some(modes)
}

#[test]
fn access_modes_are_read_as_upstream_reads_them() {
    let settings = json!({"accessModes": {}});
    let alone = |codes: &[String]| !codes.contains(&String::from("rwop-not-alone"));
    let mut tally = Tally::default();
    for case in cases("rwop.json") {
        let (kind, what) = (case["kind"].as_str().expect("a kind"), &case["name"]);
        let valid = case["expect"]["valid"] == json!(true);
        match kind {
            "ValidatePersistentVolume" => {
                let codes = found(&settings, "", "PersistentVolume", None, &case["pv"]);
                let Some(modes) = modes(&case["pv"]["spec"]) else {
                    tally.skip(kind, NO_MODE);
                    continue;
                };
                assert_eq!(alone(&codes), valid, "{what}: {codes:?}");
                // DIFFERENCE: upstream's validation lets the mode pass on any source; every volume here is a hostPath.
                let not_csi = codes.contains(&String::from("rwop-not-csi"));
                assert_eq!(not_csi, modes.contains(&"ReadWriteOncePod"), "{what}: {codes:?}");
                tally.run(kind);
            }
            "ValidatePersistentVolumeClaim" | "EphemeralVolumeClaimTemplate" => {
                let claim = &case["pvc"];
                let ephemeral = json!({"volumeClaimTemplate": {"spec": claim["spec"]}});
                let pod = json!({"spec": {"volumes": [{"name": "v", "ephemeral": ephemeral}]}});
                let codes = match kind {
                    "ValidatePersistentVolumeClaim" => found(&settings, "", "PersistentVolumeClaim", None, claim),
                    _ => found(&settings, "", "Pod", None, &pod),
                };
                if modes(&claim["spec"]).is_none() {
                    tally.skip(kind, NO_MODE);
                    continue;
                }
                assert_eq!(alone(&codes), valid, "{what}: {codes:?}");
                tally.run(kind);
            }
            "ValidatePersistentVolumeClaimUpdate" => {
                if case["oldPVC"]["spec"]["accessModes"] != case["newPVC"]["spec"]["accessModes"] {
                    tally.skip(kind, IMMUTABLE);
                    continue;
                }
                let codes = found(&settings, "", "PersistentVolumeClaim", Some(&case["oldPVC"]), &case["newPVC"]);
                assert_eq!(codes.is_empty(), valid, "{what}: {codes:?}");
                tally.run(kind);
            }
            "CSIAccessMode" => tally.skip(kind, CSI_CALL),
            "SchedulerVolumeRestrictions" => tally.skip(kind, SCHEDULING),
            other => panic!("{other} is no kind of case that is known here"),
        }
    }
    tally.is(&[
        (&format!("CSIAccessMode: skipped, {CSI_CALL}"), 6),
        ("EphemeralVolumeClaimTemplate: run", 3),
        (&format!("EphemeralVolumeClaimTemplate: skipped, {NO_MODE}"), 2),
        (&format!("SchedulerVolumeRestrictions: skipped, {SCHEDULING}"), 4),
        ("ValidatePersistentVolume: run", 2),
        (&format!("ValidatePersistentVolume: skipped, {NO_MODE}"), 2),
        ("ValidatePersistentVolumeClaim: run", 3),
        (&format!("ValidatePersistentVolumeClaim: skipped, {NO_MODE}"), 2),
        ("ValidatePersistentVolumeClaimUpdate: run", 1),
        (&format!("ValidatePersistentVolumeClaimUpdate: skipped, {IMMUTABLE}"), 1),
    ]);
}
