//! The page: one file that loads nothing and runs nothing.

use std::collections::BTreeMap;

use placement_guard::kubernetes::reach::Reach;
use placement_guard::verdict::Verdict;

use super::accepting::Choice;
use super::html::Html;
use super::map::{self, Node};
use super::volume::{relation, sentence};

/// The styles that the page in the browser has too, and those of the report.
const STYLE: &str = concat!(include_str!("../../../js/page/src/look.css"), include_str!("report.css"));

/// What the Content-Security-Policy of the file allows: these styles, and nothing else.
const STYLE_HASH: &str = "sha256-oWG/XCUrNBj1owSimHD0k/OJNvGDLHJqWPzUydGlshQ=";

const ICON: &str = include_str!("../../../js/page/src/icon.svg");

/// Where the nodes are not known.
const NO_NODES: &str = "<p class=\"note\">Give the nodes with <code>--nodes</code> or <code>--cluster</code>, and they are drawn here.</p>\n";

/// An object that changes, with the answer about it.
pub struct Changed {
    pub name: String,
    /// Where it is written.
    pub place: String,
    pub verdict: Verdict,
    /// Of a volume that was there before.
    pub volume: Option<Drawn>,
}

/// What is drawn of a volume.
pub struct Drawn {
    pub relation: String,
    pub was: String,
    pub becomes: String,
    pub loses: Option<BTreeMap<String, String>>,
    pub gains: Option<BTreeMap<String, String>>,
    /// `None` where no nodes are known.
    pub nodes: Option<Vec<Node>>,
    pub accepting: Vec<Choice>,
}

/// The nodes of so many volumes are drawn; of the others they are counted.
const MOST_MAPS: usize = 20;

