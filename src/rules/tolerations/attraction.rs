//! Part of `tolerations`: a numeric toleration that reads like a requirement.
//!
//! `failure-probability Lt 20` says on which of the tainted nodes a pod may run. It does not keep the pod away from nodes
//! without the taint. Whether there are such nodes, and whether the pod may run on them, only the cluster can tell.

use k8s_openapi::api::core::v1::{NodeSelectorTerm, Taint, Toleration};

use super::READ_STEPS;
use crate::kubernetes::field::{Unreadable, short};
use crate::kubernetes::kind::Kind;
use crate::kubernetes::listing::first_few;
use crate::kubernetes::names::Names;
use crate::kubernetes::node_selector::{Labels, matches, read_terms, requirements, steps_to_read};
use crate::kubernetes::picked::{Fields, WHOLE};
use crate::kubernetes::pod::{PodTemplate, with_pod};
use crate::kubernetes::request::Request;
use crate::kubernetes::toleration::{describe, is_numeric, read_taints, tolerates};
use crate::logic::{Budget, Exhausted};
use crate::rules::cluster::{Live, Unread};
use crate::rules::finding::{Code, Finding};
use crate::rules::live_nodes::{self, LiveNode};
use crate::rules::live_share::each_with_half;
use crate::rules::rule::Stopped;

/// What is read of a node.
const NODE: Fields = Fields(&[
    ("metadata", Fields(&[("name", WHOLE), ("labels", WHOLE)])),
    ("spec", Fields(&[("taints", Fields(&[("key", WHOLE), ("value", WHOLE), ("effect", WHOLE)]))])),
]);

/// Steps for each node, and for each toleration of the pod with each taint of a node.
const STEPS_FOR_A_NODE: usize = 20;
const STEPS_TO_COMPARE: usize = 15;

/// How many nodes a message names.
const MOST: usize = 5;

/// Where the pod asks to run, apart from its tolerations.
struct Wishes<'v> {
    /// `nodeSelector`: each label and its value.
    selector: Vec<(&'v str, &'v str)>,
    /// The terms of the required node affinity; `None` where there is none.
    affinity: Option<Vec<NodeSelectorTerm>>,
    /// Steps for matching a node.
    steps: usize,
    /// Whether something else than labels says which node it is: the pod's own node name, or a field of the node.
    names_node: bool,
}

/// What is found when the request brings a `Gt` or `Lt` toleration, and the pod may run on nodes that have no taint of its
/// key.
///
/// # Errors
/// A wrong JSON type, and a spent budget. The inner error is a kind that cannot be read.
pub fn find(
    request: &Request<'_, '_>,
    new: &[Toleration],
    old: &[Toleration],
    path: &str,
    live: &Live<'_>,
    budget: &mut Budget,
) -> Result<Result<Option<Finding>, Unread>, Stopped> {
    budget.spend(new.len().saturating_add(old.len()).saturating_mul(READ_STEPS / 10))?;
    let numeric_before: Vec<&Toleration> = old.iter().filter(|toleration| is_numeric(toleration)).collect();
    let mut added = None;
    for (index, toleration) in new.iter().enumerate().filter(|(_, toleration)| is_numeric(toleration)) {
        budget.spend(numeric_before.len())?;
        if !numeric_before.iter().any(|before| is_same_but_for_seconds(before, toleration)) {
            added = Some((index, toleration));
            break;
        }
    }
    let Some((index, toleration)) = added else { return Ok(Ok(None)) };
    let Some(key) = toleration.key.as_deref() else { return Ok(Ok(None)) };
    let object = request.new_state()?;
    let wishes = with_pod(object, request.group, request.kind, |pod| Wishes::read(pod, budget))?.transpose()?;
    let Some(wishes) = wishes.filter(|wishes| !wishes.names_node) else { return Ok(Ok(None)) };
    let keys = wishes.keys();
    let mut open = Labels::new();
    let looked = each_with_half(live, Kind::Node, NODE, budget, &mut |node, own| {
        let spec = node.get("spec")?;
        let taints = read_taints(&spec.get("taints")?)?;
        let pairs = taints.len().saturating_mul(new.len()).saturating_mul(STEPS_TO_COMPARE);
        own.spend(pairs.saturating_add(wishes.steps).saturating_add(STEPS_FOR_A_NODE))?;
        if is_open(key, &taints, new) {
            let LiveNode { name, labels } = live_nodes::read(node, &keys)?;
            if wishes.are_met(&labels) {
                open.insert(name, String::new());
            }
        }
        Ok(())
    });
    let looked = match looked {
        Ok(looked) => looked,
        Err(unread) => return Ok(Err(unread)),
    };
    // Where the budget ends, this finding is left out: it is a hint, and the decision does not depend on it.
    if looked == Err(Exhausted) || open.is_empty() {
        return Ok(Ok(None));
    }
    let shown = describe(toleration);
    let nodes = first_few(open.keys().map(|name| format!("`{}`", short(name, 120))), MOST, ", ");
    let headline = format!(
        "toleration does not attract: {shown} lets the pod run on tainted nodes, and nodes without the taint are open to it \
         too: {nodes}"
    );
    Ok(Ok(Some(
        Finding::new(Code::TolerationDoesNotAttract, headline)
            .at(format!("{path}[{index}]"), &shown)
            .detail("a toleration permits, it does not attract: the scheduler may choose any of these nodes")
            .detail("to attract: required node affinity to a label that the tainted nodes carry and the others do not"),
    )))
}

