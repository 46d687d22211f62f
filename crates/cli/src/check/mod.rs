//! `check`: is this request, or this step from old manifests to new ones, accepted?

use std::collections::BTreeMap;
use std::path::PathBuf;

use placement_guard::kubernetes::kind::Kind;
use serde_json::Value;

use crate::cluster::{Given, Surroundings};
use crate::complaint::{Complaint, Outcome};
use crate::config::Config;
use crate::input::Document;
use crate::input::git;
use crate::judge::Judge;
use crate::module::Loaded;
use crate::origin::Origin;
use crate::reading::{self, Read, Reading};
use crate::report::options::Options;
use crate::report::{Grouped, Judged, Report, Subject};
use crate::request::{self, Asked};
use crate::rollout::Rollout;
use crate::settings;

#[derive(clap::Args)]
#[command(mut_group("Origin", |origin| origin.requires("module")), override_usage = USAGE)]
pub struct Arguments {
    /// AdmissionReviews, their requests, or manifests that are to be created: files, YAML or JSON, folders, and globs;
    /// `-` is standard input. With `--since`: the files and folders that count
    #[arg(value_name = "PATH", required_unless_present_any = ["before", "after", "since"],
          conflicts_with_all = ["before", "after"])]
    requests: Vec<PathBuf>,

    /// The settings, YAML or JSON: a file of their own, or what is deployed (a ClusterAdmissionPolicy, an AdmissionPolicy,
    /// constraints, a ConfigMap with settings), also a folder of them. Not needed where `.placement-guard.yaml` names them
    #[arg(long, value_name = "PATH")]
    settings: Option<PathBuf>,

    /// The current manifests: files, folders and globs. Objects are matched by kind, namespace and name; an object that
    /// appears only here is deleted
    #[arg(long, value_name = "PATH", num_args = 1..)]
    before: Vec<PathBuf>,

    /// The new manifests. An object that appears only here is created
    #[arg(long, value_name = "PATH", num_args = 1..)]
    after: Vec<PathBuf>,

    /// Take the files of this git revision as the current manifests, and those of the working tree as the new ones
    #[arg(long, value_name = "REVISION", conflicts_with_all = ["before", "after"])]
    since: Option<String>,

    /// With `--since`: take this git revision in place of the working tree
    #[arg(long, value_name = "REVISION", requires = "since")]
    to: Option<String>,

    #[command(flatten)]
    reading: Reading,

    /// The nodes in the cluster: the output of `kubectl get nodes -o yaml`. Like `--cluster`, for settings that need nodes alone
    #[arg(long, value_name = "FILE", conflicts_with_all = ["cluster", "live"])]
    nodes: Option<PathBuf>,

    #[command(flatten)]
    given: Given,

    /// Judge with this module, as a cluster would run it, instead of the rules built into this program: a file, or
    /// `HOST/REPOSITORY:TAG` or `HOST/REPOSITORY@sha256:…` in a registry
    #[arg(long, value_name = "FILE|REFERENCE")]
    module: Option<String>,

    #[command(flatten)]
    origin: Origin,

    #[command(flatten)]
    report: Options,
}

/// The three ways to ask.
pub const USAGE: &str = "\
placement-guard check --settings <FILE> [OPTIONS] <PATH>...
       placement-guard check --settings <FILE> [OPTIONS] --before <PATH>... --after <PATH>...
       placement-guard check --settings <FILE> [OPTIONS] --since <REVISION> [PATH]...";

/// Judges and prints.
///
/// # Errors
/// Whatever keeps it from deciding.
pub fn run(arguments: &Arguments) -> Result<Outcome, Complaint> {
    let Arguments { requests, before, after, settings, nodes, given, .. } = arguments;
    let named = requests.iter().chain(before).chain(after).chain(settings).chain(nodes).chain(given.paths());
    reading::one_from_standard_input(named)?;
    let config = Config::find()?;
    let sets = settings::sets(arguments.settings.as_deref().or(config.settings.as_deref()))?;
    let module = arguments.module.as_deref().map(|name| Loaded::load(name, &arguments.origin)).transpose()?;
    let judge = Judge::new(sets, module.as_ref(), |settings| match &arguments.nodes {
        Some(nodes) => Surroundings::of_nodes(nodes),
        None => Surroundings::read(&arguments.given, settings),
    })?;
    let mut read = Read::within(arguments.given.namespace());
    let asked = asked(arguments, &config, &mut read)?;
    read.warn();
    read.complete(arguments.reading.strict)?;
    let mut report = judge_all(asked, &judge)?;
    // Where only nodes were given, this is all that is known about the cluster.
    report.summary.nodes = arguments.nodes.as_ref().and_then(|_| judge.surroundings().count(Kind::Node));
    report.summary.not_judged.documents = read.omitted;
    arguments.report.finish(report, Grouped::ByFile, config.fail_on)
}

