//! Part of `csiDriverTokens`: whether every node is ready for tokens in `secrets`.
//!
//! A kubelet before 1.35 ignores `serviceAccountTokenInSecrets`, and a driver that does not read `secrets` gets no token at
//! all once it is true: new mounts fail on its node. So the field may become true only when every node that has the driver
//! runs a kubelet that knows it, and the DaemonSets that bring the driver to the nodes have rolled out a version that reads
//! `secrets`.

use semver::Version;

use crate::kubernetes::csi_driver::CsiDriver;
use crate::kubernetes::field::{Field, Unreadable, short};
use crate::kubernetes::image::ImageReference;
use crate::kubernetes::kind::Kind;
use crate::kubernetes::listing::first_few;
use crate::kubernetes::node_selector::Labels;
use crate::kubernetes::picked::{Fields, WHOLE};
use crate::kubernetes::version::{Age, TagVersion};
use crate::logic::{Budget, Exhausted};
use crate::rules::cluster::{Freshness, Live, Missing, Unread, Wanted, WhenUnreadable};
use crate::rules::finding::{Code, Finding};
use crate::rules::live_share::each_with_half;
use crate::rules::rule::Reads;

/// What is read of each kind.
const CSI_NODE: Fields =
    Fields(&[("metadata", Fields(&[("name", WHOLE)])), ("spec", Fields(&[("drivers", Fields(&[("name", WHOLE)]))]))]);
const NODE: Fields = Fields(&[
    ("metadata", Fields(&[("name", WHOLE)])),
    ("status", Fields(&[("nodeInfo", Fields(&[("kubeletVersion", WHOLE)]))])),
]);
const CONTAINER: Fields = Fields(&[("name", WHOLE), ("image", WHOLE)]);
const DAEMON_SET: Wanted = Wanted {
    fields: Fields(&[
        ("metadata", Fields(&[("name", WHOLE), ("generation", WHOLE)])),
        (
            "spec",
            Fields(&[(
                "template",
                Fields(&[("spec", Fields(&[("containers", CONTAINER), ("initContainers", CONTAINER)]))]),
            )]),
        ),
        (
            "status",
            Fields(&[
                ("observedGeneration", WHOLE),
                ("desiredNumberScheduled", WHOLE),
                ("updatedNumberScheduled", WHOLE),
                ("numberAvailable", WHOLE),
            ]),
        ),
    ]),
    freshness: Freshness::Now,
};

/// Steps for each driver of a node, for each node, and for a DaemonSet.
const STEPS_FOR_A_DRIVER: usize = 3;
const STEPS_FOR_A_NODE: usize = 10;
const STEPS_FOR_A_DAEMON_SET: usize = 2_000;

/// How many nodes a line of a message names.
const MOST: usize = 20;

/// The setting `rollout`.
#[derive(Debug)]
pub struct Rollout {
    min_kubelet: Version,
    /// `None` where only kubelets are judged.
    node_plugins: Option<Vec<NodePlugin>>,
}

/// A DaemonSet that brings a driver to nodes.
#[derive(Debug)]
struct NodePlugin {
    driver: String,
    namespace: String,
    daemon_set: String,
    container: String,
    min_version: Version,
}

impl Rollout {
    /// Reads the setting; `None` when it is absent.
    ///
    /// # Errors
    /// A key or value that is not known, and versions that are none.
    pub fn read(field: &Field<'_, '_>) -> Result<Option<Self>, Unreadable> {
        field.only(&["minKubelet", "nodePlugins"])?;
        if !field.is_present() {
            return Ok(None);
        }
        let min_kubelet = field.get("minKubelet")?;
        let plugins = field.get("nodePlugins")?;
        let read = plugins.each(NodePlugin::read)?;
        Ok(Some(Rollout {
            min_kubelet: if min_kubelet.is_present() { minimum(&min_kubelet)? } else { Version::new(1, 35, 0) },
            node_plugins: plugins.is_present().then_some(read),
        }))
    }

    pub fn needs(&self) -> Vec<(Kind, Reads)> {
        let daemon_set = self.node_plugins.as_ref().map(|_| Kind::DaemonSet);
        [Kind::Node, Kind::CsiNode].into_iter().chain(daemon_set).map(|kind| (kind, Reads::All)).collect()
    }

