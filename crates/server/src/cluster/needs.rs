//! Which kinds of objects settings make the rules read.
//!
//! To be replaced by the library's own answer: this is the only place that names settings here.

use std::collections::BTreeMap;

use serde_json::Value;

use super::kind::Kind;

/// How the objects of a kind are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reads {
    /// One by one, each from the API server: nothing is held.
    Single,
    /// All of them are held and kept up to date.
    All,
}

/// The kinds that rules read under these settings, and how.
pub fn kinds(settings: &Value) -> BTreeMap<Kind, Reads> {
    let mut needed = BTreeMap::new();
    for (path, kinds, reads) in NEEDS {
        let mut value = Some(settings);
        for name in path.split('.') {
            value = value.and_then(|value| value.get(name));
        }
        let is_off = |value: &Value| {
            value.is_null() || matches!(value.as_str(), Some("ignore" | "anyNode")) || value.as_bool() == Some(false)
        };
        if value.is_some_and(|value| !is_off(value)) {
            for kind in *kinds {
                let before = needed.entry(*kind).or_insert(*reads);
                *before = (*before).max(*reads);
            }
        }
    }
    needed
}

/// Where a setting is on, the kinds that it needs.
const NEEDS: &[(&str, &[Kind], Reads)] = &[
    ("volumeNodeAffinity.judgeBy", &[Kind::Node], Reads::All),
    ("volumeNodeAffinity.topology.fromLiveNodes", &[Kind::Node], Reads::All),
    ("volumeNodeAffinity.strandedVolumes", &[Kind::Node], Reads::All),
    (
        "volumeNodeAffinity.whileInUse",
        &[Kind::Node, Kind::Pod, Kind::PersistentVolumeClaim, Kind::VolumeAttachment],
        Reads::All,
    ),
    ("volumeNodeAffinity.requireSettledVolumeAttributes", &[Kind::PersistentVolumeClaim], Reads::All),
    ("localVolumes.missingNode", &[Kind::Node], Reads::All),
    ("localVolumes.overlap", &[Kind::PersistentVolume], Reads::All),
    // A claim keeps its volume and a node its labels, so these are held; a pod and a volume are read as they are now.
    ("volumeBinding", &[Kind::Node, Kind::PersistentVolumeClaim], Reads::All),
    ("volumeBinding", &[Kind::Pod, Kind::PersistentVolume], Reads::Single),
    ("volumeBinding.unreachableTogether", &[Kind::StorageClass], Reads::All),
    ("nodeTaints.evictions", &[Kind::Pod], Reads::All),
    ("csiDriverTokens.rollout", &[Kind::CsiNode, Kind::Node, Kind::DaemonSet], Reads::All),
    ("accessModes.sharedClaims", &[Kind::Pod, Kind::PersistentVolumeClaim], Reads::All),
    ("tolerations.attraction", &[Kind::Node], Reads::All),
];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(settings: Value) -> Vec<&'static str> {
        kinds(&settings).into_keys().map(Kind::name).collect()
    }

    #[test]
    fn settings_need_what_they_switch_on() {
        assert_eq!(of(json!({"volumeNodeAffinity": {}, "tolerations": {"allowed": []}})), [""; 0]);
        let off = json!({"judgeBy": "anyNode", "whileInUse": "ignore", "topology": {"fromLiveNodes": false}});
        assert_eq!(of(json!({"volumeNodeAffinity": off})), [""; 0]);
        assert_eq!(of(json!({"volumeNodeAffinity": {"judgeBy": "liveNodes"}})), ["Node"]);
        let both = json!({"volumeNodeAffinity": {"whileInUse": "deny"}, "localVolumes": {"overlap": "warn"}});
        assert_eq!(of(both), ["Node", "Pod", "PersistentVolumeClaim", "PersistentVolume", "VolumeAttachment"]);
        assert_eq!(of(json!({"volumeBinding": {}})), ["Node", "Pod", "PersistentVolumeClaim", "PersistentVolume"]);
        assert_eq!(of(json!({"volumeBinding": {"unreachableTogether": "warn"}})).len(), 5);
        assert_eq!(of(json!([7])), [""; 0]);
    }

    /// What another setting lists is held for it, whatever reads it one by one.
    #[test]
    fn what_is_read_one_by_one_is_not_held() {
        let reads = |settings: Value| kinds(&settings).get(&Kind::Pod).copied();
        assert_eq!(reads(json!({"volumeBinding": {}})), Some(Reads::Single));
        assert_eq!(reads(json!({"volumeBinding": {}, "accessModes": {"sharedClaims": "warn"}})), Some(Reads::All));
    }
}
