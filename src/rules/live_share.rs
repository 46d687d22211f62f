//! How much of a request's budget the objects of the cluster may take.

use super::cluster::{Live, Unread};
use super::rule::Stopped;
use crate::kubernetes::field::Field;
use crate::kubernetes::kind::Kind;
use crate::kubernetes::picked::Fields;
use crate::logic::{Budget, Exhausted};

/// Looks at objects of the cluster with half of what is left. A large cluster does not take the steps of the rules that come
/// after: how many objects there are says nothing about the request.
///
/// # Errors
/// When that half is spent first.
pub fn with_half<T>(
    budget: &mut Budget,
    look: impl FnOnce(&mut Budget) -> Result<T, Exhausted>,
) -> Result<T, Exhausted> {
    let half = budget.left() / 2;
    let mut own = Budget::of(half);
    let looked = look(&mut own);
    budget.spend(usize::try_from(half.saturating_sub(own.left())).unwrap_or(usize::MAX))?;
    looked
}

/// Looks at every object of a kind, as [`with_half`]. Where the steps end, the rest is not looked at, and the inner error says
/// so.
///
/// # Errors
/// When the objects cannot be read, or `look` cannot read one of them.
pub fn each_with_half(
    live: &Live<'_>,
    kind: Kind,
    fields: Fields,
    budget: &mut Budget,
    look: &mut dyn FnMut(&Field<'_, '_>, &mut Budget) -> Result<(), Stopped>,
) -> Result<Result<(), Exhausted>, Unread> {
    let mut read = Ok(());
    let looked = with_half(budget, |own| {
        let mut looked = Ok(());
        read = live.each(kind, fields, &mut |object| {
            if looked.is_ok() {
                match look(object, own) {
                    Ok(()) => {}
                    Err(Stopped::Unreadable(unreadable)) => return Err(unreadable),
                    Err(Stopped::Exhausted) => looked = Err(Exhausted),
                }
            }
            Ok(())
        });
        looked
    });
    read.map(|()| looked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_over_stays() {
        let mut budget = Budget::of(1_000);
        assert_eq!(with_half(&mut budget, |own| own.spend(300)), Ok(()));
        assert_eq!(budget.left(), 700);
        assert_eq!(with_half(&mut budget, |own| own.spend(351)), Err(Exhausted));
        assert_eq!(budget.left(), 350);
    }
}
