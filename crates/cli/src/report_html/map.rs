//! Draws nodes by region and zone, as the page does.

use std::collections::BTreeMap;

use placement_guard::kubernetes::reach::Reach;

use super::html::Html;

/// A node, with where it is and what a change means for it.
#[derive(Debug)]
pub struct Node {
    pub name: String,
    pub region: String,
    pub zone: String,
    pub reach: Reach,
}

/// Up to so many nodes are shown by name.
const FEW: usize = 60;

/// The counts, which are the legend too, and the drawing.
pub fn draw<'h>(html: &'h mut Html, nodes: &[Node]) -> &'h mut Html {
    legend(html, nodes);
    let mut regions: BTreeMap<&str, BTreeMap<&str, Vec<&Node>>> = BTreeMap::new();
    for node in nodes {
        regions.entry(&node.region).or_default().entry(&node.zone).or_default().push(node);
    }
    let moves = |zones: &BTreeMap<&str, Vec<&Node>>| {
        zones.values().flatten().any(|node| matches!(node.reach, Reach::Loses | Reach::Gains))
    };
    html.raw("<div class=\"regions\">\n");
    // Regions in which something changes come first.
    let (first, rest): (Vec<_>, Vec<_>) = regions.iter().partition(|(_, zones)| moves(zones));
    for (region, zones) in first.into_iter().chain(rest) {
        html.raw("<section class=\"region\">");
        heading(html, "region", region);
        html.raw(if nodes.len() <= FEW { "<div class=\"zones\">\n" } else { "<div class=\"zones many\">\n" });
        for (zone, members) in zones {
            html.raw("<section class=\"zone\">");
            heading(html, "zone", zone);
            if nodes.len() <= FEW {
                list(html, members);
            } else {
                squares(html, members);
                counts(html, members);
            }
            html.raw("</section>\n");
        }
        html.raw("</div></section>\n");
    }
    html.raw("</div>\n")
}

/// How many nodes there are of each.
pub fn legend<'h>(html: &'h mut Html, nodes: &[Node]) -> &'h mut Html {
    html.raw("<ul class=\"legend\">");
    for reach in Reach::ALL {
        let count = nodes.iter().filter(|node| node.reach == reach).count();
        html.raw("<li class=\"").raw(reach.name()).raw("\">");
        mark(html, reach);
        html.raw("<b>").number(count).raw("</b> ").raw(word(reach)).raw("</li>");
    }
    html.raw("</ul>\n")
}

fn heading(html: &mut Html, what: &'static str, name: &str) {
    let tag = if what == "region" { ("<h4>", "</h4>") } else { ("<h5>", "</h5>") };
    html.raw(tag.0);
    match name {
        "" => html.raw("no ").raw(what),
        name => html.raw("<span class=\"what\">").raw(what).raw(" </span>").text(name),
    };
    html.raw(tag.1);
}

fn word(reach: Reach) -> &'static str {
    match reach {
        Reach::Never => "never had",
        Reach::Loses | Reach::Gains | Reach::Keeps => reach.name(),
    }
}

fn mark(html: &mut Html, reach: Reach) {
    html.raw("<svg class=\"mark ").raw(reach.name());
    html.raw("\" viewBox=\"0 0 10 10\" width=\"12\" height=\"12\" aria-hidden=\"true\"><path d=\"M0 0");
    html.raw(shape(reach)).raw("\"/></svg>");
}

fn list(html: &mut Html, members: &[&Node]) {
    html.raw("<ul class=\"nodes\">\n");
    for node in members {
        html.raw("<li class=\"").raw(node.reach.name()).raw("\">");
        mark(html, node.reach);
        html.raw("<span class=\"name\">").text(&node.name);
        html.raw("</span><span class=\"word\">").raw(word(node.reach)).raw("</span></li>\n");
    }
    html.raw("</ul>");
}

fn counts(html: &mut Html, members: &[&Node]) {
    html.raw("<p class=\"counts\">");
    let mut separator = "";
    for reach in Reach::ALL {
        let count = members.iter().filter(|node| node.reach == reach).count();
        if count > 0 {
            html.raw(separator).raw("<span class=\"").raw(reach.name()).raw("\">");
            html.number(count).raw(" ").raw(word(reach)).raw("</span>");
            separator = ", ";
        }
    }
    html.raw("</p>");
}

/// Many nodes: one path for each kind of change, all in one grid.
fn squares(html: &mut Html, members: &[&Node]) {
    const STEP: usize = 10;
    let across = (8..30_usize).find(|across| across.saturating_mul(*across) >= members.len().saturating_mul(2));
    let across = across.unwrap_or(30);
    let (width, height) = (across.saturating_mul(STEP), members.len().div_ceil(across).saturating_mul(STEP));
    html.raw("<svg class=\"squares\" viewBox=\"0 0 ").text(&format!("{width} {height}"));
    html.raw("\" aria-hidden=\"true\">");
    let mut position = 0_usize;
    for reach in Reach::ALL {
        let count = members.iter().filter(|node| node.reach == reach).count();
        if count == 0 {
            continue;
        }
        html.raw("<path class=\"").raw(reach.name()).raw("\" d=\"");
        for at in position..position.saturating_add(count) {
            let x = at.checked_rem(across).unwrap_or_default().saturating_mul(STEP);
            let y = at.checked_div(across).unwrap_or_default().saturating_mul(STEP);
            html.text(&format!("M{x} {y}")).raw(shape(reach));
        }
        position = position.saturating_add(count);
        html.raw("\"/>");
    }
    html.raw("</svg>");
}

/// The path of a mark, from the corner of a field of ten by ten. The marks differ in shape too, for readers who do not tell the
/// colours apart.
fn shape(reach: Reach) -> &'static str {
    match reach {
        Reach::Keeps => "m1 1h8v8h-8z",
        Reach::Loses => {
            "m1 2.5l1.5 -1.5l2.5 2.5l2.5 -2.5l1.5 1.5l-2.5 2.5l2.5 2.5l-1.5 1.5l-2.5 -2.5l-2.5 2.5l-1.5 -1.5l2.5 -2.5z"
        }
        Reach::Gains => "m4 1h2v3h3v2h-3v3h-2v-3h-3v-2h3z",
        Reach::Never => "m3.5 3.5h3v3h-3z",
    }
}
