//! Unions of boxes: what a list of terms admits.

use super::budget::{Budget, Exhausted};
use super::class_set::ClassSet;
use super::ordered::{Positions, ascending, change, pack, unpack, wide};
use super::space::{Axis, Conjunction, Point, Space, Term};

/// A union of boxes, in a fixed order, without repetition. A union without boxes has no point.
#[derive(Debug, Clone, Default)]
pub struct Union {
    boxes: Vec<Conjunction>,
    /// Whether merging was tried and leaves the union as it is. Unions that are equal but for this hold the same boxes.
    is_merged: bool,
}

impl PartialEq for Union {
    fn eq(&self, other: &Self) -> bool {
        self.boxes == other.boxes
    }
}

impl Eq for Union {}

/// Steps for looking up one box by its key, in addition to what its size costs.
const LOOK_UP: usize = 5;
/// Steps for the box that two boxes have in common, in addition to what their sizes cost.
const PAIR: usize = 6;

impl From<Conjunction> for Union {
    fn from(only: Conjunction) -> Self {
        Union { boxes: vec![only], is_merged: true }
    }
}

impl Space<'_> {
    /// What a list of terms admits.
    ///
    /// # Errors
    /// When the budget is spent first.
    pub fn union<'t>(
        &self,
        terms: impl IntoIterator<Item = &'t Term<'t>>,
        budget: &mut Budget,
    ) -> Result<Union, Exhausted> {
        Union::new(terms.into_iter().filter_map(|term| self.conjunction(term)).collect(), budget)
    }
}

impl Union {
    /// # Errors
    /// When the budget is spent first.
    pub fn new(boxes: Vec<Conjunction>, budget: &mut Budget) -> Result<Self, Exhausted> {
        if boxes.len() < 2 { Ok(Union { boxes, is_merged: true }) } else { Ok(Union::keyed(boxes, budget)?.0) }
    }

    /// The union of these boxes, with the position of each box in it by its key.
    fn keyed(mut boxes: Vec<Conjunction>, budget: &mut Budget) -> Result<(Self, Positions), Exhausted> {
        let mut positions = positions(&boxes, budget)?;
        let mut ordered = Vec::with_capacity(positions.len());
        for (position, value) in positions.values_mut().enumerate() {
            change(&mut boxes, *value, |found| ordered.push(std::mem::take(found)));
            *value = position;
        }
        Ok((Union { boxes: ordered, is_merged: false }, positions))
    }

    /// The union of every point.
    pub fn everything() -> Self {
        Conjunction::default().into()
    }

    pub fn boxes(&self) -> &[Conjunction] {
        &self.boxes
    }

    /// Whether the point lies in one of the boxes.
    pub fn contains(&self, point: &Point) -> bool {
        self.boxes.iter().any(|conjunction| conjunction.contains(point))
    }

    /// Steps for one [`Union::contains`]: boxes and their sides are visited one after the other.
    pub fn steps_to_look_up(&self) -> usize {
        let sides = self.boxes.iter().map(|conjunction| conjunction.sides().count().saturating_add(1));
        sides.fold(0, usize::saturating_add)
    }

    pub fn is_empty(&self) -> bool {
        self.boxes.is_empty()
    }

    /// For each of these boxes whether it is itself a box of this union. When it is not, other boxes may still cover it.
    ///
    /// # Errors
    /// When the budget is spent first.
    pub fn lists(&self, boxes: &[Conjunction], budget: &mut Budget) -> Result<Vec<bool>, Exhausted> {
        if self.boxes.len() < 2 || boxes.len() < 2 {
            let sizes = boxes.iter().map(Conjunction::size).fold(0, usize::saturating_add);
            budget.spend(self.boxes.len().saturating_add(sizes))?;
            return Ok(boxes.iter().map(|conjunction| self.boxes.contains(conjunction)).collect());
        }
        let positions = positions(&self.boxes, budget)?;
        let listed = boxes.iter().map(|conjunction| {
            budget.spend(conjunction.size().saturating_add(LOOK_UP))?;
            Ok(positions.contains_key(&conjunction.key(None)))
        });
        listed.collect()
    }

    /// The points in either.
    ///
    /// # Errors
    /// When the budget is spent first.
    pub fn or(&self, other: &Union, budget: &mut Budget) -> Result<Union, Exhausted> {
        Union::new([self.boxes.as_slice(), other.boxes.as_slice()].concat(), budget)
    }

