//! `settings`: the schema of the settings, and whether a settings file can be used.

mod config_map;
mod location;
mod problems;
mod sources;

use std::path::{Path, PathBuf};

use placement_guard::kubernetes::field::Unreadable;
use placement_guard::verdict;

use crate::complaint::{Complaint, Outcome};
use crate::input::{Document, Source, shown};
use crate::output;

pub use sources::Found;

/// What editors and validators need to know about settings; `make bless` writes it.
const SCHEMA: &str = include_str!("../../../../policies/settings.schema.json");

/// What a settings file should hold.
const WHAT: &str = "settings, such as `volumeNodeAffinity: {}`";

#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Check settings files, and show everything that is wrong with each
    #[command(after_help = "\
Exit codes:
  0  the settings can be used
  2  they cannot, or a file cannot be read")]
    Check {
        /// Settings, YAML or JSON; `-` for standard input
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
}

/// Prints the schema, or checks a file.
///
/// # Errors
/// When the file cannot be read.
pub fn run(arguments: &Arguments) -> Result<Outcome, Complaint> {
    let Some(Command::Check { files }) = &arguments.command else {
        output::print(SCHEMA)?;
        return Ok(Outcome::Accepted);
    };
    let mut complaints = Vec::new();
    for file in files {
        match check(file) {
            Ok(shown) => output::print(&format!("{shown}: these settings can be used\n"))?,
            Err(wrong) => complaints.extend(wrong),
        }
    }
    // All but the last are said here; the last one is the reason for the exit code.
    let last = complaints.pop();
    complaints.iter().for_each(output::complain);
    last.map_or(Ok(Outcome::Accepted), Err)
}

/// The name of a file whose settings can be used, or everything that is wrong with it.
fn check(file: &Path) -> Result<String, Vec<Complaint>> {
    let source = Source::read(file).map_err(|complaint| vec![complaint])?;
    let document = source.only_document(WHAT).map_err(|complaint| vec![complaint])?;
    if let Some(twice) = appears_twice(&document) {
        return Err(vec![twice]);
    }
    let problems = problems::of(document.json());
    if problems.is_empty() {
        return Ok(source.shown().to_owned());
    }
    Err(problems.iter().map(|problem| complaint(&document, problem)).collect())
}

/// A key of settings that appears twice: readers disagree on which of the two counts.
fn appears_twice(document: &Document) -> Option<Complaint> {
    let repeated = document.repeated.first()?;
    let location = format!("{}:{}:{}", shown(&document.file), repeated.place.line, repeated.place.column);
    Some(Complaint::new(location, format!("{}: appears twice", repeated.path), KNOWN))
}

const KNOWN: &str = "`placement-guard settings` prints what is known";

fn complaint(document: &Document, unreadable: &Unreadable) -> Complaint {
    let remedy = match problems::meant(unreadable) {
        Some(word) => format!("did you mean `{word}`?"),
        None => KNOWN.to_owned(),
    };
    let problem = format!("{}: {}", unreadable.path, unreadable.problem);
    Complaint::new(location::of(document, unreadable), problem, remedy)
}

/// Every set of settings at a path.
///
/// # Errors
/// Where no path is known, and what cannot be read.
pub fn sets(path: Option<&Path>) -> Result<Vec<Found>, Complaint> {
    match path {
        Some(path) => sources::find(path),
        None => {
            let remedy = format!(
                "name a file with `--settings <PATH>`, or write `settings: PATH` into `{}`",
                crate::config::NAME
            );
            Err(Complaint::new("--settings", "is required here", remedy))
        }
    }
}

/// The settings in a text.
///
/// # Errors
/// What keeps it from being read.
pub fn of_text(name: &str, text: &str) -> Result<Vec<Found>, Complaint> {
    Ok(vec![Found::of(Source::of(name, text).only_document(WHAT)?)])
}

/// Settings that can be used, as JSON.
///
/// # Errors
/// The first thing that is wrong with them, and where.
pub fn usable(source: &Source) -> Result<String, Complaint> {
    let document = source.only_document(WHAT)?;
    match verdict::validate_settings(document.json()) {
        Ok(()) => Ok(document.json().to_owned()),
        Err(unreadable) => Err(complaint(&document, &unreadable)),
    }
}
