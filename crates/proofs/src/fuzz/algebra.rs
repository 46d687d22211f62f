//! Bytes that are read as two selectors and facts, and the answer of the algebra to them.

use k8s_openapi::api::core::v1::NodeSelectorTerm;
use placement_guard::kubernetes::affinity::Affinity;
use placement_guard::kubernetes::node_selector::{Labels, conditions, term_matches};
use placement_guard::rules::STEPS;

use crate::question::{Answer, Question, Topology, requirement, term};
use crate::random::Random;

/// Changes bytes in some places. Some may be taken from `other`.
pub fn change(bytes: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    for _ in 0..1 + random.below(6) {
        let position = random.below(bytes.len() + 1);
        let end = (position + random.below(12)).min(bytes.len());
        match random.below(7) {
            0 => bytes.insert(position, random.number() as u8),
            1 if position < bytes.len() => _ = bytes.remove(position),
            2 => {
                let copied = bytes[position..end].to_vec();
                bytes.extend(copied);
            }
            3 if !other.is_empty() => {
                bytes.truncate(position);
                bytes.extend(&other[random.below(other.len())..]);
            }
            4 => _ = bytes.drain(position..end),
            _ if position < bytes.len() => bytes[position] = random.number() as u8,
            _ => bytes.push(random.number() as u8),
        }
    }
    // Most questions are small, so that many can be asked.
    bytes.truncate(if random.one_in(16) { 400 } else { 90 });
}

const KEYS: [&str; 5] = ["a", "b", "example.com/c", "d", "topology.kubernetes.io/zone"];
const VALUES: [&str; 14] = [
    "a",
    "b",
    "",
    "0",
    "00",
    "5",
    "05",
    "7",
    "9223372036854775807",
    "9223372036854775808",
    "other",
    "not a label",
    "x.y_z-1",
    "000000000000000000000000000000000000000000000000000000000000005",
];
const THRESHOLDS: [&str; 10] =
    ["0", "4", "5", "6", "-1", "-9223372036854775808", "9223372036854775806", "9223372036854775807", "05", "many"];

/// Reads bytes as a question. All bytes are one.
pub fn question_of(bytes: &[u8]) -> Question {
    let mut bytes = bytes.iter().copied().map(usize::from);
    let mut question = Question {
        inside: Affinity::Required(Vec::new()),
        outside: Affinity::Required(Vec::new()),
        topology: Topology::default(),
    };
    while let Some(byte) = bytes.next() {
        let mut next = |of: usize| bytes.next().unwrap_or(0) % of;
        match byte % 16 {
            0 => {
                let (from, to) = (next(KEYS.len()), next(KEYS.len()));
                question.topology.aliases.push((KEYS[from].to_owned(), KEYS[to].to_owned()));
            }
            1 => {
                let facts = [read_term(&mut next), read_term(&mut next)];
                // A fact that does not parse is refused with the settings.
                if facts.iter().all(|fact| conditions(fact).is_ok()) {
                    let [when, then] = facts;
                    question.topology.implications.push((when, then));
                }
            }
            side => {
                let read = read_term(&mut next);
                let side = if side % 2 == 0 { &mut question.inside } else { &mut question.outside };
                match side {
                    Affinity::Required(terms) => terms.push(read),
                    Affinity::Absent => {}
                }
            }
        }
    }
    question
}

fn read_term(next: &mut impl FnMut(usize) -> usize) -> NodeSelectorTerm {
    let requirements: Vec<_> = (0..next(5))
        .map(|_| {
            let key = KEYS[next(KEYS.len())];
            let operator = ["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Near"][next(13) % 7];
            let values: Vec<&str> = match operator {
                "In" | "NotIn" => (0..1 + next(4)).map(|_| VALUES[next(VALUES.len())]).collect(),
                "Gt" | "Lt" => vec![THRESHOLDS[next(THRESHOLDS.len())]],
                _ => Vec::new(),
            };
            requirement(key, operator, &values)
        })
        .collect();
    term(&requirements.iter().collect::<Vec<_>>())
}

/// Random nodes at which a yes is checked.
const NODES: usize = 8;

/// The answer of the algebra against the plain matcher: at its own example, and at nodes that have nothing to do with it.
pub fn check(bytes: &[u8]) -> Result<(), String> {
    let question = question_of(bytes);
    let is_possible = |node: &Labels| {
        let Topology { implications, aliases } = &question.topology;
        implications.iter().all(|(when, then)| !term_matches(when, node) || term_matches(then, node))
            && aliases.iter().all(|(from, to)| node.get(from).is_none_or(|value| node.get(to) == Some(value)))
    };
    let is_lost = |node: &Labels| question.inside.admits(node) && !question.outside.admits(node) && is_possible(node);
    match question.ask(STEPS) {
        Answer::Escapes(node) if is_lost(&node) => Ok(()),
        Answer::Escapes(node) => Err(format!("{node:?} is no counterexample to {question:?}")),
        Answer::Undecided => Err(format!("undecided: {question:?}")),
        Answer::Contained => {
            let seed = bytes.iter().fold(17_u64, |seed, byte| seed.wrapping_mul(31).wrapping_add(u64::from(*byte)));
            let mut random = Random::from_seed(seed);
            let numbers = ["1", "8", "05", "9223372036854775805", "fresh"];
            for _ in 0..NODES {
                let mut node = Labels::new();
                let mut last = "a";
                for key in KEYS {
                    last = match random.below(8) {
                        0 | 1 => continue,
                        2 | 3 => last,
                        4 => random.pick::<&str>(&numbers),
                        _ => random.pick::<&str>(&VALUES[..11]),
                    };
                    node.insert(key.to_owned(), last.to_owned());
                }
                if is_lost(&node) {
                    return Err(format!("{node:?} is lost, and the answer to {question:?} is yes"));
                }
            }
            Ok(())
        }
    }
}
