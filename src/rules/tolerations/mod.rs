//! `tolerations`: which taints a pod may tolerate, and for how long.
//!
//! The tolerations of a pod, or of the template of any workload, are a union of boxes in key × value × effect; what is
//! allowed is another. The rule compares the two sets, not how they are written. On an UPDATE it judges only what was
//! added: the old list is permitted, each taint for as long as it was.
//!
//! A pod that names its node needs no toleration of `NoSchedule`: the scheduler never sees it, and the kubelet's admission
//! looks at `NoExecute` taints alone (`generalFilter` in `pkg/kubelet/lifecycle/predicate.go`). So `spec.nodeName` counts
//! as tolerating every `NoSchedule` and `PreferNoSchedule` taint, wherever it is new: in a template, and in a Pod that
//! somebody creates. The scheduler names the node of every other Pod, through `pods/binding`, so a Pod that an audit finds
//! says nothing about who chose its node, and is not judged for it. An UPDATE cannot change the node name of a Pod.

use k8s_openapi::api::core::v1::Toleration;

mod attraction;
mod judgement;
mod settings;
mod side;
mod standard;
mod taint_space;
mod wording;

pub use self::settings::Tolerations;

use self::judgement::Judgement;
use self::standard::{Injection, Standard};
use self::taint_space::{Lists, TaintSpace};
use crate::kubernetes::field::Field;
use crate::kubernetes::kind::Kind;
use crate::kubernetes::mirror_pod::is_mirror_pod;
use crate::kubernetes::pod::{PodTemplate, has_pod, with_pod};
use crate::kubernetes::request::Request;
use crate::kubernetes::toleration::read_tolerations;
use crate::logic::Budget;
use crate::rules::cluster::{Live, Missing, WhenUnreadable};
use crate::rules::decision::Report;
use crate::rules::rule::{Reads, Rule, Stopped};

/// Steps for one toleration that is read.
const READ_STEPS: usize = 100;

/// What the rule reads of a pod or of a template.
struct Read<'v> {
    tolerations: Vec<Toleration>,
    /// Where the list of tolerations is in the object.
    path: String,
    node_name: Option<&'v str>,
    /// Where the node name is in the object.
    node_name_path: String,
    injection: Injection<'v>,
    is_mirror: bool,
}

impl<'v> Read<'v> {
    fn of(request: &Request<'_, '_>, pod: &PodTemplate<'v, '_>, budget: &mut Budget) -> Result<Self, Stopped> {
        let list = pod.spec.get("tolerations")?;
        budget.spend(list.items()?.len().saturating_mul(READ_STEPS))?;
        let node_name = pod.spec.get("nodeName")?;
        Ok(Read {
            tolerations: read_tolerations(&list)?,
            path: list.path_in_object(),
            node_name: node_name.string()?.filter(|name| !name.is_empty()),
            node_name_path: node_name.path_in_object(),
            injection: Injection::read(request, pod, budget)?,
            is_mirror: is_mirror_pod(request, &pod.metadata)?,
        })
    }
}

fn read<'v>(
    request: &Request<'_, '_>,
    object: &Field<'v, '_>,
    budget: &mut Budget,
) -> Result<Option<Read<'v>>, Stopped> {
    with_pod(object, request.group, request.kind, |pod| Ok(Read::of(request, pod, budget)))?.transpose()
}

impl Rule for Tolerations {
    fn needs(&self) -> Vec<(Kind, Reads)> {
        if self.attraction { vec![(Kind::Node, Reads::All)] } else { Vec::new() }
    }

    fn judge(
        &self,
        request: &Request<'_, '_>,
        live: &Live<'_>,
        budget: &mut Budget,
        report: &mut Report,
    ) -> Result<(), Stopped> {
        if !request.stores() || request.sub_resource.is_some() || !has_pod(request.group, request.kind) {
            return Ok(());
        }
        let Some(new) = read(request, request.new_state()?, budget)? else { return Ok(()) };
        let old = match request.old_state()? {
            Some(object) => read(request, object, budget)?,
            None => None,
        };
        let (old, old_node_name) = old.map_or((Vec::new(), None), |old| (old.tolerations, old.node_name));
        let by_scheduler = request.kind == "Pod" && request.is_audit();
        let is_judged = !self.node_name && !by_scheduler && new.node_name != old_node_name;
        let node_name = new.node_name.filter(|_| is_judged);
        if new.is_mirror || (new.tolerations == old && node_name.is_none()) {
            return Ok(());
        }
        let allowed = self.allowed.as_deref().unwrap_or_default();
        let standard = if self.standard {
            let lists = new.tolerations.iter().chain(&old).chain(&self.denied);
            let all = lists.chain(allowed.iter().map(|permitted| &permitted.toleration));
            new.injection.standard(all.filter_map(|toleration| toleration.key.as_deref()), budget)?
        } else {
            Standard::default()
        };
        let lists = Lists { new: &new.tolerations, old: &old, allowed, standard: &standard, denied: &self.denied };
        let space = TaintSpace::new(&lists, budget)?;
        let judgement = Judgement::new(self, &lists, &space, &new.path, budget)?;
        judgement.find(report, budget);
        if let Some(name) = node_name {
            judgement.names_a_node(name, &new.node_name_path, report, budget);
        }
        if self.attraction {
            match attraction::find(request, &new.tolerations, &old, &new.path, live, budget)? {
                Ok(found) => report.find_all(found),
                Err(unread) => {
                    let missing = Missing::of(unread, "attraction", WhenUnreadable::Allow);
                    missing.find(self.when_unreadable, report);
                }
            }
        }
        Ok(())
    }
}
