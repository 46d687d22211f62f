//! A space of points: named axes, each with a domain; and the unions of boxes in it.
//!
//! A point gives every axis a value. A [`Term`] asks conditions of some axes; the [`Conjunction`] of it is the box of
//! points that meet them all, written as one set of classes per axis. A [`Union`] is what a list of terms admits.

use std::collections::BTreeMap;

use super::budget::{Budget, Exhausted};
use super::class_set::ClassSet;
use super::condition::Condition;
use super::domain::Domain;
use super::ordered::{Positions, ascending, pack, small, unpack, wide};
use super::partition::{Cuts, Kind, Partition};

/// An axis of a space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Axis(u32);

impl Axis {
    pub(super) fn number(self) -> u32 {
        self.0
    }

    pub(super) fn numbered(number: u32) -> Self {
        Axis(number)
    }
}

/// A conjunction of conditions, as it was written: all must be met. No condition means every point.
pub type Term<'a> = Vec<(Axis, Condition<'a>)>;

/// A space in the making: it must hear of every condition before it can be cut into classes.
#[derive(Debug, Default)]
pub struct Outline<'a> {
    names: Vec<&'a str>,
    by_name: BTreeMap<&'a str, u32>,
    /// For each axis, the number of the partition that it uses; axes that share their classes share one.
    groups: Vec<usize>,
    /// For each partition its domain and its cuts.
    cuts: Vec<(Domain, Cuts<'a>)>,
}

impl<'a> Outline<'a> {
    /// The axis of this name; a new one when the name is new.
    pub fn axis(&mut self, name: &'a str, domain: Domain) -> Axis {
        if let Some(axis) = self.by_name.get(name) {
            return Axis(*axis);
        }
        let axis = small(self.names.len());
        self.names.push(name);
        self.by_name.insert(name, axis);
        self.groups.push(self.cuts.len());
        self.cuts.push((domain, Cuts::default()));
        Axis(axis)
    }

    fn group(&self, axis: Axis) -> usize {
        self.groups.get(wide(axis.0)).copied().unwrap_or_default()
    }

    /// Takes note of every condition of a term.
    pub fn mention(&mut self, term: &Term<'a>) {
        for (axis, condition) in term {
            let group = self.group(*axis);
            if let Some((_, cuts)) = self.cuts.get_mut(group) {
                cuts.mention(condition);
            }
        }
    }

    /// Lets two axes share their classes, so that "the same class" means "the same value". Call it before any term is
    /// mentioned.
    pub fn share(&mut self, from: Axis, to: Axis) {
        let (old, new) = (self.group(from), self.group(to));
        for group in &mut self.groups {
            if *group == old {
                *group = new;
            }
        }
    }

    /// Cuts every domain into classes.
    pub fn cut(self) -> Space<'a> {
        Space {
            names: self.names,
            by_name: self.by_name,
            groups: self.groups,
            partitions: self.cuts.iter().map(|(domain, cuts)| Partition::new(*domain, cuts)).collect(),
        }
    }
}

/// A space whose domains are cut into classes.
#[derive(Debug)]
pub struct Space<'a> {
    names: Vec<&'a str>,
    by_name: BTreeMap<&'a str, u32>,
    groups: Vec<usize>,
    partitions: Vec<Partition<'a>>,
}

/// A box: one set of classes per axis; an axis that is not listed may have any value.
///
/// Invariants: sides are sorted by axis; no side is empty (so every conjunction holds at least one point); no side holds
/// every class. Equal boxes are equal values.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Conjunction {
    sides: Vec<(Axis, ClassSet)>,
}

/// A union of boxes, in a fixed order, each once. No box means no point.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Union {
    boxes: Vec<Conjunction>,
}

/// A point: one class for each axis of the space.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Point {
    pub(super) classes: Vec<u32>,
}

impl Point {
    /// The class that the point has on an axis.
    pub fn class(&self, axis: Axis) -> Option<u32> {
        self.classes.get(wide(axis.0)).copied()
    }
}

impl<'a> Space<'a> {
    /// How many classes the axis has.
    pub fn count(&self, axis: Axis) -> u32 {
        self.partition(axis).map_or(0, Partition::count)
    }

    /// The axes of the space.
    pub fn axes(&self) -> impl Iterator<Item = Axis> {
        (0..small(self.names.len())).map(Axis)
    }

    /// The axis of this name, if the space has one.
    pub fn axis(&self, name: &str) -> Option<Axis> {
        self.by_name.get(name).copied().map(Axis)
    }

