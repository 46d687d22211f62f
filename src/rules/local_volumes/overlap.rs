//! Part of `localVolumes`: two volumes that are the same folder of the same node.
//!
//! Of two volumes whose paths overlap, a pod that uses one can read and overwrite what a pod keeps in the other. That takes
//! a node that can use both. Whether there could be one is decided by the algebra, over both affinities and both sets of
//! zone labels.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::NodeSelectorTerm;

use super::NodeVolume;
use super::host_paths::Source;
use super::pinned::steps_to_read;
use super::prefixes::shown_path;
use crate::kubernetes::affinity::Affinity;
use crate::kubernetes::field::{Field, short};
use crate::kubernetes::kind::Kind;
use crate::kubernetes::listing::first_few_of;
use crate::kubernetes::node_selector::{Labels, node_at};
use crate::kubernetes::paths::NodePath;
use crate::kubernetes::picked::{Fields, WHOLE};
use crate::kubernetes::volume::Volume;
use crate::logic::{Budget, Containment, Exhausted, Facts, Outline, Union, contained};
use crate::rules::cluster::{Live, Unread};
use crate::rules::finding::{Code, Finding};
use crate::rules::live_share::each_with_half;
use crate::rules::replay::replay;
use crate::rules::rule::Stopped;

/// What is read of a volume.
const VOLUME: Fields = Fields(&[
    ("metadata", Fields(&[("name", WHOLE), ("labels", WHOLE)])),
    (
        "spec",
        Fields(&[
            ("local", Fields(&[("path", WHOLE)])),
            ("hostPath", Fields(&[("path", WHOLE)])),
            ("nodeAffinity", WHOLE),
        ]),
    ),
]);

/// Steps for a volume that is looked at, in addition to its path, and for the terms of one that is compared.
const STEPS_FOR_A_VOLUME: usize = 4;
const STEPS_TO_COMPARE: usize = 200;

/// How many other volumes a message names.
const MOST: usize = 5;

/// What is found when other volumes of the cluster have overlapping paths on a node that can use `volume` too. The volume
/// itself, which an audit finds in the cluster, is not one of them.
///
/// # Errors
/// When volumes cannot be read.
pub fn find(
    name: &str,
    volume: &NodeVolume<'_>,
    live: &Live<'_>,
    budget: &mut Budget,
) -> Result<Option<Finding>, Unread> {
    let path = NodePath::clean(volume.path);
    // By name, so that the order of the cluster's answer does not matter.
    let mut overlapping: BTreeMap<String, String> = BTreeMap::new();
    let compared = each_with_half(live, Kind::PersistentVolume, VOLUME, budget, &mut |other, own| {
        compare(name, volume, &path, other, &mut overlapping, own)
    })?;
    let shown = short(name, 120);
    if compared.is_err() {
        let headline = format!("local path overlap: could not decide whether another volume overlaps volume `{shown}`");
        return Ok(Some(
            Finding::new(Code::LocalPathOverlap, headline)
                .at(field(volume.source), &shown_path(volume.path))
                .detail("there are too many volumes with overlapping paths, or their affinities are too large"),
        ));
    }
    let Some(first) = overlapping.keys().next() else { return Ok(None) };
    let more = match overlapping.len() {
        1 => String::new(),
        count => format!(" and {} more", count.saturating_sub(1)),
    };
    let headline = format!(
        "local path overlap: volume `{shown}` shares a path of a node with volume `{}`{more}",
        short(first, 120)
    );
    let mut finding = Finding::new(Code::LocalPathOverlap, headline).at(field(volume.source), &shown_path(volume.path));
    for text in overlapping.values().take(MOST) {
        finding = finding.detail(text.clone());
    }
    Ok(Some(
        finding
            .detail("a pod with the one volume can read and overwrite what a pod keeps in the other")
            .detail("accepted: a path that is neither above nor below that of another volume of the same node"),
    ))
}

fn field(source: Source) -> String {
    format!("spec.{}.path", source.field())
}

