//! Reads: objects into the terms of [`crate::logic`], with a field path on every complaint. The semantics here are those
//! of Kubernetes' own code, which each file names; nothing here decides whether a change is acceptable.

pub mod affinity;
pub mod claim;
pub mod csi_driver;
pub mod csi_translation;
pub mod field;
pub mod host_path;
pub mod image;
pub mod kind;
pub mod listing;
pub mod mirror_pod;
pub mod names;
pub mod node_selector;
pub mod owner;
pub mod paths;
pub mod picked;
pub mod pod;
pub mod pod_claims;
pub mod pod_nodes;
pub mod reach;
pub mod request;
pub mod storage_class;
pub mod toleration;
pub mod version;
pub mod volume;
pub mod volume_source;
pub mod zone_labels;