    pub fn name(&self, axis: Axis) -> &'a str {
        self.names.get(wide(axis.0)).copied().unwrap_or_default()
    }

    /// Axes that share their classes answer the same number.
    pub fn group(&self, axis: Axis) -> usize {
        self.groups.get(wide(axis.0)).copied().unwrap_or_default()
    }

    /// The class of absence on this axis, if there is one.
    pub fn absent(&self, axis: Axis) -> Option<u32> {
        self.partition(axis)?.absent()
    }

    /// What the class holds.
    pub fn kind(&self, axis: Axis, class: u32) -> Kind {
        self.partition(axis).map_or(Kind::Words, |partition| partition.kind(class))
    }

    /// The value that stands for a class; `None` for absence.
    pub fn example(&self, axis: Axis, class: u32) -> Option<&str> {
        self.partition(axis)?.example(class)
    }

    /// The value of a point on an axis; `None` for absence.
    pub fn value(&self, axis: Axis, point: &Point) -> Option<&str> {
        self.example(axis, point.class(axis)?)
    }

    fn partition(&self, axis: Axis) -> Option<&Partition<'a>> {
        self.partitions.get(self.group(axis))
    }

    /// The box of the points that meet every condition of the term, or `None` when there is no such point.
    pub fn conjunction(&self, term: &Term<'_>) -> Option<Conjunction> {
        if let [(axis, condition)] = term.as_slice() {
            return Conjunction::new(vec![(*axis, self.partition(*axis)?.meeting(condition))], self);
        }
        let by_axis = (0..).zip(term).map(|(position, (axis, _))| pack(axis.0, position));
        let mut sides: Vec<(Axis, ClassSet)> = Vec::with_capacity(term.len());
        for (_, position) in ascending(by_axis.collect()).into_iter().map(unpack) {
            let (axis, condition) = term.get(wide(position))?;
            let meeting = self.partition(*axis)?.meeting(condition);
            match sides.last_mut() {
                Some((last, side)) if last == axis => *side = side.intersection(&meeting),
                _ => sides.push((*axis, meeting)),
            }
        }
        Conjunction::new(sides, self)
    }

    /// What a list of terms admits.
    pub fn union<'t>(&self, terms: impl IntoIterator<Item = &'t Term<'t>>) -> Union {
        Union::new(terms.into_iter().filter_map(|term| self.conjunction(term)).collect())
    }
}

impl Conjunction {
    /// `None` when a side is empty: no point meets it. The sides must be sorted by axis.
    fn new(mut sides: Vec<(Axis, ClassSet)>, space: &Space<'_>) -> Option<Self> {
        if sides.iter().any(|(_, side)| side.is_empty()) {
            return None;
        }
        sides.retain(|(axis, side)| side.count() < u64::from(space.count(*axis)));
        Some(Conjunction { sides })
    }

    /// The sides that leave something out, by axis.
    pub fn sides(&self) -> impl Iterator<Item = (Axis, &ClassSet)> {
        self.sides.iter().map(|(axis, side)| (*axis, side))
    }

    /// The classes admitted on an axis; `None` when all are.
    pub fn side(&self, axis: Axis) -> Option<&ClassSet> {
        let position = self.sides.partition_point(|(other, _)| *other < axis);
        self.sides.get(position).filter(|(other, _)| *other == axis).map(|(_, side)| side)
    }

    pub fn intersection(&self, other: &Conjunction, space: &Space<'_>) -> Option<Conjunction> {
        let mut sides = Vec::with_capacity(self.sides.len().saturating_add(other.sides.len()));
        let (mut mine, mut theirs) = (self.sides.iter().peekable(), other.sides.iter().peekable());
        loop {
            let side = match (mine.peek(), theirs.peek()) {
                (None, None) => return Conjunction::new(sides, space),
                (Some((left, side)), Some((right, other))) if left == right => {
                    let both = (*left, side.intersection(other));
                    mine.next();
                    theirs.next();
                    Some(both)
                }
                (Some((left, _)), Some((right, _))) if left > right => theirs.next().cloned(),
                (Some(_), _) => mine.next().cloned(),
                (None, Some(_)) => theirs.next().cloned(),
            };
            sides.extend(side);
        }
    }

    pub fn is_disjoint(&self, other: &Conjunction) -> bool {
        self.sides().any(|(axis, side)| other.side(axis).is_some_and(|theirs| side.is_disjoint(theirs)))
    }

    /// Whether every point of this box lies in the other: since no side is empty, axis by axis.
    pub fn is_subset(&self, other: &Conjunction) -> bool {
        other.sides().all(|(axis, theirs)| self.side(axis).is_some_and(|side| side.is_subset(theirs)))
    }

    /// The box as numbers that no other box is written as, one axis left out if asked.
    fn key(&self, without: Option<Axis>) -> Vec<u32> {
        let mut key = Vec::with_capacity(self.sides.len().saturating_mul(4));
        for (axis, side) in self.sides().filter(|(axis, _)| Some(*axis) != without) {
            key.push(axis.0);
            side.write_key(&mut key);
        }
        key
    }

    /// The box with another side on an axis that it names.
    fn with_side(&self, axis: Axis, side: &ClassSet, space: &Space<'_>) -> Option<Conjunction> {
        let replaced =
            self.sides().map(|(other, mine)| (other, if other == axis { side.clone() } else { mine.clone() }));
        Conjunction::new(replaced.collect(), space)
    }
}

impl Union {
    pub fn new(boxes: Vec<Conjunction>) -> Self {
        if boxes.len() < 2 { Union { boxes } } else { Union::keyed(&boxes).0 }
    }

