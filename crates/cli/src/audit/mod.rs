//! `audit`: what is odd about existing objects, asked as Kubewarden's audit scanner asks.

mod judged;
mod live;
mod progress;

use std::path::PathBuf;
use std::sync::mpsc::{SendError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use placement_guard::rules::finding::Code;
use serde_json::Value;

use crate::cluster::{Given, Surroundings};
use crate::complaint::{Complaint, Outcome};
use crate::config::Config;
use crate::input::files::File;
use crate::input::{self, NotJudged, Piece, Place};
use crate::judge::Judge;
use crate::kinds::{Kinds, Part};
use crate::manifest::{Identity, Manifest, audit_request};
use crate::output;
use crate::reading::{self, Read, Reading};
use crate::report::options::Options;
use crate::report::{Grouped, Judged, Report, Subject};
use crate::rollout::Rollout;
use crate::settings;
use progress::Progress;

/// The settings without `--settings`.
const SETTINGS: &str = include_str!("settings.yaml");

/// `--help` ends with the exit codes and the default settings.
const HELP: &str = concat!(
    "Exit codes:\n  0  nothing that fails the run (`--fail-on`) was found\n  1  a cluster would refuse an object, or what else `--fail-on` names\n  2  what was named cannot be read, or the settings are not valid\n\nWithout --settings:\n\n",
    include_str!("settings.yaml")
);

#[derive(clap::Args)]
#[command(after_long_help = HELP)]
pub struct Arguments {
    /// Files, such as the output of `kubectl get pv,pvc,pods -A -o yaml`, and folders, in which every *.yaml, *.yml and
    /// *.json is read; `-` is standard input. Without any: with `--live` all objects of the cluster that the settings judge,
    /// and else standard input
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// The settings, YAML or JSON: a file of their own, or what is deployed (a ClusterAdmissionPolicy, an AdmissionPolicy,
    /// constraints, a ConfigMap with settings), also a folder of them. The default is at the end of `--help`
    #[arg(long, value_name = "PATH")]
    settings: Option<PathBuf>,

    #[command(flatten)]
    given: Given,

    #[command(flatten)]
    reading: Reading,

    #[command(flatten)]
    report: Options,
}

/// Reports.
///
/// # Errors
/// What could not be read; everything else has been reported then.
pub fn run(arguments: &Arguments) -> Result<Outcome, Complaint> {
    let named = paths(arguments);
    reading::one_from_standard_input(named.iter().chain(&arguments.settings).chain(arguments.given.paths()))?;
    let config = Config::find()?;
    let settings = arguments.settings.as_deref().or(config.settings.as_deref());
    let by_default = settings.is_none();
    let sets =
        if by_default { settings::of_text("the settings of `audit`", SETTINGS)? } else { settings::sets(settings)? };
    let judge = Judge::new(sets, None, |settings| Surroundings::read(&arguments.given, settings))?;

    let mut read = Read::within(arguments.given.namespace());
    let (excludes, kinds) = (arguments.reading.excludes(&config)?, config.kinds());
    let (mut report, mut rollout) = (Report::default(), Rollout::default());
    let itself = if arguments.paths.is_empty() { arguments.given.live()? } else { None };
    let unlisted = match itself {
        Some(live) => live::scan(&live, arguments.given.namespace(), &judge, &mut read, &mut |manifest| {
            judge_manifest(&judge, &kinds, manifest, by_default, &mut report);
        }),
        None => {
            let files = reading::files(&named, &excludes, &mut read)?;
            scan(&files, &mut read, &mut |_, manifest| {
                let Manifest { identity, document } = manifest;
                rollout.see(identity, document, None, document.json());
                judge_manifest(&judge, &kinds, manifest, by_default, &mut report);
            });
            Vec::new()
        }
    };
    rollout.find(false, &mut report);
    report.objects.sort_by(|one, other| one.subject.cmp(&other.subject));
    report.summary.not_judged.documents = read.omitted.clone();
    let outcome = arguments.report.finish(report, Grouped::ByCode, config.fail_on)?;
    read.warn();
    complete(unlisted)?;
    read.complete(arguments.reading.strict)?;
    Ok(outcome)
}

/// All complaints but the last are said here; the last one is the reason for the exit code.
fn complete(mut complaints: Vec<Complaint>) -> Result<(), Complaint> {
    let last = complaints.pop();
    complaints.iter().for_each(output::complain);
    last.map_or(Ok(()), Err)
}

fn paths(arguments: &Arguments) -> Vec<PathBuf> {
    if arguments.paths.is_empty() { vec![PathBuf::from("-")] } else { arguments.paths.clone() }
}

/// What comes from the thread that reads.
enum Message {
    Begins(u64),
    Pieces(Vec<Piece>),
    Ended(bool, Result<bool, NotJudged>),
}

/// Pieces are handed over together when they hold so many bytes.
const BATCH: usize = 1 << 17;

/// Or when the last ones were handed over so long ago.
const PATIENCE: Duration = Duration::from_millis(200);

/// So many batches may wait.
const WAITING: usize = 4;

/// Reads files in a thread of its own, and gives every object to `take`.
fn scan(files: &[File], read: &mut Read, take: &mut dyn FnMut(&mut Read, &Manifest)) {
    let progress = Progress::of(files.iter().map(|file| file.bytes).sum());
    let (sender, receiver) = sync_channel(WAITING);
    std::thread::scope(|scope| {
        scope.spawn(move || files.iter().try_for_each(|file| send(file, &sender)));
        for message in receiver {
            match message {
                Message::Begins(bytes) => progress.begin(bytes),
                Message::Ended(named, opened) => read.end_file(named, opened),
                Message::Pieces(pieces) => {
                    for piece in pieces {
                        match piece {
                            Piece::Document(document) => {
                                if let Some(manifest) = read.manifest(document) {
                                    take(read, &manifest);
                                }
                            }
                            Piece::NotJudged(wrong) => read.omit(wrong),
                            Piece::Came(bytes) => progress.came(bytes),
                        }
                    }
                }
            }
        }
    });
    progress.finish();
}

/// Reads a file and sends what it holds; fails when the receiver is gone.
fn send(file: &File, sender: &SyncSender<Message>) -> Result<(), SendError<Message>> {
    sender.send(Message::Begins(file.bytes))?;
    let (mut batch, mut held, mut lost) = (Vec::new(), 0_usize, Ok(()));
    let mut passed_on = Instant::now();
    let opened = input::read(&file.path, &mut |piece| {
        held = held.saturating_add(match &piece {
            Piece::Document(document) => document.written.text.len(),
            Piece::NotJudged(_) | Piece::Came(_) => 0,
        });
        batch.push(piece);
        // What comes slowly is passed on too: it is all that a person who waits sees.
        if (held >= BATCH || passed_on.elapsed() >= PATIENCE) && lost.is_ok() {
            held = 0;
            passed_on = Instant::now();
            lost = sender.send(Message::Pieces(std::mem::take(&mut batch)));
        }
    });
    lost?;
    sender.send(Message::Pieces(batch))?;
    sender.send(Message::Ended(file.named, opened))
}

/// Judges an object, or the parts of a custom resource that hold what rules judge.
fn judge_manifest(judge: &Judge<'_>, kinds: &Kinds, manifest: &Manifest, by_default: bool, report: &mut Report) {
    let identity = &manifest.identity;
    let parts = kinds.parts(manifest);
    let covered = parts.iter().filter(|part| judge.covers(&part.identity));
    for part in covered.clone() {
        judge_object(judge, manifest, Some(part), by_default, report);
    }
    if parts.is_empty() && judge.covers(identity) {
        judge_object(judge, manifest, None, by_default, report);
    } else if covered.count() == 0 {
        report.not_judged(&identity.kind);
    }
}

/// Judges an object, or a part of a custom resource. Only those in which something is found are kept.
fn judge_object(judge: &Judge<'_>, manifest: &Manifest, part: Option<&Part>, by_default: bool, report: &mut Report) {
    let Manifest { identity, document } = manifest;
    let json = part.map_or(document.json(), |part| &part.json);
    let request = audit_request(part.map_or(identity, |part| &part.identity), json);
    let locate = |field: Option<&str>| match part {
        // What comes from an API server has no lines.
        _ if document.line == 0 => Place { line: 0, column: 0 },
        Some(part) => document.find(&part.moved.field(field.unwrap_or_default())).key,
        None => document.find(field.unwrap_or_default()).key,
    };
    let (verdict, mut findings) = judge.examine(&request, &locate);
    // Not a defect of those that are made for every node. Where an administrator wrote settings, they may mean it.
    if by_default && is_of_a_daemon_set(identity, json) {
        let everything = Code::TolerationAdmitsEverything.name();
        let before = findings.len();
        findings.retain(|found| found.code != everything);
        (findings.len()..before).for_each(|_| report.only_count(everything));
    }
    let judged = Judged::new(Subject::of(identity, None, document), verdict, findings, document.json(), &locate);
    if judged.findings.is_empty() {
        report.count(&judged.verdict);
    } else {
        report.add(judged);
    }
}

/// Whether it is a DaemonSet, or a pod that one of them controls.
fn is_of_a_daemon_set(identity: &Identity, json: &str) -> bool {
    match (identity.group.as_str(), identity.kind.as_str()) {
        ("apps", "DaemonSet") => true,
        ("", "Pod") if json.contains("DaemonSet") => {
            let pod: Value = serde_json::from_str(json).unwrap_or_default();
            let owners = pod.pointer("/metadata/ownerReferences").and_then(Value::as_array);
            owners.is_some_and(|owners| owners.iter().any(|owner| owner["kind"] == "DaemonSet"))
        }
        _ => false,
    }
}
