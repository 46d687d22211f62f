//! The decision for people.

use placement_guard::kubernetes::node_selector::Labels;

use super::{Judged, live_nodes};
use crate::output::{BAD, FAINT, GOOD, WARNING, styled};

pub fn of(judged: &[Judged]) -> String {
    let mut text: String = judged.iter().map(one).collect();
    if judged.len() != 1 {
        let accepted = judged.iter().filter(|judged| judged.verdict.allowed).count();
        let refused = judged.len().saturating_sub(accepted);
        text.push_str(&format!("{} requests: {accepted} accepted, {refused} refused\n", judged.len()));
    }
    text
}

fn one(judged: &Judged) -> String {
    let verdict = &judged.verdict;
    let word = match verdict.code {
        None => styled(GOOD, "accepted"),
        Some(code) => format!("{} ({code})", styled(BAD, "refused")),
    };
    let relation = judged.annotation("relation").map(|relation| format!(": {relation}")).unwrap_or_default();
    let location = styled(FAINT, format!("({})", judged.location()));
    let mut lines = vec![format!("{word} {}{relation} {location}", judged.subject())];
    lines.extend(verdict.message.iter().flat_map(|message| message.lines()).map(|line| format!("  {line}")));
    if verdict.allowed {
        let gains = judged.annotation("gainsNode").and_then(|node| serde_json::from_str(node).ok());
        lines.extend(gains.map(|node| format!("  gains, for example, a node {}", labels(&node))));
        lines.extend(judged.annotation("facts").map(|facts| format!("  relying on these facts: {facts}")));
    }
    lines.extend(live_nodes(judged).map(|line| format!("  {line}")));
    let warnings = verdict.warnings.iter().chain(&judged.notes);
    lines.extend(warnings.map(|warning| format!("  {} {warning}", styled(WARNING, "warning:"))));
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// The labels of a node in words.
fn labels(node: &Labels) -> String {
    let labels: Vec<String> = node.iter().map(|(key, value)| format!("`{key}={value}`")).collect();
    if labels.is_empty() { String::from("without labels") } else { format!("with {}", labels.join(", ")) }
}
