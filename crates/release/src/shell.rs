//! Completions and manual pages, from the same table of options as `--help`.

use placement_guard_cli::command_line::CommandLine;
use placement_guard_cli::completions::{self, Shell};

use crate::Problem;

/// A file in the archive of the program.
pub struct Page {
    pub path: String,
    pub text: Vec<u8>,
}

/// The completions for every shell, and a manual page for the program and for each of its commands.
///
/// # Errors
/// Never, as long as memory takes what is written.
pub fn pages() -> Result<Vec<Page>, Problem> {
    let shells = [
        (Shell::Bash, "placement-guard.bash"),
        (Shell::Elvish, "placement-guard.elv"),
        (Shell::Fish, "placement-guard.fish"),
        (Shell::PowerShell, "_placement-guard.ps1"),
        (Shell::Zsh, "_placement-guard"),
    ];
    let mut pages: Vec<Page> = shells
        .map(|(shell, name)| Page {
            path: format!("completions/{name}"),
            text: completions::script(shell, CommandLine::description()),
        })
        .into();
    let mut program = CommandLine::description().disable_help_subcommand(true);
    program.build();
    manual(&program, &mut pages)?;
    Ok(pages)
}

fn manual(command: &Command, pages: &mut Vec<Page>) -> Result<(), Problem> {
    let page = clap_mangen::Man::new(command.clone()).source(concat!("placement-guard ", env!("CARGO_PKG_VERSION")));
    let mut text = Vec::new();
    page.render(&mut text).map_err(|error| Problem::Unwritable(error.to_string()))?;
    pages.push(Page { path: format!("man/man1/{}", page.get_filename()), text });
    command.get_subcommands().filter(|command| !command.is_hide_set()).try_for_each(|command| manual(command, pages))
}

type Command = placement_guard_cli::command_line::Description;
