//! Facts: what is true of every point that can exist.

use super::budget::{Budget, Exhausted};
use super::class_set::ClassSet;
use super::ordered::change;
use super::space::{Axis, Conjunction, Space, Term};

/// A point that meets every condition of `when` meets every condition of `then`.
#[derive(Debug, Clone)]
pub struct Implication<'a> {
    /// No condition: every point.
    pub when: Term<'a>,
    pub then: Term<'a>,
}

/// A clause: on at least one of its axes, the point avoids the listed classes. Each axis appears once, ascending.
pub type Clause = Vec<(Axis, ClassSet)>;

/// How many numbers a clause is written with: what it costs to copy.
pub fn size(clause: &Clause) -> usize {
    clause.iter().map(|(_, avoided)| avoided.size().saturating_add(1)).fold(1, usize::saturating_add)
}

/// Steps for a fact: boxes are made of both its terms.
const FACT: usize = 20;

/// Facts in the form that the search uses: clauses that every possible point meets.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    clauses: Vec<Clause>,
    ties: Vec<(Axis, Axis)>,
}

impl Facts {
    /// Brings implications into clauses. Their terms must have been mentioned before the space was cut. A tie says that a
    /// point with a value on the first axis has the same value on the second. The two axes must share their classes.
    ///
    /// # Errors
    /// When the budget is spent first.
    pub fn new<'t>(
        space: &Space<'_>,
        implications: impl IntoIterator<Item = &'t Implication<'t>>,
        ties: impl IntoIterator<Item = (Axis, Axis)>,
        budget: &mut Budget,
    ) -> Result<Self, Exhausted> {
        let mut clauses = Vec::new();
        for implication in implications {
            let conditions = implication.when.iter().chain(&implication.then).map(|(_, condition)| condition.steps());
            budget.spend(conditions.fold(FACT, usize::saturating_add))?;
            // A premise that no point meets says nothing.
            let Some(when) = space.conjunction(&implication.when) else { continue };
            match space.conjunction(&implication.then) {
                // A conclusion that no point meets: no point meets the premise.
                None => clauses.push(avoid(&when)),
                Some(then) => {
                    for (axis, side) in then.sides() {
                        budget.spend(when.size().saturating_add(side.size()))?;
                        clauses.push(avoid_or(&when, axis, &side.complement(space.count(axis))));
                    }
                }
            }
        }
        // Every value is the same as itself.
        let ties: Vec<(Axis, Axis)> = ties.into_iter().filter(|(from, to)| from != to).collect();
        let shared = |(from, to): &(Axis, Axis)| space.group(*from) == space.group(*to);
        debug_assert!(ties.iter().all(shared), "tied axes that do not share their classes: {ties:?}");
        budget.spend(ties.len())?;
        Ok(Facts { clauses, ties })
    }

    /// Whether every point is possible.
    pub fn is_empty(&self) -> bool {
        self.clauses.is_empty() && self.ties.is_empty()
    }

    pub fn clauses(&self) -> &[Clause] {
        &self.clauses
    }

    pub fn ties(&self) -> &[(Axis, Axis)] {
        &self.ties
    }
}

/// "The point is not in the box."
pub fn avoid(conjunction: &Conjunction) -> Clause {
    conjunction.sides().map(|(axis, side)| (axis, side.clone())).collect()
}

/// "The point is not in the box, or it avoids these classes on this axis."
fn avoid_or(conjunction: &Conjunction, axis: Axis, classes: &ClassSet) -> Clause {
    let mut clause = avoid(conjunction);
    match clause.binary_search_by_key(&axis, |(axis, _)| *axis) {
        // Both on one axis: the point avoids only what both name.
        Ok(position) => change(&mut clause, position, |(_, named)| *named = named.intersection(classes)),
        Err(position) => clause.insert(position, (axis, classes.clone())),
    }
    clause
}
