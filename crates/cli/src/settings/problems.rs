//! Everything that is wrong with settings at once. The library stops at the first thing that it does not understand. So that
//! thing is taken out, or quoted where only the quotes are missing, and the rest is read again.

use placement_guard::kubernetes::field::Unreadable;
use placement_guard::verdict;
use serde_json::{Map, Value};

use crate::nearest::nearest;

/// More of them are not read before some are corrected.
const MOST: usize = 100;

/// What is wrong with settings, as JSON; empty when they can be used.
pub fn of(settings: &str) -> Vec<Unreadable> {
    let mut problems = Vec::new();
    let Err(first) = verdict::validate_settings(settings) else { return problems };
    // What this reader of JSON refuses, the library may have refused for another reason: its own stands.
    let Ok(mut tree) = serde_json::from_str(settings).map(Tree::of) else { return vec![first] };
    let mut taken: Vec<String> = Vec::new();
    let mut next = Some(first);
    for _ in 0..MOST {
        let Some(problem) = next.take() else { break };
        let quote = problem.problem.starts_with("must be a string, ");
        let Some(path) = tree.take(&problem.path, quote) else {
            problems.extend(taken.is_empty().then_some(problem));
            break;
        };
        if !follows_from(&problem, &path, &taken) {
            problems.push(Unreadable { path: path.clone(), problem: problem.problem });
        }
        taken.push(path);
        next = verdict::validate_settings(&tree.to_json().to_string()).err();
    }
    problems
}

/// Whether a problem may be one only because something was taken out: what holds it, or what stood next to it.
fn follows_from(problem: &Unreadable, path: &str, taken: &[String]) -> bool {
    taken.iter().any(|gone| {
        let (parent, name) = gone.rsplit_once('.').unwrap_or(("", gone));
        let is_within = gone.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']));
        let is_next_to = path.starts_with(parent) && problem.problem.contains(&format!("`{name}"));
        is_within || is_next_to && !problem.problem.starts_with(UNKNOWN)
    })
}

const UNKNOWN: &str = "is not a known key";

/// The words that a problem accepts, when one of them may have been meant.
pub fn meant(problem: &Unreadable) -> Option<String> {
    let (list, written) = match problem.problem.split_once("expected one of ") {
        Some((_, list)) => (list, steps(&problem.path).last().map(|step| (*step).to_owned())),
        None => {
            let (_, list) = problem.problem.split_once("must be one of ")?;
            let (list, is) = list.split_once(", but is `")?;
            (list, is.strip_suffix('`').map(str::to_owned))
        }
    };
    let accepted = list.split('`').skip(1).step_by(2);
    nearest(&written?, accepted).map(str::to_owned)
}

/// The steps of a path as the library spells it.
fn steps(path: &str) -> Vec<&str> {
    let mut steps = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        let (step, after) = match rest.strip_prefix('[').and_then(|inner| inner.split_once(']')) {
            Some(bracketed) => bracketed,
            None => rest.split_at_checked(rest.find(['.', '[']).unwrap_or(rest.len())).unwrap_or((rest, "")),
        };
        steps.push(step);
        rest = after.strip_prefix('.').unwrap_or(after);
        if step.is_empty() {
            break;
        }
    }
    steps
}

/// A document whose list items know their first positions.
enum Tree {
    Leaf(Value),
    List(Vec<(usize, Tree)>),
    Object(Vec<(String, Tree)>),
}

impl Tree {
    fn of(value: Value) -> Self {
        match value {
            Value::Array(items) => Tree::List(items.into_iter().map(Tree::of).enumerate().collect()),
            Value::Object(members) => {
                Tree::Object(members.into_iter().map(|(key, value)| (key, Tree::of(value))).collect())
            }
            leaf => Tree::Leaf(leaf),
        }
    }

    fn to_json(&self) -> Value {
        match self {
            Tree::Leaf(leaf) => leaf.clone(),
            Tree::List(items) => items.iter().map(|(_, item)| item.to_json()).collect(),
            Tree::Object(members) => {
                Value::Object(members.iter().map(|(key, value)| (key.clone(), value.to_json())).collect::<Map<_, _>>())
            }
        }
    }

    /// Takes out what is at a path; where nothing is there, what should hold it. With `quote`, a number or a boolean becomes a
    /// string instead. Says the path as it was in the whole.
    fn take(&mut self, path: &str, quote: bool) -> Option<String> {
        let steps = steps(path);
        if steps.is_empty() {
            return None;
        }
        self.take_below(&steps, String::new(), quote)
    }

