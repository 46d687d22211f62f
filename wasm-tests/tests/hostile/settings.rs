//! Settings as a broken configuration gives them. The host writes the message into the policy server's log. If the
//! answer is not a verdict, it writes a message for its own developers.

use serde_json::{Value, json};

use crate::document::{of_other_types, places, places_below};
use crate::module;

/// Every key of the section, with values that need no cluster.
fn settings() -> Value {
    let expression = |key: &str| json!({"matchExpressions": [{"key": key, "operator": "In", "values": ["available"]}]});
    json!({"volumeNodeAffinity": {
        "allow": ["widened"],
        "judgeBy": "anyNode",
        "topology": {
            "zones": {"us-east1": ["us-east1-b", "us-east1-c"]},
            "aliases": {"old-zone": "new-zone"},
            "implications": [{"if": expression("gen2"), "then": expression("gen1")}],
            "fromLiveNodes": false
        },
        "whileInUse": "ignore",
        "requireSettledVolumeAttributes": false,
        "strandedVolumes": "ignore",
        "enforcement": "deny",
        "exempt": {"users": ["admin"], "groups": ["system:masters"], "namespaces": ["kube-system"]},
        "whenClusterUnreadable": "deny"
    }})
}

#[track_caller]
fn complaint(settings: &[u8]) -> String {
    let verdict = module().validate_settings(settings);
    let shown = String::from_utf8_lossy(&settings[..settings.len().min(300)]);
    assert!(!verdict.valid, "`{shown}` are valid settings");
    let message = verdict.message.expect("a message says why");
    assert!(!message.is_empty() && message.len() < 2000, "`{shown}`: {message}");
    message
}

#[test]
fn the_settings_under_test_are_valid() {
    let verdict = module().validate_settings(settings().to_string().as_bytes());
    assert!(verdict.valid && verdict.message.is_none(), "{verdict:?}");
}

#[test]
fn a_wrong_type_anywhere_is_not_valid_and_named() {
    let settings = settings();
    for place in places(&settings) {
        for other in of_other_types(place.of(&settings)) {
            let changed = place.replaced(&settings, other).to_string();
            let message = complaint(changed.as_bytes());
            assert!(message.contains(&format!("{place}: ")), "does not name `{place}`: {message}");
        }
    }
}

#[test]
fn a_number_that_no_type_holds_anywhere_is_not_valid() {
    let settings = settings();
    for place in places(&settings) {
        for number in ["-1", "1e400", "18446744073709551616", "NaN"] {
            complaint(place.spliced(&settings, number).as_bytes());
        }
    }
}

#[test]
fn a_misspelt_key_anywhere_is_not_valid_and_named_beside_the_known_ones() {
    let settings = settings();
    // These hold names of the cluster, not keys of ours.
    let free = places_below(&settings, &["volumeNodeAffinity.topology.zones", "volumeNodeAffinity.topology.aliases"]);
    for place in places(&settings).into_iter().filter(|place| place.of(&settings).is_object() && !free.contains(place))
    {
        let mut object = place.of(&settings).clone();
        object["enforcment"] = "warn".into();
        let message = complaint(place.replaced(&settings, object.clone()).to_string().as_bytes());
        assert!(message.contains(&format!("{place}.enforcment: ")), "does not name the key: {message}");
        object.as_object_mut().unwrap().retain(|key, _| key != "enforcment");
        for known in object.as_object().unwrap().keys() {
            assert!(message.contains(&format!("`{known}`")), "does not list `{known}`: {message}");
        }
    }
}

#[test]
fn null_anywhere_is_as_if_the_key_were_not_there() {
    let settings = settings();
    for place in places(&settings).into_iter().filter(|place| !place.is_element()) {
        let null = module().validate_settings(place.replaced(&settings, Value::Null).to_string().as_bytes());
        let absent = module().validate_settings(place.removed(&settings).to_string().as_bytes());
        assert_eq!(null, absent, "{place}");
    }
}

#[test]
fn settings_that_are_not_json_or_say_nothing_are_not_valid() {
    for settings in ["", "{", "null", "[]", "7", "\"volumeNodeAffinity\"", "{}", "volumeNodeAffinity: {}"] {
        complaint(settings.as_bytes());
    }
    assert!(complaint(b"{}").contains("`volumeNodeAffinity`"), "lists the sections there are");
    complaint(b"\xff");
}

#[test]
fn settings_cut_off_at_any_byte_are_not_valid() {
    let whole = settings().to_string();
    for length in 0..whole.len() {
        complaint(&whole.as_bytes()[..length]);
    }
}

#[test]
fn settings_of_three_megabytes_are_judged() {
    let mut large = settings();
    let zones: Vec<String> = (0..100_000).map(|zone| format!("zone-{zone:020}")).collect();
    large["volumeNodeAffinity"]["exempt"]["users"] = zones.into();
    let verdict = module().validate_settings(large.to_string().as_bytes());
    assert!(verdict.valid, "{verdict:?}");

    large["volumeNodeAffinity"]["exempt"]["users"] = "x".repeat(3_000_000).into();
    complaint(large.to_string().as_bytes());
}
