//! The committed templates are what `rego/` and the schema of the settings make. `BLESS=1` writes them anew.

use gatekeeper_tests::{RULES, file, read, template};

#[test]
fn the_templates_are_what_their_sources_make() {
    for rule in RULES {
        let text = template::text(&rule).unwrap_or_else(|error| panic!("{}: {error}", rule.file));
        let path = format!("templates/{}.yaml", rule.file);
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(file(&path), &text).expect("a template can be written");
        }
        assert!(read(&path).as_deref() == Ok(&text), "policies/gatekeeper/{path} is stale: `make bless` writes it");
    }
}
