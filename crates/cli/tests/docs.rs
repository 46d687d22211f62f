//! The commands that `docs/command-line.md` shows, and the door of `docs/start.md` that needs no cluster, run as written.

#![allow(clippy::restriction)]

mod program;

use std::process::Command;

use program::{Folder, built_module, ran, repository};
use testkit::registry_server::Server;

const NODE: &str = "apiVersion: v1\nkind: Node\nmetadata: {name: a}\n";

/// What `kubectl` does without a cluster.
const KUBECTL: &str = "#!/bin/sh\ncat \"$NODES\"\n";

/// The first block of commands of a page.
fn commands(page: &str) -> String {
    let page = std::fs::read_to_string(repository().join(page)).unwrap();
    let (_, block) = page.split_once("```console\n").unwrap();
    block.split_once("```").unwrap().0.to_owned()
}

#[test]
fn every_command_works() {
    let (folder, storage) = (Folder::new(), Folder::new());
    let server = Server::start(storage.path());
    let request = std::fs::read(repository().join("tests/requests/pv-update-affinity-removed.json")).unwrap();
    folder.write("settings.yaml", "volumeNodeAffinity: {}\n").write("request.json", request);
    folder.write("old.yaml", NODE).write("new.yaml", NODE).write("nodes.yaml", NODE);
    folder.write("module.wasm", std::fs::read(built_module()).unwrap()).write("bin/kubectl", KUBECTL);
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_placement-guard"));
    std::os::unix::fs::symlink(program, folder.path().join("bin/placement-guard")).unwrap();
    let digest =
        format!("$(placement-guard push module.wasm {}/placement-guard:v0 --insecure | cut -d @ -f 2)", server.host);
    let script = commands("docs/command-line.md").replace("localhost:5000", &server.host).replace("sha256:…", &digest);
    let path = format!("{}:{}", folder.path().join("bin").display(), std::env::var("PATH").unwrap());
    let mut bash = Command::new("bash");
    bash.args(["-euxo", "pipefail", "-c", &format!("chmod +x bin/kubectl\n{script}")]);
    bash.env_clear().env("PATH", path).env("NODES", "nodes.yaml").current_dir(folder.path());
    // Where tests share what they compiled.
    bash.envs(std::env::vars_os().filter(|(name, _)| name == "PLACEMENT_GUARD_COMPILED"));
    let done = ran(bash, b"");
    assert_eq!(done.code, Some(0), "{}\n{}", done.out, done.err);
    let schema = std::fs::read_to_string(folder.path().join("settings.schema.json")).unwrap();
    assert_eq!(schema, std::fs::read_to_string(repository().join("policies/settings.schema.json")).unwrap());
    assert!(std::fs::read(folder.path().join("pulled.wasm")).unwrap() == std::fs::read(built_module()).unwrap());
    assert!(done.out.contains("objects: 1, findings: 0, would be refused: 0\n"), "{}", done.out);
}

/// Each command of a door of `docs/start.md`, with what the page shows of its output.
fn door(heading: &str) -> Vec<(String, String)> {
    let page = std::fs::read_to_string(repository().join("docs/start.md")).unwrap();
    let (_, below) = page.split_once(&format!("\n## {heading}\n")).unwrap();
    let below = below.split("\n## ").next().unwrap();
    let mut steps: Vec<(String, String)> = Vec::new();
    let mut block = "";
    for line in below.lines() {
        match (line.strip_prefix("```"), block) {
            (Some(opened), _) => block = opened,
            (None, "console") => steps.push((line.to_owned(), String::new())),
            (None, "text") => steps.last_mut().unwrap().1 += &format!("{line}\n"),
            _ => {}
        }
    }
    steps
}

/// The two other doors need a cluster: `make cluster-test` walks through them.
#[test]
fn the_door_without_a_cluster_leads_to_a_refusal() {
    let page = std::fs::read_to_string(repository().join("docs/start.md")).unwrap();
    assert_eq!(page.lines().filter(|line| line.starts_with("## ")).count(), 3);
    let folder = Folder::new();
    for file in ["settings.yaml", "before.yaml", "after.yaml"] {
        folder.write(&format!("docs/start/{file}"), std::fs::read(repository().join("docs/start").join(file)).unwrap());
    }
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_placement-guard"));
    folder.write("bin/this", "");
    std::os::unix::fs::symlink(program, folder.path().join("bin/placement-guard")).unwrap();
    let bash = |script: &str| {
        let path = format!("{}:{}", folder.path().join("bin").display(), std::env::var("PATH").unwrap());
        let mut bash = Command::new("bash");
        bash.args(["-euo", "pipefail", "-c", script]).env_clear().env("PATH", path).current_dir(folder.path());
        bash.env("HOME", folder.path()).env("GIT_CONFIG_NOSYSTEM", "1");
        ran(bash, b"")
    };
    let clone = bash(
        "git init --quiet && git add docs && git -c user.name=ada -c user.email=ada@example.com commit --quiet -m before \
         && git update-ref refs/remotes/origin/main HEAD",
    );
    assert_eq!(clone.code, Some(0), "{}", clone.err);
    let steps = door("I run neither and want it in CI");
    assert!((2..=8).contains(&steps.len()), "{steps:?}");
    let mut refusals = 0;
    for (command, shows) in &steps {
        let done = bash(command);
        let refused = shows.contains("1 refused");
        assert_eq!(done.code, Some(i32::from(refused)), "{command}\n{}\n{}", done.out, done.err);
        for line in shows.lines() {
            assert!(done.out.contains(line), "{command}\n{line}\n{}", done.out);
        }
        refusals += usize::from(refused);
    }
    assert_eq!(refusals, 1, "{steps:?}");
    // The comparison with the branch that the work started from finds an edit of the file.
    let (since, _) = steps.iter().find(|(command, _)| command.contains("--since")).unwrap();
    folder.write("docs/start/before.yaml", std::fs::read(repository().join("docs/start/after.yaml")).unwrap());
    let done = bash(since);
    assert_eq!(done.code, Some(1), "{}\n{}", done.out, done.err);
}
