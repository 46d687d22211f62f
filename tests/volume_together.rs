//! Whether any node fits all volumes of a pod, held against every node that there could be, looked at one by one.

#![allow(clippy::restriction)]

use placement_guard::kubernetes::field::{self, Field};
use placement_guard::kubernetes::kind::Kind;
use placement_guard::kubernetes::node_selector::Labels;
use placement_guard::kubernetes::picked::Fields;
use placement_guard::kubernetes::volume::Volume;
use placement_guard::objects::Objects;
use placement_guard::rules::cluster::{CannotRead, Cluster, Verb, Wanted};
use placement_guard::verdict;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

const KEYS: [&str; 3] = ["topology.kubernetes.io/zone", "rack", "disk"];
/// What requirements name, and one value more.
const VALUES: [&str; 3] = ["a", "b", "unlisted"];

/// A cluster whose nodes may not be listed.
struct WithoutNodes<'c>(&'c Objects);

impl Cluster for WithoutNodes<'_> {
    fn get(
        &self,
        kind: Kind,
        namespace: Option<&str>,
        name: &str,
        wanted: Wanted,
    ) -> Result<Option<Vec<u8>>, CannotRead> {
        self.0.get(kind, namespace, name, wanted)
    }

    fn list(&self, _: Kind, _: Fields) -> Result<Vec<u8>, CannotRead> {
        Err(CannotRead::Forbidden(Verb::List))
    }
}

/// Every node that the requirements here can tell from another.
fn every_node() -> Vec<Labels> {
    let mut nodes = vec![Labels::new()];
    for key in KEYS {
        let with = |value: &str| {
            let value = value.to_owned();
            nodes.iter().map(move |node| node.clone().into_iter().chain([(key.to_owned(), value.clone())]).collect())
        };
        let more: Vec<Labels> = VALUES.iter().flat_map(|value| with(value)).collect();
        nodes.extend(more);
    }
    nodes
}

fn any_node() -> impl Strategy<Value = Labels> {
    let value = prop::option::weighted(0.8, prop::sample::select(VALUES.to_vec()));
    prop::collection::vec(value, KEYS.len()).prop_map(|values| {
        KEYS.iter().zip(values).filter_map(|(key, value)| Some(((*key).to_owned(), value?.to_owned()))).collect()
    })
}

fn any_requirement() -> impl Strategy<Value = Value> {
    let values = prop::sample::select(vec![json!(["a"]), json!(["b"]), json!(["a", "b"])]);
    let operator = prop::sample::select(vec!["In", "In", "In", "NotIn", "Exists", "DoesNotExist", "Gt"]);
    (prop::sample::select(KEYS.to_vec()), operator, values).prop_map(|(key, operator, values)| {
        let values = if matches!(operator, "Exists" | "DoesNotExist") { json!([]) } else { values };
        json!({"key": key, "operator": operator, "values": values})
    })
}

fn any_terms() -> impl Strategy<Value = Value> {
    let term = prop::collection::vec(any_requirement(), 0..3).prop_map(|all| json!({"matchExpressions": all}));
    prop::collection::vec(term, 1..3).prop_map(Value::Array)
}

/// A volume, or a class that makes one.
#[derive(Debug, Clone)]
enum Side {
    Volume(Value),
    Class(Value),
}

fn any_side() -> impl Strategy<Value = Side> {
    let zone = prop::option::weighted(0.2, prop::sample::select(vec!["a", "b", "a__b"]));
    let volume = (prop::option::weighted(0.9, any_terms()), zone).prop_map(|(terms, zone)| {
        let labels = zone.map_or(json!({}), |zone| json!({"topology.kubernetes.io/zone": zone}));
        let affinity = terms.map(|terms| json!({"required": {"nodeSelectorTerms": terms}}));
        Side::Volume(json!({
            "apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "pv", "labels": labels},
            "spec": {"nodeAffinity": affinity},
        }))
    });
    let expression = (prop::sample::select(KEYS.to_vec()), prop::sample::select(vec![json!(["a"]), json!(["a", "b"])]))
        .prop_map(|(key, values)| json!({"key": key, "values": values}));
    let term = prop::collection::vec(expression, 0..3).prop_map(|all| json!({"matchLabelExpressions": all}));
    let class = prop::collection::vec(term, 0..3).prop_map(|terms| Side::Class(Value::Array(terms)));
    prop_oneof![3 => volume, 1 => class]
}

#[derive(Debug, Clone)]
struct Scene {
    sides: Vec<Side>,
    selector: Option<(&'static str, &'static str)>,
    terms: Option<Value>,
    nodes: Vec<Labels>,
}

fn any_scene() -> impl Strategy<Value = Scene> {
    let label = (prop::sample::select(KEYS.to_vec()), prop::sample::select(vec!["a", "b"]));
    (
        prop::collection::vec(any_side(), 1..4),
        prop::option::weighted(0.3, label),
        prop::option::weighted(0.3, any_terms()),
        prop::collection::vec(any_node(), 1..5),
    )
        .prop_map(|(sides, selector, terms, nodes)| Scene { sides, selector, terms, nodes })
}

