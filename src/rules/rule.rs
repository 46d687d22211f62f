//! What a rule is.

use super::decision::Report;
use crate::kubernetes::field::Unreadable;
use crate::kubernetes::request::Request;
use crate::logic::{Budget, Exhausted};

/// One rule with the settings of its section.
pub trait Rule {
    /// Adds what the rule finds in the request to the report. A request that the rule does not judge adds nothing.
    ///
    /// Every loop over the request spends from `budget`, which all rules of one request share.
    ///
    /// # Errors
    /// When a fragment that this rule reads cannot be read, or the budget is spent.
    fn judge(&self, request: &Request<'_, '_>, budget: &mut Budget, report: &mut Report) -> Result<(), Stopped>;
}

/// Why a rule stops before it has judged the whole request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stopped {
    /// A fragment of the request cannot be read.
    Unreadable(Unreadable),
    /// The request needs more steps than one request may take.
    Exhausted,
}

impl From<Unreadable> for Stopped {
    fn from(unreadable: Unreadable) -> Self {
        Stopped::Unreadable(unreadable)
    }
}

impl From<Exhausted> for Stopped {
    fn from(_: Exhausted) -> Self {
        Stopped::Exhausted
    }
}
