//! Part of `accessModes`: claims of one pod that several pods name.
//!
//! The scheduler places a pod with a `ReadWriteOncePod` claim only while no other pod uses the claim (`VolumeRestrictions`,
//! Kubernetes 1.36). A second pod waits, or takes the place of the first when its priority is higher. So a workload whose pods
//! all name one such claim never has more than one of them running, and a rolling update of it never ends.

use crate::kubernetes::claim::{AccessModes, ONE_POD};
use crate::kubernetes::field::{Field, Unreadable, short};
use crate::kubernetes::kind::Kind;
use crate::kubernetes::names::Names;
use crate::kubernetes::node_selector::Labels;
use crate::kubernetes::picked::{Fields, WHOLE};
use crate::kubernetes::pod::{is_finished, with_pod};
use crate::kubernetes::request::{Operation, Request};
use crate::logic::{Budget, Exhausted};
use crate::rules::cluster::{Freshness, Live, Unread, Wanted};
use crate::rules::decision::Report;
use crate::rules::finding::{Code, Few, Finding, Severity};
use crate::rules::live_share::each_with_half;
use crate::rules::rule::Stopped;

/// What is read of a claim, and of a pod.
const CLAIM: Wanted = Wanted {
    fields: Fields(&[("metadata", Fields(&[("name", WHOLE)])), ("spec", Fields(&[("accessModes", WHOLE)]))]),
    freshness: Freshness::Held,
};
const POD: Fields = Fields(&[
    ("metadata", Fields(&[("name", WHOLE), ("namespace", WHOLE), ("deletionTimestamp", WHOLE)])),
    (
        "spec",
        Fields(&[
            ("nodeName", WHOLE),
            ("priority", WHOLE),
            ("volumes", Fields(&[("persistentVolumeClaim", Fields(&[("claimName", WHOLE)]))])),
        ]),
    ),
    ("status", Fields(&[("phase", WHOLE)])),
]);

/// Steps for a volume of the object, for a claim that is read, for each pod of the cluster, and for each volume of a pod of
/// the namespace.
const STEPS_FOR_A_VOLUME: usize = 30;
const STEPS_FOR_A_CLAIM: usize = 2_000;
const STEPS_FOR_A_POD: usize = 5;
const STEPS_FOR_A_MOUNT: usize = 10;

/// The claims that the pods of an object share, and why there is more than one pod.
#[derive(Debug, Default)]
struct Shared<'v> {
    /// Each name once, with the field that names it.
    claims: Vec<(&'v str, String)>,
    names: Names<'v>,
    /// Why several pods use a claim at the same time, with the field that says so; `None` for a single pod.
    why: Option<Why>,
}

/// Why an object has several pods at the same time.
#[derive(Debug)]
struct Why {
    what: String,
    field: String,
    accepted: &'static str,
}

/// Finds claims of one pod that several pods name: those of a workload, and of a Pod that is created those that another pod
/// uses. On an UPDATE only a claim or a number of pods that is new is looked at.
///
/// # Errors
/// A wrong JSON type, and a spent budget. The inner error is a kind that cannot be read.
pub fn judge(
    severity: Severity,
    request: &Request<'_, '_>,
    live: &Live<'_>,
    budget: &mut Budget,
    report: &mut Report,
) -> Result<Result<(), Unread>, Stopped> {
    if request.sub_resource.is_some() {
        return Ok(Ok(()));
    }
    let is_pod = (request.group, request.kind) == ("", "Pod");
    let new = Shared::read(request, request.new_state()?, budget)?;
    let old = match request.old_state()? {
        Some(old) => Shared::read(request, old, budget)?,
        None => Shared::default(),
    };
    // The volumes of a pod do not change.
    if is_pod && request.operation != Operation::Create || !is_pod && new.why.is_none() {
        return Ok(Ok(()));
    }
    let namespace = request.object_namespace()?;
    let mut few = Few::new(Code::RwopShared, "claims");
    let mut exclusive: Vec<&(&str, String)> = Vec::new();
    for claim in &new.claims {
        if old.why.is_some() && old.names.contains(claim.0) {
            continue;
        }
        budget.spend(STEPS_FOR_A_CLAIM)?;
        let modes = live.get(Kind::PersistentVolumeClaim, Some(namespace), claim.0, CLAIM, |object| {
            Ok(AccessModes::read(&object.get("spec")?.get("accessModes")?)?.contains(ONE_POD))
        });
        match modes {
            Ok(Some(true)) => exclusive.push(claim),
            Ok(_) => {}
            Err(unread) => return Ok(Err(unread)),
        }
    }
    if let Some(why) = &new.why {
        for (name, field) in exclusive {
            few.push_with(|| by_workload(request, name, field, why).with_severity(severity));
        }
        report.find_few(few);
        return Ok(Ok(()));
    }
    if exclusive.is_empty() {
        return Ok(Ok(()));
    }
    let pod = Newcomer::read(request, namespace)?;
    let wanted = Names::of(exclusive.iter().map(|(name, _)| *name));
    let others = match users(&wanted, &pod, live, budget) {
        Ok(others) => others?,
        Err(unread) => return Ok(Err(unread)),
    };
    for (name, field) in exclusive {
        budget.spend(others.len())?;
        let mut users = others.iter().filter_map(|(key, user)| {
            let (claim, other) = key.split_once(BETWEEN)?;
            (claim == *name).then_some((other, user.as_str()))
        });
        if let Some((other, user)) = users.next() {
            let more = users.count();
            few.push_with(|| pod.finding(name, field, (other, user), more).with_severity(severity));
        }
    }
    report.find_few(few);
    Ok(Ok(()))
}

