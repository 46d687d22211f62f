//! A space of points and the boxes in it. A space has named axes, each with a domain.
//!
//! A point gives every axis a value. A [`Term`] puts conditions on some axes. Its [`Conjunction`] is the box of the points
//! that meet all of them, stored as one set of classes per axis. What a list of terms admits is a union of boxes
//! ([`super::Union`]).

use std::collections::BTreeMap;

use super::budget::{Budget, Exhausted};
use super::class_set::ClassSet;
use super::condition::Condition;
use super::domain::Domain;
use super::ordered::{ascending, change, pack, small, unpack, wide};
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

/// A list of conditions that must all be met. An empty list means every point.
pub type Term<'a> = Vec<(Axis, Condition<'a>)>;

/// A space before its domains are cut into classes. Every condition must be mentioned first.
#[derive(Debug, Default)]
pub struct Outline<'a> {
    names: Vec<&'a str>,
    by_name: BTreeMap<&'a str, u32>,
    /// For each axis, the number of the partition that it uses; axes that share their classes share one.
    groups: Vec<usize>,
    /// For each partition its domain and its cuts.
    cuts: Vec<(Domain, Cuts<'a>)>,
    /// Steps that the mentioned terms and the axes cost.
    steps: usize,
}

/// Steps for an axis: it is looked up by its name, and has a partition of its own.
const AXIS: usize = 25;
/// Bytes of an axis's name for one more step. It is looked up for each condition.
const BYTES_IN_A_STEP: usize = 8;
/// Steps for a term: a list for it, and a box.
const TERM: usize = 4;

impl<'a> Outline<'a> {
    /// The axis of this name, which is made when the name is new.
    pub fn axis(&mut self, name: &'a str, domain: Domain) -> Axis {
        if let Some(axis) = self.by_name.get(name) {
            return Axis(*axis);
        }
        let axis = small(self.names.len());
        self.steps = self.steps.saturating_add(AXIS);
        self.names.push(name);
        self.by_name.insert(name, axis);
        self.groups.push(self.cuts.len());
        self.cuts.push((domain, Cuts::default()));
        Axis(axis)
    }

    fn group(&self, axis: Axis) -> usize {
        debug_assert!(wide(axis.0) < self.groups.len(), "{axis:?} is not an axis of this space");
        self.groups.get(wide(axis.0)).copied().unwrap_or_default()
    }

    /// Takes note of every condition of a term.
    pub fn mention(&mut self, term: &Term<'a>) {
        self.steps = self.steps.saturating_add(TERM);
        for (axis, condition) in term {
            let group = self.group(*axis);
            let mut steps = 0;
            change(&mut self.cuts, group, |(_, cuts)| steps = cuts.mention(condition));
            let name = self.names.get(wide(axis.0)).map_or(0, |name| name.len());
            self.steps = self.steps.saturating_add(steps).saturating_add(name / BYTES_IN_A_STEP);
        }
    }

    /// Lets two axes share their classes, so that "the same class" means "the same value". Call it before any term is
    /// mentioned.
    pub fn share(&mut self, from: Axis, to: Axis) {
        let (old, new) = (self.group(from), self.group(to));
        self.steps = self.steps.saturating_add(self.groups.len());
        for group in &mut self.groups {
            if *group == old {
                *group = new;
            }
        }
    }

    /// Cuts every domain into classes. That pays for a box of each term that was mentioned as well.
    ///
    /// # Errors
    /// When the budget is spent first.
    pub fn cut(self, budget: &mut Budget) -> Result<Space<'a>, Exhausted> {
        budget.spend(self.steps)?;
        let mut partitions = Vec::with_capacity(self.cuts.len());
        for (domain, cuts) in &self.cuts {
            partitions.push(Partition::new(*domain, cuts, budget)?);
        }
        Ok(Space { names: self.names, by_name: self.by_name, groups: self.groups, partitions })
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

/// A box: one set of classes per axis. An axis that is not listed may have any value.
///
/// Invariants: sides are sorted by axis, no side is empty (so every box holds at least one point), and no side holds every
/// class. Equal boxes are equal values.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Conjunction {
    sides: Vec<(Axis, ClassSet)>,
}

/// A point: one class for each axis of the space.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Point {
    pub(super) classes: Vec<u32>,
}

impl Point {
    /// The class that the point has on an axis.
    pub fn class(&self, axis: Axis) -> Option<u32> {
        debug_assert!(wide(axis.0) < self.classes.len(), "{axis:?} is not an axis of this point");
        self.classes.get(wide(axis.0)).copied()
    }
}

