//! Part of `volumeBinding`: whether any node fits everything that limits the choice of a pod's node: its volumes, and its own
//! node selector and required node affinity.
//!
//! Whether there could be such a node is decided by the algebra: each limit is a union of boxes, and no node fits them all
//! where their intersection is empty. If there could be one, the nodes that are there are asked.

use super::Halt;
use super::claims::{CLAIM_AND_CLASS, STEPS_TO_READ, read_claim, read_volume};
use crate::kubernetes::affinity::Affinity;
use crate::kubernetes::field::short;
use crate::kubernetes::kind::Kind;
use crate::kubernetes::listing::first_few;
use crate::kubernetes::names::Names;
use crate::kubernetes::picked::{Fields, WHOLE};
use crate::kubernetes::pod_claims::claims_of_pod;
use crate::kubernetes::pod_nodes::{nodes_of_pod, pod_may_get};
use crate::kubernetes::request::Request;
use crate::kubernetes::storage_class::{NO_PROVISIONER, StorageClass, allowed_topologies};
use crate::kubernetes::zone_labels::{ZONE_LABELS, ZoneLabels};
use crate::logic::{Budget, Exhausted, Outline, Union};
use crate::rules::cluster::{Freshness, Live, Missing, Wanted, WhenUnreadable};
use crate::rules::decision::Report;
use crate::rules::finding::{Code, Finding, Severity};
use crate::rules::live_nodes::{LiveNode, live_nodes};
use crate::rules::live_share::with_half;

const CLASS: Wanted = Wanted {
    fields: Fields(&[
        ("metadata", Fields(&[("name", WHOLE)])),
        ("provisioner", WHOLE),
        ("volumeBindingMode", WHOLE),
        ("allowedTopologies", WHOLE),
    ]),
    freshness: Freshness::Held,
};

/// How many nodes a message names for each limit.
const MOST: usize = 5;

/// Something that limits the choice of a pod's node.
struct Limit {
    /// In words, and the field of the pod that brings it.
    what: String,
    path: String,
    affinity: Affinity,
    zone_labels: ZoneLabels,
    /// Whether it is the pod's own selector and affinity.
    is_own: bool,
    /// Steps for matching a node.
    steps: usize,
}

impl Limit {
    fn of(what: String, path: &str, affinity: Affinity, zone_labels: ZoneLabels) -> Self {
        let mut steps = 20_usize;
        for requirement in affinity.requirements() {
            let values = requirement.values.iter().flatten().count();
            steps = steps.saturating_add(20).saturating_add(values.saturating_mul(2));
        }
        Limit { what, path: path.to_owned(), affinity, zone_labels, is_own: false, steps }
    }

    /// Whether the limit keeps no node out, whatever its labels.
    fn is_none(&self) -> bool {
        self.affinity == Affinity::Absent && self.zone_labels.iter().next().is_none()
    }

    /// The plain matcher.
    fn admits(&self, node: &LiveNode) -> bool {
        if self.is_own {
            pod_may_get(&self.affinity, &node.name, &node.labels)
        } else {
            self.affinity.admits(&node.labels) && self.zone_labels.admits(&node.labels)
        }
    }

    fn describe(&self) -> String {
        let mut shown = format!("{}: `{}`", self.what, self.affinity.describe());
        for label in self.zone_labels.iter() {
            shown.push_str(&format!(", label `{}={}`", label.key, short(&label.value, 63)));
        }
        shown
    }
}

