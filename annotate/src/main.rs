//! `annotate --metadata metadata.yml --output OUT.wasm IN.wasm`

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use annotate::Metadata;

const USAGE: &str = "annotate --metadata metadata.yml --output OUT.wasm IN.wasm";

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
    let metadata = Metadata::parse(&yaml).map_err(about(&files.metadata))?;
    let module = std::fs::read(&files.input).map_err(about(&files.input))?;
    let annotated = annotate::annotate(&module, &metadata).map_err(about(&files.input))?;
    std::fs::write(&files.output, annotated).map_err(about(&files.output))
}

fn about<E: std::fmt::Display>(file: &Path) -> impl FnOnce(E) -> String {
    move |error| format!("{}: {error}", file.display())
}

struct Files {
    metadata: PathBuf,
    output: PathBuf,
    input: PathBuf,
}

impl Files {
    fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, lexopt::Error> {
        use lexopt::prelude::{Long, Value};

        let (mut metadata, mut output, mut input) = (None, None, None);
        let mut parser = lexopt::Parser::from_args(arguments);
        while let Some(argument) = parser.next()? {
            match argument {
                Long("metadata") => metadata = Some(parser.value()?.into()),
                Long("output") => output = Some(parser.value()?.into()),
                Value(file) if input.is_none() => input = Some(file.into()),
                other => return Err(other.unexpected()),
            }
        }
        Ok(Self {
            metadata: metadata.ok_or("`--metadata` is missing")?,
            output: output.ok_or("`--output` is missing")?,
            input: input.ok_or("the module to annotate is missing")?,
        })
    }
}
