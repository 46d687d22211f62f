//! GitHub's workflows: every action is pinned by a commit, and the steps of a release run here, with stand-ins for the programs
//! that build, sign and upload.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

use crate::stand_in::root;

fn workflows() -> BTreeMap<String, Value> {
    let folder = root().join(".github/workflows");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let read = |file: std::path::PathBuf| {
        let name = file.file_name().unwrap().to_str().unwrap().to_owned();
        (name, serde_saphyr::from_str(&std::fs::read_to_string(file).unwrap()).unwrap())
    };
    files.map(read).collect()
}

fn steps(workflow: &Value) -> Vec<&Value> {
    let jobs = workflow["jobs"].as_object().unwrap();
    jobs.values().flat_map(|job| job["steps"].as_array().unwrap()).collect()
}

#[test]
fn every_action_is_pinned_by_a_commit() {
    let workflows = workflows();
    assert!(workflows.len() >= 2, "{workflows:?}");
    for (name, workflow) in &workflows {
        for action in steps(workflow).iter().filter_map(|step| step["uses"].as_str()) {
            let commit = action.split_once('@').unwrap().1;
            assert!(commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit()), "{name}: {action}");
        }
    }
}

#[test]
fn a_release_is_what_make_release_builds_and_nothing_else() {
    let workflow = &workflows()["release.yml"];
    let said: Vec<String> = steps(workflow)
        .iter()
        .map(|step| match (step["uses"].as_str(), step["run"].as_str()) {
            (Some(action), None) => action.split_once('@').unwrap().0.to_owned(),
            (None, Some(script)) => script.to_owned(),
            _ => panic!("{step}"),
        })
        .collect();
    assert_eq!(said, ["actions/checkout", "make release", "sigstore/cosign-installer", ".ci/publish"]);
    assert_eq!(workflow["permissions"], serde_json::json!({}), "each job says what it may do");
}

/// A clone with the scripts, in which the programs that they call write down how they were called.
struct Clone(TempDir);

