//! The recipes of `docs/ci.md`, the action and the pre-commit hook, run as scripts as they are written.
//!
//! Stand-ins take the place of `helm`, `kustomize` and `argocd`: scripts that print what these print of the files here. With
//! `PLACEMENT_GUARD_PROGRAMS=FOLDER`, as in `make cluster-test`, the real `helm` and `kustomize` in that folder run. `argocd`
//! needs a server and a cluster, and is always a stand-in.

#![allow(clippy::restriction)]

mod program;

use std::path::{Path, PathBuf};
use std::process::Command;

use program::{Folder, Ran, ran, repository};
use serde_json::Value;

fn page() -> String {
    std::fs::read_to_string(repository().join("docs/ci.md")).unwrap()
}

/// The first block of code below a heading.
fn recipe(heading: &str) -> String {
    let page = page();
    let (_, below) = page.split_once(&format!("\n## {heading}\n")).unwrap_or_else(|| panic!("no recipe {heading}"));
    let (_, block) = below.split_once("```").unwrap();
    let (_, block) = block.split_once('\n').unwrap();
    block.split_once("```").unwrap().0.to_owned()
}

fn yaml(text: &str) -> Value {
    serde_saphyr::from_str(text).unwrap()
}

fn volume(zones: &str) -> String {
    format!(
        "apiVersion: v1\nkind: PersistentVolume\nmetadata: {{name: data}}\nspec:\n  nodeAffinity:\n    required:\n      \
         nodeSelectorTerms:\n        - matchExpressions:\n            - key: topology.kubernetes.io/zone\n              \
         operator: In\n              values: [{zones}]\n"
    )
}

/// A repository with one commit, the volume in it, and an edit of the volume that is not committed.
fn narrowed() -> Folder {
    let folder = Folder::new();
    folder.write("settings.yaml", "volumeNodeAffinity: {}\n").write("manifests/volume.yaml", volume("a, b"));
    folder.write("overlays/production/kustomization.yaml", "resources: [volume.yaml]\n");
    folder.write("overlays/production/volume.yaml", volume("a, b"));
    folder.write("chart/Chart.yaml", "apiVersion: v2\nname: shop\nversion: 0.1.0\n");
    folder.write("chart/templates/volume.yaml", volume("{{ .Values.zones }}")).write("values.yaml", "zones: a, b\n");
    folder.write("live.txt", volume("a, b")).write("git.txt", volume("a"));
    let link = |program: &Path| {
        let link = folder.path().join("bin").join(program.file_name().unwrap());
        std::os::unix::fs::symlink(program, link).unwrap();
    };
    folder.write("bin/argocd", "#!/bin/sh\ncat \"$5.txt\"\n");
    link(Path::new(env!("CARGO_BIN_EXE_placement-guard")));
    match std::env::var_os("PLACEMENT_GUARD_PROGRAMS").map(PathBuf::from) {
        Some(programs) => ["helm", "kustomize"].into_iter().for_each(|name| link(&programs.join(name))),
        None => {
            folder.write("bin/kustomize", "#!/bin/sh\ncat \"$2/volume.yaml\"\n");
            folder.write(
                "bin/helm",
                "#!/bin/sh\nzones=$(sed -n 's/^zones: //p' \"$5\")\necho '---'; echo '# Source: shop/templates/volume.yaml'\n\
                 sed \"s/{{ .Values.zones }}/$zones/\" \"$3/templates/volume.yaml\"\n",
            );
        }
    }
    let commit = "chmod +x bin/*; git init --quiet; git add manifests overlays chart values.yaml settings.yaml; \
        git commit --quiet -m before";
    assert_eq!(bash(&folder, commit, &[]).code, Some(0));
    folder.write("manifests/volume.yaml", volume("a")).write("overlays/production/volume.yaml", volume("a"));
    folder.write("values.yaml", "zones: a\n");
    folder
}

fn bash(folder: &Folder, script: &str, environment: &[(&str, &str)]) -> Ran {
    let path = format!("{}:{}", folder.path().join("bin").display(), std::env::var("PATH").unwrap());
    let mut bash = Command::new("bash");
    bash.args(["-eo", "pipefail", "-c", script]).env_clear().env("PATH", path).current_dir(folder.path());
    bash.env("HOME", folder.path()).envs(environment.iter().copied());
    for (name, value) in [("NAME", "ada"), ("EMAIL", "ada@example.com")] {
        bash.env(format!("GIT_AUTHOR_{name}"), value).env(format!("GIT_COMMITTER_{name}"), value);
    }
    ran(bash, b"")
}

/// The recipe fails for the edit, and for nothing else.
fn fails_for_the_edit(folder: &Folder, script: &str, environment: &[(&str, &str)]) -> Ran {
    let done = bash(folder, script, environment);
    assert_eq!(done.code, Some(1), "{script}\n{}\n{}", done.out, done.err);
    done
}

#[test]
fn there_are_six_recipes() {
    let page = page();
    assert_eq!(page.lines().filter(|line| line.starts_with("## ")).count(), 6);
}

