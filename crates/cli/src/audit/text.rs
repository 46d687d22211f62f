//! The report for people.

use super::report::{Found, Report};
use crate::output::{BAD, FAINT, GOOD, WARNING, styled};

pub fn of(report: &Report) -> String {
    let mut text = String::new();
    for group in &report.findings {
        let refuses = group.objects.iter().any(|found| found.refuses);
        let style = if refuses { BAD } else { WARNING };
        text.push_str(&format!("{} ({})\n", styled(style, group.code), group.count));
        group.objects.iter().for_each(|found| push(&mut text, found));
        text.push('\n');
    }
    for pair in &report.not_together {
        text.push_str(&format!("{} {pair}\n\n", styled(WARNING, "warning:")));
    }
    let found: usize = report.findings.iter().map(|group| group.count).sum();
    let style = if report.refused > 0 { BAD } else { GOOD };
    let refused = styled(style, format!("would be refused: {}", report.refused));
    text.push_str(&format!("objects: {}, findings: {found}, {refused}", report.objects));
    if report.not_judged.total() > 0 {
        text.push_str(&format!("; not judged: {}", report.not_judged.words()));
    }
    text.push('\n');
    text
}

fn push(text: &mut String, found: &Found) {
    let object = &found.object;
    let file = if object.file == "-" { "standard input" } else { &object.file };
    let location = styled(FAINT, format!("({file}:{})", object.line));
    text.push_str(&format!("  {} {location}\n", object.identity));
    for line in found.message.lines() {
        text.push_str(&format!("    {line}\n"));
    }
}
