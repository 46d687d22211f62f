//! A point of one box beside another: the search where there is nothing to search. Answers what [`super::search`] would.

use super::class_set::ClassSet;
use super::facts::Clause;
use super::space::{Axis, Conjunction, Point, Space};

/// A point of the box that meets the clause, if there is one to meet: on the first axis on which it can. `None` when no
/// point of the box meets it.
pub fn beside(space: &Space<'_>, inner: &Conjunction, clause: Option<&Clause>) -> Option<Point> {
    let mut leaving = None;
    if let Some(clause) = clause {
        let met = |(axis, avoided): &(Axis, ClassSet)| inner.side(*axis).is_some_and(|side| side.is_disjoint(avoided));
        if !clause.iter().any(met) {
            let leave = |(axis, avoided): &(Axis, ClassSet)| {
                let left = side(space, inner, *axis).intersection(&avoided.complement(space.count(*axis)));
                Some((*axis, most_telling(space, *axis, &left)?))
            };
            leaving = Some(clause.iter().find_map(leave)?);
        }
    }
    let class = |axis: Axis| match leaving {
        Some((left, class)) if left == axis => class,
        _ => free(space, inner, axis),
    };
    Some(Point { classes: space.axes().map(class).collect() })
}

/// The class that a point of the box takes where nothing else is asked: absence, or the most telling.
pub fn free(space: &Space<'_>, inner: &Conjunction, axis: Axis) -> u32 {
    let side = side(space, inner, axis);
    let absent = space.absent(axis).filter(|absent| side.contains(*absent));
    absent.or_else(|| most_telling(space, axis, &side)).unwrap_or_default()
}

fn side(space: &Space<'_>, inner: &Conjunction, axis: Axis) -> ClassSet {
    inner.side(axis).cloned().unwrap_or_else(|| ClassSet::all(space.count(axis)))
}

fn most_telling(space: &Space<'_>, axis: Axis, classes: &ClassSet) -> Option<u32> {
    classes.classes().min_by_key(|class| (space.kind(axis, *class), *class))
}
