//! Manual pages and completions know every command and every option.

use std::collections::BTreeSet;
use std::process::Command;

use placement_guard_cli::command_line::{CommandLine, Description};

/// The pages that there must be, with what each must name.
fn expected(command: &Description, above: &str, expected: &mut Vec<(String, Vec<String>)>) {
    let name = if above.is_empty() { command.get_name().to_owned() } else { format!("{above}-{}", command.get_name()) };
    let options = command.get_arguments().filter(|option| !option.is_hide_set()).filter_map(|option| option.get_long());
    expected.push((format!("man/man1/{name}.1"), options.map(|long| format!("--{long}")).collect()));
    let commands = command.get_subcommands().filter(|command| command.get_name() != "help" && !command.is_hide_set());
    commands.for_each(|command| self::expected(command, &name, expected));
}

#[test]
fn every_command_has_a_manual_page_with_every_option() {
    let mut all = Vec::new();
    expected(&CommandLine::description(), "", &mut all);
    assert!(all.len() > 10, "{all:?}");
    let pages = release::pages().unwrap();
    let manual: BTreeSet<&str> =
        pages.iter().map(|page| page.path.as_str()).filter(|path| path.contains("man1")).collect();
    assert_eq!(manual, all.iter().map(|(path, _)| path.as_str()).collect());
    for (path, options) in all {
        let page = pages.iter().find(|page| page.path == path).unwrap();
        let text = String::from_utf8(page.text.clone()).unwrap().replace("\\-", "-");
        assert!(text.starts_with(".ie"), "{path}: {text}");
        options.iter().for_each(|option| assert!(text.contains(option.as_str()), "{path}: no {option}"));
    }
}

#[test]
fn manual_pages_are_read_without_a_warning() {
    if Command::new("groff").arg("--version").output().is_err() {
        eprintln!("groff is not here: the pages are not read");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for page in release::pages().unwrap().iter().filter(|page| page.path.contains("man1")) {
        let file = folder.path().join("page.1");
        std::fs::write(&file, &page.text).unwrap();
        let read = Command::new("groff").args(["-man", "-Kutf8", "-Tutf8", "-ww", "-z"]).arg(&file).output().unwrap();
        assert!(
            read.status.success() && read.stderr.is_empty(),
            "{}: {}",
            page.path,
            String::from_utf8_lossy(&read.stderr)
        );
    }
}

#[test]
fn every_shell_has_its_completions_under_the_name_that_it_looks_for() {
    let pages = release::pages().unwrap();
    let names: BTreeSet<&str> = pages.iter().filter_map(|page| page.path.strip_prefix("completions/")).collect();
    let expected = [
        "_placement-guard",
        "_placement-guard.ps1",
        "placement-guard.bash",
        "placement-guard.elv",
        "placement-guard.fish",
    ];
    assert_eq!(names, expected.into());
    for page in pages.iter().filter(|page| page.path.starts_with("completions/")) {
        assert!(String::from_utf8_lossy(&page.text).contains("fail-on"), "{}", page.path);
    }
}
