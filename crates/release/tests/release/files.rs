//! Everything that is published, with checksums.

use std::collections::BTreeMap;
use std::process::Command;

use crate::archives::paths;
use crate::stand_in::{Repository, below, revision};

const VERSION: &str = env!("CARGO_PKG_VERSION");

pub fn name_of_archive(architecture: &str) -> String {
    format!("placement-guard-v{VERSION}-linux-{architecture}.tar.gz")
}

/// What `release files` writes.
pub fn files(repository: &Repository) -> BTreeMap<String, Vec<u8>> {
    repository.image();
    let mut names = release::write_files(&repository.places(), &revision()).unwrap();
    names.sort();
    let files: BTreeMap<_, _> = below(&repository.places().release_files()).into_iter().collect();
    assert_eq!(names, files.keys().cloned().collect::<Vec<_>>());
    files
}

pub fn with_chart(version: &str) -> Repository {
    let repository = Repository::new();
    let chart = format!("apiVersion: v2\nname: placement-guard\nversion: {version}\nappVersion: v0.1.0\n");
    repository.write("charts/placement-guard/Chart.yaml", chart);
    repository.write("charts/placement-guard/templates/deployment.yaml", "kind: Deployment\n");
    repository
}

#[test]
fn a_release_has_everything_and_the_checksums_of_it() {
    let repository = with_chart(VERSION);
    let all = files(&repository);
    let names: Vec<&str> = all.keys().map(String::as_str).collect();
    let archive = name_of_archive("amd64");
    let expected = [
        "SHA256SUMS",
        "placement-guard-0.1.0.tgz",
        "placement-guard-image-v0.1.0.tar",
        "placement-guard-npm-0.1.0.tgz",
        "placement-guard-v0.1.0-completions-and-man.tar.gz",
        &archive,
        "placement-guard.cdx.json",
        "placement-guard.wasm.cdx.json",
        "placement-guard.yaml",
        "policy.wasm",
    ];
    assert_eq!(names, expected);
    let check = Command::new("sha256sum")
        .args(["--check", "--strict", "--quiet", "SHA256SUMS"])
        .current_dir(repository.places().release_files())
        .output()
        .unwrap();
    assert!(check.status.success(), "{}", String::from_utf8_lossy(&check.stdout));
    let listed = String::from_utf8(all["SHA256SUMS"].clone()).unwrap();
    assert_eq!(listed.lines().count(), all.len() - 1);

    let npm = paths(&["--gzip"], &all["placement-guard-npm-0.1.0.tgz"]);
    assert_eq!(npm, ["package/", "package/package.json", "package/wasm/", "package/wasm/module.wasm"]);
    let chart = paths(&["--gzip"], &all["placement-guard-0.1.0.tgz"]);
    assert!(chart.contains(&String::from("placement-guard/Chart.yaml")), "{chart:?}");
    let image = paths(&[], &all["placement-guard-image-v0.1.0.tar"]);
    assert!(
        image.iter().any(|path| path == "index.json") && image.iter().any(|path| path == "oci-layout"),
        "{image:?}"
    );
    let program = paths(&["--gzip"], &all[&archive]);
    for path in ["placement-guard", "LICENSE", "completions/placement-guard.bash", "man/man1/placement-guard.1"] {
        assert!(program.iter().any(|found| found == path), "{path}: {program:?}");
    }
}

#[test]
fn a_release_is_the_same_bytes_twice() {
    let (one, other) = (with_chart(VERSION), with_chart(VERSION));
    one.write("target/release-files/stale.tar.gz", "from an earlier version");
    assert!(files(&one) == files(&other), "two releases differ");
}

#[test]
fn a_chart_of_another_version_is_refused_and_without_a_chart_there_is_none() {
    let repository = with_chart("0.0.9");
    repository.image();
    let problem = release::write_files(&repository.places(), &revision()).unwrap_err().to_string();
    assert!(problem.ends_with("Chart.yaml: `version` and `appVersion` must be `0.1.0`"), "{problem}");
    assert!(!files(&Repository::new()).contains_key("placement-guard-0.1.0.tgz"));
}
