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

/// The same objects in several folders, as a release for each version has them, and the folders get new names.
#[test]
fn a_renamed_folder_takes_its_objects_along() {
    let tolerant = |more: &str| format!("{}spec: {{tolerations: [{{operator: Exists}}]}}\n{more}", pod("a", ""));
    let plain = |more: &str| format!("{}spec: {{nodeName: \"\", tolerations: []}}\n{more}", pod("a", ""));
    let folder = repository(&[("v1-test/a.yaml", &plain("")), ("v1/a.yaml", &tolerant(""))]);
    std::fs::remove_dir_all(folder.path().join("v1")).unwrap();
    std::fs::remove_dir_all(folder.path().join("v1-test")).unwrap();
    // In the order of paths `v2` comes before `v2-test`, in that of git after it.
    folder.write("v2-test/a.yaml", plain("status: {phase: a}\n")).write("v2/a.yaml", tolerant("status: {phase: a}\n"));
    let ran = since(&folder, "--since HEAD");
    assert_eq!(asked(&ran), ["UPDATE Pod team/a v2-test/a.yaml", "UPDATE Pod team/a v2/a.yaml"]);
    assert_eq!(ran.code, Some(0), "{}", ran.out);
    commit(&folder);
    assert_eq!(since(&folder, "--since HEAD~1 --to HEAD").code, Some(0));
    folder.write("v2-test/a.yaml", tolerant("status: {phase: a}\n"));
    assert_eq!(since(&folder, "--since HEAD~1").code, Some(1), "this one is new");
}

#[test]
fn what_was_broken_before_is_said_where_it_matters() {
    let folder = repository(&[("a.yaml", "a: [1\n"), ("b.yaml", "b: [1\n"), ("gone.yaml", "c: [1\n")]);
    folder.write("a.yaml", pod("a", "")).write("b.yaml", "b: [2\n");
    std::fs::remove_file(folder.path().join("gone.yaml")).unwrap();
    let ran = since(&folder, "--since HEAD");
    assert_eq!(asked(&ran), ["CREATE Pod team/a a.yaml"]);
    let broken = "is not usable YAML: did not find expected ',' or ']' while parsing a flow sequence";
    assert_eq!(
        ran.err,
        format!(
            "warning: a.yaml:2:1: {broken}, in `HEAD`; what it holds is judged as if it were new\n\
             warning: b.yaml:2:1: {broken}; it is not judged\n"
        )
    );
    let report: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(report["summary"]["notJudged"]["count"], serde_json::json!({"notYaml": 1}));
    std::fs::remove_file(folder.path().join("b.yaml")).unwrap();
    assert_eq!(since(&folder, "--since HEAD --strict").code, Some(0), "what is mended or removed is no obstacle");
}

#[test]
fn what_is_in_one_file_is_said_together() {
    let folder = repository(&[("a.yaml", &together(&["a", "b"])), ("z.yaml", &pod("c", ""))]);
    folder.write("a.yaml", pod("b", ", labels: {x: y}")).write("z.yaml", pod("c", ", labels: {x: y}"));
    let report: serde_json::Value = serde_json::from_str(&since(&folder, "--since HEAD").out).unwrap();
    let files: Vec<&str> =
        report["objects"].as_array().unwrap().iter().map(|object| object["file"].as_str().unwrap()).collect();
    assert_eq!(files, ["a.yaml", "a.yaml", "z.yaml"]);
}

#[test]
fn a_path_that_matches_nothing_is_a_mistake() {
    let folder = repository(&[("a.yaml", &pod("a", "")), ("deep/b.yaml", &pod("b", ""))]);
    std::fs::remove_file(folder.path().join("a.yaml")).unwrap();
    folder.write("new.yaml", pod("c", ""));
    for known in ["a.yaml", "deep", "new.yaml", "*.yaml", "."] {
        assert_eq!(since(&folder, &format!("--since HEAD {known}")).code, Some(0), "{known}");
    }
    since(&folder, "--since HEAD a.yaml nowhere.yaml").complained(
        "nowhere.yaml: matches no file that git knows, neither now nor in the revision; name a file or a folder that is not \
         ignored",
    );
    assert_eq!(since(&folder, "--since HEAD --to HEAD new.yaml").code, Some(2), "it is in no revision");
}

