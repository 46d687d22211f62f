//! The pages: every link between them leads somewhere, the README stays a front page, and the pages that are generated are current.

#![allow(clippy::restriction)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The most lines that the README may have.
const FRONT_PAGE: usize = 120;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every Markdown file that is committed, by its path below the root.
fn pages() -> Vec<PathBuf> {
    let mut pages = Vec::new();
    collect(root(), &mut pages);
    pages.sort();
    pages
}

fn collect(folder: &Path, pages: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name.starts_with('.') || name == "target" || name == "node_modules" {
            continue;
        }
        if path.is_dir() {
            collect(&path, pages);
        } else if path.extension().is_some_and(|ending| ending == "md") {
            pages.push(path);
        }
    }
}

/// The text without its blocks of code, in which brackets are not links.
fn prose(text: &str) -> String {
    let mut inside = false;
    let lines = text.lines().filter(|line| {
        let fence = line.trim_start().starts_with("```");
        inside ^= fence;
        !inside && !fence
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The targets of `[text](target)`.
fn links(text: &str) -> Vec<String> {
    let text = prose(text);
    let after = text.match_indices("](").map(|(at, found)| &text[at + found.len()..]);
    after.filter_map(|rest| Some(rest.split_once(')')?.0.to_owned())).collect()
}

/// The anchors of a page: its headings, as GitHub writes them.
fn anchors(text: &str) -> BTreeSet<String> {
    let text = prose(text);
    let headings = text.lines().filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    headings
        .map(|heading| {
            let kept = heading.chars().filter(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_'));
            kept.collect::<String>().to_lowercase().replace(' ', "-")
        })
        .collect()
}

/// The links of a page that lead nowhere.
fn broken(page: &Path, text: &str) -> Vec<String> {
    let mut broken = Vec::new();
    for link in links(text) {
        if link.starts_with("https://") || link.starts_with("http://") {
            continue;
        }
        let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
        let target = if file.is_empty() { page.to_path_buf() } else { page.parent().unwrap().join(file) };
        let there = if file.is_empty() { Ok(text.to_owned()) } else { std::fs::read_to_string(&target) };
        let known = match there {
            Ok(_) if anchor.is_empty() => true,
            Ok(text) => anchors(&text).contains(anchor),
            // A folder, or a picture.
            Err(_) => target.exists() && anchor.is_empty(),
        };
        if !known {
            broken.push(format!("{}: {link}", page.strip_prefix(root()).unwrap().display()));
        }
    }
    broken
}

#[test]
fn every_link_leads_somewhere() {
    let pages = pages();
    assert!(pages.len() >= 15, "only {} pages were found", pages.len());
    let texts = pages.iter().map(|page| (page, std::fs::read_to_string(page).unwrap()));
    let broken: Vec<String> = texts.flat_map(|(page, text)| broken(page, &text)).collect();
    assert!(broken.is_empty(), "links that lead nowhere:\n{}", broken.join("\n"));
}

#[test]
fn a_link_that_leads_nowhere_is_found() {
    let page = root().join("README.md");
    let text =
        "# Here\n[a](missing.md) [b](LICENSE) [c](#here) [d](#there) [e](SECURITY.md#nothing)\n```\n[f](x)\n```\n";
    assert_eq!(broken(&page, text), ["README.md: missing.md", "README.md: #there", "README.md: SECURITY.md#nothing"]);
}

#[test]
fn the_readme_is_a_front_page() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let lines = readme.lines().count();
    assert!(lines <= FRONT_PAGE, "the README has {lines} lines; at most {FRONT_PAGE} are a front page");
    let first_screen: String = readme.lines().take(25).collect::<Vec<_>>().join("\n");
    for command in ["make demo", "make test"] {
        assert!(first_screen.contains(command), "`{command}` is not on the first screen");
    }
}
