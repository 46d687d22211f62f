//! The committed templates, the schema and the webhook are what their sources make. `BLESS=1` writes them anew.

use templates::{RULES, file, template, webhook};

#[test]
fn the_schema_is_what_its_types_make() {
    testkit::golden::assert_golden(file("../settings.schema.json"), &templates::schema::text().unwrap());
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