/// What becomes of the objects of a repository in some random edits, and what must be asked about it.
struct History {
    state: u64,
    /// Where each object is, and its label.
    objects: std::collections::BTreeMap<String, (String, u64)>,
}

impl History {
    fn random(&mut self, below: u64) -> u64 {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) % below
    }

    fn write(&self, folder: &Folder) {
        for file in std::fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().path()) {
            if file.is_dir() && !file.ends_with(".git") {
                std::fs::remove_dir_all(file).unwrap();
            }
        }
        let mut files = std::collections::BTreeMap::<&str, String>::new();
        for (name, (file, label)) in &self.objects {
            let text = format!("---\n{}", pod(name, &format!(", labels: {{x: l{label}}}")));
            files.entry(file).or_default().push_str(&text);
        }
        for (file, text) in files {
            folder.write(file, text);
        }
    }

    fn edit(&mut self, number: usize) {
        let names: Vec<String> = self.objects.keys().cloned().collect();
        let name = names[usize::try_from(self.random(names.len() as u64)).unwrap()].clone();
        let other = format!("d{}/f{}.yaml", self.random(3), self.random(4));
        let from = self.objects[&name].0.clone();
        match self.random(6) {
            // A document moves.
            0 => self.objects.get_mut(&name).unwrap().0 = other,
            // A file gets a new name, into which other documents may be.
            1 => self
                .objects
                .values_mut()
                .filter(|(file, _)| *file == from)
                .for_each(|(file, _)| file.clone_from(&other)),
            // A file is split.
            2 => {
                for (at, (file, _)) in self.objects.values_mut().filter(|(file, _)| *file == from).enumerate() {
                    *file = format!("d{}/split{number}-{at}.yaml", at % 3);
                }
            }
            3 => self.objects.get_mut(&name).unwrap().1 += 1,
            4 => drop(self.objects.remove(&name)),
            _ => drop(self.objects.insert(format!("new{number}"), (other, 0))),
        }
    }
}

#[test]
fn generated_histories() {
    let mut kinds = std::collections::BTreeSet::new();
    for seed in 0..12 {
        let mut history = History { state: seed, objects: std::collections::BTreeMap::new() };
        for number in 0..12 {
            history.objects.insert(format!("p{number}"), (format!("d{}/f{}.yaml", number % 3, number % 4), 0));
        }
        let folder = repository(&[]);
        history.write(&folder);
        commit(&folder);
        let before = history.objects.clone();
        for number in 0..8 {
            history.edit(number);
        }
        history.write(&folder);
        let expected = |asked: &[String]| {
            let of = |name: &String, operation: &str, file: &str| format!("{operation} Pod team/{name} {file}");
            let mut needed = Vec::new();
            for (name, (file, label)) in &history.objects {
                match before.get(name) {
                    Some((_, old)) if old == label => {}
                    Some(_) => needed.push(of(name, "UPDATE", file)),
                    None => needed.push(of(name, "CREATE", file)),
                }
            }
            let gone = before.iter().filter(|(name, _)| !history.objects.contains_key(*name));
            needed.extend(gone.map(|(name, (file, _))| of(name, "DELETE", file)));
            // An object that did not change is asked about as an edit without effect, where its file changed.
            for one in asked.iter().filter(|one| !needed.contains(one)) {
                let name = one.split(['/', ' ']).nth(3).unwrap();
                let (file, label) = &history.objects[name];
                assert_eq!((one, &before[name].1), (&of(&name.to_owned(), "UPDATE", file), label), "seed {seed}");
            }
            needed
        };
        let now = asked(&since(&folder, "--since HEAD"));
        for one in expected(&now) {
            assert!(now.contains(&one), "seed {seed}: {one} is not in {now:?}");
            kinds.insert(one.split(' ').next().unwrap().to_owned());
        }
        commit(&folder);
        assert_eq!(asked(&since(&folder, "--since HEAD~1 --to HEAD")), now, "seed {seed}");
        assert_eq!(asked(&since(&folder, "--since HEAD")), Vec::<String>::new());
    }
    assert_eq!(kinds.len(), 3, "{kinds:?}");
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
