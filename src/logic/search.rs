//! The search for one point: in a box, meeting every clause.
//!
//! * One segment after the other is chosen, on an axis of the shortest clause first. Only segments that leave a
//!   *smallest* set of clauses unmet are tried: whatever completes another choice completes one of those.
//! * Clauses that share no axis are searched apart, so independent facts do not multiply.
//! * What is left of the clauses after a choice, not how it came about, decides whether the choice can be completed. So a
//!   rest that failed once is remembered and fails at once the next time. This keeps pigeonhole-like unions, on which
//!   plain case splitting takes factorial time, down to the number of different rests.
//!
//! The stack is a list on the heap: how deep the search goes is the input's choice, and a stack overflow is a trap.

use std::collections::{BTreeMap, BTreeSet};

use super::budget::{Budget, Exhausted};
use super::facts::{Clause, Facts};
use super::problem::{Literal, Problem};
use super::space::{Conjunction, Point, Space};

/// A point of the box that meets every clause and every fact, or `None` when there is none.
///
/// # Errors
/// When the budget is spent first.
pub fn escape(
    space: &Space<'_>,
    inner: &Conjunction,
    clauses: Vec<Clause>,
    facts: &Facts,
    budget: &mut Budget,
) -> Result<Option<Point>, Exhausted> {
    let Some(problem) = Problem::new(space, inner, clauses, facts, budget)? else { return Ok(None) };
    let mut search = Search { problem: &problem, chosen: BTreeMap::new(), order: Vec::new(), failed: BTreeSet::new() };
    let found = search.run(budget)?;
    Ok(found.then(|| problem.point(space, inner, &search.chosen)))
}

/// Clauses by their position in the problem.
type Clauses = Vec<usize>;

/// What is left of some clauses on the variables that are not chosen yet: the numbers of their literals.
type Rest = Vec<Vec<u32>>;

struct Search<'p> {
    problem: &'p Problem,
    chosen: BTreeMap<usize, u32>,
    /// The chosen variables, the latest last.
    order: Vec<usize>,
    /// Rests that cannot be met.
    failed: BTreeSet<Rest>,
}

/// Work that waits for the answer of what is searched below it.
enum Frame {
    /// One of these choices must succeed.
    Any { rest: Rest, variable: usize, options: Vec<Choice>, elsewhere: Clauses, chosen_before: usize },
    /// Each of these parts must succeed.
    All { parts: Vec<Clauses> },
}

struct Choice {
    segment: u32,
    /// The clauses of the variable that it leaves unmet.
    unmet: Clauses,
}

enum Step {
    Meet(Clauses),
    Answer(bool),
}

