//! The objects of the live cluster, for the modules that ask about them.
//!
//! ```text
//! judge ─▶ reader ─┬─▶ mirror ─▶ store        what is held: one mirror for each kind that is listed and watched
//!                  └─▶ API server             one object, as new as possible, within a limit
//! ```
//!
//! Modules ask as they ask Kubewarden's policy server, and get its answers and its error messages. There are three
//! differences. Only some fields are held ([`kind::kept`]). Nothing waits for the API server without a limit. And objects of which
//! the API server has not been heard for a minute are not answered any more: the policy server would go on with what it has.

mod access;
mod fields;
mod kind;
mod limits;
mod mirror;
mod once;
mod pages;
mod reader;
mod store;
mod trouble;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use kube::Client;
use placement_guard::kubernetes::kind::Kind;
use placement_guard::rules::rule::Reads;
use placement_guard::verdict;
use tokio::runtime::Handle;
use tokio::task::AbortHandle;

pub use access::{Access, NoAccess};
pub use kind::{Resource, resource};
pub use limits::Limits;
pub use once::{CannotRead, read_once};
pub use reader::Reader;
pub use trouble::Cause;

use crate::metrics::Metrics;
use mirror::Mirror;

/// Where the cluster is, and what to read of it.
#[derive(Debug, Clone, Default)]
pub struct Reading {
    /// `None` for the service account of the pod, if anything has to be read at all.
    pub access: Option<Access>,
    /// Kinds to read besides those that the settings need.
    pub kinds: BTreeSet<Kind>,
    pub limits: Limits,
}

impl Reading {
    /// The kinds to read under these settings, which are JSON. What the options name may be listed.
    pub fn kinds_under(&self, settings: Option<&str>) -> BTreeMap<Kind, Reads> {
        let mut kinds: BTreeMap<Kind, Reads> = settings.into_iter().flat_map(verdict::needs).collect();
        kinds.extend(self.kinds.iter().map(|kind| (*kind, Reads::All)));
        kinds
    }
}

/// The objects that are held, and the way to the API server.
pub struct Cluster {
    client: Client,
    runtime: Handle,
    mirrors: Vec<Arc<Mirror>>,
    tasks: Vec<AbortHandle>,
    limits: Limits,
    metrics: Arc<Metrics>,
}

impl fmt::Debug for Cluster {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Cluster").field("mirrors", &self.mirrors).finish_non_exhaustive()
    }
}

impl Cluster {
    /// Begins to read these kinds, as far as they are held, in the background, for as long as the cluster is in use.
    ///
    /// # Errors
    /// When there is no way to the API server. That it does not answer is no error: it may come up later.
    pub async fn begin(
        access: &Access,
        kinds: &BTreeMap<Kind, Reads>,
        limits: Limits,
        metrics: Arc<Metrics>,
    ) -> Result<Arc<Self>, NoAccess> {
        let client = access.client().await?;
        let runtime = Handle::current();
        let mirrors: Vec<_> =
            kinds.iter().map(|(kind, reads)| Arc::new(Mirror::new(*kind, *reads, limits.clone()))).collect();
        let follow = |mirror: &Arc<Mirror>| {
            runtime.spawn(Arc::clone(mirror).follow(client.clone(), Arc::clone(&metrics))).abort_handle()
        };
        let tasks = mirrors.iter().filter(|mirror| mirror.reads == Reads::All).map(follow).collect();
        Ok(Arc::new(Cluster { client, runtime, mirrors, tasks, limits, metrics }))
    }

    /// The first kind whose objects were not all read yet, and why if that is known.
    pub fn not_ready(&self) -> Option<String> {
        let conditions = self.held().map(|mirror| (mirror.kind, mirror.condition()));
        let (kind, condition) = conditions.into_iter().find(|(_, condition)| !condition.has_synced)?;
        let problem = condition.trouble.map(|trouble| format!(": {}", trouble.line())).unwrap_or_default();
        Some(format!("not all objects of kind {} are read yet{problem}", kind.name()))
    }

    fn held(&self) -> impl Iterator<Item = &Arc<Mirror>> {
        self.mirrors.iter().filter(|mirror| mirror.reads == Reads::All)
    }

    /// Writes into the metrics what is held now.
    pub fn measure(&self) {
        for mirror in self.held() {
            let condition = mirror.condition();
            self.metrics.cluster_held(mirror.kind.name(), condition.objects, condition.age);
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}
