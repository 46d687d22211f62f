//! How Kubernetes' own library translates in-tree volumes to CSI (`tests/cluster/translation/`), asked of the reader of
//! volumes: it must match nodes against the same affinity. How many cases run, and how many are skipped and why, is pinned.

#![allow(clippy::restriction)]

use std::collections::BTreeMap;
use std::path::Path;

use placement_guard::kubernetes::affinity::Affinity;
use placement_guard::kubernetes::field::{self, Field};
use placement_guard::kubernetes::volume::Volume;
use serde_json::{Value, json};

/// Why a recorded case is not run.
const NOT_SCHEDULED_SO: &str = "skipped, the scheduler does not translate it (isCSIMigrationOnForPlugin)";
const NOT_IN_TREE: &str = "skipped, the library does not know it";
const IDENTIFIER: &str = "skipped, its disk cannot be translated, and no update changes that";

#[test]
fn in_tree_volumes_are_read_as_the_library_translates_them() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors/csi_translation.json");
    let vectors: Value = serde_json::from_str(&std::fs::read_to_string(file).expect("the file")).expect("it is JSON");
    let mut tally: BTreeMap<String, usize> = BTreeMap::new();
    for case in vectors["cases"].as_array().expect("it has cases") {
        let (name, plugin) = (case["name"].as_str().expect("a name"), case["plugin"].as_str().expect("a plugin"));
        let read = volume(&case["volume"]);
        let what = match (plugin, case["error"].as_str()) {
            (_, Some("not migratable")) => NOT_IN_TREE,
            ("azureFile" | "vsphereVolume", _) => {
                assert_eq!(read.scheduling_affinity(), &read.affinity, "{name}");
                NOT_SCHEDULED_SO
            }
            ("gcePersistentDisk", Some(_)) => {
                assert_eq!(read.scheduling_affinity(), &Affinity::Required(Vec::new()), "{name}");
                "run, untranslatable"
            }
            (_, Some(_)) => IDENTIFIER,
            (_, None) => {
                let translated = volume(&json!({"spec": {"nodeAffinity": case["nodeAffinity"]}}));
                assert_eq!(read.scheduling_affinity(), &translated.affinity, "{name}");
                "run"
            }
        };
        *tally.entry(format!("{plugin}: {what}")).or_default() += 1;
    }
    let tally: Vec<(&str, usize)> = tally.iter().map(|(what, count)| (what.as_str(), *count)).collect();
    let skipped = |plugin: &str, reason: &str| format!("{plugin}: {reason}");
    assert_eq!(
        tally,
        [
            ("awsElasticBlockStore: run", 62),
            (&skipped("awsElasticBlockStore", IDENTIFIER), 6),
            ("azureDisk: run", 6),
            (&skipped("azureDisk", IDENTIFIER), 6),
            (&skipped("azureFile", NOT_SCHEDULED_SO), 6),
            ("cinder: run", 62),
            ("gcePersistentDisk: run", 288),
            ("gcePersistentDisk: run, untranslatable", 96),
            (&skipped("nfs", NOT_IN_TREE), 6),
            ("portworxVolume: run", 6),
            (&skipped("vsphereVolume", NOT_SCHEDULED_SO), 6),
        ]
    );
}

fn volume(object: &Value) -> Volume {
    let text = object.to_string();
    let document = field::parse(text.as_bytes()).expect("it is JSON");
    Volume::read(&Field::root("object", &document)).unwrap_or_else(|error| panic!("{object}: {error}"))
}
