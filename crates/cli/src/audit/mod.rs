//! `audit`: what is odd about existing objects, asked as Kubewarden's audit scanner asks.

pub(crate) mod files;
mod judged;
mod live;
mod progress;
mod report;
mod text;

use std::path::PathBuf;

use clap::ValueEnum;
use placement_guard::kubernetes::field::{self, Field};
use placement_guard::kubernetes::request::Request;
use placement_guard::rules::finding::Severity;
use placement_guard::rules::settings::Settings;
use placement_guard::rules::{findings, read_settings};

use crate::cluster::{Given, Surroundings};
use crate::complaint::{Complaint, Outcome};
use crate::input::Source;
use crate::manifest::{Manifest, audit_request};
use crate::output;
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
    /// *.json is read; `-` is standard input. Without any: with `--live` all objects of the cluster that the settings judge,
    /// and else standard input
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// The settings of the policy, YAML or JSON. The default is at the end of `--help`
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,

    #[command(flatten)]
    given: Given,

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
    one_from_standard_input(arguments)?;
    let written = match &arguments.settings {
        Some(path) => settings::usable(&Source::read(path)?)?,
        None => settings::usable(&Source::of("the settings of `audit`", SETTINGS))?,
    };
    let unusable = |unreadable: field::Unreadable| Complaint::new("the settings", unreadable, "correct them");
    let json = field::parse(written.as_bytes()).map_err(unusable)?;
    let settings = read_settings(&Field::root("settings", &json)).map_err(unusable)?;
    let surroundings = Surroundings::read(&arguments.given, &written)?;
    let rules = Rules { settings: &settings, surroundings: &surroundings };

    let (mut report, mut rollout, mut complaints) = (Report::default(), Rollout::default(), Vec::new());
    let itself = if arguments.paths.is_empty() { arguments.given.live()? } else { None };
    if let Some(live) = itself {
        live::scan(&live, &written, &rules, &mut report, &mut complaints);
    } else {
        let files = files::below(&paths(arguments))?;
        let progress = Progress::of(files.iter().map(|file| file.bytes).sum());
        for file in &files {
            progress.begin(file.bytes);
            let read = Source::read_seen(&file.path, &|bytes| progress.came(bytes))
                .and_then(|source| scan(&source, file.named, &rules, &progress, &mut report, &mut rollout));
            complaints.extend(read.err());
        }
        progress.finish();
    }
    report.finish(rollout.not_together());
    output::print(&match arguments.output {
        Format::Text => text::of(&report),
        Format::Json => output::json(&report)?,
        Format::Yaml => output::yaml(&report)?,
    })?;
    // All but the last are said here; the last one is the reason for the exit code.
    let last = complaints.pop();
    complaints.iter().for_each(output::complain);
    match last {
        Some(complaint) => Err(complaint),
        None if report.refused > 0 => Ok(Outcome::Refused),
        None => Ok(Outcome::Accepted),
    }
}

fn paths(arguments: &Arguments) -> Vec<PathBuf> {
    if arguments.paths.is_empty() { vec![PathBuf::from("-")] } else { arguments.paths.clone() }
}

/// Standard input can be read once.
fn one_from_standard_input(arguments: &Arguments) -> Result<(), Complaint> {
    let paths = paths(arguments);
    let given = paths.iter().chain(&arguments.settings).chain(arguments.given.paths());
    if given.filter(|path| path.as_os_str() == "-").count() > 1 {
        return Err(Complaint::new("standard input", "is read twice", "give the other as a file"));
    }
    Ok(())
}

/// Judges every object of a file.
fn scan(
    source: &Source,
    named: bool,
    rules: &Rules<'_>,
    progress: &Progress,
    report: &mut Report,
    rollout: &mut Rollout,
) -> Result<(), Complaint> {
    progress.is_of(source.text().len() as u64);
    let documents = source.documents_seen(&|bytes| progress.read(bytes))?;
    // A List without items is a cluster without such objects; nothing at all is a `kubectl` that failed.
    if named && documents.is_none() {
        let remedy = "give manifests, or what `kubectl get pv,pvc,pods -A -o yaml` prints";
        return Err(Complaint::new(source.shown(), "holds no document", remedy));
    }
    let documents = documents.unwrap_or_default();
    let count = documents.len();
    for (index, document) in documents.into_iter().enumerate() {
        progress.judged(index, count);
        let line = document.line;
        let Some(manifest) = Manifest::read(source, document)? else {
            if named {
                let location = format!("{}:{line}", source.shown());
                return Err(Complaint::new(location, "has no `apiVersion` or no `kind`", "give both"));
            }
            // Among the files of a folder are some for other programs.
            report.skip();
            continue;
        };
        let Manifest { identity, document } = &manifest;
        rollout.see(identity, || format!("{}:{line}", source.shown()), None, &document.json);
        let object = Object::new(identity, source, line);
        let request = audit_request(identity, &document.json);
        judge(rules, &request, &object, report);
    }
    Ok(())
}

/// What objects are judged by, and in which cluster.
struct Rules<'r> {
    settings: &'r Settings,
    surroundings: &'r Surroundings,
}

fn judge(rules: &Rules<'_>, request: &str, object: &Object, report: &mut Report) {
    let found = field::parse(request.as_bytes()).and_then(|json| {
        let root = Field::root("", &json);
        findings(rules.settings, &Request::read(&root)?, rules.surroundings)
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
