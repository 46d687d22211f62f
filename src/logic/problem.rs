//! One search, made small before it begins.
//!
//! Each clause is cut down to the box that is searched: a clause that every point of the box meets is dropped, an axis on
//! which no point of the box can meet it is left out of it. Then, axis by axis, neighbouring classes that no clause tells
//! apart are joined to one *segment*. Tied axes share their segments, so that "same segment" still means "same value",
//! and a tie becomes one clause per segment.

use std::collections::{BTreeMap, BTreeSet};

use super::budget::{Budget, Exhausted};
use super::class_set::ClassSet;
use super::facts::{Clause, Facts};
use super::partition::Kind;
use super::space::{Axis, Conjunction, Point, Space};

/// Clauses over variables that take segments.
#[derive(Debug)]
pub struct Problem {
    pub variables: Vec<Variable>,
    pub clauses: Vec<Vec<Literal>>,
}

/// One axis of the search.
#[derive(Debug)]
pub struct Variable {
    axis: Axis,
    /// The segments that lie in the box.
    pub domain: ClassSet,
    /// For each segment the class that stands for it.
    telling: Vec<(Kind, u32)>,
}

/// "The variable avoids these segments."
#[derive(Debug)]
pub struct Literal {
    pub variable: usize,
    pub avoided: ClassSet,
    /// Equal literals have equal numbers, different ones different numbers.
    pub number: u32,
}

/// A clause cut down to a box.
enum Cut<K> {
    Met,
    Unmeetable,
    Left(Vec<(K, ClassSet)>),
}

fn cut_down<'d, K: Copy>(
    clause: impl IntoIterator<Item = (K, ClassSet)>,
    domain: impl Fn(K) -> Option<&'d ClassSet>,
) -> Cut<K> {
    let mut left = Vec::new();
    for (key, avoided) in clause {
        let domain = domain(key);
        let here = domain.map_or_else(|| avoided.clone(), |domain| avoided.intersection(domain));
        if here.is_empty() {
            return Cut::Met;
        }
        if domain != Some(&here) {
            left.push((key, here));
        }
    }
    if left.is_empty() { Cut::Unmeetable } else { Cut::Left(left) }
}

impl Problem {
    /// The problem of finding a point of the box that meets every clause and every fact, or `None` when it is plain
    /// that there is none.
    ///
    /// # Errors
    /// When the budget is spent first.
    pub fn new(
        space: &Space<'_>,
        inner: &Conjunction,
        clauses: Vec<Clause>,
        facts: &Facts,
        budget: &mut Budget,
    ) -> Result<Option<Self>, Exhausted> {
        let mut kept: Vec<Clause> = Vec::new();
        for clause in clauses.into_iter().chain(facts.clauses().iter().cloned()) {
            budget.spend(clause.len().saturating_add(1))?;
            match cut_down(clause, |axis| inner.side(axis)) {
                Cut::Met => {}
                Cut::Unmeetable => return Ok(None),
                Cut::Left(clause) => kept.push(clause),
            }
        }
        let mut axes: BTreeSet<Axis> = kept.iter().flatten().map(|(axis, _)| *axis).collect();
        let ties = binding_ties(space, facts.ties(), inner, &mut axes);
        let mut problem = Problem { variables: Vec::new(), clauses: Vec::new() };
        let mut numbered = Numbering::default();
        let cuts = cuts(space, inner, &kept, &axes, &ties);
        let mut position: BTreeMap<Axis, usize> = BTreeMap::new();
        for axis in axes {
            let Some(cuts) = cuts.get(&space.group(axis)) else { continue };
            let everything = ClassSet::all(space.count(axis));
            position.insert(axis, problem.variables.len());
            problem.variables.push(Variable {
                axis,
                domain: segments(inner.side(axis).unwrap_or(&everything), cuts),
                telling: cuts
                    .iter()
                    .zip(cuts.iter().skip(1))
                    .map(|(low, high)| telling(space, axis, *low..*high))
                    .collect(),
            });
        }
        for clause in kept {
            let literals = clause.into_iter().filter_map(|(axis, avoided)| {
                Some((*position.get(&axis)?, segments(&avoided, cuts.get(&space.group(axis))?)))
            });
            problem.clauses.push(numbered.literals(literals));
        }
        for (from, to) in ties {
            let (Some(from), Some(to)) = (position.get(&from).copied(), position.get(&to).copied()) else { continue };
            for clause in problem.tie(from, to, space) {
                budget.spend(2)?;
                match cut_down(clause, |variable: usize| problem.domain(variable)) {
                    Cut::Met => {}
                    Cut::Unmeetable => return Ok(None),
                    Cut::Left(clause) => problem.clauses.push(numbered.literals(clause)),
                }
            }
        }
        Ok(Some(problem))
    }

    /// For each segment of values: "not this one here, or this one there".
    fn tie(&self, from: usize, to: usize, space: &Space<'_>) -> Vec<Vec<(usize, ClassSet)>> {
        let (Some(source), Some(target)) = (self.variables.get(from), self.variables.get(to)) else {
            return Vec::new();
        };
        let absent = space.absent(source.axis);
        let values = source.domain.classes().filter(|segment| absent != Some(source.class(*segment)));
        values
            .map(|segment| {
                let same = ClassSet::one(segment);
                let other = target.domain.intersection(&same.complement(u32::MAX));
                // A target that can be nothing else meets the tie on its own: nothing is avoided there.
                vec![(from, same), (to, other)]
            })
            .collect()
    }

