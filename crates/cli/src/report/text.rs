//! The report for people.

use std::collections::BTreeMap;

use templates::findings;

use super::fields::{self, effects, moves_live_nodes, shown};
use super::{Effect, Found, Grouped, Judged, Length, Report, Subject, rank};
use crate::output::{BAD, FAINT, GOOD, WARNING, styled};
use crate::plain::plain;

pub fn of(report: &Report, grouped: Grouped, length: Length) -> String {
    let mut text = match (length, grouped) {
        (Length::Summary, _) => String::new(),
        (_, Grouped::ByFile) => by_file(report, length),
        (_, Grouped::ByCode) => by_code(report),
    };
    text.push_str(&numbers(report, grouped));
    text
}

/// The objects of each file, files in the order in which they were read.
fn by_file(report: &Report, length: Length) -> String {
    let mut text = String::new();
    let mut file = "";
    for judged in report.objects.iter().filter(|judged| is_worth_a_line(judged, length)) {
        if judged.subject.file != file {
            file = &judged.subject.file;
            text.push_str(&format!("{}\n", styled(FAINT, shown(file))));
        }
        text.push_str(&one(judged));
    }
    text
}

/// What is refused or warned of and, unless that is all that is asked for, accepted changes that a rule judged.
fn is_worth_a_line(judged: &Judged, length: Length) -> bool {
    let unchanged = judged.annotation("relation") == Some("unchanged");
    let tells = judged.concerns_a_rule && !unchanged && judged.findings.is_empty();
    judged.has_active() || (length == Length::Everything && (tells || is_silenced(judged)))
}

fn is_silenced(judged: &Judged) -> bool {
    judged.findings.iter().any(|found| found.silenced.is_some())
}

