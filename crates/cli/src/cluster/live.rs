//! The API server: each kind is read once, as a whole, when it is asked for.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use placement_guard::kubernetes::field::{self, Field};
use placement_guard::kubernetes::kind::Kind;
use placement_guard::kubernetes::picked::Fields;
use placement_guard::objects::Objects;
use placement_guard::rules::cluster::{CannotRead, Cluster, Verb, Wanted};
use server::cluster::{Access, CannotRead as Failure, Cause, NoAccess, Resource, read_once};

use super::{Listed, Unlisted};
use crate::complaint::Complaint;

/// What is read in this time shows nothing.
const PATIENCE: Duration = Duration::from_secs(1);

/// A cluster that is read through its API server.
pub struct Live {
    access: Access,
    read: Mutex<Read>,
}

/// What was read.
struct Read {
    objects: Objects,
    kinds: BTreeMap<Kind, Result<(), CannotRead>>,
}

impl Live {
    /// Reached as the kubeconfig says, or, without one, as `kubectl` reaches it. Nothing is asked yet.
    ///
    /// # Errors
    /// None in this build.
    pub fn of(kubeconfig: Option<&Path>, context: Option<&str>) -> Result<Self, Complaint> {
        let context = context.map(str::to_owned);
        let access = match kubeconfig {
            Some(file) => Access::Kubeconfig { file: file.to_owned(), context },
            None => Access::OfTheUser { context },
        };
        let read = Read { objects: Objects::of_kinds(&Kind::ALL), kinds: BTreeMap::new() };
        Ok(Live { access, read: Mutex::new(read) })
    }

    /// Reads all objects of a kind, which must be readable.
    ///
    /// # Errors
    /// Why they cannot be read.
    pub fn demand(&self, kind: Kind) -> Result<(), Complaint> {
        let mut read = self.read();
        let done = self.fetch(&mut read, kind);
        read.kinds.insert(kind, done.as_ref().map_err(cause).copied());
        done.map_err(|failure| complaint(&failure))
    }

    /// Hands over all objects of a resource as JSON, or those of one namespace, whether rules may ask about it or not.
    ///
    /// # Errors
    /// Why they cannot be read.
    pub fn each(&self, listed: Listed, namespace: Option<&str>, each: &mut dyn FnMut(String)) -> Result<(), Unlisted> {
        let Listed { api_version, kind, plural } = listed;
        let resource = Resource { api_version, kind, plural };
        let progress = Progress::of(resource);
        let read = read_once(&self.access, resource, namespace, |object| {
            progress.came();
            each(object);
        });
        let is_alone = |failure: &Failure| {
            matches!(failure, Failure::Resource { cause: Cause::Forbidden | Cause::NotServed | Cause::Garbled, .. })
        };
        read.map_err(|failure| Unlisted { complaint: complaint(&failure), is_alone: is_alone(&failure) })
    }

    fn read(&self) -> MutexGuard<'_, Read> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What has been read, with this kind.
    fn with(&self, kind: Kind) -> Result<MutexGuard<'_, Read>, CannotRead> {
        let mut read = self.read();
        let known = read.kinds.get(&kind).copied();
        let done = known.unwrap_or_else(|| {
            let done = self.fetch(&mut read, kind).map_err(|failure| cause(&failure));
            read.kinds.insert(kind, done);
            done
        });
        done.map(|()| read)
    }

    fn fetch(&self, read: &mut Read, kind: Kind) -> Result<(), Failure> {
        let resource = Resource { api_version: kind.api_version(), kind: kind.name(), plural: kind.resource() };
        let progress = Progress::of(resource);
        let mut broken = None;
        read_once(&self.access, resource, None, |object| {
            progress.came();
            let parsed = field::parse(object.as_bytes());
            let added = parsed.and_then(|object| read.objects.insert(kind, &Field::root("", &object)));
            broken = broken.take().or(added.err());
        })?;
        match broken {
            None => Ok(()),
            Some(unreadable) => {
                Err(Failure::Resource { resource, cause: Cause::Garbled, problem: unreadable.to_string() })
            }
        }
    }
}

