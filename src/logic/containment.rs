//! Is every possible point of one union in another?
//!
//! A point that escapes lies in one box of the inside union, outside every box of the outside union, and meets every
//! fact. So each inside box is a search of its own, for a point that avoids each outside box on at least one axis
//! ([`super::search`]). The rest of this file makes the search small: boxes that differ on one axis are merged first, an
//! inside box that stands in the outside union as it is needs no search, and outside boxes that a box does not even touch
//! take no part. [`contained_plainly`] is the definition without any of that; tests hold the two against each other.

use super::budget::{Budget, Exhausted};
use super::facts::{Facts, avoid};
use super::neighbours::Neighbours;
use super::search::escape;
use super::space::{Conjunction, Point, Space, Union};

/// The answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Containment {
    /// Every possible point of the inside union is in the outside union.
    Contained,
    /// This point is possible, in the inside union, and not in the outside union.
    Escapes(Point),
    /// The budget was spent before the answer was known.
    Undecided,
}

/// Whether every point of `inside` that the facts allow is in `outside`.
pub fn contained(
    space: &Space<'_>,
    inside: &Union,
    outside: &Union,
    facts: &Facts,
    budget: &mut Budget,
) -> Containment {
    let answer = search_merged(space, inside, outside, facts, budget);
    answer.unwrap_or(Containment::Undecided)
}

fn search_merged(
    space: &Space<'_>,
    inside: &Union,
    outside: &Union,
    facts: &Facts,
    budget: &mut Budget,
) -> Result<Containment, Exhausted> {
    let outside = outside.merged(space, budget)?;
    let near = Neighbours::of(outside.boxes().to_vec(), space);
    let inside = inside.merged(space, budget)?;
    for (inner, stands_there) in outside.among(inside.boxes()) {
        budget.spend(1)?;
        if stands_there {
            continue;
        }
        let clauses = near.touching(inner, budget)?.into_iter().map(|(_, outer)| avoid(outer)).collect();
        if let Some(point) = escape(space, inner, clauses, facts, budget)? {
            return Ok(Containment::Escapes(point));
        }
    }
    Ok(Containment::Contained)
}

/// The definition: every inside box is searched for a point that avoids every outside box and meets every fact.
pub fn contained_plainly(
    space: &Space<'_>,
    inside: &Union,
    outside: &Union,
    facts: &Facts,
    budget: &mut Budget,
) -> Containment {
    for inner in inside.boxes() {
        let clauses = outside.boxes().iter().map(avoid).collect();
        match escape(space, inner, clauses, facts, budget) {
            Ok(None) => {}
            Ok(Some(point)) => return Containment::Escapes(point),
            Err(Exhausted) => return Containment::Undecided,
        }
    }
    Containment::Contained
}

/// For each box that lies within another of the list, its position and the first such other's. Of equal boxes the first
/// lies in none of the others.
///
/// # Errors
/// When the budget is spent first.
pub fn covered(
    space: &Space<'_>,
    boxes: &[Conjunction],
    budget: &mut Budget,
) -> Result<Vec<(usize, usize)>, Exhausted> {
    let near = Neighbours::of(boxes.to_vec(), space);
    let mut pairs = Vec::new();
    for (index, inner) in boxes.iter().enumerate() {
        let covers = |(other, outer): &(usize, &Conjunction)| {
            *other != index && inner.is_subset(outer) && (*other < index || !outer.is_subset(inner))
        };
        pairs.extend(near.touching(inner, budget)?.into_iter().find(covers).map(|(other, _)| (index, other)));
    }
    Ok(pairs)
}
