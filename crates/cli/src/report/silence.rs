//! Findings that an object silences itself, in its annotation `placement-guard.dev/ignore`. The rules do not know the
//! annotation: in a cluster, anyone who may write a pod could silence what is found in it.

use placement_guard::kubernetes::field::short;
use serde_json::Value;
use templates::findings;

/// The annotation.
const ANNOTATION: &str = "placement-guard.dev/ignore";

/// Where it is in an object.
pub const FIELD: &str = "metadata.annotations[placement-guard.dev/ignore]";

/// The codes that an object silences, each with the reason that it gives.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Silences {
    by_code: Vec<(String, String)>,
    /// Lines that silence nothing, in words.
    pub not_understood: Vec<String>,
}

impl Silences {
    /// Reads the annotation of an object, as JSON. It holds `CODE: reason`, one on each line.
    pub fn of(object: &str) -> Self {
        let mut silences = Silences::default();
        // Nearly no object has the annotation, and parsing takes time.
        if !object.contains(ANNOTATION) {
            return silences;
        }
        let parsed: Value = serde_json::from_str(object).unwrap_or_default();
        let annotation = parsed.pointer("/metadata/annotations").and_then(|all| all.get(ANNOTATION));
        let text = annotation.and_then(Value::as_str).unwrap_or_default();
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let (code, reason) = line.split_once(':').unwrap_or((line, ""));
            let (code, reason) = (code.trim(), reason.trim());
            let shown = short(code, 63);
            if findings::named(code).is_none() {
                silences.not_understood.push(format!("`{ANNOTATION}` silences nothing: `{shown}` is not a known code"));
            } else if reason.is_empty() {
                silences.not_understood.push(format!("`{ANNOTATION}` silences nothing: `{shown}` has no reason"));
            } else {
                silences.by_code.push((code.to_owned(), reason.to_owned()));
            }
        }
        silences
    }

    /// Why findings of this code are silenced.
    pub fn reason(&self, code: &str) -> Option<&str> {
        self.by_code.iter().find(|(silenced, _)| silenced == code).map(|(_, reason)| reason.as_str())
    }
}

#[cfg(test)]
#[allow(clippy::restriction)]
mod tests {
    use super::Silences;

    fn silences(annotation: &str) -> Silences {
        let object = serde_json::json!({"metadata": {"annotations": {"placement-guard.dev/ignore": annotation}}});
        Silences::of(&object.to_string())
    }

    #[test]
    fn each_line_silences_one_code_for_a_reason() {
        let silenced = silences("dead-term: kept for: the next zone\n\n local-not-pinned : replicated \n");
        assert_eq!(silenced.reason("dead-term"), Some("kept for: the next zone"));
        assert_eq!(silenced.reason("local-not-pinned"), Some("replicated"));
        assert_eq!((silenced.reason("redundant-term"), silenced.not_understood.len()), (None, 0));
    }

    #[test]
    fn without_a_reason_or_a_known_code_nothing_is_silenced() {
        for wrong in ["dead-term", "dead-term:", "dead-term: ", "dead-trem: typo", "*: everything"] {
            let silenced = silences(wrong);
            assert_eq!((silenced.reason("dead-term"), silenced.not_understood.len()), (None, 1), "{wrong}");
        }
        assert_eq!(Silences::of("{}"), Silences::default());
    }
}
