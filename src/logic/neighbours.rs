//! Which boxes of a list a given box touches, without looking at all of them.

use super::budget::{Budget, Exhausted};
use super::class_set::ClassSet;
use super::ordered::{ascending, change, pack, small, unpack, wide};
use super::space::{Axis, Conjunction, Space};

/// A list of boxes, with an index on the axis that most of them name.
#[derive(Debug)]
pub struct Neighbours {
    boxes: Vec<Conjunction>,
    axis: Option<Axis>,
    /// Pairs of a class of that axis and a box with a narrow side there that holds it, ascending.
    narrow: Vec<u64>,
    /// The boxes with a wide side, or none, on that axis.
    wide: Vec<u32>,
}

/// A side of more classes than this is not listed class by class.
const NARROW: u64 = 8;
/// Steps for each box: all that can be listed of it are sorted.
const LISTED: usize = 8;

impl Neighbours {
    /// The list without an index: for a single question an index costs more than it saves.
    ///
    /// # Errors
    /// When the budget is spent first.
    pub fn plainly(boxes: Vec<Conjunction>, budget: &mut Budget) -> Result<Self, Exhausted> {
        budget.spend(boxes.len())?;
        Ok(Neighbours { boxes, axis: None, narrow: Vec::new(), wide: Vec::new() })
    }

    /// # Errors
    /// When the budget is spent first.
    pub fn of(boxes: Vec<Conjunction>, space: &Space<'_>, budget: &mut Budget) -> Result<Self, Exhausted> {
        let sizes = boxes.iter().map(|conjunction| conjunction.size().saturating_add(LISTED));
        budget.spend(sizes.fold(space.axes().count(), usize::saturating_add))?;
        let named = boxes.iter().flat_map(Conjunction::sides).map(|(axis, _)| wide(axis.number()));
        let mut counts: Vec<usize> = vec![0; space.axes().count()];
        named.for_each(|axis| change(&mut counts, axis, |count| *count = count.saturating_add(1)));
        let most = space.axes().zip(counts).filter(|(_, count)| *count > 0);
        let axis = most.max_by_key(|(axis, count)| (*count, std::cmp::Reverse(*axis))).map(|(axis, _)| axis);
        let (mut narrow, mut wide_ones) = (Vec::new(), Vec::new());
        for (index, conjunction) in (0..).zip(&boxes) {
            match narrow_side(axis, conjunction) {
                Some(side) => narrow.extend(side.classes().map(|class| pack(class, index))),
                None => wide_ones.push(index),
            }
        }
        Ok(Neighbours { boxes, axis, narrow: ascending(narrow), wide: wide_ones })
    }

    /// The boxes that are listed for a class.
    fn listed(&self, class: u32) -> &[u64] {
        let start = self.narrow.partition_point(|listed| unpack(*listed).0 < class);
        let end = self.narrow.partition_point(|listed| unpack(*listed).0 <= class);
        self.narrow.get(start..end).unwrap_or_default()
    }

    /// The box at a position of the list.
    pub fn get(&self, position: usize) -> Option<&Conjunction> {
        self.boxes.get(position)
    }

    /// The boxes that share a point with this one, with their positions, in the order of the list.
    ///
    /// # Errors
    /// When the budget is spent first.
    pub fn touching(&self, inner: &Conjunction, budget: &mut Budget) -> Result<Vec<(usize, &Conjunction)>, Exhausted> {
        let candidates: Vec<u64> = match narrow_side(self.axis, inner) {
            Some(side) => {
                let narrow = || side.classes().map(|class| self.listed(class));
                let looked_at = narrow().map(<[u64]>::len).fold(self.wide.len(), usize::saturating_add);
                budget.spend(looked_at.saturating_add(1).saturating_mul(LOOKED_AT))?;
                let narrow = narrow().flatten().map(|listed| u64::from(unpack(*listed).1));
                ascending(narrow.chain(self.wide.iter().map(|index| u64::from(*index))).collect())
            }
            None => {
                budget.spend(self.boxes.len().saturating_mul(LOOKED_AT))?;
                (0..small(self.boxes.len())).map(u64::from).collect()
            }
        };
        let mut touching = Vec::new();
        for index in candidates.into_iter().map(|index| wide(unpack(index).1)) {
            let Some(conjunction) = self.boxes.get(index) else { continue };
            budget.spend(conjunction.steps_to_compare(inner))?;
            if !conjunction.is_disjoint(inner) {
                touching.push((index, conjunction));
            }
        }
        Ok(touching)
    }
}

/// Steps for each box that is looked at, in addition to the comparison.
const LOOKED_AT: usize = 1;

/// The side of a box on the axis, if it is narrow.
fn narrow_side(axis: Option<Axis>, conjunction: &Conjunction) -> Option<&ClassSet> {
    conjunction.side(axis?).filter(|side| side.count() <= NARROW)
}
