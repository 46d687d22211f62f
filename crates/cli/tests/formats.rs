//! The outputs for other programs: SARIF by its schema, JUnit by what its readers take, annotations; and what they say.

#![allow(clippy::restriction)]

mod program;

use program::{Folder, repository};
use roxmltree::{Document, Node};
use serde_json::Value;

const STEP: &str = "check --settings settings.yaml --before before.yaml --after after.yaml --nodes nodes.yaml --output";

/// The outputs of a check, and of audits with and without findings, silences and standard input.
fn outputs(format: &str) -> Vec<String> {
    let (step, cluster, odd) = (Folder::copy_of("step"), Folder::copy_of("cluster"), Folder::new());
    let pod = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: 'a<b>&\"c'\n  annotations: {placement-guard.dev/ignore: \
        'toleration-admits-everything: it monitors'}\nspec: {tolerations: [{operator: Exists}], volumes: []}\n";
    odd.write("a b#ü.yaml", pod);
    vec![
        step.run(&format!("{STEP} {format}")).out,
        cluster.run(&format!("audit --output {format} .")).out,
        odd.run(&format!("audit --output {format} .")).out,
        cluster.pipe(pod, &format!("audit --output {format}")).out,
        cluster.pipe("", &format!("audit --output {format}")).out,
    ]
}

#[test]
fn sarif_follows_its_schema() {
    let schema = repository().join("crates/cli/tests/schemas/sarif-2.1.0.json");
    let mut schema: Value = serde_json::from_str(&std::fs::read_to_string(schema).unwrap()).unwrap();
    // One pattern of the published schema has a bracket too many, and is not a regular expression.
    let languages = ["/definitions/run/properties/language", "/definitions/toolComponent/properties/language"];
    for language in languages {
        schema.pointer_mut(language).unwrap().as_object_mut().unwrap().remove("pattern");
    }
    let schema = jsonschema::options().should_validate_formats(true).build(&schema).unwrap();
    for output in outputs("sarif") {
        let log: Value = serde_json::from_str(&output).unwrap();
        let errors: Vec<String> =
            schema.iter_errors(&log).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert!(errors.is_empty(), "{}", errors.join("\n"));
        let rules = log["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap();
        for result in log["runs"][0]["results"].as_array().unwrap() {
            let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
            assert_eq!(rules[index]["id"], result["ruleId"]);
        }
    }
    // It can find something.
    assert!(!schema.is_valid(&serde_json::json!({"version": "2.1.0", "runs": [{"results": [{}]}]})));
}

#[test]
fn sarif_names_the_field_and_what_is_silenced() {
    let log: Value = serde_json::from_str(&outputs("sarif")[2]).unwrap();
    let result = &log["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "toleration-admits-everything");
    let location = &result["locations"][0]["physicalLocation"];
    assert_eq!(location["artifactLocation"]["uri"], "a%20b%23%C3%BC.yaml");
    assert_eq!((&location["region"]["startLine"], &location["region"]["startColumn"]), (&6.into(), &8.into()));
    assert_eq!(result["suppressions"][0]["justification"], "it monitors");
    let first: Value = serde_json::from_str(&outputs("sarif")[0]).unwrap();
    let rules = first["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap();
    let page = std::fs::read_to_string(repository().join("docs/findings.md")).unwrap();
    for rule in rules {
        let (_, anchor) = rule["helpUri"].as_str().unwrap().split_once("docs/findings.md#").unwrap();
        assert!(page.contains(&format!("\n## {anchor}\n")), "{anchor} has no heading");
    }
}

/// An element, what it may hold, the attributes that it may have, and those that it must have.
type Element = (&'static str, &'static [&'static str], &'static [&'static str], &'static [&'static str]);

/// What the schema of Jenkins (`junit-10.xsd`) lets each element hold, and which attributes it may and must have.
const JUNIT: [Element; 6] = [
    ("testsuites", &["testsuite"], &["name", "tests", "failures"], &[]),
    ("testsuite", &["testcase"], &["name", "tests", "failures"], &["name"]),
    ("testcase", &["skipped", "error", "failure", "system-out", "system-err"], &["name", "classname"], &["name"]),
    ("failure", &[], &["message", "type"], &[]),
    ("system-out", &[], &[], &[]),
    ("skipped", &[], &[], &[]),
];

fn check_junit(node: Node<'_, '_>) -> Result<(), String> {
    let name = node.tag_name().name();
    let (_, children, attributes, required) =
        JUNIT.iter().find(|(known, ..)| *known == name).ok_or(format!("`{name}` is not an element"))?;
    if let Some(wrong) = node.attributes().find(|one| !attributes.contains(&one.name())) {
        return Err(format!("`{name}` has `{}`", wrong.name()));
    }
    if let Some(missing) = required.iter().find(|one| node.attribute(**one).is_none()) {
        return Err(format!("`{name}` lacks `{missing}`"));
    }
    let below = || node.children().filter(Node::is_element);
    if let Some(wrong) = below().find(|below| !children.contains(&below.tag_name().name())) {
        return Err(format!("`{name}` holds `{}`", wrong.tag_name().name()));
    }
    if !children.is_empty() && node.children().any(|text| text.is_text() && !text.text().unwrap().trim().is_empty()) {
        return Err(format!("`{name}` holds text"));
    }
    below().try_for_each(check_junit)
}

#[test]
fn junit_holds_what_its_readers_take_and_counts_right() {
    for output in outputs("junit") {
        let document = Document::parse(&output).unwrap();
        let root = document.root_element();
        assert_eq!(check_junit(root), Ok(()), "{output}");
        for suite in [root].into_iter().chain(root.children().filter(Node::is_element)) {
            let cases: Vec<Node<'_, '_>> = suite.descendants().filter(|node| node.has_tag_name("testcase")).collect();
            let fails = |case: &&Node<'_, '_>| case.children().any(|below| below.has_tag_name("failure"));
            assert_eq!(suite.attribute("tests"), Some(cases.len().to_string().as_str()));
            assert_eq!(suite.attribute("failures"), Some(cases.iter().filter(fails).count().to_string().as_str()));
        }
    }
    let odd = &outputs("junit")[2];
    let document = Document::parse(odd).unwrap();
    let case = document.descendants().find(|node| node.has_tag_name("testcase")).unwrap();
    assert_eq!(case.attribute("name"), Some("Pod a<b>&\"c"));
    assert!(case.descendants().any(|node| node.text().is_some_and(|text| text.contains("silenced (it monitors)"))));
    let wrong = Document::parse("<testsuite name='a'><testcase/></testsuite>").unwrap();
    assert_eq!(check_junit(wrong.root_element()), Err(String::from("`testcase` lacks `name`")));
}

#[test]
fn annotations_name_the_field_in_check_and_audit() {
    let outputs = outputs("github");
    assert!(outputs[0].starts_with("::error file=after.yaml,line="), "{}", outputs[0]);
    assert!(outputs[1].contains("::error file=./volumes.yaml,line="), "{}", outputs[1]);
    // What is silenced is not shown.
    assert_eq!(outputs[2], "");
}
