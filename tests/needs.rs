//! Which kinds of objects settings make the rules read from the cluster, and how.

use placement_guard::kubernetes::kind::Kind;
use placement_guard::rules::rule::Reads;
use placement_guard::verdict::needs;

fn kinds(settings: &str) -> Vec<&'static str> {
    needs(settings).into_iter().map(|(kind, _)| kind.name()).collect()
}

#[test]
fn settings_need_what_they_switch_on() {
    assert_eq!(kinds(r#"{"volumeNodeAffinity": {}, "tolerations": {"allowed": []}}"#), [""; 0]);
    let off = r#"{"volumeNodeAffinity": {"judgeBy": "anyNode", "whileInUse": "ignore", "topology": {"fromLiveNodes": false}}}"#;
    assert_eq!(kinds(off), [""; 0]);
    assert_eq!(kinds(r#"{"volumeNodeAffinity": {"judgeBy": "liveNodes"}}"#), ["Node"]);
    let both = r#"{"volumeNodeAffinity": {"whileInUse": "deny"}, "localVolumes": {"overlap": "warn"}}"#;
    assert_eq!(kinds(both), ["Node", "Pod", "PersistentVolume", "PersistentVolumeClaim", "VolumeAttachment"]);
    assert_eq!(kinds(r#"{"volumeBinding": {}}"#), ["Node", "Pod", "PersistentVolume", "PersistentVolumeClaim"]);
    assert_eq!(kinds(r#"{"volumeBinding": {"unreachableTogether": "warn"}}"#).len(), 5);
}

#[test]
fn settings_that_cannot_be_read_need_nothing() {
    assert_eq!(kinds("[7]"), [""; 0]);
    assert_eq!(kinds("{"), [""; 0]);
    assert_eq!(kinds(r#"{"volumeBinding": {"unreachableTogether": "perhaps"}}"#), [""; 0]);
}

/// What one setting lists is held for all, even if another reads it one by one.
#[test]
fn what_is_only_read_one_by_one_is_not_held() {
    let reads = |settings: &str| needs(settings).into_iter().find(|(kind, _)| *kind == Kind::Pod);
    assert_eq!(reads(r#"{"volumeBinding": {}}"#), Some((Kind::Pod, Reads::Single)));
    let shared = r#"{"volumeBinding": {}, "accessModes": {"sharedClaims": "warn"}}"#;
    assert_eq!(reads(shared), Some((Kind::Pod, Reads::All)));
}