fn one(judged: &Judged) -> String {
    let fails = judged.findings.iter().any(|found| found.is_active() && found.effect == Effect::Refuses);
    let word = match judged.verdict.code {
        // A cluster sees one request at a time.
        None if fails => styled(BAD, "refused here"),
        None => styled(GOOD, "accepted"),
        Some(code) => format!("{} ({code})", styled(BAD, "refused")),
    };
    let relation = judged.annotation("relation").filter(|relation| *relation != "unchanged");
    let relation = relation.map(|relation| format!(": {relation}")).unwrap_or_default();
    let mut lines = vec![format!("  {word} {}{relation}{}", judged.name(), place(judged))];
    let active: Vec<&Found> = judged.findings.iter().filter(|found| found.is_active()).collect();
    lines.extend(blocks(&judged.subject, &active, true).into_iter().map(|line| format!("    {line}")));
    lines.extend(effects(judged).into_iter().map(|line| format!("    {line}")));
    for found in &judged.findings {
        lines.extend(
            found
                .silenced
                .iter()
                .map(|reason| format!("    {}", styled(FAINT, format!("silenced: {}: {}", found.code, plain(reason))))),
        );
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn place(judged: &Judged) -> String {
    let Subject { file, line, template, .. } = &judged.subject;
    let template = template.iter().map(|template| format!(", {}", plain(template))).collect::<String>();
    styled(FAINT, format!(" ({}{template})", fields::place(file, *line, None)))
}

/// Findings of one object, with what several of them say alike said once. A heading above them may name the code.
fn blocks(subject: &Subject, findings: &[&Found], with_code: bool) -> Vec<String> {
    let mut lines = Vec::new();
    let with = |code: &str, field: &Option<String>| {
        findings.iter().find(|found| found.code == code && found.field == *field && found.field.is_some())
    };
    let alone: Vec<&&Found> =
        findings.iter().filter(|found| found.code != NOT_ALLOWED || with(DENIED, &found.field).is_none()).collect();
    for (index, found) in alone.iter().enumerate() {
        let not_allowed = with(NOT_ALLOWED, &found.field).filter(|_| found.code == DENIED);
        let next = alone.get(index.saturating_add(1)).filter(|next| next.code == found.code);
        let is_said_below = next.is_some_and(|next| reasons(next) == reasons(found));
        let warning = match found.effect {
            Effect::Warns if with_code => format!("{} ", styled(WARNING, "warning:")),
            Effect::Warns | Effect::Refuses => String::new(),
        };
        let code = match not_allowed {
            Some(_) => format!(" [{DENIED}, {NOT_ALLOWED}]"),
            None => format!(" [{}]", found.code),
        };
        let code = if with_code { styled(FAINT, code) } else { String::new() };
        lines.push(format!("{warning}{}{code}", plain(&found.message)));
        lines.push(format!("  {}", located(subject, found)));
        if !is_said_below {
            let also = not_allowed.map(|other| reasons(other)).unwrap_or_default();
            lines.extend(reasons(found).into_iter().chain(also).map(|line| format!("  {}", plain(line))));
        }
    }
    lines
}

const NOT_ALLOWED: &str = "toleration-not-allowed";
const DENIED: &str = "toleration-denied";

/// The place of a finding, with what its field says.
fn located(subject: &Subject, found: &Found) -> String {
    let said = found.details.iter().find(|line| is_about_the_field(found, line)).or(found.field.as_ref());
    let place = fields::place(&subject.file, found.line, Some(found.column));
    match said {
        Some(said) => format!("{}: {}", styled(FAINT, place), plain(said)),
        None => styled(FAINT, place),
    }
}

/// Every other line of a finding.
fn reasons(found: &Found) -> Vec<&String> {
    let first = found.details.iter().position(|line| is_about_the_field(found, line));
    found.details.iter().enumerate().filter(|(index, _)| Some(*index) != first).map(|(_, line)| line).collect()
}

fn is_about_the_field(found: &Found, line: &str) -> bool {
    let rest = found.field.as_deref().and_then(|field| line.strip_prefix(field));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
}

/// What has one code in an object.
type InObject<'r> = (&'r Subject, &'r Judged, Vec<&'r Found>);

/// The findings of each code, codes in report order; within a code objects by kind, namespace, name and place.
fn by_code(report: &Report) -> String {
    let mut groups: BTreeMap<(usize, &str), Vec<InObject<'_>>> = BTreeMap::new();
    for judged in &report.objects {
        let mut of_code: BTreeMap<(usize, &str), Vec<&Found>> = BTreeMap::new();
        for found in judged.findings.iter().filter(|found| found.is_active()) {
            of_code.entry((rank(&found.code), &found.code)).or_default().push(found);
        }
        for (code, found) in of_code {
            groups.entry(code).or_default().push((&judged.subject, judged, found));
        }
    }
    let mut text = String::new();
    for ((_, code), mut objects) in groups {
        objects.sort_by_key(|(subject, ..)| *subject);
        let count: usize = objects.iter().map(|(_, _, found)| found.len()).sum();
        let refuses = objects.iter().any(|(_, _, found)| found.iter().any(|found| found.effect == Effect::Refuses));
        let style = if refuses { BAD } else { WARNING };
        let means = findings::named(code).map(|explained| format!(": {}", explained.means)).unwrap_or_default();
        text.push_str(&format!("{} ({count}){means}\n", styled(style, code)));
        for (subject, judged, found) in objects {
            text.push_str(&format!("  {}{}\n", judged.name(), place(judged)));
            blocks(subject, &found, false).iter().for_each(|line| text.push_str(&format!("    {line}\n")));
        }
        text.push('\n');
    }
    text
}

/// The last lines: what was judged, and what was not.
fn numbers(report: &Report, grouped: Grouped) -> String {
    let summary = &report.summary;
    let style = if summary.refusals > 0 { BAD } else { GOOD };
    let mut parts = match grouped {
        Grouped::ByFile => {
            let requests = if summary.objects == 1 { "request" } else { "requests" };
            let refused = styled(style, format!("{} refused", summary.refused));
            vec![
                format!("{} {requests}: {} accepted, {refused}", summary.objects, summary.accepted),
                format!("warnings: {}", summary.warnings),
            ]
        }
        Grouped::ByCode => {
            let found = summary.refusals.saturating_add(summary.warnings);
            let refused = styled(style, format!("would be refused: {}", summary.refused));
            vec![format!("objects: {}, findings: {found}, {refused}", summary.objects)]
        }
    };
    let more = [("silenced", summary.silenced), ("in the baseline", summary.in_baseline)];
    parts.extend(more.iter().filter(|(_, count)| *count > 0).map(|(what, count)| format!("{what}: {count}")));
    let mut lines = vec![parts.join(", ")];
    for (code, count) in &summary.counted {
        lines.push(format!("not listed: {count} {code}, on DaemonSets that are made to run on every node"));
    }
    if let Some(nodes) = summary.nodes {
        let moved = report.objects.iter().filter(|judged| moves_live_nodes(judged)).count();
        let volumes = if moved == 1 { "volume gains or loses" } else { "volumes gain or lose" };
        lines.push(format!("nodes in this cluster: {nodes}; {moved} {volumes} some of them"));
    }
    let kinds = &summary.not_judged.kinds;
    if !kinds.is_empty() {
        let total: usize = kinds.values().sum();
        let mut most: Vec<(&String, &usize)> = kinds.iter().collect();
        most.sort_by(|(one, more), (other, less)| less.cmp(more).then_with(|| one.cmp(other)));
        let mut shown: Vec<String> = most.iter().take(5).map(|(kind, count)| format!("{kind} {count}")).collect();
        if let Some(rest) = most.len().checked_sub(5).filter(|rest| *rest > 0) {
            shown.push(format!("+{rest} kinds"));
        }
        lines.push(format!(
            "not judged, because no section of the settings is about the kind: {total} ({})",
            shown.join(", ")
        ));
    }
    for (reason, count) in &summary.not_judged.documents.count {
        lines.push(format!("not judged: {}", reason.words(*count)));
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}
