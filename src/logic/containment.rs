//! Is every possible point of one union in another?
//!
//! A point that escapes lies in one box of the inside union, lies outside every box of the outside union, and meets every
//! fact. So each inside box is searched by itself, for a point that avoids each outside box on at least one axis
//! ([`super::search`]). The rest of this file makes the search small. Boxes that differ on only one axis are merged first.
//! An inside box that is itself a box of the outside union needs no search. Outside boxes that share no point with the
//! inside box are left out. [`contained_plainly`] is the definition without any of that, and tests compare the two.

use super::budget::{Budget, Exhausted};
use super::facts::{Facts, avoid};
use super::neighbours::Neighbours;
use super::search::escape;
use super::space::{Conjunction, Point, Space};
use super::union::Union;

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
    let inside = inside.merged(space, budget)?;
    let listed = outside.lists(inside.boxes(), budget)?;
    let boxes = outside.boxes().to_vec();
    let near = match inside.boxes() {
        [] | [_] => Neighbours::plainly(boxes, budget)?,
        _ => Neighbours::of(boxes, space, budget)?,
    };
    for (inner, is_listed) in inside.boxes().iter().zip(listed) {
        budget.spend(1)?;
        if is_listed {
            continue;
        }
        let touching = near.touching(inner, budget)?;
        budget.spend(touching.iter().map(|(_, outer)| outer.size()).fold(0, usize::saturating_add))?;
        let clauses = touching.into_iter().map(|(_, outer)| avoid(outer)).collect();
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
        if budget.spend(outside.boxes().iter().map(Conjunction::size).fold(0, usize::saturating_add)).is_err() {
            return Containment::Undecided;
        }
        let clauses = outside.boxes().iter().map(avoid).collect();
        match escape(space, inner, clauses, facts, budget) {
            Ok(None) => {}
            Ok(Some(point)) => return Containment::Escapes(point),
            Err(Exhausted) => return Containment::Undecided,
        }
    }
    Containment::Contained
}

/// Which boxes of a list lie within another box of it: pairs of the position of such a box, and the position of the first
/// box that contains it. Of equal boxes the first counts as not contained in the others.
///
/// # Errors
/// When the budget is spent first.
pub fn covered(
    space: &Space<'_>,
    boxes: &[Conjunction],
    budget: &mut Budget,
) -> Result<Vec<(usize, usize)>, Exhausted> {
    let near = Neighbours::of(boxes.to_vec(), space, budget)?;
    let mut pairs = Vec::new();
    for (index, inner) in boxes.iter().enumerate() {
        for (other, outer) in near.touching(inner, budget)? {
            budget.spend(outer.steps_to_compare(inner))?;
            if other != index && inner.is_subset(outer) && (other < index || !outer.is_subset(inner)) {
                pairs.push((index, other));
                break;
            }
        }
    }
    Ok(pairs)
}
