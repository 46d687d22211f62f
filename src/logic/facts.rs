//! What holds of every point that can exist.

use super::class_set::ClassSet;
use super::space::{Axis, Conjunction, Space, Term};

/// A point that meets every condition of `when` meets every condition of `then`.
#[derive(Debug, Clone)]
pub struct Implication<'a> {
    /// No condition: every point.
    pub when: Term<'a>,
    pub then: Term<'a>,
}

/// A clause: on at least one of its axes, the point avoids the listed classes.
pub type Clause = Vec<(Axis, ClassSet)>;

/// Facts in the form in which they are searched: clauses that every possible point meets.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    clauses: Vec<Clause>,
    ties: Vec<(Axis, Axis)>,
}

impl Facts {
    /// Brings implications, whose terms the space must have heard of, into clauses. A tie says that a point with a value
    /// on its first axis has the same value on its second; the two must share their classes.
    pub fn new<'t>(
        space: &Space<'_>,
        implications: impl IntoIterator<Item = &'t Implication<'t>>,
        ties: impl IntoIterator<Item = (Axis, Axis)>,
    ) -> Self {
        let mut clauses = Vec::new();
        for implication in implications {
            // A premise that no point meets says nothing.
            let Some(when) = space.conjunction(&implication.when) else { continue };
            match space.conjunction(&implication.then) {
                // A conclusion that no point meets: no point meets the premise.
                None => clauses.push(avoid(&when)),
                Some(then) => {
                    for (axis, side) in then.sides() {
                        clauses.push(avoid_or(&when, axis, &side.complement(space.count(axis))));
                    }
                }
            }
        }
        // Every value is the same as itself.
        Facts { clauses, ties: ties.into_iter().filter(|(from, to)| from != to).collect() }
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
        // Both on one axis: it avoids only what both name.
        Ok(position) => {
            if let Some((_, named)) = clause.get_mut(position) {
                *named = named.intersection(classes);
            }
        }
        Err(position) => clause.insert(position, (axis, classes.clone())),
    }
    clause
}
