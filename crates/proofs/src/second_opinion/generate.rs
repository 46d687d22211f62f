//! Questions that are large and a close call.

use k8s_openapi::api::core::v1::{NodeSelectorRequirement, NodeSelectorTerm};
use placement_guard::kubernetes::affinity::Affinity;

use crate::question::{Question, Topology, requirement, term};
use crate::random::Random;

type Requirements = Vec<NodeSelectorRequirement>;

/// The values of a key: words, and spellings of numbers.
const VALUES: [&str; 10] = ["a", "b", "c", "d", "0", "5", "05", "7", "12", "40"];

struct Keys(Vec<String>);

/// A question of 6 to 10 keys and 20 to 60 terms.
pub fn question(random: &mut Random) -> Question {
    let keys = Keys((0..6 + random.below(5)).map(|number| format!("k{number}")).collect());
    let terms = 20 + random.below(41);
    let topology = if random.one_in(4) { Topology::default() } else { keys.topology(random) };
    let (inside, outside) = match random.below(4) {
        0 => keys.overlapping(terms, random),
        _ => keys.split(terms, &topology, random),
    };
    let [inside, outside] = [inside, outside].map(|mut terms| {
        random.shuffle(&mut terms);
        Affinity::Required(terms.iter().map(|requirements| term(&requirements.iter().collect::<Vec<_>>())).collect())
    });
    Question { inside, outside, topology }
}

impl Keys {
    fn any(&self, random: &mut Random) -> &str {
        random.pick::<String>(&self.0)
    }

    fn topology(&self, random: &mut Random) -> Topology {
        let mut topology = Topology::default();
        for _ in 0..random.below(3) {
            let (from, to) = (self.any(random), self.any(random));
            if from != to {
                topology.aliases.push((from.to_owned(), to.to_owned()));
            }
        }
        for _ in 0..random.below(5) {
            let (from, to) = (self.any(random), self.any(random));
            if from != to {
                let when = requirement(from, "In", &some_values(1 + random.below(2), random));
                let then = requirement(to, "In", &some_values(1 + random.below(3), random));
                topology.implications.push((term(&[&when]), term(&[&then])));
            }
        }
        topology
    }

    fn requirement(&self, random: &mut Random) -> NodeSelectorRequirement {
        let key = self.any(random);
        match random.below(10) {
            0..4 => requirement(key, "In", &some_values(1 + random.below(4), random)),
            4..6 => requirement(key, "NotIn", &some_values(1 + random.below(3), random)),
            6 => requirement(key, "Exists", &[]),
            7 => requirement(key, "DoesNotExist", &[]),
            8 => requirement(key, "Gt", &[threshold(random).as_str()]),
            _ => requirement(key, "Lt", &[threshold(random).as_str()]),
        }
    }

    fn requirements(&self, count: usize, random: &mut Random) -> Requirements {
        (0..count).map(|_| self.requirement(random)).collect()
    }

    /// One side of few requirements a term, which leave little out, and the other of more.
    fn overlapping(&self, terms: usize, random: &mut Random) -> (Vec<Requirements>, Vec<Requirements>) {
        let inside = (0..1 + terms / 4).map(|_| self.requirements(3, random)).collect::<Vec<_>>();
        let outside = (inside.len()..terms).map(|_| {
            let most = 1 + random.below(2);
            self.requirements(most, random)
        });
        let outside = outside.collect();
        (inside, outside)
    }

    /// Terms, and the same in parts: each part of a term asks something of one more key, and together they leave nothing out, or
    /// nothing that the facts allow. Then, most of the time, something is taken away.
    fn split(&self, terms: usize, topology: &Topology, random: &mut Random) -> (Vec<Requirements>, Vec<Requirements>) {
        let inside: Vec<Requirements> = (0..2 + random.below(terms / 3))
            .map(|_| {
                let count = 2 + random.below(3);
                self.requirements(count, random)
            })
            .collect();
        let mut outside = inside.clone();
        while inside.len() + outside.len() < terms {
            let whole = outside.swap_remove(random.below(outside.len()));
            let parts = self.parts(random);
            outside.extend(parts.into_iter().map(|part| whole.iter().cloned().chain([part]).collect::<Requirements>()));
        }
        for requirements in &mut outside {
            conclude(requirements, topology, random);
        }
        // What one term loses, another one often has as well.
        for _ in 0..*random.pick(&[0, 0, 1, 2, 4, 8]) {
            take_away(&mut outside, random);
        }
        (inside, outside)
    }

    /// Requirements on one key that leave nothing out together.
    fn parts(&self, random: &mut Random) -> Requirements {
        let key = self.any(random);
        let values = some_values(1 + random.below(3), random);
        let bound = threshold(random);
        match random.below(4) {
            0 => vec![requirement(key, "Exists", &[]), requirement(key, "DoesNotExist", &[])],
            1 => vec![
                requirement(key, "Gt", &[bound.as_str()]),
                requirement(key, "Lt", &[(bound.parse::<i64>().expect("a number") + 1).to_string().as_str()]),
                // Words and absence, and numbers that are named: at least all that is not a number.
                requirement(key, "NotIn", &["0", "5"]),
                requirement(key, "In", &["0", "5"]),
            ],
            _ => vec![requirement(key, "In", &values), requirement(key, "NotIn", &values)],
        }
    }
}

/// Replaces a premise that a fact names by what follows from it, which admits more.
fn conclude(requirements: &mut Requirements, topology: &Topology, random: &mut Random) {
    for (from, to) in &topology.aliases {
        for requirement in requirements.iter_mut() {
            if requirement.key == *from
                && ["In", "Gt", "Lt"].contains(&requirement.operator.as_str())
                && random.one_in(2)
            {
                requirement.key.clone_from(to);
            }
        }
    }
    for (when, then) in &topology.implications {
        let (Some(when), Some(then)) = (only(when), only(then)) else { continue };
        for requirement in requirements.iter_mut() {
            if requirement == when && random.one_in(2) {
                requirement.clone_from(then);
            }
        }
    }
}

fn only(term: &NodeSelectorTerm) -> Option<&NodeSelectorRequirement> {
    match term.match_expressions.as_deref() {
        Some([only]) => Some(only),
        _ => None,
    }
}

fn take_away(terms: &mut Vec<Requirements>, random: &mut Random) {
    if terms.is_empty() {
        return;
    }
    let position = random.below(terms.len());
    let requirements = &mut terms[position];
    let changed = random.below(requirements.len());
    let requirement = &mut requirements[changed];
    match (requirement.operator.as_str(), requirement.values.as_mut()) {
        ("In", Some(values)) if values.len() > 1 => _ = values.pop(),
        ("NotIn", Some(values)) => values.push(String::from("z")),
        _ => _ = terms.swap_remove(position),
    }
}

fn some_values(count: usize, random: &mut Random) -> Vec<&'static str> {
    let mut values = VALUES;
    random.shuffle(&mut values);
    values[..count].to_vec()
}

fn threshold(random: &mut Random) -> String {
    random.pick(&[0, 4, 5, 6, 12, 39]).to_string()
}
