//! One volume before and after an edit, ready for questions: which nodes it loses and gains, and which facts that takes.

use super::topology::{Fact, Topology, Written};
use crate::kubernetes::field::short;
use crate::kubernetes::node_selector::{Labels, node_at};
use crate::kubernetes::volume::Volume;
use crate::logic::{Budget, Containment, Domain, Exhausted, Facts, Outline, Space, Term, Union, contained};

/// How the nodes that the new state admits relate to those that the old one admits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// Nothing was edited that decides where the volume can be used.
    Unchanged,
    /// Written otherwise, the same nodes.
    Equivalent,
    /// Only gains.
    Widened,
    /// Only losses.
    Narrowed,
    /// Both gains and losses.
    Shifted,
    /// The budget was spent before the answer was known.
    Undecided,
}

impl Relation {
    pub fn name(self) -> &'static str {
        match self {
            Relation::Unchanged => "unchanged",
            Relation::Equivalent => "equivalent",
            Relation::Widened => "widened",
            Relation::Narrowed => "narrowed",
            Relation::Shifted => "shifted",
            Relation::Undecided => "undecided",
        }
    }
}

/// What an edit does.
#[derive(Debug)]
pub struct Change {
    pub relation: Relation,
    /// A node that loses the volume.
    pub loses: Option<Labels>,
    /// A node that gains it.
    pub gains: Option<Labels>,
    /// The facts that the relation needs, by name: without any one of them it would be another.
    pub facts: Vec<String>,
}

/// A volume before and after an edit, in one space. On CREATE and in an audit there is no before.
pub struct VolumeEdit<'t> {
    pub old: Option<&'t Volume>,
    pub new: &'t Volume,
    pub space: Space<'t>,
    /// What each part admits by itself.
    pub old_affinity: Union,
    pub new_affinity: Union,
    pub new_labels: Union,
    /// What affinity and labels admit together.
    old_nodes: Union,
    new_nodes: Union,
    topology: &'t Topology,
    facts: Vec<Written<'t>>,
    all_facts: Facts,
}