/// Looks at one other volume, which is added when it overlaps.
fn compare(
    name: &str,
    volume: &NodeVolume<'_>,
    path: &NodePath<'_>,
    other: &Field<'_, '_>,
    overlapping: &mut BTreeMap<String, String>,
    budget: &mut Budget,
) -> Result<(), Stopped> {
    let metadata = other.get("metadata")?;
    let other_name = metadata.get("name")?.required_string()?;
    if other_name == name {
        return Ok(());
    }
    let spec = other.get("spec")?;
    for source in [Source::Local, Source::HostPath] {
        let Some(other_path) = spec.get(source.field())?.string_of("path")? else { continue };
        budget.spend(STEPS_FOR_A_VOLUME.saturating_add(other_path.len() / 8))?;
        if !path.overlaps(&NodePath::clean(other_path)) {
            continue;
        }
        let steps = Volume::steps_to_read(other)?;
        budget.spend(steps.saturating_add(steps_to_read(&volume.affinity)))?;
        let read = Volume::read(other)?;
        if let Some(node) = node_of_both(volume, &read, budget)? {
            let named =
                format!("volume `{}` has {}: {}", short(other_name, 120), field(source), shown_path(other_path));
            overlapping.insert(other_name.to_owned(), format!("{named}, on a node {}", described(&node)));
        }
    }
    Ok(())
}

/// A node that can use both volumes.
fn node_of_both(volume: &NodeVolume<'_>, other: &Volume, budget: &mut Budget) -> Result<Option<Labels>, Exhausted> {
    if are_plainly_disjoint(&volume.affinity, &other.affinity, budget)? {
        return Ok(None);
    }
    budget.spend(STEPS_TO_COMPARE)?;
    let mut outline = Outline::default();
    let sides = [
        volume.affinity.to_terms(&mut outline),
        other.affinity.to_terms(&mut outline),
        volume.zone_labels.to_terms(&mut outline),
        other.zone_labels.to_terms(&mut outline),
    ];
    sides.iter().flatten().for_each(|term| outline.mention(term));
    let space = outline.cut(budget)?;
    let mut both = Union::everything();
    for side in &sides {
        both = space.union(side, budget)?.and(&both, &space, budget)?;
    }
    match contained(&space, &both, &Union::default(), &Facts::default(), budget) {
        Containment::Contained => Ok(None),
        Containment::Undecided => Err(Exhausted),
        Containment::Escapes(point) => {
            let admitted =
                |node: &Labels| volume.admits(node) && other.affinity.admits(node) && other.zone_labels.admits(node);
            replay(node_at(&space, &point), admitted).map(Some).ok_or(Exhausted)
        }
    }
}

/// Whether every term of the one names values of a label of which no term of the other accepts any. That is how most
/// volumes of different nodes differ, and it costs far less than the algebra.
fn are_plainly_disjoint(one: &Affinity, other: &Affinity, budget: &mut Budget) -> Result<bool, Exhausted> {
    let (Affinity::Required(one), Affinity::Required(other)) = (one, other) else { return Ok(false) };
    for mine in one {
        for theirs in other {
            let (listed_by_me, listed_by_them) = (listed(mine), listed(theirs));
            budget.spend(steps(&listed_by_me).saturating_mul(steps(&listed_by_them)))?;
            let differ = listed_by_me.iter().any(|(key, values)| {
                let same_key = listed_by_them.iter().filter(|(other, _)| other == key);
                same_key.into_iter().any(|(_, others)| !values.iter().any(|value| others.contains(value)))
            });
            if !differ {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// The values that a term lists for a label with `In`.
type Listed<'t> = Vec<(&'t str, &'t [String])>;

fn listed(term: &NodeSelectorTerm) -> Listed<'_> {
    let requirements = term.match_expressions.iter().flatten().filter(|requirement| requirement.operator == "In");
    requirements
        .map(|requirement| (requirement.key.as_str(), requirement.values.as_deref().unwrap_or_default()))
        .collect()
}

fn steps(listed: &Listed<'_>) -> usize {
    listed.iter().map(|(_, values)| values.len()).fold(listed.len().saturating_add(1), usize::saturating_add)
}

fn described(node: &Labels) -> String {
    if node.is_empty() {
        return String::from("without labels that either asks about");
    }
    let shown = node.iter().map(|(key, value)| format!("`{key}={value}`"));
    format!("with {}", first_few_of(shown, MOST, ", ", "labels"))
}
