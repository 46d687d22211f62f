//! `check --since`: what changed in a repository, object by object, wherever it is written.

#![allow(clippy::restriction)]

mod program;

use std::process::Command;

use program::{Folder, Ran, ran};

/// A repository with one commit of these files.
fn repository(files: &[(&str, &str)]) -> Folder {
    let folder = Folder::new();
    folder.write("settings.yaml", "tolerations: {allowed: []}\n");
    git(&folder, &["init", "--quiet", "--initial-branch=main"]);
    for (name, text) in files {
        folder.write(name, text);
    }
    commit(&folder);
    folder
}

fn git(folder: &Folder, arguments: &[&str]) {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=a", "-c", "user.email=a@example.com"]).args(arguments).current_dir(folder.path());
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
    assert!(command.status().unwrap().success(), "git {arguments:?}");
}

fn commit(folder: &Folder) {
    git(folder, &["add", "--all"]);
    git(folder, &["commit", "--quiet", "--allow-empty", "--message", "a"]);
}

fn since(folder: &Folder, arguments: &str) -> Ran {
    let mut command = folder.command();
    command.env("PATH", std::env::var_os("PATH").unwrap()).env("GIT_CONFIG_GLOBAL", "/dev/null");
    command.args(["check", "--settings", "settings.yaml", "--output", "json"]).args(arguments.split_whitespace());
    ran(command, b"")
}

/// What was asked, as `OPERATION KIND NAMESPACE/NAME FILE`, in order.
fn asked(ran: &Ran) -> Vec<String> {
    let report: serde_json::Value = serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{ran:?}"));
    let text = |value: &serde_json::Value| value.as_str().unwrap_or("-").to_owned();
    let of = |object: &serde_json::Value| {
        let [operation, kind, namespace, name, file] =
            ["operation", "kind", "namespace", "name", "file"].map(|key| text(&object[key]));
        format!("{operation} {kind} {namespace}/{name} {file}")
    };
    let mut asked: Vec<String> = report["objects"].as_array().unwrap().iter().map(of).collect();
    asked.sort();
    asked
}

fn pod(name: &str, more: &str) -> String {
    format!("apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, namespace: team{more}}}\n")
}

fn together(pods: &[&str]) -> String {
    pods.iter().map(|name| format!("---\n{}", pod(name, ""))).collect()
}

#[test]
fn what_moved_is_not_deleted_and_created() {
    let folder = repository(&[("all.yaml", &together(&["a", "b", "c"])), ("old.yaml", &pod("d", ""))]);
    assert_eq!(asked(&since(&folder, "--since HEAD")), Vec::<String>::new());
    // A split, a rename, and a document that moves and changes.
    folder
        .write("all.yaml", together(&["b"]))
        .write("deep/a.yaml", pod("a", ""))
        .write("c.yml", pod("c", ", labels: {x: y}"));
    std::fs::rename(folder.path().join("old.yaml"), folder.path().join("new.yaml")).unwrap();
    let expected = [
        "UPDATE Pod team/a deep/a.yaml",
        "UPDATE Pod team/b all.yaml",
        "UPDATE Pod team/c c.yml",
        "UPDATE Pod team/d new.yaml",
    ];
    assert_eq!(asked(&since(&folder, "--since HEAD")), expected);
    commit(&folder);
    assert_eq!(asked(&since(&folder, "--since HEAD")), Vec::<String>::new());
    assert_eq!(asked(&since(&folder, "--since HEAD~1 --to HEAD")), expected);
    let back = asked(&since(&folder, "--since HEAD --to HEAD~1"));
    assert!(back.iter().all(|asked| asked.starts_with("UPDATE")) && back.len() == 4, "{back:?}");
}

#[test]
fn only_what_is_gone_everywhere_is_deleted() {
    let folder = repository(&[("a.yaml", &together(&["a", "b"])), ("overlay/a.yaml", &pod("a", ""))]);
    folder.write("a.yaml", together(&["b"]));
    std::fs::remove_file(folder.path().join("overlay/a.yaml")).unwrap();
    let ran = since(&folder, "--since HEAD");
    assert_eq!(
        asked(&ran),
        ["DELETE Pod team/a a.yaml", "DELETE Pod team/a overlay/a.yaml", "UPDATE Pod team/b a.yaml"]
    );
    assert_eq!(ran.code, Some(0));
}

#[test]
fn one_object_under_many_spellings() {
    let deployment = |api: &str, namespace: &str| {
        format!(
            "apiVersion: {api}\nkind: Deployment\nmetadata: {{name: web{namespace}}}\nspec: {{template: {{spec: {{}}}}}}\n"
        )
    };
    let folder = repository(&[("a.yaml", &deployment("extensions/v1beta1", ""))]);
    for (api, namespace) in
        [("apps/v1", ", namespace: default"), ("apps/v1beta2", ""), ("apps/v1", ", namespace: default")]
    {
        folder.write("a.yaml", deployment(api, namespace));
        let asked = asked(&since(&folder, "--since HEAD"));
        assert!(asked.len() == 1 && asked[0].starts_with("UPDATE Deployment"), "{asked:?}");
    }
    folder.write("a.yaml", deployment("apps/v1", ", namespace: other"));
    let asked = asked(&since(&folder, "--since HEAD"));
    // No rule is about what preceded `apps/v1`, and a cluster serves it no more.
    assert_eq!(asked, ["CREATE Deployment other/web a.yaml"]);
}

/// An edit that refuses is refused as an edit: a toleration that was there before is not new.
#[test]
fn what_was_there_before_stays() {
    let tolerant = |name: &str| pod(name, "") + "spec: {tolerations: [{operator: Exists}]}\n";
    let folder = repository(&[("a.yaml", &tolerant("a"))]);
    folder.write("moved/a.yaml", tolerant("a").replace("team}", "team, labels: {x: y}}"));
    std::fs::remove_file(folder.path().join("a.yaml")).unwrap();
    assert_eq!(since(&folder, "--since HEAD").code, Some(0));
    folder.write("new.yaml", tolerant("b"));
    assert_eq!(since(&folder, "--since HEAD").code, Some(1));
    assert_eq!(since(&folder, "--since HEAD moved").code, Some(0));
    assert_eq!(since(&folder, "--since HEAD --exclude new.yaml").code, Some(0));
    folder.write(".placementguardignore", "new.yaml\n");
    assert_eq!(since(&folder, "--since HEAD").code, Some(0));
    folder.write(".placementguardignore", "").write(".gitignore", "new.yaml\n");
    assert_eq!(since(&folder, "--since HEAD").code, Some(0));
}

#[test]
fn what_git_cannot_do_is_said() {
    let folder = repository(&[]);
    since(&folder, "--since nowhere").complained(
        "`nowhere`: is not a revision that git knows here; name a commit, a branch or a tag; in CI, fetch it first (`fetch-depth: 0`)",
    );
    let mut command = folder.command();
    command.env("PATH", "/nowhere").args(["check", "--settings", "settings.yaml", "--since", "HEAD"]);
    ran(command, b"").complained(
        "git: cannot be run: No such file or directory (os error 2); install it; `--since` and `--to` ask it for older revisions",
    );
    let elsewhere = Folder::new();
    elsewhere.write("settings.yaml", "tolerations: {}\n");
    let ran = since(&elsewhere, "--since HEAD");
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("not a git repository"), "{}", ran.err);
}
