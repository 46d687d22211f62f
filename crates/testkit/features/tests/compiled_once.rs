//! The demo, the tests and the cluster tests share what cargo compiles: none of their commands compiles a package another
//! time, with other features or in another way. cargo says what it would compile, and nothing is compiled to find out.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Where commands of cargo are written.
const FILES: [&str; 4] = ["Makefile", ".ci/build-wasm", ".ci/cluster-test", ".ci/reproducible"];

#[test]
fn no_command_compiles_a_package_another_time() {
    let mut compiled = Compiled::default();
    let mut asked = 0;
    for command in commands() {
        if is_for_development(&command) {
            compiled.add(&command.join(" "), &unit_graph(&command));
            asked += 1;
        }
    }
    assert!(asked >= 5, "only {asked} commands of cargo were found");
    assert!(compiled.0.len() > 300, "only {} packages were found", compiled.0.len());
    let twice = compiled.twice();
    assert!(
        twice.is_empty(),
        "compiled more than once; make the features the same in crates/testkit/features/Cargo.toml:\n{}",
        twice.join("\n")
    );
}

#[test]
fn commands_for_development_select_the_whole_workspace() {
    for command in commands().iter().filter(|command| is_for_development(command)) {
        let whole = command.iter().any(|word| word == "--workspace");
        assert!(
            whole,
            "`cargo {}` unites the features of a part of the workspace: say `--workspace`",
            command.join(" ")
        );
    }
}

#[test]
fn a_package_with_two_sets_of_features_is_found() {
    let unit = |features: &[&str], opt_level: &str| {
        serde_json::json!({
            "pkg_id": "registry+https://example.com#a@1.0.0", "target": {"name": "a", "kind": ["lib"]},
            "profile": {"name": "dev", "opt_level": opt_level}, "platform": null, "mode": "build", "features": features,
        })
    };
    let graph = |unit: Value| serde_json::json!({ "units": [unit] });
    let mut compiled = Compiled::default();
    compiled.add("build", &graph(unit(&["std"], "0")));
    compiled.add("test", &graph(unit(&["std"], "0")));
    assert_eq!(compiled.twice(), [""; 0]);
    compiled.add("test", &graph(unit(&[], "0")));
    compiled.add("run", &graph(unit(&["std"], "1")));
    assert_eq!(
        compiled.twice(),
        [
            "a@1.0.0, `a`: optimised 0 with [] by `test`; optimised 0 with [std] by `build`, `test`; optimised 1 with [std] by `run`"
        ]
    );
}

/// How each target of each package is compiled, and by which commands.
#[derive(Default)]
struct Compiled(BTreeMap<(String, String), BTreeMap<String, BTreeSet<String>>>);

impl Compiled {
    fn add(&mut self, command: &str, graph: &Value) {
        for unit in graph["units"].as_array().expect("a graph has units") {
            let text = |value: &Value| value.as_str().expect("a string").to_owned();
            // What is compiled for a test has `test` as its mode, and the running of a build script a mode of its own.
            if unit["mode"] != "build" || !unit["platform"].is_null() || unit["target"]["kind"][0] == "custom-build" {
                continue;
            }
            let package = text(&unit["pkg_id"]);
            let package = package.rsplit_once(['#', '/']).map_or(package.as_str(), |(_, name)| name);
            let features: Vec<&str> =
                unit["features"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
            let how = format!("optimised {} with [{}]", text(&unit["profile"]["opt_level"]), features.join(", "));
            let target = (package.to_owned(), text(&unit["target"]["name"]));
            self.0.entry(target).or_default().entry(how).or_default().insert(format!("`{command}`"));
        }
    }

    /// A line for each target that is compiled in two ways.
    fn twice(&self) -> Vec<String> {
        let twice = self.0.iter().filter(|(_, ways)| ways.len() > 1);
        let line = |((package, target), ways): (&(String, String), &BTreeMap<String, BTreeSet<String>>)| {
            let by = |commands: &BTreeSet<String>| commands.iter().cloned().collect::<Vec<_>>().join(", ");
            let ways: Vec<String> = ways.iter().map(|(how, commands)| format!("{how} by {}", by(commands))).collect();
            format!("{package}, `{target}`: {}", ways.join("; "))
        };
        twice.map(line).collect()
    }
}

/// The words of every command of cargo that builds something, after `cargo` and before what the program itself is told.
fn commands() -> Vec<Vec<String>> {
    let files = FILES
        .map(|file| std::fs::read_to_string(repository().join(file)).unwrap_or_else(|error| panic!("{file}: {error}")));
    let lines: Vec<String> =
        files.iter().flat_map(|text| text.replace("\\\n", " ").lines().map(String::from).collect::<Vec<_>>()).collect();
    let commands = lines.iter().filter(|line| !line.trim_start().starts_with('#')).filter_map(|line| {
        let (_, command) = line.split_once("cargo ")?;
        let words = command
            .split_whitespace()
            .take_while(|word| !["--", "&&", ">", "|"].contains(word) && !word.starts_with('>'));
        let words = words.filter(|word| !word.starts_with("$(") && !["--quiet", "--locked"].contains(word));
        Some(words.map(String::from).collect::<Vec<_>>())
    });
    commands
        .filter(|words| words.first().is_some_and(|verb| ["build", "run", "test"].contains(&verb.as_str())))
        .collect()
}

/// Whether a command builds in the profile in which tests are built.
fn is_for_development(command: &[String]) -> bool {
    !command.iter().any(|word| word == "--release" || word == "--profile")
}

fn unit_graph(command: &[String]) -> Value {
    let output = Command::new(env!("CARGO"))
        .args(command)
        .args(["--locked", "--offline", "-Zunstable-options", "--unit-graph"])
        .current_dir(repository())
        // The graph is not a stable part of cargo. Nothing that is built sees this.
        .env("RUSTC_BOOTSTRAP", "1")
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "cargo {}: {}", command.join(" "), String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("the graph is JSON")
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}
