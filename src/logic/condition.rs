//! Conditions on one value.

/// A condition on the value of one axis.
///
/// An absent value meets [`Condition::NotIn`] and [`Condition::Absent`] and no other condition. A value that is not a
/// number meets neither comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition<'a> {
    In(Vec<&'a str>),
    NotIn(Vec<&'a str>),
    Present,
    Absent,
    /// A number greater than this.
    Above(i64),
    /// A number less than this.
    Below(i64),
}

impl Condition<'_> {
    /// What it costs to make a set of classes of the condition: each of its values is looked up.
    pub(super) fn steps(&self) -> usize {
        match self {
            Condition::In(values) | Condition::NotIn(values) => values.len().saturating_mul(4).saturating_add(1),
            Condition::Present | Condition::Absent | Condition::Above(_) | Condition::Below(_) => 1,
        }
    }
}
