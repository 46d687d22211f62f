//! What Kubernetes itself adds to pods, for those to whom it adds it. Without these in the allowed list no pod would
//! ever be admitted.
//!
//! Follows the admission plugins DefaultTolerationSeconds and ExtendedResourceToleration, the priority plugin's
//! memory-pressure toleration and the DaemonSet controller (`daemon_controller_utils.go`), Kubernetes 1.36. The
//! tolerations of a RuntimeClass are the cluster's own choice and belong into the settings.

use k8s_openapi::api::core::v1::Toleration;

use super::taint_space::Permitted;
use crate::kubernetes::field::{Field, Unreadable};
use crate::kubernetes::owner::is_owned_by;
use crate::kubernetes::request::Request;
use crate::kubernetes::toleration::FOR_EVER;
use crate::logic::Domain;

const FOR_ALL: [(&str, &str); 3] = [
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
];

const FOR_DAEMONS: [(&str, &str); 3] = [
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
];

const FOR_DAEMONS_ON_THE_HOST_NETWORK: (&str, &str) = ("node.kubernetes.io/network-unavailable", "NoSchedule");

const DAEMON_SET_CONTROLLER: &str = "system:serviceaccount:kube-system:daemon-set-controller";

/// The tolerations that Kubernetes adds to a pod with this metadata and spec, without a limit of seconds.
///
/// # Errors
/// A wrong JSON type in what decides it.
pub fn standard(
    request: &Request<'_, '_>,
    metadata: &Field<'_, '_>,
    spec: &Field<'_, '_>,
) -> Result<Vec<Permitted>, Unreadable> {
    let mut added: Vec<Permitted> = FOR_ALL.iter().map(|(key, effect)| permitted(key, effect)).collect();
    if is_daemon(request, metadata)? {
        added.extend(FOR_DAEMONS.iter().map(|(key, effect)| permitted(key, effect)));
        if spec.get("hostNetwork")?.boolean()? == Some(true) {
            added.push(permitted(FOR_DAEMONS_ON_THE_HOST_NETWORK.0, FOR_DAEMONS_ON_THE_HOST_NETWORK.1));
        }
    }
    for list in ["containers", "initContainers"] {
        let containers = spec.get(list)?;
        for container in containers.items()? {
            let resources = container.get("resources")?;
            // An extended resource cannot be overcommitted: a limit alone becomes the request.
            for amounts in ["requests", "limits"] {
                for (name, amount) in resources.get(amounts)?.members()? {
                    if is_extended_resource(name) && is_some(&amount)? {
                        added.push(permitted(name, "NoSchedule"));
                    }
                }
            }
        }
    }
    Ok(added)
}

fn permitted(key: &str, effect: &str) -> Permitted {
    let toleration = Toleration {
        key: Some(key.to_owned()),
        operator: Some(String::from("Exists")),
        value: None,
        effect: Some(effect.to_owned()),
        toleration_seconds: None,
    };
    Permitted { toleration, limit: FOR_EVER }
}

/// Whether a pod is made by the DaemonSet controller, or in an audit belongs to a DaemonSet. Owner references alone prove
/// nothing where somebody asks: everyone may write them.
fn is_daemon(request: &Request<'_, '_>, metadata: &Field<'_, '_>) -> Result<bool, Unreadable> {
    if request.user.name == Some(DAEMON_SET_CONTROLLER) {
        return Ok(true);
    }
    Ok(request.is_audit() && is_owned_by(metadata, "apps/v1", "DaemonSet")?)
}

/// Whether a quantity, a string or an integer, is more than nothing. A request for nothing of a resource that nobody knows
/// can be made for any key, and would open every taint that has a prefix.
fn is_some(amount: &Field<'_, '_>) -> Result<bool, Unreadable> {
    if let Ok(number) = amount.integer() {
        return Ok(number.is_some_and(|number| number != 0));
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
