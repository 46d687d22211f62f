//! The manifest under which a registry keeps a policy module: written as Kubewarden's own tool writes it, so that no tool
//! around it can tell the difference.

use std::collections::BTreeMap;

use oci_client::client::{Config, ImageLayer};
use oci_client::manifest::{OciDescriptor, OciImageManifest, WASM_CONFIG_MEDIA_TYPE, WASM_LAYER_MEDIA_TYPE};
use olpc_cjson::CanonicalFormatter;
use serde::{Deserialize, Serialize};
use serde_json::Serializer;

use crate::RegistryError;

/// The annotation from which registries read where the source is.
const IMAGE_SOURCE: &str = "org.opencontainers.image.source";
/// The annotation of the metadata that says the same.
const POLICY_SOURCE: &str = "io.kubewarden.policy.source";

/// The configuration of a policy: nothing.
pub(crate) const CONFIG: &[u8] = b"{}";

/// What of the module's metadata goes into the manifest. Other members are the policy server's business.
#[derive(Deserialize)]
struct Metadata {
    #[serde(default)]
    annotations: BTreeMap<String, String>,
}

/// The manifest of one module, ready to be sent.
pub(crate) struct Manifest {
    /// The bytes that are sent, and whose digest is the module's address.
    pub json: Vec<u8>,
    pub digest: String,
    pub module: OciDescriptor,
    pub config: OciDescriptor,
}

impl Manifest {
    /// Writes the manifest of an annotated module.
    pub fn of_module(module: &[u8]) -> Result<Self, RegistryError> {
        let section = package::read(module)?.ok_or(RegistryError::NotAnnotated)?;
        let metadata: Metadata = serde_json::from_slice(section).map_err(RegistryError::Metadata)?;
        let layer = ImageLayer::new(module.to_vec(), WASM_LAYER_MEDIA_TYPE.to_owned(), None);
        let config = Config::new(CONFIG, WASM_CONFIG_MEDIA_TYPE.to_owned(), None);
        let module = descriptor(WASM_LAYER_MEDIA_TYPE, layer.data.len(), layer.sha256_digest());
        let config = descriptor(WASM_CONFIG_MEDIA_TYPE, CONFIG.len(), config.sha256_digest());
        // Kubewarden leaves the manifest's own media type to the header of the request.
        let manifest = OciImageManifest {
            config: config.clone(),
            layers: vec![module.clone()],
            annotations: Some(annotations(metadata.annotations)),
            ..OciImageManifest::default()
        };
        let mut json = Vec::new();
        let mut serializer = Serializer::with_formatter(&mut json, CanonicalFormatter::new());
        manifest.serialize(&mut serializer).map_err(RegistryError::Metadata)?;
        let digest = ImageLayer::new(json.clone(), String::new(), None).sha256_digest();
        Ok(Manifest { json, digest, module, config })
    }
}

/// The digest of bytes, as registries write it.
pub(crate) fn digest_of(bytes: &[u8]) -> String {
    let digest = ring::digest::digest(&ring::digest::SHA256, bytes);
    digest.as_ref().iter().fold(String::from("sha256:"), |text, byte| format!("{text}{byte:02x}"))
}

pub(crate) fn descriptor(media_type: &str, size: usize, digest: String) -> OciDescriptor {
    let size = i64::try_from(size).unwrap_or(i64::MAX);
    OciDescriptor { media_type: media_type.to_owned(), digest, size, ..OciDescriptor::default() }
}

/// The annotations of the manifest: those of the metadata that fit on one line, which is all that a registry can show,
/// and the source once more under the name that registries know.
fn annotations(metadata: BTreeMap<String, String>) -> BTreeMap<String, String> {
    let of_one_line = metadata.into_iter().filter(|(_, value)| value.lines().count() <= 1);
    let mut annotations: BTreeMap<String, String> =
        of_one_line.map(|(key, value)| (key, value.trim().to_owned())).collect();
    if let Some(source) = annotations.get(POLICY_SOURCE).cloned() {
        annotations.entry(IMAGE_SOURCE.to_owned()).or_insert(source);
    }
    annotations
}

/// The one layer of a manifest, which is the module.
///
/// # Errors
/// A sentence that says what the manifest is instead.
pub(crate) fn module_layer(manifest: &[u8]) -> Result<OciDescriptor, String> {
    let manifest: OciImageManifest = serde_json::from_slice(manifest)
        .map_err(|error| format!("its manifest does not describe a single artifact: {error}"))?;
    match manifest.layers.as_slice() {
        [layer] if layer.media_type == WASM_LAYER_MEDIA_TYPE => Ok(layer.clone()),
        [layer] => Err(format!("its layer is `{}`; expected `{WASM_LAYER_MEDIA_TYPE}`", layer.media_type)),
        layers => Err(format!("it has {} layers; expected exactly one", layers.len())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map<const N: usize>(pairs: [(&str, &str); N]) -> BTreeMap<String, String> {
        pairs.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
    }

    #[test]
    fn annotations_of_several_lines_stay_out_and_the_others_are_trimmed() {
        let given = map([("usage", "first\nsecond"), ("description", "ends with a line end\n"), ("title", " guard ")]);
        assert_eq!(annotations(given), map([("description", "ends with a line end"), ("title", "guard")]));
    }

    #[test]
    fn the_source_stands_under_the_registries_name_too_unless_that_is_taken() {
        let source = ("io.kubewarden.policy.source", "https://example.com/guard");
        assert_eq!(annotations(map([source])), map([source, (IMAGE_SOURCE, "https://example.com/guard")]));
        let taken = map([source, (IMAGE_SOURCE, "https://example.org/fork")]);
        assert_eq!(annotations(taken.clone()), taken);
    }

    #[test]
    fn a_manifest_of_something_else_is_refused_with_what_it_is() {
        let digest = format!("sha256:{}", "0".repeat(64));
        let layer = |media_type: &str| format!(r#"{{"mediaType": "{media_type}", "digest": "{digest}", "size": 1}}"#);
        let manifest = |layers: &[String]| {
            let config = layer("application/vnd.oci.image.config.v1+json");
            format!(r#"{{"schemaVersion": 2, "config": {config}, "layers": [{}]}}"#, layers.join(", "))
        };
        let tar = layer("application/vnd.oci.image.layer.v1.tar");
        let wasm = layer(WASM_LAYER_MEDIA_TYPE);
        assert_eq!(module_layer(manifest(std::slice::from_ref(&wasm)).as_bytes()).map(|layer| layer.size), Ok(1));
        let cases = [
            (
                manifest(&[tar]),
                "its layer is `application/vnd.oci.image.layer.v1.tar`; expected \
                 `application/vnd.wasm.content.layer.v1+wasm`",
            ),
            (manifest(&[]), "it has 0 layers; expected exactly one"),
            (manifest(&[wasm.clone(), wasm]), "it has 2 layers; expected exactly one"),
            (
                String::from(r#"{"schemaVersion": 2, "manifests": []}"#),
                "its manifest does not describe a single artifact: missing field `config` at line 1 column 37",
            ),
        ];
        for (manifest, complaint) in cases {
            assert_eq!(
                module_layer(manifest.as_bytes()).map(|layer| layer.size),
                Err(complaint.to_owned()),
                "{manifest}"
            );
        }
    }
}
