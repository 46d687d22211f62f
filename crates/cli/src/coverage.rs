//! Which kinds the settings judge: what no section is about is not accepted, it is not judged.

use std::collections::BTreeSet;

use serde_json::{Map, Value};
use templates::{Kind, RULES};

/// The kinds of all sections in force.
#[derive(Debug, Clone, Default)]
pub struct Coverage(BTreeSet<Kind>);

impl Coverage {
    /// Reads which sections settings have, which are JSON and were checked.
    pub fn of(settings: &str) -> Self {
        let sections: Map<String, Value> = serde_json::from_str(settings).unwrap_or_default();
        let in_force = RULES.iter().filter(|rule| sections.get(rule.section).is_some_and(|section| !section.is_null()));
        Coverage(in_force.flat_map(templates::Rule::kinds).collect())
    }

    /// Whether a rule in force judges objects of this kind.
    pub fn includes(&self, group: &str, kind: &str) -> bool {
        self.0.iter().any(|known| *known == (group, kind))
    }
}

#[cfg(test)]
#[allow(clippy::restriction)]
mod tests {
    use super::Coverage;

    #[test]
    fn a_kind_is_judged_where_its_section_is_in_force() {
        let coverage = Coverage::of(r#"{"nodeTaints": {}, "accessModes": null}"#);
        let judged = [("", "Node"), ("", "PersistentVolume"), ("apps", "Deployment"), ("example.com", "Node")];
        assert_eq!(judged.map(|(group, kind)| coverage.includes(group, kind)), [true, false, false, false]);
        let coverage = Coverage::of(r#"{"tolerations": {}}"#);
        assert!(coverage.includes("apps", "Deployment") && !coverage.includes("", "Node"));
    }
}
