//! A value of a wrong JSON type at every field of recorded requests.

use serde_json::Value;

use crate::document::{of_other_types, place, places, places_below};
use crate::{answer, assert_noticed_or_without_influence, assert_unreadable, payload, recorded, update};

const NODE_AFFINITIES: [&str; 2] = ["object.spec.nodeAffinity", "oldObject.spec.nodeAffinity"];

fn bytes(request: Value) -> Vec<u8> {
    payload(request).to_string().into_bytes()
}

#[test]
fn a_wrong_type_anywhere_in_a_node_affinity_is_refused_by_name() {
    for name in
        ["pv-update-zone-to-region", "pv-update-gt-threshold", "pv-update-matchfields", "pv-update-terms-for-values"]
    {
        let request = recorded(name);
        for place in places_below(&request, &NODE_AFFINITIES) {
            for other in of_other_types(place.of(&request)) {
                assert_unreadable(&bytes(place.replaced(&request, other)), &place.to_string());
            }
        }
    }
}

#[test]
fn a_wrong_type_around_what_is_judged_is_refused_by_name() {
    let request = update();
    for path in [
        "operation",
        "kind",
        "kind.group",
        "kind.kind",
        "name",
        "userInfo",
        "userInfo.username",
        "userInfo.groups",
        "userInfo.groups[0]",
        "object",
        "object.metadata",
        "object.metadata.labels",
        "object.metadata.labels[topology.kubernetes.io/zone]",
        "object.spec",
        "oldObject",
        "oldObject.metadata",
        "oldObject.metadata.labels",
        "oldObject.metadata.labels[topology.kubernetes.io/zone]",
        "oldObject.spec",
    ] {
        let place = place(&request, path);
        for other in of_other_types(place.of(&request)) {
            assert_unreadable(&bytes(place.replaced(&request, other)), path);
        }
    }
}

#[test]
fn a_wrong_type_anywhere_is_refused_by_name_or_makes_no_difference() {
    for request in [update(), recorded("pv-create-zonal"), recorded("pv-delete"), recorded("pod-create-hostpath")] {
        let untouched = answer(&bytes(request.clone()));
        for place in places(&request) {
            for other in of_other_types(place.of(&request)) {
                let changed = bytes(place.replaced(&request, other));
                assert_noticed_or_without_influence(&changed, &place.to_string(), &untouched);
            }
        }
    }
}

/// As in Kubernetes. What remains of a list element that is null differs from field to field; that there is an answer
/// does not.
#[test]
fn null_anywhere_is_as_if_the_field_were_not_there() {
    for request in [update(), recorded("pv-create-zonal"), recorded("pv-update-matchfields"), recorded("pv-delete")] {
        for place in places(&request) {
            let null = answer(&bytes(place.replaced(&request, Value::Null)));
            if !place.is_element() {
                assert_eq!(null, answer(&bytes(place.removed(&request))), "{place}");
            }
        }
    }
}

#[test]
fn a_request_without_a_field_that_nothing_can_be_judged_without_is_refused_by_name() {
    let request = update();
    for (path, named) in
        [("operation", "operation"), ("kind", "kind.kind"), ("kind.kind", "kind.kind"), ("object", "object")]
    {
        assert_unreadable(&bytes(place(&request, path).removed(&request)), named);
    }
}