impl<'a> Space<'a> {
    /// How many classes the axis has.
    pub fn count(&self, axis: Axis) -> u32 {
        self.partition(axis).map_or(0, Partition::count)
    }

    /// The axes of the space, ascending.
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

    /// The partition that the axis uses. Axes that share their classes have the same number.
    pub fn group(&self, axis: Axis) -> usize {
        debug_assert!(wide(axis.0) < self.groups.len(), "{axis:?} is not an axis of this space");
        self.groups.get(wide(axis.0)).copied().unwrap_or_default()
    }

    /// The class of absence on this axis, if there is one.
    pub fn absent(&self, axis: Axis) -> Option<u32> {
        self.partition(axis)?.absent()
    }

    /// What the class holds.
    pub fn kind(&self, axis: Axis, class: u32) -> Kind {
        debug_assert!(class < self.count(axis), "class {class} of {}", self.count(axis));
        self.partition(axis).map_or(Kind::Words, |partition| partition.kind(class))
    }

    /// The value that represents a class; `None` for absence.
    pub fn example(&self, axis: Axis, class: u32) -> Option<&str> {
        self.partition(axis)?.example(class)
    }

    /// The value of a point on an axis; `None` for absence.
    pub fn value(&self, axis: Axis, point: &Point) -> Option<&str> {
        self.example(axis, point.class(axis)?)
    }

    /// The point with these values, `None` where an axis has no such value. `value` is asked for each axis by its name.
    pub fn point<'v>(&self, domain: Domain, value: impl Fn(&str) -> Option<&'v str>) -> Option<Point> {
        let class = |axis| self.partition(axis)?.class_of(domain, value(self.name(axis)));
        Some(Point { classes: self.axes().map(class).collect::<Option<_>>()? })
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
}

impl Conjunction {
    /// `None` when a side is empty: no point meets it. The sides must be sorted by axis.
    fn new(mut sides: Vec<(Axis, ClassSet)>, space: &Space<'_>) -> Option<Self> {
        debug_assert!(sides.is_sorted_by(|(one, _), (next, _)| one < next), "sides that are not sorted: {sides:?}");
        let in_range =
            |(axis, side): &(Axis, ClassSet)| side.runs().next_back().is_none_or(|run| run.end <= space.count(*axis));
        debug_assert!(sides.iter().all(in_range), "classes that the space does not have: {sides:?}");
        if sides.iter().any(|(_, side)| side.is_empty()) {
            return None;
        }
        sides.retain(|(axis, side)| side.count() < u64::from(space.count(*axis)));
        Some(Conjunction { sides })
    }

    /// Whether the point lies in the box.
    pub fn contains(&self, point: &Point) -> bool {
        self.sides().all(|(axis, side)| point.class(axis).is_some_and(|class| side.contains(class)))
    }

    /// The sides that leave some class out, by axis.
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

    /// What it costs to compare this box with another: its sides, and the runs of those that the other names too.
    pub fn steps_to_compare(&self, other: &Conjunction) -> usize {
        let both = self.sides().filter_map(|(axis, side)| Some(side.size().saturating_add(other.side(axis)?.size())));
        both.fold(self.sides.len(), usize::saturating_add) / 2
    }

    pub fn is_disjoint(&self, other: &Conjunction) -> bool {
        self.sides().any(|(axis, side)| other.side(axis).is_some_and(|theirs| side.is_disjoint(theirs)))
    }

    /// Whether every point of this box lies in the other: since no side is empty, axis by axis.
    pub fn is_subset(&self, other: &Conjunction) -> bool {
        other.sides().all(|(axis, theirs)| self.side(axis).is_some_and(|side| side.is_subset(theirs)))
    }

    /// How many numbers the box is written with: what it costs to copy or compare it.
    pub fn size(&self) -> usize {
        self.sides.iter().map(|(_, side)| side.size().saturating_add(1)).fold(1, usize::saturating_add)
    }

    /// The box as a list of numbers, optionally without one axis. Different boxes have different lists.
    pub(super) fn key(&self, without: Option<Axis>) -> Vec<u32> {
        let mut key = Vec::with_capacity(self.sides.len().saturating_mul(4));
        for (axis, side) in self.sides().filter(|(axis, _)| Some(*axis) != without) {
            key.push(axis.0);
            side.write_key(&mut key);
        }
        key
    }

    /// The box with another side on an axis that it names.
    pub(super) fn with_side(&self, axis: Axis, side: &ClassSet, space: &Space<'_>) -> Option<Conjunction> {
        let replaced =
            self.sides().map(|(other, mine)| (other, if other == axis { side.clone() } else { mine.clone() }));
        Conjunction::new(replaced.collect(), space)
    }
}
