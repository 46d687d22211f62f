//! Pushes policy modules to OCI registries and pulls them back, in the form that Kubewarden's tools write and its policy
//! server reads; and pushes images that lie in an OCI layout.
//!
//! The protocol is [`oci_client`]'s, the credentials are those that `docker login` wrote. What is decided here: what the
//! manifest says (`manifest.rs`), in which order things are pushed, that nothing is handed out whose digest does not match,
//! and what a person is told when it fails ([`RegistryError`]).
//!
//! Every function blocks until it is done, also when it is called from asynchronous code.

mod access;
mod attempt;
mod connection;
mod error;
mod key;
mod layout;
mod location;
mod manifest;
mod pull;
mod push;
mod push_image;
mod signature;

use std::sync::Arc;

pub use access::Access;
pub use error::RegistryError;
pub use key::{SignKey, VerifyKey};
pub use layout::Layout;
pub use pull::{Pulled, Trust, pull};
pub use push::{Pushed, push};
pub use push_image::push_image;

/// How far the bytes of a module or an image are on their way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transfer {
    pub done: u64,
    pub total: u64,
}

/// Told of every chunk that was sent or has come, the last time with `done` equal to `total`. It is called
/// from another thread.
pub type Progress = Arc<dyn Fn(Transfer) + Send + Sync>;

/// For callers that do not watch the progress.
pub fn unwatched() -> Progress {
    Arc::new(|_| ())
}
