//! The command line: the subcommands, and which module does what each asks for.

use std::ffi::OsString;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::complaint::{Complaint, Outcome};
#[cfg(feature = "server")]
use crate::serve;
use crate::{audit, check, completions, distribution, explain, plugin, report_html, settings};

/// Decides whether a change to where Kubernetes may place volumes and pods is safe, and shows an example if not
#[derive(Parser)]
#[command(name = "placement-guard", version, propagate_version = true, after_help = EXIT_CODES)]
pub struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str = "\
Exit codes:
  0  nothing that fails the run (`--fail-on`) was found; or what was asked for is done
  1  `check`, `audit`: something was found that a cluster would refuse, or what else `--fail-on` names; what is silenced or
     in the baseline does not count
  2  no decision was possible: wrong arguments, a file that cannot be read, or settings that are not valid";

#[derive(Subcommand)]
enum Command {
    /// Judge admission requests, or the change from one set of manifests to another
    #[command(after_help = EXIT_CODES)]
    Check(check::Arguments),
    /// Report problems of existing objects, as an audit scan would
    Audit(audit::Arguments),
    /// Draw what a change does to where volumes can be used, in one HTML file for a pull request
    #[command(after_help = "\
Exit codes:
  0  the report is written, whatever it says; `check` fails where something is refused
  2  something cannot be read or written")]
    Report(report_html::Arguments),
    /// Explain a code of a finding: what it means, an example, and what would be accepted
    Explain(explain::Arguments),
    /// Print the JSON Schema of the settings, or check settings files
    Settings(settings::Arguments),
    /// Answer Gatekeeper's external data requests and admission webhooks, over TLS
    #[cfg(feature = "server")]
    Serve(serve::Arguments),
    /// Not in this build: answer Gatekeeper's external data requests and admission webhooks, over TLS
    #[cfg(not(feature = "server"))]
    Serve(NotHere),
    /// Write Kubewarden's metadata into a module
    Package(distribution::Package),
    /// Push an annotated module, or an image in the OCI layout, to an OCI registry, and print its reference by digest
    Push(distribution::Push),
    /// Pull a module from an OCI registry, and check every digest
    Pull(distribution::Pull),
    /// Print a script that completes the command line in a shell
    Completions(completions::Arguments),
}

/// Accepts any arguments of a command that this build does not have.
#[cfg(not(feature = "server"))]
#[derive(clap::Args)]
struct NotHere {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _arguments: Vec<OsString>,
}

/// Every command and option, with its help.
pub type Description = clap::Command;

impl CommandLine {
    /// For completions and manual pages.
    pub fn description() -> Description {
        Self::command()
    }

    /// Reads the arguments of the process, the first of which is the program. Ends the process for `--help`, and for arguments
    /// that cannot be read.
    pub fn of(mut arguments: Vec<OsString>) -> Self {
        // clap takes `--help` for the name of a command after `help`.
        if arguments.get(1).is_some_and(|first| first == "help") {
            arguments.retain(|argument| argument != "--help" && argument != "-h");
        }
        let mut program = Self::command();
        if plugin::is_run_by_kubectl(&arguments) {
            arguments = plugin::with_live_cluster(arguments);
            program = plugin::named(program);
        }
        let read = Self::from_arg_matches(&program.get_matches_from(arguments));
        read.unwrap_or_else(|error| error.exit())
    }

    /// Does what it asks for.
    ///
    /// # Errors
    /// Why no decision was possible.
    pub fn run(self) -> Result<Outcome, Complaint> {
        self.command.run()
    }
}

impl Command {
    fn run(self) -> Result<Outcome, Complaint> {
        match self {
            Command::Check(arguments) => check::run(&arguments),
            Command::Audit(arguments) => audit::run(&arguments),
            Command::Report(arguments) => report_html::run(&arguments),
            Command::Explain(arguments) => explain::run(&arguments),
            Command::Settings(arguments) => settings::run(&arguments),
            #[cfg(feature = "server")]
            Command::Serve(arguments) => serve::run(&arguments),
            #[cfg(not(feature = "server"))]
            Command::Serve(_) => {
                let problem = "this build of the program has no server";
                Err(Complaint::new("serve", problem, crate::WITHOUT_SERVER))
            }
            Command::Package(arguments) => distribution::package(&arguments),
            Command::Push(arguments) => distribution::push(&arguments),
            Command::Pull(arguments) => distribution::pull(&arguments),
            Command::Completions(arguments) => completions::run(&arguments, CommandLine::command()),
        }
    }
}
