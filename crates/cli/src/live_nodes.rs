//! The nodes of a cluster, from a file: which of them an edit of a volume gains and loses. It changes no decision.

use std::path::Path;

use placement_guard::kubernetes::field::{self, Field};
use placement_guard::kubernetes::listing::first_few;
use placement_guard::kubernetes::node_selector::Labels;
use placement_guard::kubernetes::volume::Volume;
use placement_guard::verdict::Verdict;

use crate::complaint::Complaint;
use crate::input::Source;
use crate::manifest::Manifest;

/// Names that are shown before the rest is a number.
const MOST: usize = 20;

const REMEDY: &str = "give what `kubectl get nodes -o yaml` prints";

/// Nodes by name.
pub struct LiveNodes(Vec<(String, Labels)>);

impl LiveNodes {
    /// Reads what `kubectl get nodes -o yaml` printed.
    ///
    /// # Errors
    /// A document that is not a node, or a label that is not a string.
    pub fn read(path: &Path) -> Result<Self, Complaint> {
        let source = Source::read(path)?;
        let mut nodes = Vec::new();
        for manifest in Manifest::all(&source)? {
            let Manifest { identity, document } = manifest;
            let complain =
                |problem: String| Complaint::new(format!("{}:{}", source.shown(), document.line), problem, REMEDY);
            if (identity.group.as_str(), identity.kind.as_str()) != ("", "Node") {
                return Err(complain(format!("is a `{}`, not a `Node`", identity.kind)));
            }
            let name = identity.name.clone().ok_or_else(|| complain(String::from("is a `Node` without a name")))?;
            nodes.push((name, labels(document.json()).map_err(|unreadable| complain(unreadable.to_string()))?));
        }
        if nodes.is_empty() {
            return Err(Complaint::new(source.shown(), "holds no `Node`", REMEDY));
        }
        nodes.sort();
        Ok(LiveNodes(nodes))
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Adds what an edit does to these nodes to the verdict on it, under the annotations `losesLiveNodes` and
    /// `gainsLiveNodes`.
    pub fn annotate(&self, json: &str, verdict: &mut Verdict) {
        let Some((before, after)) = edit(json) else { return };
        let named = |from: &Volume, to: &Volume| {
            let names = self.0.iter().filter(|(_, labels)| from.admits(labels) && !to.admits(labels));
            first_few(names.map(|(name, _)| name.clone()), MOST, ",")
        };
        for (key, names) in [("losesLiveNodes", named(&before, &after)), ("gainsLiveNodes", named(&after, &before))] {
            if !names.is_empty() {
                verdict.annotations.insert(key.to_owned(), names);
            }
        }
    }
}

fn labels(json: &str) -> Result<Labels, field::Unreadable> {
    let json = field::parse(json.as_bytes())?;
    let root = Field::root("", &json);
    let metadata = root.get("metadata")?;
    let labels = metadata.get("labels")?;
    let labels = labels.members()?.map(|(key, value)| Ok((key.to_owned(), value.required_string()?.to_owned())));
    labels.collect()
}

/// The volume before and after, where the request edits one that can be read.
fn edit(json: &str) -> Option<(Volume, Volume)> {
    let json = field::parse(json.as_bytes()).ok()?;
    let root = Field::root("", &json);
    let review = root.get("request").ok()?;
    let request = if review.is_present() { review } else { root };
    let kind = request.get("kind").ok()?;
    let is_volume = kind.string_of("kind").ok()? == Some("PersistentVolume")
        && kind.string_of("group").ok()?.unwrap_or_default().is_empty()
        && request.string_of("subResource").ok()?.unwrap_or_default().is_empty();
    if !is_volume || request.string_of("operation").ok()? != Some("UPDATE") {
        return None;
    }
    let volume = |name: &str| {
        let object = request.get(name).ok()?;
        if object.is_present() { Volume::read(&object).ok() } else { None }
    };
    Some((volume("oldObject")?, volume("object")?))
}
