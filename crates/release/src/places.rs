//! Where what was built lies, below the root of the repository.

use std::path::{Path, PathBuf};

use package::Metadata;

use crate::Problem;

/// The version of everything in a release.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What a program runs on, as Go, OCI and krew name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Architecture {
    Amd64,
    Arm64,
}

impl Architecture {
    pub const ALL: [Self; 2] = [Self::Amd64, Self::Arm64];

    pub fn name(self) -> &'static str {
        match self {
            Self::Amd64 => "amd64",
            Self::Arm64 => "arm64",
        }
    }
}

/// Which source something was made of, and when.
#[derive(Debug, Clone)]
pub struct Revision {
    /// The commit.
    pub commit: String,
    /// The seconds since 1970 at which it was made: `SOURCE_DATE_EPOCH`.
    pub time: u64,
}

impl Revision {
    /// # Errors
    /// A time that is not one.
    pub fn new(commit: &str, time: &str) -> Result<Self, Problem> {
        let wrong = || Problem::Time(time.to_owned());
        let revision = Revision { commit: commit.to_owned(), time: time.parse().map_err(|_| wrong())? };
        revision.instant().map(|_| revision).ok_or_else(wrong)
    }

    /// The time as RFC 3339 writes it.
    pub(crate) fn written(&self) -> String {
        self.instant().map(|instant| instant.to_string()).unwrap_or_default()
    }

    fn instant(&self) -> Option<jiff::Timestamp> {
        jiff::Timestamp::from_second(i64::try_from(self.time).ok()?).ok()
    }
}

/// The root of the repository.
#[derive(Debug, Clone)]
pub struct Places(PathBuf);

impl Places {
    pub fn below(root: &Path) -> Self {
        Places(root.to_owned())
    }

    /// The programs for Linux that were built.
    pub(crate) fn programs(&self) -> Result<Vec<(Architecture, Vec<u8>)>, Problem> {
        let folder = self.0.join("target/linux");
        let mut programs = Vec::new();
        for architecture in Architecture::ALL {
            let file = folder.join(architecture.name()).join("placement-guard");
            if file.exists() {
                programs.push((architecture, read(&file)?));
            }
        }
        if programs.is_empty() { Err(Problem::NoProgram(folder)) } else { Ok(programs) }
    }

    /// The annotated module.
    pub(crate) fn module(&self) -> Result<Vec<u8>, Problem> {
        read(&self.0.join("target/placement-guard.wasm"))
    }

    pub(crate) fn licence(&self) -> Result<Vec<u8>, Problem> {
        read(&self.0.join("LICENSE"))
    }

    /// What the module says of itself, which holds for the whole project.
    pub(crate) fn metadata(&self) -> Result<Metadata, Problem> {
        let file = self.0.join("metadata.yml");
        let text = String::from_utf8_lossy(&read(&file)?).into_owned();
        Metadata::parse(&text).map_err(|error| Problem::unfit(&file, error.to_string()))
    }

    /// The folder of the npm package.
    pub(crate) fn npm(&self) -> PathBuf {
        self.0.join("target/npm")
    }

    /// The bill of materials of the program.
    pub(crate) fn bill(&self) -> Result<Vec<u8>, Problem> {
        read(&self.bills().join("placement-guard.cdx.json"))
    }

    pub(crate) fn bills(&self) -> PathBuf {
        self.0.join("target/sbom")
    }

    /// Where the image is assembled, as an OCI layout.
    pub fn image(&self) -> PathBuf {
        self.0.join("target/image")
    }

    /// The folder of the Helm chart, where there is one.
    pub(crate) fn chart(&self) -> Option<PathBuf> {
        Some(self.0.join("charts/placement-guard")).filter(|folder| folder.is_dir())
    }

    /// Where everything that is published lies at the end.
    pub fn release_files(&self) -> PathBuf {
        self.0.join("target/release-files")
    }
}

pub(crate) fn read(file: &Path) -> Result<Vec<u8>, Problem> {
    std::fs::read(file).map_err(Problem::with(file))
}