fn is_same_but_for_seconds(one: &Toleration, other: &Toleration) -> bool {
    (&one.key, &one.operator, &one.value, &one.effect) == (&other.key, &other.operator, &other.value, &other.effect)
}

/// Whether a node has no taint of this key, and none that keeps a pod with these tolerations away.
fn is_open(key: &str, taints: &[Taint], tolerations: &[Toleration]) -> bool {
    taints.iter().all(|taint| {
        taint.key != key
            && (taint.effect == "PreferNoSchedule" || tolerations.iter().any(|toleration| tolerates(toleration, taint)))
    })
}

impl<'v> Wishes<'v> {
    fn read(pod: &PodTemplate<'v, '_>, budget: &mut Budget) -> Result<Result<Self, Exhausted>, Unreadable> {
        let mut selector = Vec::new();
        for (key, value) in pod.spec.get("nodeSelector")?.members()? {
            selector.push((key, value.required_string()?));
        }
        let affinity = pod.spec.get("affinity")?;
        let node_affinity = affinity.get("nodeAffinity")?;
        let required = node_affinity.get("requiredDuringSchedulingIgnoredDuringExecution")?;
        let terms = required.get("nodeSelectorTerms")?;
        let steps = steps_to_read(&terms)?.saturating_add(selector.len().saturating_mul(STEPS_TO_COMPARE));
        if budget.spend(steps).is_err() {
            return Ok(Err(Exhausted));
        }
        let affinity = if required.is_present() { Some(read_terms(&terms)?) } else { None };
        let by_field = affinity.iter().flatten().any(|term| term.match_fields.is_some());
        let names_node = by_field || pod.spec.string_of("nodeName")?.is_some_and(|name| !name.is_empty());
        Ok(Ok(Wishes { selector, affinity, steps, names_node }))
    }

    /// The label keys that the pod asks about.
    fn keys(&self) -> Names<'_> {
        let keys =
            requirements(self.affinity.as_deref().unwrap_or_default()).map(|requirement| requirement.key.as_str());
        Names::of(keys.chain(self.selector.iter().map(|(key, _)| *key)))
    }

    fn are_met(&self, labels: &Labels) -> bool {
        let selected =
            self.selector.iter().all(|(key, value)| labels.get(*key).is_some_and(|actual| actual.as_str() == *value));
        selected && self.affinity.as_ref().is_none_or(|terms| matches(terms, labels))
    }
}
