//! Part of `volumeBinding`: a pod that gets a node.

use super::Halt;
use super::claims::{CLAIM, STEPS_TO_READ, read_claim, read_volume};
use crate::kubernetes::field::{Field, Unreadable, short};
use crate::kubernetes::kind::Kind;
use crate::kubernetes::listing::first_few;
use crate::kubernetes::names::Names;
use crate::kubernetes::node_selector::Labels;
use crate::kubernetes::picked::{Fields, WHOLE};
use crate::kubernetes::pod_claims::{PodClaim, claims_of_pod};
use crate::kubernetes::request::Request;
use crate::kubernetes::volume::Volume;
use crate::kubernetes::zone_labels::{REGION, ZONE, ZONE_LABELS, ZoneLabel};
use crate::logic::{Budget, Exhausted};
use crate::rules::cluster::{Freshness, Live, Wanted};
use crate::rules::finding::{Code, Few, Finding};
use crate::rules::live_nodes::{NODE, read};

/// What is read of a pod.
const POD: Wanted = Wanted {
    fields: Fields(&[
        ("metadata", Fields(&[("name", WHOLE), ("uid", WHOLE)])),
        (
            "spec",
            Fields(&[(
                "volumes",
                Fields(&[
                    ("name", WHOLE),
                    ("persistentVolumeClaim", Fields(&[("claimName", WHOLE)])),
                    ("ephemeral", Fields(&[("volumeClaimTemplate", TEMPLATE)])),
                ]),
            )]),
        ),
    ]),
    freshness: Freshness::Now,
};

const TEMPLATE: Fields = Fields(&[("spec", Fields(&[("storageClassName", WHOLE)]))]);

/// A pod, as far as it decides which volumes it needs.
struct Pod {
    uid: String,
    claims: Vec<PodClaim>,
}

impl Pod {
    fn read(object: &Field<'_, '_>, name: &str, budget: &mut Budget) -> Result<Result<Self, Exhausted>, Unreadable> {
        let uid = object.get("metadata")?.string_of("uid")?.unwrap_or_default().to_owned();
        Ok(claims_of_pod(object, name, budget)?.map(|claims| Pod { uid, claims }))
    }
}

/// A pod that gets a node.
struct Placement<'r> {
    namespace: &'r str,
    name: &'r str,
    pod: Pod,
    node: &'r str,
    /// The labels of the node that the request brings along.
    known: Labels,
    /// The field that names the node, and what may be done instead.
    field: &'static str,
    accepted: &'static str,
}

/// Judges a Binding: of a pod to a node, while the API server knows both.
pub fn judge_binding(
    request: &Request<'_, '_>,
    live: &Live<'_>,
    budget: &mut Budget,
    few: &mut Few,
) -> Result<(), Halt> {
    let object = request.new_state()?;
    let target = object.get("target")?;
    let node = target.string_of("name")?.unwrap_or_default();
    let kind = target.string_of("kind")?;
    // The API server refuses any other target, and takes one without a kind for a node (`ValidatePodBinding`, Kubernetes 1.36).
    if node.is_empty() || !matches!(kind, None | Some("" | "Node")) {
        return Ok(());
    }
    let (namespace, name) = (request.object_namespace()?, request.object_name()?);
    budget.spend(STEPS_TO_READ)?;
    let pod = live.get(Kind::Pod, Some(namespace), name, POD, |pod| Pod::read(pod, name, budget))?;
    // The API server refuses the binding of a pod that is not there.
    let Some(pod) = pod.transpose()? else { return Ok(()) };
    let mut known = Labels::new();
    let metadata = object.get("metadata")?;
    let labels = metadata.get("labels")?;
    // For `pods/binding` to a `Node` the API server copies these two labels from the node (`PodTopologyLabels`, Kubernetes 1.35).
    // Elsewhere a client wrote them, and another label says nothing of the node.
    let is_labelled = request.sub_resource.is_some() && kind == Some("Node");
    for key in [ZONE, REGION].into_iter().filter(|_| is_labelled) {
        if let Some(value) = labels.string_of(key)? {
            known.insert(key.to_owned(), value.to_owned());
        }
    }
    let (field, accepted) = ("target.name", "a node that the volume admits; the scheduler tries again by itself");
    Placement { namespace, name, pod, node, known, field, accepted }.judge(live, budget, few)
}

/// Judges a Pod that names its node.
pub fn judge_pod(
    node: &str,
    request: &Request<'_, '_>,
    live: &Live<'_>,
    budget: &mut Budget,
    few: &mut Few,
) -> Result<(), Halt> {
    let (namespace, name) = (request.object_namespace()?, request.object_name()?);
    let pod = Pod::read(&request.object, name, budget)??;
    let (field, accepted) =
        ("spec.nodeName", "a node that the volume admits, or no `nodeName`: then the scheduler chooses the node");
    Placement { namespace, name, pod, node, known: Labels::new(), field, accepted }.judge(live, budget, few)
}