/// Finds a pod for which there is no node. Of claims without a volume those count whose class waits for the pod: the volume
/// is made for a node that `allowedTopologies` admits.
pub fn find_together(
    request: &Request<'_, '_>,
    (severity, when): (Severity, Option<WhenUnreadable>),
    live: &Live<'_>,
    budget: &mut Budget,
    report: &mut Report,
) -> Result<(), Halt> {
    let (limits, count) = limits_of(request, live, budget)?;
    // One limit alone is no question of two things together.
    if limits.iter().all(|limit| limit.is_own) || count < 2 {
        return Ok(());
    }
    let mut nodes = None;
    let mut severity = severity;
    let mut excluded = with_half(budget, |own| excluding(&limits, None, own));
    // A node that is there and fits answers the first question too, where its steps ended.
    if !excluded.as_ref().is_ok_and(|found| !found.is_empty()) {
        let zones = ZONE_LABELS.iter().map(|(key, _)| *key);
        let keys = zones.chain(limits.iter().flat_map(|limit| limit.affinity.keys()));
        match live_nodes(live, &Names::of(keys)) {
            Ok(read) => {
                // Some node could fit, so a question about these that stays open is no reason to refuse.
                let could = excluded.is_ok();
                excluded = with_half(budget, |own| excluding(&limits, Some(&read), own));
                if could && excluded.is_err() {
                    severity = Severity::Warns;
                }
                nodes = Some(read);
            }
            // What no node could do, none that is there can: only the second question stays open.
            Err(unread) => {
                Missing::of(unread, "unreachableTogether", WhenUnreadable::Allow).find(when, report);
            }
        }
    }
    let pod = format!("{}/{}", short(request.object_namespace()?, 63), short(request.object_name()?, 120));
    let finding = match excluded {
        // A selector that no node meets says nothing about volumes.
        Ok(limits) if limits.iter().all(|limit| limit.is_own) => return Ok(()),
        Ok(limits) => describe(&limits, &pod, nodes.as_deref().unwrap_or_default()),
        Err(Exhausted) => Finding::new(
            Code::VolumesUnreachableTogether,
            format!("volumes unreachable together: could not decide whether a node fits all volumes of pod `{pod}`"),
        )
        .at("spec.volumes", "")
        .detail("accepted: volumes with shorter node affinities"),
    };
    report.find(finding.with_severity(severity));
    Ok(())
}

/// Everything that limits the choice of the pod's node, itself last, and how many volumes and limits of its own it has.
fn limits_of(request: &Request<'_, '_>, live: &Live<'_>, budget: &mut Budget) -> Result<(Vec<Limit>, usize), Halt> {
    let object = request.new_state()?;
    let spec = object.get("spec")?;
    let claims = claims_of_pod(object, request.object_name()?, budget)??;
    let mut limits = Vec::new();
    if claims.is_empty() {
        return Ok((limits, 0));
    }
    let uid = object.get("metadata")?.string_of("uid")?.unwrap_or_default();
    let mut count = claims.len();
    for claim in &claims {
        let bound = read_claim(live, request.object_namespace()?, (claim, CLAIM_AND_CLASS), uid, budget)?;
        let mut bound = bound.unwrap_or_default();
        // The claim of an ephemeral volume is made after the pod.
        if let Some(class) = claim.template_class.as_ref().filter(|_| bound.volume.is_empty()) {
            bound.class.clone_from(class);
        }
        if !bound.volume.is_empty() {
            if let Some(volume) = read_volume(live, claim, &bound.volume, budget)? {
                let what = format!("volume `{}`", short(&bound.volume, 120));
                let affinity = volume.scheduling_affinity().clone();
                limits.push(Limit::of(what, &claim.path, affinity, volume.zone_labels));
            }
        } else if !bound.class.is_empty() {
            budget.spend(STEPS_TO_READ)?;
            let topologies = live.get(Kind::StorageClass, None, &bound.class, CLASS, |object| {
                let class = StorageClass::read(object)?;
                let makes_volumes = class.waits() && !matches!(class.provisioner, "" | NO_PROVISIONER);
                if makes_volumes { allowed_topologies(object) } else { Ok(Affinity::Absent) }
            })?;
            if let Some(affinity) = topologies {
                let what = format!("a new volume of class `{}`", short(&bound.class, 120));
                limits.push(Limit::of(what, &claim.path, affinity, ZoneLabels::default()));
            }
        }
    }
    limits.retain(|limit| !limit.is_none());
    let (affinity, _) = nodes_of_pod(&spec, budget)??;
    if affinity != Affinity::Absent {
        count = count.saturating_add(1);
        let by_label = spec.get("nodeSelector")?.is_present();
        let path = if by_label { "spec.nodeSelector" } else { "spec.affinity.nodeAffinity" };
        let what = String::from("the node selector and required affinity");
        limits.push(Limit { is_own: true, ..Limit::of(what, path, affinity, ZoneLabels::default()) });
    }
    Ok((limits, count))
}

