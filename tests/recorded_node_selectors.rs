//! What Kubernetes itself answered (`tests/vectors/`), asked of the plain matcher and of the algebra: both must agree
//! with it. How many cases of each kind run, how many are skipped and why is pinned, so that none is lost in silence.

#![allow(clippy::restriction)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use placement_guard::kubernetes::affinity::Affinity;
use placement_guard::kubernetes::field::{self, Field};
use placement_guard::kubernetes::node_selector::{self, Labels};
use placement_guard::kubernetes::volume::Volume;
use placement_guard::kubewarden;
use placement_guard::logic::{Budget, Condition, Containment, Domain, Facts, Outline, Term, contained};
use serde_json::{Value, json};

/// Why a recorded case is not run, as far as there is a choice.
const NAME: &str = "matchFields on a node's name: a volume's matcher knows no name";
const NO_NODE: &str = "no node to match";
const VALIDATION: &str = "API validation is the API server's: the module never validates";
const POD_SELECTOR: &str = "spec.nodeSelector of a pod: no rule reads it";
const SCORES: &str = "scores and weights: the module scores no node";
const LABEL_SELECTORS: &str = "an operator of label selectors that node selectors do not have";
const NOT_A_SELECTOR: &str = "tolerations, taints and tokens: not node selectors";
const NO_LABEL_VALUE: &str = "a value that no label can have: there is no such node";

fn vector(name: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors").join(name);
    std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

fn cases(name: &str) -> Vec<Value> {
    let vectors: Value = serde_json::from_str(&vector(name)).expect("a vector file is JSON");
    vectors["cases"].as_array().expect("it has cases").clone()
}

fn text<'v>(case: &'v Value, key: &str) -> &'v str {
    case[key].as_str().unwrap_or_else(|| panic!("{key} of {case}"))
}

fn skipped(kind: &str, reason: &str) -> String {
    format!("{kind}: skipped, {reason}")
}

/// What was run and skipped, per kind and, for what was skipped, per reason.
#[derive(Default)]
struct Tally(BTreeMap<String, usize>);

impl Tally {
    fn run(&mut self, kind: &str) {
        *self.0.entry(format!("{kind}: run")).or_default() += 1;
    }

    fn skip(&mut self, kind: &str, reason: &str) {
        *self.0.entry(skipped(kind, reason)).or_default() += 1;
    }

    #[track_caller]
    fn is(&self, expected: &[(&str, usize)]) {
        let actual: Vec<(&str, usize)> = self.0.iter().map(|(line, count)| (line.as_str(), *count)).collect();
        assert_eq!(actual, expected);
    }
}

/// A volume with this `nodeAffinity`. Reading it must never fail: whatever upstream takes is readable.
fn volume(affinity: &Value) -> Volume {
    read(&json!({"spec": {"nodeAffinity": affinity}}))
}

fn read(object: &Value) -> Volume {
    let text = object.to_string();
    let document = field::parse(text.as_bytes()).expect("it is JSON");
    Volume::read(&Field::root("object", &document)).unwrap_or_else(|error| panic!("{object}: {error}"))
}

/// A volume whose node affinity requires this node selector.
fn requiring(selector: &Value) -> Volume {
    volume(&json!({"required": selector}))
}

/// Whether some term would be an error of upstream's constructor. A term without requirements is dropped there, no error.
fn has_parse_error(volume: &Volume) -> bool {
    let Affinity::Required(terms) = &volume.affinity else { return false };
    let asks = terms.iter().filter(|term| term.match_expressions.is_some() || term.match_fields.is_some());
    asks.map(node_selector::conditions).any(|conditions| conditions.is_err())
}

fn labels(value: &Value) -> Labels {
    serde_json::from_value(value.clone()).unwrap_or_default()
}

