//! Signatures of modules, in the form of `cosign sign --key`: a manifest at the tag `sha256-….sig` of the same repository,
//! with a layer for each signature. The layer holds what was signed (the digest of the module's manifest), and an annotation
//! of the layer holds the signature. Transparency logs and certificates play no part: the caller names the key.
//!
//! Follows cosign's `SIGNATURE_SPEC.md`.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::HeaderValue;
use oci_client::client::ImageLayer;
use oci_client::manifest::{OCI_IMAGE_MEDIA_TYPE, OciDescriptor, OciImageManifest};
use oci_client::{Client, Reference};
use serde::{Deserialize, Serialize};

use crate::RegistryError;
use crate::connection::Connection;
use crate::key::{SignKey, VerifyKey};
use crate::manifest::descriptor;

/// The media type of what was signed.
const SIMPLE_SIGNING: &str = "application/vnd.dev.cosign.simplesigning.v1+json";
/// The annotation that holds the signature, in base64.
const SIGNATURE: &str = "dev.cosignproject.cosign/signature";
/// The type that cosign writes, whatever kind of artefact was signed.
const TYPE: &str = "cosign container image signature";
const CONFIG_MEDIA_TYPE: &str = "application/vnd.oci.image.config.v1+json";
/// The configuration of a manifest that is not an image.
const CONFIG: &[u8] = b"{}";

/// The most bytes of what was signed, and the most signatures that are looked at.
const MOST_BYTES: i64 = 64 * 1024;
const MOST_SIGNATURES: usize = 100;

/// What is signed.
#[derive(Serialize, Deserialize)]
struct Payload {
    critical: Critical,
    optional: Option<BTreeMap<String, serde_json::Value>>,
}

#[derive(Serialize, Deserialize)]
struct Critical {
    identity: Identity,
    image: Image,
    #[serde(rename = "type")]
    kind: String,
}

#[derive(Serialize, Deserialize)]
struct Identity {
    #[serde(rename = "docker-reference")]
    docker_reference: String,
}

#[derive(Serialize, Deserialize)]
struct Image {
    #[serde(rename = "docker-manifest-digest")]
    docker_manifest_digest: String,
}

/// Where the signatures of a manifest are.
fn location_of_signatures(module: &Reference, digest: &str) -> Reference {
    let tag = format!("{}.sig", digest.replace(':', "-"));
    Reference::with_tag(module.registry().to_owned(), module.repository().to_owned(), tag)
}

/// Signs the manifest of this digest, in addition to the signatures that it has.
pub(crate) async fn sign(
    client: &Client,
    connection: &Connection,
    digest: &str,
    key: &SignKey,
) -> Result<(), RegistryError> {
    let module = &connection.location.reference;
    let attempt = connection.attempt("the signature");
    let signatures = location_of_signatures(module, digest);
    let payload = Payload {
        critical: Critical {
            identity: Identity { docker_reference: format!("{}/{}", module.registry(), module.repository()) },
            image: Image { docker_manifest_digest: digest.to_owned() },
            kind: TYPE.to_owned(),
        },
        optional: None,
    };
    let payload = serde_json::to_vec(&payload).map_err(RegistryError::Metadata)?;
    let signature = STANDARD.encode(key.sign(&payload)?);
    let digest_of = |bytes: &[u8]| ImageLayer::new(bytes.to_vec(), String::new(), None).sha256_digest();
    let mut layer = descriptor(SIMPLE_SIGNING, payload.len(), digest_of(&payload));
    layer.annotations = Some(BTreeMap::from([(SIGNATURE.to_owned(), signature)]));
    let config = descriptor(CONFIG_MEDIA_TYPE, CONFIG.len(), digest_of(CONFIG));
    let mut layers = match client.pull_manifest_raw(&signatures, &connection.credentials.auth, &ACCEPTED).await {
        Ok((manifest, _)) => read(&manifest).map_err(|reason| attempt.no_policy(reason))?.layers,
        Err(error) => match attempt.failed(error) {
            RegistryError::NotFound { .. } => Vec::new(),
            other => return Err(other),
        },
    };
    layers.push(layer.clone());
    let manifest = OciImageManifest {
        media_type: Some(OCI_IMAGE_MEDIA_TYPE.to_owned()),
        config: config.clone(),
        layers,
        ..OciImageManifest::default()
    };
    let manifest = serde_json::to_vec(&manifest).map_err(RegistryError::Metadata)?;
    let sent = async {
        client.push_blob(&signatures, Bytes::from(payload), &layer.digest).await?;
        client.push_blob(&signatures, CONFIG, &config.digest).await?;
        client.push_manifest_raw(&signatures, manifest, HeaderValue::from_static(OCI_IMAGE_MEDIA_TYPE)).await
    };
    sent.await.map(|_| ()).map_err(|error| attempt.failed(error))
}

const ACCEPTED: [&str; 1] = [OCI_IMAGE_MEDIA_TYPE];

fn read(manifest: &[u8]) -> Result<OciImageManifest, String> {
    serde_json::from_slice(manifest).map_err(|error| format!("the manifest of its signatures cannot be read: {error}"))
}

/// Fails unless one of the signatures of the manifest of this digest is the key's.
pub(crate) async fn verify(
    client: &Client,
    connection: &Connection,
    digest: &str,
    key: &VerifyKey,
) -> Result<(), RegistryError> {
    let attempt = connection.attempt("the signature");
    let unsigned = |reason: String| RegistryError::NotSigned {
        reference: connection.location.by_digest(digest),
        key: key.file.clone(),
        reason,
    };
    let signatures = location_of_signatures(&connection.location.reference, digest);
    let manifest = match client.pull_manifest_raw(&signatures, &connection.credentials.auth, &ACCEPTED).await {
        Ok((manifest, _)) => read(&manifest).map_err(unsigned)?,
        Err(error) => {
            return Err(match attempt.failed(error) {
                RegistryError::NotFound { .. } => unsigned(format!("`{}` is not in the registry", signatures.whole())),
                other => other,
            });
        }
    };
    let layers: Vec<&OciDescriptor> =
        manifest.layers.iter().filter(|layer| layer.media_type == SIMPLE_SIGNING).take(MOST_SIGNATURES).collect();
    for layer in &layers {
        let encoded = layer.annotations.as_ref().and_then(|annotations| annotations.get(SIGNATURE));
        let Some(signature) = encoded.and_then(|encoded| STANDARD.decode(encoded).ok()) else { continue };
        if layer.size > MOST_BYTES {
            continue;
        }
        let mut payload = Vec::new();
        client.pull_blob(&signatures, *layer, &mut payload).await.map_err(|error| attempt.failed(error))?;
        if key.verifies(&payload, &signature) && signs(&payload, digest) {
            return Ok(());
        }
    }
    Err(unsigned(format!("none of its signatures ({}) was made with this key for this module", layers.len())))
}

/// Whether what was signed is the manifest of this digest.
fn signs(payload: &[u8], digest: &str) -> bool {
    serde_json::from_slice::<Payload>(payload)
        .is_ok_and(|payload| payload.critical.kind == TYPE && payload.critical.image.docker_manifest_digest == digest)
}
