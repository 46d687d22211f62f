//! Whether a binding is refused is what the plain matcher says of the whole node, however little of it is read.

#![allow(clippy::restriction)]

use std::cell::RefCell;

use placement_guard::kubernetes::field::{self, Field};
use placement_guard::kubernetes::kind::Kind;
use placement_guard::kubernetes::node_selector::Labels;
use placement_guard::kubernetes::picked::Fields;
use placement_guard::kubernetes::volume::Volume;
use placement_guard::kubernetes::zone_labels::ZoneLabels;
use placement_guard::objects::Objects;
use placement_guard::rules::cluster::{CannotRead, Cluster, Freshness, Wanted};
use placement_guard::verdict;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

const ZONE: &str = "topology.kubernetes.io/zone";
const REGION: &str = "topology.kubernetes.io/region";
const KEYS: [&str; 5] =
    [ZONE, REGION, "failure-domain.beta.kubernetes.io/zone", "kubernetes.io/hostname", "topology.gke.io/zone"];
const VALUES: [&str; 3] = ["a", "b", "7"];

/// A cluster of objects that writes down what it is asked.
struct Asked<'c> {
    now: &'c Objects,
    /// What is answered where an old answer will do.
    held: &'c Objects,
    gets: RefCell<Vec<(Kind, String, Freshness)>>,
}

impl<'c> Asked<'c> {
    fn new(now: &'c Objects, held: &'c Objects) -> Self {
        Asked { now, held, gets: RefCell::default() }
    }

    fn of(&self, wanted: impl Fn(&(Kind, String, Freshness)) -> bool) -> usize {
        self.gets.borrow().iter().filter(|get| wanted(get)).count()
    }
}

impl Cluster for Asked<'_> {
    fn get(
        &self,
        kind: Kind,
        namespace: Option<&str>,
        name: &str,
        wanted: Wanted,
    ) -> Result<Option<Vec<u8>>, CannotRead> {
        self.gets.borrow_mut().push((kind, name.to_owned(), wanted.freshness));
        let objects = if wanted.freshness == Freshness::Now { self.now } else { self.held };
        objects.get(kind, namespace, name, wanted)
    }

    fn list(&self, kind: Kind, _: Fields) -> Result<Vec<u8>, CannotRead> {
        panic!("{kind:?} are listed");
    }
}

fn any_labels() -> impl Strategy<Value = Value> {
    let label = prop::option::of(prop::sample::select(VALUES.to_vec()));
    prop::collection::vec(label, KEYS.len()).prop_map(|values| {
        let labels = KEYS.iter().zip(values).filter_map(|(key, value)| Some(((*key).to_owned(), json!(value?))));
        Value::Object(labels.collect())
    })
}

fn any_requirement() -> impl Strategy<Value = Value> {
    let values = prop::collection::vec(prop::sample::select(VALUES.to_vec()), 1..3);
    // A word is no number, so `Gt` on one makes its term dead.
    let operator = prop::sample::select(vec!["In", "In", "In", "NotIn", "Exists", "DoesNotExist", "Gt"]);
    (prop::sample::select(KEYS.to_vec()), operator, values).prop_map(|(key, operator, values)| {
        let values = match operator {
            "Exists" | "DoesNotExist" => Vec::new(),
            "Gt" => values.into_iter().take(1).collect(),
            _ => values,
        };
        json!({"key": key, "operator": operator, "values": values})
    })
}

fn any_volume() -> impl Strategy<Value = Value> {
    let term = prop::collection::vec(any_requirement(), 0..3).prop_map(|all| json!({"matchExpressions": all}));
    let terms = prop::option::weighted(0.8, prop::collection::vec(term, 0..3));
    let zones = prop::sample::select(vec!["a", "b", "a__b", "a__", ""]);
    let labels = prop::collection::vec(prop::option::weighted(0.2, zones), 3);
    let source = prop::sample::select(vec!["csi", "csi", "csi", "gcePersistentDisk"]);
    (terms, labels, source).prop_map(|(terms, labels, source)| {
        let labels = KEYS.iter().zip(labels).filter_map(|(key, value)| Some(((*key).to_owned(), json!(value?))));
        let affinity = terms.map(|terms| json!({"required": {"nodeSelectorTerms": terms}}));
        json!({
            "apiVersion": "v1", "kind": "PersistentVolume",
            "metadata": {"name": "pv", "labels": Value::Object(labels.collect())},
            "spec": {source: {}, "nodeAffinity": affinity},
        })
    })
}

