//! `completions SHELL`: generated from the options, so that they cannot drift apart.

pub use clap_complete::Shell;

use crate::complaint::{Complaint, Outcome};
use crate::output;

#[derive(clap::Args)]
pub struct Arguments {
    /// The shell that reads the script
    shell: Shell,
}

/// Prints the script for `program`.
///
/// # Errors
/// When standard output cannot be written.
pub fn run(arguments: &Arguments, program: clap::Command) -> Result<Outcome, Complaint> {
    output::print(&String::from_utf8_lossy(&script(arguments.shell, program)))?;
    Ok(Outcome::Accepted)
}

/// The script for `program`.
pub fn script(shell: Shell, mut program: clap::Command) -> Vec<u8> {
    let name = program.get_name().to_owned();
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut program, name, &mut script);
    script
}
