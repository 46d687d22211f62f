use super::*;
use crate::kubernetes::picked::WHOLE;
use crate::rules::cluster::Freshness;

const WANTED: Wanted = Wanted { fields: WHOLE, freshness: Freshness::Now };

#[test]
fn objects_are_found_by_kind_namespace_and_name() {
    let text = r#"[
        {"apiVersion":"v1","kind":"Node","metadata":{"name":"a"}},
        {"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"n"}}]},
        {"apiVersion":"v1","kind":"PersistentVolumeClaimList","items":[{"metadata":{"name":"c"}}]},
        {"apiVersion":"metrics.k8s.io/v1beta1","kind":"Node","metadata":{"name":"b"}},
        {"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"}}]"#;
    let objects = Objects::read(text).unwrap();
    let counts = Kind::ALL.map(|kind| objects.count(kind));
    assert_eq!(counts, [1, 1, 0, 1, 0, 0, 0, 0]);
    let found = |kind, namespace, name| objects.get(kind, namespace, name, WANTED).unwrap().is_some();
    assert!(found(Kind::Node, None, "a") && found(Kind::Pod, Some("n"), "p"));
    assert!(found(Kind::PersistentVolumeClaim, Some("default"), "c"));
    assert!(!found(Kind::Pod, Some("default"), "p") && !found(Kind::Node, None, "b"));
    let nodes = objects.list(Kind::Node, WHOLE).unwrap();
    assert_eq!(nodes, br#"{"items":[{"apiVersion":"v1","kind":"Node","metadata":{"name":"a"}}]}"#);
}

#[test]
fn kinds_that_were_not_given_cannot_be_read() {
    let objects = Objects::of_kinds(&[Kind::Node]);
    assert_eq!(objects.list(Kind::Node, WHOLE), Ok(br#"{"items":[]}"#.to_vec()));
    assert_eq!(objects.list(Kind::Pod, WHOLE), Err(CannotRead::NotGiven));
    assert_eq!(objects.get(Kind::Pod, Some("n"), "p", WANTED), Err(CannotRead::NotGiven));
}

#[test]
fn what_is_no_object_is_named() {
    let complaint = |text: &str| Objects::read(text).unwrap_err().to_string();
    assert_eq!(complaint(r#"[{"kind":"Node"}]"#), "cluster[0].apiVersion: is missing; must be a string");
    assert_eq!(complaint(r#"[{"apiVersion":"v1"}]"#), "cluster[0].kind: is missing; must be a string");
    assert_eq!(
        complaint(r#"{"apiVersion":"v1","kind":"Node","metadata":{}}"#),
        "cluster.metadata.name: is missing; must be a string"
    );
}
