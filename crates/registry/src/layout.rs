//! An OCI image layout: a folder with one image and with what refers to it, such as its bill of materials. Nothing of it is
//! used before its size and its digest are checked.
//!
//! Follows the image-layout page of OCI's image specification, version 1.1.

use std::path::{Path, PathBuf};

use bytes::Bytes;
use oci_client::manifest::{OCI_IMAGE_INDEX_MEDIA_TYPE, OCI_IMAGE_MEDIA_TYPE, OciDescriptor, OciImageManifest};
use serde::Deserialize;

use crate::RegistryError;
use crate::manifest::digest_of;

/// The file that marks such a folder.
const MARK: &str = "oci-layout";

/// Indexes in indexes, at most; an image for several platforms needs one below `index.json`.
const DEPTH: usize = 2;

/// What a registry keeps under a digest.
#[derive(Debug, Clone)]
pub(crate) struct Blob {
    pub descriptor: OciDescriptor,
    pub bytes: Bytes,
}

/// A manifest that refers to another one.
#[derive(Debug, Clone)]
pub(crate) struct Referrer {
    pub manifest: Blob,
    /// The digest of the manifest that it refers to.
    pub subject: String,
    pub artifact_type: Option<String>,
}

/// An image that can be pushed.
#[derive(Debug)]
pub struct Layout {
    /// Configurations, layers, and what else manifests name.
    pub(crate) blobs: Vec<Blob>,
    /// The manifests of the platforms, of an image that has several.
    pub(crate) platforms: Vec<Blob>,
    pub(crate) referrers: Vec<Referrer>,
    /// The manifest that the tag will name, or the index of those of the platforms.
    pub(crate) image: Blob,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Mark {
    image_layout_version: String,
}

#[derive(Deserialize)]
struct Index {
    manifests: Vec<OciDescriptor>,
}

impl Layout {
    /// Whether a path leads to such a folder.
    pub fn is_at(path: &Path) -> bool {
        path.join(MARK).is_file()
    }

    /// Reads the folder.
    ///
    /// # Errors
    /// What of it is missing, or is not what it should be.
    pub fn read(folder: &Path) -> Result<Self, RegistryError> {
        Reading { folder, blobs: Vec::new(), platforms: Vec::new(), referrers: Vec::new(), images: Vec::new() }
            .run()
            .map_err(|reason| RegistryError::Layout { folder: folder.to_owned(), reason })
    }

    /// How many bytes its blobs have, without the manifests.
    pub(crate) fn bytes(&self) -> u64 {
        self.blobs.iter().map(|blob| u64::try_from(blob.bytes.len()).unwrap_or(u64::MAX)).fold(0, u64::saturating_add)
    }
}

struct Reading<'f> {
    folder: &'f Path,
    blobs: Vec<Blob>,
    platforms: Vec<Blob>,
    referrers: Vec<Referrer>,
    images: Vec<Blob>,
}

impl Reading<'_> {
    fn run(mut self) -> Result<Layout, String> {
        let Mark { image_layout_version } = parsed(MARK, &self.file(Path::new(MARK))?)?;
        if image_layout_version != "1.0.0" {
            return Err(format!("its layout has version `{image_layout_version}`; expected `1.0.0`"));
        }
        let Index { manifests } = parsed("index.json", &self.file(Path::new("index.json"))?)?;
        for descriptor in manifests {
            self.top(descriptor)?;
        }
        let Reading { blobs, platforms, referrers, images, .. } = self;
        let number = images.len();
        match <[Blob; 1]>::try_from(images) {
            Ok([image]) => Ok(Layout { blobs, platforms, referrers, image }),
            Err(_) => Err(format!("`index.json` names {number} images; expected exactly one")),
        }
    }

    /// A manifest or an index that `index.json` names.
    fn top(&mut self, descriptor: OciDescriptor) -> Result<(), String> {
        let blob = self.blob(descriptor)?;
        match blob.descriptor.media_type.as_str() {
            OCI_IMAGE_INDEX_MEDIA_TYPE => self.index(&blob, DEPTH)?,
            _ => {
                let manifest = self.manifest(&blob)?;
                if let Some(subject) = manifest.subject {
                    let artifact_type = manifest.artifact_type;
                    self.referrers.push(Referrer { manifest: blob, subject: subject.digest, artifact_type });
                    return Ok(());
                }
            }
        }
        self.images.push(blob);
        Ok(())
    }

    fn index(&mut self, index: &Blob, depth: usize) -> Result<(), String> {
        let below = depth.checked_sub(1).ok_or("its indexes are nested too deeply")?;
        let Index { manifests } = parsed(&index.descriptor.digest, &index.bytes)?;
        for descriptor in manifests {
            let blob = self.blob(descriptor)?;
            if blob.descriptor.media_type == OCI_IMAGE_INDEX_MEDIA_TYPE {
                self.index(&blob, below)?;
            } else {
                self.manifest(&blob)?;
            }
            self.platforms.push(blob);
        }
        Ok(())
    }

    /// Takes what a manifest names.
    fn manifest(&mut self, manifest: &Blob) -> Result<OciImageManifest, String> {
        let OciDescriptor { media_type, digest, .. } = &manifest.descriptor;
        if media_type != OCI_IMAGE_MEDIA_TYPE {
            return Err(format!("`{digest}` is `{media_type}`; expected `{OCI_IMAGE_MEDIA_TYPE}`"));
        }
        let read: OciImageManifest = parsed(digest, &manifest.bytes)?;
        for descriptor in std::iter::once(&read.config).chain(&read.layers) {
            if self.blobs.iter().all(|blob| blob.descriptor.digest != descriptor.digest) {
                let blob = self.blob(descriptor.clone())?;
                self.blobs.push(blob);
            }
        }
        Ok(read)
    }

    /// The bytes that a descriptor describes.
    fn blob(&self, descriptor: OciDescriptor) -> Result<Blob, String> {
        let OciDescriptor { digest, size, .. } = &descriptor;
        let is_hex = |hex: &&str| hex.len() == 64 && hex.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        let hex = digest.strip_prefix("sha256:").filter(is_hex).ok_or(format!("`{digest}` is not a SHA-256 digest"))?;
        let bytes = self.file(&Path::new("blobs/sha256").join(hex))?;
        let actual = digest_of(&bytes);
        if actual != *digest {
            return Err(format!("the blob `{digest}` has the digest `{actual}`"));
        }
        if i64::try_from(bytes.len()) != Ok(*size) {
            return Err(format!("the blob `{digest}` has {} bytes; its descriptor says {size}", bytes.len()));
        }
        Ok(Blob { descriptor, bytes })
    }

    fn file(&self, path: &Path) -> Result<Bytes, String> {
        let file: PathBuf = self.folder.join(path);
        std::fs::read(file).map(Bytes::from).map_err(|error| format!("`{}` cannot be read: {error}", path.display()))
    }
}

fn parsed<'b, T: Deserialize<'b>>(name: &str, bytes: &'b [u8]) -> Result<T, String> {
    serde_json::from_slice(bytes).map_err(|error| format!("`{name}` cannot be read: {error}"))
}
