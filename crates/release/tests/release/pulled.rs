//! The image goes to a registry, and comes back as any other client gets it: over plain HTTP, by tag and by digest.

use std::io::{Read, Write};
use std::net::TcpStream;

use registry::{Access, Layout, push_image, unwatched};
use serde_json::Value;
use testkit::registry_server::Server;

use crate::archives::unpack;
use crate::image::digest;
use crate::stand_in::Repository;

const ACCESS: Access = Access { insecure: true, docker_config: None };
const ACCEPT: &str = "application/vnd.oci.image.manifest.v1+json, application/vnd.oci.image.index.v1+json";

/// What the registry has at a path: its content type and its bytes.
fn get(host: &str, path: &str) -> (String, Vec<u8>) {
    let mut stream = TcpStream::connect(host).unwrap();
    let request = format!("GET {path} HTTP/1.0\r\nhost: {host}\r\naccept: {ACCEPT}\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
    let head = String::from_utf8_lossy(&answer[..end]).to_lowercase();
    assert!(head.starts_with("http/1.0 200") || head.starts_with("http/1.1 200"), "{path}: {head}");
    let kind = head.lines().find_map(|line| line.strip_prefix("content-type: ")).unwrap().to_owned();
    (kind, answer[end + 4..].to_vec())
}

#[test]
fn an_image_comes_back_from_a_registry_with_its_bill_of_materials() {
    let (repository, storage) = (Repository::new(), tempfile::tempdir().unwrap());
    for architectures in 1..=2 {
        if architectures == 2 {
            repository.write("target/linux/arm64/placement-guard", "another program");
        }
        let server = Server::start(storage.path());
        let host = &server.host;
        let image = Layout::read(&repository.image()).unwrap();
        let pushed = push_image(&image, &format!("{host}/team/provider:v1"), &ACCESS, None, &unwatched()).unwrap();
        let manifest_at = |reference: &str| {
            let (kind, bytes) = get(host, &format!("/v2/team/provider/manifests/{reference}"));
            let manifest: Value = serde_json::from_slice(&bytes).unwrap();
            assert_eq!(manifest["mediaType"], kind, "{reference}");
            (manifest, bytes)
        };
        let (mut manifest, bytes) = manifest_at("v1");
        assert_eq!(
            (digest(&bytes), pushed.by_digest),
            (pushed.digest.clone(), format!("{host}/team/provider@{}", pushed.digest))
        );
        if architectures == 2 {
            let of_first = manifest["manifests"][0]["digest"].as_str().unwrap().to_owned();
            manifest = manifest_at(&of_first).0;
        }
        let blob = |descriptor: &Value| {
            let named = descriptor["digest"].as_str().unwrap();
            let (_, bytes) = get(host, &format!("/v2/team/provider/blobs/{named}"));
            assert_eq!(digest(&bytes), named);
            bytes
        };
        let root = tempfile::tempdir().unwrap();
        unpack(&blob(&manifest["layers"][0]), root.path());
        assert_eq!(std::fs::read(root.path().join("placement-guard")).unwrap(), b"a program");
        let config: Value = serde_json::from_slice(&blob(&manifest["config"])).unwrap();
        assert_eq!(config["architecture"], "amd64");

        // This registry does not list referrers itself, so that they lie under the tag of the specification.
        let (referrers, _) = manifest_at(&pushed.digest.replace(':', "-"));
        assert_eq!(referrers["manifests"].as_array().unwrap().len(), 1);
        assert_eq!(referrers["manifests"][0]["artifactType"], "application/vnd.cyclonedx+json");
        let (bill, _) = manifest_at(referrers["manifests"][0]["digest"].as_str().unwrap());
        assert_eq!(bill["subject"]["digest"], pushed.digest);
        assert_eq!(blob(&bill["layers"][0]), br#"{"bomFormat":"CycloneDX"}"#);

        // Pushed once more, it is there once.
        push_image(&image, &format!("{host}/team/provider:v1"), &ACCESS, None, &unwatched()).unwrap();
        assert_eq!(manifest_at(&pushed.digest.replace(':', "-")).0, referrers);
    }
}
