//! The decision as GitHub's workflow commands, which show it at the line of the document that is about.

use super::{Judged, live_nodes};

pub fn of(judged: &[Judged]) -> String {
    judged.iter().flat_map(commands).map(|command| format!("{command}\n")).collect()
}

fn commands(judged: &Judged) -> Vec<String> {
    let verdict = &judged.verdict;
    let refusal = verdict.message.as_deref().map(|message| {
        let lines = std::iter::once(message.to_owned()).chain(live_nodes(judged));
        command("error", judged, &lines.collect::<Vec<_>>().join("\n"))
    });
    let warnings = verdict.warnings.iter().chain(&judged.notes).map(|warning| command("warning", judged, warning));
    refusal.into_iter().chain(warnings).collect()
}

fn command(severity: &str, judged: &Judged, message: &str) -> String {
    let title = property(&format!("placement-guard: {}", judged.subject()));
    // Standard input is not a file of the repository.
    let location = match judged.file.as_str() {
        "-" => String::new(),
        file => format!("file={},line={},", property(file), judged.line),
    };
    format!("::{severity} {location}title={title}::{}", data(message))
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
