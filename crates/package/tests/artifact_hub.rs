//! The listing on Artifact Hub: in the form of Kubewarden's own tool, and that of the project never stale.

#![allow(clippy::restriction)]

use std::path::{Path, PathBuf};

use package::{Metadata, artifact_hub};

fn file(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn read(path: &str) -> String {
    std::fs::read_to_string(file(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// When the version was made is in the listing alone.
fn created_at(listing: &str) -> &str {
    listing.lines().find_map(|line| line.strip_prefix("createdAt: ")).expect("a listing says when it was made")
}

/// Recorded with kwctl 1.36.0-beta.1.
#[test]
fn the_listing_is_what_kubewardens_own_tool_writes() {
    let metadata = Metadata::parse(&read("tests/golden/metadata.yml")).unwrap();
    let questions = read("tests/golden/questions-ui.yml");
    let expected = read("tests/golden/artifacthub-pkg.yml");
    assert_eq!(artifact_hub(&metadata, Some(&questions), created_at(&expected)).unwrap(), expected);
}

/// `BLESS=1` rewrites it; when the version was made stays.
#[test]
fn the_listing_of_the_project_is_that_of_its_metadata() {
    let metadata = Metadata::parse(&read("../../metadata.yml")).unwrap();
    let committed = read("../../artifacthub-pkg.yml");
    let made = artifact_hub(&metadata, Some(&read("../../questions-ui.yml")), created_at(&committed)).unwrap();
    if std::env::var_os("BLESS").is_some_and(|bless| bless == "1") {
        std::fs::write(file("../../artifacthub-pkg.yml"), &made).unwrap();
        return;
    }
    assert!(made == committed, "artifacthub-pkg.yml is not what metadata.yml and questions-ui.yml say; `make bless`");
}

/// Cargo.toml, the tag of the image and the module's metadata speak of one version.
#[test]
fn the_version_of_the_metadata_is_that_of_the_workspace() {
    let metadata = Metadata::parse(&read("../../metadata.yml")).unwrap();
    assert_eq!(metadata.annotations["io.kubewarden.policy.version"], env!("CARGO_PKG_VERSION"));
}

#[test]
fn a_source_on_github_has_a_link_to_the_module_of_its_release() {
    let metadata = Metadata::parse(&read("../../metadata.yml")).unwrap();
    let listing = artifact_hub(&metadata, None, "2026-11-21T00:00:00Z").unwrap();
    let links = "\
links:
- name: policy
  url: https://github.com/placement-guard/placement-guard/releases/download/v0.1.0/policy.wasm
- name: source
  url: https://github.com/placement-guard/placement-guard
";
    assert!(listing.contains(links), "{listing}");
}

#[test]
fn what_artifact_hub_needs_and_the_metadata_do_not_say_is_named() {
    let whole = Metadata::parse(&read("../../metadata.yml")).unwrap();
    let without = |key: &str| {
        let mut metadata = whole.clone();
        metadata.annotations.remove(key).unwrap();
        artifact_hub(&metadata, None, "2026-11-21T00:00:00Z").map_err(|error| error.to_string())
    };
    for key in ["policy.title", "policy.version", "policy.description", "policy.ociUrl"] {
        let key = format!("io.kubewarden.{key}");
        let sentence =
            format!("`annotations` has no `{key}`, without which Artifact Hub cannot list the policy; add it");
        assert_eq!(without(&key), Err(sentence));
    }
    assert!(without("io.kubewarden.policy.license").is_ok_and(|listing| !listing.contains("license:")));
    let with = |key: &str, value: &str| {
        let mut metadata = whole.clone();
        metadata.annotations.insert(key.to_owned(), value.to_owned());
        artifact_hub(&metadata, None, "2026-11-21T00:00:00Z").unwrap_err().to_string()
    };
    assert_eq!(
        with("io.artifacthub.keywords", "storage,,pods"),
        "`annotations.io.artifacthub.keywords` has an empty keyword; remove the extra comma"
    );
    assert_eq!(
        with("io.kubewarden.policy.author", "A <a@example.com>, B"),
        "`annotations.io.kubewarden.policy.author` has `B`; write each author as `name <email>`, with commas between"
    );
}
