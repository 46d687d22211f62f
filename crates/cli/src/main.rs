//! The program `placement-guard`. What a subcommand does is in the module of its name.

use std::process::ExitCode;

use placement_guard_cli::command_line::CommandLine;
use placement_guard_cli::complaint::Outcome;

fn main() -> ExitCode {
    match CommandLine::of(std::env::args_os().collect()).run() {
        Ok(Outcome::Accepted) => ExitCode::SUCCESS,
        Ok(Outcome::Refused) => ExitCode::from(1),
        Err(complaint) => {
            placement_guard_cli::output::complain(&complaint);
            ExitCode::from(2)
        }
    }
}
