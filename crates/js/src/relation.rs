//! Two states of a PersistentVolume, judged as the UPDATE from one to the other by the rule `volumeNodeAffinity`.

use placement_guard::rules::decision::{Annotation, Decision};
use placement_guard::verdict;

use crate::answers::{Relation, RelationName};
use crate::document;

/// Where the documents are in the request and its settings, and what the caller calls them.
const PLACES: [(&str, &str); 3] = [
    ("unreadable: oldObject", "unreadable: before"),
    ("unreadable: object", "unreadable: after"),
    ("settings are not valid: volumeNodeAffinity.topology", "unreadable: topology"),
];

pub fn between(before: &str, after: &str, topology: &str) -> Relation {
    let readable = document::read("before", before, document::is_volume)
        .and_then(|()| document::read("after", after, document::is_volume))
        .and_then(|()| document::read("topology", topology, |topology| topology.check_object()));
    match readable {
        // Each text is one whole JSON document by now, so each stays the one member that it is made here.
        Ok(()) => of_verdict(verdict::check(
            &format!(
                r#"{{"volumeNodeAffinity":{{"allow":["widened","narrowed","shifted","undecided"],"topology":{topology}}}}}"#
            ),
            &format!(
                r#"{{"kind":{{"group":"","version":"v1","kind":"PersistentVolume"}},"operation":"UPDATE","oldObject":{before},"object":{after}}}"#
            ),
        )),
        Err(unreadable) => of_verdict(Decision::unreadable(&unreadable).into()),
    }
}

fn of_verdict(verdict: verdict::Verdict) -> Relation {
    let annotation = |annotation: Annotation| verdict.annotations.get(annotation.key());
    let node = |of: Annotation| annotation(of).and_then(|labels| serde_json::from_str(labels).ok());
    Relation {
        relation: annotation(Annotation::Relation).and_then(|name| RelationName::of(name)),
        loses_node: node(Annotation::LosesNode),
        gains_node: node(Annotation::GainsNode),
        facts: annotation(Annotation::Facts).cloned(),
        code: verdict.code,
        message: verdict.message.map(as_called),
        warnings: verdict.warnings,
    }
}

fn as_called(message: String) -> String {
    for (place, called) in PLACES {
        if let Some(rest) = message.strip_prefix(place) {
            return format!("{called}{rest}");
        }
    }
    message
}