    fn take_below(&mut self, steps: &[&str], here: String, quote: bool) -> Option<String> {
        let (step, rest) = steps.split_first()?;
        let (position, below) = match self {
            Tree::Leaf(_) => return None,
            Tree::List(items) => {
                let position = step.parse::<usize>().ok().filter(|position| *position < items.len())?;
                (position, format!("{here}[{}]", items.get(position)?.0))
            }
            Tree::Object(members) => {
                let position = members.iter().position(|(key, _)| key == step)?;
                let dot = if here.is_empty() { "" } else { "." };
                let is_plain = !step.contains(['.', '/']) || here.is_empty();
                (position, if is_plain { format!("{here}{dot}{step}") } else { format!("{here}[{step}]") })
            }
        };
        let is_last = rest.is_empty();
        let child = match self {
            Tree::List(items) => &mut items.get_mut(position)?.1,
            Tree::Object(members) => &mut members.get_mut(position)?.1,
            Tree::Leaf(_) => return None,
        };
        if !is_last && let Some(taken) = child.take_below(rest, below.clone(), quote) {
            return Some(taken);
        }
        if is_last
            && quote
            && let Tree::Leaf(leaf @ (Value::Number(_) | Value::Bool(_))) = child
        {
            *leaf = Value::String(leaf.to_string());
            return Some(below);
        }
        match self {
            Tree::List(items) => drop(items.remove(position)),
            Tree::Object(members) => drop(members.remove(position)),
            Tree::Leaf(_) => {}
        }
        // What is missing keeps its own name.
        Some(if is_last { below } else { format!("{below}{}", tail(rest)) })
    }
}

fn tail(steps: &[&str]) -> String {
    steps
        .iter()
        .map(|step| if step.parse::<usize>().is_ok() { format!("[{step}]") } else { format!(".{step}") })
        .collect()
}

#[cfg(test)]
#[allow(clippy::restriction)]
mod tests {
    use super::{meant, of};

    fn said(settings: &str) -> Vec<String> {
        of(settings).iter().map(|problem| format!("{}: {}", problem.path, problem.problem)).collect()
    }

    #[test]
    fn everything_is_said_at_once_with_the_positions_of_the_file() {
        let settings = r#"{"volumeNodeAffinity": {"alow": []}, "tolerations": {"allowed": [{"key": 5},
            {"key": "a", "operator": "Exists"}, {"key": true}], "nodeName": "dney"}, "pinned": true}"#;
        let starts = [
            "pinned: is not a known key",
            "volumeNodeAffinity.alow: is not a known key",
            "tolerations.allowed[0].key: must be a string, but is a number",
            "tolerations.allowed[2].key: must be a string, but is a boolean",
            "tolerations.nodeName: must be one of `allow`, `deny`",
        ];
        let said = said(settings);
        for start in starts {
            assert!(said.iter().any(|line| line.starts_with(start)), "{start} is not among {said:#?}");
        }
        assert_eq!(said.len(), starts.len(), "{said:#?}");
    }

    #[test]
    fn what_follows_from_what_was_taken_out_is_not_said() {
        let cases = [
            r#"{"csiDriverTokens": {"expirationSeconds": {"min": 5}}}"#,
            r#"{"localVolumes": {"pinned": "yes", "pinnedBy": ["a"]}}"#,
            r#"{"accessModes": {"singleWriter": [{"level": "always"}]}}"#,
            r#"{"voluemNodeAffinity": {}}"#,
            "{}",
            "5",
            r#"{"tolerations": {}, "tolerations": {}}"#,
        ];
        for settings in cases {
            assert_eq!(of(settings).len(), 1, "{settings}: {:#?}", of(settings));
        }
        assert!(of(r#"{"nodeTaints": {}}"#).is_empty());
    }

    #[test]
    fn settings_that_cannot_be_read_as_a_tree_are_not_said_to_be_usable() {
        let deep = format!(r#"{{"volumeNodeAfinity": {{"x": {}{}}}}}"#, "[".repeat(126), "]".repeat(126));
        let cases =
            [&*deep, r#"{"volumeNodeAffinity": {"a": 1e999}}"#, r#"{"volumeNodeAffinity": {"allow": ["\ud800"]}}"#];
        for settings in cases {
            assert_eq!(of(settings).len(), 1, "{settings}: {:#?}", of(settings));
        }
    }

    #[test]
    fn a_word_that_is_alike_is_meant() {
        let of_first = |settings: &str| of(settings).first().and_then(meant);
        assert_eq!(of_first(r#"{"voluemNodeAffinity": {}}"#).as_deref(), Some("volumeNodeAffinity"));
        assert_eq!(of_first(r#"{"tolerations": {"enforcement": "wran"}}"#).as_deref(), Some("warn"));
        assert_eq!(of_first(r#"{"tolerations": {"enforcement": true}}"#), None);
    }
}
