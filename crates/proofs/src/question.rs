//! A question about node selectors, put to the library in the way in which its rules put it.

use k8s_openapi::api::core::v1::{NodeSelectorRequirement, NodeSelectorTerm};
use placement_guard::kubernetes::affinity::Affinity;
use placement_guard::kubernetes::node_selector::{self, Labels};
use placement_guard::logic::{Budget, Containment, Domain, Facts, Implication, Outline, Space, Union, contained};

/// Facts about all nodes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Topology {
    /// A node that matches the first term matches the second.
    pub implications: Vec<(NodeSelectorTerm, NodeSelectorTerm)>,
    /// A node that carries the first label carries the second with the same value.
    pub aliases: Vec<(String, String)>,
}

/// Does `outside` admit every node that `inside` admits?
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    pub inside: Affinity,
    pub outside: Affinity,
    pub topology: Topology,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    Contained,
    /// This node is admitted by `inside` only.
    Escapes(Labels),
    Undecided,
}

/// Selectors in one space, with the facts.
pub struct Posed<'q> {
    pub space: Space<'q>,
    pub unions: Vec<Union>,
    pub facts: Facts,
}

/// Brings selectors into one space. `None` when the steps are spent.
pub fn pose<'q>(selectors: &[&'q Affinity], topology: &'q Topology, budget: &mut Budget) -> Option<Posed<'q>> {
    let mut outline = Outline::default();
    let mut ties = Vec::new();
    for (from, to) in &topology.aliases {
        let axes = [from, to].map(|key| outline.axis(key, Domain::OptionalText));
        outline.share(axes[0], axes[1]);
        ties.push((axes[0], axes[1]));
    }
    let terms: Vec<_> = selectors.iter().map(|selector| selector.to_terms(&mut outline)).collect();
    terms.iter().flatten().for_each(|term| outline.mention(term));
    let mut fact = |term: &'q NodeSelectorTerm| {
        let conditions = node_selector::conditions(term).expect("terms of facts are not dead");
        let term = node_selector::to_term(&conditions, &mut outline);
        outline.mention(&term);
        term
    };
    let implications: Vec<Implication<'q>> =
        topology.implications.iter().map(|(when, then)| Implication { when: fact(when), then: fact(then) }).collect();
    let space = outline.cut(budget).ok()?;
    let unions = terms.iter().map(|terms| space.union(terms, budget).ok()).collect::<Option<Vec<_>>>()?;
    let facts = Facts::new(&space, &implications, ties, budget).ok()?;
    Some(Posed { space, unions, facts })
}

impl Question {
    /// Asks the library, which may take so many steps.
    pub fn ask(&self, steps: u64) -> Answer {
        let budget = &mut Budget::of(steps);
        let Some(posed) = pose(&[&self.inside, &self.outside], &self.topology, budget) else {
            return Answer::Undecided;
        };
        let [inside, outside] = posed.unions.as_slice() else { panic!("two selectors have two unions") };
        match contained(&posed.space, inside, outside, &posed.facts, budget) {
            Containment::Contained => Answer::Contained,
            Containment::Undecided => Answer::Undecided,
            Containment::Escapes(point) => Answer::Escapes(node_selector::node_at(&posed.space, &point)),
        }
    }
}

/// One requirement.
pub fn requirement(key: &str, operator: &str, values: &[&str]) -> NodeSelectorRequirement {
    let values = values.iter().map(|value| (*value).to_owned()).collect();
    NodeSelectorRequirement {
        key: key.to_owned(),
        operator: operator.to_owned(),
        values: Some(values).filter(|values: &Vec<String>| !values.is_empty()),
    }
}

/// The term of these requirements; of none, the term that matches no node.
pub fn term(requirements: &[&NodeSelectorRequirement]) -> NodeSelectorTerm {
    let requirements: Vec<_> = requirements.iter().map(|requirement| (*requirement).clone()).collect();
    NodeSelectorTerm {
        match_expressions: Some(requirements).filter(|requirements| !requirements.is_empty()),
        match_fields: None,
    }
}
