//! `report`: what a change does to where volumes can be used, drawn in one HTML file that a pipeline attaches to a pull request.

mod accepting;
mod document;
mod html;
mod map;
mod volume;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use placement_guard::kubernetes::kind::Kind;
use placement_guard::kubernetes::picked::{Fields, WHOLE};
use placement_guard::rules::cluster::{CannotRead, Cluster};
use placement_guard::verdict::{self, Verdict};

use crate::cluster::{Given, Surroundings};
use crate::complaint::{Complaint, Outcome};
use crate::config::Config;
use crate::distribution;
use crate::input::{Document, shown};
use crate::judge::Judge;
use crate::output;
use crate::reading::{self, Read, Reading};
use crate::request::{self, Asked, Step};
use crate::settings;
use accepting::Refused;
use document::{Changed, Drawn};
use map::Node;
use volume::Pair;

/// The settings where nothing else is said.
const SETTINGS: &str = "volumeNodeAffinity: {}";

/// What is read of a node.
const NODE: Fields = Fields(&[("metadata", Fields(&[("name", WHOLE), ("labels", WHOLE)]))]);

#[derive(clap::Args)]
pub struct Arguments {
    /// The current manifests: files, folders and globs. Objects are matched by kind, namespace and name
    #[arg(long, value_name = "PATH", num_args = 1.., required = true)]
    before: Vec<PathBuf>,

    /// The new manifests
    #[arg(long, value_name = "PATH", num_args = 1.., required = true)]
    after: Vec<PathBuf>,

    /// The settings, as for `check` [default: `volumeNodeAffinity: {}`, or what `.placement-guard.yaml` names]
    #[arg(long, value_name = "PATH")]
    settings: Option<PathBuf>,

    #[command(flatten)]
    reading: Reading,

    /// The nodes in the cluster, which are drawn: the output of `kubectl get nodes -o yaml`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["cluster", "live"])]
    nodes: Option<PathBuf>,

    #[command(flatten)]
    given: Given,

