//! What Kubernetes itself adds to pods, and to which pods it adds it. Without these in the allowed list no pod would ever
//! be admitted.
//!
//! Follows, in Kubernetes 1.36, the admission plugins DefaultTolerationSeconds (not-ready and unreachable, 300 s),
//! PodTolerationRestriction (memory pressure, for pods that are not BestEffort) and ExtendedResourceToleration, and the
//! DaemonSet controller (`AddOrUpdateDaemonPodTolerations`), which adds not-ready, unreachable and memory pressure too,
//! without seconds. The settings allow memory pressure for every pod: the toleration lets a pod start on a node that may
//! evict it, and gives it nothing else. The tolerations of a RuntimeClass are the cluster's own choice and should be
//! listed in the settings.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::Toleration;

use super::side::Permitted;
use crate::kubernetes::field::{Field, Unreadable};
use crate::kubernetes::owner::is_owned_by;
use crate::kubernetes::pod::PodTemplate;
use crate::kubernetes::request::Request;
use crate::kubernetes::toleration::{FOR_EVER, Seconds};
use crate::logic::{Budget, Domain, Exhausted};
use crate::rules::rule::Stopped;

/// `NoExecute` taints of nodes that do not answer.
const WITH_SECONDS: [&str; 2] = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"];

/// How long DefaultTolerationSeconds lets every pod stay there, unless the pod says otherwise.
const DEFAULT_SECONDS: Seconds = 300;

const MEMORY_PRESSURE: &str = "node.kubernetes.io/memory-pressure";

const FOR_DAEMONS: [&str; 3] =
    ["node.kubernetes.io/disk-pressure", "node.kubernetes.io/pid-pressure", "node.kubernetes.io/unschedulable"];

const FOR_DAEMONS_ON_THE_HOST_NETWORK: &str = "node.kubernetes.io/network-unavailable";

const DAEMON_SET_CONTROLLER: &str = "system:serviceaccount:kube-system:daemon-set-controller";

/// Who all controllers are where kube-controller-manager runs without `--use-service-account-credentials`.
const CONTROLLER_MANAGER: &str = "system:kube-controller-manager";

/// Steps for one owner, container or amount that is looked at.
const ITEM_STEPS: usize = 20;

/// Steps for the name of an extended resource that is kept.
const NAME_STEPS: usize = 25;

/// What decides which tolerations Kubernetes adds to a pod.
#[derive(Debug)]
pub struct Injection<'v> {
    is_daemon: bool,
    on_host_network: bool,
    /// The extended resources that the pod requests some of.
    requested: BTreeMap<&'v str, u32>,
}

/// The tolerations that Kubernetes adds to a pod, as permissions.
#[derive(Debug, Default)]
pub struct Standard {
    /// Permitted without a limit of seconds.
    pub added: Vec<Permitted>,
    /// Permitted without a limit of seconds as long as the settings do not admit the same taint. Where they do, what they
    /// say is the limit, but never less than this.
    pub defaults: Vec<Permitted>,
}

impl<'v> Injection<'v> {
    /// # Errors
    /// A wrong JSON type in what decides it; a pod that is too large.
    pub fn read(request: &Request<'_, '_>, pod: &PodTemplate<'v, '_>, budget: &mut Budget) -> Result<Self, Stopped> {
        let is_daemon = is_daemon(request, &pod.metadata, budget)?;
        Ok(Injection {
            is_daemon,
            on_host_network: is_daemon && pod.spec.get("hostNetwork")?.boolean()? == Some(true),
            requested: requested(&pod.spec, budget)?,
        })
    }

