//! A space of points: named axes, each with a domain; and the unions of boxes in it.
//!
//! A point gives every axis a value. A [`Term`] asks conditions of some axes; the [`Conjunction`] of it is the box of
//! points that meet them all, written as one set of classes per axis. A [`Union`] is what a list of terms admits.

use std::collections::{BTreeMap, BTreeSet};

use super::budget::{Budget, Exhausted};
use super::class_set::ClassSet;
use super::condition::Condition;
use super::domain::Domain;
use super::partition::{Cuts, Kind, Partition};

/// An axis of a space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Axis(usize);

/// A conjunction of conditions, as it was written: all must be met. No condition means every point.
pub type Term<'a> = Vec<(Axis, Condition<'a>)>;

/// A space in the making: it must hear of every condition before it can be cut into classes.
#[derive(Debug, Default)]
pub struct Outline<'a> {
    names: Vec<&'a str>,
    by_name: BTreeMap<&'a str, Axis>,
    /// For each axis, the number of the partition that it uses; axes that share their classes share one.
    groups: Vec<usize>,
    /// For each partition its domain and its cuts.
    cuts: Vec<(Domain, Cuts<'a>)>,
}

impl<'a> Outline<'a> {
    /// The axis of this name; a new one when the name is new.
    pub fn axis(&mut self, name: &'a str, domain: Domain) -> Axis {
        if let Some(axis) = self.by_name.get(name) {
            return *axis;
        }
        let axis = Axis(self.names.len());
        self.names.push(name);
        self.by_name.insert(name, axis);
        self.groups.push(self.cuts.len());
        self.cuts.push((domain, Cuts::default()));
        axis
    }

    /// Takes note of every condition of a term.
    pub fn mention(&mut self, term: &Term<'a>) {
        for (axis, condition) in term {
            let group = self.groups.get(axis.0).copied().unwrap_or_default();
            if let Some((_, cuts)) = self.cuts.get_mut(group) {
                cuts.mention(condition);
            }
        }
    }

    /// Lets two axes share their classes, so that "the same class" means "the same value". Call it before any term is
    /// mentioned.
    pub fn share(&mut self, from: Axis, to: Axis) {
        let old = self.groups.get(from.0).copied().unwrap_or_default();
        let new = self.groups.get(to.0).copied().unwrap_or_default();
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
    by_name: BTreeMap<&'a str, Axis>,
    groups: Vec<usize>,
    partitions: Vec<Partition<'a>>,
}

/// A box: one set of classes per axis; an axis that is not listed may have any value.
///
/// Invariants: sides are sorted by axis; no side is empty (so every conjunction holds at least one point); no side holds
/// every class.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Conjunction {
    sides: Vec<(Axis, ClassSet)>,
}

/// A union of boxes, in a fixed order, each once. No box means no point.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Union {
    boxes: Vec<Conjunction>,
}

/// A point, as far as it has been chosen: one class per axis.
pub type Point = BTreeMap<Axis, u32>;

impl<'a> Space<'a> {
    /// How many classes the axis has.
    pub fn count(&self, axis: Axis) -> u32 {
        self.partition(axis).map_or(0, Partition::count)
    }

    /// The axes of the space.
    pub fn axes(&self) -> impl Iterator<Item = Axis> {
        (0..self.names.len()).map(Axis)
    }

    /// The axis of this name, if the space has one.
    pub fn axis(&self, name: &str) -> Option<Axis> {
        self.by_name.get(name).copied()
    }

    pub fn name(&self, axis: Axis) -> &'a str {
        self.names.get(axis.0).copied().unwrap_or_default()
    }

    /// Axes that share their classes answer the same number.
    pub fn group(&self, axis: Axis) -> usize {
        self.groups.get(axis.0).copied().unwrap_or_default()
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

    fn partition(&self, axis: Axis) -> Option<&Partition<'a>> {
        self.partitions.get(self.group(axis))
    }

    /// The box of the points that meet every condition of the term, or `None` when there is no such point.
    pub fn conjunction(&self, term: &Term<'_>) -> Option<Conjunction> {
        let mut sides: BTreeMap<Axis, ClassSet> = BTreeMap::new();
        for (axis, condition) in term {
            let meeting = self.partition(*axis)?.meeting(condition);
            let side = match sides.get(axis) {
                Some(side) => side.intersection(&meeting),
                None => meeting,
            };
            sides.insert(*axis, side);
        }
        Conjunction::new(sides, self)
    }

    /// What a list of terms admits.
    pub fn union<'t>(&self, terms: impl IntoIterator<Item = &'t Term<'t>>) -> Union {
        Union::new(terms.into_iter().filter_map(|term| self.conjunction(term)))
    }
}

