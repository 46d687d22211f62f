//! Every file in which a rule must appear. `CONTRIBUTING.md` lists the same files under "Add a rule".

use std::collections::BTreeSet;
use std::path::Path;

use placement_guard::rules::settings::section_names;
use serde_json::Value;

use crate::{BINDING, Kind, Rule, schema};

/// A file or a folder, and what it lacks of a rule.
pub struct RuleFile {
    /// The path in the repository. `RULE` is the name of the rule's files, `FOLDER` the same with underscores.
    pub path: &'static str,
    lacks: fn(&Rule, &Path, &str) -> Result<Vec<String>, String>,
}

/// Every file, in the order in which someone writes them.
pub const RULE_FILES: [RuleFile; 19] = [
    RuleFile { path: "src/rules/FOLDER/mod.rs", lacks: |_, root, path| read(root, path).map(|_| Vec::new()) },
    RuleFile { path: "src/rules/settings.rs", lacks: line_in_sections },
    RuleFile { path: "src/rules/finding.rs", lacks: codes },
    RuleFile { path: "crates/templates/src/schema.rs", lacks: section_of_schema },
    RuleFile {
        path: "policies/settings.schema.json",
        lacks: |rule, root, path| key(&yaml(root, path)?["properties"], rule),
    },
    RuleFile { path: "questions-ui.yml", lacks: questions },
    RuleFile { path: "metadata.yml", lacks: metadata },
    RuleFile { path: "policies/kubewarden/RULE.yaml", lacks: policy },
    RuleFile { path: "policies/kubewarden/all-rules.yaml", lacks: policy_of_all_rules },
    RuleFile {
        path: "policies/kubewarden/README.md",
        lacks: |rule, root, path| text(root, path, &format!("`{}.yaml`", rule.file)),
    },
    RuleFile { path: "policies/webhook/settings.yaml", lacks: settings_of_webhook },
    RuleFile {
        path: "policies/gatekeeper/rego/RULE.rego",
        lacks: |rule, root, path| text(root, path, &format!("\"{}\"", rule.section)),
    },
    RuleFile {
        path: "policies/gatekeeper/templates/RULE.yaml",
        lacks: |rule, root, path| text(root, path, &format!("kind: {}", rule.kind)),
    },
    RuleFile { path: "policies/gatekeeper/constraints/RULE.yaml", lacks: constraint },
    RuleFile { path: "policies/cases/RULE", lacks: cases },
    RuleFile {
        path: "crates/cli/src/audit/settings.yaml",
        lacks: |rule, root, path| if rule.needs_cluster { Ok(Vec::new()) } else { key(&yaml(root, path)?, rule) },
    },
    RuleFile { path: "docs/examples/settings.yaml", lacks: |rule, root, path| key(&yaml(root, path)?, rule) },
    RuleFile {
        path: "docs/settings.md",
        lacks: |rule, root, path| text(root, path, &format!("## `{}`", rule.section)),
    },
    RuleFile { path: "README.md", lacks: |rule, root, path| text(root, path, &format!("`{}`", rule.section)) },
];

impl RuleFile {
    /// The path for a rule.
    pub fn of(&self, rule: &Rule) -> String {
        self.path.replace("RULE", rule.file).replace("FOLDER", &rule.file.replace('-', "_"))
    }
}

/// What is missing of a rule: one sentence for each file that lacks something.
pub fn missing(rule: &Rule, root: &Path) -> Vec<String> {
    let complaints = RULE_FILES.iter().filter_map(|file| {
        let path = file.of(rule);
        let lacking = (file.lacks)(rule, root, &path).unwrap_or_else(|error| vec![error]);
        let lacking = lacking.join(", ");
        (!lacking.is_empty()).then(|| format!("rule `{}`: {path}: {lacking}", rule.section))
    });
    complaints.collect()
}

type Lacking = Result<Vec<String>, String>;

fn read(root: &Path, path: &str) -> Result<String, String> {
    std::fs::read_to_string(root.join(path)).map_err(|_| String::from("no such file"))
}

fn yaml(root: &Path, path: &str) -> Result<Value, String> {
    serde_saphyr::from_str(&read(root, path)?).map_err(|error| error.to_string())
}

/// A complaint unless something holds.
fn unless(holds: bool, complaint: impl Into<String>) -> Lacking {
    Ok(if holds { Vec::new() } else { vec![complaint.into()] })
}

fn text(root: &Path, path: &str, wanted: &str) -> Lacking {
    unless(read(root, path)?.contains(wanted), format!("{wanted} does not appear"))
}

fn key(sections: &Value, rule: &Rule) -> Lacking {
    unless(sections.get(rule.section).is_some(), "no such section")
}

fn line_in_sections(rule: &Rule, _: &Path, _: &str) -> Lacking {
    unless(section_names().any(|name| name == rule.section), "no line in `SECTIONS`")
}

fn codes(rule: &Rule, _: &Path, _: &str) -> Lacking {
    unless(rule.codes().next().is_some(), format!("no code below `[Some(\"{}\")]`", rule.section))
}

fn section_of_schema(rule: &Rule, _: &Path, _: &str) -> Lacking {
    key(&schema::value()["properties"], rule)
}

fn questions(rule: &Rule, root: &Path, path: &str) -> Lacking {
    let form = yaml(root, path)?;
    let below = format!("{}.", rule.section);
    let mut variables = form["questions"].as_array().into_iter().flatten().filter_map(|each| each["variable"].as_str());
    unless(variables.any(|variable| variable.starts_with(&below)), "no section")
}