/// Everything that is asked.
fn asked(arguments: &Arguments, config: &Config, read: &mut Read) -> Result<Vec<Asked>, Complaint> {
    let Arguments { requests, before, after, since, to, reading, .. } = arguments;
    let (excludes, kinds) = (reading.excludes(config)?, config.kinds());
    if let Some(since) = since {
        let git::Change { before, after, asked_for } = git::change(since, to.as_deref(), requests, &excludes)?;
        let (mut old, mut new) = (Vec::new(), Vec::new());
        let mut older = Read::within(arguments.given.namespace());
        older.contents(&before.files, &mut |older, document| old.extend(older.manifest(document)));
        read.contents(&after.files, &mut |read, document| new.extend(read.manifest(document)));
        older.warn_of_older(since, read, |name| after.files.iter().any(|(file, _)| file == name));
        let mut asked = request::steps(old, new, &kinds);
        asked.retain(|asked| asked_for.as_ref().is_none_or(|files| files.contains(&*asked.document.file)));
        return Ok(asked);
    }
    let manifests = |paths: &[PathBuf], read: &mut Read| {
        let files = reading::files(paths, &excludes, read)?;
        let mut all = Vec::new();
        read.files(&files, &mut |read, document| all.extend(read.manifest(document)));
        Ok(all)
    };
    let (old, new) = (manifests(before, read)?, manifests(after, read)?);
    let mut asked = request::steps(old, new, &kinds);
    let files = reading::files(requests, &excludes, read)?;
    read.files(&files, &mut |read, document| asked.extend(request::one(document, &kinds, read)));
    Ok(asked)
}

fn judge_all(asked: Vec<Asked>, judge: &Judge<'_>) -> Result<Report, Complaint> {
    let mut report = Report::default();
    let mut rollout = Rollout::default();
    for asked in asked {
        let Asked { json, identity, operation, document, step, part } = asked;
        let within = if step.is_some() { "" } else { object_in(&document) };
        let locate = |field: Option<&str>| match &part {
            Some((_, moved)) => document.find(&moved.field(field.unwrap_or_default())).key,
            None => document.find(&joined(within, field.unwrap_or_default())).key,
        };
        if let (Some(identity), Some(step)) = (&identity, &step)
            && let Some(after) = &step.after
        {
            rollout.see(identity, &document, step.before.as_deref(), after);
        }
        let judged_as = part.as_ref().map(|(identity, _)| identity).or(identity.as_ref());
        let is_of_no_section = judged_as.is_some_and(|judged_as| !judge.covers(judged_as));
        let of_no_section = identity.as_ref().filter(|_| is_of_no_section);
        let is_step = step.is_some();
        if let Some(identity) = of_no_section.filter(|_| is_step && !judge.is_by_a_module()) {
            report.not_judged(&identity.kind);
            continue;
        }
        let (verdict, findings) = judge.judge(&json, &locate)?;
        let subject = match &identity {
            Some(identity) => Subject::of(identity, operation, &document),
            None => {
                let (file, line) = (document.file.to_string(), document.line);
                Subject { kind: None, namespace: None, name: None, operation, file, line, template: None }
            }
        };
        let object = match &step {
            Some(step) => step.after.clone().unwrap_or_default(),
            None => written_object(&json),
        };
        let mut judged = Judged::new(subject, verdict, findings, &object, &locate);
        judged.concerns_a_rule = step.is_none_or(|step| !is_same(step.before.as_deref(), step.after.as_deref()));
        match of_no_section.filter(|_| judged.verdict.allowed && judged.findings.is_empty()) {
            None => report.add(judged),
            Some(identity) if is_step => report.not_judged(&identity.kind),
            // A cluster answers such a request too.
            Some(identity) => report.add_not_judged(&identity.kind, judged),
        }
    }
    rollout.find(true, &mut report);
    by_file(&mut report.objects);
    Ok(report)
}

/// Brings together what is in one file, files in the order in which they came.
fn by_file(objects: &mut [Judged]) {
    let mut order: BTreeMap<String, usize> = BTreeMap::new();
    for judged in objects.iter() {
        let next = order.len();
        order.entry(judged.subject.file.clone()).or_insert(next);
    }
    objects.sort_by_key(|judged| order.get(&judged.subject.file).copied());
}

/// The path of the object in a request, or in the AdmissionReview around it.
fn object_in(document: &Document) -> &'static str {
    if document.find("request.object").exact { "request.object" } else { "object" }
}

fn joined(within: &str, field: &str) -> String {
    match (within, field) {
        ("", field) => field.to_owned(),
        (within, "") => within.to_owned(),
        _ => format!("{within}.{field}"),
    }
}

/// The new object of a request, as JSON.
fn written_object(json: &str) -> String {
    let parsed: Value = serde_json::from_str(json).unwrap_or_default();
    let object = parsed.pointer("/request/object").or_else(|| parsed.pointer("/object"));
    object.map(Value::to_string).unwrap_or_default()
}

/// Whether a step changes nothing at all.
fn is_same(before: Option<&str>, after: Option<&str>) -> bool {
    let (Some(before), Some(after)) = (before, after) else { return false };
    let read = |json: &str| serde_json::from_str::<Value>(json).ok();
    before == after || read(before).is_some_and(|before| Some(before) == read(after))
}
