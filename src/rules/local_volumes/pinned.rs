//! Part of `localVolumes`: whether a local volume is pinned to one node, whether an UPDATE moves it, and whether it belongs
//! to the node that asks.
//!
//! Pinned is decided over the nodes that the affinity admits, not over its shape: for one of the keys that name a node,
//! every admitted node carries one and the same value. So `In [a]` pins and `In [a, b]` with `NotIn [b]` pins; a hostname
//! in one of two terms does not. An affinity that admits no node pins to none: its data can never be used.

use std::collections::BTreeMap;

use crate::kubernetes::field::short;
use crate::kubernetes::node_selector::{Labels, node_at};
use crate::kubernetes::volume::Affinity;
use crate::logic::{Budget, Condition, Containment, Domain, Exhausted, Facts, Outline, Space, Union, contained};
use crate::rules::STEPS;
use crate::rules::finding::{Code, Finding};

/// Where a local volume can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// On one node: what each key that names a node is known to say of it.
    Pinned(BTreeMap<String, String>),
    NoNode,
    /// On more than one: a node, and one that carries another name. Where there is no second, any name will do.
    Several(Labels, Option<Labels>),
    /// The budget was spent before the answer was known.
    Undecided,
}

impl Place {
    /// Where a volume with this affinity can be used. `keys` are those that name a node.
    pub fn of(affinity: &Affinity, keys: &[String], budget: &mut Budget) -> Self {
        Place::try_of(affinity, keys, budget).unwrap_or(Place::Undecided)
    }

    fn try_of(affinity: &Affinity, keys: &[String], budget: &mut Budget) -> Result<Self, Exhausted> {
        let (space, nodes) = spread(affinity, None, budget)?;
        let first = match contained(&space, &nodes, &Union::default(), &Facts::default(), budget) {
            Containment::Contained => return Ok(Place::NoNode),
            Containment::Undecided => return Ok(Place::Undecided),
            Containment::Escapes(point) => node_at(&space, &point),
        };
        let mut pinned = BTreeMap::new();
        let mut second = None;
        for key in keys {
            // A node without the name may use the volume, so the name does not pin it.
            let Some(value) = first.get(key) else { continue };
            let (space, nodes) = spread(affinity, Some((key, value)), budget)?;
            let named = space.axis(key).map(|axis| vec![(axis, Condition::In(vec![value]))]);
            let named = space.union(&named, budget)?;
            match contained(&space, &nodes, &named, &Facts::default(), budget) {
                Containment::Contained => {
                    pinned.insert(key.clone(), value.clone());
                }
                Containment::Escapes(point) => second = second.or_else(|| Some(node_at(&space, &point))),
                Containment::Undecided => return Ok(Place::Undecided),
            }
        }
        // An example that does not stand up to the plain matcher is a mistake of ours, and no answer.
        if ![Some(&first), second.as_ref()].into_iter().flatten().all(|node| affinity.admits(node)) {
            return Ok(Place::Undecided);
        }
        Ok(if pinned.is_empty() { Place::Several(first, second) } else { Place::Pinned(pinned) })
    }

    /// Whether this is the node of this name. Compared is what the keys that name a node say of it, since a request knows
    /// no more of the requester's node than its name.
    pub fn is_node(&self, name: &str) -> bool {
        matches!(self, Place::Pinned(pinned) if pinned.values().any(|value| value == name))
    }

    /// In words, after "it is".
    pub fn describe(&self) -> String {
        match self {
            Place::Pinned(pinned) => format!("pinned to {}", pins(pinned)),
            Place::NoNode | Place::Several(..) | Place::Undecided => String::from("not pinned to one node"),
        }
    }
}

/// The nodes that an affinity admits, in a space that knows one value of one key besides.
fn spread<'t>(
    affinity: &'t Affinity,
    known: Option<(&'t str, &'t str)>,
    budget: &mut Budget,
) -> Result<(Space<'t>, Union), Exhausted> {
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

/// What is found when a local volume can be used from another node than the one that holds its data.
pub fn not_pinned(name: &str, affinity: &Affinity, place: &Place, keys: &[String]) -> Option<Finding> {
    let what = match place {
        Place::Pinned(_) => return None,
        Place::NoNode => format!("volume `{name}` can be used from no node"),
        Place::Several(first, second) => {
            let nodes: Vec<String> =
                [Some(first), second.as_ref()].into_iter().flatten().map(|node| named(node, keys)).collect();
            format!("volume `{name}` can be used from a node {}", nodes.join(" and from one "))
        }
        Place::Undecided => format!("from which nodes volume `{name}` can be used is not known after {STEPS} steps"),
    };
    let mut finding = Finding::new(Code::LocalNotPinned, format!("local volume not pinned: {what}"))
        .detail(format!("spec.nodeAffinity.required: `{}`", affinity.describe()));
    if let Affinity::Required(terms) = affinity
        && terms.iter().any(|term| term.match_fields.is_some())
    {
        finding = finding.detail("`matchFields` does not pin: volumes are matched by node labels alone");
    }
    let finding =
        finding.detail("the data of a local volume is on one node; from another a pod sees other data, or none");
    Some(finding.detail(format!("accepted: an affinity that leaves exactly one value of {}", one_of(keys))))
}

/// What is found when a local volume was pinned to one node and now is to another.
pub fn moved(name: &str, affinity: &Affinity, old: &Place, new: &Place) -> Option<Finding> {
    let (Place::Pinned(was), Place::Pinned(is)) = (old, new) else { return None };
    let differs = was.iter().any(|(key, value)| is.get(key).is_some_and(|now| now != value));
    let agrees = was.iter().any(|(key, value)| is.get(key) == Some(value));
    if agrees && !differs {
        return None;
    }
    let headline = format!("local volume moved: volume `{name}` was pinned to {}, now to {}", pins(was), pins(is));
    let finding = Finding::new(Code::LocalMoved, headline)
        .detail(format!("spec.nodeAffinity.required: `{}`", affinity.describe()))
        .detail("the data of a local volume stays where it is")
        .detail("accepted: the node that it was pinned to; another volume for the disk of another node");
    Some(finding)
}

fn pins(pinned: &BTreeMap<String, String>) -> String {
    let shown: Vec<String> = pinned.iter().map(|(key, value)| format!("`{}={value}`", short(key, 120))).collect();
    shown.join(" and ")
}

/// A node by the first key that names it, after "a node".
fn named(node: &Labels, keys: &[String]) -> String {
    match keys.iter().find_map(|key| Some((key, node.get(key)?))) {
        Some((key, value)) => format!("with `{}={value}`", short(key, 120)),
        None => format!("with any {} or none", one_of(keys)),
    }
}

/// `` `a` or `b` ``
fn one_of(keys: &[String]) -> String {
    keys.iter().map(|key| format!("`{}`", short(key, 120))).collect::<Vec<_>>().join(" or ")
}