/// What a volume of the pod comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Chain {
    Bound,
    /// The same as the claim of a generic ephemeral volume.
    Ephemeral,
    /// The claim of that name belongs to another pod.
    Foreign,
    Unbound,
    WithoutVolume,
    WithoutClaim,
}

fn any_chain() -> impl Strategy<Value = Chain> {
    use Chain::{Bound, Ephemeral, Foreign, Unbound, WithoutClaim, WithoutVolume};
    prop::sample::select(vec![Bound, Bound, Bound, Ephemeral, Foreign, Unbound, WithoutVolume, WithoutClaim])
}

/// A pod, its claims and volumes, and the nodes of a cluster.
#[derive(Debug, Clone)]
struct Scene {
    volumes: Vec<(Chain, Value)>,
    node: Value,
}

fn any_scene() -> impl Strategy<Value = Scene> {
    (prop::collection::vec((any_chain(), any_volume()), 0..4), any_labels())
        .prop_map(|(volumes, node)| Scene { volumes, node })
}

impl Scene {
    fn pod(&self) -> Value {
        let volume = |(index, (chain, _)): (usize, &(Chain, Value))| match chain {
            Chain::Ephemeral | Chain::Foreign => json!({"name": format!("v{index}"), "ephemeral": {}}),
            _ => json!({"name": format!("v{index}"), "persistentVolumeClaim": {"claimName": format!("db-0-v{index}")}}),
        };
        let volumes: Vec<Value> = self.volumes.iter().enumerate().map(volume).collect();
        json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "db-0", "namespace": "shop", "uid": "uid-of-db-0"}, "spec": {"volumes": volumes},
        })
    }

    fn cluster(&self) -> Objects {
        let mut objects = vec![self.pod()];
        objects.push(json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "labels": self.node}}));
        for (index, (chain, volume)) in self.volumes.iter().enumerate() {
            let owner = if *chain == Chain::Ephemeral { "uid-of-db-0" } else { "another" };
            let bound = if *chain == Chain::Unbound { None } else { Some(format!("pv-{index}")) };
            let claim = json!({
                "apiVersion": "v1", "kind": "PersistentVolumeClaim", "spec": {"volumeName": bound},
                "metadata": {
                    "name": format!("db-0-v{index}"), "namespace": "shop",
                    "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "db-0", "uid": owner, "controller": true}],
                },
            });
            let mut volume = volume.clone();
            volume["metadata"]["name"] = json!(format!("pv-{index}"));
            objects.extend((*chain != Chain::WithoutClaim).then_some(claim));
            objects.extend((*chain != Chain::WithoutVolume).then_some(volume));
        }
        Objects::read(&Value::Array(objects).to_string()).unwrap()
    }

    /// What the plain matcher says, of each volume that the pod really has, about the whole node.
    fn is_unreachable(&self) -> bool {
        let node: Labels = serde_json::from_value(self.node.clone()).unwrap();
        let judged = self.volumes.iter().filter(|(chain, _)| matches!(chain, Chain::Bound | Chain::Ephemeral));
        judged.into_iter().any(|(chain, volume)| {
            let mut volume = volume_of(volume);
            if *chain == Chain::Ephemeral {
                volume.zone_labels = ZoneLabels::default();
            }
            !volume.admits(&node)
        })
    }

    /// A Binding as an API server sends it that copies the labels of the node, and as an older one sends it.
    fn bindings(&self) -> [Value; 2] {
        let copied = [ZONE, REGION].iter().filter_map(|key| Some(((*key).to_owned(), self.node.get(*key)?.clone())));
        [Value::Object(copied.collect()), json!({"kubernetes.io/hostname": "a"})].map(|labels| {
            json!({
                "uid": "1", "kind": {"group": "", "version": "v1", "kind": "Binding"}, "subResource": "binding",
                "name": "db-0", "namespace": "shop", "operation": "CREATE",
                "object": {"metadata": {"name": "db-0", "labels": labels}, "target": {"kind": "Node", "name": "n"}},
            })
        })
    }

    fn with_node_name(&self) -> Value {
        let mut pod = self.pod();
        pod["spec"]["nodeName"] = json!("n");
        json!({
            "uid": "1", "kind": {"group": "", "version": "v1", "kind": "Pod"}, "name": "db-0", "namespace": "shop",
            "operation": "CREATE", "object": pod,
        })
    }
}

