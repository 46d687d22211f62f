//! `npm-package FACE.wasm FOLDER`: makes the npm package in a folder, which holds nothing else afterwards.

mod bindings;
mod files;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

fn main() -> ExitCode {
    match run(std::env::args_os().skip(1).collect()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("npm-package: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: Vec<OsString>) -> Result<()> {
    let [face, folder] = arguments.as_slice() else { bail!("usage: npm-package FACE.wasm FOLDER") };
    let (face, folder) = (Path::new(face), Path::new(folder));
    let built = std::fs::read(face).with_context(|| face.display().to_string())?;
    let bindings = bindings::of(&built).with_context(|| face.display().to_string())?;
    if folder.exists() {
        std::fs::remove_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    for (name, content) in files::of(&bindings)? {
        let file = folder.join(name);
        let parent = file.parent().unwrap_or(folder);
        std::fs::create_dir_all(parent).with_context(|| parent.display().to_string())?;
        std::fs::write(&file, content).with_context(|| file.display().to_string())?;
    }
    Ok(())
}