    pub fn domain(&self, variable: usize) -> Option<&ClassSet> {
        self.variables.get(variable).map(|variable| &variable.domain)
    }

    /// The point of the box that takes the chosen segments; what is free is absent, or takes its most telling class.
    pub fn point(&self, space: &Space<'_>, inner: &Conjunction, chosen: &BTreeMap<usize, u32>) -> Point {
        let mut point: Point = chosen
            .iter()
            .filter_map(|(variable, segment)| {
                let variable = self.variables.get(*variable)?;
                Some((variable.axis, variable.class(*segment)))
            })
            .collect();
        for axis in space.axes() {
            let everything = ClassSet::all(space.count(axis));
            let side = inner.side(axis).unwrap_or(&everything);
            let absent = space.absent(axis).filter(|absent| side.contains(*absent));
            let free = absent.or_else(|| side.classes().min_by_key(|class| (space.kind(axis, *class), *class)));
            if let Some(class) = free {
                point.entry(axis).or_insert(class);
            }
        }
        point
    }
}

impl Variable {
    fn class(&self, segment: u32) -> u32 {
        self.rank(segment).1
    }

    /// Segments are tried in this order where nothing else decides.
    pub fn rank(&self, segment: u32) -> (Kind, u32) {
        let telling = usize::try_from(segment).ok().and_then(|segment| self.telling.get(segment));
        telling.copied().unwrap_or((Kind::Words, 0))
    }
}

/// The class that stands for a segment.
fn telling(space: &Space<'_>, axis: Axis, segment: std::ops::Range<u32>) -> (Kind, u32) {
    segment.map(|class| (space.kind(axis, class), class)).min().unwrap_or((Kind::Words, 0))
}

/// The ties that can bind: those from an axis that some clause names, or that cannot be absent in the box, and so on
/// along the chain. From every other axis a tie is met by absence. Their targets are added to the axes.
fn binding_ties(
    space: &Space<'_>,
    ties: &[(Axis, Axis)],
    inner: &Conjunction,
    axes: &mut BTreeSet<Axis>,
) -> Vec<(Axis, Axis)> {
    for (from, _) in ties {
        let absent = space.absent(*from);
        if inner.side(*from).is_some_and(|side| !absent.is_some_and(|absent| side.contains(absent))) {
            axes.insert(*from);
        }
    }
    loop {
        let binding: Vec<(Axis, Axis)> = ties.iter().filter(|(from, _)| axes.contains(from)).copied().collect();
        let before = axes.len();
        axes.extend(binding.iter().map(|(_, to)| *to));
        if axes.len() == before {
            return binding;
        }
    }
}

/// For each group of axes the classes at which a segment begins, and the number of classes at the end.
fn cuts(
    space: &Space<'_>,
    inner: &Conjunction,
    clauses: &[Clause],
    axes: &BTreeSet<Axis>,
    ties: &[(Axis, Axis)],
) -> BTreeMap<usize, Vec<u32>> {
    let mut cuts: BTreeMap<usize, BTreeSet<u32>> = BTreeMap::new();
    let mut cut = |axis: Axis, set: &ClassSet| {
        let cuts = cuts.entry(space.group(axis)).or_default();
        cuts.extend(set.runs().flat_map(|run| [run.start, run.end]));
    };
    for axis in axes {
        cut(*axis, &ClassSet::all(space.count(*axis)));
        if let Some(side) = inner.side(*axis) {
            cut(*axis, side);
        }
    }
    for (axis, avoided) in clauses.iter().flatten() {
        cut(*axis, avoided);
    }
    // A tie tells absence from values.
    for (from, absent) in ties.iter().filter_map(|(from, _)| Some((*from, space.absent(*from)?))) {
        cut(from, &ClassSet::one(absent));
    }
    cuts.into_iter().map(|(group, cuts)| (group, cuts.into_iter().collect())).collect()
}

/// A set of classes, all of whose ends are cuts, as a set of segments.
fn segments(classes: &ClassSet, cuts: &[u32]) -> ClassSet {
    let segment = |class: u32| u32::try_from(cuts.partition_point(|cut| *cut < class)).unwrap_or(u32::MAX);
    ClassSet::from_runs(classes.runs().map(|run| segment(run.start)..segment(run.end)))
}

/// Gives equal literals equal numbers.
#[derive(Default)]
struct Numbering {
    known: BTreeMap<(usize, ClassSet), u32>,
}

impl Numbering {
    fn literals(&mut self, clause: impl IntoIterator<Item = (usize, ClassSet)>) -> Vec<Literal> {
        let numbered = clause.into_iter().map(|(variable, avoided)| {
            let next = u32::try_from(self.known.len()).unwrap_or(u32::MAX);
            let number = *self.known.entry((variable, avoided.clone())).or_insert(next);
            Literal { variable, avoided, number }
        });
        numbered.collect()
    }
}
