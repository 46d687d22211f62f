//! `audit`: what is odd about existing objects, asked as Kubewarden's audit scanner asks.

mod progress;

use std::path::PathBuf;
use std::sync::mpsc::{SendError, SyncSender, sync_channel};

use placement_guard::kubernetes::field::{self, Field};
use placement_guard::rules::finding::Code;
use placement_guard::rules::read_settings;
use placement_guard::rules::settings::Settings;
use placement_guard::verdict;
use serde_json::Value;

use crate::complaint::{Complaint, Outcome};
use crate::coverage::Coverage;
use crate::input::files::{Excludes, File};
use crate::input::{self, NotJudged, Piece, Source};
use crate::manifest::{Identity, Manifest, audit_request};
use crate::reading::{self, Read, Reading};
use crate::report::options::{Grouped, Options};
use crate::report::{Judged, Report, Subject, found};
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
    /// *.json is read; `-` is standard input
    #[arg(value_name = "PATH", default_value = "-")]
    paths: Vec<PathBuf>,

    /// The settings of the policy, YAML or JSON. The default is at the end of `--help`
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,

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
    let json = match &arguments.settings {
        Some(path) => settings::usable(&Source::read(path)?)?,
        None => settings::usable(&Source::of("the settings of `audit`", SETTINGS))?,
    };
    let unusable = |unreadable: field::Unreadable| Complaint::new("the settings", unreadable, "correct them");
    let coverage = Coverage::of(&json);
    let json = field::parse(json.as_bytes()).map_err(unusable)?;
    let settings = read_settings(&Field::root("settings", &json)).map_err(unusable)?;

    let mut read = Read::default();
    let excludes = Excludes::new(&arguments.reading.exclude)?;
    let files = reading::files(&arguments.paths, &excludes, &mut read)?;
    let (mut report, mut rollout) = (Report::default(), Rollout::default());
    scan(&files, &mut read, &mut |_, manifest| {
        let Manifest { identity, document } = manifest;
        rollout.see(identity, document, None, document.json());
        if coverage.includes(&identity.group, &identity.kind) {
            judge(&settings, manifest, arguments.settings.is_none(), &mut report);
        } else {
            report.not_judged(&identity.kind);
        }
    });
    rollout.find(false, &mut report);
    report.objects.sort_by(|one, other| one.subject.cmp(&other.subject));
    report.summary.not_judged.documents = read.omitted.clone();
    let outcome = arguments.report.finish(report, Grouped::ByCode, None)?;
    read.warn();
    read.complete(arguments.reading.strict)?;
    Ok(outcome)
}

/// What comes from the thread that reads.
enum Message {
    Begins(u64),
    Pieces(Vec<Piece>),
    Ended(bool, Result<bool, NotJudged>),
}

/// Pieces are handed over together when they hold so many bytes.
const BATCH: usize = 1 << 17;

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

/// Reads a file and sends what it holds; fails when nobody listens any more.
fn send(file: &File, sender: &SyncSender<Message>) -> Result<(), SendError<Message>> {
    sender.send(Message::Begins(file.bytes))?;
    let (mut batch, mut held, mut lost) = (Vec::new(), 0_usize, Ok(()));
    let opened = input::read(&file.path, &mut |piece| {
        held = held.saturating_add(match &piece {
            Piece::Document(document) => document.written.text.len(),
            Piece::NotJudged(_) | Piece::Came(_) => 0,
        });
        batch.push(piece);
        if held >= BATCH && lost.is_ok() {
            held = 0;
            lost = sender.send(Message::Pieces(std::mem::take(&mut batch)));
        }
    });
    lost?;
    sender.send(Message::Pieces(batch))?;
    sender.send(Message::Ended(file.named, opened))
}

/// Judges an object. Only those in which something is found are kept.
fn judge(settings: &Settings, manifest: &Manifest, by_default: bool, report: &mut Report) {
    let Manifest { identity, document } = manifest;
    let json = document.json();
    let (verdict, findings) = verdict::examine(settings, &audit_request(identity, json));
    let locate = |field: Option<&str>| document.find(field.unwrap_or_default()).key;
    let mut findings = found(findings, &locate);
    // Not a defect of those that are made for every node. Where an administrator wrote settings, they may mean it.
    if by_default && is_of_a_daemon_set(identity, json) {
        let everything = Code::TolerationAdmitsEverything.name();
        let before = findings.len();
        findings.retain(|found| found.code != everything);
        (findings.len()..before).for_each(|_| report.only_count(everything));
    }
    let judged = Judged::new(Subject::of(identity, None, document), verdict, findings, json, &locate);
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
