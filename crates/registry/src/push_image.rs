//! Pushing an image: what it is made of first, then what refers to it, and its name last.

use bytes::Bytes;
use http::HeaderValue;
use oci_client::errors::OciDistributionError;
use oci_client::manifest::{ImageIndexEntry, OCI_IMAGE_INDEX_MEDIA_TYPE, OciDescriptor, OciImageIndex};
use oci_client::{Client, Reference, RegistryOperation};

use crate::key::SignKey;
use crate::layout::{Blob, Layout, Referrer};
use crate::push::{Pushed, in_chunks, length, to_tag};
use crate::{Access, Progress, RegistryError, signature};

/// Pushes an image, with what refers to it, to `HOST/REPOSITORY:TAG`.
///
/// The tag is set after everything else, so a push that fails leaves it where it was, or absent. A registry that does not list
/// referrers itself gets them under the tag that OCI's distribution specification reserves for this.
///
/// # Errors
/// Everything that keeps the image from being there under that tag.
pub fn push_image(
    layout: &Layout,
    reference: &str,
    access: &Access,
    key: Option<&SignKey>,
    progress: &Progress,
) -> Result<Pushed, RegistryError> {
    let connection = to_tag(reference, access)?;
    connection.run(async |connection| {
        let location = &connection.location.reference;
        let client = connection.open(RegistryOperation::Push).await?;
        let failed = |error| connection.attempt("the image").failed(error);
        let sent = async {
            let (mut sent, total) = (0_u64, layout.bytes());
            for Blob { descriptor, bytes } in &layout.blobs {
                let chunks = in_chunks(bytes, sent, total, progress.clone());
                client.push_blob_stream(location, chunks, &descriptor.digest, Some(length(bytes))).await?;
                sent = sent.saturating_add(length(bytes));
            }
            let of_referrers = layout.referrers.iter().map(|referrer| &referrer.manifest);
            for manifest in layout.platforms.iter().chain(of_referrers) {
                put(&client, &named(location, &manifest.descriptor.digest), manifest).await?;
            }
            for referrer in &layout.referrers {
                list(&client, location, referrer).await?;
            }
            Ok(())
        };
        sent.await.map_err(failed)?;
        let digest = &layout.image.descriptor.digest;
        if let Some(key) = key {
            signature::sign(&client, connection, digest, key).await?;
        }
        put(&client, location, &layout.image).await.map_err(failed)?;
        Ok(Pushed { by_digest: connection.location.by_digest(digest), digest: digest.clone() })
    })
}

/// The same repository with this tag. A digest goes in its place too: the request is the same, and the client can name it
/// where a registry forgets to say where the manifest is now.
fn named(location: &Reference, tag: &str) -> Reference {
    Reference::with_tag(location.registry().to_owned(), location.repository().to_owned(), tag.to_owned())
}

async fn put(client: &Client, place: &Reference, manifest: &Blob) -> Result<(), OciDistributionError> {
    let Blob { descriptor: OciDescriptor { media_type, .. }, bytes } = manifest;
    let media_type = HeaderValue::from_str(media_type)
        .map_err(|error| OciDistributionError::GenericError(Some(error.to_string())))?;
    client.push_manifest_raw(place, bytes.clone(), media_type).await.map(|_place| ())
}

/// Makes sure that a manifest is among the referrers of its subject.
async fn list(client: &Client, location: &Reference, referrer: &Referrer) -> Result<(), OciDistributionError> {
    let Referrer { manifest, subject, artifact_type } = referrer;
    let (registry, repository) = (location.registry().to_owned(), location.repository().to_owned());
    let of_subject = Reference::with_digest(registry, repository, subject.clone());
    let mut known: OciImageIndex = client.pull_referrers(&of_subject, None).await?;
    let OciDescriptor { media_type, digest, size, annotations, .. } = manifest.descriptor.clone();
    if known.manifests.iter().any(|entry| entry.digest == digest) {
        return Ok(());
    }
    let artifact_type = artifact_type.clone();
    known.manifests.push(ImageIndexEntry { media_type, digest, size, platform: None, annotations, artifact_type });
    known.media_type = Some(OCI_IMAGE_INDEX_MEDIA_TYPE.to_owned());
    let json =
        serde_json::to_vec(&known).map_err(|error| OciDistributionError::ManifestParsingError(error.to_string()))?;
    let index = HeaderValue::from_static(OCI_IMAGE_INDEX_MEDIA_TYPE);
    let tag = named(location, &subject.replace(':', "-"));
    client.push_manifest_raw(&tag, Bytes::from(json), index).await.map(|_place| ())
}
