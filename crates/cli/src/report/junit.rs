//! The report as JUnit's XML, in the form that Jenkins and GitLab read: a suite for each file, a test case for each object.

use std::collections::BTreeMap;

use super::fields::{block, place, shown};
use super::{Effect, Found, Judged, Report};

pub fn of(report: &Report) -> String {
    let mut files: BTreeMap<&str, Vec<&Judged>> = BTreeMap::new();
    for judged in &report.objects {
        files.entry(&judged.subject.file).or_default().push(judged);
    }
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let failed = report.objects.iter().filter(|judged| fails(judged)).count();
    let tests = report.objects.len();
    text.push_str(&format!("<testsuites name=\"placement-guard\" tests=\"{tests}\" failures=\"{failed}\">\n"));
    for (file, objects) in files {
        let failed = objects.iter().filter(|judged| fails(judged)).count();
        let (name, tests) = (escaped(&shown(file)), objects.len());
        text.push_str(&format!("  <testsuite name=\"{name}\" tests=\"{tests}\" failures=\"{failed}\">\n"));
        objects.iter().for_each(|judged| push(&mut text, judged));
        text.push_str("  </testsuite>\n");
    }
    text.push_str("</testsuites>\n");
    text
}

fn refusals(judged: &Judged) -> impl Iterator<Item = &Found> {
    judged.findings.iter().filter(|found| found.is_active() && found.effect == Effect::Refuses)
}

fn fails(judged: &Judged) -> bool {
    refusals(judged).next().is_some()
}

fn push(text: &mut String, judged: &Judged) {
    let (name, class) = (escaped(&judged.name()), escaped(&shown(&judged.subject.file)));
    text.push_str(&format!("    <testcase name=\"{name}\" classname=\"{class}\""));
    if judged.findings.is_empty() {
        text.push_str("/>\n");
        return;
    }
    text.push_str(">\n");
    for found in refusals(judged) {
        let (message, kind) = (escaped(&found.message), escaped(&found.code));
        let said = escaped(&said(judged, found));
        text.push_str(&format!("      <failure message=\"{message}\" type=\"{kind}\">{said}</failure>\n"));
    }
    let others = judged.findings.iter().filter(|found| !found.is_active() || found.effect == Effect::Warns);
    let others: Vec<String> = others.map(|found| format!("{}: {}", standing(found), said(judged, found))).collect();
    if !others.is_empty() {
        text.push_str(&format!("      <system-out>{}</system-out>\n", escaped(&others.join("\n"))));
    }
    text.push_str("    </testcase>\n");
}

fn standing(found: &Found) -> String {
    match (&found.silenced, found.in_baseline) {
        (Some(reason), _) => format!("silenced ({reason})"),
        (None, true) => String::from("in the baseline"),
        (None, false) => String::from("warning"),
    }
}

fn said(judged: &Judged, found: &Found) -> String {
    format!("{}: {}", place(&judged.subject.file, found.line, Some(found.column)), block(found))
}

/// A text in XML. Characters that XML cannot carry become `?`.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\t' => escaped.push(letter),
            '\u{fffe}' | '\u{ffff}' => escaped.push('?'),
            _ if letter.is_control() => escaped.push('?'),
            _ => escaped.push(letter),
        }
    }
    escaped
}
