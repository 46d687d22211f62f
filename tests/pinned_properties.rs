//! A local volume is pinned exactly when all nodes that can use it have one and the same name.

#![allow(clippy::restriction)]

use std::collections::BTreeSet;

use placement_guard::kubernetes::field::{self, Field};
use placement_guard::kubernetes::node_selector::Labels;
use placement_guard::kubernetes::volume::Volume;
use placement_guard::kubewarden;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

const HOSTNAME: &str = "kubernetes.io/hostname";
const ZONE: &str = "topology.kubernetes.io/zone";

/// Names that requirements may list, and two that none lists: where one unlisted name gets in, so does the other.
const NAMES: [&str; 5] = ["a", "b", "05", "unlisted", "unlisted-too"];

/// Every node that requirements over these names and zones can tell from another.
fn nodes() -> Vec<Labels> {
    let labels = |key: &str, value: Option<&str>| value.map(|value| (key.to_owned(), value.to_owned()));
    let names = || NAMES.into_iter().map(Some).chain([None]);
    let zones = || [Some("z"), Some("unlisted"), None].into_iter();
    names()
        .flat_map(|name| zones().map(move |zone| [labels(HOSTNAME, name), labels(ZONE, zone)]))
        .map(|labels| labels.into_iter().flatten().collect())
        .collect()
}

fn any_requirement() -> impl Strategy<Value = Value> {
    let any_names = prop::collection::vec(prop::sample::select(vec!["a", "b", "05"]), 1..3);
    let name = (prop::sample::select(vec!["In", "In", "NotIn"]), any_names)
        .prop_map(|(operator, values)| json!({"key": HOSTNAME, "operator": operator, "values": values}));
    let zone = prop::sample::select(vec!["In", "NotIn"])
        .prop_map(|operator| json!({"key": ZONE, "operator": operator, "values": ["z"]}));
    let presence = (prop::sample::select(vec![HOSTNAME, ZONE]), prop::sample::select(vec!["Exists", "DoesNotExist"]))
        .prop_map(|(key, operator)| json!({"key": key, "operator": operator}));
    prop_oneof![4 => name, 1 => zone, 1 => presence]
}

fn any_volume() -> impl Strategy<Value = Value> {
    let term = prop::collection::vec(any_requirement(), 0..4)
        .prop_map(|requirements| json!({"matchExpressions": requirements}));
    prop::collection::vec(term, 1..4).prop_map(|terms| {
        let affinity = json!({"required": {"nodeSelectorTerms": terms}});
        json!({"metadata": {"name": "pv"}, "spec": {"local": {"path": "/data"}, "nodeAffinity": affinity}})
    })
}

/// The names of the nodes that can use a volume, as the plain matcher has it; `None` for nodes without a name.
fn names(volume: &Value) -> BTreeSet<Option<String>> {
    let text = volume.to_string();
    let document = field::parse(text.as_bytes()).expect("it is JSON");
    let volume = Volume::read(&Field::root("object", &document)).expect("it is readable");
    nodes().iter().filter(|node| volume.admits(node)).map(|node| node.get(HOSTNAME).cloned()).collect()
}

/// The one name of the nodes that can use a volume.
fn pinned_to(volume: &Value) -> Option<String> {
    let names = names(volume);
    if names.len() == 1 { names.into_iter().next().flatten() } else { None }
}

fn findings(old: Option<&Value>, volume: &Value) -> String {
    findings_under(&json!({"localVolumes": {"pinned": true}}), old, volume)
}

