//! `package`, `push` and `pull`: a module on its way from a build to a registry and back.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use package::{InvalidMetadata, NotPackaged};
use registry::{Access, Layout, SignKey};

use crate::complaint::{Complaint, Outcome};
use crate::input::Source;
use crate::origin::Origin;
use crate::output;
use crate::transfer::watched;

#[derive(clap::Args)]
pub struct Package {
    /// The module that the compiler wrote
    module: PathBuf,
    /// The metadata that Kubewarden reads
    #[arg(long, default_value = "metadata.yml")]
    metadata: PathBuf,
    /// The file for the annotated module
    #[arg(long, short)]
    output_path: PathBuf,
}

#[derive(clap::Args)]
pub struct Push {
    /// An annotated module, as `package` and `make module` write it; or an image, a folder in the OCI layout
    module: PathBuf,
    /// Where to push it: `HOST/REPOSITORY:TAG`
    reference: String,
    /// Use plain HTTP; only for a registry on this machine
    #[arg(long)]
    insecure: bool,
    /// Sign what is pushed with this key: `PRIVATE KEY` in PEM, ECDSA on P-256 or Ed25519
    #[arg(long, value_name = "FILE")]
    sign_key: Option<PathBuf>,
}

#[derive(clap::Args)]
pub struct Pull {
    /// The module to pull: `HOST/REPOSITORY:TAG` or `HOST/REPOSITORY@sha256:…`
    reference: String,
    /// The file for the module; it is written completely or not at all
    #[arg(long, short)]
    output_path: PathBuf,
    #[command(flatten)]
    origin: Origin,
}

/// Writes a module with its metadata in it.
///
/// # Errors
/// When one of the files cannot be used.
pub fn package(arguments: &Package) -> Result<Outcome, Complaint> {
    let metadata = Source::read(&arguments.metadata)?;
    let annotated = package::package(metadata.text()?, &read(&arguments.module)?).map_err(|error| match error {
        NotPackaged::Metadata(error @ InvalidMetadata::Unreadable(_)) => {
            Complaint::new(metadata.shown(), error, "correct it")
        }
        NotPackaged::Metadata(error) => Complaint::said(format!("{}: {error}", metadata.shown())),
        NotPackaged::Module(error) => Complaint::said(format!("{}: {error}", arguments.module.display())),
    })?;
    write(&arguments.output_path, &annotated)?;
    Ok(Outcome::Accepted)
}

/// Pushes a module or an image, and prints where it is now, by digest.
///
/// # Errors
/// What keeps it from being there.
pub fn push(arguments: &Push) -> Result<Outcome, Complaint> {
    let key = arguments.sign_key.as_deref().map(SignKey::read).transpose().map_err(Complaint::said)?;
    let (bar, progress) = watched();
    let access = Access::of_this_user(arguments.insecure);
    let Push { module, reference, .. } = arguments;
    let pushed = if Layout::is_at(module) {
        let image = Layout::read(module).map_err(Complaint::said)?;
        registry::push_image(&image, reference, &access, key.as_ref(), &progress)
    } else {
        registry::push(&read(module)?, reference, &access, key.as_ref(), &progress)
    };
    bar.finish_and_clear();
    let pushed = pushed.map_err(Complaint::said)?;
    output::print(&format!("{}\n", pushed.by_digest))?;
    Ok(Outcome::Accepted)
}

/// Pulls a module into a file and prints what it is, by digest.
///
/// # Errors
/// What keeps it from being there.
pub fn pull(arguments: &Pull) -> Result<Outcome, Complaint> {
    let pulled = arguments.origin.fetch(&arguments.reference)?;
    write(&arguments.output_path, &pulled.module)?;
    output::print(&format!("{}\n", pulled.by_digest))?;
    Ok(Outcome::Accepted)
}

fn read(path: &Path) -> Result<Vec<u8>, Complaint> {
    std::fs::read(path)
        .map_err(|error| Complaint::new(path.display(), format!("cannot be read: {error}"), "name a readable file"))
}

/// Writes a file through one next to it, so that half of it never appears under the name.
///
/// # Errors
/// When it cannot be written.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), Complaint> {
    let written = match std::fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => std::fs::canonicalize(path).and_then(|target| write_whole(&target, bytes)),
        _ => write_whole(path, bytes),
    };
    written
        .map_err(|error| Complaint::new(path.display(), format!("cannot be written: {error}"), "name a writable file"))
}

/// A file is complete or as it was before. A device or a pipe is written to, and stays what it is.
fn write_whole(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    if std::fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return std::fs::OpenOptions::new().write(true).open(path)?.write_all(bytes);
    }
    let mut partial = path.as_os_str().to_owned();
    partial.push(format!(".{}.part", std::process::id()));
    let partial = PathBuf::from(partial);
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).open(&partial)?;
    file.write_all(bytes).and_then(|()| std::fs::rename(&partial, path)).inspect_err(|_| {
        // The partial file is useless, and failing to remove it does not change the answer.
        let _ = std::fs::remove_file(&partial);
    })
}
