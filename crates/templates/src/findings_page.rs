//! `docs/findings.md`: a heading for each finding, for links from reports.

use placement_guard::rules::finding::{Code, Severity};

use crate::findings::{self, Explained};

/// The whole page.
pub fn text() -> String {
    let mut page = String::from(
        "# Findings\n\n\
         <!-- `make bless` writes this page from the table of findings. -->\n\n\
         Every finding has a stable code. `placement-guard explain CODE` prints what this page says about it. A finding that refuses\n\
         only warns under `enforcement: warn`. Each example holds settings and manifests with which the code is found, and the objects of the cluster where it takes some.\n",
    );
    findings::all().for_each(|found| page.push_str(&format!("\n{}", section(found))));
    page
}

/// What a finding does, in a word.
pub fn effect(severity: Severity) -> &'static str {
    match severity {
        Severity::Refuses => "refuses",
        Severity::Warns => "warns",
    }
}

fn section(found: &Explained) -> String {
    let Explained { name, code, severity, means, mend, example } = found;
    let whose = match (code, code.and_then(Code::section)) {
        (None, _) => String::from("on the command line"),
        (Some(_), None) => String::from("from every rule"),
        (Some(_), Some(section)) => format!("[`{section}`](settings.md#{})", section.to_lowercase()),
    };
    let mut text = format!("## {name}\n\n{} · {whose}\n\n{means}\n\n**Accepted:** {mend}\n", effect(*severity));
    if let Some(example) = example {
        text.push_str(&format!("\n```yaml\n{example}```\n"));
    }
    text
}
