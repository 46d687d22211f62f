//! `check`: is this request, or this step from old manifests to new ones, accepted?

mod github;
mod text;

use std::path::PathBuf;

use clap::ValueEnum;
use placement_guard::verdict::Verdict;
use serde::Serialize;

use crate::cluster::{Given, Surroundings};
use crate::complaint::{Complaint, Outcome};
use crate::input::Source;
use crate::input::files::Excludes;
use crate::input::git;
use crate::judge::Judge;
use crate::manifest::Identity;
use crate::module::Loaded;
use crate::origin::Origin;
use crate::output;
use crate::reading::{self, Read, Reading};
use crate::request::{self, Asked};
use crate::rollout::Rollout;

#[derive(clap::Args)]
#[command(mut_group("Origin", |origin| origin.requires("module")))]
pub struct Arguments {
    /// AdmissionReviews, their requests, or manifests that are to be created: files, YAML or JSON, folders, and globs;
    /// `-` is standard input. With `--since`: the files and folders that count
    #[arg(value_name = "PATH", required_unless_present_any = ["before", "after", "since"],
          conflicts_with_all = ["before", "after"])]
    requests: Vec<PathBuf>,

    /// The settings of the policy, YAML or JSON
    #[arg(long, value_name = "FILE")]
    settings: PathBuf,

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

    /// How to print the decision; `github` prints workflow annotations with file and line
    #[arg(long, value_enum, default_value_t = Format::Text)]
    output: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
    Yaml,
    Github,
}

/// A request with the decision on it. For programs, of several requests; of one only its verdict is printed.
#[derive(Serialize)]
struct Judged {
    kind: Option<String>,
    namespace: Option<String>,
    name: Option<String>,
    operation: Option<String>,
    file: String,
    line: usize,
    verdict: Verdict,
    /// What should be said about this request next to others; decides nothing.
    notes: Vec<String>,
    #[serde(skip)]
    identity: Option<Identity>,
}

/// Judges and prints.
///
/// # Errors
/// Whatever keeps it from deciding.
pub fn run(arguments: &Arguments) -> Result<Outcome, Complaint> {
    one_from_standard_input(arguments)?;
    let written = Source::read(&arguments.settings)?;
    let module = arguments.module.as_deref().map(|name| Loaded::load(name, &arguments.origin)).transpose()?;
    let judge = Judge::new(&written, module.as_ref(), |settings| match &arguments.nodes {
        Some(nodes) => Surroundings::of_nodes(nodes),
        None => Surroundings::read(&arguments.given, settings),
    })?;
    let mut read = Read::default();
    let asked = asked(arguments, &mut read)?;
    read.warn();
    read.complete(arguments.reading.strict)?;
    let judged = judge_all(asked, &judge)?;
    output::print(&match arguments.output {
        Format::Text => text::of(&judged),
        Format::Github => github::of(&judged),
        Format::Json => output::json(&Answer::of(&judged))?,
        Format::Yaml => output::yaml(&Answer::of(&judged))?,
    })?;
    let accepted = judged.iter().all(|judged| judged.verdict.allowed);
    Ok(if accepted { Outcome::Accepted } else { Outcome::Refused })
}

/// Everything that is asked.
fn asked(arguments: &Arguments, read: &mut Read) -> Result<Vec<Asked>, Complaint> {
    let Arguments { requests, before, after, since, to, reading, .. } = arguments;
    let excludes = Excludes::new(&reading.exclude)?;
    if let Some(since) = since {
        let git::Change { before, after } = git::change(since, to.as_deref(), requests, &excludes)?;
        let (mut old, mut new) = (Vec::new(), Vec::new());
        read.contents(&before.files, &mut |read, document| old.extend(read.manifest(document)));
        read.contents(&after.files, &mut |read, document| new.extend(read.manifest(document)));
        return Ok(request::steps(old, new));
    }
    let manifests = |paths: &[PathBuf], read: &mut Read| {
        let files = reading::files(paths, &excludes, read)?;
        let mut all = Vec::new();
        read.files(&files, &mut |read, document| all.extend(read.manifest(document)));
        Ok(all)
    };
    let (old, new) = (manifests(before, read)?, manifests(after, read)?);
    let mut asked = request::steps(old, new);
    let files = reading::files(requests, &excludes, read)?;
    read.files(&files, &mut |read, document| asked.extend(request::one(document, read)));
    Ok(asked)
}

