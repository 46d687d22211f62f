//! Why no decision could be made: what, where, and what to do about it.

use std::fmt::Display;

use crate::plain::plain;

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Everything is accepted.
    Accepted,
    /// A refusal: code 403, or 422 for a request that cannot be read.
    Refused,
}

/// Something that keeps the program from deciding.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Complaint(String);

impl Complaint {
    /// `location` is a file, with line and column where they are known, or an option.
    pub fn new(location: impl Display, problem: impl Display, remedy: impl Display) -> Self {
        Complaint::said(format!("{location}: {problem}; {remedy}"))
    }

    /// A sentence that says all three itself. Line breaks in it become spaces.
    pub fn said(sentence: impl Display) -> Self {
        let line = sentence.to_string().lines().map(str::trim).collect::<Vec<_>>().join(" ");
        Complaint(plain(&line).into_owned())
    }
}
