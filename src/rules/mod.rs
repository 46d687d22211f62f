//! Decides: settings and a request in, a decision out. A folder per rule; none knows which engine asks.

mod access_modes;
pub mod cluster;
mod csi_driver_tokens;
pub mod decision;
pub mod finding;
mod glob;
mod live_nodes;
mod live_share;
mod local_volumes;
mod node_taints;
mod replay;
pub mod rule;
mod section;
pub mod settings;
mod tolerations;
mod volume_binding;
mod volume_node_affinity;

use crate::kubernetes::field::{Field, Unreadable};
use crate::kubernetes::request::{Operation, Request};
use crate::logic::Budget;
use cluster::{Cluster, Live};
use decision::{Decision, Report};
use finding::{Code, Finding};
use rule::Stopped;
use settings::Settings;

/// Steps that one request may take: reading the settings, and all rules together.
pub const STEPS: u64 = 1_250_000;

/// Steps of [`STEPS`] that reading the settings may take. The rest is left for what is judged under them.
const SETTINGS_STEPS: u64 = STEPS / 2;

/// Judges a request by every rule that is in force.
///
/// A DELETE is always accepted, and so is a request from a user, group or namespace that a section exempts, as far as
/// that section goes. Unreadable input is refused with code 422 as soon as one rule cannot read what it judges.
pub fn judge(settings: &Settings, request: &Request<'_, '_>, cluster: &dyn Cluster) -> Decision {
    judge_counted(settings, request, cluster).0
}

/// The same as [`judge`], with the number of steps spent, those for reading the settings included.
pub fn judge_counted(settings: &Settings, request: &Request<'_, '_>, cluster: &dyn Cluster) -> (Decision, u64) {
    let mut budget = settings.budget.clone();
    let decision = match report(settings, request, cluster, &mut budget) {
        Ok(report) => report.decide(),
        Err(unreadable) => Decision::unreadable(&unreadable),
    };
    (decision, STEPS.saturating_sub(budget.left()))
}

/// Everything that [`judge`] decides upon, in report order: for faces that show findings of many requests by their code.
///
/// # Errors
/// What cannot be read, and is refused with code 422.
pub fn findings(
    settings: &Settings,
    request: &Request<'_, '_>,
    cluster: &dyn Cluster,
) -> Result<Vec<Finding>, Unreadable> {
    report(settings, request, cluster, &mut settings.budget.clone()).map(Report::into_findings)
}

/// The decision together with everything that it rests on.
pub fn judge_and_find(
    settings: &Settings,
    request: &Request<'_, '_>,
    cluster: &dyn Cluster,
) -> (Decision, Result<Vec<Finding>, Unreadable>) {
    match report(settings, request, cluster, &mut settings.budget.clone()) {
        Ok(report) => (report.clone().decide(), Ok(report.into_findings())),
        Err(unreadable) => (Decision::unreadable(&unreadable), Err(unreadable)),
    }
}

fn report(
    settings: &Settings,
    request: &Request<'_, '_>,
    cluster: &dyn Cluster,
    budget: &mut Budget,
) -> Result<Report, Unreadable> {
    let live = Live::new(cluster);
    let mut report = Report::default();
    if matches!(request.operation, Operation::Delete) {
        return Ok(report);
    }
    for (scope, rule) in &settings.sections {
        if scope.exempts(request) {
            continue;
        }
        let mut found = Report::default();
        match rule.judge(request, &live, budget, &mut found) {
            Ok(()) => {}
            Err(Stopped::Unreadable(unreadable)) => return Err(unreadable),
            Err(Stopped::Exhausted) => found.find(too_much_work(scope.section)),
        }
        report.absorb(found, scope.only_warn);
    }
    Ok(report)
}

/// What is found when a rule has not judged the whole request. It refuses under `enforcement: deny`.
fn too_much_work(section: &str) -> Finding {
    Finding::new(
        Code::RequestTooLarge,
        format!("request too large: `{section}` could not judge all of it within {STEPS} steps"),
    )
    .detail("what was not judged is not accepted")
    .detail("accepted: an object with fewer entries")
}

/// Judges a request as it was sent, with the settings as they were written.
pub fn judge_documents(settings: &Field<'_, '_>, request: &Field<'_, '_>, cluster: &dyn Cluster) -> Decision {
    let settings = match read_settings(settings) {
        Ok(settings) => settings,
        Err(unreadable) => return Decision::unusable_settings(&unreadable),
    };
    let root = request.renamed("");
    match request.check_object().and_then(|()| Request::read(&root)) {
        Ok(request) => judge(&settings, &request, cluster),
        Err(unreadable) => Decision::unreadable(&unreadable),
    }
}

/// Reads settings. Their paths begin at the section, as their author sees them.
///
/// # Errors
/// As [`Settings::read`].
pub fn read_settings(settings: &Field<'_, '_>) -> Result<Settings, Unreadable> {
    settings.check_object()?;
    Settings::read(&settings.renamed(""))
}
