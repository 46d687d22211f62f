//! What every section of the settings shares: its scope, and the readers of its keys.

use super::cluster::WhenUnreadable;
use super::finding::Severity;
use crate::kubernetes::field::{Field, Unreadable, quoted};
use crate::kubernetes::request::Request;

/// What every section may set in addition to its own keys.
#[derive(Debug)]
pub struct Scope {
    /// The name of the section.
    pub section: &'static str,
    pub only_warn: bool,
    users: Vec<String>,
    groups: Vec<String>,
    namespaces: Vec<String>,
}

impl Scope {
    /// The keys of every section.
    pub const KEYS: [&'static str; 2] = ["enforcement", "exempt"];

    /// # Errors
    /// A wrong type, an unknown key, or a name that is empty.
    pub fn read(name: &'static str, section: &Field<'_, '_>) -> Result<Self, Unreadable> {
        let exempt = section.get("exempt")?;
        exempt.only(&["users", "groups", "namespaces"])?;
        Ok(Scope {
            section: name,
            only_warn: choice(&section.get("enforcement")?, &[("deny", false), ("warn", true)])?.unwrap_or(false),
            users: names(&exempt.get("users")?)?,
            groups: names(&exempt.get("groups")?)?,
            namespaces: names(&exempt.get("namespaces")?)?,
        })
    }

    /// Whether the section exempts this request: for break-glass users and groups, and for system namespaces.
    pub fn exempts(&self, request: &Request<'_, '_>) -> bool {
        let has = |list: &[String], name: &str| list.iter().any(|entry| entry == name);
        request.user.name.is_some_and(|name| has(&self.users, name))
            || request.user.groups.iter().any(|group| has(&self.groups, group))
            || request.namespace.is_some_and(|name| has(&self.namespaces, name))
    }
}

/// Refuses keys of a section that neither the rule (`own`) nor every section knows.
///
/// # Errors
/// Names the key and lists the known ones.
pub fn only_keys(section: &Field<'_, '_>, own: &[&str]) -> Result<(), Unreadable> {
    let known: Vec<&str> = own.iter().chain(&Scope::KEYS).copied().collect();
    section.only(&known)
}

/// One of the named values; `None` when absent.
///
/// # Errors
/// Any other value.
pub fn choice<T: Copy>(field: &Field<'_, '_>, values: &[(&str, T)]) -> Result<Option<T>, Unreadable> {
    let Some(text) = field.string()? else { return Ok(None) };
    match values.iter().find(|(name, _)| *name == text) {
        Some((_, value)) => Ok(Some(*value)),
        None => {
            let known: Vec<&str> = values.iter().map(|(name, _)| *name).collect();
            Err(field.unacceptable(&format!("one of {}", quoted(&known))))
        }
    }
}

/// Reads `whenClusterUnreadable`; `None` when each setting has its own default.
///
/// # Errors
/// A value other than `deny` and `allow`.
pub fn when_cluster_unreadable(section: &Field<'_, '_>) -> Result<Option<WhenUnreadable>, Unreadable> {
    choice(&section.get("whenClusterUnreadable")?, &[("deny", WhenUnreadable::Deny), ("allow", WhenUnreadable::Allow)])
}

/// A setting of the form `deny|warn|ignore`: what its finding does; `None` when it is not judged, as when it is absent.
///
/// # Errors
/// Any other value.
pub fn level(field: &Field<'_, '_>) -> Result<Option<Severity>, Unreadable> {
    let levels = [("deny", Some(Severity::Refuses)), ("warn", Some(Severity::Warns)), ("ignore", None)];
    Ok(choice(field, &levels)?.flatten())
}

/// A list of names, none of them empty.
///
/// # Errors
/// A wrong type, or an empty name.
pub fn names(field: &Field<'_, '_>) -> Result<Vec<String>, Unreadable> {
    let items = field.items()?;
    items
        .map(|item| match item.required_string()? {
            "" => Err(item.unreadable("must not be empty")),
            name => Ok(name.to_owned()),
        })
        .collect()
}
