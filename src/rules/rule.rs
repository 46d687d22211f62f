//! What a rule is.

use super::cluster::Live;
use super::decision::Report;
use crate::kubernetes::field::Unreadable;
use crate::kubernetes::kind::Kind;
use crate::kubernetes::request::Request;
use crate::logic::{Budget, Exhausted};

/// One rule with the settings of its section.
pub trait Rule {
    /// Adds what the rule finds in the request to the report. A request that the rule does not judge adds nothing.
    ///
    /// Every loop over the request spends from `budget`, which all rules of one request share. A request that shows by itself
    /// that nothing is wrong must not make the rule ask about the cluster.
    ///
    /// # Errors
    /// When a fragment that this rule reads cannot be read, or the budget is spent. A cluster that cannot be read is no error:
    /// it is found, and the settings say what follows from it.
    fn judge(
        &self,
        request: &Request<'_, '_>,
        live: &Live<'_>,
        budget: &mut Budget,
        report: &mut Report,
    ) -> Result<(), Stopped>;

    /// The kinds without which the settings of the section cannot do what they say.
    fn needs(&self) -> Vec<(Kind, Reads)>;
}

/// How a rule reads the objects of a kind in the cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reads {
    /// One by one, each as it is now.
    Single,
    /// All of them, or one as it was a moment ago: an engine does well to hold them.
    All,
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
