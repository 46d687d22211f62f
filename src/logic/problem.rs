//! One search problem, made small before the search begins.
//!
//! Each clause is cut down to the box that is searched. A clause that every point of the box meets is dropped. An axis on
//! which no point of the box can meet the clause is left out of it. Then, on each axis, adjacent classes that no clause
//! tells apart are joined into one *segment*. Tied axes share their segments, so that "the same segment" still means "the
//! same value". A tie becomes one clause per segment.

use super::budget::{Budget, Exhausted};
use super::class_set::ClassSet;
use super::facts::{Clause, Facts, size};
use super::one_clause::{POINT, free, preferred};
use super::ordered::{Positions, ascending, pack, small, unpack, wide};
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
    /// For each segment the class whose example represents it.
    examples: Vec<(Kind, u32)>,
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

/// Steps for one side of a clause that is cut down, in addition to the sizes of what is compared.
const SIDE: usize = 3;
/// Steps for a literal that gets its number.
const NUMBERED: usize = 7;

fn cut_down<'d, K: Copy>(
    clause: &[(K, ClassSet)],
    domain: impl Fn(K) -> Option<&'d ClassSet>,
    budget: &mut Budget,
) -> Result<Cut<K>, Exhausted> {
    budget.spend(SIDE)?;
    let mut left = Vec::new();
    for (key, avoided) in clause {
        let domain = domain(*key);
        let sizes = avoided.size().saturating_add(domain.map_or(0, ClassSet::size));
        budget.spend(sizes.saturating_add(SIDE))?;
        let here = domain.map_or_else(|| avoided.clone(), |domain| avoided.intersection(domain));
        if here.is_empty() {
            return Ok(Cut::Met);
        }
        if domain != Some(&here) {
            left.push((*key, here));
        }
    }
    Ok(if left.is_empty() { Cut::Unmeetable } else { Cut::Left(left) })
}

impl Problem {
    /// The problem of finding a point of the box that meets every clause and every fact. `None` when it is clear without a
    /// search that there is no such point.
    ///
    /// # Errors
    /// When the budget is spent first.
    pub fn new(
        space: &Space<'_>,
        inner: &Conjunction,
        clauses: &[Clause],
        facts: &Facts,
        budget: &mut Budget,
    ) -> Result<Option<Self>, Exhausted> {
        let mut kept: Vec<Clause> = Vec::new();
        for clause in clauses.iter().chain(facts.clauses()) {
            match cut_down(clause, |axis| inner.side(axis), budget)? {
                Cut::Met => {}
                Cut::Unmeetable => return Ok(None),
                Cut::Left(clause) => kept.push(clause),
            }
        }
        budget.spend(kept.iter().map(size).fold(inner.size(), usize::saturating_add))?;
        let mut axes = named_axes(&kept);
        let ties = binding_ties(space, facts.ties(), inner, &mut axes, budget)?;
        budget.spend(axes.len().saturating_add(ties.len()).saturating_mul(SIDE))?;
        let cuts = Cuts::new(space, inner, &kept, &axes, &ties);
        let mut problem = Problem { variables: Vec::new(), clauses: Vec::new() };
        for axis in &axes {
            let cuts = cuts.of(space, *axis);
            let everything = ClassSet::all(space.count(*axis));
            // Axes that share their classes share their cuts, so these are paid for with each axis.
            budget.spend(cuts.len().saturating_mul(2))?;
            let mut examples = Vec::with_capacity(cuts.len());
            for (low, high) in cuts.iter().zip(cuts.iter().skip(1)) {
                let found = preferred(space, *axis, unpack(*low).1..unpack(*high).1, budget)?;
                debug_assert!(found.is_some(), "an empty segment of {axis:?}");
                examples.push(found.unwrap_or((Kind::Words, 0)));
            }
            problem.variables.push(Variable {
                axis: *axis,
                domain: Cuts::segments(inner.side(*axis).unwrap_or(&everything), cuts),
                examples,
            });
        }
        let mut numbering = Positions::new();
        for clause in kept {
            budget.spend(size(&clause).saturating_add(clause.len().saturating_mul(NUMBERED)))?;
            let literals = clause.into_iter().filter_map(|(axis, avoided)| {
                Some((axes.binary_search(&axis).ok()?, Cuts::segments(&avoided, cuts.of(space, axis))))
            });
            problem.clauses.push(number(literals.collect(), &mut numbering));
        }
        for (from, to) in ties {
            let (Ok(from), Ok(to)) = (axes.binary_search(&from), axes.binary_search(&to)) else { continue };
            for clause in problem.tie(from, to, space, budget)? {
                match cut_down(&clause, |variable: usize| problem.domain(variable), budget)? {
                    Cut::Met => {}
                    Cut::Unmeetable => return Ok(None),
                    Cut::Left(clause) => {
                        budget.spend(clause.len().saturating_mul(NUMBERED))?;
                        problem.clauses.push(number(clause, &mut numbering));
                    }
                }
            }
        }
        Ok(Some(problem))
    }

