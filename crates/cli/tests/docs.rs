//! The commands that `docs/command-line.md` shows, run as written.

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