/// The plain matcher and the algebra must both give the recorded answer. In the algebra the node is a union of one box
/// of one point, and the question is whether that lies in what the selector admits. `false` when the algebra has no such
/// point.
fn both_answer(volume: &Volume, node: &Labels, expected: bool, what: &str) -> bool {
    assert_eq!(volume.admits(node), expected, "{what}: the plain matcher on {node:?}");
    let mut outline = Outline::default();
    let admitted = volume.affinity.to_terms(&mut outline);
    admitted.iter().for_each(|term| outline.mention(term));
    let keys = volume.keys().chain(node.keys().map(String::as_str));
    let point: Term<'_> = keys
        .map(|key| {
            let value = node.get(key).map(|value| Condition::In(vec![value]));
            (outline.axis(key, Domain::OptionalText), value.unwrap_or(Condition::Absent))
        })
        .collect();
    outline.mention(&point);
    let budget = &mut Budget::of(100_000);
    let space = outline.cut(budget).unwrap();
    let (point, admitted) = (space.union([&point], budget).unwrap(), space.union(&admitted, budget).unwrap());
    if point.is_empty() {
        assert!(node.values().any(|value| !Domain::OptionalText.contains(value)), "{what}: {node:?} is a valid node");
        return false;
    }
    let answer = contained(&space, &point, &admitted, &Facts::default(), budget);
    assert_eq!(answer == Containment::Contained, expected, "{what}: the algebra on {node:?}");
    true
}

fn has_fields(selector: &Value) -> bool {
    let terms = selector["nodeSelectorTerms"].as_array();
    terms.into_iter().flatten().any(|term| term["matchFields"].as_array().is_some_and(|fields| !fields.is_empty()))
}

/// A recorded match of a node selector: against a node with or without a name, with or without parse errors.
fn match_case(tally: &mut Tally, kind: &str, what: &str, selector: &Value, node: &Value, expect: &Value) {
    let volume = requiring(selector);
    if let Some(parse_error) = expect["parseError"].as_bool() {
        assert_eq!(has_parse_error(&volume), parse_error, "{what}: whether a term does not parse");
    }
    if node.is_null() {
        return tally.skip(kind, NO_NODE);
    }
    if has_fields(selector) && node["name"] != "" && !has_parse_error(&volume) {
        return tally.skip(kind, NAME);
    }
    let expected = expect["match"].as_bool().unwrap_or_else(|| panic!("{what}: no answer"));
    tally.run(kind);
    if !both_answer(&volume, &labels(&node["labels"]), expected, what) {
        tally.skip(&format!("{kind}, of these in the algebra"), NO_LABEL_VALUE);
    }
}

#[test]
fn node_selectors_match_as_upstream_tests_say() {
    let mut tally = Tally::default();
    for case in cases("node_selector_match.json") {
        let (kind, what) = (text(&case, "kind"), text(&case, "name"));
        match kind {
            "strict" | "lazy" => {
                match_case(&mut tally, kind, what, &case["nodeSelector"], &case["node"], &case["expect"]);
            }
            "pvNodeAffinity" => {
                let expected = case["expect"]["match"].as_bool().expect("an answer");
                assert!(both_answer(&volume(&case["nodeAffinity"]), &labels(&case["node"]["labels"]), expected, what));
                tally.run(kind);
            }
            "podRequired" if case["podSpec"]["nodeSelector"].is_object() => tally.skip(kind, POD_SELECTOR),
            "podRequired" => {
                let affinity = &case["podSpec"]["affinity"]["nodeAffinity"];
                let selector = &affinity["requiredDuringSchedulingIgnoredDuringExecution"];
                match_case(&mut tally, kind, what, selector, &case["node"], &case["expect"]);
            }
            _ => tally.skip(kind, SCORES),
        }
    }
    tally.is(&[
        ("lazy: run", 3),
        (&skipped("lazy", NAME), 4),
        (&skipped("lazy", NO_NODE), 1),
        ("podRequired: run", 11),
        (&skipped("podRequired", NAME), 5),
        (&skipped("podRequired", POD_SELECTOR), 4),
        (&skipped("preferredScore", SCORES), 2),
        ("pvNodeAffinity: run", 6),
        (&skipped("strict", NAME), 2),
        (&skipped("strict", NO_NODE), 2),
    ]);
}

#[test]
fn node_selectors_that_the_api_server_validates_are_readable_here_valid_or_not() {
    let mut tally = Tally::default();
    for case in cases("node_selector_validate.json") {
        if case["nodeSelector"].is_object() {
            requiring(&case["nodeSelector"]);
        }
        tally.skip(text(&case, "kind"), VALIDATION);
    }
    tally.is(&[
        (&skipped("RuntimeClassScheduling", VALIDATION), 2),
        (&skipped("ValidateNodeSelector", VALIDATION), 6),
        (&skipped("ValidateNodeTaints", VALIDATION), 6),
        (&skipped("ValidatePreferredSchedulingTerms", VALIDATION), 2),
    ]);
}