    /// The file to write; without it the report goes to standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Writes the report.
///
/// # Errors
/// What cannot be read or written. What is refused is in the report, and is not an error.
pub fn run(arguments: &Arguments) -> Result<Outcome, Complaint> {
    let Arguments { before, after, settings, nodes, given, .. } = arguments;
    let paths = before.iter().chain(after).chain(settings).chain(nodes).chain(given.paths());
    if paths.filter(|path| path.as_os_str() == "-").count() > 1 {
        return Err(Complaint::new("standard input", "is named twice", "give the other as a file"));
    }
    let config = Config::find()?;
    let sets = match settings.as_deref().or(config.settings.as_deref()) {
        None => settings::of_text("the settings of `report`", SETTINGS)?,
        named => settings::sets(named)?,
    };
    let judge = Judge::new(sets, None, |settings| match nodes {
        Some(nodes) => Surroundings::of_nodes(nodes),
        None => Surroundings::read(given, settings),
    })?;
    let mut read = Read::within(arguments.given.namespace());
    let asked = asked(arguments, &config, &mut read)?;
    read.warn();
    read.complete(arguments.reading.strict)?;
    let html = drawn(&asked, &judge)?;
    match &arguments.output {
        Some(path) if path != Path::new("-") => distribution::write(path, html.as_bytes())?,
        _ => output::print(&html)?,
    }
    Ok(Outcome::Accepted)
}

fn asked(arguments: &Arguments, config: &Config, read: &mut Read) -> Result<Vec<Asked>, Complaint> {
    let (excludes, kinds) = (arguments.reading.excludes(config)?, config.kinds());
    let manifests = |paths: &[PathBuf], read: &mut Read| {
        let files = reading::files(paths, &excludes, read)?;
        let mut all = Vec::new();
        read.files(&files, &mut |read, document| all.extend(read.manifest(document)));
        Ok(all)
    };
    let (old, new) = (manifests(&arguments.before, read)?, manifests(&arguments.after, read)?);
    Ok(request::steps(old, new, &kinds))
}

/// The report: what is refused comes first, and what changes nothing is counted.
fn drawn(asked: &[Asked], judge: &Judge<'_>) -> Result<String, Complaint> {
    let nodes = nodes(judge.surroundings())?;
    let mut changed = Vec::new();
    let mut unchanged = 0_usize;
    for asked in asked {
        match one(asked, judge, nodes.as_deref())? {
            Some(one) => changed.push(one),
            None => unchanged = unchanged.saturating_add(1),
        }
    }
    changed.sort_by_key(|one| (one.verdict.allowed, one.volume.is_none()));
    Ok(document::of(&changed, unchanged))
}

/// What is drawn of an object; `None` where nothing about it changes that the settings judge.
fn one(asked: &Asked, judge: &Judge<'_>, nodes: Option<&[u8]>) -> Result<Option<Changed>, Complaint> {
    let Asked { json, identity: Some(identity), document, step: Some(Step { before, after }), part, .. } = asked else {
        return Ok(None);
    };
    let judged_as = part.as_ref().map_or(identity, |(identity, _)| identity);
    let is_volume = part.is_none() && (identity.group.as_str(), identity.kind.as_str()) == ("", "PersistentVolume");
    let states = before.as_deref().zip(after.as_deref());
    if states.is_some_and(|(before, after)| before == after) || !(is_volume || judge.covers(judged_as)) {
        return Ok(None);
    }
    let (verdict, _) = judge.judge(json, &|_| document.find("").key)?;
    let volume = match states.filter(|_| is_volume && verdict.code != Some(422)) {
        Some(states) => volume(json, states, &verdict, judge, nodes)?,
        None => None,
    };
    let is_unchanged = volume.as_ref().is_some_and(|drawn| drawn.relation == "unchanged");
    if verdict.allowed && verdict.findings.is_empty() && (volume.is_none() || is_unchanged) {
        return Ok(None);
    }
    Ok(Some(Changed { name: identity.to_string(), place: place(document), verdict, volume }))
}

fn volume(
    json: &str,
    (before, after): (&str, &str),
    verdict: &Verdict,
    judge: &Judge<'_>,
    nodes: Option<&[u8]>,
) -> Result<Option<Drawn>, Complaint> {
    // Settings need not judge volumes, and the relation is drawn all the same.
    let by_itself = volume::relation(verdict).is_none().then(|| verdict::check(volume::EVERYTHING, json));
    let related = by_itself.as_ref().unwrap_or(verdict);
    let (Ok(pair), Some(relation)) = (Pair::read(before, after), volume::relation(related)) else { return Ok(None) };
    let nodes: Option<Vec<Node>> = nodes.map(|list| pair.nodes(list)).transpose().map_err(|unreadable| {
        Complaint::new("the nodes of the cluster", unreadable, "give what `kubectl get nodes -o yaml` prints")
    })?;
    let labels = |key: &str| -> Option<BTreeMap<String, String>> {
        related.annotations.get(key).and_then(|labels| serde_json::from_str(labels).ok())
    };
    let sets: Vec<&str> = judge.settings().collect();
    let accepting = match sets.as_slice() {
        [settings] if !verdict.allowed => {
            let refused = Refused { settings, request: json, relation, before, after, nodes: nodes.as_deref() };
            accepting::choices(&refused, judge.surroundings())
        }
        _ => Vec::new(),
    };
    let (was, becomes) = pair.words();
    let (loses, gains) = (labels("losesNode"), labels("gainsNode"));
    Ok(Some(Drawn { relation: relation.to_owned(), was, becomes, loses, gains, nodes, accepting }))
}

/// The nodes of the cluster, as the JSON of a list; `None` where no cluster was given.
fn nodes(surroundings: &Surroundings) -> Result<Option<Vec<u8>>, Complaint> {
    match surroundings.list(Kind::Node, NODE) {
        Ok(list) => Ok(Some(list)),
        Err(CannotRead::NotGiven) => Ok(None),
        Err(_) => {
            let remedy = "allow it to list nodes, or give them with `--nodes`";
            Err(Complaint::new("the nodes of the cluster", "cannot be listed", remedy))
        }
    }
}

fn place(document: &Document) -> String {
    format!("{}:{}", shown(&document.file), document.line)
}
