//! `settings`: the schema of the settings, and whether a settings file can be used.

mod location;

use std::path::PathBuf;

use placement_guard::kubernetes::field::Unreadable;
use placement_guard::verdict;

use crate::complaint::{Complaint, Outcome};
use crate::input::Source;
use crate::output;

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
    /// Check a settings file, and show where it is wrong
    #[command(after_help = "\
Exit codes:
  0  the settings can be used
  1  they are refused
  2  the file cannot be read")]
    Check {
        /// Settings, YAML or JSON; `-` for standard input
        file: PathBuf,
    },
}

/// Prints the schema, or checks a file.
///
/// # Errors
/// When the file cannot be read.
pub fn run(arguments: &Arguments) -> Result<Outcome, Complaint> {
    let Some(Command::Check { file }) = &arguments.command else {
        output::print(SCHEMA)?;
        return Ok(Outcome::Accepted);
    };
    let source = Source::read(file)?;
    match refusal(&source)? {
        Err(complaint) => {
            output::complain(&complaint);
            Ok(Outcome::Refused)
        }
        Ok(_) => {
            output::print(&format!("{}: these settings can be used\n", source.shown()))?;
            Ok(Outcome::Accepted)
        }
    }
}

/// Settings as JSON, unchecked: a module checks its own.
///
/// # Errors
/// When they cannot be read.
pub fn unjudged(source: &Source) -> Result<String, Complaint> {
    Ok(source.only_document(WHAT)?.json().to_owned())
}

/// What a module says against settings, with the location as far as it names the field as this program does.
pub fn refused_by_a_module(source: &Source, message: &str) -> Complaint {
    let said = message.strip_prefix("settings are not valid: ").unwrap_or(message);
    let location = match (said.split_once(": "), source.only_document(WHAT)) {
        (Some((path, problem)), Ok(document)) => {
            location::of(&document, &Unreadable { path: path.to_owned(), problem: problem.to_owned() })
        }
        _ => source.shown().to_owned(),
    };
    Complaint::new(location, said, "write settings that this module knows")
}

/// Settings that can be used, as JSON.
///
/// # Errors
/// What is wrong with them, and where.
pub fn usable(source: &Source) -> Result<String, Complaint> {
    refusal(source)?
}

/// The settings as JSON, or what is wrong with them.
fn refusal(source: &Source) -> Result<Result<String, Complaint>, Complaint> {
    let document = source.only_document(WHAT)?;
    Ok(match verdict::validate_settings(document.json()) {
        Ok(()) => Ok(document.json().to_owned()),
        Err(unreadable) => {
            let location = location::of(&document, &unreadable);
            let remedy = "`placement-guard settings` prints what is known";
            Err(Complaint::new(location, format!("{}: {}", unreadable.path, unreadable.problem), remedy))
        }
    })
}
