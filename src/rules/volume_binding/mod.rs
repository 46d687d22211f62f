//! `volumeBinding`: whether a pod can reach its volumes from the node that it gets.
//!
//! This rule judges the binding of a pod to a node, whether the scheduler or a client chooses it: a Binding, or a new Pod that names its node.
//! Between an edit of a volume and the moment at which the scheduler hears of it, the scheduler may choose a node that can no
//! longer reach the volume. Where the settings ask for it, the rule also looks at Pods that have no node yet: whether any node
//! could reach all their volumes together.

mod binding;
mod claims;
mod together;

use self::binding::{judge_binding, judge_pod};
use self::together::find_together;
use crate::kubernetes::field::{Field, Unreadable};
use crate::kubernetes::kind::Kind;
use crate::kubernetes::pod::is_finished;
use crate::kubernetes::request::{Operation, Request};
use crate::logic::{Budget, Exhausted};
use crate::rules::cluster::{Live, Missing, Unread, WhenUnreadable};
use crate::rules::decision::Report;
use crate::rules::finding::{Code, Few, Severity};
use crate::rules::rule::{Reads, Rule, Stopped};
use crate::rules::section::{level, only_keys, when_cluster_unreadable};

/// The section's settings.
#[derive(Debug)]
pub struct VolumeBinding {
    unreachable_together: Option<Severity>,
    when_unreadable: Option<WhenUnreadable>,
}

impl VolumeBinding {
    /// # Errors
    /// A key or value that is not known.
    pub fn read(section: &Field<'_, '_>) -> Result<Self, Unreadable> {
        only_keys(section, &["unreachableTogether", "whenClusterUnreadable"])?;
        Ok(VolumeBinding {
            unreachable_together: level(&section.get("unreachableTogether")?)?,
            when_unreadable: when_cluster_unreadable(section)?,
        })
    }
}

impl Rule for VolumeBinding {
    // A claim keeps its volume and a node its labels, so they may be held; a pod and a volume are read as they are now.
    fn needs(&self) -> Vec<(Kind, Reads)> {
        let mut needs = vec![
            (Kind::Node, Reads::All),
            (Kind::Pod, Reads::Single),
            (Kind::PersistentVolume, Reads::Single),
            (Kind::PersistentVolumeClaim, Reads::All),
        ];
        needs.extend(self.unreachable_together.map(|_| (Kind::StorageClass, Reads::All)));
        needs
    }

    fn judge(
        &self,
        request: &Request<'_, '_>,
        live: &Live<'_>,
        budget: &mut Budget,
        report: &mut Report,
    ) -> Result<(), Stopped> {
        // The node and the volumes of a pod do not change.
        if request.operation != Operation::Create {
            return Ok(());
        }
        let mut few = Few::new(Code::BindingUnreachable, "volumes of the pod");
        let (mut setting, mut otherwise) = ("volumeBinding", WhenUnreadable::Deny);
        let is_binding = (request.group, request.kind) == ("", "Binding");
        let judged = if is_binding && matches!(request.sub_resource, None | Some("binding")) {
            judge_binding(request, live, budget, &mut few)
        } else if request.is_about("", "Pod") && !is_finished(request.new_state()?)? {
            let spec = request.object.get("spec")?;
            match (spec.string_of("nodeName")?.filter(|node| !node.is_empty()), self.unreachable_together) {
                (Some(node), _) => judge_pod(node, request, live, budget, &mut few),
                (None, Some(severity)) => {
                    (setting, otherwise) = ("unreachableTogether", WhenUnreadable::by_default(severity));
                    find_together(request, (severity, self.when_unreadable), live, budget, report)
                }
                (None, None) => Ok(()),
            }
        } else {
            Ok(())
        };
        report.find_few(few);
        match judged {
            Ok(()) => Ok(()),
            Err(Halt::Stopped(stopped)) => Err(stopped),
            Err(Halt::Unread(unread)) => {
                Missing::of(unread, setting, otherwise).find(self.when_unreadable, report);
                Ok(())
            }
        }
    }
}

/// Why a question has no answer.
enum Halt {
    Stopped(Stopped),
    Unread(Unread),
}

impl From<Unreadable> for Halt {
    fn from(unreadable: Unreadable) -> Self {
        Halt::Stopped(Stopped::Unreadable(unreadable))
    }
}

impl From<Exhausted> for Halt {
    fn from(_: Exhausted) -> Self {
        Halt::Stopped(Stopped::Exhausted)
    }
}

impl From<Unread> for Halt {
    fn from(unread: Unread) -> Self {
        Halt::Unread(unread)
    }
}
