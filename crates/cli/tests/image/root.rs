//! The root file system of the image, and processes in it.

use std::path::{Path, PathBuf};
use std::process::Command;

use release::{Places, Revision};
use serde_json::Value;
use tempfile::TempDir;

use crate::program::{built_module, repository};

/// The user of the image.
const USER: &str = "65532:65532";

pub struct Root {
    folder: TempDir,
    /// Root may become another user; without it, a namespace of users must do.
    is_root: bool,
}

impl Root {
    /// Unpacks the one layer of the image; `None`, with a sentence, where this machine lets no process have another root.
    pub fn of_the_image() -> Option<Self> {
        let (folder, assembled) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let layout = match std::env::var_os("PLACEMENT_GUARD_LAYOUT") {
            Some(layout) => repository().join(layout),
            None => assemble(assembled.path()),
        };
        let document = |file: PathBuf| -> Value { serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap() };
        let blob =
            |descriptor: &Value| layout.join("blobs").join(descriptor["digest"].as_str().unwrap().replace(':', "/"));
        let mut manifest = document(blob(&document(layout.join("index.json"))["manifests"][0]));
        if let Some(platforms) = manifest["manifests"].as_array() {
            let here = platforms.iter().find(|platform| platform["platform"]["architecture"] == "amd64");
            manifest = document(blob(here.unwrap()));
        }
        let config = document(blob(&manifest["config"]));
        assert_eq!(
            (&config["config"]["User"], &config["config"]["Entrypoint"][0]),
            (&USER.into(), &"/placement-guard".into())
        );
        let inside = folder.path().join("root");
        std::fs::create_dir(&inside).unwrap();
        let unpacked =
            Command::new("tar").arg("-xzf").arg(blob(&manifest["layers"][0])).arg("-C").arg(&inside).status().unwrap();
        assert!(unpacked.success());
        assert!(!inside.join("bin").exists() && !inside.join("usr").exists(), "there is more than the program");

        let is_root = Command::new("id").arg("-u").output().unwrap().stdout == b"0\n";
        let root = Root { folder, is_root };
        root.add_libraries();
        // What a pod mounts, and where the program keeps what it compiled, which takes it long without optimisation.
        std::fs::create_dir(root.inside().join("run")).unwrap();
        let compiled = repository().join("target/compiled-modules");
        if compiled.exists() {
            Command::new("cp").arg("-r").arg(compiled).arg(root.inside().join("run/compiled")).status().unwrap();
        }
        Command::new("chmod").args(["-R", "a+rwX"]).arg(root.inside().join("run")).status().unwrap();
        let tried = root.program("--version").output();
        if tried.as_ref().is_ok_and(|output| output.status.success()) {
            return Some(root);
        }
        assert!(!root.is_root, "{tried:?}");
        eprintln!("this machine lets no process have another root: the program in the image is not tried: {tried:?}");
        None
    }

    fn inside(&self) -> PathBuf {
        self.folder.path().join("root")
    }

    /// The libraries of a program that is not linked statically.
    fn add_libraries(&self) {
        let listed = Command::new("ldd").arg(self.inside().join("placement-guard")).output().unwrap();
        let text = String::from_utf8_lossy(&listed.stdout).into_owned();
        let from_image = std::env::var_os("PLACEMENT_GUARD_LAYOUT").is_some();
        for library in text.split_whitespace().filter(|word| word.starts_with('/')) {
            assert!(!from_image, "the program in the image loads `{library}`");
            let to = self.inside().join(library.trim_start_matches('/'));
            std::fs::create_dir_all(to.parent().unwrap()).unwrap();
            std::fs::copy(library, to).unwrap();
        }
    }

    pub fn write(&self, path: &str, text: &str) -> &Self {
        std::fs::write(self.inside().join(path), text).unwrap();
        self
    }

    pub fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.inside().join(path)).unwrap()
    }

    /// The program in the image, in its root, as its user.
    pub fn program(&self, arguments: &str) -> Command {
        let mut command = if self.is_root {
            let mut command = Command::new("chroot");
            command.arg(format!("--userspec={USER}")).arg("--groups=").arg(self.inside());
            command
        } else {
            let mut command = Command::new("unshare");
            command.arg("--map-root-user").arg("--root").arg(self.inside());
            command
        };
        command.arg("/placement-guard").args(arguments.split_whitespace());
        // A container has nothing else in its environment.
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        if std::env::var_os("PLACEMENT_GUARD_LAYOUT").is_none() {
            command.env("PLACEMENT_GUARD_COMPILED", "/run/compiled");
        }
        command
    }
}

/// An image of the program that the tests have, without what only a debugger reads.
fn assemble(folder: &Path) -> PathBuf {
    let program = folder.join("target/linux/amd64/placement-guard");
    std::fs::create_dir_all(program.parent().unwrap()).unwrap();
    std::fs::create_dir_all(folder.join("target/sbom")).unwrap();
    let built = env!("CARGO_BIN_EXE_placement-guard");
    let stripped = Command::new("strip").arg("-o").arg(&program).arg(built).status();
    if !stripped.is_ok_and(|status| status.success()) {
        std::fs::copy(built, &program).unwrap();
    }
    std::fs::copy(built_module(), folder.join("target/placement-guard.wasm")).unwrap();
    std::fs::write(folder.join("target/sbom/placement-guard.cdx.json"), "{}").unwrap();
    for file in ["LICENSE", "metadata.yml"] {
        std::fs::copy(repository().join(file), folder.join(file)).unwrap();
    }
    let places = Places::below(folder);
    release::write_image(&places, &Revision::new("0", "0").unwrap()).unwrap();
    places.image()
}
