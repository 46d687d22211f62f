//! `annotate --metadata metadata.yml --output OUT.wasm IN.wasm` writes the metadata into a module;
//! `annotate --metadata metadata.yml --output artifacthub-pkg.yml --artifact-hub TIME questions-ui.yml` lists it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use package::{Metadata, NotPackaged};

const USAGE: &str =
    "annotate --metadata metadata.yml --output OUT (IN.wasm | --artifact-hub CREATED-AT questions-ui.yml)";

fn main() -> ExitCode {
    match run(std::env::args_os().skip(1)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(complaint) => {
            eprintln!("annotate: {complaint}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: impl IntoIterator<Item = OsString>) -> Result<(), String> {
    let files = Files::parse(arguments).map_err(|error| format!("{error}; usage: {USAGE}"))?;
    let yaml = std::fs::read_to_string(&files.metadata).map_err(about(&files.metadata))?;
    let made = match &files.created_at {
        Some(created_at) => listing(&yaml, created_at, &files)?.into_bytes(),
        None => {
            let module = std::fs::read(&files.input).map_err(about(&files.input))?;
            package::package(&yaml, &module).map_err(|error| match &error {
                NotPackaged::Metadata(_) => about(&files.metadata)(error),
                NotPackaged::Module(_) => about(&files.input)(error),
            })?
        }
    };
    std::fs::write(&files.output, made).map_err(about(&files.output))
}

fn listing(yaml: &str, created_at: &str, files: &Files) -> Result<String, String> {
    let metadata = Metadata::parse(yaml).map_err(about(&files.metadata))?;
    let questions = std::fs::read_to_string(&files.input).map_err(about(&files.input))?;
    package::artifact_hub(&metadata, Some(&questions), created_at).map_err(about(&files.metadata))
}

fn about<E: std::fmt::Display>(file: &Path) -> impl FnOnce(E) -> String {
    move |error| format!("{}: {error}", file.display())
}

struct Files {
    metadata: PathBuf,
    output: PathBuf,
    input: PathBuf,
    /// Where the listing for Artifact Hub is asked for: when this version was made.
    created_at: Option<String>,
}

impl Files {
    fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, lexopt::Error> {
        use lexopt::prelude::{Long, Value, ValueExt};

        let (mut metadata, mut output, mut input, mut created_at) = (None, None, None, None);
        let mut parser = lexopt::Parser::from_args(arguments);
        while let Some(argument) = parser.next()? {
            match argument {
                Long("metadata") => metadata = Some(parser.value()?.into()),
                Long("output") => output = Some(parser.value()?.into()),
                Long("artifact-hub") => created_at = Some(parser.value()?.string()?),
                Value(file) if input.is_none() => input = Some(file.into()),
                other => return Err(other.unexpected()),
            }
        }
        Ok(Self {
            metadata: metadata.ok_or("`--metadata` is missing")?,
            output: output.ok_or("`--output` is missing")?,
            input: input.ok_or("the file to read is missing")?,
            created_at,
        })
    }
}