impl<'t> VolumeEdit<'t> {
    /// # Errors
    /// When the budget is spent before the volumes are in one space.
    pub fn new(
        old: Option<&'t Volume>,
        new: &'t Volume,
        topology: &'t Topology,
        budget: &mut Budget,
    ) -> Result<Self, Exhausted> {
        let mut outline = Outline::default();
        topology.share(&mut outline);
        let (old_affinity, old_labels) = old.map(|old| terms_of(old, &mut outline)).unwrap_or_default();
        let (new_affinity, new_labels) = terms_of(new, &mut outline);
        let facts: Vec<Written<'t>> = topology.facts().iter().map(|fact| fact.write(&mut outline)).collect();
        let space = outline.cut(budget)?;
        let mut union = |terms: &[Term<'t>]| space.union(terms, budget);
        let (old_affinity, old_labels) = (union(&old_affinity)?, union(&old_labels)?);
        let (new_affinity, new_labels) = (union(&new_affinity)?, union(&new_labels)?);
        let mut nodes = |affinity: &Union, labels: &Union| {
            let both = affinity.and(labels, &space, budget)?;
            // Merged once for all questions; where the budget ends, as they are.
            Ok(both.merged(&space, budget).unwrap_or(both))
        };
        let (old_nodes, new_nodes) = (nodes(&old_affinity, &old_labels)?, nodes(&new_affinity, &new_labels)?);
        Ok(VolumeEdit {
            old,
            new,
            old_nodes,
            new_nodes,
            all_facts: Written::cut(&facts, &space, budget)?,
            old_affinity,
            new_affinity,
            new_labels,
            topology,
            facts,
            space,
        })
    }

    /// Whether the volume as it stands admits nodes, but under the facts none.
    pub fn facts_contradict(&self, budget: &mut Budget) -> bool {
        let stands = if self.old.is_some() { &self.old_nodes } else { &self.new_nodes };
        let none = Union::default();
        !self.facts.is_empty()
            && !stands.is_empty()
            && contained(&self.space, stands, &none, &self.all_facts, budget) == Containment::Contained
    }

    /// What the edit does to the nodes that the facts allow.
    pub fn change(&self, budget: &mut Budget) -> Change {
        let loses = contained(&self.space, &self.old_nodes, &self.new_nodes, &self.all_facts, budget);
        let gains = contained(&self.space, &self.new_nodes, &self.old_nodes, &self.all_facts, budget);
        let admits = |volume: Option<&Volume>, node: &Labels| volume.is_some_and(|volume| volume.admits(node));
        let lost = self.example(&loses, |node| admits(self.old, node) && !self.new.admits(node));
        let gained = self.example(&gains, |node| self.new.admits(node) && !admits(self.old, node));
        // An example that does not stand up to the plain matcher is a mistake of ours, and no answer.
        let sound = |answer: &Containment, example: &Option<Labels>| {
            !matches!(answer, Containment::Escapes(_)) || example.is_some()
        };
        let relation =
            if sound(&loses, &lost) && sound(&gains, &gained) { relation(&loses, &gains) } else { Relation::Undecided };
        Change { relation, loses: lost, gains: gained, facts: self.needed(relation, budget) }
    }

    fn relation_under(&self, facts: &[&Written<'t>], budget: &mut Budget) -> Relation {
        let Ok(facts) = Written::cut(facts.iter().copied(), &self.space, budget) else { return Relation::Undecided };
        let loses = contained(&self.space, &self.old_nodes, &self.new_nodes, &facts, budget);
        let gains = contained(&self.space, &self.new_nodes, &self.old_nodes, &facts, budget);
        relation(&loses, &gains)
    }

    /// The names of the facts that the relation needs. Whole stretches of facts that it does not need are left out
    /// first, then single ones; where the budget ends, more may be named than are needed, never fewer.
    fn needed(&self, relation: Relation, budget: &mut Budget) -> Vec<String> {
        if self.facts.is_empty() || relation == Relation::Undecided {
            return Vec::new();
        }
        if self.relation_under(&[], budget) == relation {
            return Vec::new();
        }
        let mut kept: Vec<(&Fact, &Written<'t>)> = self.topology.facts().iter().zip(&self.facts).collect();
        let mut stretch = kept.len();
        loop {
            let mut at = 0;
            while at < kept.len() {
                let outside = |index: &usize| !(at..at.saturating_add(stretch)).contains(index);
                let rest = kept.iter().enumerate().filter(|(index, _)| outside(index)).map(|(_, fact)| *fact);
                let rest: Vec<(&Fact, &Written<'t>)> = rest.collect();
                let facts: Vec<&Written<'t>> = rest.iter().map(|(_, written)| *written).collect();
                if self.relation_under(&facts, budget) == relation {
                    kept = rest;
                } else {
                    at = at.saturating_add(stretch);
                }
            }
            if stretch <= 1 {
                return kept.into_iter().map(|(fact, _)| fact.name.clone()).collect();
            }
            stretch = stretch.div_ceil(2);
        }
    }

    /// The node of an answer that found one: a possible node, with valid labels, for which `claim` is true.
    pub fn example(&self, answer: &Containment, claim: impl Fn(&Labels) -> bool) -> Option<Labels> {
        let Containment::Escapes(point) = answer else { return None };
        let node = node_at(&self.space, point);
        let valid = node.iter().all(|(key, value)| Domain::Name.contains(key) && Domain::OptionalText.contains(value));
        let possible = self.topology.facts().iter().all(|fact| fact.holds(&node));
        (valid && possible && claim(&node)).then_some(node)
    }

    /// Whether `inside` is in `outside` for the nodes that the facts allow.
    pub fn contained(&self, inside: &Union, outside: &Union, budget: &mut Budget) -> Containment {
        contained(&self.space, inside, outside, &self.all_facts, budget)
    }
}

/// The terms of a volume's affinity and those of its labels.
fn terms_of<'t>(volume: &'t Volume, outline: &mut Outline<'t>) -> (Vec<Term<'t>>, Vec<Term<'t>>) {
    let affinity = volume.affinity.to_terms(outline);
    let labels = volume.zone_labels.to_terms(outline);
    affinity.iter().chain(&labels).for_each(|term| outline.mention(term));
    (affinity, labels)
}

fn relation(loses: &Containment, gains: &Containment) -> Relation {
    match (loses, gains) {
        (Containment::Undecided, _) | (_, Containment::Undecided) => Relation::Undecided,
        (Containment::Contained, Containment::Contained) => Relation::Equivalent,
        (Containment::Contained, Containment::Escapes(_)) => Relation::Widened,
        (Containment::Escapes(_), Containment::Contained) => Relation::Narrowed,
        (Containment::Escapes(_), Containment::Escapes(_)) => Relation::Shifted,
    }
}

/// A node in words, after "a node ": its labels, or where it has none that it lacks those that the volume asks about.
pub fn describe_node(node: &Labels, volumes: &[&Volume]) -> String {
    const MOST: usize = 5;
    if node.is_empty() {
        let mut shown: Vec<String> = Vec::new();
        for key in volumes.iter().flat_map(|volume| volume.keys()) {
            let key = format!("`{}`", short(key, 120));
            if shown.len() < MOST && !shown.contains(&key) {
                shown.push(key);
            }
        }
        return if shown.is_empty() { String::from("without labels") } else { format!("without {}", shown.join(", ")) };
    }
    let mut shown: Vec<String> = node.iter().take(MOST).map(|(key, value)| format!("`{key}={value}`")).collect();
    if node.len() > MOST {
        shown.push(format!("+{} labels", node.len().saturating_sub(MOST)));
    }
    format!("with {}", shown.join(", "))
}
