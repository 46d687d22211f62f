//! The nodes that are in the cluster.

use super::cluster::{Live, Unread};
use crate::kubernetes::field::{Field, Unreadable};
use crate::kubernetes::kind::Kind;
use crate::kubernetes::listing::first_few;
use crate::kubernetes::names::Names;
use crate::kubernetes::node_selector::Labels;
use crate::kubernetes::picked::{Fields, WHOLE};

/// A node, with those of its labels that a question is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveNode {
    pub name: String,
    pub labels: Labels,
}

/// What is read of a node. Every rule reads the same, so that an engine keeps one list of nodes.
pub const NODE: Fields = Fields(&[("metadata", Fields(&[("name", WHOLE), ("labels", WHOLE)]))]);

/// All nodes, by name, with those of their labels that are among `keys`.
///
/// # Errors
/// When nodes cannot be read.
pub fn live_nodes(live: &Live<'_>, keys: &Names<'_>) -> Result<Vec<LiveNode>, Unread> {
    let mut nodes = Vec::new();
    live.each(Kind::Node, NODE, &mut |node| {
        nodes.push(read(node, keys)?);
        Ok(())
    })?;
    nodes.sort_unstable_by(|one: &LiveNode, other| one.name.cmp(&other.name));
    nodes.dedup_by(|one, other| one.name == other.name);
    Ok(nodes)
}

/// Reads one node, with those of its labels that are among `keys`.
///
/// # Errors
/// A node that is none.
pub fn read(node: &Field<'_, '_>, keys: &Names<'_>) -> Result<LiveNode, Unreadable> {
    let metadata = node.get("metadata")?;
    let name = metadata.get("name")?.required_string()?.to_owned();
    let mut labels = Labels::new();
    for (key, value) in metadata.get("labels")?.members()? {
        if keys.contains(key) {
            labels.insert(key.to_owned(), value.required_string()?.to_owned());
        }
    }
    Ok(LiveNode { name, labels })
}

/// The names of the first nodes, as annotations carry them: the first 20 and `+N`.
pub fn names(nodes: &[&LiveNode]) -> String {
    first_few(nodes.iter().map(|node| node.name.clone()), 20, ",")
}

/// The same for a message.
pub fn quoted_names(nodes: &[&LiveNode]) -> String {
    first_few(nodes.iter().map(|node| format!("`{}`", node.name)), 20, ", ")
}