#[test]
fn github() {
    let folder = narrowed();
    let workflow = yaml(&recipe("GitHub"));
    let step = &workflow["jobs"]["placement-guard"]["steps"][1];
    assert_eq!(step["with"]["since"], "${{ github.event.pull_request.base.sha }}");
    let action = yaml(&std::fs::read_to_string(repository().join("action.yml")).unwrap());
    let input = |name: &str| match (&step["with"][name], &action["inputs"][name]) {
        _ if name == "since" => String::from("HEAD"),
        (Value::String(given), _) => given.clone(),
        (_, declared) => declared["default"].as_str().unwrap_or_else(|| panic!("no input {name}")).to_owned(),
    };
    let mut out = String::new();
    let steps = action["runs"]["steps"].as_array().unwrap();
    for (index, step) in steps.iter().enumerate() {
        let values = step["env"].as_object().into_iter().flatten();
        let environment: Vec<(String, String)> = values
            .map(|(name, value)| {
                let named = value.as_str().unwrap().strip_prefix("${{ inputs.").unwrap().strip_suffix(" }}").unwrap();
                (name.clone(), input(named))
            })
            .collect();
        let environment: Vec<(&str, &str)> =
            environment.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let done = bash(&folder, step["run"].as_str().unwrap(), &environment);
        assert_eq!(done.code, Some(i32::from(index + 1 == steps.len())), "{}\n{}", done.out, done.err);
        out = done.out;
    }
    assert!(out.starts_with("::error file=manifests/volume.yaml,line=6,"), "{out}");
}

#[test]
fn gitlab() {
    let folder = narrowed();
    let job = &yaml(&recipe("GitLab"))["placement-guard"];
    let script: Vec<&str> = job["script"].as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect();
    // The runner has a remote; here it is the repository itself.
    let script = format!("git remote add origin .\n{}", script.join("\n"));
    let head = bash(&folder, "git rev-parse HEAD", &[]).out;
    fails_for_the_edit(&folder, &script, &[("CI_MERGE_REQUEST_DIFF_BASE_SHA", head.trim())]);
    let report = job["artifacts"]["reports"]["junit"].as_str().unwrap();
    let report = std::fs::read_to_string(folder.path().join(report)).unwrap();
    assert!(report.contains("<failure message=\"node affinity narrowed: "), "{report}");
}

#[test]
fn pre_commit() {
    let folder = narrowed();
    let config = yaml(&recipe("pre-commit"));
    let used = &config["repos"][0]["hooks"][0];
    let hooks = yaml(&std::fs::read_to_string(repository().join(".pre-commit-hooks.yaml")).unwrap());
    let hook = hooks.as_array().unwrap().iter().find(|hook| hook["id"] == used["id"]).unwrap();
    let arguments: Vec<&str> = used["args"].as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect();
    // As `pre-commit` calls it, with the changed files behind the arguments.
    let script = format!("{} {} manifests/volume.yaml", hook["entry"].as_str().unwrap(), arguments.join(" "));
    let done = fails_for_the_edit(&folder, &script, &[]);
    assert!(done.out.contains("PersistentVolume data UPDATE: narrowed"), "{}", done.out);
    assert_eq!(bash(&folder, "git add manifests; git commit --quiet -m after", &[]).code, Some(0));
    assert_eq!(bash(&folder, &script, &[]).code, Some(0));
}

#[test]
fn kustomize_helm_and_argo_cd() {
    for (heading, shown) in
        [("kustomize", "standard input"), ("Helm", "shop/templates/volume.yaml"), ("Argo CD", "git.yaml")]
    {
        let folder = narrowed();
        let done = fails_for_the_edit(&folder, &recipe(heading), &[("BASE", "HEAD")]);
        assert!(done.out.contains("PersistentVolume data UPDATE: narrowed"), "{heading}: {}", done.out);
        assert!(done.out.contains(shown), "{heading}: {}", done.out);
    }
}

#[test]
fn the_baseline_of_the_page_makes_what_is_known_pass() {
    let folder = narrowed();
    let claim = "kind: PersistentVolume\napiVersion: v1\nmetadata: {name: local}\nspec: {local: {path: /data}}\n";
    folder.write("settings.yaml", "localVolumes: {pinned: true}\n").write("manifests/local.yaml", claim);
    let page = page();
    let (_, block) = page.split_once("```console\n").unwrap();
    let done = bash(&folder, block.split_once("```").unwrap().0, &[]);
    assert_eq!(done.code, Some(0), "{}\n{}", done.out, done.err);
    let next = claim.replace("local}", "other}");
    folder.write("manifests/other.yaml", next);
    let with = "placement-guard audit --settings settings.yaml --baseline placement-guard-baseline.json manifests";
    let done = fails_for_the_edit(&folder, with, &[]);
    assert!(
        done.out.contains("PersistentVolume other") && !done.out.contains("PersistentVolume local"),
        "{}",
        done.out
    );
}
