//! Questions and answers as text.
//!
//! ```text
//! question 17
//! alias k1 k2
//! if k0=a then k3=b,c
//! in k0=a,b k2!=c k3>5
//! out k4? k5~ k6<7
//! end contained 1520
//! ```
//!
//! `=` is `In`, `!=` `NotIn`, `?` `Exists`, `~` `DoesNotExist`, `>` `Gt`, `<` `Lt`. What follows `end` is the solver's answer,
//! `contained`, `escapes` or `unknown`, and the microseconds that it took; before it has answered, there is nothing.

use std::time::Duration;

use k8s_openapi::api::core::v1::{NodeSelectorRequirement, NodeSelectorTerm};
use placement_guard::kubernetes::affinity::Affinity;

use crate::question::{Question, Topology, requirement, term};

/// The signs of the operators, those that begin with another one first.
const OPERATORS: [(&str, &str); 6] =
    [("!=", "NotIn"), ("=", "In"), (">", "Gt"), ("<", "Lt"), ("?", "Exists"), ("~", "DoesNotExist")];

/// What the solver says. `None` when it does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Solved {
    pub is_contained: Option<bool>,
    pub time: Duration,
}

/// Writes a question, without an answer.
pub fn write(number: usize, question: &Question) -> String {
    let mut lines = vec![format!("question {number}")];
    lines.extend(question.topology.aliases.iter().map(|(from, to)| format!("alias {from} {to}")));
    let implications = question.topology.implications.iter();
    lines.extend(implications.map(|(when, then)| format!("if {} then {}", write_term(when), write_term(then))));
    for (side, affinity) in [("in", &question.inside), ("out", &question.outside)] {
        let Affinity::Required(terms) = affinity else { panic!("every question here has terms") };
        lines.extend(terms.iter().map(|term| format!("{side} {}", write_term(term))));
    }
    lines.push(String::from("end"));
    lines.join("\n")
}

fn write_term(term: &NodeSelectorTerm) -> String {
    let write = |requirement: &NodeSelectorRequirement| {
        let sign = OPERATORS.iter().find(|(_, operator)| *operator == requirement.operator).expect("it exists").0;
        format!("{}{sign}{}", requirement.key, requirement.values.as_deref().unwrap_or_default().join(","))
    };
    term.match_expressions.iter().flatten().map(write).collect::<Vec<_>>().join(" ")
}

/// Reads questions with the solver's answers, one after the other.
pub fn read(lines: impl Iterator<Item = String>, mut each: impl FnMut(&str, &Question, Solved)) {
    let mut name = String::new();
    let (mut topology, mut inside, mut outside) = (Topology::default(), Vec::new(), Vec::new());
    for line in lines {
        let (word, rest) = line.split_once(' ').unwrap_or((line.as_str(), ""));
        match word {
            "question" => name = rest.to_owned(),
            "alias" => {
                let (from, to) = rest.split_once(' ').expect("an alias has two keys");
                topology.aliases.push((from.to_owned(), to.to_owned()));
            }
            "if" => {
                let (when, then) = rest.split_once(" then ").expect("an implication has two terms");
                topology.implications.push((read_term(when), read_term(then)));
            }
            "in" => inside.push(read_term(rest)),
            "out" => outside.push(read_term(rest)),
            "end" => {
                let [inside, outside] =
                    [&mut inside, &mut outside].map(|terms| Affinity::Required(std::mem::take(terms)));
                let question = Question { inside, outside, topology: std::mem::take(&mut topology) };
                each(&name, &question, read_answer(rest));
            }
            other => panic!("`{other}` is not a word of questions"),
        }
    }
}

fn read_answer(text: &str) -> Solved {
    let (answer, time) = text.split_once(' ').expect("an answer has a time");
    let is_contained = match answer {
        "contained" => Some(true),
        "escapes" => Some(false),
        "unknown" => None,
        other => panic!("`{other}` is not an answer"),
    };
    Solved { is_contained, time: Duration::from_micros(time.parse().expect("a time is a number")) }
}

fn read_term(text: &str) -> NodeSelectorTerm {
    let requirements: Vec<NodeSelectorRequirement> = text.split_whitespace().map(read_requirement).collect();
    term(&requirements.iter().collect::<Vec<_>>())
}

fn read_requirement(text: &str) -> NodeSelectorRequirement {
    let found = OPERATORS.iter().find_map(|(sign, operator)| Some((text.split_once(sign)?, *operator)));
    let ((key, values), operator) = found.unwrap_or_else(|| panic!("`{text}` has no operator"));
    let values: Vec<&str> = if values.is_empty() { Vec::new() } else { values.split(',').collect() };
    requirement(key, operator, &values)
}
