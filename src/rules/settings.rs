//! The settings: one section per rule, read strictly.

use std::fmt;

use super::Rule;
use super::access_modes::AccessModesRule;
use super::csi_driver_tokens::CsiDriverTokens;
use super::local_volumes::LocalVolumes;
use super::node_taints::NodeTaints;
use super::tolerations::Tolerations;
use super::volume_node_affinity::VolumeNodeAffinity;
use crate::kubernetes::field::{Field, Unreadable, quoted};
use crate::kubernetes::request::Request;

/// Every section that settings may have, with the rule that reads it.
const SECTIONS: &[(&str, ReadRule)] = &[
    ("volumeNodeAffinity", |section| boxed(VolumeNodeAffinity::read(section))),
    ("tolerations", |section| boxed(Tolerations::read(section))),
    ("nodeTaints", |section| boxed(NodeTaints::read(section))),
    ("csiDriverTokens", |section| boxed(CsiDriverTokens::read(section))),
    ("accessModes", |section| boxed(AccessModesRule::read(section))),
    ("localVolumes", |section| boxed(LocalVolumes::read(section))),
];

/// The names of all sections, one for each rule.
pub fn section_names() -> impl Iterator<Item = &'static str> {
    SECTIONS.iter().map(|(name, _)| *name)
}

/// Sections of rules that read the live cluster.
const NEED_THE_CLUSTER: &[&str] = &["volumeBinding"];

type ReadRule = fn(&Field<'_, '_>) -> Result<Box<dyn Rule>, Unreadable>;

fn boxed<R: Rule + 'static>(rule: Result<R, Unreadable>) -> Result<Box<dyn Rule>, Unreadable> {
    Ok(Box::new(rule?))
}

/// The rules that are in force, each with its scope.
pub struct Settings {
    pub(super) sections: Vec<(Scope, Box<dyn Rule>)>,
}

impl Settings {
    /// Reads settings. A section that is not there is not in force; settings without any section are refused, since
    /// whoever wrote them expects to be protected.
    ///
    /// # Errors
    /// Everything that is not exactly understood: unknown keys, wrong types, values outside what a key accepts, and
    /// combinations that cannot mean anything. The complaint names the path, the value and what is known there.
    pub fn read(root: &Field<'_, '_>) -> Result<Self, Unreadable> {
        let names: Vec<&str> = section_names().collect();
        for name in NEED_THE_CLUSTER {
            if root.get(name)?.is_present() {
                return Err(root.get(name)?.unreadable(NEEDS_CLUSTER));
            }
        }
        let known: Vec<&str> = names.iter().chain(NEED_THE_CLUSTER).copied().collect();
        root.only(&known)?;
        let mut sections = Vec::new();
        for (name, read) in SECTIONS {
            let section = root.get(name)?;
            if section.is_present() {
                sections.push((Scope::read(&section)?, read(&section)?));
            }
        }
        if sections.is_empty() {
            return Err(Unreadable {
                path: String::from("settings"),
                problem: format!("no section is there, so nothing would be judged; known sections: {}", quoted(&names)),
            });
        }
        Ok(Settings { sections })
    }
}

/// Says how many sections there are. What stands in them would bring the code that prints it into the module.
impl fmt::Debug for Settings {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Settings of {} sections", self.sections.len())
    }
}

/// What is said of a value that only makes sense where the cluster can be read.
pub(super) const NEEDS_CLUSTER: &str = "needs the live cluster, which this version does not read";

/// What every section may say beside its own keys.
#[derive(Debug)]
pub(super) struct Scope {
    pub only_warn: bool,
    users: Vec<String>,
    groups: Vec<String>,
    namespaces: Vec<String>,
}

impl Scope {
    /// The keys of every section.
    pub const KEYS: [&'static str; 2] = ["enforcement", "exempt"];

    fn read(section: &Field<'_, '_>) -> Result<Self, Unreadable> {
        let exempt = section.get("exempt")?;
        exempt.only(&["users", "groups", "namespaces"])?;
        Ok(Scope {
            only_warn: choice(&section.get("enforcement")?, &[("deny", false), ("warn", true)])?.unwrap_or(false),
            users: names(&exempt.get("users")?)?,
            groups: names(&exempt.get("groups")?)?,
            namespaces: names(&exempt.get("namespaces")?)?,
        })
    }

    /// Whether the rule leaves this request alone: break-glass users and groups, and system namespaces.
    pub fn exempts(&self, request: &Request<'_, '_>) -> bool {
        let has = |list: &[String], name: &str| list.iter().any(|entry| entry == name);
        request.user.name.is_some_and(|name| has(&self.users, name))
            || request.user.groups.iter().any(|group| has(&self.groups, group))
            || request.namespace.is_some_and(|name| has(&self.namespaces, name))
    }
}

/// Refuses keys of a section that neither the rule (`own`) nor every section knows.
pub(super) fn only_keys(section: &Field<'_, '_>, own: &[&str]) -> Result<(), Unreadable> {
    let known: Vec<&str> = own.iter().chain(&Scope::KEYS).copied().collect();
    section.only(&known)
}

/// One of the named values; `None` when absent.
pub(super) fn choice<T: Copy>(field: &Field<'_, '_>, values: &[(&str, T)]) -> Result<Option<T>, Unreadable> {
    let Some(text) = field.string()? else { return Ok(None) };
    match values.iter().find(|(name, _)| *name == text) {
        Some((_, value)) => Ok(Some(*value)),
        None => {
            let known: Vec<&str> = values.iter().map(|(name, _)| *name).collect();
            Err(field.unacceptable(&format!("one of {}", quoted(&known))))
        }
    }
}

/// A value that works without the cluster, or is refused because it needs one.
pub(super) fn without_cluster(field: &Field<'_, '_>, working: &[&str], needing: &[&str]) -> Result<(), Unreadable> {
    match field.string()? {
        None => Ok(()),
        Some(value) if working.contains(&value) => Ok(()),
        Some(value) if needing.contains(&value) => {
            Err(field.unreadable(format!("`{value}` {NEEDS_CLUSTER}; accepted: {}", quoted(working))))
        }
        Some(_) => Err(field.unacceptable(&format!("one of {}", quoted(&[working, needing].concat())))),
    }
}

/// A list of names, none of them empty.
fn names(field: &Field<'_, '_>) -> Result<Vec<String>, Unreadable> {
    let items = field.items()?;
    items
        .map(|item| match item.required_string()? {
            "" => Err(item.unacceptable("a name")),
            name => Ok(name.to_owned()),
        })
        .collect()
}
