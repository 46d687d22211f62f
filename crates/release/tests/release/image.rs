//! The image, checked against OCI's specification by what lies in its folder.

use std::collections::BTreeSet;
use std::path::Path;

use release::Revision;
use serde_json::{Value, json};

use crate::archives::{paths, tar, unpack};
use crate::stand_in::{COMMIT, Repository, below, root};

const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const BILL: &str = "application/vnd.cyclonedx+json";

/// The digest of bytes by `sha256sum`, which shares nothing with what wrote them.
pub fn digest(bytes: &[u8]) -> String {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), bytes).unwrap();
    let output = std::process::Command::new("sha256sum").arg(file.path()).output().unwrap();
    format!("sha256:{}", String::from_utf8(output.stdout).unwrap().split(' ').next().unwrap())
}

fn json_at(file: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap()
}

/// A layout whose blobs are used by their descriptors alone.
pub struct Layout<'p> {
    folder: &'p Path,
    used: BTreeSet<String>,
}

impl<'p> Layout<'p> {
    pub fn at(folder: &'p Path) -> Self {
        assert_eq!(json_at(&folder.join("oci-layout")), json!({"imageLayoutVersion": "1.0.0"}));
        Layout { folder, used: BTreeSet::new() }
    }

    pub fn index(&self) -> Vec<Value> {
        let index = json_at(&self.folder.join("index.json"));
        assert_eq!((&index["schemaVersion"], &index["mediaType"]), (&json!(2), &json!(INDEX)));
        index["manifests"].as_array().unwrap().clone()
    }

    /// The bytes of a descriptor of this media type.
    pub fn blob(&mut self, descriptor: &Value, media_type: &str) -> Vec<u8> {
        assert_eq!(descriptor["mediaType"], media_type);
        let named = descriptor["digest"].as_str().unwrap();
        let bytes = std::fs::read(self.folder.join("blobs").join(named.replace(':', "/"))).unwrap();
        assert_eq!((descriptor["size"].as_u64().unwrap(), digest(&bytes).as_str()), (bytes.len() as u64, named));
        self.used.insert(named.to_owned());
        bytes
    }

    pub fn document(&mut self, descriptor: &Value, media_type: &str) -> Value {
        let document: Value = serde_json::from_slice(&self.blob(descriptor, media_type)).unwrap();
        if media_type == MANIFEST || media_type == INDEX {
            assert_eq!((&document["schemaVersion"], &document["mediaType"]), (&json!(2), &json!(media_type)));
        }
        document
    }

    /// Checks a manifest of one platform: its configuration, and its layer with the bytes of that.
    fn platform(&mut self, descriptor: &Value) -> (Value, Vec<u8>) {
        let manifest = self.document(descriptor, MANIFEST);
        let config = self.document(&manifest["config"], "application/vnd.oci.image.config.v1+json");
        let layers = manifest["layers"].as_array().unwrap();
        assert_eq!(layers.len(), 1);
        let layer = self.blob(&layers[0], "application/vnd.oci.image.layer.v1.tar+gzip");
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("layer.gz"), &layer).unwrap();
        let output = std::process::Command::new("gzip").args(["-dc", "layer.gz"]).current_dir(folder.path()).output();
        assert_eq!(config["rootfs"], json!({"diff_ids": [digest(&output.unwrap().stdout)], "type": "layers"}));
        (config, layer)
    }

    /// No blob lies there that nothing names.
    fn is_complete(&self) {
        let there = below(&self.folder.join("blobs")).into_iter().map(|(name, _)| name.replace('/', ":"));
        assert_eq!(there.collect::<BTreeSet<_>>(), self.used);
    }
}