impl Search<'_> {
    /// Whether every clause can be met; if so, `chosen` meets them.
    fn run(&mut self, budget: &mut Budget) -> Result<bool, Exhausted> {
        let mut waiting: Vec<Frame> = Vec::new();
        let mut step = Step::Meet((0..self.problem.clauses.len()).collect());
        loop {
            step = match step {
                Step::Meet(clauses) => self.meet(&clauses, &mut waiting, budget)?,
                Step::Answer(answer) => match waiting.pop() {
                    None => return Ok(answer),
                    Some(frame) => self.resume(frame, answer, &mut waiting),
                },
            };
        }
    }

    /// Begins on a set of clauses.
    fn meet(&mut self, clauses: &Clauses, waiting: &mut Vec<Frame>, budget: &mut Budget) -> Result<Step, Exhausted> {
        // Two clauses of which the same is left are one.
        let mut open: BTreeMap<Vec<u32>, usize> = BTreeMap::new();
        for clause in clauses {
            let numbers: Vec<u32> = self.open(*clause).map(|literal| literal.number).collect();
            budget.spend(numbers.len().saturating_add(1))?;
            if numbers.is_empty() {
                return Ok(Step::Answer(false));
            }
            open.entry(numbers).or_insert(*clause);
        }
        let clauses: Clauses = open.values().copied().collect();
        let mut parts = self.parts(&clauses);
        if parts.len() > 1 {
            let Some(first) = parts.pop() else { return Ok(Step::Answer(true)) };
            waiting.push(Frame::All { parts });
            return Ok(Step::Meet(first));
        }
        let rest: Rest = open.into_keys().collect();
        if self.failed.contains(&rest) {
            return Ok(Step::Answer(false));
        }
        let Some(variable) = self.next_variable(&clauses) else { return Ok(Step::Answer(true)) };
        let (on_it, elsewhere): (Clauses, Clauses) =
            clauses.iter().partition(|clause| self.open(**clause).any(|literal| literal.variable == variable));
        let options = self.options(variable, &on_it, budget)?;
        let chosen_before = self.order.len();
        let frame = Frame::Any { rest, variable, options, elsewhere, chosen_before };
        Ok(self.resume(frame, false, waiting))
    }

    /// Goes on with a frame, given the answer of what was searched below it.
    fn resume(&mut self, frame: Frame, answer: bool, waiting: &mut Vec<Frame>) -> Step {
        match frame {
            Frame::All { mut parts } => match parts.pop() {
                Some(next) if answer => {
                    waiting.push(Frame::All { parts });
                    Step::Meet(next)
                }
                _ => Step::Answer(answer),
            },
            Frame::Any { .. } if answer => Step::Answer(true),
            Frame::Any { rest, variable, mut options, elsewhere, chosen_before } => {
                for undone in self.order.split_off(chosen_before) {
                    self.chosen.remove(&undone);
                }
                let Some(choice) = options.pop() else {
                    self.failed.insert(rest);
                    return Step::Answer(false);
                };
                self.chosen.insert(variable, choice.segment);
                self.order.push(variable);
                let clauses = elsewhere.iter().copied().chain(choice.unmet).collect();
                waiting.push(Frame::Any { rest, variable, options, elsewhere, chosen_before });
                Step::Meet(clauses)
            }
        }
    }

    /// The literals of a clause on variables that are not chosen yet. A clause that is being met has no other literal
    /// that is met.
    fn open(&self, clause: usize) -> impl Iterator<Item = &Literal> {
        let literals = self.problem.clauses.get(clause).into_iter().flatten();
        literals.filter(|literal| !self.chosen.contains_key(&literal.variable))
    }

    /// The clauses, split so that no variable is in two parts.
    fn parts(&self, clauses: &Clauses) -> Vec<Clauses> {
        if clauses.len() < 2 {
            return vec![clauses.clone()];
        }
        let mut above: BTreeMap<usize, usize> = BTreeMap::new();
        for clause in clauses {
            let mut variables = self.open(*clause).map(|literal| literal.variable);
            let Some(first) = variables.next() else { continue };
            let mut top = top_of(&mut above, first);
            for variable in variables {
                let other = top_of(&mut above, variable);
                let (low, high) = (top.min(other), top.max(other));
                above.insert(high, low);
                top = low;
            }
        }
        let mut parts: BTreeMap<usize, Clauses> = BTreeMap::new();
        for clause in clauses {
            if let Some(literal) = self.open(*clause).next() {
                parts.entry(top_of(&mut above, literal.variable)).or_default().push(*clause);
            }
        }
        parts.into_values().collect()
    }

    /// Of the shortest clause's variables the one that most clauses name.
    fn next_variable(&self, clauses: &Clauses) -> Option<usize> {
        let mut named: BTreeMap<usize, usize> = BTreeMap::new();
        for literal in clauses.iter().flat_map(|clause| self.open(*clause)) {
            let count = named.entry(literal.variable).or_default();
            *count = count.saturating_add(1);
        }
        let shortest = clauses.iter().min_by_key(|clause| self.open(**clause).count())?;
        let by_use = |literal: &&Literal| (named.get(&literal.variable), std::cmp::Reverse(literal.variable));
        self.open(*shortest).max_by_key(by_use).map(|literal| literal.variable)
    }

    /// The segments worth trying, the best last.
    fn options(&self, variable: usize, clauses: &Clauses, budget: &mut Budget) -> Result<Vec<Choice>, Exhausted> {
        let Some(of) = self.problem.variables.get(variable) else { return Ok(Vec::new()) };
        let mut unmet: BTreeMap<u32, Clauses> = BTreeMap::new();
        let mut impossible: BTreeSet<u32> = BTreeSet::new();
        for clause in clauses {
            let only_here = self.open(*clause).count() == 1;
            let Some(literal) = self.open(*clause).find(|literal| literal.variable == variable) else { continue };
            budget.spend(usize::try_from(literal.avoided.count()).unwrap_or(usize::MAX))?;
            for segment in literal.avoided.classes() {
                if only_here {
                    impossible.insert(segment);
                } else {
                    unmet.entry(segment).or_default().push(*clause);
                }
            }
        }
        let segments = of.domain.classes().filter(|segment| !impossible.contains(segment));
        let mut choices: Vec<Choice> =
            segments.map(|segment| Choice { segment, unmet: unmet.remove(&segment).unwrap_or_default() }).collect();
        budget.spend(choices.len())?;
        choices.sort_by_cached_key(|choice| (choice.unmet.len(), of.rank(choice.segment)));
        let mut best: Vec<Choice> = Vec::new();
        for choice in choices {
            let nothing_left = choice.unmet.is_empty();
            budget.spend(best.iter().map(|better| better.unmet.len().saturating_add(1)).sum())?;
            if !best.iter().any(|better| is_subset(&better.unmet, &choice.unmet)) {
                best.push(choice);
            }
            if nothing_left {
                break;
            }
        }
        best.reverse();
        Ok(best)
    }
}

/// The least variable that this one is joined with.
fn top_of(above: &mut BTreeMap<usize, usize>, variable: usize) -> usize {
    let mut top = variable;
    while let Some(next) = above.get(&top).filter(|next| **next != top) {
        top = *next;
    }
    // The next look-up is short.
    above.insert(variable, top);
    top
}

/// Whether every entry of one list is in the other; both keep the order of one common list.
fn is_subset(small: &[usize], large: &[usize]) -> bool {
    let mut rest = large.iter();
    small.iter().all(|wanted| rest.any(|entry| entry == wanted))
}
