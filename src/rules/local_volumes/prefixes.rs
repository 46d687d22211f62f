//! Part of `localVolumes`: the lists of paths in the settings.

use crate::kubernetes::field::{Field, Unreadable, short};
use crate::kubernetes::host_path::Access;
use crate::kubernetes::listing::first_few;
use crate::kubernetes::paths::NodePath;
use crate::logic::{Budget, Exhausted};

/// The allowed prefixes of paths. No prefix allows no path.
#[derive(Debug)]
pub struct Prefixes {
    /// The name of the list in the settings.
    list: &'static str,
    prefixes: Vec<Prefix>,
}

#[derive(Debug)]
struct Prefix {
    /// Clean, as [`NodePath`] writes it.
    path: String,
    /// The most that may be done with what lies below it.
    most: Access,
}

impl Prefixes {
    /// Reads `paths`; `None` when it is absent.
    ///
    /// # Errors
    /// A path that is not absolute and clean.
    pub fn read_paths(list: &Field<'_, '_>) -> Result<Option<Self>, Unreadable> {
        let prefixes = list.each(|item| Ok(Prefix { path: read_prefix(item)?, most: Access::ReadWrite }))?;
        Ok(list.is_present().then_some(Prefixes { list: "paths", prefixes }))
    }

    /// Reads `hostPaths`, a list of `{prefix, readOnly}`; `None` when it is absent.
    ///
    /// # Errors
    /// A prefix that is not absolute and clean, and keys that are not known.
    pub fn read_host_paths(list: &Field<'_, '_>) -> Result<Option<Self>, Unreadable> {
        let prefixes = list.each(|item| {
            item.only(&["prefix", "readOnly"])?;
            let most = read_most(&item.get("readOnly")?)?;
            Ok(Prefix { path: read_prefix(&item.get("prefix")?)?, most })
        })?;
        Ok(list.is_present().then_some(Prefixes { list: "hostPaths", prefixes }))
    }

    /// The most that may be done with a path; `None` when it lies within no prefix. Of several prefixes the one that allows
    /// most counts.
    ///
    /// # Errors
    /// When the budget is spent: long paths and many prefixes cost work.
    pub fn most(&self, path: &str, budget: &mut Budget) -> Result<Option<Access>, Exhausted> {
        budget.spend((path.len() / 2).saturating_add(self.prefixes.len().saturating_mul(3)).saturating_add(10))?;
        let path = NodePath::clean(path);
        Ok(self.prefixes.iter().filter(|prefix| path.is_within(&prefix.path)).map(|prefix| prefix.most).max())
    }

    /// What is accepted, in words. `own` is the list for this kind of volume, which may be absent from the settings.
    pub fn describe(&self, own: &str) -> String {
        let shown = self.prefixes.iter().map(|prefix| {
            let limit = match prefix.most {
                Access::ReadWrite => "",
                Access::ReadOnly => " (read-only)",
                Access::RecursiveReadOnly => " (recursively read-only)",
            };
            format!("`{}`{limit}", short(&prefix.path, 200))
        });
        let shown = first_few(shown, 10, ", ");
        let accepted = if shown.is_empty() { String::from("no path") } else { format!("{shown} and everything below") };
        let list = self.list;
        let instead = if list == own { String::new() } else { format!(" (`{own}` is not set, so `{list}` applies)") };
        format!("accepted: {accepted}{instead}")
    }
}

/// A prefix in the settings. A prefix that the kubelet would write in another way may not mean what its author thinks.
fn read_prefix(item: &Field<'_, '_>) -> Result<String, Unreadable> {
    let text = item.required_string()?;
    if text.contains('\\') || NodePath::clean(text).to_string() != text {
        return Err(item.unacceptable("an absolute path without `.`, `..`, `\\`, empty segments or a trailing slash"));
    }
    Ok(text.to_owned())
}

fn read_most(read_only: &Field<'_, '_>) -> Result<Access, Unreadable> {
    match (read_only.boolean(), read_only.string()) {
        (Ok(Some(true)), _) => Ok(Access::ReadOnly),
        (Ok(_), _) => Ok(Access::ReadWrite),
        (_, Ok(Some("recursive"))) => Ok(Access::RecursiveReadOnly),
        _ => Err(read_only.unacceptable("`true`, `false` or `recursive`")),
    }
}

/// A path as it is written and, where that differs, as the kubelet reads it.
pub fn shown_path(path: &str) -> String {
    let clean = as_on_the_node(path);
    let meaning = if clean == path { String::new() } else { format!(", which is `{}`", short(&clean, 300)) };
    format!("`{}`{meaning}", short(path, 300))
}

/// `` the node's `/etc` ``
pub fn of_node(path: &str) -> String {
    format!("the node's `{}`", short(&as_on_the_node(path), 200))
}

/// A path as the kubelet reads it. One of Windows, such as `C:\var` or `\\.\pipe\a`, is shown as it is written.
fn as_on_the_node(path: &str) -> String {
    if path.starts_with('\\') || path.as_bytes().get(1) == Some(&b':') {
        return path.to_owned();
    }
    NodePath::clean(path).to_string()
}