/// A requirement of a label selector as one of a node selector, if there is such an operator there.
fn as_node_requirement(key: &Value, operator: &Value, values: &Value) -> Option<Value> {
    let operator = match operator.as_str()? {
        "GreaterThan" => "Gt",
        "LessThan" => "Lt",
        "Equals" | "DoubleEquals" | "NotEquals" => return None,
        other => other,
    };
    Some(json!({"key": key, "operator": operator, "values": values}))
}

fn one_term(requirements: &[Value]) -> Volume {
    requiring(&json!({"nodeSelectorTerms": [{"matchExpressions": requirements}]}))
}

#[test]
fn label_requirements_parse_and_match_as_upstream_tests_say() {
    let mut tally = Tally::default();
    for case in cases("label_requirement.json") {
        let (kind, what) = (text(&case, "kind"), text(&case, "name"));
        match kind {
            "NewRequirement" => match as_node_requirement(&case["key"], &case["operator"], &case["values"]) {
                None => tally.skip(kind, LABEL_SELECTORS),
                Some(requirement) => {
                    assert_eq!(has_parse_error(&one_term(&[requirement])), case["expect"]["ok"] == false, "{what}");
                    tally.run(kind);
                }
            },
            _ => {
                let requirements = case["requirements"].as_array().expect("a list").iter();
                let requirements: Option<Vec<Value>> = requirements
                    .map(|item| as_node_requirement(&item["key"], &item["operator"], &item["values"]))
                    .collect();
                let volume = one_term(&requirements.expect("operators that node selectors have"));
                let expected = case["expect"]["match"].as_bool().expect("an answer");
                assert!(both_answer(&volume, &labels(&case["labels"]), expected, what));
                tally.run(kind);
            }
        }
    }
    tally.is(&[
        ("NewRequirement: run", 10),
        (&skipped("NewRequirement", LABEL_SELECTORS), 2),
        ("SelectorMatches: run", 4),
    ]);
}

#[test]
fn the_edge_cases_match_as_recorded() {
    let mut tally = Tally::default();
    for case in cases("derived_edge_cases.json") {
        let (kind, what, input) = (text(&case, "kind"), text(&case, "name"), &case["input"]);
        match kind {
            "nodeSelectorMatch(lazy)" => {
                match_case(&mut tally, kind, what, &input["nodeSelector"], &input["node"], &case["expect"]);
            }
            "pvNodeAffinity" => {
                let expected = case["expect"]["match"].as_bool().expect("an answer");
                assert!(both_answer(&volume(&input["nodeAffinity"]), &labels(&input["nodeLabels"]), expected, what));
                tally.run(kind);
            }
            "ValidateNodeSelector" => {
                requiring(&input["nodeSelector"]);
                tally.skip(kind, VALIDATION);
            }
            "validatePvNodeAffinity(gate off, old non-nil)" => {
                let with = |affinity: &Value| json!({"metadata": {"name": what}, "spec": {"nodeAffinity": affinity}});
                let valid = case["expect"]["valid"] == true;
                update_case(what, &with(&input["old"]), &with(&input["new"]), valid);
                tally.run(kind);
            }
            _ => tally.skip("others", NOT_A_SELECTOR),
        }
    }
    tally.is(&[
        (&skipped("ValidateNodeSelector", VALIDATION), 19),
        (&skipped("nodeSelectorMatch(lazy), of these in the algebra", NO_LABEL_VALUE), 13),
        ("nodeSelectorMatch(lazy): run", 64),
        (&skipped("nodeSelectorMatch(lazy)", NAME), 5),
        (&skipped("others", NOT_A_SELECTOR), 91),
        ("pvNodeAffinity: run", 3),
        ("validatePvNodeAffinity(gate off, old non-nil): run", 14),
    ]);
}

