//! Part of `localVolumes`: which paths of a node may be given to pods, and for what.
//!
//! A PersistentVolume with a `hostPath` counts as well as a pod with one: otherwise a claim would walk round the rule.

use crate::kubernetes::field::{Field, Unreadable, short};
use crate::kubernetes::host_path::{HostPathVolume, read_host_paths};
use crate::kubernetes::paths::NodePath;
use crate::kubernetes::pod::with_pod;
use crate::kubernetes::request::Request;
use crate::logic::Budget;
use crate::rules::decision::Report;
use crate::rules::finding::{Code, Few, Finding};
use crate::rules::rule::Stopped;

/// The allowed prefixes of paths. No prefix allows no path.
#[derive(Debug)]
pub struct Prefixes(Vec<Prefix>);

#[derive(Debug)]
struct Prefix {
    path: NodePath,
    read_only: bool,
}

/// What the prefixes say of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Writable,
    OnlyForReading,
    Nothing,
}

impl Prefixes {
    /// Reads a list of paths; `None` when it is absent.
    ///
    /// # Errors
    /// A path that is not absolute and clean.
    pub fn read_paths(list: &Field<'_, '_>) -> Result<Option<Self>, Unreadable> {
        let prefixes = list.each(|item| Ok(Prefix { path: read_prefix(item)?, read_only: false }))?;
        Ok(list.is_present().then_some(Prefixes(prefixes)))
    }

    /// Reads a list of `{prefix, readOnly}`; `None` when it is absent.
    ///
    /// # Errors
    /// A prefix that is not absolute and clean, and keys that are not known.
    pub fn read_entries(list: &Field<'_, '_>) -> Result<Option<Self>, Unreadable> {
        let prefixes = list.each(|item| {
            item.only(&["prefix", "readOnly"])?;
            let read_only = item.boolean_of("readOnly")?.unwrap_or(false);
            Ok(Prefix { path: read_prefix(&item.get("prefix")?)?, read_only })
        })?;
        Ok(list.is_present().then_some(Prefixes(prefixes)))
    }

    /// Whether a path lies within one of the prefixes, and what for. Of several prefixes the one that allows most counts.
    pub fn verdict(&self, path: &str) -> Verdict {
        let path = NodePath::clean(path);
        let mut verdict = Verdict::Nothing;
        for prefix in self.0.iter().filter(|prefix| path.is_within(&prefix.path)) {
            if !prefix.read_only {
                return Verdict::Writable;
            }
            verdict = Verdict::OnlyForReading;
        }
        verdict
    }

    /// What is accepted, in words.
    pub fn describe(&self) -> String {
        const MOST: usize = 10;
        let shown = self.0.iter().take(MOST).map(|prefix| {
            let limit = if prefix.read_only { " for reading only" } else { "" };
            format!("`{}`{limit}", short(&prefix.path.to_string(), 200))
        });
        let mut shown: Vec<String> = shown.collect();
        if self.0.len() > MOST {
            shown.push(format!("+{}", self.0.len().saturating_sub(MOST)));
        }
        if shown.is_empty() {
            return String::from("accepted: no path");
        }
        format!("accepted, with everything below: {}", shown.join(", "))
    }
}

/// A prefix of the settings. What is not written as the kubelet writes it may mean something else than its author thinks.
fn read_prefix(item: &Field<'_, '_>) -> Result<NodePath, Unreadable> {
    let text = item.required_string()?;
    let path = NodePath::clean(text);
    if text.contains('\\') || path.to_string() != text {
        return Err(
            item.unacceptable("an absolute path without `.`, `..`, `\\`, empty segments and a slash at its end")
        );
    }
    Ok(path)
}

/// A path as it is written and, where that is another, as the kubelet makes it out.
pub fn shown_path(field: &str, path: &str) -> String {
    let clean = NodePath::clean(path).to_string();
    let meaning = if clean == path { String::new() } else { format!(", which is `{}`", short(&clean, 300)) };
    format!("{field}: `{}`{meaning}", short(path, 300))
}

