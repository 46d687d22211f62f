//! The committed templates, the schema and the webhook are what their sources make. `BLESS=1` writes new ones.

use placement_guard::objects::Objects;
use placement_guard::rules::finding::{Code, Severity};
use placement_guard::verdict;
use serde_json::Value;
use templates::findings::{self, FINDINGS};
use templates::{RULES, file, findings_page, template, webhook};

#[test]
fn the_schema_is_what_its_types_make() {
    testkit::golden::assert_golden(file("../settings.schema.json"), &templates::schema::text().unwrap());
}

#[test]
fn the_page_of_the_settings_is_what_the_tables_make() {
    testkit::golden::assert_golden(file("../../docs/settings.md"), &templates::settings_page::text());
}

#[test]
fn every_finding_is_explained_once_in_report_order() {
    let explained: Vec<Code> = FINDINGS.iter().filter_map(|found| found.code).collect();
    assert_eq!(explained, Code::ALL);
    for found in findings::all() {
        for sentence in [found.means, found.mend] {
            assert!(sentence.ends_with('.') && !sentence.contains('|'), "{}: {sentence}", found.name);
        }
    }
}

#[test]
fn the_page_of_the_findings_is_what_the_table_makes() {
    testkit::golden::assert_golden(file("../../docs/findings.md"), &findings_page::text());
}

/// An example of these would be long, or would need the requester of a request, whom a manifest does not name.
const WITHOUT_EXAMPLE: [Code; 3] = [Code::NodeAffinityUndecided, Code::LocalForeignNode, Code::RequestTooLarge];

/// An example is judged as it is written, in its cluster where it has one, and has the finding that it is an example of.
#[test]
fn every_example_of_a_finding_has_it() {
    let mut judged = 0;
    for found in FINDINGS {
        let Some(example) = found.example else {
            assert!(WITHOUT_EXAMPLE.iter().any(|code| found.code == Some(*code)), "{} has no example", found.name);
            continue;
        };
        let case: Value = serde_saphyr::from_str(example).unwrap();
        let (group, version) = case["after"]["apiVersion"].as_str().unwrap().split_once('/').unwrap_or(("", "v1"));
        let kind = serde_json::json!({"group": group, "version": version, "kind": case["after"]["kind"]});
        let operation = if case["before"].is_null() { "CREATE" } else { "UPDATE" };
        let request = serde_json::json!({
            "kind": kind,
            "operation": operation,
            "name": case["after"]["metadata"]["name"],
            "namespace": case["after"]["metadata"]["namespace"],
            "userInfo": {"username": "ada"},
            "object": case["after"],
            "oldObject": case["before"],
        });
        let settings = case["settings"].to_string();
        let verdict = match &case["cluster"] {
            Value::Null => verdict::check(&settings, &request.to_string()),
            objects => {
                let objects = Objects::read(&objects.to_string()).unwrap();
                verdict::check_in(&settings, &request.to_string(), &objects)
            }
        };
        assert!(verdict.findings.iter().any(|code| code == found.name), "{}: {verdict:?}", found.name);
        assert_eq!(verdict.allowed, found.severity == Severity::Warns, "{}: {verdict:?}", found.name);
        judged += 1;
    }
    assert!(judged > 40, "only {judged} examples were judged");
}

#[test]
fn the_examples_of_the_settings_can_be_used() {
    let examples = std::fs::read_to_string(file("../../docs/examples/settings.yaml")).unwrap();
    let settings: serde_json::Value = serde_saphyr::from_str(&examples).unwrap();
    assert_eq!(verdict::validate_settings(&settings.to_string()), Ok(()));
    let sections: Vec<&str> = settings.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(sections.len(), RULES.len(), "{sections:?}");
}

#[test]
fn the_templates_are_what_their_sources_make() {
    for rule in RULES {
        let text = template::text(&rule).unwrap_or_else(|error| panic!("{}: {error}", rule.file));
        testkit::golden::assert_golden(file(&format!("templates/{}.yaml", rule.file)), &text);
    }
}

#[test]
fn the_webhook_is_asked_about_what_the_policy_of_all_rules_is_asked_about() {
    let text = webhook::text().unwrap_or_else(|error| panic!("{error}"));
    testkit::golden::assert_golden(file("../webhook/webhook.yaml"), &text);
}