impl Conjunction {
    /// `None` when a side is empty: no point meets it.
    fn new(sides: impl IntoIterator<Item = (Axis, ClassSet)>, space: &Space<'_>) -> Option<Self> {
        let mut kept = Vec::new();
        for (axis, side) in sides {
            if side.is_empty() {
                return None;
            }
            if side.count() < u64::from(space.count(axis)) {
                kept.push((axis, side));
            }
        }
        Some(Conjunction { sides: kept })
    }

    /// The sides that leave something out, by axis.
    pub fn sides(&self) -> impl Iterator<Item = (Axis, &ClassSet)> {
        self.sides.iter().map(|(axis, side)| (*axis, side))
    }

    /// The classes admitted on an axis; `None` when all are.
    pub fn side(&self, axis: Axis) -> Option<&ClassSet> {
        let position = self.sides.binary_search_by_key(&axis, |(axis, _)| *axis).ok()?;
        self.sides.get(position).map(|(_, side)| side)
    }

    pub fn intersection(&self, other: &Conjunction, space: &Space<'_>) -> Option<Conjunction> {
        let mut sides: BTreeMap<Axis, ClassSet> = self.sides.iter().cloned().collect();
        for (axis, side) in other.sides() {
            let both = self.side(axis).map_or_else(|| side.clone(), |mine| mine.intersection(side));
            sides.insert(axis, both);
        }
        Conjunction::new(sides, space)
    }

    pub fn is_disjoint(&self, other: &Conjunction) -> bool {
        self.sides().any(|(axis, side)| other.side(axis).is_some_and(|theirs| side.is_disjoint(theirs)))
    }

    /// Whether every point of this box lies in the other: since no side is empty, axis by axis.
    pub fn is_subset(&self, other: &Conjunction) -> bool {
        other.sides().all(|(axis, theirs)| self.side(axis).is_some_and(|side| side.is_subset(theirs)))
    }

    fn without(&self, axis: Axis) -> Conjunction {
        Conjunction { sides: self.sides.iter().filter(|(other, _)| *other != axis).cloned().collect() }
    }
}

impl Union {
    pub fn new(boxes: impl IntoIterator<Item = Conjunction>) -> Self {
        let boxes: BTreeSet<Conjunction> = boxes.into_iter().collect();
        Union { boxes: boxes.into_iter().collect() }
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

    pub fn has(&self, conjunction: &Conjunction) -> bool {
        self.boxes.binary_search(conjunction).is_ok()
    }

    /// The points in either.
    pub fn or(&self, other: &Union) -> Union {
        Union::new(self.boxes.iter().chain(&other.boxes).cloned())
    }

    /// The points in both.
    pub fn and(&self, other: &Union, space: &Space<'_>) -> Union {
        let pairs = self.boxes.iter().flat_map(|mine| other.boxes.iter().map(move |theirs| (mine, theirs)));
        Union::new(pairs.filter_map(|(mine, theirs)| mine.intersection(theirs, space)))
    }

    /// The same points in fewer boxes: boxes that differ on one axis alone become one, until none do.
    ///
    /// # Errors
    /// When the budget is spent; the union as it was answers every question as well.
    pub fn merged(&self, space: &Space<'_>, budget: &mut Budget) -> Result<Union, Exhausted> {
        let mut boxes: BTreeSet<Conjunction> = self.boxes.iter().cloned().collect();
        loop {
            let before = boxes.len();
            let mut by_axis: BTreeMap<Axis, Vec<Conjunction>> = BTreeMap::new();
            for conjunction in &boxes {
                budget.spend(conjunction.sides.len())?;
                for (axis, _) in conjunction.sides() {
                    by_axis.entry(axis).or_default().push(conjunction.clone());
                }
            }
            for (axis, mentioning) in by_axis {
                let mut alike: BTreeMap<Conjunction, Vec<Conjunction>> = BTreeMap::new();
                for conjunction in mentioning {
                    budget.spend(conjunction.sides.len())?;
                    // An earlier axis may have merged it away.
                    if boxes.contains(&conjunction) {
                        alike.entry(conjunction.without(axis)).or_default().push(conjunction);
                    }
                }
                for (rest, alike) in alike {
                    let absorbed = boxes.contains(&rest);
                    if alike.len() < 2 && !absorbed {
                        continue;
                    }
                    let side = ClassSet::union(alike.iter().filter_map(|conjunction| conjunction.side(axis)));
                    for conjunction in &alike {
                        boxes.remove(conjunction);
                    }
                    if !absorbed {
                        let sides = rest.sides.into_iter().chain([(axis, side)]).collect::<BTreeMap<_, _>>();
                        boxes.extend(Conjunction::new(sides, space));
                    }
                }
            }
            if boxes.len() == before {
                return Ok(Union { boxes: boxes.into_iter().collect() });
            }
        }
    }
}
