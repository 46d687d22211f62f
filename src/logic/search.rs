//! The search for one point of a box that meets every clause.
//!
//! * One clause without facts needs no search ([`super::one_clause`]).
//! * The search chooses one segment after the other, on an axis of the shortest clause first. A choice that leaves all the
//!   clauses unmet that another choice leaves unmet is *dominated* and not tried: what completes it completes the other too.
//! * Clauses that share no axis are searched separately, so independent facts do not multiply.
//! * Only what is left of the clauses after a choice decides whether the choice can be completed, not the way there. So the
//!   search remembers each rest that failed, and gives up at once when it meets that rest again. Plain case splitting takes
//!   factorial time on pigeonhole problems; this search takes as many nodes as there are different rests.
//!
//! The stack is a list on the heap, because the input decides how deep the search goes, and a stack overflow is a trap.

use super::budget::{Budget, Exhausted};
use super::facts::{Clause, Facts};
use super::one_clause::meet;
use super::ordered::{Positions, change, pack, small, unpack, wide};
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
    if facts.is_empty() && clauses.len() < 2 {
        budget.spend(1)?;
        return meet(space, inner, clauses.first(), budget);
    }
    let Some(problem) = Problem::new(space, inner, &clauses, facts, budget)? else { return Ok(None) };
    budget.spend(problem.clauses.len().saturating_mul(RESTS).saturating_add(problem.variables.len()))?;
    let mut search = Search {
        problem: &problem,
        chosen: vec![None; problem.variables.len()],
        order: Vec::new(),
        rests: Rests::new(&problem),
        failed: Positions::new(),
    };
    let found = search.run(budget)?;
    if found { problem.point(space, inner, &search.chosen, budget).map(Some) } else { Ok(None) }
}

/// Clauses by their position in the problem.
type Clauses = Vec<usize>;

struct Search<'p> {
    problem: &'p Problem,
    /// The segment chosen for each variable.
    chosen: Vec<Option<u32>>,
    /// The chosen variables, the latest last.
    order: Vec<usize>,
    rests: Rests,
    /// Lists of rests that cannot all be met.
    failed: Positions,
}

/// Work that waits for the answer of the search below it.
enum Frame {
    /// One of these choices must succeed.
    Any { rest: Vec<u32>, variable: usize, options: Vec<Choice>, elsewhere: Clauses, chosen_before: usize },
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

/// Clauses that no choice has met so far, each with its literals on variables that are not chosen yet.
struct Open<'p> {
    clauses: Clauses,
    literals: Vec<&'p Literal>,
    /// For each clause where its literals end.
    ends: Vec<usize>,
}

impl<'p> Open<'p> {
    fn iter(&self) -> impl Iterator<Item = (usize, &[&'p Literal])> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let stretches = starts.zip(&self.ends).map(|(start, end)| self.literals.get(start..*end).unwrap_or_default());
        self.clauses.iter().copied().zip(stretches)
    }
}

impl<'p> Search<'p> {
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
        budget.spend(clauses.len().saturating_mul(CLAUSE))?;
        let mut rests: Vec<u64> = Vec::with_capacity(clauses.len());
        for clause in clauses {
            match self.rests.of(*clause, self.problem, &self.chosen, budget)? {
                None => return Ok(Step::Answer(false)),
                Some(rest) => rests.push(pack(rest, small(*clause))),
            }
        }
        // Two clauses with the same rest are one.
        rests.sort_unstable();
        rests.dedup_by_key(|packed| unpack(*packed).0);
        let rest: Vec<u32> = rests.iter().map(|packed| unpack(*packed).0).collect();
        if self.failed.contains_key(&rest) {
            return Ok(Step::Answer(false));
        }
        let open = self.open(rests.into_iter().map(|packed| wide(unpack(packed).1)).collect());
        budget.spend(open.literals.len().saturating_mul(NODE))?;
        let mut parts = self.parts(&open, budget)?;
        if parts.len() > 1 {
            let Some(first) = parts.pop() else { return Ok(Step::Answer(true)) };
            waiting.push(Frame::All { parts });
            return Ok(Step::Meet(first));
        }
        let Some(variable) = self.next_variable(&open) else { return Ok(Step::Answer(true)) };
        let options = self.options(variable, &open, budget)?;
        let elsewhere =
            open.iter().filter(|(_, literals)| !literals.iter().any(|literal| literal.variable == variable));
        let elsewhere = elsewhere.map(|(clause, _)| clause).collect();
        let frame = Frame::Any { rest, variable, options, elsewhere, chosen_before: self.order.len() };
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

