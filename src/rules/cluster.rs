//! How rules ask about the cluster, and what they hear.

use std::cell::RefCell;
use std::rc::Rc;

use super::decision::Report;
use super::finding::{Code, Finding, Severity};
use crate::kubernetes::field::{Field, Unreadable, quoted};
use crate::kubernetes::kind::Kind;
use crate::kubernetes::picked::{self, Fields};

/// The live cluster, or what stands in for it: an engine's host, files, objects. Its answers are JSON.
///
/// The order of the items of a list must not matter to who asks: engines do not keep one.
pub trait Cluster {
    /// One object; `None` when there is none of this name. `namespace` is given for the kinds that lie in one.
    ///
    /// # Errors
    /// When that cannot be known.
    fn get(
        &self,
        kind: Kind,
        namespace: Option<&str>,
        name: &str,
        wanted: Wanted,
    ) -> Result<Option<Vec<u8>>, CannotRead>;

    /// All objects of a kind, as an object with a list of `items`. An engine may leave out all fields but these.
    ///
    /// # Errors
    /// When they cannot be known.
    fn list(&self, kind: Kind, fields: Fields) -> Result<Vec<u8>, CannotRead>;

    /// Whether the objects are at hand, so that asking costs nothing and needs no permission. Then a rule also asks where the
    /// answer only adds names to a decision that stands.
    fn is_at_hand(&self) -> bool {
        false
    }
}

/// What is wanted of one object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted {
    /// An engine may leave out all others.
    pub fields: Fields,
    pub freshness: Freshness,
}

/// How old an answer may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Freshness {
    /// As old as what the engine holds: some seconds.
    Held,
    /// Read from the API server now.
    Now,
}

/// Why objects of a kind cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CannotRead {
    /// Who asks has given no cluster.
    NotGiven,
    /// The policy may not read this kind, whatever its server may do.
    NotGranted,
    /// The account of the server may not do this.
    Forbidden(Verb),
    /// The API server does not know the kind.
    NotServed,
    /// The API server does not answer.
    Down,
    /// It took too long.
    TooLong,
    /// The answer is not what was asked for.
    Garbled,
    /// Any other reason.
    Failed,
}

/// What is done with objects, as RBAC rules name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    Get,
    List,
    Watch,
}

impl Verb {
    pub fn name(self) -> &'static str {
        match self {
            Verb::Get => "get",
            Verb::List => "list",
            Verb::Watch => "watch",
        }
    }
}

/// No cluster: nothing can be read.
#[derive(Debug)]
pub struct NoCluster;

impl Cluster for NoCluster {
    fn get(&self, _: Kind, _: Option<&str>, _: &str, _: Wanted) -> Result<Option<Vec<u8>>, CannotRead> {
        Err(CannotRead::NotGiven)
    }

    fn list(&self, _: Kind, _: Fields) -> Result<Vec<u8>, CannotRead> {
        Err(CannotRead::NotGiven)
    }
}

/// The cluster during one request: every list is read once, whichever rules ask for it.
pub struct Live<'c> {
    cluster: &'c dyn Cluster,
    lists: RefCell<Vec<(Kind, Fields, Listed)>>,
}

type Listed = Result<Rc<Vec<u8>>, CannotRead>;

impl<'c> Live<'c> {
    pub fn new(cluster: &'c dyn Cluster) -> Self {
        Live { cluster, lists: RefCell::default() }
    }

    /// Reads one object; `None` when there is none of this name. A name that no object can have is not asked for.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn get<T>(
        &self,
        kind: Kind,
        namespace: Option<&str>,
        name: &str,
        wanted: Wanted,
        read: impl FnOnce(&Field<'_, '_>) -> Result<T, Unreadable>,
    ) -> Result<Option<T>, Unread> {
        let namespace = if kind.is_namespaced() { Some(namespace.unwrap_or("default")) } else { None };
        if !is_object_name(name) || !namespace.is_none_or(is_object_name) {
            return Ok(None);
        }
        let unread = |cause| Unread { kind, cause };
        let Some(bytes) = self.cluster.get(kind, namespace, name, wanted).map_err(unread)? else { return Ok(None) };
        // An answer about another object is none. Engines may leave the kind out.
        let read_named = |object: &Field<'_, '_>| {
            let (own_kind, metadata) = (object.get("kind")?, object.get("metadata")?);
            let own_name = metadata.get("name")?;
            if own_name.string()? != Some(name) || own_kind.string()?.is_some_and(|own| own != kind.name()) {
                return Err(own_name.unreadable("is of another object"));
            }
            read(object)
        };
        picked::read_object(&bytes, wanted.fields, read_named).map(Some).map_err(|_| unread(CannotRead::Garbled))
    }

    /// Reads all objects of a kind, one after the other.
    ///
    /// # Errors
    /// When they cannot be read; also when some of them were.
    pub fn each(
        &self,
        kind: Kind,
        fields: Fields,
        read: &mut dyn FnMut(&Field<'_, '_>) -> Result<(), Unreadable>,
    ) -> Result<(), Unread> {
        let unread = |cause| Unread { kind, cause };
        let listed = self.list(kind, fields).map_err(unread)?;
        picked::read_items(&listed, fields, read).map_err(|_| unread(CannotRead::Garbled))
    }

    /// As [`Cluster::is_at_hand`].
    pub fn is_at_hand(&self) -> bool {
        self.cluster.is_at_hand()
    }

    fn list(&self, kind: Kind, fields: Fields) -> Listed {
        let known = self
            .lists
            .borrow()
            .iter()
            .find(|(of, with, _)| (*of, *with) == (kind, fields))
            .map(|known| known.2.clone());
        known.unwrap_or_else(|| {
            let listed = self.cluster.list(kind, fields).map(Rc::new);
            self.lists.borrow_mut().push((kind, fields, listed.clone()));
            listed
        })
    }
}