fn judge_all(asked: Vec<Asked>, judge: &Judge<'_>) -> Result<Vec<Judged>, Complaint> {
    let mut judged = Vec::new();
    let mut rollout = Rollout::default();
    for asked in asked {
        let verdict = judge.judge(&asked.json)?;
        let Asked { identity, operation, document, step, .. } = asked;
        let (file, line) = (document.file.to_string(), document.line);
        if let (Some(identity), Some(step)) = (&identity, &step)
            && let Some(after) = &step.after
        {
            rollout.see(identity, || location(&file, line), step.before.as_deref(), after);
        }
        let (kind, namespace, name) = match identity.clone() {
            Some(Identity { kind, namespace, name, .. }) => (Some(kind), namespace, name),
            None => (None, None, None),
        };
        judged.push(Judged { kind, namespace, name, operation, file, line, verdict, notes: Vec::new(), identity });
    }
    for pair in rollout.not_together() {
        let driver = judged.iter_mut().find(|judged| {
            judged.kind.as_deref() == Some("CSIDriver") && judged.name.as_deref() == Some(&pair.csi_driver)
        });
        driver.into_iter().for_each(|judged| judged.notes.push(pair.to_string()));
    }
    Ok(judged)
}

/// What programs read: the verdict on one request, or a list of verdicts that says what each is about.
#[derive(Serialize)]
#[serde(untagged)]
enum Answer<'a> {
    One(&'a Verdict),
    Several(&'a [Judged]),
}

impl<'a> Answer<'a> {
    fn of(judged: &'a [Judged]) -> Self {
        match judged {
            [only] => Answer::One(&only.verdict),
            all => Answer::Several(all),
        }
    }
}

fn location(file: &str, line: usize) -> String {
    if file == "-" { format!("standard input:{line}") } else { format!("{file}:{line}") }
}

/// Standard input can be read once.
fn one_from_standard_input(arguments: &Arguments) -> Result<(), Complaint> {
    let Arguments { requests, before, after, settings, nodes, given, .. } = arguments;
    let given = requests.iter().chain(before).chain(after).chain([settings]).chain(nodes).chain(given.paths());
    if given.filter(|path| path.as_os_str() == "-").count() > 1 {
        return Err(Complaint::new("standard input", "is named twice", "give the other as a file"));
    }
    Ok(())
}

impl Judged {
    /// Which object, and what is asked of it.
    fn subject(&self) -> String {
        let object = self.identity.as_ref().map_or_else(|| String::from("a request"), Identity::to_string);
        self.operation.iter().fold(object, |object, operation| format!("{object} {operation}"))
    }

    fn location(&self) -> String {
        location(&self.file, self.line)
    }

    fn annotation(&self, key: &str) -> Option<&str> {
        self.verdict.annotations.get(key).map(String::as_str)
    }
}

/// `a, b and +3` of `a,b,+3`, each name in backticks.
fn names(list: &str) -> String {
    let names = list.split(',').map(|name| if name.starts_with('+') { name.to_owned() } else { format!("`{name}`") });
    names.collect::<Vec<_>>().join(", ")
}

/// What an edit does in the cluster whose nodes were given, unless the verdict says it.
fn live_nodes(judged: &Judged) -> Option<String> {
    const SAID: &str = "in this cluster: ";
    let Verdict { message, warnings, .. } = &judged.verdict;
    if message.iter().chain(warnings).any(|text| text.contains(SAID)) {
        return None;
    }
    let moved = [("loses", "losesLiveNodes"), ("gains", "gainsLiveNodes")];
    let said = moved.iter().filter_map(|(verb, key)| Some(format!("{verb} {}", names(judged.annotation(key)?))));
    let said: Vec<String> = said.collect();
    (!said.is_empty()).then(|| format!("{SAID}{}", said.join("; ")))
}