    fn open(&self, clauses: Clauses) -> Open<'p> {
        let mut open = Open { literals: Vec::new(), ends: Vec::with_capacity(clauses.len()), clauses: Vec::new() };
        for clause in &clauses {
            let literals = self.problem.clauses.get(*clause).into_iter().flatten();
            open.literals.extend(literals.filter(|literal| !is_chosen(&self.chosen, literal)));
            open.ends.push(open.literals.len());
        }
        open.clauses = clauses;
        open
    }

    fn choose(&mut self, variable: usize, segment: Option<u32>) {
        change(&mut self.chosen, variable, |chosen| *chosen = segment);
    }

    /// The clauses, split so that no variable is in two parts.
    fn parts(&self, open: &Open<'_>, budget: &mut Budget) -> Result<Vec<Clauses>, Exhausted> {
        if open.clauses.len() < 2 {
            return Ok(vec![open.clauses.clone()]);
        }
        budget.spend(self.problem.variables.len() / VARIABLES)?;
        let mut above: Vec<usize> = (0..self.problem.variables.len()).collect();
        for (_, literals) in open.iter() {
            let mut variables = literals.iter().map(|literal| literal.variable);
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
        for (clause, literals) in open.iter() {
            let Some(literal) = literals.first() else { continue };
            let Some(part) = part_of.get_mut(top_of(&mut above, literal.variable)) else { continue };
            let part = *part.get_or_insert(parts.len());
            if part == parts.len() {
                parts.push(Vec::new());
            }
            change(&mut parts, part, |part| part.push(clause));
        }
        Ok(parts)
    }

    /// Of the variables of the shortest clauses, the one that most clauses name. The same rest must always give the same
    /// variable: otherwise rests that were reached in different ways would be searched twice.
    fn next_variable(&self, open: &Open<'_>) -> Option<usize> {
        let mut named: Vec<u32> = vec![0; self.problem.variables.len()];
        for literal in &open.literals {
            change(&mut named, literal.variable, |count| *count = count.saturating_add(1));
        }
        let least = open.iter().map(|(_, literals)| literals.len()).min()?;
        let shortest = open.iter().filter(|(_, literals)| literals.len() == least);
        let by_use = |variable: &usize| (named.get(*variable), std::cmp::Reverse(*variable));
        shortest.flat_map(|(_, literals)| literals).map(|literal| literal.variable).max_by_key(by_use)
    }

    /// The segments worth trying, the best last.
    fn options(&self, variable: usize, open: &Open<'_>, budget: &mut Budget) -> Result<Vec<Choice>, Exhausted> {
        let Some(of) = self.problem.variables.get(variable) else { return Ok(Vec::new()) };
        let segments = of.domain.runs().next_back().map_or(0, |last| wide(last.end));
        budget.spend(segments.saturating_mul(SEGMENT))?;
        // For each segment the clauses that it leaves unmet; `None` where one of them has no other variable left.
        let mut unmet: Vec<Option<Clauses>> = vec![Some(Vec::new()); segments];
        for (clause, literals) in open.iter() {
            let only_here = literals.len() == 1;
            let Some(literal) = literals.iter().find(|literal| literal.variable == variable) else { continue };
            budget.spend(usize::try_from(literal.avoided.count()).unwrap_or(usize::MAX))?;
            for segment in literal.avoided.classes() {
                match unmet.get_mut(wide(segment)) {
                    Some(entry) if only_here => *entry = None,
                    Some(Some(clauses)) => clauses.push(clause),
                    _ => {}
                }
            }
        }
        let possible = |segment: u32| {
            let unmet = unmet.get_mut(wide(segment))?.take()?;
            Some(Choice { segment, unmet })
        };
        let mut choices: Vec<Choice> = of.domain.classes().filter_map(possible).collect();
        // The choice that leaves the fewest clauses unmet comes first. Every choice that it dominates is dropped.
        let mut best: Vec<Choice> = Vec::new();
        while let Some(index) = (0..choices.len())
            .min_by_key(|index| choices.get(*index).map(|choice| (choice.unmet.len(), of.rank(choice.segment))))
        {
            let chosen = choices.swap_remove(index);
            // Most comparisons end after a few entries.
            let compared = choices.iter().map(|choice| choice.unmet.len() / COMPARED);
            budget.spend(compared.fold(choices.len(), usize::saturating_add))?;
            choices.retain(|choice| !is_subset(&chosen.unmet, &choice.unmet));
            best.push(chosen);
        }
        best.reverse();
        Ok(best)
    }
}

/// Steps for one clause whenever the search looks at what is left of it.
const CLAUSE: usize = 2;
/// Steps for one literal at a node of the search whose rest is not known to fail.
const NODE: usize = 1;
/// Variables for one step at a node of the search: all of them are counted, whether a clause names them or not.
const VARIABLES: usize = 4;
/// Steps for one segment that a variable could take.
const SEGMENT: usize = 1;
/// Entries of two choices that are compared for one step.
const COMPARED: usize = 8;
/// Steps for the rests of one clause.
const RESTS: usize = 8;
/// Steps for a rest that is looked up by what it says.
const LOOK_UP: usize = 10;

/// Gives what is left of a clause a number: equal rests, of whatever clauses, have equal numbers.
struct Rests {
    /// The number of each rest, by the numbers of its literals.
    numbers: Positions,
    /// For each clause of few literals the number of each of its rests, by which literals are left; see [`UNKNOWN`].
    known: Vec<Vec<u32>>,
}

/// The rests of a clause with more literals are looked up by what they say, each time.
const FEW: usize = 6;

/// The number of a rest that the search has not met before.
const UNKNOWN: u32 = u32::MAX;

impl Rests {
    fn new(problem: &Problem) -> Self {
        let known = problem.clauses.iter().map(|clause| match clause.len() {
            length if length <= FEW => vec![UNKNOWN; 1 << length],
            _ => Vec::new(),
        });
        Rests { numbers: Positions::new(), known: known.collect() }
    }

