//! Pulling: only bytes that match their digest are returned.

use std::time::Duration;

use futures_util::TryStreamExt;
use oci_client::RegistryOperation;
use oci_client::manifest::{IMAGE_MANIFEST_MEDIA_TYPE, OCI_IMAGE_MEDIA_TYPE};

use crate::connection::Connection;
use crate::key::VerifyKey;
use crate::manifest::module_layer;
use crate::{Access, Progress, RegistryError, Transfer, signature};

/// How long a registry may be silent.
const PATIENCE: Duration = Duration::from_secs(60);

/// More than the largest policies that are known, and less than what a registry could make a machine's memory hold.
const MOST_BYTES: u64 = 256 * 1024 * 1024;

/// What was pulled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pulled {
    pub module: Vec<u8>,
    /// The module by digest: the same bytes for ever, whatever becomes of the tag.
    pub by_digest: String,
    /// The digest of the manifest.
    pub digest: String,
}

/// What a module must prove before it is used.
#[derive(Debug, Clone, Copy, Default)]
pub struct Trust<'k> {
    /// The reference must name a digest, so that a person who can move a tag cannot choose the module.
    pub digest_required: bool,
    /// The module must be signed with this key.
    pub key: Option<&'k VerifyKey>,
}

/// Pulls the module at `HOST/REPOSITORY:TAG` or `HOST/REPOSITORY@DIGEST`. The manifest must have the digest that was asked
/// for, or that the registry states for the tag, and the module the digest that the manifest states.
///
/// # Errors
/// Everything that keeps the bytes from being exactly those.
pub fn pull(reference: &str, access: &Access, trust: Trust<'_>, progress: &Progress) -> Result<Pulled, RegistryError> {
    let connection = Connection::prepare("pull", reference, access, PATIENCE)?;
    connection.run(async |connection| {
        let location = &connection.location.reference;
        let client = connection.open(RegistryOperation::Pull).await?;
        let attempt = connection.attempt("the manifest");
        let accepted = [OCI_IMAGE_MEDIA_TYPE, IMAGE_MANIFEST_MEDIA_TYPE];
        let manifest = client.pull_manifest_raw(location, &connection.credentials.auth, &accepted).await;
        let (manifest, digest) = manifest.map_err(|error| attempt.failed(error))?;
        if trust.digest_required && location.digest().is_none() {
            let by_digest = connection.location.by_digest(&digest);
            return Err(RegistryError::NoDigest { reference: reference.to_owned(), by_digest });
        }
        if let Some(key) = trust.key {
            signature::verify(&client, connection, &digest, key).await?;
        }
        let layer = module_layer(&manifest).map_err(|reason| attempt.no_policy(reason))?;
        let total = u64::try_from(layer.size).unwrap_or_default();
        if total > MOST_BYTES {
            return Err(attempt.no_policy(format!("it has {total} bytes; at most {MOST_BYTES} are allowed")));
        }
        let attempt = connection.attempt("the module");
        let chunks = client.pull_blob_stream(location, &layer).await;
        let mut chunks = chunks.map_err(|error| attempt.failed(error))?.stream;
        let mut module = Vec::new();
        while let Some(chunk) = chunks.try_next().await.map_err(|error| attempt.broken(&error))? {
            module.extend_from_slice(&chunk);
            let done = u64::try_from(module.len()).unwrap_or(u64::MAX);
            if done > total {
                return Err(attempt
                    .no_policy(format!("the registry sends more than the {total} bytes that its manifest states")));
            }
            progress(Transfer { done, total });
        }
        Ok(Pulled { module, by_digest: connection.location.by_digest(&digest), digest })
    })
}
