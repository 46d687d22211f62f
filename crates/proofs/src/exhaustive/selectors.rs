//! Every pair of small node selectors.

use std::collections::HashMap;

use k8s_openapi::api::core::v1::{NodeSelectorRequirement, NodeSelectorTerm};
use placement_guard::kubernetes::affinity::Affinity;
use placement_guard::logic::{Axis, Budget, Point};

use super::oracle::{Label, Objects, label_meets, node_matches, node_matches_term, objects_that};
use super::{Count, Family, progress};
use crate::question::{Answer, Question, Topology, pose, requirement, term};

/// The bound, as it is printed.
pub const BOUND: &str = "node selectors of at most 2 terms of at most 2 requirements, on 2 keys: `In` and `NotIn` with each set of 2 values, \
                         `Exists`, `DoesNotExist`, one `Gt`, one `Lt`";

const KEYS: [&str; 2] = ["one", "two"];

/// What the requirements of a world name. The same for both keys.
#[derive(Debug, Clone, Copy)]
pub struct World {
    pub name: &'static str,
    values: [&'static str; 2],
    above: &'static str,
    below: &'static str,
    /// Where a node has the second value for the first key, its label for the second key meets this.
    implied: (&'static str, &'static [&'static str]),
    /// The run asks about one pair in so many.
    pub one_in: usize,
    /// What a label of a node can be: each value that is named, another word, a number that is too large to be one, and numbers
    /// on each side of the thresholds, also with a leading zero. More would change nothing: no requirement tells more apart.
    labels: &'static [Label<'static>],
}

/// `> 4` and `< 6` have only the number 5 in common, which can be written with leading zeros; one spelling is also a value.
pub const NARROW: World = World {
    name: "only 5 between the thresholds",
    values: ["5", "a"],
    above: "4",
    below: "6",
    implied: ("Gt", &["4"]),
    one_in: 1,
    labels: &[None, Some("5"), Some("05"), Some("a"), Some("b"), Some("9223372036854775808"), Some("4"), Some("6")],
};

/// `< 1` and `> 1`: 1 is in neither, and only spellings of 0 are below. `07` and `7` are the same number and different values.
pub const APART: World = World {
    name: "0 below, 1 in neither",
    values: ["07", "7"],
    above: "1",
    below: "1",
    implied: ("NotIn", &["7"]),
    one_in: 10,
    labels: &[None, Some("07"), Some("7"), Some("007"), Some("0"), Some("1"), Some("a"), Some("9223372036854775808")],
};

pub const WORLDS: [World; 2] = [NARROW, APART];

/// Which facts hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Given {
    NoFact,
    Implication,
    Alias,
    Both,
}

pub const GIVEN: [Given; 4] = [Given::NoFact, Given::Implication, Given::Alias, Given::Both];

impl Given {
    pub fn name(self) -> &'static str {
        match self {
            Given::NoFact => "without facts",
            Given::Implication => "with an implication",
            Given::Alias => "with an alias",
            Given::Both => "with an implication and an alias",
        }
    }
}

impl World {
    /// The implication of this world; `one` is an alias of `two`. Together they also say that no node has the second value for `one`.
    pub fn topology(&self, given: Given) -> Topology {
        let when = term(&[&requirement(KEYS[0], "In", &[self.values[1]])]);
        let then = term(&[&requirement(KEYS[1], self.implied.0, self.implied.1)]);
        let (implies, ties) =
            (given != Given::NoFact && given != Given::Alias, matches!(given, Given::Alias | Given::Both));
        Topology {
            implications: if implies { vec![(when, then)] } else { Vec::new() },
            aliases: if ties { vec![(KEYS[0].to_owned(), KEYS[1].to_owned())] } else { Vec::new() },
        }
    }

    /// Every requirement on a key.
    fn requirements(&self, key: &str) -> Vec<NodeSelectorRequirement> {
        let [first, second] = self.values;
        let sets: [&[&str]; 3] = [&[first], &[second], &[first, second]];
        let mut all = vec![
            requirement(key, "Exists", &[]),
            requirement(key, "DoesNotExist", &[]),
            requirement(key, "Gt", &[self.above]),
            requirement(key, "Lt", &[self.below]),
        ];
        for set in sets {
            all.extend(["In", "NotIn"].map(|operator| requirement(key, operator, set)));
        }
        all
    }

    /// Every term of at most two requirements, in any order: `a and b` is also `b and a`.
    fn terms(&self) -> Vec<NodeSelectorTerm> {
        let requirements: Vec<_> = KEYS.iter().flat_map(|key| self.requirements(key)).collect();
        let mut terms = vec![term(&[])];
        for (position, first) in requirements.iter().enumerate() {
            terms.push(term(&[first]));
            terms.extend(requirements[position..].iter().map(|second| term(&[first, second])));
        }
        terms
    }

    /// Every selector of at most two terms, in any order.
    pub fn selectors(&self) -> Vec<Affinity> {
        let terms = self.terms();
        let mut selectors = vec![Affinity::Required(Vec::new())];
        for (position, first) in terms.iter().enumerate() {
            selectors.push(Affinity::Required(vec![first.clone()]));
            let with = |second: &NodeSelectorTerm| Affinity::Required(vec![first.clone(), second.clone()]);
            selectors.extend(terms[position..].iter().map(with));
        }
        selectors
    }