/// Whether an object can have this name (RFC 1123 subdomain): what cannot must not become part of a URL.
fn is_object_name(name: &str) -> bool {
    let allowed = |letter: u8| letter.is_ascii_lowercase() || letter.is_ascii_digit() || matches!(letter, b'-' | b'.');
    (1..=253).contains(&name.len()) && name.bytes().all(allowed) && !name.split('.').any(str::is_empty)
}

/// Objects that could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unread {
    pub kind: Kind,
    pub cause: CannotRead,
}

impl Unread {
    /// What is found when `settings` need these objects.
    fn finding(self, settings: &[&str]) -> Finding {
        let Unread { kind, cause } = self;
        let (resource, group) = (kind.resource(), kind.group());
        let why = match cause {
            CannotRead::NotGiven => String::from("no cluster was given"),
            CannotRead::NotGranted => String::from("the policy was not granted access to them"),
            CannotRead::Forbidden(verb) => format!("the server's account may not {} them", verb.name()),
            CannotRead::NotServed => String::from("the API server does not serve them"),
            CannotRead::Down => String::from("the API server does not answer"),
            CannotRead::TooLong => String::from("it took too long"),
            CannotRead::Garbled => String::from("the answer was incomplete or not what was asked for"),
            CannotRead::Failed => String::from("the host reports an unknown error"),
        };
        let finding =
            Finding::new(Code::ClusterUnreadable, format!("cluster unreadable: cannot read `{resource}`: {why}"))
                .detail(format!("needed by {}", quoted(settings)));
        match cause {
            CannotRead::NotGranted => finding.detail(format!(
                "grant it: `contextAwareResources: [{{apiVersion: {}, kind: {name}}}]` in a policy, `--reads-cluster {name}` for `serve`",
                kind.api_version(),
                name = kind.name()
            )),
            CannotRead::Forbidden(_) => finding.detail(format!(
                "grant it in a ClusterRole: `{{apiGroups: [\"{group}\"], resources: [{resource}], verbs: [get, list, watch]}}`"
            )),
            CannotRead::NotGiven => {
                finding.detail("give the cluster: `--live` or `--cluster FILE` on the command line, `cluster` in JavaScript")
            }
            _ => finding,
        }
    }
}

/// What a section does with a request whose answer needs objects that cannot be read: `whenClusterUnreadable`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhenUnreadable {
    Deny,
    Allow,
}

impl WhenUnreadable {
    /// What follows where the settings do not say it: a setting that only warns does not refuse for want of an answer.
    pub fn by_default(severity: Severity) -> Self {
        match severity {
            Severity::Refuses => WhenUnreadable::Deny,
            Severity::Warns => WhenUnreadable::Allow,
        }
    }

    fn finding(self, unread: Unread, settings: &[&str]) -> Finding {
        let finding = unread.finding(settings);
        match self {
            WhenUnreadable::Deny => finding
                .detail("refused, because safety could not be checked; `whenClusterUnreadable: allow` would accept it"),
            WhenUnreadable::Allow => finding.as_warning(),
        }
    }
}

/// What a rule could not read, and for which of its settings.
#[derive(Debug, Default)]
pub struct Missing(Vec<(Unread, &'static str, WhenUnreadable)>);

impl Missing {
    /// `otherwise` is what follows where `whenClusterUnreadable` is not set.
    pub fn add(&mut self, unread: Unread, setting: &'static str, otherwise: WhenUnreadable) {
        self.0.push((unread, setting, otherwise));
    }

    /// What one setting could not read.
    pub fn of(unread: Unread, setting: &'static str, otherwise: WhenUnreadable) -> Self {
        Missing(vec![(unread, setting, otherwise)])
    }

    /// Reports each kind that could not be read once, with the settings that need it.
    pub fn find(self, when: Option<WhenUnreadable>, report: &mut Report) {
        for kind in Kind::ALL {
            let of_kind = || self.0.iter().filter(|(unread, _, _)| unread.kind == kind);
            let Some((unread, _, _)) = of_kind().next() else { continue };
            let refuses = of_kind().any(|(_, _, otherwise)| when.unwrap_or(*otherwise) == WhenUnreadable::Deny);
            let settings: Vec<&str> = of_kind().map(|(_, setting, _)| *setting).collect();
            let then = if refuses { WhenUnreadable::Deny } else { WhenUnreadable::Allow };
            report.find(then.finding(*unread, &settings));
        }
    }
}