    /// The union of these boxes, with the position of each box in it by its key.
    fn keyed(boxes: &[Conjunction]) -> (Self, Positions) {
        let mut positions = Positions::new();
        for (position, conjunction) in boxes.iter().enumerate() {
            positions.entry(conjunction.key(None)).or_insert(position);
        }
        let boxes = positions.values().filter_map(|position| boxes.get(*position)).cloned().collect();
        positions.values_mut().enumerate().for_each(|(position, value)| *value = position);
        (Union { boxes }, positions)
    }

    /// The union of every point.
    pub fn everything() -> Self {
        Union { boxes: vec![Conjunction::default()] }
    }

    pub fn boxes(&self) -> &[Conjunction] {
        &self.boxes
    }

    pub fn is_empty(&self) -> bool {
        self.boxes.is_empty()
    }

    /// Which of these boxes are boxes of this union as they stand.
    pub fn among<'b>(&self, boxes: &'b [Conjunction]) -> impl Iterator<Item = (&'b Conjunction, bool)> {
        let several = self.boxes.len() > 1;
        let positions = if several { Union::keyed(&self.boxes).1 } else { Positions::new() };
        boxes.iter().map(move |conjunction| {
            let stands_here = match several {
                true => positions.contains_key(&conjunction.key(None)),
                false => self.boxes.first() == Some(conjunction),
            };
            (conjunction, stands_here)
        })
    }

    /// The points in either.
    pub fn or(&self, other: &Union) -> Union {
        Union::new([self.boxes.as_slice(), other.boxes.as_slice()].concat())
    }

    /// The points in both.
    pub fn and(&self, other: &Union, space: &Space<'_>) -> Union {
        if *other == Union::everything() {
            return self.clone();
        }
        let pairs = self.boxes.iter().flat_map(|mine| other.boxes.iter().map(move |theirs| (mine, theirs)));
        Union::new(pairs.filter_map(|(mine, theirs)| mine.intersection(theirs, space)).collect())
    }

    /// The same points in fewer boxes: boxes that differ on one axis alone become one, until none do.
    ///
    /// # Errors
    /// When the budget is spent; the union as it was answers every question as well.
    pub fn merged(&self, space: &Space<'_>, budget: &mut Budget) -> Result<Union, Exhausted> {
        if self.boxes.len() < 2 {
            return Ok(self.clone());
        }
        let (mut union, mut positions) = Union::keyed(&self.boxes);
        while union.boxes.len() > 1 {
            let before = union.boxes.len();
            let merged = union.merged_once(&positions, space, budget)?;
            (union, positions) = Union::keyed(&merged);
            if union.boxes.len() == before {
                break;
            }
        }
        Ok(union)
    }

    /// One round over all axes; a box takes part in one merge at the most.
    fn merged_once(
        &self,
        positions: &Positions,
        space: &Space<'_>,
        budget: &mut Budget,
    ) -> Result<Vec<Conjunction>, Exhausted> {
        let mut by_axis = Vec::new();
        for (position, conjunction) in (0..).zip(&self.boxes) {
            budget.spend(conjunction.sides.len().saturating_add(1))?;
            by_axis.extend(conjunction.sides().map(|(axis, _)| pack(axis.0, position)));
        }
        let by_axis = ascending(by_axis);
        let mut gone: Vec<bool> = vec![false; self.boxes.len()];
        let mut merged: Vec<Conjunction> = Vec::new();
        for mentioning in by_axis.chunk_by(|left, right| unpack(*left).0 == unpack(*right).0) {
            let Some(axis) = mentioning.first().map(|first| Axis(unpack(*first).0)) else { continue };
            // Positions of boxes that are alike but for this axis.
            let mut groups: Vec<Vec<usize>> = Vec::new();
            let mut alike = Positions::new();
            for position in mentioning.iter().map(|packed| wide(unpack(*packed).1)) {
                let Some(conjunction) = self.boxes.get(position) else { continue };
                if gone.get(position) != Some(&false) {
                    continue;
                }
                budget.spend(conjunction.sides.len())?;
                let rest = conjunction.key(Some(axis));
                if positions.get(&rest).is_some_and(|rest| gone.get(*rest) == Some(&false)) {
                    // The box without this side is there, and holds this one.
                    gone.get_mut(position).into_iter().for_each(|gone| *gone = true);
                    continue;
                }
                let group = *alike.entry(rest).or_insert(groups.len());
                if group == groups.len() {
                    groups.push(Vec::new());
                }
                groups.get_mut(group).into_iter().for_each(|group| group.push(position));
            }
            for group in groups.into_iter().filter(|group| group.len() > 1) {
                let boxes: Vec<&Conjunction> = group.iter().filter_map(|position| self.boxes.get(*position)).collect();
                let side = ClassSet::union(boxes.iter().filter_map(|conjunction| conjunction.side(axis)));
                merged.extend(boxes.first().and_then(|first| first.with_side(axis, &side, space)));
                for position in group {
                    gone.get_mut(position).into_iter().for_each(|gone| *gone = true);
                }
            }
        }
        let kept = self.boxes.iter().zip(gone).filter(|(_, gone)| !gone).map(|(conjunction, _)| conjunction.clone());
        merged.extend(kept);
        Ok(merged)
    }
}
