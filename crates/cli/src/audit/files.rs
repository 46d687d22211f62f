//! The files that are audited.

use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use crate::complaint::Complaint;

const ENDINGS: [&str; 3] = ["yaml", "yml", "json"];

/// A file.
pub struct File {
    pub path: PathBuf,
    /// Whether it was named itself, and not found in a folder.
    pub named: bool,
    /// Its size; zero for standard input, which ends when it ends.
    pub bytes: u64,
}

/// The files that were named and those below the folders that were, each folder in the order of names. What is hidden, and
/// what a link leads to, is left out.
///
/// # Errors
/// A path that is not there, a folder that cannot be read, and one without any such file.
pub fn below(paths: &[PathBuf]) -> Result<Vec<File>, Complaint> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            let before = files.len();
            collect(path, &mut files)?;
            if files.len() == before {
                let endings = "no file that ends in `.yaml`, `.yml` or `.json`";
                return Err(Complaint::new(path.display(), format!("holds {endings}"), "name another folder"));
            }
        } else {
            files.push(File { path: path.clone(), named: true, bytes: size(path) });
        }
    }
    Ok(files)
}

fn collect(folder: &Path, files: &mut Vec<File>) -> Result<(), Complaint> {
    let is_hidden = |name: &std::ffi::OsStr| name.as_encoded_bytes().starts_with(b".");
    let entries = WalkDir::new(folder).sort_by_file_name().into_iter();
    for entry in entries.filter_entry(|entry| entry.depth() == 0 || !is_hidden(entry.file_name())) {
        let entry = entry.map_err(|error| {
            let location = error.path().unwrap_or(folder).display().to_string();
            Complaint::new(location, format!("cannot be read: {error}"), "make it readable, or name what is")
        })?;
        let ending = entry.path().extension().and_then(|ending| ending.to_str());
        if entry.file_type().is_file() && ending.is_some_and(|ending| ENDINGS.contains(&ending)) {
            files.push(File { path: entry.path().to_path_buf(), named: false, bytes: size(entry.path()) });
        }
    }
    Ok(())
}

fn size(path: &Path) -> u64 {
    std::fs::metadata(path).map(|file| file.len()).unwrap_or_default()
}
