//! Reads: objects into the terms of [`crate::logic`], with a field path on every complaint. The semantics here are those
//! of Kubernetes' own code, which each file names; nothing here decides whether a change is acceptable.

pub mod field;
pub mod node_selector;
pub mod pod;
pub mod request;
pub mod toleration;
pub mod volume;