/// The resources of a list of rules, as the API server names them, with their groups.
fn resources(rules: &Value) -> BTreeSet<(String, String)> {
    let strings = |value: &Value| -> Vec<String> {
        value.as_array().into_iter().flatten().filter_map(|each| each.as_str().map(str::to_owned)).collect()
    };
    let of_rule = |rule: &Value| -> Vec<(String, String)> {
        let groups = strings(&rule["apiGroups"]);
        let resources = strings(&rule["resources"]).into_iter().filter(|resource| !resource.contains('/'));
        resources.flat_map(|resource| groups.clone().into_iter().map(move |group| (group, resource.clone()))).collect()
    };
    rules.as_array().into_iter().flatten().flat_map(of_rule).collect()
}

/// The resource of a kind.
fn resource((group, kind): Kind) -> (String, String) {
    let lower = kind.to_lowercase();
    let plural = if lower.ends_with('s') { lower + "es" } else { lower + "s" };
    (group.to_owned(), plural)
}

fn without(rule: &Rule, found: &BTreeSet<(String, String)>) -> Vec<String> {
    // The audit scanner gives up on a policy with a resource that cannot be listed, so a policy names bindings itself.
    let lacking = rule.kinds().filter(|kind| *kind != BINDING && !found.contains(&resource(*kind)));
    lacking.map(|(_, kind)| format!("no rule for {kind}")).collect()
}

fn metadata(rule: &Rule, root: &Path, path: &str) -> Lacking {
    let metadata = yaml(root, path)?;
    let mut lacking = without(rule, &resources(&metadata["rules"]));
    let shown = metadata["annotations"]["io.artifacthub.resources"].as_str().unwrap_or_default();
    let shown: BTreeSet<&str> = shown.split(", ").collect();
    let hidden = rule.kinds().filter(|(_, kind)| !shown.contains(kind));
    lacking.extend(hidden.map(|(_, kind)| format!("no {kind} in `io.artifacthub.resources`")));
    Ok(lacking)
}

fn policy(rule: &Rule, root: &Path, path: &str) -> Lacking {
    let spec = yaml(root, path)?["spec"].clone();
    let mut lacking = key(&spec["settings"], rule)?;
    let expected: BTreeSet<(String, String)> = rule.kinds().map(resource).collect();
    if resources(&spec["rules"]) != expected {
        lacking.push(String::from("the rules are not those of the kinds that the rule judges"));
    }
    Ok(lacking)
}

fn policy_of_all_rules(rule: &Rule, root: &Path, path: &str) -> Lacking {
    if rule.needs_cluster {
        return Ok(Vec::new());
    }
    let spec = yaml(root, path)?["spec"].clone();
    let mut lacking = key(&spec["settings"], rule)?;
    lacking.extend(without(rule, &resources(&spec["rules"])));
    Ok(lacking)
}

fn settings_of_webhook(rule: &Rule, root: &Path, path: &str) -> Lacking {
    if rule.needs_cluster {
        return Ok(Vec::new());
    }
    let map = yaml(root, path)?;
    let settings = map["data"]["settings.yaml"].as_str().ok_or("no ConfigMap with `settings.yaml`")?;
    let settings: Value = serde_saphyr::from_str(settings).map_err(|error| error.to_string())?;
    key(&settings, rule)
}

fn constraint(rule: &Rule, root: &Path, path: &str) -> Lacking {
    let constraint = yaml(root, path)?;
    let mut lacking = unless(constraint["kind"] == rule.kind, format!("`kind` must be `{}`", rule.kind))?;
    let mut matched = BTreeSet::new();
    for group in constraint["spec"]["match"]["kinds"].as_array().into_iter().flatten() {
        for kind in group["kinds"].as_array().into_iter().flatten() {
            matched.insert((group["apiGroups"][0].as_str().unwrap_or_default(), kind.as_str().unwrap_or_default()));
        }
    }
    if matched != rule.kinds().collect::<BTreeSet<Kind>>() {
        lacking.push(String::from("`match` is not that of the kinds that the rule judges"));
    }
    Ok(lacking)
}

/// Each finding needs a case that has it, and there must be a case without any finding.
fn cases(rule: &Rule, root: &Path, path: &str) -> Lacking {
    let entries = std::fs::read_dir(root.join(path)).map_err(|_| String::from("no such folder"))?;
    // A rule that reads the cluster has cases with a cluster too.
    let live = std::fs::read_dir(root.join("policies/cases/live").join(rule.file));
    let mut found = BTreeSet::new();
    for entry in entries.chain(live.into_iter().flatten()) {
        let file = entry.map_err(|error| error.to_string())?.path();
        let case = std::fs::read_to_string(&file).map_err(|error| error.to_string())?;
        let case: Value = serde_saphyr::from_str(&case).map_err(|error| format!("{}: {error}", file.display()))?;
        let Some(findings) = case["expect"]["findings"].as_array() else { continue };
        found.extend(findings.iter().filter_map(|code| code.as_str().map(str::to_owned)));
        if findings.is_empty() {
            found.insert(String::new());
        }
    }
    let mut lacking = unless(found.contains(""), "no case without findings")?;
    let absent = rule.codes().map(|code| code.name()).filter(|name| !found.contains(*name));
    lacking.extend(absent.map(|name| format!("no case with `{name}`")));
    Ok(lacking)
}