fn findings_under(settings: &Value, old: Option<&Value>, volume: &Value) -> String {
    let request = json!({
        "uid": "1", "kind": {"group": "", "version": "v1", "kind": "PersistentVolume"},
        "operation": if old.is_some() { "UPDATE" } else { "CREATE" }, "object": volume, "oldObject": old,
    });
    let payload = json!({"settings": settings, "request": request}).to_string();
    let answer: Value = serde_json::from_slice(&kubewarden::validate(payload.as_bytes())).expect("an answer is JSON");
    answer["audit_annotations"]["findings"].as_str().unwrap_or_default().to_owned()
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: testkit::max_shrink_iters(), ..ProptestConfig::with_cases(500) })]

    #[test]
    fn a_volume_is_pinned_when_its_nodes_have_one_name(volume in any_volume()) {
        let expected = if pinned_to(&volume).is_some() { "" } else { "local-not-pinned" };
        prop_assert_eq!(findings(None, &volume), expected, "{} admits {:?}", volume, names(&volume));
    }

    #[test]
    fn a_volume_moves_when_that_name_changes(old in any_volume(), new in any_volume()) {
        let changed = old["spec"]["nodeAffinity"] != new["spec"]["nodeAffinity"];
        let expected = match (pinned_to(&old), pinned_to(&new)) {
            _ if !changed => "",
            (_, None) => "local-not-pinned",
            (Some(was), Some(is)) if was != is => "local-moved",
            _ => "",
        };
        prop_assert_eq!(findings(Some(&old), &new), expected, "{} becomes {}", old, new);
    }
}

/// The label that names a node in addition to the host name.
const NODE: &str = "example.com/node";

/// Affinities over two keys that name nodes: what a chain of edits is made of.
fn any_two_key_volume() -> impl Strategy<Value = Value> {
    let requirement = |key: &'static str, names: [&'static str; 2]| {
        let names = prop::sample::select(names.to_vec());
        prop::option::weighted(0.6, names)
            .prop_map(move |name| name.map(|name| json!({"key": key, "operator": "In", "values": [name]})))
    };
    (requirement(HOSTNAME, ["a", "b"]), requirement(NODE, ["n1", "n2"])).prop_map(|(host, node)| {
        let requirements: Vec<Value> = host.into_iter().chain(node).collect();
        let affinity = json!({"required": {"nodeSelectorTerms": [{"matchExpressions": requirements}]}});
        json!({"metadata": {"name": "pv"}, "spec": {"local": {"path": "/data"}, "nodeAffinity": affinity}})
    })
}

/// Which of the two nodes of a cluster can use a volume.
fn uses(volume: &Value) -> Vec<&'static str> {
    let text = volume.to_string();
    let document = field::parse(text.as_bytes()).expect("it is JSON");
    let volume = Volume::read(&Field::root("object", &document)).expect("it is readable");
    let nodes = [("a", "n1"), ("b", "n2")];
    let labels = |(host, node): (&str, &str)| {
        Labels::from([(HOSTNAME.to_owned(), host.to_owned()), (NODE.to_owned(), node.to_owned())])
    };
    nodes.into_iter().filter(|node| volume.admits(&labels(*node))).map(|(host, _)| host).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// However long the chain, and whatever the order in which the settings name the keys.
    #[test]
    fn no_chain_of_accepted_edits_moves_a_volume(
        first in any_two_key_volume(),
        edits in prop::collection::vec(any_two_key_volume(), 8..16),
        host_first in any::<bool>(),
    ) {
        let keys = if host_first { json!([HOSTNAME, NODE]) } else { json!([NODE, HOSTNAME]) };
        let settings = json!({"localVolumes": {"pinned": true, "pinnedBy": keys}});
        prop_assume!(findings_under(&settings, None, &first).is_empty());
        let (home, mut now) = (uses(&first), first);
        for edit in edits {
            if findings_under(&settings, Some(&now), &edit).is_empty() {
                now = edit;
                let elsewhere = uses(&now).into_iter().find(|node| !home.is_empty() && !home.contains(node));
                prop_assert_eq!(elsewhere, None, "{}", now);
            }
        }
    }
}

/// The volumes above are worth asking about: enough of them are pinned, and enough are not.
#[test]
fn the_volumes_are_of_both_kinds() {
    let mut runner = TestRunner::deterministic();
    let any = any_volume();
    let volumes = (0..200).map(|_| any.new_tree(&mut runner).expect("a volume").current());
    let pinned = volumes.filter(|volume| pinned_to(volume).is_some()).count();
    assert!((20..=180).contains(&pinned), "{pinned} of 200 are pinned");
}
