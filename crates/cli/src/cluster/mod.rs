//! The cluster in which something is judged: files with its objects, or its API server.

mod files;
#[cfg(feature = "server")]
mod host_calls;
#[cfg(feature = "server")]
mod live;
#[cfg(not(feature = "server"))]
#[path = "not_live.rs"]
mod live;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use placement_guard::kubernetes::kind::Kind;
use placement_guard::kubernetes::picked::Fields;
use placement_guard::objects::Objects;
use placement_guard::rules::cluster::{CannotRead, Cluster, Wanted};
use placement_guard::verdict;

use crate::complaint::Complaint;
use crate::{manifest, output};

pub use live::Live;

/// What the command line says about the cluster.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Given {
    /// The objects in the cluster, for settings that need them: files with the output of `kubectl get … -A -o yaml` or `json`,
    /// and folders of such files; `-` is standard input
    #[arg(long, value_name = "FILE|DIR")]
    cluster: Vec<PathBuf>,

    /// Read the cluster itself, with the access that `kubectl` has
    #[arg(long, conflicts_with = "cluster")]
    live: bool,

    /// With `--live`: the context of the kubeconfig, instead of its current one
    #[arg(long, value_name = "NAME", requires = "live")]
    context: Option<String>,

    /// With `--live`: the kubeconfig, instead of those that `KUBECONFIG` names or the one in the home folder
    #[arg(long, value_name = "FILE", requires = "live")]
    kubeconfig: Option<PathBuf>,

    /// The namespace of objects that name none. `audit --live` without paths reads only this namespace then, and nothing that
    /// belongs to no namespace
    #[arg(long, short, value_name = "NAME", value_parser = namespace)]
    namespace: Option<String>,
}

/// The name of a namespace, which becomes part of a path.
fn namespace(name: &str) -> Result<String, &'static str> {
    let is_usual = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let is_name = (1..=63).contains(&name.len()) && name.bytes().all(is_usual);
    is_name.then(|| name.to_owned()).ok_or("must be 1 to 63 lower-case letters, digits and `-`")
}

impl Given {
    /// The paths that are read, of which only one may be standard input.
    pub fn paths(&self) -> &[PathBuf] {
        &self.cluster
    }

    /// The namespace of objects that name none, and the only one that is audited.
    pub fn namespace(&self) -> Option<&str> {
        self.namespace.as_deref()
    }

    /// The API server, if that is to be read.
    ///
    /// # Errors
    /// When this build cannot read one.
    pub fn live(&self) -> Result<Option<Live>, Complaint> {
        let access = || Live::of(self.kubeconfig.as_deref(), self.context.as_deref());
        self.live.then(access).transpose()
    }
}

/// What an API server lists under one path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Listed {
    pub api_version: &'static str,
    pub kind: &'static str,
    /// As in RBAC rules.
    pub plural: &'static str,
}

impl Listed {
    /// Whether its objects belong to namespaces.
    pub fn is_namespaced(&self) -> bool {
        !manifest::belongs_to_no_namespace(self.group(), self.kind)
    }

    /// The API group; empty for the core.
    pub fn group(&self) -> &'static str {
        self.api_version.split_once('/').map_or("", |(group, _)| group)
    }
}

/// Objects that could not be listed.
pub struct Unlisted {
    pub complaint: Complaint,
    /// Whether others may be listed all the same.
    pub is_alone: bool,
}

/// What rules may ask about the cluster; clones share what was read.
#[derive(Clone, Default)]
pub struct Surroundings(Option<Arc<Whence>>);

enum Whence {
    Files(Objects),
    Live(Live),
}

impl Surroundings {
    /// The cluster that was given, in which these settings, which are JSON, need some kinds. Files and these kinds are read
    /// at once, so that it is known whether they can be read.
    ///
    /// # Errors
    /// What cannot be read.
    pub fn read(given: &Given, settings: &[&str]) -> Result<Self, Complaint> {
        let needs = needs(settings);
        if let Some(live) = given.live()? {
            needs.into_iter().try_for_each(|kind| live.demand(kind))?;
            return Ok(Surroundings(Some(Arc::new(Whence::Live(live)))));
        }
        if given.cluster.is_empty() {
            return Ok(Surroundings::default());
        }
        let (objects, count) = files::read(&given.cluster)?;
        for kind in needs.into_iter().filter(|kind| objects.count(*kind) == 0) {
            let among = if count == 1 { String::from("in the object") } else { format!("among the {count} objects") };
            output::warn(&format!("no {} {among} of `--cluster`: the cluster counts as one without any", kind.name()));
        }
        Ok(objects.into())
    }

    /// The nodes of the cluster alone. Objects of other kinds cannot be read then.
    ///
    /// # Errors
    /// What cannot be read, and what is no node.
    pub fn of_nodes(path: &Path) -> Result<Self, Complaint> {
        files::nodes(path).map(Self::from)
    }

    /// How many objects of a kind were given in files; `None` where none were given so.
    pub fn count(&self, kind: Kind) -> Option<usize> {
        match self.0.as_deref() {
            Some(Whence::Files(objects)) => Some(objects.count(kind)),
            Some(Whence::Live(_)) | None => None,
        }
    }

    fn cluster(&self) -> Result<&dyn Cluster, CannotRead> {
        match self.0.as_deref() {
            None => Err(CannotRead::NotGiven),
            Some(Whence::Files(objects)) => Ok(objects),
            Some(Whence::Live(live)) => Ok(live),
        }
    }
}

impl From<Objects> for Surroundings {
    fn from(objects: Objects) -> Self {
        Surroundings(Some(Arc::new(Whence::Files(objects))))
    }
}

impl Cluster for Surroundings {
    fn get(
        &self,
        kind: Kind,
        namespace: Option<&str>,
        name: &str,
        wanted: Wanted,
    ) -> Result<Option<Vec<u8>>, CannotRead> {
        self.cluster()?.get(kind, namespace, name, wanted)
    }

    fn list(&self, kind: Kind, fields: Fields) -> Result<Vec<u8>, CannotRead> {
        self.cluster()?.list(kind, fields)
    }

    fn is_at_hand(&self) -> bool {
        self.0.is_some()
    }
}

/// The kinds that settings need, each once.
fn needs(settings: &[&str]) -> Vec<Kind> {
    let needed: Vec<Kind> =
        settings.iter().flat_map(|settings| verdict::needs(settings)).map(|(kind, _)| kind).collect();
    Kind::ALL.into_iter().filter(|kind| needed.contains(kind)).collect()
}
