//! Parts of reports in words, the same in every output for people.

use std::borrow::Cow;

use placement_guard::kubernetes::node_selector::Labels;

use super::{Found, Judged};
use crate::input;
use crate::plain::plain;

/// A finding as a block of lines.
pub fn block(found: &Found) -> String {
    let mut text = found.message.clone();
    for line in &found.details {
        text.push_str("\n  ");
        text.push_str(line);
    }
    text
}

/// A file in words.
pub fn shown(file: &str) -> Cow<'_, str> {
    plain(input::shown(file))
}

/// What an edit does in the cluster whose nodes are known, unless a finding says it.
pub fn live_nodes(judged: &Judged) -> Option<String> {
    if judged.findings.iter().flat_map(|found| &found.details).any(|line| line.starts_with(SAID)) {
        return None;
    }
    let moved = [("loses", "losesLiveNodes"), ("gains", "gainsLiveNodes")];
    let said = moved.iter().filter_map(|(verb, key)| {
        let (count, names) = names(judged.annotation(key)?);
        let nodes = if count == 1 { "node" } else { "nodes" };
        Some(format!("{verb} {count} {nodes}: {names}"))
    });
    let said: Vec<String> = said.collect();
    (!said.is_empty()).then(|| format!("{SAID}{}", said.join("; ")))
}

const SAID: &str = "in this cluster: ";

/// Whether a node of the cluster gains or loses the volume.
pub fn moves_live_nodes(judged: &Judged) -> bool {
    ["losesLiveNodes", "gainsLiveNodes"].into_iter().any(|key| judged.annotation(key).is_some())
}

/// A place in a file; what comes from an API server has no lines.
pub fn place(file: &str, line: usize, column: Option<usize>) -> String {
    let numbers = [Some(line), column].into_iter().flatten().filter(|_| line > 0);
    numbers.fold(shown(file).into_owned(), |place, number| format!("{place}:{number}"))
}

/// How many names a list `a,b,+3` has, and the list with each name in backticks.
fn names(list: &str) -> (usize, String) {
    let mut count: usize = 0;
    let mut shown: Vec<String> = Vec::new();
    for name in list.split(',') {
        match name.strip_prefix('+').and_then(|more| more.parse::<usize>().ok()) {
            Some(more) => {
                count = count.saturating_add(more);
                shown.push(name.to_owned());
            }
            None => {
                count = count.saturating_add(1);
                shown.push(format!("`{name}`"));
            }
        }
    }
    (count, shown.join(", "))
}

/// What an accepted edit does, where it has an effect.
pub fn effects(judged: &Judged) -> Vec<String> {
    let mut lines = Vec::new();
    if judged.verdict.allowed {
        let gains = judged.annotation("gainsNode").and_then(|node| serde_json::from_str(node).ok());
        lines.extend(gains.map(|node| format!("gains, for example, a node {}", labels(&node))));
        lines.extend(judged.annotation("facts").map(|facts| format!("relying on these facts: {facts}")));
    }
    lines.extend(live_nodes(judged));
    lines
}

/// The labels of a node in words.
fn labels(node: &Labels) -> String {
    let labels: Vec<String> = node.iter().map(|(key, value)| format!("`{key}={value}`")).collect();
    if labels.is_empty() { String::from("without labels") } else { format!("with {}", labels.join(", ")) }
}
