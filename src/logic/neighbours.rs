//! Which boxes of a list a given box touches, without looking at all of them.

use super::budget::{Budget, Exhausted};
use super::class_set::ClassSet;
use super::ordered::{ascending, small, unpack, wide};
use super::space::{Axis, Conjunction, Space};

/// A list of boxes, ordered by what they say of the axis that most of them name.
#[derive(Debug)]
pub struct Neighbours {
    boxes: Vec<Conjunction>,
    axis: Option<Axis>,
    /// For each class of that axis the boxes with a narrow side there that holds it.
    narrow: Vec<Vec<u32>>,
    /// The boxes with a wide side, or none, on that axis.
    wide: Vec<u32>,
}

/// A side of more classes than this is not listed class by class.
const NARROW: u64 = 8;

impl Neighbours {
    pub fn of(boxes: Vec<Conjunction>, space: &Space<'_>) -> Self {
        let named = boxes.iter().flat_map(Conjunction::sides).map(|(axis, _)| wide(axis.number()));
        let mut counts: Vec<usize> = vec![0; space.axes().count()];
        named.for_each(|axis| counts.get_mut(axis).into_iter().for_each(|count| *count = count.saturating_add(1)));
        let most = space.axes().zip(counts).filter(|(_, count)| *count > 0);
        let axis = most.max_by_key(|(axis, count)| (*count, std::cmp::Reverse(*axis))).map(|(axis, _)| axis);
        let classes = axis.map_or(0, |axis| wide(space.count(axis)));
        let (mut narrow, mut wide_ones) = (vec![Vec::new(); classes], Vec::new());
        for (index, conjunction) in (0..).zip(&boxes) {
            match narrow_side(axis, conjunction) {
                Some(side) => {
                    for class in side.classes() {
                        narrow.get_mut(wide(class)).into_iter().for_each(|boxes| boxes.push(index));
                    }
                }
                None => wide_ones.push(index),
            }
        }
        Neighbours { boxes, axis, narrow, wide: wide_ones }
    }

    /// The box at a position of the list.
    pub fn get(&self, position: usize) -> Option<&Conjunction> {
        self.boxes.get(position)
    }

    /// The boxes that share a point with this one, with their positions, in the order of the list.
    ///
    /// # Errors
    /// When the budget is spent: a step for each box that is looked at.
    pub fn touching(&self, inner: &Conjunction, budget: &mut Budget) -> Result<Vec<(usize, &Conjunction)>, Exhausted> {
        let candidates: Vec<u64> = match narrow_side(self.axis, inner) {
            Some(side) => {
                let narrow = || side.classes().filter_map(|class| self.narrow.get(wide(class)));
                budget.spend(narrow().map(Vec::len).fold(self.wide.len(), usize::saturating_add))?;
                ascending(narrow().flatten().chain(&self.wide).map(|index| u64::from(*index)).collect())
            }
            None => {
                budget.spend(self.boxes.len())?;
                (0..small(self.boxes.len())).map(u64::from).collect()
            }
        };
        let boxes = candidates.into_iter().filter_map(|index| {
            let index = wide(unpack(index).1);
            Some((index, self.boxes.get(index)?))
        });
        Ok(boxes.filter(|(_, conjunction)| !conjunction.is_disjoint(inner)).collect())
    }
}

/// What a box says of the axis, if that is little.
fn narrow_side(axis: Option<Axis>, conjunction: &Conjunction) -> Option<&ClassSet> {
    conjunction.side(axis?).filter(|side| side.count() <= NARROW)
}
