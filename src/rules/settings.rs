//! The settings: one section per rule, read strictly.

use std::fmt;

use super::access_modes::AccessModesRule;
use super::csi_driver_tokens::CsiDriverTokens;
use super::local_volumes::LocalVolumes;
use super::node_taints::NodeTaints;
use super::rule::{Reads, Rule};
use super::section::Scope;
use super::tolerations::Tolerations;
use super::volume_binding::VolumeBinding;
use super::volume_node_affinity::VolumeNodeAffinity;
use super::{SETTINGS_STEPS, STEPS};
use crate::kubernetes::field::{Field, Unreadable, quoted};
use crate::kubernetes::kind::Kind;
use crate::logic::Budget;

/// Every section that settings may have, with the rule that reads it.
const SECTIONS: &[(&str, ReadRule)] = &[
    ("volumeNodeAffinity", |section, budget| boxed(VolumeNodeAffinity::read(section, budget))),
    ("tolerations", |section, _| boxed(Tolerations::read(section))),
    ("nodeTaints", |section, _| boxed(NodeTaints::read(section))),
    ("csiDriverTokens", |section, _| boxed(CsiDriverTokens::read(section))),
    ("accessModes", |section, _| boxed(AccessModesRule::read(section))),
    ("localVolumes", |section, _| boxed(LocalVolumes::read(section))),
    ("volumeBinding", |section, _| boxed(VolumeBinding::read(section))),
];

/// The names of all sections, one for each rule.
pub fn section_names() -> impl Iterator<Item = &'static str> {
    SECTIONS.iter().map(|(name, _)| *name)
}

type ReadRule = fn(&Field<'_, '_>, &mut Budget) -> Result<Box<dyn Rule>, Unreadable>;

fn boxed<R: Rule + 'static>(rule: Result<R, Unreadable>) -> Result<Box<dyn Rule>, Unreadable> {
    Ok(Box::new(rule?))
}

/// The rules that are in force, each with its scope.
pub struct Settings {
    pub(super) sections: Vec<(Scope, Box<dyn Rule>)>,
    /// What is left for a request. The settings come with each request and are read for it, so a request pays for them
    /// even where they were read before: the same request gets the same answer everywhere.
    pub(super) budget: Budget,
}

impl Settings {
    /// Reads settings. A section that is absent is not in force. Settings without any section are refused, because their
    /// author expects to be protected.
    ///
    /// # Errors
    /// Everything that is not exactly understood: unknown keys, wrong types, values that a key does not accept, and
    /// combinations without a meaning. The complaint names the path, the value and what is accepted there.
    pub fn read(root: &Field<'_, '_>) -> Result<Self, Unreadable> {
        let names: Vec<&str> = section_names().collect();
        root.only(&names)?;
        let mut budget = Budget::of(SETTINGS_STEPS);
        let mut sections = Vec::new();
        for (name, read) in SECTIONS {
            let section = root.get(name)?;
            if section.is_present() {
                sections.push((Scope::read(name, &section)?, read(&section, &mut budget)?));
            }
        }
        if sections.is_empty() {
            return Err(Unreadable {
                path: String::from("settings"),
                problem: format!(
                    "has no section, so nothing would be judged; expected at least one of {}",
                    quoted(&names)
                ),
            });
        }
        let left = STEPS.saturating_sub(SETTINGS_STEPS).saturating_add(budget.left());
        Ok(Settings { sections, budget: Budget::of(left) })
    }

    /// The kinds of objects that must be readable in the cluster for these settings to do what they say, each once, in the
    /// order of [`Kind`].
    pub fn needs(&self) -> Vec<(Kind, Reads)> {
        let needs: Vec<(Kind, Reads)> = self.sections.iter().flat_map(|(_, rule)| rule.needs()).collect();
        let reads = |kind| needs.iter().filter(|(of, _)| *of == kind).map(|(_, reads)| *reads).max();
        Kind::ALL.into_iter().filter_map(|kind| Some((kind, reads(kind)?))).collect()
    }
}

/// Says how many sections there are. Printing the sections themselves would bring more code into the module.
impl fmt::Debug for Settings {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Settings of {} sections", self.sections.len())
    }
}
