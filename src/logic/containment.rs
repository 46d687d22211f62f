//! Is every possible point of one union in another?
//!
//! A point that escapes lies in one box of the inside union, outside every box of the outside union, and meets every
//! fact. So each inside box is a search of its own, for a point that avoids each outside box on at least one axis
//! ([`super::search`]). The rest of this file makes the search small: boxes that differ on one axis are merged first, an
//! inside box that stands in the outside union as it is needs no search, and outside boxes that a box does not even touch
//! take no part. [`contained_plainly`] is the definition without any of that; tests hold the two against each other.

use super::budget::{Budget, Exhausted};
use super::class_set::ClassSet;
use super::facts::{Facts, avoid};
use super::ordered::{ascending, small, unpack, wide};
use super::search::escape;
use super::space::{Axis, Conjunction, Point, Space, Union};

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
    let near = Neighbours::of(outside.boxes(), space);
    let inside = inside.merged(space, budget)?;
    for (inner, stands_there) in outside.among(inside.boxes()) {
        budget.spend(1)?;
        if stands_there {
            continue;
        }
        let clauses = near.touching(inner, budget)?.map(|(_, outer)| avoid(outer)).collect();
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
    let near = Neighbours::of(boxes, space);
    let mut pairs = Vec::new();
    for (index, inner) in boxes.iter().enumerate() {
        let covers = |(other, outer): &(usize, &Conjunction)| {
            *other != index && inner.is_subset(outer) && (*other < index || !outer.is_subset(inner))
        };
        pairs.extend(near.touching(inner, budget)?.find(covers).map(|(other, _)| (index, other)));
    }
    Ok(pairs)
}

/// Finds the boxes of a list that a given box touches, by the axis that most of them name.
struct Neighbours<'u> {
    boxes: &'u [Conjunction],
    axis: Option<Axis>,
    /// For each class of that axis the boxes with a narrow side there that holds it.
    narrow: Vec<Vec<u32>>,
    /// The boxes with a wide side, or none, on that axis.
    wide: Vec<u32>,
}

/// A side of more classes than this is not listed class by class.
const NARROW: u64 = 8;

impl<'u> Neighbours<'u> {
    fn of(boxes: &'u [Conjunction], space: &Space<'_>) -> Self {
        let named = boxes.iter().flat_map(Conjunction::sides).map(|(axis, _)| wide(axis.number()));
        let mut counts: Vec<usize> = vec![0; space.axes().count()];
        named.for_each(|axis| counts.get_mut(axis).into_iter().for_each(|count| *count = count.saturating_add(1)));
        let most = space.axes().zip(counts).filter(|(_, count)| *count > 0);
        let axis = most.max_by_key(|(axis, count)| (*count, std::cmp::Reverse(*axis))).map(|(axis, _)| axis);
        let classes = axis.map_or(0, |axis| wide(space.count(axis)));
        let mut neighbours = Neighbours { boxes, axis, narrow: vec![Vec::new(); classes], wide: Vec::new() };
        for (index, conjunction) in (0..).zip(boxes) {
            match neighbours.narrow_side(conjunction) {
                Some(side) => {
                    for class in side.classes() {
                        neighbours.narrow.get_mut(wide(class)).into_iter().for_each(|boxes| boxes.push(index));
                    }
                }
                None => neighbours.wide.push(index),
            }
        }
        neighbours
    }

    fn narrow_side<'c>(&self, conjunction: &'c Conjunction) -> Option<&'c ClassSet> {
        conjunction.side(self.axis?).filter(|side| side.count() <= NARROW)
    }

    /// The boxes with their positions, in the order of the list.
    fn touching<'n>(
        &'n self,
        inner: &'n Conjunction,
        budget: &mut Budget,
    ) -> Result<impl Iterator<Item = (usize, &'u Conjunction)> + use<'n, 'u>, Exhausted> {
        let candidates: Vec<u64> = match self.narrow_side(inner) {
            Some(side) => {
                let narrow = side.classes().filter_map(|class| self.narrow.get(wide(class))).flatten();
                ascending(narrow.chain(&self.wide).map(|index| u64::from(*index)).collect())
            }
            None => (0..small(self.boxes.len())).map(u64::from).collect(),
        };
        budget.spend(candidates.len())?;
        let boxes = candidates.into_iter().filter_map(|index| {
            let index = wide(unpack(index).1);
            Some((index, self.boxes.get(index)?))
        });
        Ok(boxes.filter(|(_, conjunction)| !conjunction.is_disjoint(inner)))
    }
}
