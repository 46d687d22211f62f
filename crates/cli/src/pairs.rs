//! Which old manifest a new one was.

use std::collections::BTreeMap;

use crate::manifest::{Identity, Manifest};

/// So many pairs of manifests of one object are compared by what they hold.
const COMPARED: usize = 1 << 12;

/// What makes two manifests the same object. The version does not.
type Key = (String, String, String, Option<String>);

/// The new manifests, each with the old one that it was, and the old ones that are gone.
///
/// An object may be there several times, as in the overlays of a repository. Then those that are equal belong together,
/// after them those in one file, and after them those that have the most rows in common: a file that gets a new name takes
/// its objects along. Old ones that remain are gone only where no new manifest is the same object.
pub fn pairs(before: Vec<Manifest>, after: Vec<Manifest>) -> (Vec<(Option<Manifest>, Manifest)>, Vec<Manifest>) {
    let mut groups: BTreeMap<Key, Group> = BTreeMap::new();
    for manifest in before {
        // Without a name nothing is matched: each makes an object of its own.
        if manifest.identity.name.is_some() {
            groups.entry(key(&manifest.identity)).or_default().old.push(Some(manifest));
        }
    }
    let mut partners: Vec<Option<Manifest>> = after.iter().map(|_| None).collect();
    for (number, manifest) in after.iter().enumerate() {
        if manifest.identity.name.is_some()
            && let Some(group) = groups.get_mut(&key(&manifest.identity))
        {
            group.new.push(number);
        }
    }
    let mut gone = Vec::new();
    for mut group in groups.into_values() {
        if group.new.is_empty() {
            gone.extend(group.old.into_iter().flatten());
            continue;
        }
        group.pair(&after, &mut partners, |new, old| new.document.json() == old.document.json());
        group.pair(&after, &mut partners, |new, old| new.document.file == old.document.file);
        group.pair_the_most_alike(&after, &mut partners);
        group.pair(&after, &mut partners, |_, _| true);
    }
    (partners.into_iter().zip(after).collect(), gone)
}

/// The manifests of one object.
#[derive(Default)]
struct Group {
    /// Those that have no partner yet.
    old: Vec<Option<Manifest>>,
    /// The numbers of the new ones that have no partner yet.
    new: Vec<usize>,
}

impl Group {
    /// Gives each new manifest the first old one that belongs to it.
    fn pair(
        &mut self,
        after: &[Manifest],
        partners: &mut [Option<Manifest>],
        belongs: impl Fn(&Manifest, &Manifest) -> bool,
    ) {
        let Group { old, new } = self;
        new.retain(|number| {
            let (Some(manifest), Some(partner)) = (after.get(*number), partners.get_mut(*number)) else { return false };
            let found = old.iter_mut().find(|old| old.as_ref().is_some_and(|old| belongs(manifest, old)));
            *partner = found.and_then(Option::take);
            partner.is_none()
        });
        old.retain(Option::is_some);
    }

    /// Pairs what has the most rows in common first. Of one on either side there is nothing to compare.
    fn pair_the_most_alike(&mut self, after: &[Manifest], partners: &mut [Option<Manifest>]) {
        let count = self.old.len().saturating_mul(self.new.len());
        if self.old.len().max(self.new.len()) < 2 || count > COMPARED {
            return;
        }
        let old: Vec<Vec<&str>> = self.old.iter().flatten().map(rows).collect();
        let new: Vec<(usize, Vec<&str>)> =
            self.new.iter().filter_map(|number| Some((*number, rows(after.get(*number)?)))).collect();
        let mut all: Vec<(usize, usize, usize)> = Vec::new();
        for (number, new) in &new {
            all.extend(old.iter().enumerate().map(|(at, old)| (common(new, old), *number, at)));
        }
        all.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| (one.1, one.2).cmp(&(other.1, other.2))));
        for (_, number, at) in all {
            let (Some(partner), Some(old)) = (partners.get_mut(number), self.old.get_mut(at)) else { continue };
            if partner.is_none() {
                *partner = old.take();
            }
        }
        self.old.retain(Option::is_some);
        self.new.retain(|number| partners.get(*number).is_some_and(Option::is_none));
    }
}

/// The rows of a manifest as it is written, in order.
fn rows(manifest: &Manifest) -> Vec<&str> {
    let mut rows: Vec<&str> = manifest.document.written.text.lines().map(str::trim).collect();
    rows.sort_unstable();
    rows
}

/// How many rows two lists in order share.
fn common(one: &[&str], other: &[&str]) -> usize {
    let (mut one, mut other) = (one.iter().peekable(), other.iter().peekable());
    let mut count = 0_usize;
    while let (Some(left), Some(right)) = (one.peek(), other.peek()) {
        match left.cmp(right) {
            std::cmp::Ordering::Less => drop(one.next()),
            std::cmp::Ordering::Greater => drop(other.next()),
            std::cmp::Ordering::Equal => {
                count = count.saturating_add(1);
                one.next();
                other.next();
            }
        }
    }
    count
}

fn key(identity: &Identity) -> Key {
    let Identity { group, kind, namespace, name, .. } = identity;
    // Where an object came from that has its own group now.
    let group = match (group.as_str(), kind.as_str()) {
        ("extensions", "DaemonSet" | "Deployment" | "ReplicaSet") => "apps",
        ("extensions", "Ingress" | "NetworkPolicy") => "networking.k8s.io",
        ("extensions", "PodSecurityPolicy") => "policy",
        (group, _) => group,
    };
    let namespace = namespace.clone().unwrap_or_else(|| String::from("default"));
    (group.to_owned(), kind.clone(), namespace, name.clone())
}
