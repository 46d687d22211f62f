//! Part of `tolerations`: a numeric toleration that reads like a requirement.
//!
//! `failure-probability Lt 20` says on which of the tainted nodes a pod may run. It does not keep the pod away from nodes
//! without the taint. Whether there are such nodes, and whether the pod may run on them, only the cluster can tell.

use k8s_openapi::api::core::v1::{NodeSelectorTerm, Taint, Toleration};

use super::READ_STEPS;
use crate::kubernetes::affinity::Affinity;
use crate::kubernetes::field::short;
use crate::kubernetes::kind::Kind;
use crate::kubernetes::listing::first_few;
use crate::kubernetes::names::Names;
use crate::kubernetes::node_selector::Labels;
use crate::kubernetes::picked::{Fields, WHOLE};
use crate::kubernetes::pod::with_pod;
use crate::kubernetes::pod_nodes::nodes_of_pod;
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
    let wishes = with_pod(object, request.group, request.kind, |pod| {
        // A pod that names its node does not choose one.
        let is_placed = pod.spec.string_of("nodeName")?.is_some_and(|name| !name.is_empty());
        Ok(nodes_of_pod(&pod.spec, budget)?.map(|wishes| Some(wishes).filter(|_| !is_placed)))
    })?;
    let Some((wishes, steps)) = wishes.transpose()?.flatten() else { return Ok(Ok(None)) };
    let by_field = |term: &NodeSelectorTerm| term.match_fields.is_some();
    if matches!(&wishes, Affinity::Required(terms) if terms.iter().any(by_field)) {
        return Ok(Ok(None));
    }
    let keys = Names::of(wishes.keys());
    let mut open = Labels::new();
    let looked = each_with_half(live, Kind::Node, NODE, budget, &mut |node, own| {
        let spec = node.get("spec")?;
        let taints = read_taints(&spec.get("taints")?)?;
        let pairs = taints.len().saturating_mul(new.len()).saturating_mul(STEPS_TO_COMPARE);
        own.spend(pairs.saturating_add(steps).saturating_add(STEPS_FOR_A_NODE))?;
        if is_open(key, &taints, new) {
            let LiveNode { name, labels } = live_nodes::read(node, &keys)?;
            if wishes.admits(&labels) {
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
