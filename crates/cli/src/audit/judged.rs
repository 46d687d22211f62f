//! The kinds of objects that rules judge.

use crate::cluster::Listed;
use crate::coverage::Coverage;

const fn listed(api_version: &'static str, kind: &'static str, plural: &'static str) -> Listed {
    Listed { api_version, kind, plural }
}

const NODES: Listed = listed("v1", "Node", "nodes");
const VOLUMES: Listed = listed("v1", "PersistentVolume", "persistentvolumes");
const CLAIMS: Listed = listed("v1", "PersistentVolumeClaim", "persistentvolumeclaims");
const CLASSES: Listed = listed("storage.k8s.io/v1", "StorageClass", "storageclasses");
const DRIVERS: Listed = listed("storage.k8s.io/v1", "CSIDriver", "csidrivers");

/// Pods, and what carries a pod template.
const WORKLOADS: [Listed; 9] = [
    listed("v1", "Pod", "pods"),
    listed("v1", "PodTemplate", "podtemplates"),
    listed("v1", "ReplicationController", "replicationcontrollers"),
    listed("apps/v1", "Deployment", "deployments"),
    listed("apps/v1", "ReplicaSet", "replicasets"),
    listed("apps/v1", "StatefulSet", "statefulsets"),
    listed("apps/v1", "DaemonSet", "daemonsets"),
    listed("batch/v1", "Job", "jobs"),
    listed("batch/v1", "CronJob", "cronjobs"),
];

/// What the sections of these settings judge, each once, what belongs to no namespace first.
pub fn by<'s>(settings: impl Iterator<Item = &'s str>) -> Vec<Listed> {
    let sets: Vec<Coverage> = settings.map(Coverage::of).collect();
    let all = [NODES, VOLUMES, CLASSES, DRIVERS, CLAIMS].into_iter().chain(WORKLOADS);
    all.filter(|listed| sets.iter().any(|set| set.includes(listed.group(), listed.kind))).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::restriction)]

    use std::collections::BTreeSet;
    use std::path::Path;

    use placement_guard::rules::settings::section_names;
    use serde_json::{Value, json};

    use super::*;

    /// A policy of Kubewarden names the resources whose requests it is sent.
    #[test]
    fn a_section_judges_what_the_policy_of_its_rule_is_sent() {
        for section in section_names() {
            let file = section.chars().fold(String::new(), |name, letter| match letter {
                'A'..='Z' => format!("{name}-{}", letter.to_ascii_lowercase()),
                _ => format!("{name}{letter}"),
            });
            let path = format!("../../policies/kubewarden/{file}.yaml");
            let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
            let policy: Value = serde_saphyr::from_str(&text).unwrap();
            let texts = |value: &Value| -> Vec<String> {
                value.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
            };
            let mut sent = BTreeSet::new();
            for rule in policy["spec"]["rules"].as_array().unwrap() {
                for group in texts(&rule["apiGroups"]) {
                    let resources = texts(&rule["resources"]).into_iter().filter(|name| !name.contains('/'));
                    sent.extend(resources.map(|resource| (group.clone(), resource)));
                }
            }
            // Bindings are not stored, so they cannot be listed.
            sent.remove(&(String::new(), String::from("bindings")));
            let settings = json!({section: {}}).to_string();
            let judged = by([settings.as_str()].into_iter());
            let judged: BTreeSet<_> =
                judged.iter().map(|listed| (listed.group().to_owned(), listed.plural.to_owned())).collect();
            assert_eq!(judged, sent, "{section}");
        }
    }

    #[test]
    fn a_kind_is_listed_once() {
        let sections: serde_json::Map<_, _> = section_names().map(|name| (name.to_owned(), json!({}))).collect();
        assert_eq!(by([Value::Object(sections).to_string().as_str()].into_iter()).len(), 14);
        let sets = [r#"{"nodeTaints":null,"volumeNodeAffinity":{}}"#, r#"{"volumeNodeAffinity":{}}"#];
        assert_eq!(by(sets.into_iter()), [VOLUMES]);
        assert_eq!(by([sets[0], r#"{"nodeTaints":{}}"#].into_iter()), [NODES, VOLUMES]);
    }
}
