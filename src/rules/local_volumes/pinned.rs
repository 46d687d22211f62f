//! Part of `localVolumes`: whether a volume is pinned to one node, and whether an UPDATE moves it.
//!
//! Pinned is decided over the nodes that the affinity admits, not over its shape: for one of the keys that name a node,
//! every admitted node carries one and the same value. So `In [a]` pins and `In [a, b]` with `NotIn [b]` pins; a host name
//! in one of two terms does not. An affinity that admits no node pins to none: its data can never be used.
//!
//! # What counts as the node
//! With several keys, this rule cannot know which values of two keys belong to the same node. So a volume is known by *one*
//! label: its host name where the affinity fixes it, otherwise the first fixed key of `pinnedBy`. An UPDATE must keep that
//! label and its value; the other keys may come and go. Then no chain of accepted edits moves a volume, since each keeps
//! the label that the edit before it kept. Comparing what both sides happen to know would not do: a volume known by `a=1`
//! could take on `b=2` of another node, lose `a`, and would be there.

use crate::kubernetes::affinity::Affinity;
use crate::kubernetes::field::short;
use crate::kubernetes::node_selector::{Labels, node_at};
use crate::logic::{Budget, Condition, Containment, Domain, Exhausted, Facts, Outline, Space, Union, contained};
use crate::rules::STEPS;
use crate::rules::finding::{Code, Finding};
use crate::rules::replay::replay;

/// The nodes that a volume's affinity admits, as far as the keys that name a node tell them apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AdmittedNodes {
    /// One node: the labels that all admitted nodes share, of the keys that name a node and in their order. The first is
    /// what the volume is known by.
    One(NodeName, Vec<NodeName>),
    None,
    /// Several: a node, and one with another name. Without a second node, the nodes have no common name.
    Several(Labels, Option<Labels>),
    /// The budget was spent before the answer was known.
    Undecided,
}

/// A label that names a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeName {
    pub key: String,
    pub value: String,
}

impl AdmittedNodes {
    /// The nodes that this affinity admits. `keys` are those that name a node, the one that counts most first.
    ///
    /// # Errors
    /// When the budget is spent.
    pub fn of(affinity: &Affinity, keys: &[String], budget: &mut Budget) -> Result<Self, Exhausted> {
        let (space, nodes) = spread(affinity, None, budget)?;
        let first = match contained(&space, &nodes, &Union::default(), &Facts::default(), budget) {
            Containment::Contained => return Ok(AdmittedNodes::None),
            Containment::Undecided => return Ok(AdmittedNodes::Undecided),
            Containment::Escapes(point) => replay(node_at(&space, &point), |node| affinity.admits(node)),
        };
        let Some(first) = first else { return Ok(AdmittedNodes::Undecided) };
        let mut names: Vec<NodeName> = Vec::new();
        let mut second = None;
        for key in keys {
            // An admitted node without the label: the label does not pin.
            let Some(value) = first.get(key) else { continue };
            let (space, nodes) = spread(affinity, Some((key, value)), budget)?;
            let named = space.axis(key).map(|axis| vec![(axis, Condition::In(vec![value]))]);
            let named = space.union(&named, budget)?;
            match contained(&space, &nodes, &named, &Facts::default(), budget) {
                Containment::Contained => names.push(NodeName { key: key.clone(), value: value.clone() }),
                Containment::Undecided => return Ok(AdmittedNodes::Undecided),
                Containment::Escapes(point) => {
                    let is_other = |node: &Labels| affinity.admits(node) && node.get(key) != Some(value);
                    match replay(node_at(&space, &point), is_other) {
                        Some(other) => second = second.or(Some(other)),
                        None => return Ok(AdmittedNodes::Undecided),
                    }
                }
            }
        }
        let mut names = names.into_iter();
        Ok(match names.next() {
            Some(known_by) => AdmittedNodes::One(known_by, names.collect()),
            None => AdmittedNodes::Several(first, second),
        })
    }

    /// Whether this is the node of this name: the label that the volume is known by is compared with it, since a request
    /// says no more about the requester's node than its name.
    pub fn is_node(&self, name: &str) -> bool {
        matches!(self, AdmittedNodes::One(known_by, _) if known_by.value == name)
    }

    /// The label that the volume is known by; `None` when it is not pinned.
    pub fn known_by(&self) -> Option<&NodeName> {
        match self {
            AdmittedNodes::One(known_by, _) => Some(known_by),
            AdmittedNodes::None | AdmittedNodes::Several(..) | AdmittedNodes::Undecided => None,
        }
    }

    /// In words, for `volume … is` and behind a comma.
    pub fn describe(&self) -> String {
        match self {
            AdmittedNodes::One(known_by, others) => format!("pinned to {}", labels(known_by, others)),
            AdmittedNodes::None | AdmittedNodes::Several(..) | AdmittedNodes::Undecided => {
                String::from("not pinned to one node")
            }
        }
    }
}