#[test]
fn an_image_has_one_layer_a_user_without_rights_and_no_shell() {
    let repository = Repository::new();
    let folder = repository.image();
    let mut layout = Layout::at(&folder);
    let index = layout.index();
    assert_eq!(index.len(), 2);
    assert_eq!(index[0]["annotations"], json!({"org.opencontainers.image.ref.name": "v0.1.0"}));
    assert_eq!(index[0]["platform"], json!({"architecture": "amd64", "os": "linux"}));
    let (config, layer) = layout.platform(&index[0]);
    assert_eq!((&config["os"], &config["architecture"]), (&json!("linux"), &json!("amd64")));
    assert_eq!(config["created"], "2026-11-22T08:54:11Z");
    let of_program = &config["config"];
    assert_eq!((&of_program["User"], &of_program["Entrypoint"]), (&json!("65532:65532"), &json!(["/placement-guard"])));
    let source = "https://github.com/placement-guard/placement-guard";
    let expected = json!({
        "org.opencontainers.image.created": "2026-11-22T08:54:11Z",
        "org.opencontainers.image.description": "Decides, exactly and with a counterexample, whether a change to where \
            Kubernetes may place volumes and pods is safe",
        "org.opencontainers.image.licenses": "Apache-2.0",
        "org.opencontainers.image.revision": COMMIT,
        "org.opencontainers.image.source": source,
        "org.opencontainers.image.title": "placement-guard",
        "org.opencontainers.image.url": source,
        "org.opencontainers.image.version": "v0.1.0",
    });
    assert_eq!(of_program["Labels"], expected);

    let files = [
        "LICENSE",
        "etc/",
        "etc/group",
        "etc/passwd",
        "etc/ssl/",
        "etc/ssl/certs/",
        "etc/ssl/certs/ca-certificates.crt",
        "placement-guard",
        "policy.wasm",
    ];
    assert_eq!(paths(&["--gzip"], &layer), files);
    let listed = tar(&["--list", "--verbose", "--gzip"], &layer);
    let may_be_run: Vec<&str> = listed.lines().filter(|line| line.starts_with("-rwx")).collect();
    assert!(may_be_run.len() == 1 && may_be_run[0].ends_with(" placement-guard"), "{listed}");
    // Nothing that another user than root may change, and nothing that gives its user other rights.
    let modes = ["-rwxr-xr-x root/root", "-rw-r--r-- root/root", "drwxr-xr-x root/root"];
    assert!(listed.lines().all(|line| modes.iter().any(|mode| line.starts_with(mode))), "{listed}");

    let bill = layout.document(&index[1], MANIFEST);
    layout.blob(&bill["config"], "application/vnd.oci.empty.v1+json");
    let content = layout.document(&bill["layers"][0], BILL);
    assert_eq!(content, json!({"bomFormat": "CycloneDX"}));
    assert_eq!((&bill["artifactType"], &index[1]["artifactType"]), (&json!(BILL), &json!(BILL)));
    for member in ["mediaType", "digest", "size"] {
        assert_eq!(bill["subject"][member], index[0][member], "{member}");
    }
    layout.is_complete();
}

#[test]
fn the_authorities_are_certificates() {
    let repository = Repository::new();
    let folder = repository.image();
    let mut layout = Layout::at(&folder);
    let image = layout.index().remove(0);
    let (_, layer) = layout.platform(&image);
    let root = tempfile::tempdir().unwrap();
    unpack(&layer, root.path());
    let bundle = std::fs::read_to_string(root.path().join("etc/ssl/certs/ca-certificates.crt")).unwrap();
    let mut store = rustls::RootCertStore::empty();
    let certificates =
        <rustls::pki_types::CertificateDer<'_> as rustls::pki_types::pem::PemObject>::pem_slice_iter(bundle.as_bytes());
    let (good, bad) = store.add_parsable_certificates(certificates.map(Result::unwrap));
    assert!(good > 100 && bad == 0, "{good} good, {bad} bad");
    assert!(bundle.lines().all(|line| line.len() <= 64));
}