    fn count(&self) -> usize {
        self.labels.len() * self.labels.len()
    }

    /// The labels of a node, by its number.
    fn label(&self, node: usize, key: &str) -> Label<'static> {
        let count = self.labels.len();
        self.labels[if key == KEYS[0] { node / count } else { node % count }]
    }

    /// The nodes that a selector admits.
    pub fn nodes(&self, selector: &Affinity) -> Objects {
        let Affinity::Required(terms) = selector else { panic!("every selector here is written out") };
        objects_that(self.count(), |node| node_matches(terms, |key| self.label(node, key)))
    }

    /// The nodes that the facts allow.
    pub fn possible(&self, topology: &Topology) -> Objects {
        objects_that(self.count(), |node| {
            let label = |key: &str| self.label(node, key);
            let implied = |(when, then): &(NodeSelectorTerm, NodeSelectorTerm)| {
                !node_matches_term(when, label) || node_matches_term(then, label)
            };
            let same = |(from, to): &(String, String)| label(from).is_none() || label(from) == label(to);
            topology.implications.iter().all(implied) && topology.aliases.iter().all(same)
        })
    }

    /// The position in `labels` of the label that no requirement tells from this one.
    fn like(&self, label: Label<'_>) -> Option<usize> {
        let asks = self.requirements(KEYS[0]);
        let answers = |label| asks.iter().map(|ask| label_meets(ask, label)).collect::<Vec<_>>();
        let wanted = answers(label);
        let same = |known: &Label<'static>| known.is_some() == label.is_some() && answers(*known) == wanted;
        // On tied keys `05` and `005` differ: where a spelling is known, it is that one.
        let exactly = self.labels.iter().position(|known| *known == label);
        exactly.or_else(|| self.labels.iter().position(same))
    }

    /// The node of the oracle that is like the one with these labels.
    fn node_like(&self, labels: [Label<'_>; 2]) -> Objects {
        match labels.map(|label| self.like(label)) {
            [Some(first), Some(second)] => 1 << (first * self.labels.len() + second),
            _ => 0,
        }
    }

    /// Asks about every pair, or one pair of different unions in `every`, in one space.
    pub fn ask(&self, given: Given, every: usize, threads: usize) -> Count {
        let (topology, selectors) = (self.topology(given), self.selectors());
        let selected: Vec<&Affinity> = selectors.iter().collect();
        let posed = pose(&selected, &topology, &mut Budget::of(u64::MAX)).expect("the budget is large");
        let axes = KEYS.map(|key| {
            let named = |axis: &Axis| posed.space.name(*axis) == key;
            posed.space.axes().find(named).expect("both keys are named")
        });
        let place = |axis: Axis| {
            let classes = 0..posed.space.count(axis);
            classes.map(|class| self.like(posed.space.example(axis, class))).collect::<Vec<_>>()
        };
        let places = axes.map(place);
        let node_at = |point: &Point| {
            let place = |position: usize| {
                let class = point.class(axes[position])?;
                *places[position].get(class as usize)?
            };
            match (place(0), place(1)) {
                (Some(first), Some(second)) => 1 << (first * self.labels.len() + second),
                _ => 0,
            }
        };
        let lists = posed.unions.iter().zip(&selectors).map(|(union, selector)| (union.clone(), self.nodes(selector)));
        let family = Family::new((&posed.space, &posed.facts), lists, self.possible(&topology), &node_at);
        println!(
            "{} selectors, {} different ones; {}, {}",
            selectors.len(),
            family.different(),
            self.name,
            given.name()
        );
        family.ask(every, threads, &progress(given.name()))
    }

    /// Asks about one pair in `every` as the rules do: in a space of the two selectors alone.
    pub fn ask_alone(&self, given: Given, every: usize) -> Count {
        let (topology, selectors) = (self.topology(given), self.selectors());
        let possible = self.possible(&topology);
        let mut nodes: HashMap<usize, Objects> = HashMap::new();
        let mut count = Count::default();
        let report = progress(given.name());
        let pairs = selectors.len() * selectors.len();
        for pair in (0..pairs).step_by(every) {
            let (inside, outside) = (pair / selectors.len(), pair % selectors.len());
            let mut admits =
                |selector: usize| *nodes.entry(selector).or_insert_with(|| self.nodes(&selectors[selector]));
            let lost = admits(inside) & !admits(outside) & possible;
            let [inside, outside] = [inside, outside].map(|selector| selectors[selector].clone());
            let question = Question { inside, outside, topology: topology.clone() };
            count.pairs += 1;
            count.asked += 1;
            let agree = match question.ask(super::PLENTY) {
                Answer::Contained => {
                    count.contained += 1;
                    lost == 0
                }
                Answer::Escapes(labels) => {
                    let node = self.node_like(KEYS.map(|key| labels.get(key).map(String::as_str)));
                    node & lost != 0
                }
                Answer::Undecided => false,
            };
            if !agree {
                count.disagreements += 1;
                println!("disagreement: {question:?}, oracle: {lost:b}");
            }
            report(pair, pairs);
        }
        count
    }
}
