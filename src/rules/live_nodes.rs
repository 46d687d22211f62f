//! The nodes that are in the cluster.

use super::cluster::{CannotRead, Live, Unread};
use crate::kubernetes::field::{Field, Unreadable};
use crate::kubernetes::kind::Kind;
use crate::kubernetes::names::Names;
use crate::kubernetes::node_selector::Labels;
use crate::kubernetes::picked::{Fields, WHOLE};

/// A node, with those of its labels that a question is about.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LiveNode {
    pub name: String,
    pub labels: Labels,
}

/// What is read of a node. Every rule reads the same, so that an engine keeps one list of nodes.
pub const NODE: Fields = Fields(&[("metadata", Fields(&[("name", WHOLE), ("labels", WHOLE)]))]);

/// All nodes, by name, with those of their labels that are among `keys`.
///
/// # Errors
/// When nodes cannot be read, or two have the same name.
pub fn live_nodes(live: &Live<'_>, keys: &Names<'_>) -> Result<Vec<LiveNode>, Unread> {
    let mut nodes = Vec::new();
    live.each(Kind::Node, NODE, &mut |node| {
        nodes.push(read(node, keys)?);
        Ok(())
    })?;
    let names: Vec<String> = nodes.iter().map(|node: &LiveNode| node.name.clone()).collect();
    let order = Names::of(names.iter().map(String::as_str));
    let mut ordered = Vec::with_capacity(nodes.len());
    for position in order.ordered() {
        ordered.extend(nodes.get_mut(position).map(std::mem::take));
    }
    if ordered.len() < nodes.len() {
        return Err(Unread { kind: Kind::Node, cause: CannotRead::Garbled });
    }
    Ok(ordered)
}

/// Reads one node, with those of its labels that are among `keys`.
///
/// # Errors
/// A node that is none.
pub fn read(node: &Field<'_, '_>, keys: &Names<'_>) -> Result<LiveNode, Unreadable> {
    let metadata = node.get("metadata")?;
    let name = metadata.get("name")?.required_string()?.to_owned();
    let mut labels = Labels::new();
    let all = metadata.get("labels")?;
    // A few keys are looked up one by one: to see that no label stands twice, as reading all of them does, costs more.
    const FEW: usize = 16;
    if keys.count() <= FEW {
        for key in keys.names() {
            if let Some(value) = all.get(key)?.string()? {
                labels.insert(key.to_owned(), value.to_owned());
            }
        }
    } else {
        for (key, value) in all.members()? {
            if keys.contains(key) {
                labels.insert(key.to_owned(), value.required_string()?.to_owned());
            }
        }
    }
    Ok(LiveNode { name, labels })
}