/// The nodes that an affinity admits, in a space that also knows one value of one key.
fn spread<'t>(
    affinity: &'t Affinity,
    known: Option<(&'t str, &'t str)>,
    budget: &mut Budget,
) -> Result<(Space<'t>, Union), Exhausted> {
    budget.spend(steps_to_read(affinity))?;
    let mut outline = Outline::default();
    let terms = affinity.to_terms(&mut outline);
    terms.iter().for_each(|term| outline.mention(term));
    if let Some((key, value)) = known {
        let axis = outline.axis(key, Domain::OptionalText);
        outline.mention(&vec![(axis, Condition::In(vec![value]))]);
    }
    let space = outline.cut(budget)?;
    let nodes = space.union(&terms, budget)?;
    Ok((space, nodes))
}

/// Steps to turn an affinity into terms, or to match a node against it: each requirement and each value is visited a few
/// times.
pub fn steps_to_read(affinity: &Affinity) -> usize {
    let Affinity::Required(terms) = affinity else { return 0 };
    let parts = affinity
        .requirements()
        .map(|requirement| requirement.values.as_ref().map_or(1, |values| values.len().saturating_add(1)));
    parts.fold(terms.len(), usize::saturating_add).saturating_mul(5)
}

/// The volume that is judged.
pub struct Named<'n> {
    /// `local` or `hostPath`.
    pub kind: &'static str,
    pub name: &'n str,
}

/// What is found when a local volume can be used from another node than the one that holds its data.
pub fn not_pinned(volume: &Named<'_>, affinity: &Affinity, nodes: &AdmittedNodes, keys: &[String]) -> Option<Finding> {
    let Named { kind, name } = volume;
    let what = match nodes {
        AdmittedNodes::One(..) => return None,
        AdmittedNodes::None => format!("no node can use volume `{name}`"),
        AdmittedNodes::Several(first, second) => {
            let nodes: Vec<String> =
                [Some(first), second.as_ref()].into_iter().flatten().map(|node| named(node, keys)).collect();
            format!("volume `{name}` can be used from a node {}", nodes.join(" and from one "))
        }
        AdmittedNodes::Undecided => {
            format!("could not decide within {STEPS} steps which nodes can use volume `{name}`")
        }
    };
    let mut finding = Finding::new(Code::LocalNotPinned, format!("{kind} volume not pinned: {what}"))
        .at("spec.nodeAffinity.required", &format!("`{}`", affinity.describe()));
    if let Affinity::Required(terms) = affinity
        && terms.iter().any(|term| term.match_fields.is_some())
    {
        finding = finding.detail("`matchFields` does not pin: Kubernetes matches volumes by node labels only");
    }
    let finding = finding
        .detail(format!("the data of a {kind} volume is on one node; on any other node a pod sees other data, or none"))
        .detail(format!("accepted: an affinity that allows exactly one value of {}", one_of(keys)))
        .detail("that value is the node's label, which can differ from the name of the node");
    Some(finding)
}

/// What is found when a local volume was pinned to one node, and the label that it was known by does not stay.
pub fn moved(volume: &Named<'_>, affinity: &Affinity, old: &AdmittedNodes, new: &AdmittedNodes) -> Option<Finding> {
    let Named { kind, name } = volume;
    let (AdmittedNodes::One(was, others_before), AdmittedNodes::One(is, others)) = (old, new) else { return None };
    if was == is {
        return None;
    }
    let headline = format!(
        "{kind} volume moved: volume `{name}` was pinned to {}, now to {}",
        labels(was, others_before),
        labels(is, others)
    );
    let finding = Finding::new(Code::LocalMoved, headline)
        .at("spec.nodeAffinity.required", &format!("`{}`", affinity.describe()))
        .detail(format!("the data of a {kind} volume stays where it is"));
    let same_value = others.contains(was) || others_before.contains(is);
    let finding = if same_value {
        finding.detail(format!(
            "the volume is known by {}; whether {} names the same node is not known",
            label(was),
            label(is)
        ))
    } else {
        finding
    };
    Some(
        finding.detail(format!(
            "accepted: an affinity that keeps {}, or a new volume for a disk on another node",
            label(was)
        )),
    )
}

fn labels(known_by: &NodeName, others: &[NodeName]) -> String {
    let shown: Vec<String> = [known_by].into_iter().chain(others).map(label).collect();
    shown.join(" and ")
}

/// `` `key=value` ``
pub fn label(name: &NodeName) -> String {
    format!("`{}={}`", short(&name.key, 120), name.value)
}

/// A node by the first key that names it, after "a node".
fn named(node: &Labels, keys: &[String]) -> String {
    match keys.iter().find_map(|key| Some((key, node.get(key)?))) {
        Some((key, value)) => format!("with `{}={value}`", short(key, 120)),
        None => format!("whatever its {}, or without one", one_of(keys)),
    }
}

/// `` `a` or `b` ``
fn one_of(keys: &[String]) -> String {
    keys.iter().map(|key| format!("`{}`", short(key, 120))).collect::<Vec<_>>().join(" or ")
}
