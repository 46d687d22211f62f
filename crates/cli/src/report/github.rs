//! The findings as GitHub's workflow commands, which show each at the line of its field.

use super::fields::{block, live_nodes};
use super::{Effect, Found, Judged, Report};

pub fn of(report: &Report) -> String {
    report.objects.iter().flat_map(commands).map(|command| format!("{command}\n")).collect()
}

fn commands(judged: &Judged) -> impl Iterator<Item = String> {
    judged.findings.iter().filter(|found| found.is_active()).map(|found| command(judged, found))
}

fn command(judged: &Judged, found: &Found) -> String {
    let severity = match found.effect {
        Effect::Refuses => "error",
        Effect::Warns => "warning",
    };
    let title = property(&format!("{}: {}", found.code, judged.name()));
    // Standard input and an API server are no files of the repository.
    let location = match judged.subject.file.as_str() {
        "-" => String::new(),
        _ if found.line == 0 => String::new(),
        file => format!("file={},line={},col={},", property(file), found.line, found.column),
    };
    let moved = live_nodes(judged).filter(|_| found.code.starts_with("node-affinity-"));
    let text: Vec<String> = [block(found)].into_iter().chain(moved).collect();
    format!("::{severity} {location}title={title}::{}", data(&text.join("\n")))
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
