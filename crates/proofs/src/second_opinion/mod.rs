//! Large questions, answered by an SMT solver and by the library.
//!
//! [`generate`] makes questions of 6 to 10 keys and 20 to 60 terms, about half of which are a close call: the terms of one side
//! are split into parts, and something small is taken away or not. [`text`] writes them for `solve.py`, which shares nothing with the
//! library: there a label is an integer and a number of leading zeros, and a question is a formula.

pub mod generate;
pub mod text;

use std::time::Duration;

use placement_guard::rules::STEPS;

use crate::question::{Answer, Question};
use crate::worst::cpu_time;
use text::Solved;

/// How the answers of both compare.
#[derive(Debug, Default)]
pub struct Comparison {
    pub questions: usize,
    pub contained: usize,
    pub with_facts: usize,
    /// By the library: the steps of a request were not enough.
    pub undecided: usize,
    /// By the solver: its time was not enough.
    pub unknown: usize,
    pub disagreements: Vec<String>,
    ours: Vec<Duration>,
    theirs: Vec<Duration>,
}

impl Comparison {
    /// Asks the library, with the steps of a request, and compares its answer with the solver's.
    pub fn ask(&mut self, name: &str, question: &Question, solved: &Solved) {
        let begun = cpu_time();
        let answer = question.ask(STEPS);
        self.ours.push(cpu_time().saturating_sub(begun));
        self.theirs.push(solved.time);
        self.questions += 1;
        self.with_facts += usize::from(question.topology != crate::question::Topology::default());
        let agree = match (&answer, solved.is_contained) {
            (Answer::Undecided, _) => {
                self.undecided += 1;
                true
            }
            (_, None) => {
                self.unknown += 1;
                true
            }
            (Answer::Contained, Some(is_contained)) => {
                self.contained += 1;
                is_contained
            }
            // The example itself is checked too.
            (Answer::Escapes(node), Some(is_contained)) => !is_contained && is_counterexample(question, node),
        };
        if !agree {
            self.disagreements.push(format!("{name}: {answer:?}, the solver says {:?}", solved.is_contained));
        }
    }

    /// The times of the library and of the solver, ascending.
    pub fn times(&self) -> [Vec<Duration>; 2] {
        [&self.ours, &self.theirs].map(|times| {
            let mut times = times.clone();
            times.sort_unstable();
            times
        })
    }
}

/// Whether the plain oracle agrees that the node is admitted by `inside` alone, and that the facts hold for it.
fn is_counterexample(question: &Question, node: &placement_guard::kubernetes::node_selector::Labels) -> bool {
    use crate::exhaustive::oracle::{node_matches, node_matches_term};
    use placement_guard::kubernetes::affinity::Affinity;
    let label = |key: &str| node.get(key).map(String::as_str);
    let admits = |affinity: &Affinity| match affinity {
        Affinity::Absent => true,
        Affinity::Required(terms) => node_matches(terms, label),
    };
    let holds = question
        .topology
        .implications
        .iter()
        .all(|(when, then)| !node_matches_term(when, label) || node_matches_term(then, label));
    let is_same = question.topology.aliases.iter().all(|(from, to)| label(from).is_none() || label(from) == label(to));
    admits(&question.inside) && !admits(&question.outside) && holds && is_same
}
