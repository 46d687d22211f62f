//! The settings of `tolerations`.

use k8s_openapi::api::core::v1::Toleration;

use super::side::Permitted;
use crate::kubernetes::field::{Field, Unreadable};
use crate::kubernetes::toleration::{Comparison, EFFECTS, FOR_EVER, comparison, read_toleration};
use crate::logic::Domain;
use crate::rules::cluster::WhenUnreadable;
use crate::rules::section::{choice, only_keys, when_cluster_unreadable};

/// The section's settings.
#[derive(Debug)]
pub struct Tolerations {
    /// `None` where the settings have no such list: then no toleration is "not allowed".
    pub(super) allowed: Option<Vec<Permitted>>,
    pub(super) denied: Vec<Toleration>,
    pub(super) standard: bool,
    pub(super) numeric_operators: bool,
    /// Whether a pod may name its node.
    pub(super) node_name: bool,
    /// Whether a numeric toleration is reported that does not keep its pod away from other nodes.
    pub(super) attraction: bool,
    pub(super) when_unreadable: Option<WhenUnreadable>,
}

impl Tolerations {
    /// # Errors
    /// Whatever is not exactly understood, and entries that the API server would refuse as a toleration.
    pub fn read(section: &Field<'_, '_>) -> Result<Self, Unreadable> {
        only_keys(
            section,
            &["allowed", "denied", "standard", "numericOperators", "nodeName", "attraction", "whenClusterUnreadable"],
        )?;
        let allowed = section.get("allowed")?;
        let denied = section.get("denied")?;
        let entries: Result<Vec<Permitted>, Unreadable> = allowed.items()?.map(|item| read_allowed(&item)).collect();
        let allow_or_deny = |name| choice(&section.get(name)?, &[("allow", true), ("deny", false)]);
        Ok(Tolerations {
            allowed: if allowed.is_present() { Some(entries?) } else { None },
            denied: denied.items()?.map(|item| read_entry(&item, &[])).collect::<Result<_, _>>()?,
            standard: section.get("standard")?.boolean()?.unwrap_or(true),
            numeric_operators: allow_or_deny("numericOperators")?.unwrap_or(true),
            node_name: allow_or_deny("nodeName")?.unwrap_or(false),
            attraction: choice(&section.get("attraction")?, &[("warn", true), ("ignore", false)])?.unwrap_or(false),
            when_unreadable: when_cluster_unreadable(section)?,
        })
    }
}

fn read_allowed(item: &Field<'_, '_>) -> Result<Permitted, Unreadable> {
    let toleration = read_entry(item, &["maxTolerationSeconds"])?;
    let most = item.get("maxTolerationSeconds")?;
    let limit = match most.integer()? {
        Some(seconds) if seconds < 0 => return Err(most.unacceptable("0 or more seconds")),
        limit => limit.unwrap_or(FOR_EVER),
    };
    Ok(Permitted { toleration, limit })
}

/// An entry of the settings: a toleration that the API server would accept (`ValidateTolerations`).
fn read_entry(item: &Field<'_, '_>, more_keys: &[&str]) -> Result<Toleration, Unreadable> {
    if !item.is_present() {
        return Err(item.unreadable("is missing; must be a toleration"));
    }
    item.only(&[&["key", "operator", "value", "effect"], more_keys].concat())?;
    let toleration = read_toleration(item)?;
    let (key, operator) = (item.get("key")?, item.get("operator")?);
    let (value, effect) = (item.get("value")?, item.get("effect")?);
    match toleration.key.as_deref() {
        None if toleration.operator.as_deref() != Some("Exists") => {
            return Err(operator.unacceptable("`Exists` when there is no key (which means every taint)"));
        }
        Some(name) if !Domain::Name.contains(name) => return Err(key.unacceptable("a valid label key")),
        _ => {}
    }
    if toleration.effect.as_deref().is_some_and(|name| !EFFECTS.contains(&name)) {
        return Err(effect.unacceptable("`NoSchedule`, `PreferNoSchedule` or `NoExecute`, or absent for all of them"));
    }
    match comparison(&toleration) {
        Comparison::Any if toleration.value.is_some() => {
            Err(value.unacceptable("absent when the operator is `Exists`"))
        }
        Comparison::Equal(text) if !Domain::Text.contains(text) => Err(value.unacceptable("a valid label value")),
        Comparison::NotANumber(_) => Err(value.unacceptable("a 64-bit integer without leading zeros, as a string")),
        Comparison::Unknown(_) => Err(operator.unacceptable("`Equal`, `Exists`, `Gt` or `Lt`")),
        _ => Ok(toleration),
    }
}