impl<'v> Shared<'v> {
    fn read(request: &Request<'_, '_>, object: &Field<'v, '_>, budget: &mut Budget) -> Result<Self, Stopped> {
        let mut shared = Shared::default();
        let (group, kind) = (request.group, request.kind);
        let spec = object.get("spec")?;
        // A StatefulSet gives each pod a claim of its own for every template, whatever volume its pods have of this name.
        let mut own = Names::default();
        if (group, kind) == ("apps", "StatefulSet") {
            let templates = spec.get("volumeClaimTemplates")?;
            budget.spend(templates.items()?.len().saturating_mul(STEPS_FOR_A_VOLUME))?;
            for template in templates.items()? {
                own.add(template.get("metadata")?.string_of("name")?.unwrap_or_default(), 0);
            }
        }
        let read = with_pod(object, group, kind, |pod| {
            let volumes = pod.spec.get("volumes")?;
            let list = volumes.items()?;
            if budget.spend(list.len().saturating_mul(STEPS_FOR_A_VOLUME)).is_err() {
                return Ok(Err(Exhausted));
            }
            for volume in list {
                let source = volume.get("persistentVolumeClaim")?;
                let claim = source.get("claimName")?;
                let is_own = volume.string_of("name")?.is_some_and(|name| own.contains(name));
                if let Some(name) = claim.string()?.filter(|_| !is_own)
                    && shared.names.add(name, 0)
                {
                    shared.claims.push((name, claim.path_in_object()));
                }
            }
            Ok(Ok(()))
        })?;
        read.unwrap_or(Ok(()))?;
        if !shared.claims.is_empty() {
            shared.why = several(group, kind, &spec)?;
        }
        Ok(shared)
    }
}

/// Why an object of this kind has several pods at the same time.
fn several(group: &str, kind: &str, spec: &Field<'_, '_>) -> Result<Option<Why>, Unreadable> {
    let why = |what: String, field: String, accepted| Some(Why { what, field, accepted });
    let replicas = || -> Result<(i64, String), Unreadable> {
        let replicas = spec.get("replicas")?;
        Ok((replicas.integer()?.unwrap_or(1), replicas.path_in_object()))
    };
    const ONE: &str = "one replica, or a claim for each pod, as the claim templates of a StatefulSet make them";
    Ok(match (group, kind) {
        ("apps", "Deployment") => {
            let (count, field) = replicas()?;
            let strategy = spec.get("strategy")?;
            let rolling = strategy.get("rollingUpdate")?;
            let surge = rolling.get("maxSurge")?;
            let recreates = strategy.string_of("type")? == Some("Recreate");
            if count > 1 {
                why(format!("has {count} replicas"), format!("{field}: `{count}`"), ONE)
            } else if count == 1 && !recreates && surges(&surge)? {
                let shown = if surge.is_present() { surge.shown() } else { String::from("absent, which is 25%") };
                why(
                    String::from("starts the new pod before the old one ends"),
                    format!("{}: {}", surge.path_in_object(), short(&shown, 40)),
                    "`strategy: {type: Recreate}`, or `rollingUpdate: {maxSurge: 0, maxUnavailable: 1}`",
                )
            } else {
                None
            }
        }
        ("apps", "ReplicaSet" | "StatefulSet") | ("", "ReplicationController") => {
            let (count, field) = replicas()?;
            if count > 1 { why(format!("has {count} replicas"), format!("{field}: `{count}`"), ONE) } else { None }
        }
        ("apps", "DaemonSet") => why(
            String::from("has a pod on every node"),
            String::from("kind: `DaemonSet`"),
            "a volume of each pod's own",
        ),
        ("batch", "Job") => at_once(spec)?,
        ("batch", "CronJob") => at_once(&spec.get("jobTemplate")?.get("spec")?)?,
        _ => None,
    })
}

/// Whether a Deployment of one replica may have a second one during an update: the API server reads no number as 25%, and
/// the controller rounds up.
fn surges(surge: &Field<'_, '_>) -> Result<bool, Unreadable> {
    match surge.string() {
        Ok(None) => Ok(true),
        Ok(Some(percent)) => Ok(percent.trim_end_matches('%').bytes().any(|digit| digit != b'0')),
        Err(_) => Ok(surge.integer()?.is_some_and(|count| count > 0)),
    }
}