#[test]
fn all_random_points_match_as_recorded() {
    let mut points = 0;
    for (line, point) in vector("random_pv_match.jsonl").lines().enumerate() {
        let point: Value = serde_json::from_str(point).expect("a line is JSON");
        let expected = point["matches"].as_bool().expect("an answer");
        let what = format!("line {}", line + 1);
        assert!(both_answer(&volume(&point["nodeAffinity"]), &labels(&point["labels"]), expected, &what));
        points += 1;
    }
    assert_eq!(points, 2_500);
}

#[test]
fn volumes_of_upstream_validation_tests_are_judged_never_unreadable() {
    let mut tally = Tally::default();
    for case in cases("pv_update.json") {
        let (kind, what) = (text(&case, "kind"), text(&case, "name"));
        match kind {
            "ValidatePersistentVolumeUpdate" => {
                let gate_off = case["featureGates"]["MutablePVNodeAffinity"] == false;
                let masked_equal = gate_off && case["expect"]["valid"] == true;
                update_case(what, &case["oldPV"], &case["newPV"], masked_equal);
                tally.run(kind);
            }
            "ValidatePersistentVolume" => create_case(&mut tally, kind, what, &case["newPV"]),
            "ValidatePersistentVolumeSpec" => create_case(&mut tally, kind, what, &json!({"spec": case["spec"]})),
            _ => tally.skip(kind, VALIDATION),
        }
    }
    tally.is(&[
        ("ValidatePersistentVolume: run", 29),
        ("ValidatePersistentVolumeSpec: run", 9),
        ("ValidatePersistentVolumeUpdate: run", 54),
        (&skipped("ValidationOptionsForPersistentVolume", VALIDATION), 4),
    ]);
}

/// A new volume is never refused: only warned about.
fn create_case(tally: &mut Tally, kind: &str, what: &str, volume: &Value) {
    let answer = judge(&json!({}), None, volume);
    assert_eq!(answer["accepted"], true, "{what}: {answer}");
    assert_eq!(answer["audit_annotations"]["relation"], Value::Null, "{what}: {answer}");
    tally.run(kind);
}

fn judge(section: &Value, old: Option<&Value>, new: &Value) -> Value {
    let operation = if old.is_some() { "UPDATE" } else { "CREATE" };
    let request = json!({
        "kind": {"group": "", "version": "v1", "kind": "PersistentVolume"},
        "operation": operation, "name": "pv", "object": new, "oldObject": old,
    });
    let payload = json!({"settings": {"volumeNodeAffinity": section}, "request": request}).to_string();
    serde_json::from_slice(&kubewarden::validate(payload.as_bytes())).expect("an answer is JSON")
}

/// The label moves that upstream accepts while node affinity is immutable: the built-in aliases.
fn beta_aliases() -> Value {
    json!({
        "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
        "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
        "beta.kubernetes.io/os": "kubernetes.io/os",
        "beta.kubernetes.io/arch": "kubernetes.io/arch",
        "beta.kubernetes.io/instance-type": "node.kubernetes.io/instance-type",
    })
}

/// The relation of updates that upstream calls no change but for a beta label's successor. What upstream calls the same is
/// not always the same set.
const MOVED: [(&str, &str); 14] = [
    ("TestValidateVolumeNodeAffinityUpdate#3", "equivalent"),
    ("TestValidateVolumeNodeAffinityUpdate#9", "equivalent"),
    ("TestValidateVolumeNodeAffinityUpdate#15", "equivalent"),
    ("TestValidateVolumeNodeAffinityUpdate#19", "equivalent"),
    ("TestValidateVolumeNodeAffinityUpdate#24", "equivalent"),
    // A GCE disk of which the zone moved and the region did not: the scheduler now reads the beta region as it is written.
    ("TestValidateVolumeNodeAffinityUpdate#25", "narrowed"),
    ("TestValidateVolumeNodeAffinityUpdate#29", "equivalent"),
    // From no affinity to one: upstream always lets it through.
    ("TestValidateVolumeNodeAffinityUpdate#33", "narrowed"),
    // `-1` is not a valid label value: both states match nothing.
    ("TestValidateVolumeNodeAffinityUpdate#35", "equivalent"),
    // `Exists` without values and with an empty list of them is read alike.
    ("derived#127", "unchanged"),
    // `NotIn` on a label that a node need not carry.
    ("derived#132", "narrowed"),
    // `matchFields` asks nothing of a node.
    ("derived#133", "equivalent"),
    // The empty key is not a label key: the new term is dead.
    ("derived#134", "narrowed"),
    ("derived#138", "unchanged"),
];

