//! Part of `volumeBinding`: whether any node could reach all volumes of a pod together.

use super::Halt;
use crate::kubernetes::request::Request;
use crate::logic::Budget;
use crate::rules::cluster::Live;
use crate::rules::decision::Report;
use crate::rules::finding::Severity;

pub fn find_together(
    _: &Request<'_, '_>,
    _: Severity,
    _: &Live<'_>,
    _: &mut Budget,
    _: &mut Report,
) -> Result<(), Halt> {
    Ok(())
}
