//! `audit`: what is odd about existing objects, asked as Kubewarden's audit scanner asks.

mod progress;
mod report;
mod text;

use std::path::PathBuf;
use std::sync::mpsc::{SendError, SyncSender, sync_channel};

use clap::ValueEnum;
use placement_guard::kubernetes::field::{self, Field};
use placement_guard::kubernetes::request::Request;
use placement_guard::rules::finding::Severity;
use placement_guard::rules::settings::Settings;
use placement_guard::rules::{findings, read_settings};

use crate::complaint::{Complaint, Outcome};
use crate::input::files::{Excludes, File};
use crate::input::{self, NotJudged, Piece, Source, shown};
use crate::manifest::{Manifest, audit_request};
use crate::output;
use crate::reading::{self, Read, Reading};
use crate::rollout::Rollout;
use crate::settings;
use progress::Progress;
use report::{Object, Report, UNREADABLE};

/// The settings without `--settings`.
const SETTINGS: &str = include_str!("settings.yaml");

/// `--help` ends with the exit codes and the default settings.
const HELP: &str = concat!(
    "Exit codes:\n  0  nothing is refused\n  1  an object would be refused\n  2  something could not be read\n\nWithout --settings:\n\n",
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

    /// How to print the report
    #[arg(long, value_enum, default_value_t = Format::Text)]
    output: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
    Yaml,
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
    let json = field::parse(json.as_bytes()).map_err(unusable)?;
    let settings = read_settings(&Field::root("settings", &json)).map_err(unusable)?;

    let mut read = Read::default();
    let excludes = Excludes::new(&arguments.reading.exclude)?;
    let files = reading::files(&arguments.paths, &excludes, &mut read)?;
    let (mut report, mut rollout) = (Report::default(), Rollout::default());
    scan(&files, &mut read, &mut |_, manifest| {
        let Manifest { identity, document } = manifest;
        rollout.see(identity, || format!("{}:{}", shown(&document.file), document.line), None, document.json());
        let object = Object::new(identity, document);
        judge(&settings, &audit_request(identity, document.json()), &object, &mut report);
    });
    report.finish(rollout.not_together(), read.omitted.clone());
    output::print(&match arguments.output {
        Format::Text => text::of(&report),
        Format::Json => output::json(&report)?,
        Format::Yaml => output::yaml(&report)?,
    })?;
    read.warn();
    read.complete(arguments.reading.strict)?;
    Ok(if report.refused > 0 { Outcome::Refused } else { Outcome::Accepted })
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

fn judge(settings: &Settings, request: &str, object: &Object, report: &mut Report) {
    let found = field::parse(request.as_bytes()).and_then(|json| {
        let root = Field::root("", &json);
        findings(settings, &Request::read(&root)?)
    });
    let mut refused = false;
    match found {
        Ok(found) => {
            for finding in found {
                refused |= finding.severity == Severity::Refuses;
                report.find(finding.code.name(), finding.severity, object, finding.block());
            }
        }
        Err(unreadable) => {
            refused = true;
            report.find(UNREADABLE, Severity::Refuses, object, format!("unreadable: {unreadable}"));
        }
    }
    report.count(refused);
}
