//! `nodeTaints`: taints that are meant to be numbers must be numbers.
//!
//! The API server accepts any label value as a taint's value. A value that is no canonical number is tolerated by no `Gt`
//! or `Lt`, without a word: a `NoExecute` taint that becomes `high` evicts every pod that counts on numbers.

use k8s_openapi::api::core::v1::Taint;

use crate::kubernetes::field::{Field, Unreadable, short};
use crate::kubernetes::request::Request;
use crate::kubernetes::toleration::{canonical_number, read_taints, taint_text};
use crate::logic::Budget;
use crate::logic::Domain;
use crate::rules::decision::Report;
use crate::rules::finding::{Code, Finding};
use crate::rules::rule::{Rule, Stopped};
use crate::rules::section::{only_keys, when_cluster_unreadable, without_cluster};

/// The section's settings.
#[derive(Debug)]
pub struct NodeTaints {
    numeric_keys: Vec<String>,
}

impl NodeTaints {
    /// # Errors
    /// Whatever is not exactly understood, or needs the live cluster.
    pub fn read(section: &Field<'_, '_>) -> Result<Self, Unreadable> {
        only_keys(section, &["numericKeys", "evictions", "maxEvictions", "whenClusterUnreadable"])?;
        without_cluster(&section.get("evictions")?, &["ignore"], &["warn", "deny"])?;
        when_cluster_unreadable(section)?;
        let most = section.get("maxEvictions")?;
        if most.integer()?.is_some_and(|most| most < 0) {
            return Err(most.unacceptable("0 or more pods"));
        }
        let keys = section.get("numericKeys")?;
        let read_key = |item: Field<'_, '_>| match item.required_string()? {
            key if Domain::Name.contains(key) => Ok(key.to_owned()),
            _ => Err(item.unacceptable("a taint's key")),
        };
        Ok(NodeTaints { numeric_keys: keys.items()?.map(read_key).collect::<Result<_, _>>()? })
    }
}

impl Rule for NodeTaints {
    fn judge(&self, request: &Request<'_, '_>, _budget: &mut Budget, report: &mut Report) -> Result<(), Stopped> {
        if !request.stores() || !request.is_about("", "Node") {
            return Ok(());
        }
        let taints = |object: &Field<'_, '_>| read_taints(&object.get("spec")?.get("taints")?);
        let new = taints(request.new_state()?)?;
        let old = request.old_state()?.map(taints).transpose()?.unwrap_or_default();
        let name = short(request.object_name()?, 120);
        for (index, taint) in new.iter().enumerate() {
            if self.numeric_keys.contains(&taint.key)
                && !is_numeric(taint)
                && !old.iter().any(|old| is_same(old, taint))
            {
                let headline = format!(
                    "taint not numeric: `{}` on node `{name}` is met by no `Gt` or `Lt`",
                    short(&taint_text(taint), 200)
                );
                let value = short(taint.value.as_deref().unwrap_or_default(), 63);
                let finding = Finding::new(Code::TaintNotNumeric, headline)
                    .detail(format!("spec.taints[{index}].value: `{value}`"))
                    .detail("accepted: an integer from 0 to 9223372036854775807 without leading zeros");
                report.find(finding);
            }
        }
        Ok(())
    }
}

fn is_numeric(taint: &Taint) -> bool {
    taint.value.as_deref().and_then(canonical_number).is_some()
}

/// Whether two taints say the same; when each was added is not judged.
fn is_same(left: &Taint, right: &Taint) -> bool {
    (&left.key, &left.value, &left.effect) == (&right.key, &right.value, &right.effect)
}
