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

use super::budget::{Budget, Exhausted};
use super::facts::{Clause, Facts};
use super::ordered::{Positions, wide};
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
    let mut search = Search {
        problem: &problem,
        chosen: vec![None; problem.variables.len()],
        order: Vec::new(),
        failed: Positions::new(),
    };
    let found = search.run(budget)?;
    Ok(found.then(|| problem.point(space, inner, &search.chosen)))
}

/// Clauses by their position in the problem.
type Clauses = Vec<usize>;

/// What is left of some clauses on the variables that are not chosen yet: the numbers of their literals, clause by
/// clause in ascending order, each clause ended by [`END`].
type Rest = Vec<u32>;

/// No literal has this number.
const END: u32 = u32::MAX;

struct Search<'p> {
    problem: &'p Problem,
    /// The segment chosen for each variable.
    chosen: Vec<Option<u32>>,
    /// The chosen variables, the latest last.
    order: Vec<usize>,
    /// Rests that cannot be met.
    failed: Positions,
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
        let mut open = Positions::new();
        for clause in clauses {
            let numbers: Vec<u32> = self.open(*clause).map(|literal| literal.number).collect();
            budget.spend(numbers.len().saturating_add(1))?;
            if numbers.is_empty() {
                return Ok(Step::Answer(false));
            }
            open.entry(numbers).or_insert(*clause);
        }
        let clauses: Clauses = open.values().copied().collect();
        let mut parts = self.parts(&clauses, budget)?;
        if parts.len() > 1 {
            let Some(first) = parts.pop() else { return Ok(Step::Answer(true)) };
            waiting.push(Frame::All { parts });
            return Ok(Step::Meet(first));
        }
        let rest: Rest = open.into_keys().flat_map(|clause| clause.into_iter().chain([END])).collect();
        if self.failed.contains_key(&rest) {
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
                    self.choose(undone, None);
                }
                let Some(choice) = options.pop() else {
                    self.failed.insert(rest, 0);
                    return Step::Answer(false);
                };
                self.choose(variable, Some(choice.segment));
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
        literals.filter(|literal| !self.is_chosen(literal.variable))
    }

    fn is_chosen(&self, variable: usize) -> bool {
        self.chosen.get(variable).is_some_and(Option::is_some)
    }

    fn choose(&mut self, variable: usize, segment: Option<u32>) {
        self.chosen.get_mut(variable).into_iter().for_each(|chosen| *chosen = segment);
    }

    /// The clauses, split so that no variable is in two parts.
    fn parts(&self, clauses: &Clauses, budget: &mut Budget) -> Result<Vec<Clauses>, Exhausted> {
        if clauses.len() < 2 {
            return Ok(vec![clauses.clone()]);
        }
        budget.spend(self.problem.variables.len())?;
        let mut above: Vec<usize> = (0..self.problem.variables.len()).collect();
        for clause in clauses {
            let mut variables = self.open(*clause).map(|literal| literal.variable);
            let Some(first) = variables.next() else { continue };
            let mut top = top_of(&mut above, first);
            for variable in variables {
                let other = top_of(&mut above, variable);
                join(&mut above, top.max(other), top.min(other));
                top = top.min(other);
            }
        }
        // The part of each top variable, once it has one.
        let mut part_of: Vec<Option<usize>> = vec![None; above.len()];
        let mut parts: Vec<Clauses> = Vec::new();
        for clause in clauses {
            let Some(literal) = self.open(*clause).next() else { continue };
            let Some(part) = part_of.get_mut(top_of(&mut above, literal.variable)) else { continue };
            let part = *part.get_or_insert(parts.len());
            if part == parts.len() {
                parts.push(Vec::new());
            }
            parts.get_mut(part).into_iter().for_each(|part| part.push(*clause));
        }
        Ok(parts)
    }

    /// Of the shortest clause's variables the one that most clauses name.
    fn next_variable(&self, clauses: &Clauses) -> Option<usize> {
        let mut named: Vec<u32> = vec![0; self.problem.variables.len()];
        let mut shortest: Option<(usize, usize)> = None;
        for clause in clauses {
            let mut length: usize = 0;
            for literal in self.open(*clause) {
                length = length.saturating_add(1);
                named.get_mut(literal.variable).into_iter().for_each(|count| *count = count.saturating_add(1));
            }
            if shortest.is_none_or(|(_, least)| length < least) {
                shortest = Some((*clause, length));
            }
        }
        let by_use = |variable: &usize| (named.get(*variable), std::cmp::Reverse(*variable));
        self.open(shortest?.0).map(|literal| literal.variable).max_by_key(by_use)
    }

    /// The segments worth trying, the best last.
    fn options(&self, variable: usize, clauses: &Clauses, budget: &mut Budget) -> Result<Vec<Choice>, Exhausted> {
        let Some(of) = self.problem.variables.get(variable) else { return Ok(Vec::new()) };
        let segments = of.domain.runs().next_back().map_or(0, |last| wide(last.end));
        budget.spend(segments)?;
        // For each segment the clauses that it leaves unmet; `None` where one of them has no other variable left.
        let mut unmet: Vec<Option<Clauses>> = vec![Some(Vec::new()); segments];
        for clause in clauses {
            let only_here = self.open(*clause).count() == 1;
            let Some(literal) = self.open(*clause).find(|literal| literal.variable == variable) else { continue };
            budget.spend(usize::try_from(literal.avoided.count()).unwrap_or(usize::MAX))?;
            for segment in literal.avoided.classes() {
                match unmet.get_mut(wide(segment)) {
                    Some(entry) if only_here => *entry = None,
                    Some(Some(clauses)) => clauses.push(*clause),
                    _ => {}
                }
            }
        }
        let possible = |segment: u32| {
            let unmet = unmet.get_mut(wide(segment))?.take()?;
            Some(Choice { segment, unmet })
        };
        let mut choices: Vec<Choice> = of.domain.classes().filter_map(possible).collect();
        // The best first: what it leaves unmet no other leaves less of, so all that leave as much and more are dropped.
        let mut best: Vec<Choice> = Vec::new();
        while let Some(index) = (0..choices.len())
            .min_by_key(|index| choices.get(*index).map(|choice| (choice.unmet.len(), of.rank(choice.segment))))
        {
            let chosen = choices.swap_remove(index);
            budget.spend(choices.iter().map(|choice| choice.unmet.len().saturating_add(1)).sum())?;
            choices.retain(|choice| !is_subset(&chosen.unmet, &choice.unmet));
            best.push(chosen);
        }
        best.reverse();
        Ok(best)
    }
}

/// The least variable that this one is joined with.
fn top_of(above: &mut [usize], variable: usize) -> usize {
    let mut top = variable;
    while let Some(next) = above.get(top).filter(|next| **next != top) {
        top = *next;
    }
    // The next look-up is short.
    join(above, variable, top);
    top
}

fn join(above: &mut [usize], lower: usize, upper: usize) {
    above.get_mut(lower).into_iter().for_each(|above| *above = upper);
}

/// Whether every entry of one list is in the other; both keep the order of one common list.
fn is_subset(small: &[usize], large: &[usize]) -> bool {
    let mut rest = large.iter();
    small.iter().all(|wanted| rest.any(|entry| entry == wanted))
}