fn volume_of(object: &Value) -> Volume {
    let text = object.to_string();
    let document = field::parse(text.as_bytes()).unwrap();
    Volume::read(&Field::root("object", &document)).unwrap()
}

fn findings(request: &Value, cluster: &dyn Cluster) -> String {
    verdict::check_in(r#"{"volumeBinding": {}}"#, &request.to_string(), cluster).findings.join(",")
}

fn samples(count: usize) -> Vec<Scene> {
    let mut runner = TestRunner::deterministic();
    (0..count).map(|_| any_scene().new_tree(&mut runner).unwrap().current()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// What labels that are known decide, no other label of the node changes.
    #[test]
    fn what_is_known_of_a_node_is_never_contradicted(volume in any_volume(), node in any_labels(), known in any::<[bool; 5]>()) {
        let volume = volume_of(&volume);
        let node: Labels = serde_json::from_value(node).unwrap();
        let is_known = |key: &str| KEYS.iter().zip(known).any(|(known, is)| *known == key && is);
        let part: Labels = node.clone().into_iter().filter(|(key, _)| is_known(key)).collect();
        if let Some(admits) = volume.known_to_admit(&part) {
            prop_assert_eq!(admits, volume.admits(&node));
        }
    }

    /// With as few reads as are promised: of the pod and the node one each, of each claim and each volume one.
    #[test]
    fn a_binding_is_refused_exactly_where_the_plain_matcher_denies_the_node(scene in any_scene()) {
        let cluster = scene.cluster();
        let expected = if scene.is_unreachable() { "binding-unreachable" } else { "" };
        for request in scene.bindings() {
            let asked = Asked::new(&cluster, &cluster);
            prop_assert_eq!(findings(&request, &asked), expected);
            let claims = scene.volumes.len();
            prop_assert!(asked.of(|_| true) <= 2 + 2 * claims, "{:?}", asked.gets);
            prop_assert!(claims > 0 || asked.of(|_| true) == 1, "{:?}", asked.gets);
            prop_assert_eq!(asked.of(|(kind, _, freshness)| *kind == Kind::Pod && *freshness == Freshness::Now), 1);
            prop_assert_eq!(asked.of(|(kind, _, freshness)| *kind == Kind::PersistentVolume && *freshness == Freshness::Held), 0);
        }
        let asked = Asked::new(&cluster, &cluster);
        prop_assert_eq!(findings(&scene.with_node_name(), &asked), expected);
        prop_assert_eq!(asked.of(|(kind, _, _)| *kind == Kind::Pod), 0);
    }
}

/// The laws above are about something: each answer comes often, with and without a look at the node.
#[test]
fn the_scenes_are_of_every_kind() {
    let (mut refused, mut accepted, mut read_the_node, mut did_not) = (0, 0, 0, 0);
    for scene in samples(400) {
        let cluster = scene.cluster();
        let asked = Asked::new(&cluster, &cluster);
        match findings(&scene.bindings()[0], &asked).as_str() {
            "" => accepted += 1,
            _ => refused += 1,
        }
        if asked.of(|(kind, _, _)| *kind == Kind::PersistentVolume) > 0 {
            match asked.of(|(kind, _, _)| *kind == Kind::Node) {
                0 => did_not += 1,
                _ => read_the_node += 1,
            }
        }
    }
    for count in [refused, accepted, read_the_node, did_not] {
        assert!(count > 40, "{refused} {accepted} {read_the_node} {did_not}");
    }
}

fn zonal(zone: &str) -> Scene {
    let terms = json!([{"matchExpressions": [{"key": ZONE, "operator": "In", "values": [zone]}]}]);
    let volume = json!({
        "apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "pv"},
        "spec": {"csi": {}, "nodeAffinity": {"required": {"nodeSelectorTerms": terms}}},
    });
    Scene { volumes: vec![(Chain::Bound, volume)], node: json!({ZONE: "a"}) }
}

/// What a claim is bound to never changes, so an old answer will do; a volume is read as it is now.
#[test]
fn an_old_answer_about_a_claim_serves_where_it_names_a_volume() {
    let (now, mut unbound) = (zonal("b"), zonal("a"));
    let (now, held) = (now.cluster(), unbound.cluster());
    let asked = Asked::new(&now, &held);
    assert_eq!(findings(&zonal("b").bindings()[0], &asked), "binding-unreachable");
    assert_eq!(
        asked.gets.borrow().iter().map(|(kind, _, _)| *kind).collect::<Vec<_>>(),
        [Kind::Pod, Kind::PersistentVolumeClaim, Kind::PersistentVolume]
    );
    unbound.volumes[0].0 = Chain::Unbound;
    let held = unbound.cluster();
    let asked = Asked::new(&now, &held);
    assert_eq!(findings(&zonal("b").bindings()[0], &asked), "binding-unreachable");
    // Only what is read from the API server counts: the pod, the claim, the volume.
    assert_eq!(asked.of(|(_, _, freshness)| *freshness == Freshness::Now), 3);
}

#[test]
fn what_the_api_server_refuses_by_itself_is_accepted_and_nothing_is_read() {
    let cluster = zonal("b").cluster();
    let [binding, _] = zonal("b").bindings();
    for (pointer, value, reads) in [
        ("/object/target/kind", json!("Pod"), 0),
        ("/object/target/name", json!(""), 0),
        ("/object/target/name", Value::Null, 0),
        ("/name", json!("not-there"), 1),
        ("/name", json!("../nodes/n"), 0),
        ("/subResource", json!("status"), 0),
        ("/operation", json!("CONNECT"), 0),
    ] {
        let mut request = binding.clone();
        *request.pointer_mut(pointer).unwrap() = value.clone();
        let asked = Asked::new(&cluster, &cluster);
        assert_eq!((findings(&request, &asked).as_str(), asked.of(|_| true)), ("", reads), "{pointer} = {value}");
    }
    // The API server takes a target without a kind for a node.
    for kind in [json!(""), Value::Null] {
        let mut request = binding.clone();
        request["object"]["target"]["kind"] = kind;
        assert_eq!(findings(&request, &cluster), "binding-unreachable");
    }
    // The legacy resource `bindings` has no sub-resource.
    let mut request = binding;
    request["subResource"] = Value::Null;
    assert_eq!(findings(&request, &cluster), "binding-unreachable");
}

/// Each read is paid for, so a pod with any number of claims ends in one answer, after a bounded number of reads.
#[test]
fn a_pod_with_too_many_claims_is_not_accepted() {
    let (_, volume) = zonal("a").volumes.remove(0);
    let scene = |claims| Scene { volumes: vec![(Chain::Bound, volume.clone()); claims], node: json!({ZONE: "a"}) };
    let judged = |claims| {
        let scene: Scene = scene(claims);
        let cluster = scene.cluster();
        let asked = Asked::new(&cluster, &cluster);
        (findings(&scene.bindings()[0], &asked), asked.of(|_| true))
    };
    // The node is not read: the Binding names its zone.
    assert_eq!(judged(100), (String::new(), 201));
    let (found, reads) = judged(2_000);
    assert_eq!(found, "request-too-large");
    assert!((200..600).contains(&reads), "{reads}");
}

/// One volume that cannot be read hides nothing that is known of another.
#[test]
fn a_volume_that_cannot_be_reached_is_named_whatever_cannot_be_read_of_another() {
    let mut scene = zonal("a");
    let (chain, mut garbled) = scene.volumes[0].clone();
    garbled["spec"]["nodeAffinity"] = json!("no affinity");
    scene.volumes.insert(0, (chain, garbled));
    scene.node = json!({ZONE: "b"});
    let cluster = scene.cluster();
    let settings = r#"{"volumeBinding": {"whenClusterUnreadable": "allow"}}"#;
    for request in scene.bindings() {
        let verdict = verdict::check_in(settings, &request.to_string(), &cluster);
        assert!(!verdict.allowed);
        assert_eq!(verdict.findings, ["binding-unreachable", "cluster-unreadable"]);
    }
}