    /// For each segment of values: "not this one here, or this one there".
    fn tie(
        &self,
        from: usize,
        to: usize,
        space: &Space<'_>,
        budget: &mut Budget,
    ) -> Result<Vec<Vec<(usize, ClassSet)>>, Exhausted> {
        let (Some(source), Some(target)) = (self.variables.get(from), self.variables.get(to)) else {
            return Ok(Vec::new());
        };
        let each = target.domain.size().saturating_add(SIDE * 3);
        budget.spend(usize::try_from(source.domain.count()).unwrap_or(usize::MAX).saturating_mul(each))?;
        let absent = space.absent(source.axis);
        let values = source.domain.classes().filter(|segment| absent != Some(source.class(*segment)));
        let clauses = values.map(|segment| {
            let same = ClassSet::one(segment);
            let other = target.domain.intersection(&same.complement(u32::MAX));
            // A target that can take only this segment always meets the tie: there is nothing for it to avoid.
            vec![(from, same), (to, other)]
        });
        Ok(clauses.collect())
    }

    pub fn domain(&self, variable: usize) -> Option<&ClassSet> {
        self.variables.get(variable).map(|variable| &variable.domain)
    }

    /// The point of the box that takes the chosen segments, by variable. Where nothing is chosen the point is absent, or
    /// takes the preferred example.
    ///
    /// # Errors
    /// When the budget is spent first.
    pub fn point(
        &self,
        space: &Space<'_>,
        inner: &Conjunction,
        chosen: &[Option<u32>],
        budget: &mut Budget,
    ) -> Result<Point, Exhausted> {
        budget.spend(space.axes().count().saturating_mul(POINT))?;
        let mut taken = self.variables.iter().zip(chosen).peekable();
        let mut classes = Vec::with_capacity(space.axes().count());
        for axis in space.axes() {
            classes.push(match taken.next_if(|(variable, _)| variable.axis == axis) {
                Some((variable, Some(segment))) => variable.class(*segment),
                _ => free(space, inner, axis, budget)?,
            });
        }
        Ok(Point { classes })
    }
}

impl Variable {
    fn class(&self, segment: u32) -> u32 {
        self.rank(segment).1
    }

    /// Segments are tried in this order where nothing else decides.
    pub fn rank(&self, segment: u32) -> (Kind, u32) {
        debug_assert!(wide(segment) < self.examples.len(), "segment {segment} of {}", self.examples.len());
        self.examples.get(wide(segment)).copied().unwrap_or((Kind::Words, 0))
    }
}

/// The axes that clauses name, ascending.
fn named_axes(clauses: &[Clause]) -> Vec<Axis> {
    let mut axes: Vec<Axis> = clauses.iter().flatten().map(|(axis, _)| *axis).collect();
    sort_axes(&mut axes);
    axes
}