/// The whole file. `unchanged` volumes are only counted.
pub fn of(changed: &[Changed], unchanged: usize) -> String {
    let mut html = Html::default();
    html.raw("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    html.raw("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src '").raw(STYLE_HASH);
    html.raw("'; base-uri 'none'; form-action 'none'\">\n");
    html.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    html.raw("<meta name=\"color-scheme\" content=\"light dark\">\n<title>placement-guard: what changes</title>\n");
    html.raw("<style>").raw(STYLE).raw("</style>\n</head>\n<body>\n");
    header(&mut html, changed, unchanged);
    html.raw("<main>\n");
    let mut maps = 0_usize;
    for one in changed {
        html.raw("<article class=\"card\">\n");
        head(&mut html, one);
        match &one.volume {
            Some(drawn) => {
                maps = maps.saturating_add(1);
                volume(&mut html, one, drawn, maps <= MOST_MAPS);
            }
            None => answer(&mut html, &one.verdict),
        }
        html.raw("</article>\n");
    }
    html.raw("</main>\n<footer><p>Made by placement-guard ").raw(env!("CARGO_PKG_VERSION"));
    html.raw(". This file loads nothing and runs no script.</p></footer>\n</body>\n</html>\n");
    html.into_string()
}

fn header(html: &mut Html, changed: &[Changed], unchanged: usize) {
    html.raw("<header class=\"top\"><div class=\"brand\">").raw(ICON).raw("<div><h1>placement-guard</h1><p>");
    let refused = changed.iter().filter(|one| !one.verdict.allowed).count();
    match changed.len() {
        0 => html.raw("Nothing changes that the settings judge"),
        1 => html.raw("1 change, ").number(refused).raw(" refused"),
        count => html.number(count).raw(" changes, ").number(refused).raw(" refused"),
    };
    match unchanged {
        0 => html.raw("."),
        1 => html.raw("; 1 object stays as it is."),
        count => html.raw("; ").number(count).raw(" objects stay as they are."),
    };
    html.raw("</p></div></div></header>\n");
}

fn head(html: &mut Html, one: &Changed) {
    html.raw("<header><h2>").text(&one.name).raw("</h2>");
    html.raw(match (one.verdict.allowed, one.verdict.code) {
        (true, _) => "<span class=\"badge good\">accepted</span>",
        (false, Some(422)) => "<span class=\"badge bad\">cannot be read</span>",
        (false, _) => "<span class=\"badge bad\">refused</span>",
    });
    if let Some(drawn) = &one.volume {
        html.raw("<span class=\"relation\">").text(&drawn.relation).raw("</span>");
    }
    html.raw("<span class=\"place\">").text(&one.place).raw("</span></header>\n");
}

fn volume(html: &mut Html, one: &Changed, drawn: &Drawn, with_map: bool) {
    html.raw("<p class=\"sentence\">").raw(sentence(&drawn.relation)).raw("</p>\n");
    html.raw("<div class=\"states\"><div class=\"state was\"><h3>Before</h3><code>").text(&drawn.was);
    html.raw("</code></div><div class=\"state becomes\"><h3>After</h3><code>").text(&drawn.becomes);
    html.raw("</code></div></div>\n<div class=\"answers\"><div>\n");
    if let Some(nodes) = drawn.nodes.as_deref().filter(|nodes| !nodes.is_empty()) {
        counted(html, nodes);
    }
    let examples = [
        ("loses", "A node with these labels loses the volume:", &drawn.loses),
        ("gains", "A node with these labels gains it:", &drawn.gains),
    ];
    for (tone, title, labels) in examples {
        let Some(labels) = labels else { continue };
        html.raw("<div class=\"example ").raw(tone).raw("\"><p>").raw(title).raw("</p><p>");
        for (key, value) in labels {
            html.raw("<span class=\"label\"><span class=\"key\">").text(key).raw("</span>=").text(value).raw("</span>");
        }
        if labels.is_empty() {
            html.raw("<span class=\"label none\">no labels</span>");
        }
        html.raw("</p></div>\n");
    }
    if let Some(facts) = one.verdict.annotations.get("facts") {
        html.raw("<p class=\"facts\">Relying on these facts: ").text(facts).raw(".</p>\n");
    }
    answer(html, &one.verdict);
    html.raw("</div><div class=\"map\">\n");
    match drawn.nodes.as_deref() {
        None => html.raw(NO_NODES),
        Some([]) => html.raw("<p class=\"note\">The cluster has no nodes.</p>\n"),
        Some(nodes) if with_map => map::draw(html, nodes),
        Some(nodes) => {
            map::legend(html, nodes).raw("<p class=\"note\">The nodes of the first 20 volumes are drawn.</p>\n")
        }
    };
    html.raw("</div></div>\n");
    if !drawn.accepting.is_empty() {
        html.raw("<h3>Settings that would accept it</h3>\n<div class=\"choices\">\n");
        for Choice { yaml, means } in &drawn.accepting {
            html.raw("<div class=\"choice\"><p>").said(means).raw("</p><pre tabindex=\"0\">").text(yaml.trim_end());
            html.raw("</pre></div>\n");
        }
        html.raw("</div>\n");
    }
}

/// What happens to the nodes that are there, next to the example, which may be a node that is not.
fn counted(html: &mut Html, nodes: &[Node]) {
    html.raw("<p class=\"sentence\">Of your ").number(nodes.len());
    html.raw(if nodes.len() == 1 { " node, " } else { " nodes, " });
    let mut said = |reach: Reach, one: &'static str, many: &'static str| {
        match nodes.iter().filter(|node| node.reach == reach).count() {
            0 => html.raw("none").raw(one),
            1 => html.number(1).raw(one),
            count => html.number(count).raw(many),
        };
    };
    said(Reach::Loses, " loses it and ", " lose it and ");
    said(Reach::Gains, " gains it.", " gain it.");
    html.raw("</p>\n");
}

/// What the policy answers: each finding begins with a line, and the lines that belong to it are indented.
fn answer(html: &mut Html, verdict: &Verdict) {
    let Verdict { allowed, message, warnings, findings, .. } = verdict;
    if *allowed && relation(verdict).is_none() {
        html.raw("<p class=\"sentence\">The settings accept it.</p>\n");
    }
    let mut is_open = false;
    for line in message.iter().flat_map(|message| message.lines()) {
        match (line.strip_prefix("  "), is_open) {
            (Some(detail), true) => html.raw("<li>").said(detail.trim_start()).raw("</li>"),
            (Some(detail), false) => html.raw("<p class=\"headline\">").said(detail).raw("</p>"),
            (None, _) => {
                if is_open {
                    html.raw("</ul>\n");
                }
                is_open = true;
                html.raw("<p class=\"headline\">").said(line).raw("</p><ul class=\"details\">")
            }
        };
    }
    if is_open {
        html.raw("</ul>\n");
    }
    if !warnings.is_empty() {
        html.raw("<p><b>Warnings</b></p><ul class=\"details\">");
        for warning in warnings {
            html.raw("<li>").said(warning).raw("</li>");
        }
        html.raw("</ul>\n");
    }
    if !findings.is_empty() {
        html.raw("<p class=\"codes\">");
        for code in findings {
            html.raw("<code>").text(code).raw("</code>");
        }
        html.raw("</p>\n");
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::restriction)]

    use base64::Engine as _;
    use base64::prelude::BASE64_STANDARD;
    use sha2::{Digest, Sha256};

    use super::{STYLE, STYLE_HASH};

    #[test]
    fn the_policy_allows_the_styles_as_they_are() {
        assert_eq!(STYLE_HASH, format!("sha256-{}", BASE64_STANDARD.encode(Sha256::digest(STYLE))));
        assert!(!STYLE.contains("</"));
    }
}
