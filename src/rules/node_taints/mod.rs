//! `nodeTaints`: taints that should be numeric but are not, and taints that evict pods.
//!
//! The API server accepts any label value as a taint's value. If the value is not a canonical number, no `Gt` or `Lt`
//! tolerates the taint, and nothing warns of it: a `NoExecute` taint that becomes `high` evicts every pod that relies on
//! numbers.

mod evictions;

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::Taint;

use crate::kubernetes::field::{Field, Unreadable, short};
use crate::kubernetes::kind::Kind;
use crate::kubernetes::request::Request;
use crate::kubernetes::toleration::{canonical_number, read_taints, taint_text};
use crate::logic::{Budget, Domain};
use crate::rules::cluster::{Live, Missing, WhenUnreadable};
use crate::rules::decision::Report;
use crate::rules::finding::{Code, Few, Finding};
use crate::rules::rule::{Reads, Rule, Stopped};
use crate::rules::section::{level, only_keys, when_cluster_unreadable};
use evictions::Evictions;

/// The section's settings.
#[derive(Debug)]
pub struct NodeTaints {
    numeric_keys: Vec<String>,
    evictions: Option<Evictions>,
    when_unreadable: Option<WhenUnreadable>,
}

impl NodeTaints {
    /// # Errors
    /// Whatever is not exactly understood.
    pub fn read(section: &Field<'_, '_>) -> Result<Self, Unreadable> {
        only_keys(section, &["numericKeys", "evictions", "maxEvictions", "whenClusterUnreadable"])?;
        let most = section.get("maxEvictions")?;
        if most.integer()?.is_some_and(|most| most < 0) {
            return Err(most.unacceptable("0 or more pods"));
        }
        let most = most.integer()?.unwrap_or(0);
        let evictions = level(&section.get("evictions")?)?.map(|severity| Evictions { severity, most });
        let keys = section.get("numericKeys")?;
        let read_key = |item: Field<'_, '_>| match item.required_string()? {
            key if Domain::Name.contains(key) => Ok(key.to_owned()),
            _ => Err(item.unacceptable("a valid taint key")),
        };
        Ok(NodeTaints {
            numeric_keys: keys.items()?.map(read_key).collect::<Result<_, _>>()?,
            evictions,
            when_unreadable: when_cluster_unreadable(section)?,
        })
    }
}

impl Rule for NodeTaints {
    fn needs(&self) -> Vec<(Kind, Reads)> {
        self.evictions.map(|_| (Kind::Pod, Reads::All)).into_iter().collect()
    }

    fn judge(
        &self,
        request: &Request<'_, '_>,
        live: &Live<'_>,
        budget: &mut Budget,
        report: &mut Report,
    ) -> Result<(), Stopped> {
        if !request.stores() || !request.is_about("", "Node") {
            return Ok(());
        }
        let new = self.taints(request.new_state()?, budget)?;
        let old = match request.old_state()? {
            Some(old) => self.taints(old, budget)?,
            None => Vec::new(),
        };
        // Filled one by one: collecting would bring a sort of its own into the module.
        let mut was_there = BTreeMap::new();
        for taint in old.iter().filter(|taint| self.should_be_numeric(taint)) {
            was_there.insert(spelling(taint), String::new());
        }
        let name = short(request.object_name()?, 120);
        let mut few = Few::new(Code::TaintNotNumeric, format!("taints of node `{name}`"));
        for (index, taint) in new.iter().enumerate() {
            let is_wrong = self.should_be_numeric(taint) && !is_numeric(taint);
            if is_wrong && !was_there.contains_key(&spelling(taint)) {
                few.push_with(|| not_numeric(&name, index, taint));
            }
        }
        report.find_few(few);
        if let Some(evictions) = self.evictions {
            match evictions.find(request.object_name()?, &old, &new, &added_evicting(&old, &new), live, budget) {
                Ok(found) => report.find_all(found),
                Err(unread) => {
                    let missing = Missing::of(unread, "evictions", WhenUnreadable::by_default(evictions.severity));
                    missing.find(self.when_unreadable, report);
                }
            }
        }
        Ok(())
    }
}

impl NodeTaints {
    fn should_be_numeric(&self, taint: &Taint) -> bool {
        self.numeric_keys.contains(&taint.key)
    }

    /// The taints of a node, each of which is then compared with every key.
    fn taints(&self, node: &Field<'_, '_>, budget: &mut Budget) -> Result<Vec<Taint>, Stopped> {
        let spec = node.get("spec")?;
        let list = spec.get("taints")?;
        let steps = TAINT_STEPS.saturating_add(self.numeric_keys.len());
        budget.spend(list.items()?.len().saturating_mul(steps))?;
        Ok(read_taints(&list)?)
    }
}

/// The positions of the `NoExecute` taints that are new or changed.
fn added_evicting(old: &[Taint], new: &[Taint]) -> Vec<usize> {
    let mut was_there = BTreeMap::new();
    for taint in old {
        was_there.insert(spelling(taint), String::new());
    }
    let is_added = |taint: &Taint| taint.effect == "NoExecute" && !was_there.contains_key(&spelling(taint));
    new.iter().enumerate().filter(|(_, taint)| is_added(taint)).map(|(index, _)| index).collect()
}

/// Steps for one taint that is read and looked up.
const TAINT_STEPS: usize = 100;

fn not_numeric(node: &str, index: usize, taint: &Taint) -> Finding {
    let headline = format!(
        "taint not numeric: `{}` on node `{node}` is not tolerated by any `Gt` or `Lt`",
        short(&taint_text(taint), 200)
    );
    let value = short(taint.value.as_deref().unwrap_or_default(), 63);
    Finding::new(Code::TaintNotNumeric, headline)
        .at(format!("spec.taints[{index}].value"), &format!("`{value}`"))
        .detail("accepted: an integer from 0 to 9223372036854775807 without leading zeros")
}

fn is_numeric(taint: &Taint) -> bool {
    taint.value.as_deref().and_then(canonical_number).is_some()
}

/// All that a taint says but when it was added.
fn spelling(taint: &Taint) -> String {
    let parts = [taint.key.as_str(), taint.value.as_deref().unwrap_or_default(), &taint.effect];
    // Each part with its length, so that no two taints are spelled alike.
    parts.map(|part| format!("{}:{part}", part.len())).join(",")
}
