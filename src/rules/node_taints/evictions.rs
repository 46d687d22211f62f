//! Part of `nodeTaints`: the pods that an edit of a node's taints evicts, and when.
//!
//! Follows the taint-eviction controller (`pkg/controller/tainteviction/taint_eviction.go`, Kubernetes 1.36):
//!
//! * All `NoExecute` taints of the node count, not only the new ones. For each of them the first toleration of the pod's list
//!   that tolerates it is used (`GetMatchingTolerations`). A pod that does not tolerate one of them is evicted at once.
//! * Otherwise the shortest `tolerationSeconds` of the used tolerations decides (`getMinTolerationTime`); without any the
//!   pod stays.
//! * An eviction that is queued keeps its time while the pod tolerates every taint, even if the new taints say less. So an
//!   edit hurts a pod that stayed for ever and now does not, and a pod that had time left and now has none.
//!
//! Pods of DaemonSets and static pods are treated as all others. The kubelet gives each static pod a toleration of every
//! `NoExecute` taint, and the mirror pod shows it. The controller also deletes finished pods, which does no harm: they are
//! not counted, and neither are pods that are being deleted already.

use k8s_openapi::api::core::v1::{Taint, Toleration};

use crate::kubernetes::field::{Field, Unreadable, short};
use crate::kubernetes::kind::Kind;
use crate::kubernetes::listing::first_few;
use crate::kubernetes::node_selector::Labels;
use crate::kubernetes::picked::{Fields, WHOLE};
use crate::kubernetes::pod::is_finished;
use crate::kubernetes::toleration::{FOR_EVER, Seconds, read_tolerations, seconds, taint_text, tolerates};
use crate::logic::Budget;
use crate::rules::cluster::{Live, Unread};
use crate::rules::finding::{Code, Finding, Severity};
use crate::rules::live_share::each_with_half;
use crate::rules::rule::Stopped;

/// What is read of a pod.
const POD: Fields = Fields(&[
    (
        "metadata",
        Fields(&[
            ("name", WHOLE),
            ("namespace", WHOLE),
            ("deletionTimestamp", WHOLE),
            ("ownerReferences", Fields(&[("kind", WHOLE), ("name", WHOLE), ("controller", WHOLE)])),
        ]),
    ),
    ("spec", Fields(&[("nodeName", WHOLE), ("tolerations", WHOLE)])),
    ("status", Fields(&[("phase", WHOLE)])),
]);

/// Steps for each pod of the cluster, and for each toleration of a pod on the node with each taint.
const STEPS_FOR_A_POD: usize = 5;
const STEPS_TO_COMPARE: usize = 15;

/// How many owners a message names, and how many pods of each.
const MOST_OWNERS: usize = 10;
const MOST_PODS: usize = 5;

/// The setting `evictions`, with `maxEvictions`.
#[derive(Debug, Clone, Copy)]
pub struct Evictions {
    pub severity: Severity,
    /// How many pods may go before the request is refused.
    pub most: i64,
}

impl Evictions {
    /// What is found when the edit evicts pods that run on the node. `added` are the positions of the `NoExecute` taints that
    /// are new or changed. Without one the edit evicts no pod that stayed before, and nothing is read.
    ///
    /// # Errors
    /// When pods cannot be read.
    pub fn find(
        self,
        node: &str,
        old: &[Taint],
        new: &[Taint],
        added: &[usize],
        live: &Live<'_>,
        budget: &mut Budget,
    ) -> Result<Option<Finding>, Unread> {
        let Some((index, taint)) = added.first().and_then(|index| Some((*index, new.get(*index)?))) else {
            return Ok(None);
        };
        let [before, after] = [old, new].map(evicting);
        let mut evicted = Evicted::default();
        let forecast = each_with_half(live, Kind::Pod, POD, budget, &mut |pod, own| {
            evicted.see(pod, node, [&before, &after], own)
        })?;
        let (shown, node) = (short(&taint_text(taint), 200), short(node, 120));
        let more = match added.len() {
            1 => String::new(),
            count => format!(" and {} more", count.saturating_sub(1)),
        };
        let found = |what: String| {
            Finding::new(Code::TaintEvicts, format!("taint evicts: `{shown}`{more} on node `{node}` {what}"))
                .with_severity(self.severity)
                .at(format!("spec.taints[{index}]"), &format!("`{shown}`"))
        };
        if forecast.is_err() {
            let what = String::from("may evict pods: the cluster has too many to tell which");
            return Ok(Some(found(what)));
        }
        let count = evicted.pods.len();
        if count == 0 {
            return Ok(None);
        }
        let mut finding = found(format!("evicts {}, {}", pods(count), evicted.when()));
        for owner in evicted.owners() {
            finding = finding.detail(owner);
        }
        finding = finding.detail(
            "a pod stays if it tolerates every `NoExecute` taint of the node; of several tolerations of a taint the first in \
             its list decides for how long",
        );
        let is_accepted = i64::try_from(count).is_ok_and(|count| count <= self.most);
        if self.severity == Severity::Warns || is_accepted {
            return Ok(Some(finding.as_warning()));
        }
        finding = finding.detail(format!("accepted: a taint that evicts at most {} pods (`maxEvictions`)", self.most));
        if taint.key.starts_with("node.kubernetes.io/") {
            finding = finding
                .detail("Kubernetes sets this taint itself: list its node controller under `nodeTaints.exempt.users`");
        }
        Ok(Some(finding))
    }
}

