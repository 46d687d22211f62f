//! The table of rules is complete, and each rule appears in every file that needs it.

use std::collections::BTreeSet;

use placement_guard::kubernetes::pod::has_pod;
use placement_guard::rules::finding::Code;
use placement_guard::rules::settings::section_names;
use templates::rule_files::{RULE_FILES, missing};
use templates::{PODS, RULES, Rule, repository};

#[test]
fn the_table_has_the_rules_of_the_library_in_their_order() {
    let sections: Vec<&str> = RULES.iter().map(|rule| rule.section).collect();
    assert_eq!(sections, section_names().collect::<Vec<_>>());
}

#[test]
fn every_name_of_a_rule_is_made_of_its_section() {
    for rule in RULES {
        let mut file = String::new();
        for letter in rule.section.chars() {
            if letter.is_uppercase() {
                file.push('-');
            }
            file.extend(letter.to_lowercase());
        }
        assert_eq!(rule.file, file);
        let (first, rest) = rule.section.split_at(1);
        assert_eq!(rule.kind, format!("PlacementGuard{}{rest}", first.to_uppercase()));
    }
}

#[test]
fn the_kinds_with_pods_are_those_of_the_library() {
    for (group, kind) in PODS {
        assert!(has_pod(group, kind), "{kind}");
    }
    for rule in RULES {
        for (group, kind) in rule.own_kinds {
            // A rule may judge Pods and not what makes them.
            assert!(*kind == "Pod" || !has_pod(group, kind), "{kind} of `{}`", rule.section);
        }
    }
}

#[test]
fn every_code_belongs_to_a_rule_or_to_all_of_them() {
    let sections: BTreeSet<&str> = section_names().collect();
    for code in Code::ALL {
        match code.section() {
            Some(section) => assert!(sections.contains(section), "{}: no section `{section}`", code.name()),
            None => assert!(
                matches!(code, Code::ClusterUnreadable | Code::RequestTooLarge),
                "{} belongs to no section",
                code.name()
            ),
        }
    }
}

#[test]
fn every_rule_appears_in_every_file() {
    let missing: Vec<String> = RULES.iter().flat_map(|rule| missing(rule, &repository())).collect();
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

/// A rule that is only in the table, and judges a kind that no other rule judges: every file must say that it lacks it.
#[test]
fn every_file_misses_a_rule_that_is_new() {
    let dummy = Rule {
        section: "dummyRule",
        file: "dummy-rule",
        kind: "PlacementGuardDummyRule",
        own_kinds: &[("example.com", "Dummy")],
        reads_pods: false,
        needs_cluster: false,
        description: "A rule that nobody wrote.",
    };
    let missing = missing(&dummy, &repository());
    let expected = [
        "src/rules/dummy_rule/mod.rs: no such file",
        "src/rules/settings.rs: no line in `SECTIONS`",
        "src/rules/finding.rs: no code below `[Some(\"dummyRule\")]`",
        "crates/templates/src/schema.rs: no such section",
        "policies/settings.schema.json: no such section",
        "questions-ui.yml: no section",
        "metadata.yml: no rule for Dummy, no Dummy in `io.artifacthub.resources`",
        "policies/kubewarden/dummy-rule.yaml: no such file",
        "policies/kubewarden/all-rules.yaml: no such section, no rule for Dummy",
        "policies/kubewarden/README.md: `dummy-rule.yaml` does not appear",
        "policies/webhook/settings.yaml: no such section",
        "policies/gatekeeper/rego/dummy-rule.rego: no such file",
        "policies/gatekeeper/templates/dummy-rule.yaml: no such file",
        "policies/gatekeeper/constraints/dummy-rule.yaml: no such file",
        "policies/cases/dummy-rule: no such folder",
        "crates/cli/src/audit/settings.yaml: no such section",
        "docs/examples/settings.yaml: no such section",
        "docs/settings.md: ## `dummyRule` does not appear",
        "README.md: `dummyRule` does not appear",
    ];
    assert_eq!(missing, expected.map(|lacking| format!("rule `dummyRule`: {lacking}")));
    assert_eq!(missing.len(), RULE_FILES.len());
}

/// Anyone who follows CONTRIBUTING.md visits every file.
#[test]
fn contributing_lists_every_file() {
    let text = std::fs::read_to_string(repository().join("CONTRIBUTING.md")).unwrap();
    let (_, section) = text.split_once("## Add a rule\n").expect("a section");
    let section = section.split("\n## ").next().unwrap_or_default();
    let absent: Vec<&str> = RULE_FILES.iter().map(|file| file.path).filter(|path| !section.contains(path)).collect();
    assert!(absent.is_empty(), "\"Add a rule\" does not name {absent:?}");
}
