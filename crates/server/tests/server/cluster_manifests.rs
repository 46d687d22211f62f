//! The permissions that the manifests give the server: those that it uses, for every kind that it can read, and no other.

use std::collections::{BTreeMap, BTreeSet};

use placement_guard::kubernetes::kind::Kind;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Rule {
    api_groups: Vec<String>,
    resources: Vec<String>,
    verbs: Vec<String>,
}

/// The objects of a manifest, by kind.
fn manifest(face: &str) -> BTreeMap<String, Value> {
    let path = format!("{}/../../policies/{face}/cluster-reader.yaml", env!("CARGO_MANIFEST_DIR"));
    let objects: Vec<Value> = serde_saphyr::from_multiple(&std::fs::read_to_string(path).unwrap()).unwrap();
    objects.into_iter().map(|object| (object["kind"].as_str().unwrap().to_owned(), object)).collect()
}

#[test]
fn the_manifests_grant_what_is_read_and_nothing_else() {
    let needed: BTreeSet<(String, String)> =
        Kind::ALL.into_iter().map(|kind| (kind.group().to_owned(), kind.resource().to_owned())).collect();
    for (face, namespace) in [("webhook", "placement-guard"), ("gatekeeper", "gatekeeper-system")] {
        let objects = manifest(face);
        let role = &objects["ClusterRole"];
        let rules: Vec<Rule> = serde_json::from_value(role["rules"].clone()).unwrap();
        let mut granted = BTreeSet::new();
        for Rule { api_groups, resources, verbs } in rules {
            // Each rule is for one kind, so that it can be removed alone.
            assert_eq!((api_groups.len(), resources.len()), (1, 1), "{face}: {resources:?}");
            assert_eq!(verbs, ["get", "list", "watch"], "{face}: {resources:?}");
            granted.insert((api_groups[0].clone(), resources[0].clone()));
        }
        assert_eq!(granted, needed, "{face}");
        let binding = &objects["ClusterRoleBinding"];
        assert_eq!(binding["roleRef"]["name"], role["metadata"]["name"]);
        let subject = json!([{"kind": "ServiceAccount", "name": "placement-guard", "namespace": namespace}]);
        assert_eq!(binding["subjects"], subject, "{face}");
    }
    let account = &manifest("gatekeeper")["ServiceAccount"]["metadata"];
    assert_eq!((&account["name"], &account["namespace"]), (&json!("placement-guard"), &json!("gatekeeper-system")));
}