    /// The points in both.
    ///
    /// # Errors
    /// When the budget is spent first: this looks at each box of the one with each box of the other.
    pub fn and(&self, other: &Union, space: &Space<'_>, budget: &mut Budget) -> Result<Union, Exhausted> {
        if *other == Union::everything() {
            return Ok(self.clone());
        }
        let mut both = Vec::new();
        for mine in &self.boxes {
            for theirs in &other.boxes {
                budget.spend(mine.size().saturating_add(theirs.size()).saturating_add(PAIR))?;
                both.extend(mine.intersection(theirs, space));
            }
        }
        Union::new(both, budget)
    }

    /// The same points in fewer boxes: boxes that differ on only one axis become one, until a round changes nothing.
    ///
    /// # Errors
    /// When the budget is spent first. The union as it was answers every question as well.
    pub fn merged(&self, space: &Space<'_>, budget: &mut Budget) -> Result<Union, Exhausted> {
        if self.is_merged || self.boxes.len() < 2 {
            budget.spend(self.boxes.len().saturating_mul(LOOK_UP))?;
            return Ok(self.clone());
        }
        let (mut union, mut positions) = Union::keyed(self.boxes.clone(), budget)?;
        while union.boxes.len() > 1 {
            let before = union.boxes.len();
            let merged = union.merged_once(&positions, space, budget)?;
            (union, positions) = Union::keyed(merged, budget)?;
            if union.boxes.len() == before {
                break;
            }
        }
        union.is_merged = true;
        Ok(union)
    }

    /// One round over all axes, in which a box takes part in at most one merge.
    fn merged_once(
        self,
        positions: &Positions,
        space: &Space<'_>,
        budget: &mut Budget,
    ) -> Result<Vec<Conjunction>, Exhausted> {
        let mut by_axis = Vec::new();
        for (position, conjunction) in (0..).zip(&self.boxes) {
            budget.spend(conjunction.size())?;
            by_axis.extend(conjunction.sides().map(|(axis, _)| pack(axis.number(), position)));
        }
        let by_axis = ascending(by_axis);
        let mut gone: Vec<bool> = vec![false; self.boxes.len()];
        let mut merged: Vec<Conjunction> = Vec::new();
        for mentioning in by_axis.chunk_by(|left, right| unpack(*left).0 == unpack(*right).0) {
            let Some(axis) = mentioning.first().map(|first| Axis::numbered(unpack(*first).0)) else { continue };
            // The positions of boxes that differ on this axis only.
            let mut groups: Vec<Vec<usize>> = Vec::new();
            let mut alike = Positions::new();
            for position in mentioning.iter().map(|packed| wide(unpack(*packed).1)) {
                let Some(conjunction) = self.boxes.get(position) else { continue };
                if gone.get(position) != Some(&false) {
                    continue;
                }
                // The key is made, and looked up twice.
                budget.spend(conjunction.size().saturating_add(LOOK_UP).saturating_add(2))?;
                let rest = conjunction.key(Some(axis));
                if positions.get(&rest).is_some_and(|rest| gone.get(*rest) == Some(&false)) {
                    // The box without this side is in the union too, and contains this one.
                    change(&mut gone, position, |gone| *gone = true);
                    continue;
                }
                let group = *alike.entry(rest).or_insert(groups.len());
                if group == groups.len() {
                    groups.push(Vec::new());
                }
                change(&mut groups, group, |group| group.push(position));
            }
            for group in groups.into_iter().filter(|group| group.len() > 1) {
                let boxes: Vec<&Conjunction> = group.iter().filter_map(|position| self.boxes.get(*position)).collect();
                let side = ClassSet::union(boxes.iter().filter_map(|conjunction| conjunction.side(axis)));
                merged.extend(boxes.first().and_then(|first| first.with_side(axis, &side, space)));
                for position in group {
                    change(&mut gone, position, |gone| *gone = true);
                }
            }
        }
        let kept = self.boxes.into_iter().zip(gone).filter(|(_, gone)| !gone).map(|(conjunction, _)| conjunction);
        merged.extend(kept);
        Ok(merged)
    }
}

/// The position of each box by its key; of equal boxes that of the first.
fn positions(boxes: &[Conjunction], budget: &mut Budget) -> Result<Positions, Exhausted> {
    let mut positions = Positions::new();
    for (position, conjunction) in boxes.iter().enumerate() {
        budget.spend(conjunction.size().saturating_add(LOOK_UP))?;
        positions.entry(conjunction.key(None)).or_insert(position);
    }
    Ok(positions)
}
