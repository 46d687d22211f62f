//! What the author of settings reads when they cannot be used: every mistake that deserves its own sentence, together with
//! that sentence, in `tests/golden/settings_messages.txt`. `BLESS=1` writes the file again.

#![allow(clippy::restriction)]

use placement_guard::kubewarden;
use serde_json::Value;
use testkit::golden::assert_golden;

/// Settings that cannot be used, as the bytes that the module is given.
const BAD: &[(&str, &[&str])] = &[
    (
        "no settings at all",
        &[
            "",
            "null",
            "[]",
            r#""volumeNodeAffinity""#,
            r#"{"volumeNodeAffinity": "#,
            r#"{"volumeNodeAffinity": {"allow": [widened]}}"#,
        ],
    ),
    (
        "sections",
        &[
            "{}",
            r#"{"volumeNodeAffinity": null}"#,
            r#"{"volumenodeaffinity": {}}"#,
            r#"{"volumeNodeAffinity": {}, "tolerations": {}, "taints": {}}"#,
            r#"{"volumeNodeAffinity": true}"#,
            r#"{"volumeNodeAffinity": []}"#,
            r#"{"volumeNodeAffinity": {}, "volumeNodeAffinity": {}}"#,
        ],
    ),
    (
        "volumeBinding",
        &[
            r#"{"volumeBinding": {"unreachable": "warn"}}"#,
            r#"{"volumeBinding": {"unreachableTogether": "refuse"}}"#,
            r#"{"volumeBinding": {"whenClusterUnreadable": true}}"#,
        ],
    ),
    (
        "every section",
        &[
            r#"{"volumeNodeAffinity": {"enforce": "warn"}}"#,
            r#"{"volumeNodeAffinity": {"enforcement": "audit"}}"#,
            r#"{"volumeNodeAffinity": {"enforcement": true}}"#,
            r#"{"volumeNodeAffinity": {"exempt": ["system:masters"]}}"#,
            r#"{"volumeNodeAffinity": {"exempt": {"user": ["admin"]}}}"#,
            r#"{"volumeNodeAffinity": {"exempt": {"users": "admin"}}}"#,
            r#"{"volumeNodeAffinity": {"exempt": {"users": ["admin", ""]}}}"#,
            r#"{"volumeNodeAffinity": {"exempt": {"groups": [null]}}}"#,
            r#"{"volumeNodeAffinity": {"exempt": {"namespaces": [{"name": "kube-system"}]}}}"#,
        ],
    ),
    (
        "volumeNodeAffinity",
        &[
            r#"{"volumeNodeAffinity": {"allow": "widened"}}"#,
            r#"{"volumeNodeAffinity": {"allow": ["equivalent"]}}"#,
            r#"{"volumeNodeAffinity": {"allow": ["widened", 5]}}"#,
            r#"{"volumeNodeAffinity": {"allow": ["widened"], "allow": ["narrowed"]}}"#,
            r#"{"volumeNodeAffinity": {"topology": {"zones": {"r": ["a"], "r": ["b"]}}}}"#,
            r#"{"volumeNodeAffinity": {"topology": {"aliases": {"old": "a", "old": "b"}}}}"#,
            r#"{"volumeNodeAffinity": {"judgeBy": "anynode"}}"#,
            r#"{"volumeNodeAffinity": {"whileInUse": "refuse"}}"#,
            r#"{"volumeNodeAffinity": {"requireSettledVolumeAttributes": "true"}}"#,
            r#"{"volumeNodeAffinity": {"strandedVolumes": 1}}"#,
            r#"{"volumeNodeAffinity": {"whenClusterUnreadable": "ignore"}}"#,
        ],
    ),
    (
        "volumeNodeAffinity.topology",
        &[
            r#"{"volumeNodeAffinity": {"topology": []}}"#,
            r#"{"volumeNodeAffinity": {"topology": {"regions": {}}}}"#,
            r#"{"volumeNodeAffinity": {"topology": {"zones": ["us-east1-b"]}}}"#,
            r#"{"volumeNodeAffinity": {"topology": {"zones": {"us-east1": "us-east1-b"}}}}"#,
            r#"{"volumeNodeAffinity": {"topology": {"zones": {"us-east1": [""]}}}}"#,
            r#"{"volumeNodeAffinity": {"topology": {"zones": {"us-east1": ["us east"]}}}}"#,
            r#"{"volumeNodeAffinity": {"topology": {"zones": {"us east": ["us-east1-b"]}}}}"#,
            r#"{"volumeNodeAffinity": {"topology": {"zones": {"us-east1": ["b"], "us-west1": ["a", "b"]}}}}"#,
            r#"{"volumeNodeAffinity": {"topology": {"aliases": {"old key": "new"}}}}"#,
            r#"{"volumeNodeAffinity": {"topology": {"aliases": {"old": "new key"}}}}"#,
            r#"{"volumeNodeAffinity": {"topology": {"aliases": {"old": ["new"]}}}}"#,
            r#"{"volumeNodeAffinity": {"topology": {"implications": {}}}}"#,
            r#"{"volumeNodeAffinity": {"topology": {"implications": [{}]}}}"#,
            r#"{"volumeNodeAffinity": {"topology": {"implications": [{"when": {}, "then": {}}]}}}"#,
            r#"{"volumeNodeAffinity": {"topology": {"implications": [{"then": {}}]}}}"#,
            r#"{"volumeNodeAffinity": {"topology": {"implications": [{"then": {"matchFields": []}}]}}}"#,
            r#"{"volumeNodeAffinity": {"topology": {"implications": [{"then": {"matchExpressions": [{"key": "a", "operator": "in", "values": ["x"]}]}}]}}}"#,
            r#"{"volumeNodeAffinity": {"topology": {"implications": [{"then": {"matchExpressions": [{"key": "a b", "operator": "Exists"}]}}]}}}"#,
            r#"{"volumeNodeAffinity": {"topology": {"implications": [{"then": {"matchExpressions": [{"key": "a", "operator": "In"}]}}]}}}"#,
            r#"{"volumeNodeAffinity": {"topology": {"implications": [{"then": {"matchExpressions": [{"key": "a", "operator": "Gt", "values": ["x"]}]}}]}}}"#,
            r#"{"volumeNodeAffinity": {"topology": {"implications": [{"then": {"matchExpressions": [{"key": "a", "operator": "In", "values": ["-x"]}]}}]}}}"#,
            r#"{"volumeNodeAffinity": {"topology": {"implications": [{"then": {"matchExpressions": [{"key": "a", "operator": "Exists", "effect": "x"}]}}]}}}"#,
            r#"{"volumeNodeAffinity": {"topology": {"implications": [{"then": {"matchExpressions": [{"key": "a", "operator": "Lt", "values": ["0"]}]}}]}}}"#,
            r#"{"volumeNodeAffinity": {"topology": {"implications": [{"then": {"matchExpressions": [{"key": "a", "operator": "Exists"}]}}, {"then": {"matchExpressions": [{"key": "a", "operator": "DoesNotExist"}]}}]}}}"#,
        ],
    ),
    (
        "tolerations",
        &[
            r#"{"tolerations": {"allow": []}}"#,
            r#"{"tolerations": {"allowed": {"key": "a"}}}"#,
            r#"{"tolerations": {"allowed": [{"key": "a", "operator": "Gte", "value": "1"}]}}"#,
            r#"{"tolerations": {"allowed": [{"operator": "Equal", "value": "1"}]}}"#,
            r#"{"tolerations": {"allowed": [{"key": "a", "operator": "Gt", "value": "05"}]}}"#,
            r#"{"tolerations": {"allowed": [{"key": "a", "operator": "Exists", "effect": "Never"}]}}"#,
            r#"{"tolerations": {"allowed": [{"key": "a", "operator": "Exists", "maxTolerationSeconds": -1}]}}"#,
            r#"{"tolerations": {"denied": [{"key": "a", "operator": "Exists", "maxTolerationSeconds": 1}]}}"#,
            r#"{"tolerations": {"standard": "yes"}}"#,
            r#"{"tolerations": {"numericOperators": "warn"}}"#,
        ],
    ),
    (
        "nodeTaints",
        &[
            r#"{"nodeTaints": {"numericKeys": ["a b"]}}"#,
            r#"{"nodeTaints": {"numericKeys": "failure-probability"}}"#,
            r#"{"nodeTaints": {"evictions": "always"}}"#,
            r#"{"nodeTaints": {"maxEvictions": -1}}"#,
            r#"{"nodeTaints": {"maxEvictions": 1.5}}"#,
        ],
    ),
    (
        "csiDriverTokens",
        &[
            r#"{"csiDriverTokens": {"audience": []}}"#,
            r#"{"csiDriverTokens": {"requireSecrets": "true"}}"#,
            r#"{"csiDriverTokens": {"requireRepublish": 1}}"#,
            r#"{"csiDriverTokens": {"audiences": {}}}"#,
            r#"{"csiDriverTokens": {"audiences": [{"allow": ["vault"]}]}}"#,
            r#"{"csiDriverTokens": {"audiences": [{"drivers": [], "allow": ["vault"]}]}}"#,
            r#"{"csiDriverTokens": {"audiences": [{"drivers": ["file?.csi.azure.com"], "allow": []}]}}"#,
            r#"{"csiDriverTokens": {"audiences": [{"drivers": ["*"]}]}}"#,
            r#"{"csiDriverTokens": {"audiences": [{"drivers": ["*"], "allow": [null]}]}}"#,
            r#"{"csiDriverTokens": {"audiences": [{"drivers": ["*"], "allow": [], "deny": []}]}}"#,
            r#"{"csiDriverTokens": {"expirationSeconds": 3600}}"#,
            r#"{"csiDriverTokens": {"expirationSeconds": {}}}"#,
            r#"{"csiDriverTokens": {"expirationSeconds": {"maximum": 3600}}}"#,
            r#"{"csiDriverTokens": {"expirationSeconds": {"max": 3600.5}}}"#,
            r#"{"csiDriverTokens": {"expirationSeconds": {"max": "3600"}}}"#,
            r#"{"csiDriverTokens": {"expirationSeconds": {"min": 599}}}"#,
            r#"{"csiDriverTokens": {"expirationSeconds": {"max": 4294967297}}}"#,
            r#"{"csiDriverTokens": {"expirationSeconds": {"max": 18446744073709551615}}}"#,
            r#"{"csiDriverTokens": {"expirationSeconds": {"min": 3601, "max": 3600}}}"#,
            r#"{"csiDriverTokens": {"apiServerAudiences": "https://kubernetes.default.svc"}}"#,
            r#"{"csiDriverTokens": {"apiServerAudiences": [443]}}"#,
            r#"{"csiDriverTokens": {"rollout": {"minKubelet": "1"}}}"#,
            r#"{"csiDriverTokens": {"rollout": {"nodePlugins": [{"driver": "d"}]}}}"#,
            r#"{"csiDriverTokens": {"whenClusterUnreadable": "warn"}}"#,
        ],
    ),
    (
        "accessModes",
        &[
            r#"{"accessModes": {"singleWriters": []}}"#,
            r#"{"accessModes": {"singleWriter": {"level": "require"}}}"#,
            r#"{"accessModes": {"singleWriter": ["require"]}}"#,
            r#"{"accessModes": {"singleWriter": [{}]}}"#,
            r#"{"accessModes": {"singleWriter": [{"level": "deny"}]}}"#,
            r#"{"accessModes": {"singleWriter": [{"level": true}]}}"#,
            r#"{"accessModes": {"singleWriter": [{"level": "require", "classes": ["*"]}]}}"#,
            r#"{"accessModes": {"singleWriter": [{"level": "require", "storageClasses": []}]}}"#,
            r#"{"accessModes": {"singleWriter": [{"level": "require", "storageClasses": "regional"}]}}"#,
            r#"{"accessModes": {"singleWriter": [{"level": "require", "storageClasses": ["Regional"]}]}}"#,
            r#"{"accessModes": {"singleWriter": [{"level": "require", "namespaces": [null]}]}}"#,
            r#"{"accessModes": {"singleWriter": [{"level": "require", "level": "prefer"}]}}"#,
            r#"{"accessModes": {"csiSidecars": []}}"#,
            r#"{"accessModes": {"whenClusterUnreadable": "warn"}}"#,
        ],
    ),
    (
        "localVolumes",
        &[
            r#"{"localVolumes": {"path": []}}"#,
            r#"{"localVolumes": {"pinned": "yes"}}"#,
            r#"{"localVolumes": {"pinned": true, "pinnedBy": []}}"#,
            r#"{"localVolumes": {"pinned": true, "pinnedBy": ["a b"]}}"#,
            r#"{"localVolumes": {"pinnedBy": ["kubernetes.io/hostname"]}}"#,
            r#"{"localVolumes": {"ownNodeOnly": 1}}"#,
            r#"{"localVolumes": {"paths": "/mnt/disks"}}"#,
            r#"{"localVolumes": {"paths": ["mnt/disks"]}}"#,
            r#"{"localVolumes": {"paths": ["/mnt/../etc"]}}"#,
            r#"{"localVolumes": {"hostPaths": ["/var/log"]}}"#,
            r#"{"localVolumes": {"hostPaths": [{}]}}"#,
            r#"{"localVolumes": {"hostPaths": [{"prefix": "var/log"}]}}"#,
            r#"{"localVolumes": {"hostPaths": [{"prefix": "/var/log", "readOnly": "yes"}]}}"#,
            r#"{"localVolumes": {"hostPaths": [{"prefix": "/var/log", "readonly": true}]}}"#,
            r#"{"localVolumes": {"waitForFirstConsumer": "true"}}"#,
            r#"{"localVolumes": {"missingNode": "always"}}"#,
            r#"{"localVolumes": {"overlap": true}}"#,
            r#"{"localVolumes": {"whenClusterUnreadable": "warn"}}"#,
        ],
    ),
];