impl Cluster for Live {
    fn get(
        &self,
        kind: Kind,
        namespace: Option<&str>,
        name: &str,
        wanted: Wanted,
    ) -> Result<Option<Vec<u8>>, CannotRead> {
        self.with(kind)?.objects.get(kind, namespace, name, wanted)
    }

    fn list(&self, kind: Kind, fields: Fields) -> Result<Vec<u8>, CannotRead> {
        self.with(kind)?.objects.list(kind, fields)
    }
}

/// A failure as rules know it.
fn cause(failure: &Failure) -> CannotRead {
    match failure {
        Failure::NoAccess(_) | Failure::System(_) => CannotRead::Failed,
        Failure::Resource { cause, .. } => match cause {
            Cause::Forbidden => CannotRead::Forbidden(Verb::List),
            Cause::NotServed => CannotRead::NotServed,
            Cause::TooLong => CannotRead::TooLong,
            Cause::Down | Cause::Gone => CannotRead::Down,
            Cause::Garbled => CannotRead::Garbled,
        },
    }
}

/// A failure as the reason for ending.
fn complaint(failure: &Failure) -> Complaint {
    const OR_FILES: &str = "or give its objects with `--cluster`";
    let remedy = match failure {
        Failure::NoAccess(NoAccess::OfTheUser(_)) => {
            format!("name a kubeconfig with `--kubeconfig`, {OR_FILES}")
        }
        Failure::NoAccess(_) => format!("name a kubeconfig and a context that `kubectl` can use, {OR_FILES}"),
        Failure::System(_) => format!("make sure that it may open connections, {OR_FILES}"),
        Failure::Resource { resource, cause, problem } => match cause {
            Cause::Forbidden if problem.contains("Unauthorized") => {
                format!("log in to the cluster again, as for `kubectl`, {OR_FILES}")
            }
            Cause::Forbidden => {
                let group = resource.api_version.split_once('/').map_or("", |(group, _)| group);
                let plural = resource.plural;
                format!(
                    "grant it in a ClusterRole, `{{apiGroups: [\"{group}\"], resources: [{plural}], verbs: [list]}}`, {OR_FILES}"
                )
            }
            Cause::NotServed => String::from("name another context with `--context`"),
            Cause::Down | Cause::TooLong | Cause::Gone => {
                format!("see whether `kubectl get {}` works, {OR_FILES}", resource.plural)
            }
            Cause::Garbled => String::from("name an API server of Kubernetes"),
        },
    };
    let problem = match failure {
        // Behind the message comes the whole status, as a program prints it.
        Failure::Resource { resource, problem, .. } => {
            let said = problem.split(" (Status {").next().unwrap_or_default();
            let said = said.strip_prefix("ApiError: ").unwrap_or(said);
            format!("{} cannot be read: {}", resource.plural, said.trim_end_matches(": Forbidden"))
        }
        other => other.to_string(),
    };
    Complaint::new("--live", problem, remedy)
}

/// How far a list has come, for anyone who waits at a terminal for more than a second.
struct Progress {
    bar: ProgressBar,
    started: Instant,
}

impl Progress {
    fn of(resource: Resource) -> Self {
        let bar = ProgressBar::hidden();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}: {pos} read") {
            bar.set_style(style);
        }
        bar.set_message(resource.plural);
        Progress { bar, started: Instant::now() }
    }

    fn came(&self) {
        use std::io::IsTerminal;
        if self.bar.is_hidden() && self.started.elapsed() >= PATIENCE && std::io::stderr().is_terminal() {
            self.bar.set_draw_target(indicatif::ProgressDrawTarget::stderr());
        }
        self.bar.inc(1);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
