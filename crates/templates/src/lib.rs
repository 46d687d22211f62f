//! What is generated from the types of the settings: their JSON Schema, and with the Rego in `policies/gatekeeper/rego/` the
//! ConstraintTemplates.

pub mod openapi;
pub mod schema;
pub mod template;

use std::path::{Path, PathBuf};

/// A rule as Gatekeeper knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// The section of the settings, which are the parameters of its constraints.
    pub section: &'static str,
    /// The name of its files.
    pub file: &'static str,
    /// The kind of its constraints.
    pub kind: &'static str,
    /// Whether it is about pods, wherever they stand.
    pub reads_pods: bool,
    /// What it is for, in a sentence.
    pub description: &'static str,
}

/// Every rule, in the order of the sections.
pub const RULES: [Rule; 6] = [
    Rule {
        section: "volumeNodeAffinity",
        file: "volume-node-affinity",
        kind: "PlacementGuardVolumeNodeAffinity",
        reads_pods: false,
        description: "Edits of node affinity or zone labels must not take a PersistentVolume away from nodes.",
    },
    Rule {
        section: "tolerations",
        file: "tolerations",
        kind: "PlacementGuardTolerations",
        reads_pods: true,
        description: "Pods may tolerate only the taints that they may, and only for so long.",
    },
    Rule {
        section: "nodeTaints",
        file: "node-taints",
        kind: "PlacementGuardNodeTaints",
        reads_pods: false,
        description: "Taints that are meant to be numbers must be numbers.",
    },
    Rule {
        section: "csiDriverTokens",
        file: "csi-driver-tokens",
        kind: "PlacementGuardCsiDriverTokens",
        reads_pods: false,
        description: "CSI drivers get service-account tokens in secrets, for the audiences and lifetimes that they may.",
    },
    Rule {
        section: "accessModes",
        file: "access-modes",
        kind: "PlacementGuardAccessModes",
        reads_pods: true,
        description: "One writer where one writer is meant, and ReadWriteOncePod only where it works.",
    },
    Rule {
        section: "localVolumes",
        file: "local-volumes",
        kind: "PlacementGuardLocalVolumes",
        reads_pods: true,
        description: "Local volumes stay on their nodes, and paths of nodes are given to pods only where they may be.",
    },
];

/// A path below `policies/gatekeeper/`.
pub fn file(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../policies/gatekeeper").join(path)
}

/// Reads a file below `policies/gatekeeper/`.
///
/// # Errors
/// Names the file.
pub fn read(path: &str) -> Result<String, String> {
    std::fs::read_to_string(file(path)).map_err(|error| format!("policies/gatekeeper/{path}: {error}"))
}
