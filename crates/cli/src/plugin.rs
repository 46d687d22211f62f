//! The program as a plug-in of kubectl: `kubectl placement-guard …` runs a file of this name, and expects a command that talks
//! about the cluster of the current context, as kubectl does.

use std::ffi::OsString;
use std::path::Path;

use clap::Command;

use crate::check;

/// The file that kubectl looks for; the dash of the command is an underscore in the name of the file.
pub const FILE: &str = "kubectl-placement_guard";

/// What a person types.
const TYPED: &str = "kubectl placement-guard";

/// The commands that judge in a cluster.
const JUDGING: [&str; 2] = ["check", "audit"];

/// The options that say which cluster is meant.
const CLUSTER: [&str; 3] = ["--live", "--cluster", "--nodes"];

/// Whether kubectl runs the program, by the arguments of the process.
pub fn is_run_by_kubectl(arguments: &[OsString]) -> bool {
    let program = arguments.first().map(Path::new);
    program.and_then(Path::file_stem).is_some_and(|name| name == FILE)
}

/// The arguments with `--live`, where a command judges in a cluster and they do not say in which.
pub fn with_live_cluster(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let judges = arguments.get(1).is_some_and(|command| JUDGING.iter().any(|name| command == name));
    let mut options =
        arguments.iter().take_while(|argument| *argument != "--").filter_map(|argument| argument.to_str());
    if judges && !options.any(|option| CLUSTER.contains(&option.split('=').next().unwrap_or_default())) {
        arguments.insert(2, OsString::from("--live"));
    }
    arguments
}

/// The command line with the name that a person types in the texts that show it.
pub fn named(program: Command) -> Command {
    let usage = check::USAGE.replace("placement-guard", TYPED);
    let program = program.bin_name(TYPED).mut_subcommand("check", |check| check.override_usage(usage));
    JUDGING.into_iter().fold(program, |program, name| {
        program.mut_subcommand(name, |command| {
            command.mut_arg("live", |live| {
                live.help("Read the cluster itself; the default, except with `--cluster` or `--nodes`")
            })
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn kubectl_runs_a_file_of_one_name() {
        for (program, expected) in [
            ("/usr/local/bin/kubectl-placement_guard", true),
            ("kubectl-placement_guard.exe", true),
            ("placement-guard", false),
            ("kubectl-placement-guard", false),
        ] {
            assert_eq!(is_run_by_kubectl(&given(program)), expected, "{program}");
        }
        assert!(!is_run_by_kubectl(&[]));
    }

    #[test]
    fn the_live_cluster_is_meant_where_no_other_is_named() {
        for (line, expected) in [
            ("p audit", "p audit --live"),
            ("p check -o json a.yaml", "p check --live -o json a.yaml"),
            ("p audit -- --cluster", "p audit --live -- --cluster"),
            ("p audit --live --context a", "p audit --live --context a"),
            ("p audit --cluster all.yaml", "p audit --cluster all.yaml"),
            ("p check --nodes=nodes.yaml a.yaml", "p check --nodes=nodes.yaml a.yaml"),
            ("p explain audit", "p explain audit"),
            ("p", "p"),
        ] {
            assert_eq!(with_live_cluster(given(line)), given(expected), "{line}");
        }
    }
}
