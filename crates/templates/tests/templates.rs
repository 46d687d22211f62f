//! The committed templates, the schema and the webhook are what their sources make. `BLESS=1` writes new ones.

use placement_guard::rules::finding::Code;
use templates::findings::FINDINGS;
use templates::{RULES, file, template, webhook};

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
    let explained: Vec<Code> = FINDINGS.iter().map(|found| found.code).collect();
    assert_eq!(explained, Code::ALL);
    for found in FINDINGS {
        for sentence in [found.means, found.mend] {
            assert!(sentence.ends_with('.') && !sentence.contains('|'), "{}: {sentence}", found.code.name());
        }
    }
}

#[test]
fn the_examples_of_the_settings_can_be_used() {
    let examples = std::fs::read_to_string(file("../../docs/examples/settings.yaml")).unwrap();
    let settings: serde_json::Value = serde_saphyr::from_str(&examples).unwrap();
    assert_eq!(placement_guard::verdict::validate_settings(&settings.to_string()), Ok(()));
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
