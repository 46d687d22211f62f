//! One volume before and after an edit: which nodes lose it, which gain it, and which facts that answer relies on.

use super::topology::{Fact, Topology, Written};
use crate::kubernetes::affinity::Affinity;
use crate::kubernetes::field::short;
use crate::kubernetes::listing::first_few_of;
use crate::kubernetes::node_selector::{self, Labels, node_at};
use crate::kubernetes::volume::Volume;
use crate::logic::{
    Axis, Budget, Condition, Containment, Domain, Exhausted, Facts, Outline, Point, Space, Term, Union, contained,
};
use crate::rules::replay::replay;

/// How the nodes that the new state admits relate to those that the old one admits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// Nothing was edited that decides where the volume can be used.
    Unchanged,
    /// Written differently, the same nodes.
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

/// What an edit does, with a node as evidence for each loss and each gain.
#[derive(Debug, PartialEq, Eq)]
pub enum Change {
    Equivalent,
    Widened { gains: Labels },
    Narrowed { loses: Labels },
    Shifted { loses: Labels, gains: Labels },
    Undecided,
}

impl Change {
    pub fn relation(&self) -> Relation {
        match self {
            Change::Equivalent => Relation::Equivalent,
            Change::Widened { .. } => Relation::Widened,
            Change::Narrowed { .. } => Relation::Narrowed,
            Change::Shifted { .. } => Relation::Shifted,
            Change::Undecided => Relation::Undecided,
        }
    }

    /// A node that loses the volume.
    pub fn loses(&self) -> Option<&Labels> {
        match self {
            Change::Narrowed { loses } | Change::Shifted { loses, .. } => Some(loses),
            Change::Equivalent | Change::Widened { .. } | Change::Undecided => None,
        }
    }

    /// A node that gains the volume.
    pub fn gains(&self) -> Option<&Labels> {
        match self {
            Change::Widened { gains } | Change::Shifted { gains, .. } => Some(gains),
            Change::Equivalent | Change::Narrowed { .. } | Change::Undecided => None,
        }
    }
}

/// The answer to "is there a node that …", after the plain matcher has looked at the node too.
#[derive(Debug, PartialEq, Eq)]
enum Evidence {
    NoNode,
    Node(Labels),
    Undecided,
}

/// A volume before and after an edit, in one space. On CREATE and in an audit there is no old volume.
pub struct VolumeEdit<'t> {
    pub old: Option<&'t Volume>,
    pub new: &'t Volume,
    pub space: Space<'t>,
    /// What each part admits by itself.
    pub old_affinity: Union,
    /// What the terms of the new affinity admit both as they are written and as the scheduler reads them.
    pub new_as_written: Union,
    /// What the labels admit that can bind: see [`Volume::binding_labels`].
    pub binding_labels: Union,
    /// What affinity and labels admit together.
    old_nodes: Union,
    new_nodes: Union,
    /// The old nodes, and those that the old state would admit if they also carried the beta label of a successor.
    old_nodes_and_twins: Union,
    facts: Vec<(&'t Fact, Written<'t>)>,
    all_facts: Facts,
    /// What reading both states took.
    pub steps: usize,
}

/// The part of the steps for reading that the findings about the new terms take. It is spent before the search, so that a
/// search that takes the rest of the budget does not suppress these findings. The algebra charges for its own work.
const STATE_PART: usize = 3;

