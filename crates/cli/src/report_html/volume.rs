//! One volume that changes: what is drawn of it.

use placement_guard::kubernetes::field::{self, Field, Unreadable};
use placement_guard::kubernetes::reach::Change;
use placement_guard::kubernetes::volume::Volume;
use placement_guard::kubernetes::zone_labels::{BETA_REGION, BETA_ZONE, REGION, ZONE};
use placement_guard::verdict::Verdict;

use super::map::Node;

/// What the rule answers where the settings do not judge volumes.
pub const EVERYTHING: &str = r#"{"volumeNodeAffinity":{"allow":["widened","narrowed","shifted","undecided"]}}"#;

/// A volume before and after.
pub struct Pair {
    before: Volume,
    after: Volume,
}

impl Pair {
    /// Reads both states, which are JSON.
    ///
    /// # Errors
    /// A wrong JSON type in one of them.
    pub fn read(before: &str, after: &str) -> Result<Self, Unreadable> {
        Ok(Pair { before: volume(before)?, after: volume(after)? })
    }

    /// The affinity before and after, in words.
    pub fn words(&self) -> (String, String) {
        (words(&self.before), words(&self.after))
    }

    /// What the change means for each of these nodes, which are the JSON of a list.
    ///
    /// # Errors
    /// What is not a list of nodes.
    pub fn nodes(&self, list: &[u8]) -> Result<Vec<Node>, Unreadable> {
        let change = Change::new(self.before.clone(), self.after.clone());
        let parsed = field::parse(list)?;
        let mut nodes = Vec::new();
        change.each(&Field::root("nodes", &parsed), &mut |node, name, reach| {
            let region = label(node, [REGION, BETA_REGION]);
            nodes.push(Node { name: name.to_owned(), region, zone: label(node, [ZONE, BETA_ZONE]), reach });
        })?;
        Ok(nodes)
    }
}

fn volume(json: &str) -> Result<Volume, Unreadable> {
    let parsed = field::parse(json.as_bytes())?;
    Volume::read(&Field::root("", &parsed))
}

fn words(volume: &Volume) -> String {
    let affinity = volume.scheduling_affinity().describe();
    let labels = volume.zone_labels.iter().map(|label| format!("label {}={}", label.key, label.value));
    [affinity].into_iter().chain(labels).collect::<Vec<_>>().join(", ")
}

fn label(node: &Field<'_, '_>, keys: [&str; 2]) -> String {
    let find = |key: &str| {
        let metadata = node.get("metadata").ok()?;
        let labels = metadata.get("labels").ok()?;
        labels.string_of(key).ok().flatten().map(str::to_owned)
    };
    keys.into_iter().find_map(find).unwrap_or_default()
}

/// What the relation between two states means, in a sentence.
pub fn sentence(relation: &str) -> &'static str {
    match relation {
        "equivalent" => "It is written in another way, and the same nodes can use the volume.",
        "widened" => "Every node that can use the volume before the change can use it afterwards, and more nodes can.",
        "narrowed" => "Some nodes that can use the volume before the change cannot use it afterwards.",
        "shifted" => "Some nodes lose the volume, and others gain it.",
        "undecided" => "The question is too large to be decided exactly.",
        _ => "Nothing changes about where the volume can be used.",
    }
}

/// The relation that a verdict names.
pub fn relation(verdict: &Verdict) -> Option<&str> {
    verdict.annotations.get("relation").map(String::as_str)
}