    /// What is found when tokens move to `secrets`, and a node or a DaemonSet is not ready for that.
    ///
    /// # Errors
    /// When the budget is spent.
    pub fn find(
        &self,
        name: &str,
        (old, new): (&CsiDriver<'_>, &CsiDriver<'_>),
        live: &Live<'_>,
        missing: &mut Missing,
        budget: &mut Budget,
    ) -> Result<Option<Finding>, Exhausted> {
        let in_secrets =
            |driver: &CsiDriver<'_>| driver.token_in_secrets == Some(true) && !driver.token_requests.is_empty();
        if !in_secrets(new) || in_secrets(old) {
            return Ok(None);
        }
        let mut stragglers = Vec::new();
        let nodes = match self.nodes(name, live, budget)? {
            Ok(kubelets) => kubelets.describe(&self.min_kubelet, &mut stragglers),
            Err(unread) => {
                missing.add(unread, "rollout.minKubelet", WhenUnreadable::Deny);
                0
            }
        };
        let mut plugins = 0_usize;
        if let Some(known) = &self.node_plugins {
            let mut mine = known.iter().filter(|plugin| plugin.driver == name).peekable();
            if mine.peek().is_none() {
                plugins = 1;
                stragglers.push(String::from(
                    "which DaemonSet brings the driver to the nodes is not known: no entry of `rollout.nodePlugins` names it",
                ));
            }
            for plugin in mine {
                budget.spend(STEPS_FOR_A_DAEMON_SET)?;
                match live.get(Kind::DaemonSet, Some(&plugin.namespace), &plugin.daemon_set, DAEMON_SET, |object| {
                    plugin.lacks(object)
                }) {
                    Ok(lacks) => {
                        let lacks = lacks.unwrap_or_else(|| vec![String::from("does not exist")]);
                        plugins = plugins.saturating_add(usize::from(!lacks.is_empty()));
                        stragglers.extend(lacks.into_iter().map(|what| format!("{} {what}", plugin.shown())));
                    }
                    Err(unread) => missing.add(unread, "rollout.nodePlugins", WhenUnreadable::Deny),
                }
            }
        }
        if stragglers.is_empty() {
            return Ok(None);
        }
        let count = match nodes {
            0 => String::new(),
            1 => String::from("1 node"),
            count => format!("{count} nodes"),
        };
        let who = match (count.as_str(), plugins) {
            ("", _) => String::from("the rollout of its node plugin"),
            (nodes, 0) => nodes.to_owned(),
            (nodes, _) => format!("{nodes} and the rollout of its node plugin"),
        };
        let headline = format!(
            "token rollout incomplete: driver `{}` would get its tokens in `secrets`, not ready for that: {who}",
            short(name, 120)
        );
        let mut finding =
            Finding::new(Code::TokenRolloutIncomplete, headline).at("spec.serviceAccountTokenInSecrets", "`true`");
        for straggler in stragglers {
            finding = finding.detail(straggler);
        }
        Ok(Some(
            finding
                .detail("on a node that is not ready, new mounts of the driver fail, or its tokens stay in `volume_context`")
                .detail("accepted: the same change when every node is ready"),
        ))
    }

    /// The kubelets of the nodes that have the driver. The inner error is a kind that cannot be read.
    fn nodes(&self, driver: &str, live: &Live<'_>, budget: &mut Budget) -> Result<Result<Kubelets, Unread>, Exhausted> {
        let (mut having, mut kubelets) = (Labels::new(), Kubelets::default());
        let looked = each_with_half(live, Kind::CsiNode, CSI_NODE, budget, &mut |node, own| {
            let spec = node.get("spec")?;
            let drivers = spec.get("drivers")?.items()?.len();
            own.spend(drivers.saturating_mul(STEPS_FOR_A_DRIVER).saturating_add(STEPS_FOR_A_NODE))?;
            for registered in spec.get("drivers")?.items()? {
                if registered.string_of("name")? == Some(driver) {
                    let name = node.get("metadata")?.get("name")?.required_string()?.to_owned();
                    having.insert(name, String::new());
                }
            }
            Ok(())
        });
        match looked {
            Ok(looked) => looked?,
            Err(unread) => return Ok(Err(unread)),
        }
        if having.is_empty() {
            return Ok(Ok(kubelets));
        }
        let looked = each_with_half(live, Kind::Node, NODE, budget, &mut |node, own| {
            own.spend(STEPS_FOR_A_NODE)?;
            let name = node.get("metadata")?.get("name")?.required_string()?;
            if having.contains_key(name) {
                let info = node.get("status")?;
                let version = info.get("nodeInfo")?.string_of("kubeletVersion")?.unwrap_or_default();
                kubelets.add(name, version, &self.min_kubelet);
            }
            Ok(())
        });
        match looked {
            Ok(looked) => looked.map(|()| Ok(kubelets)),
            Err(unread) => Ok(Err(unread)),
        }
    }
}

/// The versions of kubelets that are not known to be new enough, by the name of their node.
#[derive(Debug, Default)]
struct Kubelets {
    too_old: Labels,
    unknown: Labels,
}

