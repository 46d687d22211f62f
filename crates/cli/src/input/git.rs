//! Files as they are in a revision of a git repository, and as they are now: only those that differ. The program `git` is
//! asked, which knows every format of a repository.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::files::{self, Excludes};
use crate::complaint::Complaint;

/// One side of a change.
#[derive(Debug, Default)]
pub struct Side {
    /// Names as they are shown, with what the files hold.
    pub files: Vec<(String, Vec<u8>)>,
}

/// A change: what the files that differ hold in the older revision, and in the newer one or in the working tree.
#[derive(Debug, Default)]
pub struct Change {
    pub before: Side,
    pub after: Side,
    /// The files that were asked for; `None` for all. The others tell where an object was before.
    pub asked_for: Option<BTreeSet<String>>,
}

/// What differs between `since` and `to`, or the working tree with the files that git does not know yet; `paths` are asked for.
///
/// # Errors
/// Without git, outside of a repository, and for what git does not know.
pub fn change(since: &str, to: Option<&str>, paths: &[PathBuf], excludes: &Excludes) -> Result<Change, Complaint> {
    let top = PathBuf::from(text(run(&["rev-parse", "--show-toplevel"], &[])?)?.trim_end_matches('\n'));
    let since = commit(since)?;
    let to = to.map(commit).transpose()?;
    let mut arguments = vec!["diff", "--raw", "-z", "--no-renames", "--no-abbrev", "--no-ext-diff", "--no-color"];
    arguments.push(&since);
    arguments.extend(to.as_deref());
    let everything = [PathBuf::from(":/")];
    let entries = entries(&run(&arguments, &everything)?);
    let folder = Shown::new(&top);
    let unknown = |paths: &[PathBuf]| {
        let asked = ["ls-files", "--others", "--exclude-standard", "-z", "--full-name"];
        if to.is_none() { run(&asked, paths).map(|raw| names(&raw)) } else { Ok(Vec::new()) }
    };
    let asked_for = if paths.is_empty() {
        None
    } else {
        let revisions: Vec<&String> = [&since].into_iter().chain(&to).collect();
        paths.iter().try_for_each(|path| expect_file(path, &revisions, to.is_some()))?;
        let mut arguments = vec!["diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", &since];
        arguments.extend(to.as_deref());
        let mut all = names(&run(&arguments, paths)?);
        all.extend(unknown(paths)?);
        Some(all.iter().map(|path| folder.of(path).display().to_string()).collect())
    };
    let mut ignored = BTreeMap::new();
    let mut is_left_out = |path: &Path| {
        let outside = !files::is_manifest(path) || files::is_hidden(path) || excludes.excludes(&folder.of(path));
        outside
            || path.ancestors().skip(1).any(|above| {
                let here = top.join(above);
                let file = ignored.entry(here.clone()).or_insert_with(|| files::ignore_file(&here));
                file.as_ref().is_some_and(|file| file.matched_path_or_any_parents(top.join(path), false).is_ignore())
            })
    };
    let (mut before, mut after, mut on_disk) = (Vec::new(), Vec::new(), Vec::new());
    for Entry { old, new, path } in entries {
        if is_left_out(&path) {
            continue;
        }
        before.extend(old.map(|blob| (blob, path.clone())));
        match (new, to.is_some()) {
            (Some(blob), true) => after.push((blob, path)),
            (Some(_), false) => on_disk.push(path),
            (None, _) => {}
        }
    }
    on_disk.extend(unknown(&everything)?.into_iter().filter(|path| !is_left_out(path)));
    // In the order of git, which is not that of paths: `a-b/c` comes before `a/c`.
    on_disk.sort_by(|one, other| one.as_os_str().as_encoded_bytes().cmp(other.as_os_str().as_encoded_bytes()));
    let mut change = Change { asked_for, ..Change::default() };
    change.before.files = blobs(before, &folder)?;
    change.after.files = blobs(after, &folder)?;
    for path in on_disk {
        // A link is what git stores of it: a path, and not a manifest.
        let file = top.join(&path);
        if file.symlink_metadata().is_ok_and(|metadata| metadata.is_file()) {
            let shown = folder.of(&path).display().to_string();
            let read = std::fs::read(&file);
            let bytes =
                read.map_err(|error| Complaint::new(&shown, format!("cannot be read: {error}"), "make it readable"))?;
            change.after.files.push((shown, bytes));
        }
    }
    Ok(change)
}

/// A path that matches no file, in the revisions or in the working tree where that is compared, is a mistake.
fn expect_file(path: &Path, revisions: &[&String], only_revisions: bool) -> Result<(), Complaint> {
    for revision in revisions {
        let tree = format!("--with-tree={revision}");
        let mut asked = vec!["ls-files", "-z", "--cached", &tree];
        if !only_revisions {
            asked.extend(["--others", "--exclude-standard"]);
        }
        if !run(&asked, &[path.to_path_buf()])?.is_empty() {
            return Ok(());
        }
    }
    let problem = "matches no file that git knows, neither now nor in the revision";
    Err(Complaint::new(path.display(), problem, "name a file or a folder that is not ignored"))
}

