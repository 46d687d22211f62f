#![allow(clippy::restriction)]

use super::{Change, Reach};
use crate::kubernetes::field::{self, Field, Unreadable};
use crate::kubernetes::volume::Volume;

fn volume(json: &str) -> Volume {
    let parsed = field::parse(json.as_bytes()).unwrap();
    Volume::read(&Field::root("volume", &parsed)).unwrap()
}

fn in_zones(zones: &str) -> Volume {
    volume(&format!(
        r#"{{"spec":{{"nodeAffinity":{{"required":{{"nodeSelectorTerms":[{{"matchExpressions":
            [{{"key":"topology.kubernetes.io/zone","operator":"In","values":{zones}}}]}}]}}}}}}}}"#
    ))
}

fn seen(change: &Change, nodes: &str) -> Result<Vec<(String, Reach)>, Unreadable> {
    let parsed = field::parse(nodes.as_bytes())?;
    let mut seen = Vec::new();
    change.each(&Field::root("nodes", &parsed), &mut |_, name, reach| seen.push((name.to_owned(), reach)))?;
    Ok(seen)
}

fn node(name: &str, zone: &str) -> String {
    format!(r#"{{"kind":"Node","metadata":{{"name":"{name}","labels":{{"topology.kubernetes.io/zone":"{zone}"}}}}}}"#)
}

#[test]
fn each_node_is_asked_before_and_after() {
    let change = Change::new(in_zones(r#"["a","b"]"#), in_zones(r#"["b","c"]"#));
    let nodes: Vec<String> = ["a", "b", "c", "d"].iter().map(|zone| node(zone, zone)).collect();
    let expected = [("a", Reach::Loses), ("b", Reach::Keeps), ("c", Reach::Gains), ("d", Reach::Never)];
    let expected: Vec<(String, Reach)> = expected.map(|(name, reach)| (name.to_owned(), reach)).into();
    let list = nodes.join(",");
    assert_eq!(seen(&change, &format!("[{list}]")).unwrap(), expected);
    assert_eq!(seen(&change, &format!(r#"{{"kind":"List","items":[{list}]}}"#)).unwrap(), expected);
    assert_eq!(seen(&change, &nodes[0]).unwrap(), expected[..1]);
}

#[test]
fn zone_labels_of_a_volume_count_as_well() {
    let labelled = volume(r#"{"metadata":{"labels":{"failure-domain.beta.kubernetes.io/zone":"a"}}}"#);
    let change = Change::new(volume("{}"), labelled);
    let list = format!("[{},{}]", node("in", "a"), node("out", "b"));
    let expected = [(String::from("in"), Reach::Keeps), (String::from("out"), Reach::Loses)];
    assert_eq!(seen(&change, &list).unwrap(), expected);
}

#[test]
fn many_keys_are_read_as_few_are() {
    let keys: Vec<String> = (0..40).map(|key| format!(r#"{{"key":"k{key}","operator":"DoesNotExist"}}"#)).collect();
    let many = format!(
        r#"{{"spec":{{"nodeAffinity":{{"required":{{"nodeSelectorTerms":[{{"matchExpressions":[{}]}}]}}}}}}}}"#,
        keys.join(",")
    );
    let change = Change::new(volume("{}"), volume(&many));
    let with = |label: &str| format!(r#"{{"metadata":{{"name":"n","labels":{{"{label}":"x"}}}}}}"#);
    assert_eq!(seen(&change, &with("k39")).unwrap()[0].1, Reach::Loses);
    assert_eq!(seen(&change, &with("k40")).unwrap()[0].1, Reach::Keeps);
}

#[test]
fn other_kinds_are_left_out_and_broken_nodes_are_named() {
    let change = Change::new(volume("{}"), volume("{}"));
    assert_eq!(seen(&change, r#"[{"kind":"Pod"}]"#).unwrap(), []);
    let said = |nodes: &str| seen(&change, nodes).unwrap_err().to_string();
    assert_eq!(said(r#"[{"kind":"Node"}]"#), "nodes[0].metadata.name: is missing; must be a string");
    let label = r#"{"items":[{"metadata":{"name":"a","labels":{"topology.kubernetes.io/zone":1}}}]}"#;
    assert!(said(label).starts_with("nodes.items[0].metadata.labels["), "{}", said(label));
    assert!(said("7").starts_with("nodes: must be a list"), "{}", said("7"));
}
