//! The search with at most one clause, which needs no search. Answers what [`super::search`] would answer.

use super::budget::{Budget, Exhausted};
use super::class_set::ClassSet;
use super::facts::{Clause, size};
use super::partition::Kind;
use super::space::{Axis, Conjunction, Point, Space};

/// A point of the box that meets the clause, if there is a clause. It leaves the box of the clause on the first axis on
/// which it can. `None` when no point of the box meets the clause.
///
/// # Errors
/// When the budget is spent first.
pub fn meet(
    space: &Space<'_>,
    inner: &Conjunction,
    clause: Option<&Clause>,
    budget: &mut Budget,
) -> Result<Option<Point>, Exhausted> {
    let mut leaving = None;
    if let Some(clause) = clause {
        budget.spend(size(clause).saturating_add(inner.size()))?;
        let is_met =
            |(axis, avoided): &(Axis, ClassSet)| inner.side(*axis).is_some_and(|side| side.is_disjoint(avoided));
        if !clause.iter().any(is_met) {
            leaving = leave(space, inner, clause, budget)?;
            if leaving.is_none() {
                return Ok(None);
            }
        }
    }
    budget.spend(space.axes().count().saturating_mul(POINT))?;
    let mut classes = Vec::with_capacity(space.axes().count());
    for axis in space.axes() {
        classes.push(match leaving {
            Some((left, class)) if left == axis => class,
            _ => free(space, inner, axis, budget)?,
        });
    }
    Ok(Some(Point { classes }))
}

/// Steps for each axis of a point: its class is chosen, and the caller copies and checks its value.
pub const POINT: usize = 20;

/// The first axis of the clause on which a point of the box can avoid what the clause names, and the class that it takes.
fn leave(
    space: &Space<'_>,
    inner: &Conjunction,
    clause: &Clause,
    budget: &mut Budget,
) -> Result<Option<(Axis, u32)>, Exhausted> {
    for (axis, avoided) in clause {
        let mut left = avoided.complement(space.count(*axis));
        if let Some(side) = inner.side(*axis) {
            left = left.intersection(side);
        }
        if let Some((_, class)) = preferred(space, *axis, left.classes(), budget)? {
            return Ok(Some((*axis, class)));
        }
    }
    Ok(None)
}

/// The class that a point of the box takes on an axis on which nothing else is asked of it: absence where that is in the
/// box, otherwise the preferred example.
///
/// # Errors
/// When the budget is spent first.
pub fn free(space: &Space<'_>, inner: &Conjunction, axis: Axis, budget: &mut Budget) -> Result<u32, Exhausted> {
    let side = inner.side(axis);
    if let Some(absent) = space.absent(axis).filter(|absent| side.is_none_or(|side| side.contains(*absent))) {
        return Ok(absent);
    }
    let class = match side {
        Some(side) => preferred(space, axis, side.classes(), budget)?,
        None => preferred(space, axis, 0..space.count(axis), budget)?,
    };
    debug_assert!(class.is_some(), "{axis:?} has no class in the box");
    Ok(class.map(|(_, class)| class).unwrap_or_default())
}

/// Of ascending classes the one whose example says most: the first of the least kind.
///
/// # Errors
/// When the budget is spent first.
pub fn preferred(
    space: &Space<'_>,
    axis: Axis,
    classes: impl Iterator<Item = u32>,
    budget: &mut Budget,
) -> Result<Option<(Kind, u32)>, Exhausted> {
    let mut best: Option<(Kind, u32)> = None;
    for class in classes {
        budget.spend(1)?;
        let kind = space.kind(axis, class);
        if best.is_none_or(|(least, _)| kind < least) {
            best = Some((kind, class));
        }
        if kind == Kind::Constant {
            break;
        }
    }
    Ok(best)
}