/// Names in the repository as they are from here.
struct Shown {
    here: Option<PathBuf>,
    top: PathBuf,
}

impl Shown {
    fn new(top: &Path) -> Self {
        let here = std::env::current_dir().and_then(std::fs::canonicalize).ok();
        let here = here.and_then(|here| here.strip_prefix(top).ok().map(Path::to_path_buf));
        Shown { here, top: top.to_path_buf() }
    }

    fn of(&self, path: &Path) -> PathBuf {
        match self.here.as_ref().and_then(|here| path.strip_prefix(here).ok()) {
            Some(path) => path.to_path_buf(),
            None => self.top.join(path),
        }
    }
}

/// A file that differs: the names of its contents, where it is a file on that side.
struct Entry {
    old: Option<String>,
    new: Option<String>,
    path: PathBuf,
}

/// Entries of the form `:100644 100644 SHA SHA M NUL PATH NUL`.
fn entries(raw: &[u8]) -> Vec<Entry> {
    let mut fields = raw.split(|byte| *byte == 0);
    let mut entries = Vec::new();
    while let (Some(head), Some(path)) = (fields.next(), fields.next()) {
        let head = String::from_utf8_lossy(head);
        let mut words = head.trim_start_matches(':').split(' ');
        let (Some(old_mode), Some(new_mode), Some(old), Some(new)) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            continue;
        };
        // Links and submodules are not files.
        let blob = |mode: &str, blob: &str| mode.starts_with("100").then(|| blob.to_owned());
        entries.push(Entry { old: blob(old_mode, old), new: blob(new_mode, new), path: path_of(path) });
    }
    entries
}

/// Names with a zero behind each.
fn names(raw: &[u8]) -> Vec<PathBuf> {
    raw.split(|byte| *byte == 0).filter(|name| !name.is_empty()).map(path_of).collect()
}

#[cfg(unix)]
fn path_of(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    PathBuf::from(OsStr::from_bytes(bytes))
}

#[cfg(not(unix))]
fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}

fn commit(revision: &str) -> Result<String, Complaint> {
    let asked = format!("{revision}^{{commit}}");
    let output = command(&["rev-parse", "--verify", "--quiet", "--end-of-options", &asked]).output();
    let output = output.map_err(|error| missing(&error))?;
    if !output.status.success() {
        let remedy = "name a commit, a branch or a tag; in CI, fetch it first (`fetch-depth: 0`)";
        return Err(Complaint::new(format!("`{revision}`"), "is not a revision that git knows here", remedy));
    }
    Ok(text(output.stdout)?.trim().to_owned())
}

/// The contents of blobs.
fn blobs(wanted: Vec<(String, PathBuf)>, folder: &Shown) -> Result<Vec<(String, Vec<u8>)>, Complaint> {
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let failed = |error: std::io::Error| Complaint::new("git cat-file", error, "run `git fsck`");
    let mut child = command(&["cat-file", "--batch"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| missing(&error))?;
    let (Some(mut ask), Some(answer)) = (child.stdin.take(), child.stdout.take()) else { return Ok(Vec::new()) };
    let mut answer = BufReader::new(answer);
    let mut files = Vec::new();
    // One after the other, so that neither pipe fills up.
    for (blob, path) in wanted {
        ask.write_all(format!("{blob}\n").as_bytes()).map_err(failed)?;
        let mut head = String::new();
        answer.read_line(&mut head).map_err(failed)?;
        let size = head.trim_end().rsplit(' ').next().and_then(|size| size.parse::<u64>().ok());
        let Some(size) = size else {
            let problem = format!("git does not have its content ({})", head.trim_end());
            return Err(Complaint::new(path.display(), problem, "fetch it (`git fetch --refetch`)"));
        };
        let mut bytes = Vec::new();
        answer.by_ref().take(size.saturating_add(1)).read_to_end(&mut bytes).map_err(failed)?;
        bytes.pop();
        files.push((folder.of(&path).display().to_string(), bytes));
    }
    drop(ask);
    child.wait().map_err(failed)?;
    Ok(files)
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new("git");
    command.args(arguments).env("GIT_OPTIONAL_LOCKS", "0").env("LC_ALL", "C");
    command
}

fn run(arguments: &[&str], paths: &[PathBuf]) -> Result<Vec<u8>, Complaint> {
    let mut command = command(arguments);
    if !paths.is_empty() {
        command.arg("--").args(paths);
    }
    let output = command.output().map_err(|error| missing(&error))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.lines().next().unwrap_or_default().trim_start_matches("fatal: ");
        return Err(Complaint::new("git", said, "run it in a folder of a repository"));
    }
    Ok(output.stdout)
}

fn missing(error: &std::io::Error) -> Complaint {
    let problem = format!("cannot be run: {error}");
    Complaint::new("git", problem, "install it; `--since` and `--to` ask it for older revisions")
}

fn text(bytes: Vec<u8>) -> Result<String, Complaint> {
    String::from_utf8(bytes).map_err(|_| Complaint::new("git", "its answer is not UTF-8", "use another folder"))
}
