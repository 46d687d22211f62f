//! Part of `localVolumes`: what binds a claim to a volume of some node before its pod has one.

use crate::kubernetes::field::short;
use crate::kubernetes::request::Request;
use crate::kubernetes::storage_class::{NO_PROVISIONER, StorageClass, WAIT_FOR_FIRST_CONSUMER};
use crate::logic::Budget;
use crate::rules::decision::Report;
use crate::rules::finding::{Code, Finding};
use crate::rules::rule::Stopped;

const WHY: &str = "the pod can then run only on the volume's node, even if that node cannot take it";

/// Steps to compare a provisioner with a listed one.
const COMPARED: usize = 5;

/// Judges a StorageClass whose volumes exist before they are claimed, or are made on the node of a pod by one of the
/// provisioners that `more` lists.
///
/// # Errors
/// A wrong JSON type in the fragment; a spent budget.
pub fn judge_class(
    more: &[String],
    request: &Request<'_, '_>,
    budget: &mut Budget,
    report: &mut Report,
) -> Result<(), Stopped> {
    budget.spend(more.len().saturating_mul(COMPARED))?;
    let new = StorageClass::read(request.new_state()?)?;
    let old = request.old_state()?.map(StorageClass::read).transpose()?;
    let is_local = new.provisioner == NO_PROVISIONER || more.iter().any(|listed| listed == new.provisioner);
    if !is_local || new.waits() || old.as_ref() == Some(&new) {
        return Ok(());
    }
    let name = short(request.object_name()?, 120);
    let headline = format!("immediate binding: class `{name}` binds a claim to a volume before its pod has a node");
    let mode = match new.binding_mode {
        Some(mode) => format!("`{}`", short(mode, 60)),
        None => String::from("absent, which is `Immediate`"),
    };
    let finding = Finding::new(Code::ImmediateBinding, headline)
        .at("volumeBindingMode", &format!("{mode}, with provisioner `{}`", short(new.provisioner, 120)))
        .detail(WHY)
        .detail(format!("accepted: `{WAIT_FOR_FIRST_CONSUMER}`"));
    report.find(finding);
    Ok(())
}

/// What is found when a `local` volume has no class: no class means that no binding mode makes its claim wait.
pub fn no_class(name: &str) -> Finding {
    let headline = format!(
        "immediate binding: local volume `{name}` has no StorageClass, so a claim is bound to it before its pod has a node"
    );
    Finding::new(Code::ImmediateBinding, headline)
        .at("spec.storageClassName", "absent or empty")
        .detail(WHY)
        .detail(format!("accepted: a class with `volumeBindingMode: {WAIT_FOR_FIRST_CONSUMER}`"))
}