/// Judges the `hostPath` volumes of a pod, or of what makes pods.
///
/// A volume that nothing mounts counts as writable: an ephemeral container may mount it any time. On an UPDATE a volume
/// is left alone that was there, unless a container gets more of it than it had.
///
/// # Errors
/// A wrong JSON type in volumes and mounts.
pub fn judge_pod(
    allowed: &Prefixes,
    request: &Request<'_, '_>,
    _budget: &mut Budget,
    report: &mut Report,
) -> Result<(), Stopped> {
    let Some(new) = with_pod(request.new_state()?, request.group, request.kind, read_host_paths)? else {
        return Ok(());
    };
    let old = match request.old_state()? {
        Some(object) => with_pod(object, request.group, request.kind, read_host_paths)?.unwrap_or_default(),
        None => Vec::new(),
    };
    let mut few = Few::new(Code::HostPathNotAllowed, "volumes");
    for volume in new.iter().filter(|volume| !old.iter().any(|old| gives_no_more(volume, old))) {
        let name = short(volume.name, 63);
        let finding = match allowed.verdict(volume.path) {
            Verdict::Writable => continue,
            Verdict::Nothing => {
                format!("host path not allowed: volume `{name}` gives its pod {}", of_node(volume.path))
            }
            Verdict::OnlyForReading => match writer(volume) {
                Writer::None => continue,
                Writer::Container(container) => format!(
                    "host path not allowed: container `{}` may write {}, which is for reading only",
                    short(container, 63),
                    of_node(volume.path)
                ),
                Writer::Anyone => format!(
                    "host path not allowed: {} is for reading only, and an ephemeral container may yet mount `{name}` for writing",
                    of_node(volume.path)
                ),
            },
        };
        let mut finding =
            Finding::new(Code::HostPathNotAllowed, finding).detail(shown_path(&volume.field, volume.path));
        if allowed.verdict(volume.path) == Verdict::OnlyForReading {
            finding = finding
                .detail("accepted: `readOnly: true` wherever the volume is mounted, and at least one such mount");
        }
        few.push(finding.detail(allowed.describe()));
    }
    report.find_few(few);
    Ok(())
}

/// Judges the `hostPath` of a PersistentVolume. How its claims are mounted is not known, so it counts as writable.
pub fn judge_volume(allowed: &Prefixes, new: &str, old: Option<&str>, name: &str, report: &mut Report) {
    let verdict = allowed.verdict(new);
    if verdict == Verdict::Writable || old == Some(new) {
        return;
    }
    let headline = format!("host path not allowed: volume `{name}` gives pods {}", of_node(new));
    let mut finding = Finding::new(Code::HostPathNotAllowed, headline).detail(shown_path("spec.hostPath.path", new));
    if verdict == Verdict::OnlyForReading {
        finding = finding.detail("it is for reading only, and nothing in a volume keeps a pod from writing");
    }
    report.find(finding.detail(allowed.describe()));
}

fn of_node(path: &str) -> String {
    format!("`{}` of the node", short(&NodePath::clean(path).to_string(), 200))
}

/// Who may write a volume.
enum Writer<'v> {
    None,
    Container(&'v str),
    /// Nothing mounts it yet.
    Anyone,
}

fn writer<'v>(volume: &HostPathVolume<'v>) -> Writer<'v> {
    if volume.mounts.is_empty() {
        return Writer::Anyone;
    }
    let writing = volume.mounts.iter().find(|(_, read_only)| !read_only);
    writing.map_or(Writer::None, |(container, _)| Writer::Container(container))
}

/// Whether a volume is the same as before, and no container may do with it what it could not do then.
fn gives_no_more(new: &HostPathVolume<'_>, old: &HostPathVolume<'_>) -> bool {
    if (new.name, new.path) != (old.name, old.path) {
        return false;
    }
    if new.mounts.is_empty() {
        return !matches!(writer(old), Writer::None);
    }
    new.mounts.iter().all(|(container, read_only)| {
        old.mounts.iter().any(|(name, only_read)| name == container && (*read_only || !only_read))
    })
}
