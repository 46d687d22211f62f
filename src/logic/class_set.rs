//! A set of classes, stored as runs of consecutive numbers.
//!
//! Classes are numbered so that every condition of a selector covers a few runs. A set is then as small as the condition
//! that was written, however many classes there are.

use std::ops::Range;

use super::ordered::{ascending, pack, small, unpack};

/// A set of class numbers.
///
/// Invariant (canonical): runs are not empty, ascending, and neither overlap nor touch. Equal sets are equal values.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct ClassSet {
    runs: Vec<(u32, u32)>,
}

impl ClassSet {
    /// Brings any runs, half-open, in any order, into canonical form.
    pub fn from_runs(runs: impl IntoIterator<Item = Range<u32>>) -> Self {
        let packed = runs.into_iter().filter(|run| run.start < run.end).map(|run| pack(run.start, run.end));
        Self::canonical(packed.collect())
    }

    fn canonical(packed: Vec<u64>) -> Self {
        let mut runs: Vec<(u32, u32)> = Vec::with_capacity(packed.len());
        for (start, end) in ascending(packed).into_iter().map(unpack) {
            match runs.last_mut() {
                Some(last) if start <= last.1 => last.1 = last.1.max(end),
                _ => runs.push((start, end)),
            }
        }
        ClassSet::checked(runs)
    }

    /// The set of these runs, which must be canonical.
    fn checked(runs: Vec<(u32, u32)>) -> Self {
        debug_assert!(runs.iter().all(|(start, end)| start < end), "an empty run in {runs:?}");
        let touching = runs.iter().zip(runs.iter().skip(1)).find(|(one, next)| one.1 >= next.0);
        debug_assert!(touching.is_none(), "runs that touch: {touching:?}");
        ClassSet { runs }
    }

    pub fn run(run: Range<u32>) -> Self {
        let runs = if run.start < run.end { vec![(run.start, run.end)] } else { Vec::new() };
        ClassSet { runs }
    }

    pub fn one(class: u32) -> Self {
        Self::run(class..class.saturating_add(1))
    }

    /// Every class below `count`.
    pub fn all(count: u32) -> Self {
        Self::run(0..count)
    }

    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// How many numbers the set is written with: what it costs to copy or compare it.
    pub fn size(&self) -> usize {
        self.runs.len()
    }

    /// How many classes are in the set.
    pub fn count(&self) -> u64 {
        self.runs().map(length).sum()
    }

    /// The runs, ascending.
    pub fn runs(&self) -> impl DoubleEndedIterator<Item = Range<u32>> {
        self.runs.iter().map(|(start, end)| *start..*end)
    }

    /// The classes, ascending.
    pub fn classes(&self) -> impl DoubleEndedIterator<Item = u32> {
        self.runs().flatten()
    }

    pub fn contains(&self, class: u32) -> bool {
        let after = self.runs.partition_point(|(start, _)| *start <= class);
        after.checked_sub(1).and_then(|last| self.runs.get(last)).is_some_and(|(_, end)| class < *end)
    }

    pub fn union<'s>(sets: impl IntoIterator<Item = &'s ClassSet>) -> ClassSet {
        Self::from_runs(sets.into_iter().flat_map(ClassSet::runs))
    }

    pub fn intersection(&self, other: &ClassSet) -> ClassSet {
        // Canonical without sorting: overlaps touch only where runs of one of the sets touch.
        ClassSet::checked(self.overlaps(other).map(|run| (run.start, run.end)).collect())
    }

    /// The classes below `count` that are not in the set.
    pub fn complement(&self, count: u32) -> ClassSet {
        let starts = std::iter::once(0).chain(self.runs.iter().map(|(_, end)| *end));
        let ends = self.runs.iter().map(|(start, _)| *start).chain(std::iter::once(count));
        Self::from_runs(starts.zip(ends).map(|(start, end)| start..end.min(count)))
    }

    pub fn is_disjoint(&self, other: &ClassSet) -> bool {
        self.overlaps(other).next().is_none()
    }

    pub fn is_subset(&self, other: &ClassSet) -> bool {
        let shared: u64 = self.overlaps(other).map(length).sum();
        shared == self.count()
    }

    /// Appends the set to a longer key. Different sets are written as different numbers.
    pub fn write_key(&self, key: &mut Vec<u32>) {
        key.push(small(self.runs.len()));
        for (start, end) in &self.runs {
            key.extend([*start, *end]);
        }
    }

    /// The overlaps of both sets, run by run.
    fn overlaps(&self, other: &ClassSet) -> impl Iterator<Item = Range<u32>> {
        let (mut mine, mut theirs) = (self.runs.iter().peekable(), other.runs.iter().peekable());
        std::iter::from_fn(move || {
            loop {
                let (left, right) = (mine.peek()?, theirs.peek()?);
                let run = left.0.max(right.0)..left.1.min(right.1);
                if left.1 <= right.1 {
                    mine.next();
                } else {
                    theirs.next();
                }
                if run.start < run.end {
                    return Some(run);
                }
            }
        })
    }
}

fn length(run: Range<u32>) -> u64 {
    u64::from(run.end.saturating_sub(run.start))
}
