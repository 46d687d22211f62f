//! Image layouts: what of them is refused before anything is sent, and what arrives.

#![allow(clippy::restriction)]

use std::path::Path;

use registry::{Access, Layout, push_image};
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::registry_server::{Server, blob};

const ACCESS: Access = Access { insecure: true, docker_config: None };
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";

fn digest(bytes: &[u8]) -> String {
    let hex: String =
        ring::digest::digest(&ring::digest::SHA256, bytes).as_ref().iter().map(|b| format!("{b:02x}")).collect();
    format!("sha256:{hex}")
}

fn put(folder: &Path, media_type: &str, bytes: &[u8]) -> Value {
    let digest = digest(bytes);
    std::fs::create_dir_all(folder.join("blobs/sha256")).unwrap();
    std::fs::write(folder.join("blobs").join(digest.replace(':', "/")), bytes).unwrap();
    json!({"mediaType": media_type, "digest": digest, "size": bytes.len()})
}

fn write(folder: &Path, manifests: &Value) {
    std::fs::write(folder.join("oci-layout"), r#"{"imageLayoutVersion":"1.0.0"}"#).unwrap();
    std::fs::write(folder.join("index.json"), json!({"schemaVersion": 2, "manifests": manifests}).to_string()).unwrap();
}

fn manifest(folder: &Path, layer: &str, subject: Option<&Value>) -> Value {
    let config = put(folder, "application/vnd.oci.image.config.v1+json", b"{}");
    let layer = put(folder, "application/vnd.oci.image.layer.v1.tar", layer.as_bytes());
    let mut manifest = json!({"schemaVersion": 2, "mediaType": MANIFEST, "config": config, "layers": [layer]});
    if let Some(subject) = subject {
        manifest["subject"] = subject.clone();
        manifest["artifactType"] = json!("application/example");
    }
    put(folder, MANIFEST, manifest.to_string().as_bytes())
}

/// A layout with an image and two manifests that refer to it.
fn layout() -> (TempDir, Value) {
    let folder = tempfile::tempdir().unwrap();
    let image = manifest(folder.path(), "an image", None);
    let referrers = ["one", "two"].map(|name| manifest(folder.path(), name, Some(&image)));
    write(folder.path(), &json!([image, referrers[0], referrers[1]]));
    (folder, image)
}

#[test]
fn an_image_arrives_with_everything_that_refers_to_it() {
    let ((folder, image), storage) = (layout(), tempfile::tempdir().unwrap());
    assert!(Layout::is_at(folder.path()) && !Layout::is_at(storage.path()));
    let server = Server::start(storage.path());
    let seen = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let sink = std::sync::Arc::clone(&seen);
    let progress: registry::Progress = std::sync::Arc::new(move |transfer| sink.lock().unwrap().push(transfer));
    let read = Layout::read(folder.path()).unwrap();
    let pushed = push_image(&read, &format!("{}/image:v1", server.host), &ACCESS, None, &progress).unwrap();
    assert_eq!(pushed.digest, image["digest"]);
    let stored = std::fs::read(blob(storage.path(), &pushed.digest)).unwrap();
    assert_eq!(digest(&stored), pushed.digest);
    for name in ["an image", "one", "two"] {
        assert_eq!(std::fs::read_to_string(blob(storage.path(), &digest(name.as_bytes()))).unwrap(), name);
    }
    let seen = seen.lock().unwrap();
    let (first, last) = (seen.first().unwrap(), seen.last().unwrap());
    assert!(seen.windows(2).all(|pair| pair[0].done <= pair[1].done && pair[0].total == pair[1].total), "{seen:?}");
    assert_eq!((last.done, last.total, first.total), (16, 16, 16));

    // The registry lists no referrers itself, so that both lie under the tag that is reserved for them.
    let tag = storage.path().join(format!(
        "storage/docker/registry/v2/repositories/image/_manifests/tags/{}/current/link",
        pushed.digest.replace(':', "-")
    ));
    let index = std::fs::read(blob(storage.path(), &std::fs::read_to_string(tag).unwrap())).unwrap();
    let index: Value = serde_json::from_slice(&index).unwrap();
    let types: Vec<&Value> =
        index["manifests"].as_array().unwrap().iter().map(|entry| &entry["artifactType"]).collect();
    assert_eq!(types, ["application/example"; 2]);
}

#[test]
fn a_layout_that_is_damaged_is_refused_with_what_is_wrong() {
    let complaint = |folder: &Path| Layout::read(folder).unwrap_err().to_string();
    let said = |folder: &Path, reason: &str| {
        let folder = folder.display();
        format!("`{folder}` is not an image that can be pushed: {reason}; `make image` assembles one")
    };
    let (folder, image) = layout();
    let folder = folder.path();
    let layer = digest(b"an image");
    let file = folder.join("blobs").join(layer.replace(':', "/"));
    std::fs::write(&file, "another").unwrap();
    let reason = format!("the blob `{layer}` has the digest `{}`", digest(b"another"));
    assert_eq!(complaint(folder), said(folder, &reason));
    std::fs::remove_file(&file).unwrap();
    let name = format!("blobs/{}", layer.replace(':', "/"));
    assert_eq!(
        complaint(folder),
        said(folder, &format!("`{name}` cannot be read: No such file or directory (os error 2)"))
    );
    std::fs::write(&file, "an image").unwrap();

    let with = |changed: &[(&str, Value)]| {
        let mut image = image.clone();
        changed.iter().for_each(|(member, value)| image[*member] = value.clone());
        json!([image])
    };
    let size = image["size"].as_i64().unwrap();
    let own = image["digest"].as_str().unwrap();
    let cases = [
        (json!([]), String::from("`index.json` names 0 images; expected exactly one")),
        (json!([image, image]), String::from("`index.json` names 2 images; expected exactly one")),
        (
            with(&[("size", json!(size + 1))]),
            format!("the blob `{own}` has {size} bytes; its descriptor says {}", size + 1),
        ),
        (
            with(&[("digest", json!("sha256:../../secret"))]),
            String::from("`sha256:../../secret` is not a SHA-256 digest"),
        ),
        (
            with(&[("mediaType", json!("application/vnd.docker.distribution.manifest.v2+json"))]),
            format!("`{own}` is `application/vnd.docker.distribution.manifest.v2+json`; expected `{MANIFEST}`"),
        ),
    ];
    for (manifests, reason) in cases {
        write(folder, &manifests);
        assert_eq!(complaint(folder), said(folder, &reason), "{manifests}");
    }
    std::fs::write(folder.join("oci-layout"), r#"{"imageLayoutVersion":"2.0.0"}"#).unwrap();
    assert_eq!(complaint(folder), said(folder, "its layout has version `2.0.0`; expected `1.0.0`"));
}

#[test]
fn an_index_that_contains_too_many_others_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut descriptor = manifest(folder.path(), "deep", None);
    for _ in 0..4 {
        let index = json!({"schemaVersion": 2, "manifests": [descriptor]}).to_string();
        descriptor = put(folder.path(), "application/vnd.oci.image.index.v1+json", index.as_bytes());
    }
    write(folder.path(), &json!([descriptor]));
    let complaint = Layout::read(folder.path()).unwrap_err().to_string();
    assert!(complaint.contains("its indexes are nested too deeply"), "{complaint}");
}
