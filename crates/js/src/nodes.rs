//! What a change to a PersistentVolume means for each of some nodes, put to the plain matcher.

use placement_guard::kubernetes::field::{Field, Unreadable};
use placement_guard::kubernetes::reach::{Change, Reach};
use placement_guard::kubernetes::volume::Volume;
use placement_guard::rules::decision::Decision;

use crate::answers::{NodeChange, NodeChangeName, NodeChanges};
use crate::document;

pub fn between(before: &str, after: &str, nodes: &str) -> NodeChanges {
    match changes(before, after, nodes) {
        Ok(nodes) => NodeChanges { nodes, code: None, message: None },
        Err(unreadable) => {
            let Decision { code, message, .. } = Decision::unreadable(&unreadable);
            NodeChanges { nodes: Vec::new(), code, message }
        }
    }
}

fn changes(before: &str, after: &str, nodes: &str) -> Result<Vec<NodeChange>, Unreadable> {
    let before = document::read("before", before, volume)?;
    let change = Change::new(before, document::read("after", after, volume)?);
    document::read("nodes", nodes, |nodes| {
        let mut changes = Vec::new();
        change.each(nodes, &mut |_, name, reach| {
            changes.push(NodeChange { name: name.to_owned(), change: named(reach) });
        })?;
        Ok(changes)
    })
}

fn volume(document: &Field<'_, '_>) -> Result<Volume, Unreadable> {
    if !document.is_present() {
        return Err(document.unreadable("is missing; must be a PersistentVolume"));
    }
    document::is_volume(document)?;
    Volume::read(document)
}

fn named(reach: Reach) -> NodeChangeName {
    match reach {
        Reach::Loses => NodeChangeName::Loses,
        Reach::Gains => NodeChangeName::Gains,
        Reach::Keeps => NodeChangeName::Keeps,
        Reach::Never => NodeChangeName::Never,
    }
}
