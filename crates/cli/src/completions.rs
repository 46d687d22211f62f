//! `completions SHELL`: generated from the options, so that they cannot drift apart.

use clap_complete::Shell;

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
pub fn run(arguments: &Arguments, mut program: clap::Command) -> Result<Outcome, Complaint> {
    let name = program.get_name().to_owned();
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut program, name, &mut script);
    output::print(&String::from_utf8_lossy(&script))?;
    Ok(Outcome::Accepted)
}
