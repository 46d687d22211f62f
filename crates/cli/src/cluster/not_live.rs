//! The API server, in a build that has no client for it.

use std::convert::Infallible;
use std::path::Path;

use placement_guard::kubernetes::kind::Kind;
use placement_guard::kubernetes::picked::Fields;
use placement_guard::rules::cluster::{CannotRead, Cluster, Wanted};

use super::{Listed, Unlisted};
use crate::complaint::Complaint;

/// Never there.
pub struct Live(Infallible);

impl Live {
    /// # Errors
    /// Always: which build can do it.
    pub fn of(_: Option<&Path>, _: Option<&str>) -> Result<Self, Complaint> {
        let problem = "this build of the program cannot read a cluster";
        Err(Complaint::new("--live", problem, crate::WITHOUT_SERVER))
    }

    /// # Errors
    /// Never called.
    pub fn demand(&self, _: Kind) -> Result<(), Complaint> {
        match self.0 {}
    }

    /// # Errors
    /// Never called.
    pub fn each(&self, _: Listed, _: Option<&str>, _: &mut dyn FnMut(String)) -> Result<(), Unlisted> {
        match self.0 {}
    }
}

impl Cluster for Live {
    fn get(&self, _: Kind, _: Option<&str>, _: &str, _: Wanted) -> Result<Option<Vec<u8>>, CannotRead> {
        match self.0 {}
    }

    fn list(&self, _: Kind, _: Fields) -> Result<Vec<u8>, CannotRead> {
        match self.0 {}
    }
}
