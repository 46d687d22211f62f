//! What a change to a volume means for each node: the plain matcher, asked before and after.

use super::field::{Field, Unreadable};
use super::names::Names;
use super::node_selector::Labels;
use super::volume::Volume;
use super::zone_labels::ZONE_LABELS;

/// Whether a node can use a volume before and after a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    Loses,
    Gains,
    Keeps,
    Never,
}

impl Reach {
    /// In the order in which they are shown.
    pub const ALL: [Reach; 4] = [Reach::Loses, Reach::Gains, Reach::Keeps, Reach::Never];

    /// As answers name it.
    pub fn name(self) -> &'static str {
        match self {
            Reach::Loses => "loses",
            Reach::Gains => "gains",
            Reach::Keeps => "keeps",
            Reach::Never => "never",
        }
    }
}

/// What was answered for the values of the keys: most nodes of a zone have the same. The list is short, so that to look through
/// it costs less than to answer again.
type Known<'v> = Vec<(Vec<Option<&'v str>>, Reach)>;

const MOST_KNOWN: usize = 64;

/// A change to a volume.
#[derive(Debug, Clone)]
pub struct Change {
    before: Volume,
    after: Volume,
    /// The label keys that decide, in their order, each once.
    keys: Vec<String>,
}

impl Change {
    pub fn new(before: Volume, after: Volume) -> Self {
        // Whether a zone label of a volume counts depends on all four labels of the node.
        let of_zones = ZONE_LABELS.iter().map(|(key, _)| *key);
        let keys = of_zones.chain(before.keys()).chain(after.keys());
        let keys = Names::of(keys).names().map(str::to_owned).collect();
        Change { before, after, keys }
    }

    /// Passes on each node of a document, with its name and what the change means for it: one node, a list, or what `kubectl get
    /// -o json` prints. Objects of other kinds are left out.
    ///
    /// # Errors
    /// What is not such a document, and a node without a name.
    pub fn each<'v>(
        &self,
        nodes: &Field<'v, '_>,
        see: &mut dyn FnMut(&Field<'v, '_>, &'v str, Reach),
    ) -> Result<(), Unreadable> {
        let mut known = Known::new();
        let items;
        let list = if nodes.check_object().is_err() {
            nodes
        } else {
            items = nodes.get("items")?;
            if !items.is_present() {
                return self.one(nodes, &mut known, see);
            }
            &items
        };
        list.items()?.try_for_each(|node| self.one(&node, &mut known, see))
    }

    fn one<'v>(
        &self,
        node: &Field<'v, '_>,
        known: &mut Known<'v>,
        see: &mut dyn FnMut(&Field<'v, '_>, &'v str, Reach),
    ) -> Result<(), Unreadable> {
        // The items of a list of nodes carry no kind.
        if node.string_of("kind")?.is_some_and(|kind| kind != "Node") {
            return Ok(());
        }
        let metadata = node.get("metadata")?;
        let name = metadata.get("name")?.required_string()?;
        let values = self.values(node)?;
        let reach = match known.iter().find(|(known, _)| *known == values) {
            Some((_, reach)) => *reach,
            None => {
                let reach = self.reach(&values);
                if known.len() < MOST_KNOWN {
                    known.push((values, reach));
                }
                reach
            }
        };
        see(node, name, reach);
        Ok(())
    }

    /// The values that a node has for the keys.
    fn values<'v>(&self, node: &Field<'v, '_>) -> Result<Vec<Option<&'v str>>, Unreadable> {
        // To look up a few keys costs less than to read all labels.
        const FEW: usize = 16;
        let metadata = node.get("metadata")?;
        let labels = metadata.get("labels")?;
        if self.keys.len() <= FEW {
            return self.keys.iter().map(|key| labels.get(key)?.string()).collect();
        }
        let mut values = vec![None; self.keys.len()];
        for (key, value) in labels.members()? {
            let place = self.keys.binary_search_by(|known| known.as_str().cmp(key)).ok();
            if let Some(place) = place.and_then(|place| values.get_mut(place)) {
                *place = Some(value.required_string()?);
            }
        }
        Ok(values)
    }

    fn reach(&self, values: &[Option<&str>]) -> Reach {
        let mut labels = Labels::new();
        for (key, value) in self.keys.iter().zip(values) {
            if let Some(value) = value {
                labels.insert(key.clone(), (*value).to_owned());
            }
        }
        match (self.before.admits(&labels), self.after.admits(&labels)) {
            (true, false) => Reach::Loses,
            (false, true) => Reach::Gains,
            (true, true) => Reach::Keeps,
            (false, false) => Reach::Never,
        }
    }
}

#[cfg(test)]
mod tests;