/// The taints that evict.
fn evicting(taints: &[Taint]) -> Vec<&Taint> {
    taints.iter().filter(|taint| taint.effect == "NoExecute").collect()
}

/// How long the controller lets a pod stay on a node with these taints; `None` when the pod does not tolerate one of them.
fn stay(taints: &[&Taint], tolerations: &[Toleration]) -> Option<Seconds> {
    let mut least = FOR_EVER;
    for taint in taints {
        least = least.min(seconds(tolerations.iter().find(|toleration| tolerates(toleration, taint))?));
    }
    if least == FOR_EVER {
        return Some(FOR_EVER);
    }
    // The controller multiplies without a look at the size, and a negative time is no limit.
    let nanoseconds = least.wrapping_mul(NANOSECONDS);
    Some(if nanoseconds < 0 { FOR_EVER } else { nanoseconds.checked_div(NANOSECONDS).unwrap_or_default() })
}

const NANOSECONDS: i64 = 1_000_000_000;

/// When the edit evicts a pod that it leaves alone otherwise, in seconds; 0 is at once.
fn eviction(before: Option<Seconds>, after: Option<Seconds>) -> Option<Seconds> {
    match (before, after) {
        (Some(_), None) => Some(0),
        (Some(FOR_EVER), Some(seconds)) if seconds < FOR_EVER => Some(seconds),
        _ => None,
    }
}

/// The pods that are evicted, by when, by owner and by name. Each key holds these three.
#[derive(Debug, Default)]
struct Evicted {
    pods: Labels,
}

/// Separates the parts of a key. No name has it.
const BETWEEN: char = '\n';

impl Evicted {
    fn see(
        &mut self,
        pod: &Field<'_, '_>,
        node: &str,
        taints: [&[&Taint]; 2],
        budget: &mut Budget,
    ) -> Result<(), Stopped> {
        budget.spend(STEPS_FOR_A_POD)?;
        let (metadata, spec) = (pod.get("metadata")?, pod.get("spec")?);
        if spec.string_of("nodeName")? != Some(node) || metadata.get("deletionTimestamp")?.is_present() {
            return Ok(());
        }
        if is_finished(pod)? {
            return Ok(());
        }
        let list = spec.get("tolerations")?;
        let pairs = taints.iter().map(|taints| taints.len()).fold(1, usize::saturating_add);
        let steps = list.items()?.len().saturating_add(1).saturating_mul(pairs).saturating_mul(STEPS_TO_COMPARE);
        budget.spend(steps)?;
        let tolerations = read_tolerations(&list)?;
        let [before, after] = taints.map(|taints| stay(taints, &tolerations));
        if let Some(seconds) = eviction(before, after) {
            let name = metadata.get("name")?.required_string()?;
            let owner = owner(&metadata)?;
            self.pods.insert(format!("{seconds:019}{BETWEEN}{owner}{BETWEEN}{name}"), String::new());
        }
        Ok(())
    }

    /// Seconds, owner and name of each.
    fn each(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        self.pods.keys().filter_map(|key| {
            let mut parts = key.split(BETWEEN);
            Some((parts.next()?, parts.next()?, parts.next()?))
        })
    }

    /// `at once`, `2 of them at once`, `after 300 s`.
    fn when(&self) -> String {
        let first = self.each().next().map_or("", |(seconds, _, _)| seconds);
        let same = self.each().filter(|(seconds, _, _)| *seconds == first).count();
        if same == self.pods.len() { shown_seconds(first) } else { format!("{same} of them {}", shown_seconds(first)) }
    }