/// Why a Job has several pods at the same time.
fn at_once(job: &Field<'_, '_>) -> Result<Option<Why>, Unreadable> {
    let parallelism = job.get("parallelism")?;
    let count = parallelism.integer()?.unwrap_or(1);
    let needed = job.get("completions")?.integer()?.unwrap_or(i64::MAX);
    Ok((count.min(needed) > 1).then(|| Why {
        what: format!("runs {} pods at the same time", count.min(needed)),
        field: format!("{}: `{count}`", parallelism.path_in_object()),
        accepted: "`parallelism: 1`",
    }))
}

fn by_workload(request: &Request<'_, '_>, claim: &str, field: &str, why: &Why) -> Finding {
    let name = request.object_name().map(|name| short(name, 120)).unwrap_or_default();
    let claim = short(claim, 120);
    let headline = format!(
        "claim of one pod shared: {} `{name}` {}, and all its pods use claim `{claim}` (`{ONE_POD}`)",
        short(request.kind, 63),
        why.what
    );
    Finding::new(Code::RwopShared, headline)
        .at(field, &format!("`{claim}`"))
        .detail(why.field.clone())
        .detail("only one pod at a time may use the claim: the others stay `Pending`")
        .detail(format!("accepted: {}", why.accepted))
}

/// A pod that is created.
struct Newcomer<'v> {
    namespace: &'v str,
    name: String,
    priority: i64,
}

impl<'v> Newcomer<'v> {
    fn read(request: &Request<'v, '_>, namespace: &'v str) -> Result<Self, Unreadable> {
        let spec = request.object.get("spec")?;
        Ok(Newcomer {
            namespace,
            name: request.object_name()?.to_owned(),
            priority: spec.get("priority")?.integer()?.unwrap_or(0),
        })
    }

    /// `user` is the other pod: its name, and what [`users`] keeps of it.
    fn finding(&self, claim: &str, field: &str, (other, user): (&str, &str), more: usize) -> Finding {
        let (claim, namespace) = (short(claim, 120), short(self.namespace, 63));
        let other = format!("{namespace}/{}", short(other, 120));
        let users = match more {
            0 => format!("pod `{other}` already uses"),
            more => format!("pod `{other}` and {more} more already use"),
        };
        let headline = format!(
            "claim of one pod shared: pod `{}` names claim `{claim}` (`{ONE_POD}`), which {users}",
            short(&self.name, 120)
        );
        let (priority, node) = user.split_once(BETWEEN).unwrap_or_default();
        let place = match node {
            "" => format!("`{other}` has no node yet"),
            node => format!("`{other}` is on node `{}`", short(node, 120)),
        };
        let (mine, theirs) = (self.priority, priority.parse::<i64>().unwrap_or_default());
        let outcome = if mine > theirs {
            format!(
                "the new pod has the higher priority (`{mine}`, the other `{theirs}`), so the scheduler evicts `{other}` to \
                 make room"
            )
        } else {
            format!("the new pod stays `Pending` until `{other}` has ended; a pod of higher priority would evict it")
        };
        Finding::new(Code::RwopShared, headline)
            .at(field, &format!("`{claim}`"))
            .detail(place)
            .detail(outcome)
            .detail("accepted: the same pod when the other has ended, or another claim")
    }
}

/// Separates a claim from the pod that uses it, and that pod's priority from its node. No name has it.
const BETWEEN: char = '\n';

/// The pods of the namespace, other than the new one, that use one of these claims and are neither finished nor being
/// deleted: for each claim and pod its priority and its node. They are in the order of their names, whatever the order of
/// the cluster's answer.
fn users(
    claims: &Names<'_>,
    newcomer: &Newcomer<'_>,
    live: &Live<'_>,
    budget: &mut Budget,
) -> Result<Result<Labels, Exhausted>, Unread> {
    let mut users = Labels::new();
    let looked = each_with_half(live, Kind::Pod, POD, budget, &mut |pod, own| {
        own.spend(STEPS_FOR_A_POD)?;
        let (metadata, spec) = (pod.get("metadata")?, pod.get("spec")?);
        let name = metadata.get("name")?.required_string()?;
        let is_other = metadata.string_of("namespace")?.unwrap_or("default") == newcomer.namespace
            && name != newcomer.name
            && !metadata.get("deletionTimestamp")?.is_present()
            && !is_finished(pod)?;
        if !is_other {
            return Ok(());
        }
        let volumes = spec.get("volumes")?;
        own.spend(volumes.items()?.len().saturating_mul(STEPS_FOR_A_MOUNT))?;
        for volume in volumes.items()? {
            let source = volume.get("persistentVolumeClaim")?;
            let Some(claim) = source.string_of("claimName")?.filter(|claim| claims.contains(claim)) else { continue };
            let node = spec.string_of("nodeName")?.unwrap_or_default();
            let priority = spec.get("priority")?.integer()?.unwrap_or(0);
            users.insert(format!("{claim}{BETWEEN}{name}"), format!("{priority}{BETWEEN}{node}"));
        }
        Ok(())
    })?;
    Ok(looked.map(|()| users))
}
