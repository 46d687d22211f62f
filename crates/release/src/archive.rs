//! Archives: tar in the form of POSIX (`ustar`), and gzip around it. Entries are sorted, belong to root, and have one time, so that
//! the bytes depend on nothing else than the files.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use flate2::{Compression, GzBuilder};

use crate::Problem;

/// A tar archive is made of blocks of this size.
const BLOCK: usize = 512;

/// Files with the folders above them.
pub struct Archive {
    /// The seconds since 1970 that every entry has.
    modified: u64,
    /// By path; that of a folder ends with a slash.
    entries: BTreeMap<String, Entry>,
}

struct Entry {
    mode: u32,
    bytes: Vec<u8>,
}

impl Archive {
    pub fn new(modified: u64) -> Self {
        Archive { modified, entries: BTreeMap::new() }
    }

    /// Puts a file into it, which everyone may read, and run if it is a program.
    pub fn file(&mut self, path: &str, is_program: bool, bytes: impl Into<Vec<u8>>) {
        for (at, _) in path.match_indices('/') {
            let folder = path.get(..=at).unwrap_or_default().to_owned();
            self.entries.entry(folder).or_insert_with(|| Entry { mode: 0o755, bytes: Vec::new() });
        }
        let mode = if is_program { 0o755 } else { 0o644 };
        self.entries.insert(path.to_owned(), Entry { mode, bytes: bytes.into() });
    }

    /// Puts everything in a folder into it, under `prefix`, which may be empty. Files whose name begins with a dot are left out.
    ///
    /// # Errors
    /// What cannot be read, and what is neither a file nor a folder.
    pub fn folder(&mut self, prefix: &str, folder: &Path) -> Result<(), Problem> {
        let listed = std::fs::read_dir(folder).map_err(Problem::with(folder))?;
        for entry in listed {
            let entry = entry.map_err(Problem::with(folder))?;
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            let kind = entry.file_type().map_err(Problem::with(&path))?;
            let inside = if prefix.is_empty() { name.clone() } else { format!("{prefix}/{name}") };
            if name.starts_with('.') {
                continue;
            }
            if kind.is_dir() {
                self.folder(&inside, &path)?;
            } else if kind.is_file() {
                self.file(&inside, false, std::fs::read(&path).map_err(Problem::with(&path))?);
            } else {
                return Err(Problem::NotAFile(path));
            }
        }
        Ok(())
    }

    /// The archive, not compressed.
    ///
    /// # Errors
    /// A path that is too long.
    pub fn tar(&self) -> Result<Vec<u8>, Problem> {
        let mut tar = Vec::new();
        for (path, entry) in &self.entries {
            tar.extend(header(path, entry, self.modified)?);
            tar.extend_from_slice(&entry.bytes);
            fill(&mut tar, BLOCK);
        }
        // Two empty blocks end it.
        tar.resize(tar.len().saturating_add(BLOCK).saturating_add(BLOCK), 0);
        Ok(tar)
    }

    /// The archive, compressed.
    ///
    /// # Errors
    /// A path that is too long.
    pub fn tar_gz(&self) -> Result<Vec<u8>, Problem> {
        gzip(&self.tar()?)
    }
}

/// Compresses bytes, without a time and without a name.
pub fn gzip(bytes: &[u8]) -> Result<Vec<u8>, Problem> {
    const UNKNOWN_SYSTEM: u8 = 255;
    let mut out = GzBuilder::new().mtime(0).operating_system(UNKNOWN_SYSTEM).write(Vec::new(), Compression::new(6));
    let written = out.write_all(bytes).and_then(|()| out.finish());
    written.map_err(|error| Problem::Unwritable(error.to_string()))
}

/// Zeros up to a multiple of `size`.
fn fill(bytes: &mut Vec<u8>, size: usize) {
    bytes.resize(bytes.len().next_multiple_of(size), 0);
}

fn header(path: &str, entry: &Entry, modified: u64) -> Result<Vec<u8>, Problem> {
    let (prefix, name) = split(path).ok_or_else(|| Problem::LongName(path.to_owned()))?;
    let (mode, size) = (u64::from(entry.mode), u64::try_from(entry.bytes.len()).unwrap_or(u64::MAX));
    let kind = if path.ends_with('/') { "5" } else { "0" };
    let begin =
        [field(name, 100), octal(mode, 8), octal(0, 8), octal(0, 8), octal(size, 12), octal(modified, 12)].concat();
    let end = [
        field(kind, 1),
        field("", 100),
        field("ustar", 6),
        b"00".to_vec(),
        field("root", 32),
        field("root", 32),
        octal(0, 8),
        octal(0, 8),
        field(prefix, 155),
    ]
    .concat();
    // The sum of all bytes, where its own eight count as spaces.
    let sum: u64 = begin.iter().chain(&[b' '; 8]).chain(&end).map(|byte| u64::from(*byte)).sum();
    let mut header = [begin, format!("{sum:06o}\0 ").into_bytes(), end].concat();
    fill(&mut header, BLOCK);
    Ok(header)
}

/// A path as its beginning and its end, for the two fields that hold them; the slash between them is in neither.
fn split(path: &str) -> Option<(&str, &str)> {
    let fits = |prefix: &str, name: &str| prefix.len() <= 155 && name.len() <= 100 && !name.is_empty();
    if path.len() <= 100 {
        return Some(("", path));
    }
    let halves = path.match_indices('/').filter_map(|(at, _)| path.split_at_checked(at));
    let mut halves = halves.map(|(prefix, rest)| (prefix, rest.strip_prefix('/').unwrap_or(rest)));
    halves.find(|(prefix, name)| fits(prefix, name))
}

/// A string in a field of this width.
fn field(text: &str, width: usize) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.resize(width, 0);
    bytes
}

/// A number in a field of this width, which a zero ends.
fn octal(number: u64, width: usize) -> Vec<u8> {
    let digits = width.saturating_sub(1);
    field(&format!("{number:0digits$o}"), width)
}
