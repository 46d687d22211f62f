//! `settings`: what settings may say, and whether a file of them can be used.

mod place;
pub mod schema;

use std::path::{Path, PathBuf};

use placement_guard::verdict;

use crate::complaint::{Complaint, Outcome};
use crate::input::Source;
use crate::output;

#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Say whether settings can be used, and if not, where they go wrong
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
        output::print(&schema::text()?)?;
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

/// Settings that can be used, as JSON.
///
/// # Errors
/// What is wrong with them, and where.
pub fn usable(path: &Path) -> Result<String, Complaint> {
    refusal(&Source::read(path)?)?
}

/// The same of a text that comes from no file.
///
/// # Errors
/// What is wrong with it, and where.
pub fn usable_text(name: &str, text: &str) -> Result<String, Complaint> {
    refusal(&Source::of(name, text))?
}

/// The settings as JSON, or what is wrong with them.
fn refusal(source: &Source) -> Result<Result<String, Complaint>, Complaint> {
    let document = source.only_document("settings, such as `volumeNodeAffinity: {}`")?;
    Ok(match verdict::validate_settings(&document.json) {
        Ok(()) => Ok(document.json.into_owned()),
        Err(unreadable) => {
            let place = place::of(source, &unreadable);
            let remedy = "`placement-guard settings` prints what is known";
            Err(Complaint::new(place, format!("{}: {}", unreadable.path, unreadable.problem), remedy))
        }
    })
}
