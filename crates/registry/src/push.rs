//! Pushing: module first, name last.

use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{self, Stream};
use http::HeaderValue;
use oci_client::RegistryOperation;
use oci_client::errors::OciDistributionError;
use oci_client::manifest::OCI_IMAGE_MEDIA_TYPE;

use crate::connection::Connection;
use crate::key::SignKey;
use crate::manifest::{self, Manifest};
use crate::{Access, Progress, RegistryError, Transfer, signature};

/// How long a registry may be silent, which it is while the module goes up a slow line.
pub(crate) const PATIENCE: Duration = Duration::from_secs(600);

/// The chunks in which the module is sent, and progress is told.
const CHUNK: usize = 64 * 1024;

/// What was pushed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pushed {
    /// What was pushed, by digest, which cannot change any more.
    pub by_digest: String,
    /// The digest of the manifest.
    pub digest: String,
}

/// Pushes an annotated module to `HOST/REPOSITORY:TAG`.
///
/// The tag is set after everything else, so a push that fails leaves it where it was, or absent. With a key the module is
/// signed before the tag is set: a tag never leads to a module whose signature is still missing.
///
/// # Errors
/// Everything that keeps the module from being there under that tag, before the first byte is sent where that is possible.
pub fn push(
    module: &[u8],
    reference: &str,
    access: &Access,
    key: Option<&SignKey>,
    progress: &Progress,
) -> Result<Pushed, RegistryError> {
    let connection = to_tag(reference, access)?;
    let manifest = Manifest::of_module(module)?;
    let module = Bytes::copy_from_slice(module);
    connection.run(async |connection| {
        let location = &connection.location.reference;
        let client = connection.open(RegistryOperation::Push).await?;
        let sent = async {
            let chunks = in_chunks(&module, 0, length(&module), progress.clone());
            client.push_blob_stream(location, chunks, &manifest.module.digest, Some(length(&module))).await?;
            client.push_blob(location, manifest::CONFIG, &manifest.config.digest).await?;
            Ok(())
        };
        let failed = |error| connection.attempt("the module").failed(error);
        sent.await.map_err(failed)?;
        if let Some(key) = key {
            signature::sign(&client, connection, &manifest.digest, key).await?;
        }
        let named = client.push_manifest_raw(location, manifest.json, HeaderValue::from_static(OCI_IMAGE_MEDIA_TYPE));
        named.await.map_err(failed)?;
        Ok(Pushed { by_digest: connection.location.by_digest(&manifest.digest), digest: manifest.digest })
    })
}

/// The way to `HOST/REPOSITORY:TAG`, for a push: a digest is no place to push to.
pub(crate) fn to_tag(reference: &str, access: &Access) -> Result<Connection, RegistryError> {
    let connection = Connection::prepare("push", reference, access, PATIENCE)?;
    match connection.location.reference.digest() {
        Some(_) => Err(RegistryError::PushToDigest { reference: reference.to_owned() }),
        None => Ok(connection),
    }
}

/// A blob, chunk by chunk; each is counted when it is asked for, which is when the one before it is on its way. Of `total` bytes,
/// so many were sent before.
pub(crate) fn in_chunks(
    blob: &Bytes,
    before: u64,
    total: u64,
    progress: Progress,
) -> impl Stream<Item = Result<Bytes, OciDistributionError>> + Send + 'static {
    let (mut rest, end) = (blob.clone(), before.saturating_add(length(blob)));
    stream::iter(std::iter::from_fn(move || {
        let chunk = rest.split_to(CHUNK.min(rest.len()));
        progress(Transfer { done: end.saturating_sub(length(&rest)), total });
        (!chunk.is_empty()).then_some(Ok(chunk))
    }))
}

pub(crate) fn length(bytes: &Bytes) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}
