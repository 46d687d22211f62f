//! Which kinds of objects settings make the rules read.
//!
//! To be replaced by the library's own answer: this is the only place that names settings here.

use std::collections::BTreeSet;

use serde_json::Value;

use super::kind::Kind;

/// The kinds that rules read under these settings.
pub fn kinds(settings: &Value) -> BTreeSet<Kind> {
    let mut needed = BTreeSet::new();
    for (path, kinds) in NEEDS {
        let mut value = Some(settings);
        for name in path.split('.') {
            value = value.and_then(|value| value.get(name));
        }
        let is_off = |value: &Value| {
            value.is_null() || matches!(value.as_str(), Some("ignore" | "anyNode")) || value.as_bool() == Some(false)
        };
        if value.is_some_and(|value| !is_off(value)) {
            needed.extend(*kinds);
        }
    }
    needed
}

/// Where a setting is on, the kinds that it needs.
const NEEDS: &[(&str, &[Kind])] = &[
    ("volumeNodeAffinity.judgeBy", &[Kind::Node]),
    ("volumeNodeAffinity.topology.fromLiveNodes", &[Kind::Node]),
    ("volumeNodeAffinity.strandedVolumes", &[Kind::Node]),
    ("volumeNodeAffinity.whileInUse", &[Kind::Node, Kind::Pod, Kind::PersistentVolumeClaim, Kind::VolumeAttachment]),
    ("volumeNodeAffinity.requireSettledVolumeAttributes", &[Kind::PersistentVolumeClaim]),
    ("localVolumes.missingNode", &[Kind::Node]),
    ("localVolumes.overlap", &[Kind::PersistentVolume]),
    ("volumeBinding", &[Kind::Node, Kind::PersistentVolumeClaim, Kind::PersistentVolume, Kind::StorageClass]),
    ("nodeTaints.evictions", &[Kind::Pod]),
    ("csiDriverTokens.rollout", &[Kind::CsiNode, Kind::Node]),
    ("csiDriverTokens.rollout.nodePlugins", &[Kind::DaemonSet]),
    ("accessModes.sharedClaims", &[Kind::Pod, Kind::PersistentVolumeClaim]),
    ("tolerations.attraction", &[Kind::Node]),
];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(settings: Value) -> Vec<&'static str> {
        kinds(&settings).into_iter().map(Kind::name).collect()
    }

    #[test]
    fn settings_need_what_they_switch_on() {
        assert_eq!(of(json!({"volumeNodeAffinity": {}, "tolerations": {"allowed": []}})), [""; 0]);
        let off = json!({"judgeBy": "anyNode", "whileInUse": "ignore", "topology": {"fromLiveNodes": false}});
        assert_eq!(of(json!({"volumeNodeAffinity": off})), [""; 0]);
        assert_eq!(of(json!({"volumeNodeAffinity": {"judgeBy": "liveNodes"}})), ["Node"]);
        let both = json!({"volumeNodeAffinity": {"whileInUse": "deny"}, "localVolumes": {"overlap": "warn"}});
        assert_eq!(of(both), ["Node", "Pod", "PersistentVolumeClaim", "PersistentVolume", "VolumeAttachment"]);
        assert_eq!(of(json!({"volumeBinding": {}})).len(), 4);
        // The role in `policies/webhook/cluster-reader.yaml` grants DaemonSets for the plug-ins alone.
        assert_eq!(of(json!({"csiDriverTokens": {"rollout": {}}})), ["Node", "CSINode"]);
        assert_eq!(of(json!({"csiDriverTokens": {"rollout": {"nodePlugins": []}}})), ["Node", "CSINode", "DaemonSet"]);
        assert_eq!(of(json!([7])), [""; 0]);
    }
}
