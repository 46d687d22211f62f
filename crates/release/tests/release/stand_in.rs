//! A repository in which everything was built, and is small.

use std::path::{Path, PathBuf};

use release::{Places, Revision};
use tempfile::TempDir;

pub const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

pub struct Repository(TempDir);

impl Repository {
    /// With a program for one architecture.
    pub fn new() -> Self {
        let repository = Repository(tempfile::tempdir().unwrap());
        for file in ["LICENSE", "metadata.yml"] {
            repository.write(file, std::fs::read(root().join(file)).unwrap());
        }
        repository
            .write("target/linux/amd64/placement-guard", "a program")
            .write("target/placement-guard.wasm", "a module")
            .write("target/npm/package.json", "{}")
            .write("target/npm/wasm/module.wasm", "another module")
            .write("target/npm/.cache", "nothing")
            .write("target/sbom/placement-guard.cdx.json", r#"{"bomFormat":"CycloneDX"}"#)
            .write("target/sbom/placement-guard.wasm.cdx.json", r#"{"bomFormat":"CycloneDX","of":"module"}"#);
        repository
    }

    pub fn write(&self, path: &str, bytes: impl AsRef<[u8]>) -> &Self {
        let file = self.0.path().join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, bytes).unwrap();
        self
    }

    pub fn remove(&self, path: &str) {
        std::fs::remove_file(self.0.path().join(path)).unwrap();
    }

    pub fn places(&self) -> Places {
        Places::below(self.0.path())
    }

    /// Assembles the image.
    pub fn image(&self) -> PathBuf {
        release::write_image(&self.places(), &revision()).unwrap();
        self.places().image()
    }
}

pub fn revision() -> Revision {
    Revision::new(COMMIT, "1795337651").unwrap()
}

/// The root of the real repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Every file below a folder, by its path there.
pub fn below(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
                found.push((name, std::fs::read(path).unwrap()));
            }
        }
    }
    found.sort();
    found
}
