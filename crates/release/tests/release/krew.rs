//! The manifest for krew, checked by what krew checks: `internal/index/validation/validate.go` of krew 0.4.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::archives::paths;
use crate::files::{files, name_of_archive};
use crate::stand_in::Repository;

#[test]
fn krew_accepts_the_manifest_and_finds_what_it_installs() {
    let repository = Repository::new();
    repository.write("target/linux/arm64/placement-guard", "another program");
    let files = files(&repository);
    let text = String::from_utf8(files["placement-guard.yaml"].clone()).unwrap();
    let plugin: Value = serde_saphyr::from_str(&text).unwrap();
    assert_eq!(plugin["apiVersion"], "krew.googlecontainertools.github.com/v1alpha2");
    assert_eq!(plugin["kind"], "Plugin");
    // The name of the file is the name of the plug-in, `^[\w-]+$`, and does not repeat `kubectl`.
    assert_eq!(plugin["metadata"]["name"], "placement-guard");
    let spec = &plugin["spec"];
    assert_eq!(spec["version"], format!("v{}", env!("CARGO_PKG_VERSION")));
    assert_eq!(spec["homepage"], "https://github.com/placement-guard/placement-guard");
    let short = spec["shortDescription"].as_str().unwrap();
    assert!((1..=50).contains(&short.len()) && !short.ends_with('.'), "{short}");
    for text in ["description", "caveats"] {
        let lines = spec[text].as_str().unwrap();
        assert!(!lines.is_empty() && lines.lines().all(|line| line.len() <= 80), "{lines}");
    }
    let known = ["caveats", "description", "homepage", "platforms", "shortDescription", "version"];
    assert_eq!(spec.as_object().unwrap().keys().map(String::as_str).collect::<BTreeSet<_>>(), known.into());

    let mut architectures = Vec::new();
    for platform in spec["platforms"].as_array().unwrap() {
        let members: BTreeSet<&str> = platform.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(members, ["bin", "files", "selector", "sha256", "uri"].into());
        let labels = &platform["selector"]["matchLabels"];
        assert_eq!((&labels["os"], labels.as_object().unwrap().len()), (&"linux".into(), 2));
        let architecture = labels["arch"].as_str().unwrap();
        architectures.push(architecture.to_owned());
        let name = name_of_archive(architecture);
        let uri = format!("https://github.com/placement-guard/placement-guard/releases/download/v0.1.0/{name}");
        assert_eq!(platform["uri"], uri);
        let digest = crate::image::digest(&files[&name]);
        assert_eq!(platform["sha256"], digest.strip_prefix("sha256:").unwrap());
        // What it copies lies in the archive, and the program is among it.
        let inside = paths(&["--gzip"], &files[&name]);
        let mut installed = BTreeSet::new();
        for operation in platform["files"].as_array().unwrap() {
            let from = operation["from"].as_str().unwrap();
            assert!(inside.iter().any(|path| path == from) && operation["to"] == ".", "{operation}");
            installed.insert(from);
        }
        assert!(installed.contains(platform["bin"].as_str().unwrap()));
        assert!(installed.contains("LICENSE"), "krew requires the licence");
    }
    assert_eq!(architectures, ["amd64", "arm64"]);
}
