//! A ConstraintTemplate as a file: the Rego of `policies/gatekeeper/rego/`, and the schema of the settings.

use serde_json::json;

use crate::{Rule, openapi, read, schema};

/// The whole file.
///
/// # Errors
/// When a source cannot be read, or the settings have no such section.
pub fn text(rule: &Rule) -> Result<String, String> {
    let schema = openapi::of_section(&schema::value(), rule.section)?;
    let schema = serde_saphyr::to_string(&schema).map_err(|error| error.to_string())?;
    let mut libraries = vec![read("rego/placement_guard.rego")?];
    if rule.reads_pods {
        libraries.push(read("rego/pods.rego")?);
    }
    let rego = read(&format!("rego/{}.rego", rule.file))?;
    let mut text = format!(
        "# Made of `rego/` and of the schema of the settings: `make bless` writes it.\n\
         apiVersion: templates.gatekeeper.sh/v1\n\
         kind: ConstraintTemplate\n\
         metadata:\n\
         \x20 name: {}\n\
         \x20 annotations:\n\
         \x20   description: {}\n\
         spec:\n\
         \x20 crd:\n\
         \x20   spec:\n\
         \x20     names:\n\
         \x20       kind: {}\n\
         \x20     validation:\n\
         \x20       legacySchema: false\n\
         \x20       openAPIV3Schema:\n{}\
         \x20 targets:\n\
         \x20   - target: admission.k8s.gatekeeper.sh\n\
         \x20     code:\n\
         \x20       - engine: Rego\n\
         \x20         source:\n\
         \x20           version: v1\n\
         \x20           rego: |\n{}\
         \x20           libs:\n",
        rule.kind.to_lowercase(),
        json!(rule.description),
        rule.kind,
        indented(&schema, 10),
        indented(&rego, 14),
    );
    for library in libraries {
        text.push_str("              - |\n");
        text.push_str(&indented(&library, 16));
    }
    Ok(text)
}

/// The lines of a block, so many spaces further in.
fn indented(block: &str, spaces: usize) -> String {
    let space = " ".repeat(spaces);
    let line = |line: &str| if line.is_empty() { String::from("\n") } else { format!("{space}{line}\n") };
    block.lines().map(line).collect()
}