#[test]
fn every_way_to_get_the_settings_wrong_is_told_in_a_sentence() {
    let mut told = String::new();
    for (about, settings) in BAD {
        told.push_str(&format!("# {about}\n"));
        for settings in *settings {
            let verdict: Value =
                serde_json::from_slice(&kubewarden::validate_settings(settings.as_bytes())).expect("an answer is JSON");
            let message = verdict["message"].as_str().unwrap_or_else(|| panic!("`{settings}` is valid"));
            assert_eq!(verdict["valid"], false, "{settings}");
            let place = message.strip_prefix("settings are not valid: ").and_then(|rest| rest.split_once(": "));
            assert!(place.is_some_and(|(path, problem)| !path.is_empty() && !problem.is_empty()), "{message}");
            assert!(!message.contains('\n') && message.len() < 400, "{message}");
            // The names of the reader's own types do not help the author of the settings.
            for foreign in ["serde", "ObjectVisitor", "invalid type", "Some(", "Option<"] {
                assert!(!message.contains(foreign), "{message}");
            }
            told.push_str(&format!("{settings}\n  {message}\n"));
        }
        told.push('\n');
    }
    for section in placement_guard::rules::settings::section_names() {
        let of_section = format!("  settings are not valid: {section}.");
        assert!(told.contains(&of_section), "nothing is told about `{section}`");
    }
    assert_golden(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/settings_messages.txt"), &told);
}