impl Kubelets {
    fn add(&mut self, node: &str, version: &str, minimum: &Version) {
        let list = match TagVersion::read(version).map(|read| read.compare(minimum)) {
            Some(Age::Enough) => return,
            Some(Age::TooOld) => &mut self.too_old,
            Some(Age::Unknown) | None => &mut self.unknown,
        };
        list.insert(node.to_owned(), version.to_owned());
    }

    /// Adds a line for each list, and says how many nodes there are.
    fn describe(&self, minimum: &Version, lines: &mut Vec<String>) -> usize {
        let lists = [
            (&self.too_old, format!("kubelet older than {}", shown(minimum))),
            (&self.unknown, String::from("kubelet of a version that is not known")),
        ];
        for (nodes, what) in lists {
            if !nodes.is_empty() {
                let named = nodes.iter().map(|(node, version)| format!("`{node}` (`{}`)", short(version, 60)));
                lines.push(format!("{what}: {}", first_few(named, MOST, ", ")));
            }
        }
        self.too_old.len().saturating_add(self.unknown.len())
    }
}

impl NodePlugin {
    fn read(item: &Field<'_, '_>) -> Result<Self, Unreadable> {
        item.only(&["driver", "namespace", "daemonSet", "container", "minVersion"])?;
        let name = |key: &str| {
            let field = item.get(key)?;
            match field.required_string()? {
                "" => Err(field.unacceptable("a name")),
                name => Ok(name.to_owned()),
            }
        };
        Ok(NodePlugin {
            driver: name("driver")?,
            namespace: name("namespace")?,
            daemon_set: name("daemonSet")?,
            container: name("container")?,
            min_version: minimum(&item.get("minVersion")?)?,
        })
    }

    fn shown(&self) -> String {
        format!("DaemonSet `{}/{}`", short(&self.namespace, 63), short(&self.daemon_set, 120))
    }

    /// What the DaemonSet lacks, behind its name.
    fn lacks(&self, object: &Field<'_, '_>) -> Result<Vec<String>, Unreadable> {
        let mut lacks = Vec::new();
        let (metadata, status) = (object.get("metadata")?, object.get("status")?);
        let number = |of: &Field<'_, '_>, key: &str| Ok(of.get(key)?.integer()?.unwrap_or(0));
        let (generation, observed) = (number(&metadata, "generation")?, number(&status, "observedGeneration")?);
        if observed < generation {
            lacks.push(format!("has changed (generation {generation}), and its controller has only seen {observed}"));
        }
        let wanted = number(&status, "desiredNumberScheduled")?;
        for (key, what) in [("updatedNumberScheduled", "updated"), ("numberAvailable", "available")] {
            let count = number(&status, key)?;
            if count < wanted {
                lacks.push(format!("is {what} on {count} of {wanted} nodes (status.{key})"));
            }
        }
        lacks.extend(self.image_lacks(object)?);
        Ok(lacks)
    }

    fn image_lacks(&self, object: &Field<'_, '_>) -> Result<Option<String>, Unreadable> {
        let spec = object.get("spec")?;
        let template = spec.get("template")?;
        let pod = template.get("spec")?;
        let (container, minimum) = (short(&self.container, 63), shown(&self.min_version));
        for list in ["containers", "initContainers"] {
            for each in pod.get(list)?.items()? {
                if each.string_of("name")? != Some(&self.container) {
                    continue;
                }
                let image = each.string_of("image")?.unwrap_or_default();
                let reference = ImageReference::parse(image);
                let tag = reference.filter(|reference| reference.digest.is_none()).and_then(|reference| reference.tag);
                let image = short(image, 300);
                return Ok(match tag.and_then(TagVersion::read).map(|version| version.compare(&self.min_version)) {
                    Some(Age::Enough) => None,
                    Some(Age::TooOld) => {
                        Some(format!("has container `{container}` with image `{image}`, which is older than {minimum}"))
                    }
                    Some(Age::Unknown) | None => Some(format!(
                        "has container `{container}` with image `{image}`, which does not tell whether it is {minimum} or \
                         later: a tag with the version does, a digest does not"
                    )),
                });
            }
        }
        Ok(Some(format!("has no container `{container}`")))
    }
}

/// A version in the settings.
fn minimum(field: &Field<'_, '_>) -> Result<Version, Unreadable> {
    let read = TagVersion::read(field.required_string()?);
    read.map(|version| version.first().clone()).ok_or_else(|| field.unacceptable("a version such as `1.35` or `1.6.0`"))
}

fn shown(version: &Version) -> String {
    let Version { major, minor, patch, .. } = version;
    let pre = if version.pre.is_empty() { String::new() } else { format!("-{}", version.pre.as_str()) };
    format!("{major}.{minor}.{patch}{pre}")
}