    /// A line for each owner and time.
    fn owners(&self) -> Vec<String> {
        let mut groups: Vec<(&str, &str, Vec<&str>)> = Vec::new();
        for (seconds, owner, name) in self.each() {
            match groups.last_mut() {
                Some((when, who, names)) if (*when, *who) == (seconds, owner) => names.push(name),
                _ => groups.push((seconds, owner, vec![name])),
            }
        }
        let rest = groups.iter().skip(MOST_OWNERS).map(|(_, _, names)| names.len()).fold(0, usize::saturating_add);
        let mut lines: Vec<String> = Vec::new();
        for (seconds, owner, names) in groups.iter().take(MOST_OWNERS) {
            let shown = first_few(names.iter().map(|name| format!("`{}`", short(name, 120))), MOST_PODS, ", ");
            lines.push(format!("{owner}, {} {}: {shown}", pods(names.len()), shown_seconds(seconds)));
        }
        if rest > 0 {
            lines.push(format!("and {rest} pods of other owners"));
        }
        lines
    }
}

fn pods(count: usize) -> String {
    if count == 1 { String::from("1 pod") } else { format!("{count} pods") }
}

fn shown_seconds(padded: &str) -> String {
    match padded.trim_start_matches('0') {
        "" => String::from("at once"),
        seconds => format!("after {seconds} s"),
    }
}

/// Who makes the pod again, in words: `` ReplicaSet `shop/db-7d` ``.
fn owner(metadata: &Field<'_, '_>) -> Result<String, Unreadable> {
    let namespace = short(metadata.string_of("namespace")?.unwrap_or("default"), 63);
    let owners = metadata.get("ownerReferences")?;
    for owner in owners.items()? {
        if owner.boolean_of("controller")? == Some(true) {
            let (kind, name) = (owner.string_of("kind")?.unwrap_or_default(), owner.string_of("name")?);
            return Ok(format!("{} `{namespace}/{}`", short(kind, 63), short(name.unwrap_or_default(), 120)));
        }
    }
    Ok(format!("without a controller in `{namespace}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taint(key: &str, value: &str) -> Taint {
        Taint {
            key: key.to_owned(),
            value: Some(value.to_owned()),
            effect: String::from("NoExecute"),
            time_added: None,
        }
    }

    fn toleration(key: &str, operator: &str, value: &str, seconds: Option<i64>) -> Toleration {
        Toleration {
            key: Some(key.to_owned()),
            operator: Some(operator.to_owned()),
            value: Some(value.to_owned()),
            effect: Some(String::from("NoExecute")),
            toleration_seconds: seconds,
        }
    }

    #[test]
    fn the_first_toleration_of_each_taint_and_the_least_of_their_seconds_decide() {
        let (a, b) = (taint("a", "5"), taint("b", "x"));
        let list = [
            toleration("a", "Lt", "3", Some(1)),
            toleration("a", "Lt", "10", Some(60)),
            toleration("a", "Exists", "", None),
            toleration("b", "Equal", "x", Some(30)),
        ];
        assert_eq!(stay(&[&a], &list), Some(60));
        assert_eq!(stay(&[&b, &a], &list), Some(30));
        assert_eq!(stay(&[&a, &taint("c", "")], &list), None);
        assert_eq!(stay(&[], &[]), Some(FOR_EVER));
        assert_eq!(stay(&[&a], &list[2..]), Some(FOR_EVER));
    }

    #[test]
    fn seconds_are_those_of_the_controller() {
        for (seconds, expected) in [
            (Some(-5), 0),
            (Some(0), 0),
            (Some(i64::MAX), FOR_EVER),
            (None, FOR_EVER),
            (Some(9_223_372_036), 9_223_372_036),
            (Some(9_223_372_037), FOR_EVER),
            (Some(18_446_744_074), 0),
        ] {
            assert_eq!(
                stay(&[&taint("a", "5")], &[toleration("a", "Exists", "", seconds)]),
                Some(expected),
                "{seconds:?}"
            );
        }
    }

    #[test]
    fn a_queued_eviction_keeps_its_time_unless_a_taint_is_not_tolerated() {
        for (before, after, expected) in [
            (Some(FOR_EVER), None, Some(0)),
            (Some(FOR_EVER), Some(60), Some(60)),
            (Some(FOR_EVER), Some(0), Some(0)),
            (Some(FOR_EVER), Some(FOR_EVER), None),
            (Some(300), Some(60), None),
            (Some(300), None, Some(0)),
            (None, None, None),
            (None, Some(60), None),
        ] {
            assert_eq!(eviction(before, after), expected, "{before:?} {after:?}");
        }
    }
}
