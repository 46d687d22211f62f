//! `.placement-guard.yaml`: what `check` and `audit` do in a repository where the command line says nothing else.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::complaint::Complaint;
use crate::input::{Source, shown};
use crate::kinds::{Kinds, Tables};
use crate::report::options::FailOn;

/// The name of the file.
pub const NAME: &str = ".placement-guard.yaml";

/// What the file says, with paths from here.
#[derive(Debug, Default)]
pub struct Config {
    /// Where the settings are: a file, or a folder of policies.
    pub settings: Option<PathBuf>,
    /// The folder of the file, and globs of what is left out below it.
    pub exclude: Option<(PathBuf, Vec<String>)>,
    pub fail_on: Option<FailOn>,
    tables: Tables,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct Written {
    settings: Option<PathBuf>,
    exclude: Vec<String>,
    fail_on: Option<WrittenFailOn>,
    pod_templates: Vec<crate::kinds::Entry>,
    pod_specs: Vec<crate::kinds::Entry>,
    tolerations: Vec<crate::kinds::Entry>,
    taints: Vec<crate::kinds::Entry>,
    claims: Vec<crate::kinds::Entry>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
enum WrittenFailOn {
    Refusals,
    Warnings,
    Never,
}

impl Config {
    /// Reads the file in the root of the repository that the current folder is in, or in the current folder outside of one.
    ///
    /// # Errors
    /// When it is there and cannot be read, or holds what is not known.
    pub fn find() -> Result<Self, Complaint> {
        let Some(folder) = root() else { return Ok(Config::default()) };
        let file = folder.join(NAME);
        if !file.is_file() {
            return Ok(Config::default());
        }
        let source = Source::read(&file)?;
        let Some(documents) = source.documents()? else { return Ok(Config::default()) };
        let [document] = documents.as_slice() else {
            return Err(Complaint::new(source.shown(), "holds several documents", "leave one"));
        };
        let written: Written = serde_json::from_str(document.json()).map_err(|error| {
            let said = error.to_string();
            let said = said.split(" at line ").next().unwrap_or_default();
            Complaint::new(
                format!("{}:{}", shown(&document.file), document.line),
                said,
                "docs/command-line.md lists what is known",
            )
        })?;
        let Written { settings, exclude, fail_on, pod_templates, pod_specs, tolerations, taints, claims } = written;
        Ok(Config {
            settings: settings.map(|settings| folder.join(settings)),
            exclude: Some((folder, exclude)),
            fail_on: fail_on.map(|fail_on| match fail_on {
                WrittenFailOn::Refusals => FailOn::Refusals,
                WrittenFailOn::Warnings => FailOn::Warnings,
                WrittenFailOn::Never => FailOn::Never,
            }),
            tables: Tables { pod_templates, pod_specs, tolerations, taints, claims },
        })
    }

    /// Where custom resources hold what the rules judge.
    pub fn kinds(&self) -> Kinds {
        Kinds::with(&self.tables)
    }
}

/// The folder above the current one that holds `.git`, as a path from here; the current folder where there is none.
fn root() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    let depth = here.ancestors().position(|folder| folder.join(".git").exists()).unwrap_or_default();
    let path: PathBuf = std::iter::repeat_n(Path::new(".."), depth).collect();
    Some(path)
}