impl<'t> VolumeEdit<'t> {
    /// `steps` is what reading both states took.
    ///
    /// # Errors
    /// When the budget does not suffice to compare volumes of this size.
    pub fn new(
        old: Option<&'t Volume>,
        new: &'t Volume,
        topology: &'t Topology,
        steps: usize,
        budget: &mut Budget,
    ) -> Result<Self, Exhausted> {
        budget.spend(steps / STATE_PART)?;
        let mut outline = Outline::default();
        let volumes: Vec<&Volume> = old.into_iter().chain([new]).collect();
        let facts = topology.facts_about(&volumes);
        facts.iter().for_each(|fact| fact.share(&mut outline));
        let (old_affinity, old_labels) = old.map(|old| terms_of(old, &mut outline)).unwrap_or_default();
        let (new_affinity, new_labels) = terms_of(new, &mut outline);
        let new_as_written = as_written(new, &mut outline);
        let binding_labels = new.binding_labels.to_terms(&mut outline);
        let pairs: Vec<(Axis, Axis)> = facts.iter().filter_map(|fact| fact.successor_axes(&mut outline)).collect();
        let twins = with_twins(&old_affinity, &pairs, budget)?;
        let facts: Vec<_> = facts.into_iter().map(|fact| (fact, fact.write(&mut outline))).collect();
        let space = outline.cut(budget)?;
        let mut union = |terms: &[Term<'t>]| space.union(terms, budget);
        let (old_affinity, old_labels) = (union(&old_affinity)?, union(&old_labels)?);
        let (new_affinity, new_labels) = (union(&new_affinity)?, union(&new_labels)?);
        let new_as_written = new_as_written.map(|terms| union(&terms)).transpose()?;
        let twins = twins.map(|terms| union(&terms)).transpose()?;
        let binding_labels = union(&binding_labels)?;
        let mut nodes = |affinity: &Union, labels: &Union| {
            let both = affinity.and(labels, &space, budget)?;
            // Merged once for all questions; where the budget ends, as they are.
            Ok(both.merged(&space, budget).unwrap_or(both))
        };
        let (old_nodes, new_nodes) = (nodes(&old_affinity, &old_labels)?, nodes(&new_affinity, &new_labels)?);
        let old_nodes_and_twins = match twins {
            None => old_nodes.clone(),
            Some(twins) => nodes(&twins, &old_labels)?,
        };
        Ok(VolumeEdit {
            old,
            new,
            old_nodes,
            new_nodes,
            old_nodes_and_twins,
            all_facts: Written::cut(facts.iter().map(|(_, written)| written), &space, budget)?,
            old_affinity,
            new_as_written: new_as_written.unwrap_or(new_affinity),
            binding_labels,
            facts,
            space,
            steps,
        })
    }

    /// Whether the new state keeps no node out.
    pub fn admits_every_node(&self) -> bool {
        self.new_nodes == Union::everything()
    }

    /// Whether the old state and the new one admit a node at this point.
    pub fn admit(&self, point: &Point) -> (bool, bool) {
        (self.old_nodes.contains(point), self.new_nodes.contains(point))
    }

    /// Steps for one [`VolumeEdit::admit`].
    pub fn steps_to_look_up(&self) -> usize {
        self.old_nodes.steps_to_look_up().saturating_add(self.new_nodes.steps_to_look_up())
    }

    /// The facts under which no node could use the volume as it is stored, although its terms admit nodes; `None` when
    /// facts and volume agree.
    pub fn contradicting_facts(&self, budget: &mut Budget) -> Option<Vec<String>> {
        let stored = if self.old.is_some() { &self.old_nodes } else { &self.new_nodes };
        if self.facts.is_empty() || stored.is_empty() {
            return None;
        }
        let mut contradict = |facts: &[&Written<'t>], budget: &mut Budget| {
            let Ok(facts) = Written::cut(facts.iter().copied(), &self.space, budget) else { return false };
            contained(&self.space, stored, &Union::default(), &facts, budget) == Containment::Contained
        };
        let all: Vec<&Written<'t>> = self.facts.iter().map(|(_, written)| written).collect();
        if !contradict(&all, budget) { None } else { Some(self.needed(&mut contradict, budget)) }
    }

    /// What the edit does to the nodes that the facts allow, and the names of the facts that this answer needs: without
    /// any one of them it would be another.
    pub fn change(&self, budget: &mut Budget) -> (Change, Vec<String>) {
        let loses = contained(&self.space, &self.old_nodes, &self.new_nodes, &self.all_facts, budget);
        let admitted = |node: &Labels| self.old.is_some_and(|old| old.admits(node));
        let loses = self.evidence(&loses, |node| admitted(node) && !self.new.admits(node));
        let gained = |node: &Labels| {
            let mut twin = node.clone();
            self.facts.iter().for_each(|(fact, _)| fact.complete(&mut twin));
            self.new.admits(node) && !admitted(node) && !admitted(&twin)
        };
        // Most examples have no twin that was admitted before, and the search without twins finds shorter ones.
        let mut gains = Evidence::Undecided;
        for before in [&self.old_nodes, &self.old_nodes_and_twins] {
            if gains == Evidence::Undecided {
                gains =
                    self.evidence(&contained(&self.space, &self.new_nodes, before, &self.all_facts, budget), gained);
            }
        }
        let change = match (loses, gains) {
            (Evidence::Undecided, _) | (_, Evidence::Undecided) => return (Change::Undecided, Vec::new()),
            (Evidence::NoNode, Evidence::NoNode) => Change::Equivalent,
            (Evidence::NoNode, Evidence::Node(gains)) => Change::Widened { gains },
            (Evidence::Node(loses), Evidence::NoNode) => Change::Narrowed { loses },
            (Evidence::Node(loses), Evidence::Node(gains)) => Change::Shifted { loses, gains },
        };
        let relation = Some(change.relation());
        let mut stays = |facts: &[&Written<'t>], budget: &mut Budget| self.relation_under(facts, budget) == relation;
        let facts =
            if self.facts.is_empty() || stays(&[], budget) { Vec::new() } else { self.needed(&mut stays, budget) };
        (change, facts)
    }

    fn relation_under(&self, facts: &[&Written<'t>], budget: &mut Budget) -> Option<Relation> {
        let aliased = facts.len() == self.facts.len()
            || self
                .facts
                .iter()
                .any(|(fact, written)| fact.is_built_in() && facts.iter().any(|kept| std::ptr::eq(*kept, written)));
        let facts = Written::cut(facts.iter().copied(), &self.space, budget).ok()?;
        let mut escapes =
            |inside: &Union, outside: &Union| match contained(&self.space, inside, outside, &facts, budget) {
                Containment::Contained => Some(false),
                Containment::Escapes(_) => Some(true),
                Containment::Undecided => None,
            };
        let loses = escapes(&self.old_nodes, &self.new_nodes)?;
        let gains = escapes(&self.new_nodes, if aliased { &self.old_nodes_and_twins } else { &self.old_nodes })?;
        Some(match (loses, gains) {
            (false, false) => Relation::Equivalent,
            (false, true) => Relation::Widened,
            (true, false) => Relation::Narrowed,
            (true, true) => Relation::Shifted,
        })
    }

    /// The names of the facts without which an answer would not stay. Declared facts are left out first, while all built-in
    /// ones hold, because settings cannot take a built-in fact back. Whole stretches of facts are tried before single ones.
    /// Where the budget ends, more may be named than are needed, never fewer.
    fn needed(&self, stays: Stays<'_, 't>, budget: &mut Budget) -> Vec<String> {
        let mut kept: Vec<&(&Fact, Written<'t>)> = self.facts.iter().collect();
        let declared = kept.iter().filter(|(fact, _)| !fact.is_built_in()).count();
        self.leave_out(&mut kept, 0, declared, stays, budget);
        let declared = kept.iter().filter(|(fact, _)| !fact.is_built_in()).count();
        let built_in = kept.len().saturating_sub(declared);
        self.leave_out(&mut kept, declared, built_in, stays, budget);
        kept.into_iter().map(|(fact, _)| fact.name.clone()).collect()
    }

    /// Leaves out what the answer does not need of the `count` facts from position `from` on.
    fn leave_out<'f>(
        &'f self,
        kept: &mut Vec<&'f (&'t Fact, Written<'t>)>,
        from: usize,
        count: usize,
        stays: Stays<'_, 't>,
        budget: &mut Budget,
    ) {
        let (mut stretch, mut end) = (count, from.saturating_add(count));
        while stretch > 0 {
            let mut at = from;
            while at < end {
                let last = at.saturating_add(stretch).min(end);
                let rest = kept.iter().enumerate().filter(|(index, _)| !(at..last).contains(index));
                let rest: Vec<&'f (&Fact, Written<'t>)> = rest.map(|(_, fact)| *fact).collect();
                let facts: Vec<&Written<'t>> = rest.iter().map(|(_, written)| written).collect();
                if stays(&facts, budget) {
                    *kept = rest;
                    end = end.saturating_sub(last.saturating_sub(at));
                } else {
                    at = last;
                }
            }
            stretch = if stretch == 1 { 0 } else { stretch.div_ceil(2) };
        }
    }

    /// A node that the search found counts only when its labels are valid, the facts allow it, and `claim` is true of it.
    fn evidence(&self, answer: &Containment, claim: impl Fn(&Labels) -> bool) -> Evidence {
        match answer {
            Containment::Contained => Evidence::NoNode,
            Containment::Undecided => Evidence::Undecided,
            Containment::Escapes(point) => {
                let node = replay(node_at(&self.space, point), |node| {
                    let valid = |(key, value): (&String, &String)| {
                        Domain::Name.contains(key) && Domain::OptionalText.contains(value)
                    };
                    let possible = self.facts.iter().all(|(fact, _)| fact.holds(node));
                    node.iter().all(valid) && possible && claim(node)
                });
                node.map_or(Evidence::Undecided, Evidence::Node)
            }
        }
    }

    /// A node that the facts allow, in `inside` and not in `outside`, of which `claim` is true.
    pub fn node_between(
        &self,
        inside: &Union,
        outside: &Union,
        claim: impl Fn(&Labels) -> bool,
        budget: &mut Budget,
    ) -> Option<Labels> {
        let answer = contained(&self.space, inside, outside, &self.all_facts, budget);
        match self.evidence(&answer, claim) {
            Evidence::Node(node) => Some(node),
            Evidence::NoNode | Evidence::Undecided => None,
        }
    }
}

/// Whether an answer stays the same when only these facts hold.
type Stays<'c, 't> = &'c mut dyn FnMut(&[&Written<'t>], &mut Budget) -> bool;