impl Scene {
    fn request(&self) -> Value {
        let volume = |index| json!({"name": "v", "persistentVolumeClaim": {"claimName": format!("c{index}")}});
        let volumes: Vec<Value> = (0..self.sides.len()).map(volume).collect();
        let mut spec = json!({"volumes": volumes});
        if let Some((key, value)) = self.selector {
            spec["nodeSelector"] = json!({key: value});
        }
        if let Some(terms) = &self.terms {
            let required = json!({"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}});
            spec["affinity"] = json!({"nodeAffinity": required});
        }
        json!({
            "uid": "1", "kind": {"group": "", "version": "v1", "kind": "Pod"}, "name": "p", "namespace": "shop",
            "operation": "CREATE", "object": {"metadata": {"name": "p"}, "spec": spec},
        })
    }

    fn cluster(&self) -> Objects {
        let mut objects = Vec::new();
        for (index, side) in self.sides.iter().enumerate() {
            let name = format!("s{index}");
            let mut spec = json!({"volumeName": name});
            match side {
                Side::Volume(volume) => {
                    let mut volume = volume.clone();
                    volume["metadata"]["name"] = json!(name);
                    objects.push(volume);
                }
                Side::Class(topologies) => {
                    spec = json!({"storageClassName": name});
                    objects.push(json!({
                        "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name},
                        "provisioner": "csi.example.com", "volumeBindingMode": "WaitForFirstConsumer",
                        "allowedTopologies": topologies,
                    }));
                }
            }
            objects.push(json!({
                "apiVersion": "v1", "kind": "PersistentVolumeClaim", "spec": spec,
                "metadata": {"name": format!("c{index}"), "namespace": "shop"},
            }));
        }
        for (index, labels) in self.nodes.iter().enumerate() {
            let metadata = json!({"name": format!("n{index}"), "labels": labels});
            objects.push(json!({"apiVersion": "v1", "kind": "Node", "metadata": metadata}));
        }
        Objects::read(&Value::Array(objects).to_string()).unwrap()
    }

    /// Whether the volumes and classes admit a node: of a class, each term is spelled out here.
    fn volumes_admit(&self, node: &Labels) -> bool {
        self.sides.iter().all(|side| match side {
            Side::Volume(volume) => admits(volume, node),
            Side::Class(terms) => {
                let terms = terms.as_array().unwrap();
                let meets = |expression: &Value| {
                    let value = node.get(expression["key"].as_str().unwrap());
                    value.is_some_and(|value| expression["values"].as_array().unwrap().contains(&json!(value)))
                };
                terms.is_empty()
                    || terms.iter().any(|term| {
                        let expressions = term["matchLabelExpressions"].as_array().unwrap();
                        !expressions.is_empty() && expressions.iter().all(meets)
                    })
            }
        })
    }

    fn pod_may_get(&self, node: &Labels) -> bool {
        let selected = self.selector.is_none_or(|(key, value)| node.get(key).is_some_and(|actual| actual == value));
        let affinity = self.terms.as_ref().map(|terms| json!({"required": {"nodeSelectorTerms": terms}}));
        selected && admits(&json!({"spec": {"nodeAffinity": affinity}}), node)
    }

    /// Whether no node of these fits everything, and it is not the pod alone that fits none.
    fn is_unreachable(&self, nodes: &[Labels]) -> bool {
        let none = |fits: &dyn Fn(&Labels) -> bool| !nodes.iter().any(fits);
        let is_about_two = self.sides.len() > 1 || self.selector.is_some() || self.terms.is_some();
        is_about_two
            && none(&|node| self.volumes_admit(node) && self.pod_may_get(node))
            && (none(&|node| self.volumes_admit(node)) || !none(&|node| self.pod_may_get(node)))
    }
}

fn admits(volume: &Value, node: &Labels) -> bool {
    let text = volume.to_string();
    let document = field::parse(text.as_bytes()).unwrap();
    Volume::read(&Field::root("object", &document)).unwrap().admits(node)
}

fn finds(scene: &Scene, cluster: &dyn Cluster) -> bool {
    let settings = r#"{"volumeBinding": {"unreachableTogether": "deny"}}"#;
    let findings = verdict::check_in(settings, &scene.request().to_string(), cluster).findings;
    findings.iter().any(|code| code == "volumes-unreachable-together")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn without_live_nodes_every_conceivable_node_counts(scene in any_scene()) {
        let cluster = scene.cluster();
        prop_assert_eq!(finds(&scene, &WithoutNodes(&cluster)), scene.is_unreachable(&every_node()));
    }

    #[test]
    fn with_live_nodes_only_they_count(scene in any_scene()) {
        // What no conceivable node could fit is not held against those that are there.
        let every_node = every_node();
        let is_possible = every_node.iter().any(|node| scene.volumes_admit(node) && scene.pod_may_get(node));
        let expected = scene.is_unreachable(if is_possible { &scene.nodes } else { &every_node });
        prop_assert_eq!(finds(&scene, &scene.cluster()), expected);
    }
}

#[test]
fn the_scenes_are_of_every_kind() {
    let mut runner = TestRunner::deterministic();
    let scenes: Vec<Scene> = (0..300).map(|_| any_scene().new_tree(&mut runner).unwrap().current()).collect();
    let never = scenes.iter().filter(|scene| scene.is_unreachable(&every_node())).count();
    let not_here = scenes.iter().filter(|scene| scene.is_unreachable(&scene.nodes)).count();
    assert!(never > 30 && not_here > never + 30 && not_here < 270, "{never} never, {not_here} not here, of 300");
}