/// An update judged by the whole rule: readable, with a relation that no node contradicts; and where upstream saw no
/// change, the relation is `unchanged`, or the one of [`MOVED`]. Declaring the built-in aliases changes nothing.
fn update_case(what: &str, old: &Value, new: &Value, same_to_upstream: bool) {
    for section in [json!({"allow": []}), json!({"allow": [], "topology": {"aliases": beta_aliases()}})] {
        let answer = judge(&section, Some(old), new);
        assert_ne!(answer["code"], 422, "{what}: {answer}");
        let relation = answer["audit_annotations"]["relation"].as_str().unwrap_or_else(|| panic!("{what}: {answer}"));
        let passes = matches!(relation, "unchanged" | "equivalent");
        assert_eq!(answer["accepted"], passes, "{what}: {answer}");
        agrees_with_the_matcher(what, old, new, relation);
        if same_to_upstream {
            let moved = MOVED.iter().find(|(name, _)| *name == what).map(|(_, relation)| *relation);
            assert_eq!(relation, moved.unwrap_or("unchanged"), "{what}");
        }
    }
}

/// Among the nodes of every combination of the mentioned values, another one, and absence, those that the volume loses
/// and gains must be what the relation says.
fn agrees_with_the_matcher(what: &str, old: &Value, new: &Value, relation: &str) {
    let (old, new) = (read(old), read(new));
    let aliases: BTreeMap<String, String> = serde_json::from_value(beta_aliases()).expect("a mapping");
    let mut keys: BTreeSet<&str> = old.keys().chain(new.keys()).collect();
    let successors: Vec<&str> = keys.iter().filter_map(|key| aliases.get(*key)).map(String::as_str).collect();
    keys.extend(successors);
    let aliases: Vec<(&String, &String)> = aliases.iter().filter(|(beta, _)| keys.contains(beta.as_str())).collect();
    let requirements = [&old, &new].into_iter().flat_map(|volume| match volume.scheduling_affinity() {
        Affinity::Absent => &[],
        Affinity::Required(terms) => terms.as_slice(),
    });
    let requirements = requirements.flat_map(|term| term.match_expressions.iter().flatten());
    let mentioned = requirements.flat_map(|requirement| requirement.values.iter().flatten()).map(String::as_str);
    let mut values: BTreeSet<&str> = mentioned.filter(|text| Domain::OptionalText.contains(text)).collect();
    // With many keys, absence represents every value that is not mentioned.
    if keys.len() < 9 {
        values.insert("fresh");
    }
    let mut nodes = vec![Labels::new()];
    for key in keys {
        let carrying = |node: &Labels| {
            let with = |value: &&str| {
                node.iter()
                    .map(|(k, v)| (k.clone(), v.clone()))
                    .chain([(key.to_owned(), (*value).to_owned())])
                    .collect()
            };
            values.iter().map(with).chain([node.clone()]).collect::<Vec<Labels>>()
        };
        nodes = nodes.iter().flat_map(carrying).collect();
    }
    // The beta label of a node comes with its successor.
    nodes.retain(|node| aliases.iter().all(|(beta, ga)| !node.contains_key(*beta) || node.get(*beta) == node.get(*ga)));
    // A node with the successor alone gains nothing that it would have had with the beta label.
    let twin = |node: &Labels| {
        let mut twin = node.clone();
        for (beta, ga) in &aliases {
            if let Some(value) = node.get(*ga) {
                twin.entry((*beta).clone()).or_insert_with(|| value.clone());
            }
        }
        twin
    };
    let loses = nodes.iter().any(|node| old.admits(node) && !new.admits(node));
    let gains = nodes.iter().any(|node| new.admits(node) && !old.admits(node) && !old.admits(&twin(node)));
    let expected: &[&str] = match (loses, gains) {
        (false, false) => &["unchanged", "equivalent"],
        (false, true) => &["widened"],
        (true, false) => &["narrowed"],
        (true, true) => &["shifted"],
    };
    assert!(expected.contains(&relation), "{what}: {relation}, but by its nodes it is one of {expected:?}");
}