impl Clone {
    fn new(stand_ins: &[&str]) -> Self {
        let clone = Clone(tempfile::tempdir().unwrap());
        for file in ["Cargo.toml", "CHANGELOG.md", ".ci/release", ".ci/publish"] {
            let to = clone.path().join(file);
            std::fs::create_dir_all(to.parent().unwrap()).unwrap();
            std::fs::copy(root().join(file), to).unwrap();
        }
        std::fs::write(clone.path().join(".gitignore"), "/target/\n/bin/\n").unwrap();
        clone.git("init --quiet");
        clone.commit();
        stand_ins.iter().for_each(|path| clone.stand_in(path));
        clone
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// A program that writes a line to `target/calls`; one that pushes prints a reference.
    fn stand_in(&self, path: &str) {
        let file = self.path().join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::create_dir_all(self.path().join("target")).unwrap();
        let script = "#!/bin/sh\necho \"$(basename \"$0\") $* ${SOURCE_DATE_EPOCH:+at $SOURCE_DATE_EPOCH}\" >>target/calls\n\
                      for word; do case $word in *provenance.json) cp \"$word\" target/provenance;; esac; done\n\
                      if [ \"$1\" = push ]; then echo \"${3%:*}@sha256:0\"; fi\n";
        std::fs::write(&file, script).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn git(&self, arguments: &str) {
        let git = Command::new("git").args(arguments.split(' ')).current_dir(self.path()).output().unwrap();
        assert!(git.status.success(), "git {arguments}: {}", String::from_utf8_lossy(&git.stderr));
    }

    fn commit(&self) {
        self.git("add --all");
        self.git("-c user.name=test -c user.email=test@example.com commit --quiet --date @1795337651 --message all");
    }

    fn run(&self, script: &str, environment: &[(&str, &str)]) -> Output {
        let path = format!("{}:{}", self.path().join("bin").display(), std::env::var("PATH").unwrap());
        let mut command = Command::new(self.path().join(script));
        command.env("PATH", path).env_remove("CARGO_TARGET_DIR").env_remove("UNTAGGED");
        command.envs(environment.iter().copied()).output().unwrap()
    }

    /// How programs were called since this was asked last.
    fn calls(&self) -> Vec<String> {
        let file = self.path().join("target/calls");
        let calls = std::fs::read_to_string(&file).unwrap_or_default();
        let _ = std::fs::remove_file(file);
        calls.lines().map(|line| line.trim_end().to_owned()).collect()
    }
}

const TAG: &str = concat!("v", env!("CARGO_PKG_VERSION"));

#[test]
fn a_release_is_built_from_the_tag_of_its_version() {
    let clone = Clone::new(&["bin/make", "target/debug/release"]);
    let refused = clone.run(".ci/release", &[]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!((refused.status.code(), clone.calls()), (Some(2), Vec::new()));
    assert!(said.starts_with(&format!("release: check out the tag {TAG} without changes; UNTAGGED=1 ")), "{said}");

    clone.git(&format!("tag {TAG}"));
    assert_eq!(clone.run(".ci/release", &[]).status.code(), Some(0));
    let calls = clone.calls();
    assert!(calls[0].starts_with("make --no-print-directory image npm at "), "{calls:?}");
    assert!(calls[1].starts_with("release files ") && calls.len() == 2, "{calls:?}");

    std::fs::write(clone.path().join("CHANGELOG.md"), "changed\n").unwrap();
    assert_eq!(clone.run(".ci/release", &[]).status.code(), Some(2));
    let tried = clone.run(".ci/release", &[("UNTAGGED", "1")]);
    assert_eq!((tried.status.code(), clone.calls().len()), (Some(0), 2));
    assert!(String::from_utf8_lossy(&tried.stderr).contains("not a release"));
}

#[test]
fn what_is_published_is_signed_and_attested() {
    let clone = Clone::new(&["bin/cosign", "bin/gh", "target/linux/amd64/placement-guard"]);
    std::fs::create_dir_all(clone.path().join("target/release-files")).unwrap();
    for file in ["SHA256SUMS", "policy.wasm"] {
        std::fs::write(clone.path().join("target/release-files").join(file), "x").unwrap();
    }
    let commit = "0123456789abcdef0123456789abcdef01234567";
    let uri = format!("git+https://github.com/Placement-Guard/placement-guard@refs/tags/{TAG}");
    let environment = [
        ("GITHUB_REF_NAME", TAG),
        ("GITHUB_SHA", commit),
        ("GITHUB_REPOSITORY", "Placement-Guard/placement-guard"),
        ("GITHUB_REPOSITORY_OWNER", "Placement-Guard"),
        ("GITHUB_SERVER_URL", "https://github.com"),
        ("GITHUB_RUN_ID", "7"),
        ("GITHUB_ACTOR", "someone"),
        ("GH_TOKEN", "secret"),
    ];
    let ran = clone.run(".ci/publish", &environment);
    assert_eq!(ran.status.code(), Some(0), "{}", String::from_utf8_lossy(&ran.stderr));
    let calls: Vec<String> = clone
        .calls()
        .iter()
        .map(|call| {
            // The folder of the predicate has another name each time.
            call.split(' ')
                .map(|word| if word.starts_with("/tmp") { "FILE" } else { word })
                .collect::<Vec<_>>()
                .join(" ")
        })
        .collect();
    let (module, image) = ("ghcr.io/placement-guard/placement-guard", "ghcr.io/placement-guard/provider");
    let files = "target/release-files";
    let mut expected = vec![String::from("cosign login ghcr.io --username someone --password-stdin")];
    for (what, repository, bill) in [
        (format!("{files}/policy.wasm"), module, "placement-guard.wasm"),
        (String::from("target/image"), image, "placement-guard"),
    ] {
        expected.extend([
            format!("placement-guard push {what} {repository}:{TAG}"),
            format!("cosign sign --yes {repository}@sha256:0"),
            format!("cosign attest --yes --type slsaprovenance1 --predicate FILE {repository}@sha256:0"),
            format!("cosign attest --yes --type cyclonedx --predicate {files}/{bill}.cdx.json {repository}@sha256:0"),
        ]);
    }
    expected.extend([
        format!("cosign sign-blob --yes --bundle {files}/SHA256SUMS.sigstore.json {files}/SHA256SUMS"),
        format!(
            "cosign attest-blob --yes --type slsaprovenance1 --predicate FILE --bundle \
             {files}/SHA256SUMS.provenance.sigstore.json {files}/SHA256SUMS"
        ),
        format!("gh release create {TAG} --verify-tag --title {TAG} --notes-file FILE {files}/SHA256SUMS {files}/policy.wasm"),
    ]);
    assert_eq!(calls, expected);
    let predicate = std::fs::read_to_string(clone.path().join("target/provenance")).unwrap();
    let predicate: Value = serde_json::from_str(&predicate).unwrap();
    let of = &predicate["buildDefinition"]["resolvedDependencies"][0];
    assert_eq!((&of["uri"], &of["digest"]["gitCommit"]), (&uri.into(), &commit.into()));
    let mut other = environment;
    other[0].1 = "v0.0.9";
    let refused = clone.run(".ci/publish", &other);
    assert_eq!((refused.status.code(), clone.calls()), (Some(2), Vec::new()));
}
