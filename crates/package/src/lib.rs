//! Writes the metadata that Kubewarden reads into a built policy module, where its own tool writes it: one custom section
//! after the code, and no name section.
//!
//! The policy server refuses a module without it. This crate does not run the module: that the protocol version stated here
//! is the one the module answers is a test of the built module.
//!
//! The listing for Artifact Hub is made of the same metadata.

mod artifact_hub;
mod metadata;
mod package;
mod section;

pub use artifact_hub::{NotListable, artifact_hub};
pub use metadata::{HostCapability, InvalidMetadata, Metadata, Operation};
pub use package::{NotPackaged, package};
pub use section::{NotAModule, PROTOCOL_VERSION, SECTION, annotate, read};
