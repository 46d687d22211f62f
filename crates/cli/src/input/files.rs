//! Which files are read: those that are named, those below folders, and those that match a glob.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use ignore::WalkBuilder;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use ignore::overrides::{Override, OverrideBuilder};

use super::not_judged::{NotJudged, Reason};
use crate::complaint::Complaint;

const ENDINGS: [&str; 3] = ["yaml", "yml", "json"];

/// Lists what is not read, in the form of a `.gitignore`.
pub const IGNORE_FILE: &str = ".placementguardignore";

/// A file.
#[derive(Debug, Clone)]
pub struct File {
    pub path: PathBuf,
    /// Whether it was named itself, and not found in a folder.
    pub named: bool,
    /// Its size; zero for standard input, which ends when it ends.
    pub bytes: u64,
}

/// What is left out.
#[derive(Debug)]
pub struct Excludes {
    globs: Override,
    /// Those that are relative to another folder, whose path is absolute.
    elsewhere: Option<Override>,
}

impl Excludes {
    /// Globs as in a `.gitignore`, relative to the current folder.
    ///
    /// # Errors
    /// A glob that is not one.
    pub fn new(globs: &[String]) -> Result<Self, Complaint> {
        Ok(Excludes { globs: left_out(Path::new("."), globs)?, elsewhere: None })
    }

    /// More globs, relative to another folder.
    ///
    /// # Errors
    /// A glob that is not one.
    pub fn and(mut self, folder: &Path, globs: &[String]) -> Result<Self, Complaint> {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        if let Ok(folder) = std::fs::canonicalize(folder) {
            self.elsewhere = Some(left_out(&folder, globs)?);
        }
        Ok(self)
    }

    /// Whether a path, or a folder above it, is left out.
    pub fn excludes(&self, path: &Path) -> bool {
        let path = path.strip_prefix("./").unwrap_or(path);
        if matches(&self.globs, path) {
            return true;
        }
        let Some(elsewhere) = self.elsewhere.as_ref().filter(|globs| globs.num_ignores() > 0) else { return false };
        // A link counts by its own name.
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let Ok(folder) = std::fs::canonicalize(folder) else { return false };
        matches(elsewhere, &path.file_name().map_or_else(|| folder.clone(), |name| folder.join(name)))
    }
}

fn matches(globs: &Override, path: &Path) -> bool {
    let above = path.ancestors().skip(1).any(|folder| globs.matched(folder, true).is_ignore());
    above || globs.matched(path, false).is_ignore()
}

fn left_out(folder: &Path, globs: &[String]) -> Result<Override, Complaint> {
    let mut builder = OverrideBuilder::new(folder);
    for glob in globs {
        builder.add(&format!("!{glob}")).map_err(|error| not_a_glob(glob, &error))?;
    }
    builder.build().map_err(|error| not_a_glob("the globs", &error))
}

fn not_a_glob(glob: &str, error: &ignore::Error) -> Complaint {
    Complaint::new(glob, format!("is not a glob: {error}"), "write it as in a `.gitignore`")
}

/// The files that were named, those below the folders that were, and those that match globs, each folder in the order of
/// names, and no file twice. What is hidden or ignored is left out, and a link to a folder is not followed.
///
/// # Errors
/// A path that is not there, and a folder or a glob without any such file.
pub fn below(paths: &[PathBuf], excludes: &Excludes) -> Result<(Vec<File>, Vec<NotJudged>), Complaint> {
    let (mut files, mut problems, mut seen) = (Vec::new(), Vec::new(), BTreeSet::new());
    for path in paths {
        let mut found = Vec::new();
        if path.is_dir() {
            collect(path, None, excludes, &mut found, &mut problems);
            if found.is_empty() && problems.is_empty() {
                let endings = "no file that ends in `.yaml`, `.yml` or `.json`";
                return Err(Complaint::new(path.display(), format!("holds {endings}"), "name another folder"));
            }
        } else if let Some((root, glob)) = split_glob(path).filter(|_| !path.exists()) {
            let glob = OverrideBuilder::new(".").add(&glob).and_then(|builder| builder.build());
            let glob = glob.map_err(|error| not_a_glob(&path.display().to_string(), &error))?;
            collect(&root, Some(&glob), excludes, &mut found, &mut problems);
            if found.is_empty() {
                return Err(Complaint::new(path.display(), "matches no file", "name a file, or `-`"));
            }
        } else if !excludes.excludes(path) {
            found.push(File { path: path.clone(), named: true, bytes: size(path) });
        }
        files.extend(found.into_iter().filter(|file| {
            let same = std::fs::canonicalize(&file.path).unwrap_or_else(|_| file.path.clone());
            seen.insert(same)
        }));
    }
    Ok((files, problems))
}