    /// The number of what is left of a clause. `None` when no literal is left: the clause cannot be met any more.
    fn of(
        &mut self,
        clause: usize,
        problem: &Problem,
        chosen: &[Option<u32>],
        budget: &mut Budget,
    ) -> Result<Option<u32>, Exhausted> {
        debug_assert!(clause < problem.clauses.len(), "clause {clause} of {}", problem.clauses.len());
        let Some(literals) = problem.clauses.get(clause) else { return Ok(None) };
        let left = literals.iter().filter(|literal| !is_chosen(chosen, literal));
        let few = literals.len() <= FEW;
        if few {
            let bits = literals.iter().enumerate().filter(|(_, literal)| !is_chosen(chosen, literal));
            let which = bits.fold(0, |which: usize, (bit, _)| which | (1 << bit));
            if which == 0 {
                return Ok(None);
            }
            let Some(known) = self.known.get_mut(clause).and_then(|known| known.get_mut(which)) else {
                debug_assert!(false, "rest {which} of clause {clause} has no place");
                return Ok(None);
            };
            if *known == UNKNOWN {
                budget.spend(LOOK_UP)?;
                *known = numbered(&mut self.numbers, left.map(|literal| literal.number).collect());
            }
            return Ok(Some(*known));
        }
        budget.spend(literals.len().saturating_add(LOOK_UP))?;
        let rest: Vec<u32> = left.map(|literal| literal.number).collect();
        if rest.is_empty() { Ok(None) } else { Ok(Some(numbered(&mut self.numbers, rest))) }
    }
}

fn numbered(numbers: &mut Positions, rest: Vec<u32>) -> u32 {
    let next = numbers.len();
    small(*numbers.entry(rest).or_insert(next))
}

fn is_chosen(chosen: &[Option<u32>], literal: &Literal) -> bool {
    chosen.get(literal.variable).is_some_and(Option::is_some)
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
    change(above, lower, |above| *above = upper);
}

/// Whether every entry of one list is in the other. Both are in the same order.
fn is_subset(small: &[usize], large: &[usize]) -> bool {
    let mut rest = large.iter();
    small.iter().all(|wanted| rest.any(|entry| entry == wanted))
}
