//! Decides: settings and a request in, a decision out. One file per rule; none knows which engine asks.

mod access_modes;
mod csi_driver_tokens;
mod csi_sidecars;
pub mod decision;
pub mod finding;
mod glob;
mod host_paths;
mod local_volumes;
mod node_taints;
mod pinned_volume;
pub mod settings;
mod standard_tolerations;
mod taint_space;
mod tolerations;
mod topology;
mod volume_edit;
mod volume_node_affinity;
mod volume_state;

use crate::kubernetes::field::{Field, Unreadable};
use crate::kubernetes::request::{Operation, Request};
use decision::{Decision, Report};
use finding::Finding;
use settings::Settings;

/// One rule with the settings of its section.
trait Rule {
    /// Adds what it finds in the request to the report. A request that is none of its business adds nothing.
    ///
    /// # Errors
    /// When a fragment that this rule reads cannot be read.
    fn judge(&self, request: &Request<'_, '_>, report: &mut Report) -> Result<(), Unreadable>;
}

/// Judges a request by every rule that is in force.
///
/// A DELETE is always accepted, and so is a request from a user, group or namespace that a section exempts, as far as
/// that section goes. Unreadable input is refused with code 422 as soon as one rule cannot read what it judges.
pub fn judge(settings: &Settings, request: &Request<'_, '_>) -> Decision {
    match report(settings, request) {
        Ok(report) => report.decide(),
        Err(unreadable) => Decision::unreadable(&unreadable),
    }
}

/// Everything that [`judge`] decides upon, in report order: for faces that show findings of many requests by their code.
///
/// # Errors
/// What cannot be read, and is refused with code 422.
pub fn findings(settings: &Settings, request: &Request<'_, '_>) -> Result<Vec<Finding>, Unreadable> {
    report(settings, request).map(Report::into_findings)
}

fn report(settings: &Settings, request: &Request<'_, '_>) -> Result<Report, Unreadable> {
    let mut report = Report::default();
    if matches!(request.operation, Operation::Delete) {
        return Ok(report);
    }
    for (scope, rule) in &settings.sections {
        if scope.exempts(request) {
            continue;
        }
        let mut found = Report::default();
        rule.judge(request, &mut found)?;
        report.absorb(found, scope.only_warn);
    }
    Ok(report)
}

/// Judges a request as it was sent, under settings as they were written.
pub fn judge_documents(settings: &Field<'_, '_>, request: &Field<'_, '_>) -> Decision {
    let settings = match read_settings(settings) {
        Ok(settings) => settings,
        Err(unreadable) => return Decision::unusable_settings(&unreadable),
    };
    let root = request.renamed("");
    match request.check_object().and_then(|()| Request::read(&root)) {
        Ok(request) => judge(&settings, &request),
        Err(unreadable) => Decision::unreadable(&unreadable),
    }
}

/// Reads settings. Their paths begin at the section, as whoever wrote them sees them.
///
/// # Errors
/// As [`Settings::read`].
pub fn read_settings(settings: &Field<'_, '_>) -> Result<Settings, Unreadable> {
    settings.check_object()?;
    Settings::read(&settings.renamed(""))
}