/// The folder above the first wildcard of a path, and the path.
fn split_glob(path: &Path) -> Option<(PathBuf, String)> {
    let text = path.to_str()?;
    let is_wild = |part: &Path| part.to_str().is_none_or(|part| part.contains(['*', '?', '[', '{']));
    if !is_wild(path) {
        return None;
    }
    let root = path.ancestors().find(|above| !is_wild(above))?;
    let root = if root.as_os_str().is_empty() { Path::new(".") } else { root };
    Some((root.to_path_buf(), text.strip_prefix("./").unwrap_or(text).to_owned()))
}

fn collect(
    folder: &Path,
    only: Option<&Override>,
    excludes: &Excludes,
    files: &mut Vec<File>,
    problems: &mut Vec<NotJudged>,
) {
    let mut walk = WalkBuilder::new(folder);
    walk.git_global(false).require_git(false).add_custom_ignore_filename(IGNORE_FILE);
    walk.sort_by_file_name(std::ffi::OsStr::cmp);
    for entry in walk.build() {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                problems.push(unreadable(folder, &error));
                continue;
            }
        };
        // Kubernetes mounts the keys of a ConfigMap as links to files.
        let metadata = std::fs::metadata(entry.path());
        let path = entry.path();
        let matched =
            only.is_none_or(|glob| glob.matched(path.strip_prefix("./").unwrap_or(path), false).is_whitelist());
        if !is_manifest(path) || !matched || excludes.excludes(path) {
            continue;
        }
        match metadata {
            Ok(metadata) if metadata.is_file() => {
                files.push(File { path: path.to_path_buf(), named: false, bytes: metadata.len() });
            }
            Ok(_) => {}
            Err(error) => problems.push(super::cannot_be_read(&path.display().to_string(), &error)),
        }
    }
}

fn unreadable(folder: &Path, error: &ignore::Error) -> NotJudged {
    fn path_of(error: &ignore::Error) -> Option<&Path> {
        match error {
            ignore::Error::WithPath { path, .. } => Some(path),
            ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => path_of(err),
            _ => None,
        }
    }
    let file = path_of(error).unwrap_or(folder).display().to_string();
    let problem = match error.io_error() {
        Some(error) => format!("cannot be read: {error}"),
        None => format!("cannot be read: {error}"),
    };
    NotJudged { reason: Reason::Unreadable, file, place: None, problem }
}

/// Whether a name ends as manifests do.
pub fn is_manifest(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str()).map(str::to_ascii_lowercase);
    ending.is_some_and(|ending| ENDINGS.contains(&ending.as_str()))
}

/// Whether a part of a path is hidden.
pub fn is_hidden(path: &Path) -> bool {
    let hidden = |part: std::path::Component<'_>| match part {
        std::path::Component::Normal(name) => name.as_encoded_bytes().starts_with(b"."),
        _ => false,
    };
    path.components().any(hidden)
}

/// The ignore file of this program in a folder, where there is one.
pub fn ignore_file(folder: &Path) -> Option<Gitignore> {
    let file = folder.join(IGNORE_FILE);
    if !file.is_file() {
        return None;
    }
    let mut builder = GitignoreBuilder::new(folder);
    builder.add(file);
    builder.build().ok()
}

fn size(path: &Path) -> u64 {
    std::fs::metadata(path).map(|file| file.len()).unwrap_or_default()
}
