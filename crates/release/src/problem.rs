//! Why something cannot be assembled.

use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum Problem {
    #[error("{}: {error}", path.display())]
    File { path: PathBuf, error: std::io::Error },
    #[error("`{0}` is too long for the name of a file in an archive")]
    LongName(String),
    #[error("{}: must be a file or a folder", .0.display())]
    NotAFile(PathBuf),
    #[error("{}: {reason}", path.display())]
    Unfit { path: PathBuf, reason: String },
    #[error("`SOURCE_DATE_EPOCH` must be the seconds since 1970 at which the version was made, but is `{0}`")]
    Time(String),
    #[error("no program for Linux is in {}; `.ci/build-linux amd64` builds one", .0.display())]
    NoProgram(PathBuf),
    #[error("cannot be written: {0}")]
    Unwritable(String),
}

impl Problem {
    pub(crate) fn with(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        |error| Problem::File { path, error }
    }

    pub(crate) fn unfit(path: &Path, reason: impl Into<String>) -> Self {
        Problem::Unfit { path: path.to_owned(), reason: reason.into() }
    }
}