#[test]
fn the_same_source_gives_the_same_bytes() {
    let (one, other) = (Repository::new(), Repository::new());
    assert!(below(&one.image()) == below(&other.image()), "two images differ");
    let again = below(&one.image());
    assert!(again == below(&other.image()), "what was there before matters");
    let later = Revision::new(COMMIT, "1795337652").unwrap();
    release::write_image(&one.places(), &later).unwrap();
    assert!(below(&one.places().image()) != again, "the time does not count");
}

#[test]
fn an_image_for_two_architectures_is_an_index_with_a_manifest_of_each() {
    let repository = Repository::new();
    repository.write("target/linux/arm64/placement-guard", "another program");
    let folder = repository.image();
    let mut layout = Layout::at(&folder);
    let index = layout.index();
    let image = layout.document(&index[0], INDEX);
    let platforms = image["manifests"].as_array().unwrap();
    let mut seen = Vec::new();
    for platform in platforms {
        let (config, layer) = layout.platform(platform);
        assert_eq!(platform["platform"], json!({"architecture": config["architecture"], "os": "linux"}));
        let root = tempfile::tempdir().unwrap();
        unpack(&layer, root.path());
        let program = std::fs::read_to_string(root.path().join("placement-guard")).unwrap();
        seen.push((config["architecture"].as_str().unwrap().to_owned(), program));
    }
    let expected = [("amd64", "a program"), ("arm64", "another program")];
    assert_eq!(seen, expected.map(|(name, program)| (name.to_owned(), program.to_owned())));
    let bill = layout.document(&index[1], MANIFEST);
    assert_eq!(bill["subject"]["digest"], index[0]["digest"]);
}

#[test]
fn what_is_missing_is_named() {
    let repository = Repository::new();
    repository.remove("target/linux/amd64/placement-guard");
    let problem =
        || release::write_image(&repository.places(), &Revision::new(COMMIT, "0").unwrap()).unwrap_err().to_string();
    assert!(
        problem().starts_with("no program for Linux is in ") && problem().contains("build-linux amd64"),
        "{}",
        problem()
    );
    repository.write("target/linux/amd64/placement-guard", "a program");
    repository.remove("target/sbom/placement-guard.cdx.json");
    assert!(
        problem().ends_with("target/sbom/placement-guard.cdx.json: No such file or directory (os error 2)"),
        "{}",
        problem()
    );
    for time in ["", "yesterday", "-1", "99999999999999999"] {
        let said = Revision::new(COMMIT, time).unwrap_err().to_string();
        assert!(said.ends_with(&format!("but is `{time}`")), "{said}");
    }
}

/// The image from the source, for people who build images with a daemon, is the same.
#[test]
fn the_dockerfile_makes_an_image_with_the_same_settings() {
    let text = std::fs::read_to_string(root().join("Dockerfile")).unwrap();
    let last = text.rsplit("\nFROM ").next().unwrap();
    assert!(last.starts_with("scratch\n"), "the last stage has more than the program: {last}");
    let repository = Repository::new();
    let folder = repository.image();
    let mut layout = Layout::at(&folder);
    let image = layout.index().remove(0);
    let (config, _) = layout.platform(&image);
    let of = |instruction: &str| {
        let lines = last.lines().filter_map(|line| line.strip_prefix(instruction)?.strip_prefix(' '));
        lines.map(String::from).collect::<Vec<_>>()
    };
    let config = &config["config"];
    assert_eq!(json!(of("USER")), json!([config["User"]]));
    let list = |text: &[String]| serde_json::from_str::<Value>(&text[0]).unwrap();
    assert_eq!(list(&of("ENTRYPOINT")), config["Entrypoint"]);
    assert_eq!(list(&of("CMD")), config["Cmd"]);
    let ports: BTreeSet<String> = of("EXPOSE")[0].split(' ').map(|port| format!("{port}/tcp")).collect();
    assert_eq!(ports, config["ExposedPorts"].as_object().unwrap().keys().cloned().collect());
    assert!(of("RUN").is_empty() && of("SHELL").is_empty(), "{last}");
}