impl Placement<'_> {
    /// The node is read last, and only where the labels that are known leave it open whether a volume admits it.
    fn judge(&self, live: &Live<'_>, budget: &mut Budget, few: &mut Few) -> Result<(), Halt> {
        let mut open = Vec::new();
        // What is known of the other volumes is said, whatever cannot be read of one.
        let mut unread = Ok(());
        for claim in &self.pod.claims {
            let (name, volume) = match self.volume_of(claim, live, budget) {
                Ok(Some(volume)) => volume,
                Ok(None) => continue,
                Err(Halt::Unread(why)) if unread.is_ok() => {
                    unread = Err(Halt::Unread(why));
                    continue;
                }
                // An API server that does not answer one question is not asked many more.
                Err(Halt::Unread(_)) => break,
                Err(halt) => return Err(halt),
            };
            match volume.known_to_admit(&self.known) {
                Some(true) => {}
                Some(false) if !volume.admits(&self.known) => {
                    let label = volume.zone_labels.known_to_keep_out(&self.known).flatten();
                    few.push_with(|| self.finding(claim, (&name, &volume), (&self.known, false), label));
                }
                _ => open.push((claim, name, volume)),
            }
        }
        if open.is_empty() {
            return unread;
        }
        budget.spend(STEPS_TO_READ)?;
        let zones = ZONE_LABELS.iter().map(|(key, _)| *key);
        let keys = Names::of(zones.chain(open.iter().flat_map(|(_, _, volume)| volume.keys())));
        let wanted = Wanted { fields: NODE, freshness: Freshness::Held };
        let Some(node) = live.get(Kind::Node, None, self.node, wanted, |node| read(node, &keys))? else {
            return unread;
        };
        for (claim, name, volume) in open {
            if !volume.admits(&node.labels) {
                let label = volume.zone_labels.keeping_out(&node.labels);
                few.push_with(|| self.finding(claim, (&name, &volume), (&node.labels, true), label));
            }
        }
        unread
    }

    /// The volume of a claim and its name, where there is one.
    fn volume_of(
        &self,
        claim: &PodClaim,
        live: &Live<'_>,
        budget: &mut Budget,
    ) -> Result<Option<(String, Volume)>, Halt> {
        let bound = read_claim(live, self.namespace, (claim, CLAIM), &self.pod.uid, budget)?;
        let Some(bound) = bound.filter(|bound| !bound.volume.is_empty()) else { return Ok(None) };
        let volume = read_volume(live, claim, &bound.volume, budget)?;
        Ok(volume.map(|volume| (bound.volume, volume)))
    }

    /// `label` is the label of the volume that keeps the node out, if one does. Of the node these labels are known, and
    /// whether they are all.
    fn finding(
        &self,
        claim: &PodClaim,
        (name, volume): (&str, &Volume),
        (labels, all): (&Labels, bool),
        label: Option<&ZoneLabel>,
    ) -> Finding {
        const MOST: usize = 4;
        let (node, name) = (short(self.node, 120), short(name, 120));
        let zones = ZONE_LABELS.iter().map(|(key, _)| *key);
        let (keys, needs) = match label {
            Some(label) => {
                (Names::of(zones), format!("metadata.labels[{}]: `{}`", label.key, short(&label.value, 120)))
            }
            None => {
                let keys = Names::of(volume.scheduling_affinity().keys());
                (keys, format!("spec.nodeAffinity.required: {}", volume.describe_translation()))
            }
        };
        let has = keys.names().filter_map(|key| match labels.get(key) {
            Some(value) => Some(format!("`{}={value}`", short(key, 120))),
            None => (all && label.is_none()).then(|| format!("no label `{}`", short(key, 120))),
        });
        let why = match first_few(has, MOST, ", ").as_str() {
            "" => String::from("no node can"),
            has => format!("it has {has}"),
        };
        let pod = format!("{}/{}", short(self.namespace, 63), short(self.name, 120));
        let headline = format!("binding unreachable: node `{node}` cannot reach volume `{name}` of pod `{pod}`: {why}");
        Finding::new(Code::BindingUnreachable, headline)
            .at(self.field, &format!("`{node}`"))
            .detail(format!("volume `{name}` of claim `{}`: {needs}", short(&claim.name, 120)))
            .detail("the kubelet could not mount the volume, and the pod would stay in `ContainerCreating`")
            .detail(format!("accepted: {}", self.accepted))
    }
}