    /// What Kubernetes adds, as far as it can matter next to lists that name these keys.
    ///
    /// # Errors
    /// When the budget is spent.
    pub fn standard<'k>(
        &self,
        named: impl Iterator<Item = &'k str>,
        budget: &mut Budget,
    ) -> Result<Standard, Exhausted> {
        let mut standard = Standard::default();
        let seconds = if self.is_daemon { FOR_EVER } else { DEFAULT_SECONDS };
        let with_seconds = WITH_SECONDS.iter().map(|key| permitted(key, "NoExecute", seconds));
        if self.is_daemon { &mut standard.added } else { &mut standard.defaults }.extend(with_seconds);
        standard.added.push(permitted(MEMORY_PRESSURE, "NoSchedule", FOR_EVER));
        if self.is_daemon {
            standard.added.extend(FOR_DAEMONS.iter().map(|key| permitted(key, "NoSchedule", FOR_EVER)));
        }
        if self.on_host_network {
            standard.added.push(permitted(FOR_DAEMONS_ON_THE_HOST_NETWORK, "NoSchedule", FOR_EVER));
        }
        if !self.requested.is_empty() {
            self.add_extended_resources(named, &mut standard.added, budget)?;
        }
        Ok(standard)
    }

    /// Adds the requested resources that the lists name, and those whose names an example could take because no list names
    /// them. The other resources cannot change an answer.
    fn add_extended_resources<'k>(
        &self,
        named: impl Iterator<Item = &'k str>,
        added: &mut Vec<Permitted>,
        budget: &mut Budget,
    ) -> Result<(), Exhausted> {
        let mut seen: BTreeMap<&str, u32> = BTreeMap::new();
        for key in named {
            budget.spend(NAME_STEPS)?;
            if seen.insert(key, 0).is_none() && self.requested.contains_key(key) {
                added.push(permitted(key, "NoSchedule", FOR_EVER));
            }
        }
        for word in Domain::Name.words() {
            budget.spend(NAME_STEPS)?;
            if seen.contains_key(word.as_str()) {
                continue;
            }
            if !self.requested.contains_key(word.as_str()) {
                break;
            }
            added.push(permitted(&word, "NoSchedule", FOR_EVER));
        }
        Ok(())
    }
}

/// Whether the DaemonSet controller made the pod. Its own account always did. The account that all controllers may share,
/// and the unknown creator in an audit, did when a DaemonSet controls the pod. For any other user an owner reference
/// proves nothing, since everyone may write one, and in a template it never proves anything.
fn is_daemon(request: &Request<'_, '_>, metadata: &Field<'_, '_>, budget: &mut Budget) -> Result<bool, Stopped> {
    if request.kind != "Pod" {
        return Ok(false);
    }
    match request.user.name {
        Some(DAEMON_SET_CONTROLLER) => Ok(true),
        Some(CONTROLLER_MANAGER) => owned_by(metadata, "apps/v1", "DaemonSet", budget),
        _ => Ok(request.is_audit() && owned_by(metadata, "apps/v1", "DaemonSet", budget)?),
    }
}

fn owned_by(metadata: &Field<'_, '_>, version: &str, kind: &str, budget: &mut Budget) -> Result<bool, Stopped> {
    budget.spend(metadata.get("ownerReferences")?.items()?.len().saturating_mul(ITEM_STEPS))?;
    Ok(is_owned_by(metadata, version, kind)?)
}

/// The extended resources that the containers of a pod request. An extended resource cannot be overcommitted: a limit
/// alone becomes the request.
fn requested<'v>(spec: &Field<'v, '_>, budget: &mut Budget) -> Result<BTreeMap<&'v str, u32>, Stopped> {
    let mut requested: BTreeMap<&'v str, u32> = BTreeMap::new();
    for list in ["containers", "initContainers"] {
        for container in spec.get(list)?.items()? {
            budget.spend(ITEM_STEPS)?;
            let resources = container.get("resources")?;
            for amounts in ["requests", "limits"] {
                for (name, amount) in resources.get(amounts)?.members()? {
                    budget.spend(ITEM_STEPS)?;
                    if is_extended_resource(name) && is_some(&amount)? {
                        budget.spend(NAME_STEPS)?;
                        requested.insert(name, 0);
                    }
                }
            }
        }
    }
    Ok(requested)
}

fn permitted(key: &str, effect: &str, limit: Seconds) -> Permitted {
    let toleration = Toleration {
        key: Some(key.to_owned()),
        operator: Some(String::from("Exists")),
        value: None,
        effect: Some(effect.to_owned()),
        toleration_seconds: None,
    };
    Permitted { toleration, limit }
}

/// Whether a quantity is more than zero. It is a string or, in a manifest, a number, which the API server reads as if it
/// were written in quotes (`Quantity.UnmarshalJSON`). Anyone may request zero of a resource that does not exist, so such a
/// request must not open the taint of that name.
fn is_some(amount: &Field<'_, '_>) -> Result<bool, Unreadable> {
    if let Some(number) = amount.number() {
        return Ok(number.abs() > 0.0);
    }
    let mantissa = amount.string()?.unwrap_or_default().split(|letter: char| letter.is_ascii_alphabetic()).next();
    Ok(mantissa.unwrap_or_default().contains(|digit: char| ('1'..='9').contains(&digit)))
}

/// `helper.IsExtendedResourceName`: a name with a prefix that is not Kubernetes' own.
fn is_extended_resource(name: &str) -> bool {
    name.contains('/')
        && !name.contains("kubernetes.io/")
        && !name.starts_with("requests.")
        && Domain::Name.contains(&format!("requests.{name}"))
}
