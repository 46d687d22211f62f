//! The manifest with which krew installs the program as a plug-in of kubectl.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::places::VERSION;
use crate::{Architecture, Problem};

/// The name after `kubectl`.
const NAME: &str = "placement-guard";

const DESCRIPTION: &str = "\
Decides, exactly and with a counterexample, whether a change to where
Kubernetes may place volumes and pods is safe: node affinity of
PersistentVolumes, access modes, taints, tolerations, topology and more.

  kubectl placement-guard audit
  kubectl placement-guard check --settings settings.yaml pod.yaml

`audit` reports problems of the objects in the cluster of the current
context. `check` says whether manifests would be refused there, and why.
";

const CAVEATS: &str = "\
The plug-in reads the live cluster, with the permissions of your kubeconfig.
It changes nothing there.
";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Plugin<'m> {
    api_version: &'static str,
    kind: &'static str,
    metadata: BTreeMap<&'static str, &'static str>,
    spec: Spec<'m>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Spec<'m> {
    version: String,
    homepage: &'m str,
    short_description: &'static str,
    description: &'static str,
    caveats: &'static str,
    platforms: Vec<Platform>,
}

#[derive(Serialize)]
struct Platform {
    selector: Selector,
    uri: String,
    sha256: String,
    bin: &'static str,
    files: Vec<BTreeMap<&'static str, &'static str>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Selector {
    match_labels: BTreeMap<&'static str, &'static str>,
}

/// The text of the manifest: for each architecture the archive by its name and its checksum. `source` is the address of the
/// repository, whose releases have the archives.
///
/// # Errors
/// Never, as long as everything in it can be written as YAML.
pub fn manifest(source: &str, archives: &[(Architecture, String, String)]) -> Result<String, Problem> {
    let copied = |name| BTreeMap::from([("from", name), ("to", ".")]);
    let platforms = archives.iter().map(|(architecture, archive, sha256)| Platform {
        selector: Selector { match_labels: BTreeMap::from([("arch", architecture.name()), ("os", "linux")]) },
        uri: format!("{source}/releases/download/v{VERSION}/{archive}"),
        sha256: sha256.clone(),
        bin: NAME,
        files: vec![copied(NAME), copied("LICENSE")],
    });
    let plugin = Plugin {
        api_version: "krew.googlecontainertools.github.com/v1alpha2",
        kind: "Plugin",
        metadata: BTreeMap::from([("name", NAME)]),
        spec: Spec {
            version: format!("v{VERSION}"),
            homepage: source,
            short_description: "Check where volumes and pods may be placed",
            description: DESCRIPTION,
            caveats: CAVEATS,
            platforms: platforms.collect(),
        },
    };
    serde_saphyr::to_string(&plugin).map_err(|error| Problem::Unwritable(error.to_string()))
}
