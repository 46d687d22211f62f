//! The table of rules, and what is generated from the types of their settings: the JSON Schema, and with the Rego in
//! `policies/gatekeeper/rego/` the ConstraintTemplates; the page of the settings; the configuration of the plain webhook; and the
//! files of the Helm chart.

pub mod chart;
pub mod chart_values;
pub mod findings;
pub mod findings_page;
pub mod openapi;
pub mod reads;
pub mod rule_files;
pub mod schema;
pub mod settings_page;
pub mod template;
pub mod webhook;

use std::path::{Path, PathBuf};

use placement_guard::rules::finding::Code;

/// A rule, as every file that is not its code knows it. [`rule_files`] lists the files in which a rule must appear.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// The section of the settings, which are the parameters of its constraints.
    pub section: &'static str,
    /// The name of its files: the section in lower case, with dashes.
    pub file: &'static str,
    /// The kind of its constraints.
    pub kind: &'static str,
    /// The kinds that it judges, with their API groups, in addition to Pods and workloads.
    pub own_kinds: &'static [Kind],
    /// Whether it judges Pods and everything that has a pod template.
    pub reads_pods: bool,
    /// Whether it can do nothing without the cluster. Files for those who grant nothing leave it out.
    pub needs_cluster: bool,
    /// What it is for, in a sentence.
    pub description: &'static str,
}

/// The API group and the name of a kind.
pub type Kind = (&'static str, &'static str);

/// The kind that gives a pod its node. It is never stored, so it cannot be listed.
pub const BINDING: Kind = ("", "Binding");

/// Pods, and every kind with a pod template.
pub const PODS: [Kind; 9] = [
    ("", "Pod"),
    ("", "PodTemplate"),
    ("", "ReplicationController"),
    ("apps", "DaemonSet"),
    ("apps", "Deployment"),
    ("apps", "ReplicaSet"),
    ("apps", "StatefulSet"),
    ("batch", "CronJob"),
    ("batch", "Job"),
];

/// Every rule, in the order of the sections.
pub const RULES: [Rule; 7] = [
    Rule {
        section: "volumeNodeAffinity",
        file: "volume-node-affinity",
        kind: "PlacementGuardVolumeNodeAffinity",
        own_kinds: &[("", "PersistentVolume")],
        reads_pods: false,
        needs_cluster: false,
        description: "Edits of node affinity or zone labels must not take a PersistentVolume away from nodes.",
    },
    Rule {
        section: "tolerations",
        file: "tolerations",
        kind: "PlacementGuardTolerations",
        own_kinds: &[],
        reads_pods: true,
        needs_cluster: false,
        description: "Pods may tolerate only the taints that the settings allow, and for no longer.",
    },
    Rule {
        section: "nodeTaints",
        file: "node-taints",
        kind: "PlacementGuardNodeTaints",
        own_kinds: &[("", "Node")],
        reads_pods: false,
        needs_cluster: false,
        description: "Taints that should be numeric must be numbers.",
    },
    Rule {
        section: "csiDriverTokens",
        file: "csi-driver-tokens",
        kind: "PlacementGuardCsiDriverTokens",
        own_kinds: &[("storage.k8s.io", "CSIDriver")],
        reads_pods: false,
        needs_cluster: false,
        description: "CSI drivers get service-account tokens in secrets, for allowed audiences and lifetimes only.",
    },
    Rule {
        section: "accessModes",
        file: "access-modes",
        kind: "PlacementGuardAccessModes",
        own_kinds: &[("", "PersistentVolume"), ("", "PersistentVolumeClaim")],
        reads_pods: true,
        needs_cluster: false,
        description: "One writer where only one pod should write, and ReadWriteOncePod only where it works.",
    },
    Rule {
        section: "localVolumes",
        file: "local-volumes",
        kind: "PlacementGuardLocalVolumes",
        own_kinds: &[("", "PersistentVolume"), ("storage.k8s.io", "StorageClass")],
        reads_pods: true,
        needs_cluster: false,
        description: "Local volumes stay on their nodes, and pods use only allowed paths of nodes.",
    },
    Rule {
        section: "volumeBinding",
        file: "volume-binding",
        kind: "PlacementGuardVolumeBinding",
        own_kinds: &[BINDING, ("", "Pod")],
        reads_pods: false,
        needs_cluster: true,
        description: "Pods get only nodes from which they can reach their volumes.",
    },
];

impl Rule {
    /// The kinds that it judges.
    pub fn kinds(&self) -> impl Iterator<Item = Kind> {
        let pods: &[Kind] = if self.reads_pods { &PODS } else { &[] };
        self.own_kinds.iter().chain(pods).copied()
    }

    /// The codes of everything that it can find, in report order.
    pub fn codes(&self) -> impl Iterator<Item = Code> {
        let section = self.section;
        Code::ALL.iter().copied().filter(move |code| code.section() == Some(section))
    }
}

/// The repository.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A path below `policies/gatekeeper/`.
pub fn file(path: &str) -> PathBuf {
    repository().join("policies/gatekeeper").join(path)
}

/// Reads a file below `policies/gatekeeper/`.
///
/// # Errors
/// Names the file.
pub fn read(path: &str) -> Result<String, String> {
    std::fs::read_to_string(file(path)).map_err(|error| format!("policies/gatekeeper/{path}: {error}"))
}
