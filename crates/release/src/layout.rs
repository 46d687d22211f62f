//! An OCI image layout on its way to a folder: blobs by digest, manifests, and the index of what is in it.
//!
//! Follows version 1.1 of OCI's image specification.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use crate::Problem;
use crate::digest::sha256;

pub const INDEX: &str = "application/vnd.oci.image.index.v1+json";
pub const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
pub const CONFIG: &str = "application/vnd.oci.image.config.v1+json";
pub const LAYER: &str = "application/vnd.oci.image.layer.v1.tar+gzip";
/// The configuration of a manifest that needs none.
pub const EMPTY: &str = "application/vnd.oci.empty.v1+json";

/// What a folder will hold.
#[derive(Default)]
pub struct Layout {
    /// By digest, without its algorithm.
    blobs: BTreeMap<String, Vec<u8>>,
    /// The descriptors of `index.json`.
    entries: Vec<Value>,
}

impl Layout {
    /// Takes a blob, and describes it.
    pub fn blob(&mut self, media_type: &str, bytes: Vec<u8>) -> Value {
        let hex = sha256(&bytes);
        let descriptor = json!({"digest": format!("sha256:{hex}"), "mediaType": media_type, "size": bytes.len()});
        self.blobs.insert(hex, bytes);
        descriptor
    }

    /// Takes a document as a blob, and describes it.
    pub fn document(&mut self, media_type: &str, document: &Value) -> Value {
        self.blob(media_type, document.to_string().into_bytes())
    }

    /// Names something in `index.json`.
    pub fn name(&mut self, descriptor: Value) {
        self.entries.push(descriptor);
    }

    /// Writes the folder, in place of what was there.
    ///
    /// # Errors
    /// What cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), Problem> {
        let blobs = folder.join("blobs/sha256");
        if folder.exists() {
            std::fs::remove_dir_all(folder).map_err(Problem::with(folder))?;
        }
        std::fs::create_dir_all(&blobs).map_err(Problem::with(&blobs))?;
        let write = |file: &Path, bytes: &[u8]| std::fs::write(file, bytes).map_err(Problem::with(file));
        for (hex, bytes) in &self.blobs {
            write(&blobs.join(hex), bytes)?;
        }
        let index = json!({"manifests": self.entries, "mediaType": INDEX, "schemaVersion": 2});
        write(&folder.join("index.json"), index.to_string().as_bytes())?;
        write(&folder.join("oci-layout"), json!({"imageLayoutVersion": "1.0.0"}).to_string().as_bytes())
    }
}

/// A descriptor with one more member.
pub fn with(mut descriptor: Value, member: &str, value: Value) -> Value {
    if let Some(members) = descriptor.as_object_mut() {
        members.insert(member.to_owned(), value);
    }
    descriptor
}
