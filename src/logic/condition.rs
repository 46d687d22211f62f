//! What can be asked of one value.

/// A condition on the value of one axis.
///
/// Which values it accepts: an absent value meets [`Condition::NotIn`] and [`Condition::Absent`] and nothing else; text
/// that is no number meets neither comparison.
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
