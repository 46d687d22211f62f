//! `release image COMMIT` assembles the image in `target/image/`; `release files COMMIT` everything that is published, in
//! `target/release-files/`. Both run in the root of the repository, and take the time from `SOURCE_DATE_EPOCH`.

use std::path::Path;
use std::process::ExitCode;

use release::{Places, Revision};

const USAGE: &str = "release (image | files) COMMIT";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(complaint) => {
            eprintln!("release: {complaint}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &[String]) -> Result<(), String> {
    let [what, commit] = arguments else { return Err(format!("usage: {USAGE}")) };
    let places = Places::below(Path::new("."));
    let time = std::env::var("SOURCE_DATE_EPOCH").unwrap_or_default();
    let revision = Revision::new(commit, &time).map_err(|problem| problem.to_string())?;
    match what.as_str() {
        "image" => {
            release::write_image(&places, &revision).map_err(|problem| problem.to_string())?;
            println!("{}", places.image().display());
        }
        "files" => {
            let names = release::write_files(&places, &revision).map_err(|problem| problem.to_string())?;
            names.iter().for_each(|name| println!("{}", places.release_files().join(name).display()));
        }
        _ => return Err(format!("usage: {USAGE}")),
    }
    Ok(())
}