fn sort_axes(axes: &mut Vec<Axis>) {
    let numbers = axes.iter().map(|axis| u64::from(axis.number()));
    *axes = ascending(numbers.collect()).into_iter().map(|number| Axis::numbered(unpack(number).1)).collect();
}

/// The ties that can bind: those from an axis that a clause names or that cannot be absent in the box, and those from an
/// axis that such a tie leads to. Absence meets every other tie. The axes of the binding ties are added.
fn binding_ties(
    space: &Space<'_>,
    ties: &[(Axis, Axis)],
    inner: &Conjunction,
    axes: &mut Vec<Axis>,
    budget: &mut Budget,
) -> Result<Vec<(Axis, Axis)>, Exhausted> {
    budget.spend(ties.len())?;
    for (from, _) in ties {
        let absent = space.absent(*from).filter(|absent| inner.side(*from).is_none_or(|side| side.contains(*absent)));
        if absent.is_none() {
            axes.push(*from);
        }
    }
    sort_axes(axes);
    loop {
        budget.spend(ties.len().saturating_add(axes.len()).saturating_mul(2))?;
        let binds = |from: &Axis| axes.binary_search(from).is_ok();
        let binding: Vec<(Axis, Axis)> = ties.iter().filter(|(from, _)| binds(from)).copied().collect();
        let before = axes.len();
        axes.extend(binding.iter().map(|(_, to)| *to));
        sort_axes(axes);
        if axes.len() == before {
            return Ok(binding);
        }
    }
}

/// For each group of axes the classes at which a segment begins, and the number of classes at the end.
struct Cuts {
    /// Pairs of group and class, ascending.
    packed: Vec<u64>,
}

impl Cuts {
    fn new(space: &Space<'_>, inner: &Conjunction, clauses: &[Clause], axes: &[Axis], ties: &[(Axis, Axis)]) -> Self {
        let mut packed = Vec::new();
        let mut cut = |axis: Axis, set: &ClassSet| {
            let group = small(space.group(axis));
            packed.extend(set.runs().flat_map(|run| [pack(group, run.start), pack(group, run.end)]));
        };
        for axis in axes {
            cut(*axis, &ClassSet::all(space.count(*axis)));
            inner.side(*axis).into_iter().for_each(|side| cut(*axis, side));
        }
        clauses.iter().flatten().for_each(|(axis, avoided)| cut(*axis, avoided));
        // A tie tells absence from values.
        for (from, absent) in ties.iter().filter_map(|(from, _)| Some((*from, space.absent(*from)?))) {
            cut(from, &ClassSet::one(absent));
        }
        Cuts { packed: ascending(packed) }
    }

    fn of(&self, space: &Space<'_>, axis: Axis) -> &[u64] {
        let group = small(space.group(axis));
        let from = self.packed.partition_point(|packed| unpack(*packed).0 < group);
        let to = self.packed.partition_point(|packed| unpack(*packed).0 <= group);
        self.packed.get(from..to).unwrap_or_default()
    }

    /// A set of classes, all of whose ends are cuts, as a set of segments.
    fn segments(classes: &ClassSet, cuts: &[u64]) -> ClassSet {
        let segment = |class: u32| {
            let segment = cuts.partition_point(|cut| unpack(*cut).1 < class);
            debug_assert!(cuts.get(segment).is_some_and(|cut| unpack(*cut).1 == class), "{class} is not a cut");
            small(segment)
        };
        ClassSet::from_runs(classes.runs().map(|run| segment(run.start)..segment(run.end)))
    }
}

/// Gives equal literals equal numbers.
fn number(clause: Vec<(usize, ClassSet)>, numbering: &mut Positions) -> Vec<Literal> {
    let numbered = clause.into_iter().map(|(variable, avoided)| {
        let mut key = vec![small(variable)];
        avoided.write_key(&mut key);
        let next = numbering.len();
        let number = small(*numbering.entry(key).or_insert(next));
        Literal { variable, avoided, number }
    });
    numbered.collect()
}