/// The terms of the affinity that the scheduler matches, and those of the labels.
fn terms_of<'t>(volume: &'t Volume, outline: &mut Outline<'t>) -> (Vec<Term<'t>>, Vec<Term<'t>>) {
    let affinity = volume.scheduling_affinity().to_terms(outline);
    let labels = volume.zone_labels.to_terms(outline);
    affinity.iter().chain(&labels).for_each(|term| outline.mention(term));
    (affinity, labels)
}

/// The terms, and for each that asks about a beta label the same term asked of nodes that carry its successor alone. Such a
/// node lies where the beta label has always meant, so rewriting the beta label to its successor gains nothing there.
/// `None` where no term asks about a beta label.
fn with_twins<'t>(
    terms: &[Term<'t>],
    pairs: &[(Axis, Axis)],
    budget: &mut Budget,
) -> Result<Option<Vec<Term<'t>>>, Exhausted> {
    const EACH: usize = 10;
    let mut twins: Vec<Term<'t>> = Vec::new();
    for (beta, successor) in pairs {
        let mut more: Vec<Term<'t>> = Vec::new();
        for term in terms.iter().chain(&twins).filter(|term| term.iter().any(|(axis, _)| axis == beta)) {
            budget.spend(term.len().saturating_add(2).saturating_mul(EACH))?;
            let moved =
                term.iter().map(|(axis, condition)| (if axis == beta { *successor } else { *axis }, condition.clone()));
            more.push(moved.chain([(*beta, Condition::Absent), (*successor, Condition::Present)]).collect());
        }
        twins.extend(more);
    }
    Ok((!twins.is_empty()).then(|| [terms, &twins].concat()))
}

