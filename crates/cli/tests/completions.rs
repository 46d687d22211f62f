//! `completions`: scripts that the shells can read, and that know the subcommands.

#![allow(clippy::restriction)]

mod program;

use program::Folder;

#[test]
fn every_shell_gets_a_script_that_knows_the_subcommands() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let ran = Folder::new().run(&format!("completions {shell}"));
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{shell}");
        for word in ["check", "audit", "settings", "package", "push", "pull", "completions", "before"] {
            assert!(ran.out.contains(word), "{shell}: no {word}");
        }
    }
}

#[test]
fn bash_completes_with_its_script() {
    let folder = Folder::new();
    let script = folder.run("completions bash").out;
    folder.write("complete", script);
    let asked = "source ./complete; COMP_WORDS=(placement-guard check --aft) COMP_CWORD=2; \
                 $(complete -p placement-guard | sed 's/.*-F \\([^ ]*\\).*/\\1/') placement-guard --aft check; \
                 echo \"${COMPREPLY[@]}\"";
    let mut bash = std::process::Command::new("bash");
    bash.args(["-c", asked]).current_dir(folder.path());
    program::ran(bash, b"").printed(0, "--after\n");
}
