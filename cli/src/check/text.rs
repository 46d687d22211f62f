//! The decision for people.

use super::{Judged, live_nodes};
use crate::output::{BAD, FAINT, GOOD, WARNING, styled};

/// What of a verdict is evidence and not in its message, in this order.
const EVIDENCE: [(&str, &str); 2] = [("gainsNode", "gains, for example, a node"), ("facts", "by the facts")];

pub fn of(judged: &[Judged]) -> String {
    let mut text: String = judged.iter().map(one).collect();
    if judged.len() > 1 {
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
    let place = styled(FAINT, format!("({})", judged.place()));
    let mut lines = vec![format!("{word} {}{relation} {place}", judged.subject())];
    lines.extend(verdict.message.iter().flat_map(|message| message.lines()).map(|line| format!("  {line}")));
    if verdict.allowed {
        let evidence = EVIDENCE.iter().filter_map(|(key, words)| Some((words, judged.annotation(key)?)));
        lines.extend(evidence.map(|(words, value)| format!("  {words} {value}")));
    }
    lines.extend(live_nodes(judged).map(|line| format!("  {line}")));
    let warnings = verdict.warnings.iter().chain(&judged.notes);
    lines.extend(warnings.map(|warning| format!("  {} {warning}", styled(WARNING, "warning:"))));
    lines.iter().map(|line| format!("{line}\n")).collect()
}