/// For an in-tree volume whose affinity is translated, each term together with its translation. A term that the translation
/// added has no match.
fn as_written<'t>(volume: &'t Volume, outline: &mut Outline<'t>) -> Option<Vec<Term<'t>>> {
    if !volume.is_translated() {
        return None;
    }
    let (Affinity::Required(written), Affinity::Required(read)) = (&volume.affinity, volume.scheduling_affinity())
    else {
        return Some(Vec::new());
    };
    let both = written.iter().zip(read).filter_map(|(written, read)| {
        let mut both = node_selector::conditions(written).ok()?;
        both.extend(node_selector::conditions(read).ok()?);
        let term = node_selector::to_term(&both, outline);
        outline.mention(&term);
        Some(term)
    });
    Some(both.collect())
}

/// A node in words, after "a node ": its labels, or for a node without labels those that the volumes ask about.
pub fn describe_node(node: &Labels, volumes: &[&Volume]) -> String {
    const MOST: usize = 5;
    if !node.is_empty() {
        let shown = node.iter().map(|(key, value)| format!("`{key}={value}`"));
        return format!("with {}", first_few_of(shown, MOST, ", ", "labels"));
    }
    let mut shown: Vec<String> = Vec::new();
    for key in volumes.iter().flat_map(|volume| volume.keys()) {
        if shown.len() == MOST {
            break;
        }
        let key = format!("`{}`", short(key, 120));
        if !shown.contains(&key) {
            shown.push(key);
        }
    }
    if shown.is_empty() { String::from("without labels") } else { format!("without {}", shown.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kubernetes::field::{Field, parse};

    fn volume(zone: &str) -> Volume {
        let text = format!(
            r#"{{"spec": {{"nodeAffinity": {{"required": {{"nodeSelectorTerms": [{{"matchExpressions":
            [{{"key": "zone", "operator": "In", "values": ["{zone}"]}}]}}]}}}}}}}}"#
        );
        let document = parse(text.as_bytes()).unwrap();
        Volume::read(&Field::root("object", &document)).unwrap()
    }

    #[test]
    fn an_example_that_the_matcher_denies_leaves_the_question_undecided() {
        let (old, new) = (volume("b"), volume("c"));
        let topology = Topology::default();
        let mut budget = Budget::of(100_000);
        let edit = VolumeEdit::new(Some(&old), &new, &topology, 100, &mut budget).unwrap();
        let answer = contained(&edit.space, &edit.old_nodes, &edit.new_nodes, &edit.all_facts, &mut budget);
        assert!(matches!(answer, Containment::Escapes(_)));
        assert!(matches!(edit.evidence(&answer, |node| old.admits(node)), Evidence::Node(_)));
        assert_eq!(edit.evidence(&answer, |node| new.admits(node)), Evidence::Undecided);
    }

    #[test]
    fn a_volume_that_is_too_large_is_not_prepared() {
        let (old, new) = (volume("b"), volume("c"));
        let topology = Topology::default();
        // A third of what reading took.
        let mut budget = Budget::of(32);
        assert!(VolumeEdit::new(Some(&old), &new, &topology, 100, &mut budget).is_err());
        assert_eq!(budget.left(), 0);
    }
}
