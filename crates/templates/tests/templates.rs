//! The committed templates and the schema are what `rego/` and the schema of the settings make. `BLESS=1` writes them anew.

use templates::{RULES, file, template};

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
