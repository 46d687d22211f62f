//! The committed templates are what `rego/` and the schema of the settings make. `BLESS=1` writes them anew.

use gatekeeper_tests::{RULES, file, template};

#[test]
fn the_templates_are_what_their_sources_make() {
    for rule in RULES {
        let text = template::text(&rule).unwrap_or_else(|error| panic!("{}: {error}", rule.file));
        corpus::golden::assert_golden(file(&format!("templates/{}.yaml", rule.file)), &text);
    }
}