/// The limits that no node fits together: few enough that without any one of them there is a node. None where a node fits them
/// all. `among` are the nodes that count; without them every conceivable node does.
fn excluding<'l>(
    limits: &'l [Limit],
    among: Option<&[LiveNode]>,
    budget: &mut Budget,
) -> Result<Vec<&'l Limit>, Exhausted> {
    let mut excluding: Vec<&Limit> = limits.iter().collect();
    if !fit_none(&excluding, among, budget)? {
        return Ok(Vec::new());
    }
    for index in (0..excluding.len()).rev() {
        let others = excluding.iter().enumerate().filter(|(other, _)| *other != index);
        let rest: Vec<&Limit> = others.map(|(_, limit)| *limit).collect();
        // Where the steps end, more are named than are needed.
        if fit_none(&rest, among, budget).unwrap_or(false) {
            excluding = rest;
        }
    }
    Ok(excluding)
}

/// Whether no node fits all these limits.
fn fit_none(limits: &[&Limit], among: Option<&[LiveNode]>, budget: &mut Budget) -> Result<bool, Exhausted> {
    if let Some(nodes) = among {
        for node in nodes {
            if fits(limits, node, budget)? {
                return Ok(false);
            }
        }
        return Ok(true);
    }
    let steps = limits.iter().fold(20, |sum, limit| limit.steps.saturating_add(sum));
    budget.spend(steps.saturating_mul(9))?;
    let mut outline = Outline::default();
    let mut sides = Vec::new();
    for limit in limits {
        sides.push(limit.affinity.to_terms(&mut outline));
        sides.push(limit.zone_labels.to_terms(&mut outline));
    }
    sides.iter().flatten().for_each(|term| outline.mention(term));
    let space = outline.cut(budget)?;
    let mut all = Union::everything();
    for side in &sides {
        all = space.union(side, budget)?.and(&all, &space, budget)?;
    }
    Ok(all.is_empty())
}

fn fits(limits: &[&Limit], node: &LiveNode, budget: &mut Budget) -> Result<bool, Exhausted> {
    for limit in limits {
        budget.spend(limit.steps)?;
        if !limit.admits(node) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// `nodes` are those that are there, if it took them to know.
fn describe(limits: &[&Limit], pod: &str, nodes: &[LiveNode]) -> Finding {
    let whats = first_few(limits.iter().map(|limit| limit.what.clone()), MOST, " and ");
    let both = if limits.len() == 2 { "both " } else { "" };
    let none = if nodes.is_empty() { "no node could fit" } else { "no node of this cluster fits" };
    let headline = format!("volumes unreachable together: {none} {both}{whats} of pod `{pod}`");
    let mut finding = Finding::new(Code::VolumesUnreachableTogether, headline);
    for limit in limits.iter().take(MOST) {
        let fitting = nodes.iter().filter(|node| limit.admits(node)).map(|node| format!("`{}`", node.name));
        let fitting = match first_few(fitting, MOST, ", ").as_str() {
            "" if nodes.is_empty() => String::new(),
            "" => String::from("; nodes that fit: none"),
            some => format!("; nodes that fit: {some}"),
        };
        finding = finding.at(limit.path.clone(), &format!("{}{fitting}", limit.describe()));
    }
    finding
        .detail("the pod would stay `Pending`: it needs a node that fits all of them")
        .detail("accepted: volumes that one node can reach, within the node selector and required affinity of the pod")
}
