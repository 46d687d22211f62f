//! Everything that is published for a version, in one folder, with checksums.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use crate::digest::sha256;
use crate::places::{VERSION, read};
use crate::{Archive, Places, Problem, Revision, krew, shell};

/// The annotation with the address of the repository.
const SOURCE: &str = "io.kubewarden.policy.source";

/// Writes `target/release-files/`, in place of what was there, and returns the names of the files.
///
/// # Errors
/// What is missing, and what cannot be read or written.
pub fn write_files(places: &Places, revision: &Revision) -> Result<Vec<String>, Problem> {
    let mut files = files(places, revision)?;
    let checksums: String = files.iter().map(|(name, bytes)| format!("{}  {name}\n", sha256(bytes))).collect();
    files.insert(String::from("SHA256SUMS"), checksums.into_bytes());
    let folder = places.release_files();
    if folder.exists() {
        std::fs::remove_dir_all(&folder).map_err(Problem::with(&folder))?;
    }
    std::fs::create_dir_all(&folder).map_err(Problem::with(&folder))?;
    for (name, bytes) in &files {
        let file = folder.join(name);
        std::fs::write(&file, bytes).map_err(Problem::with(&file))?;
    }
    Ok(files.into_keys().collect())
}

fn files(places: &Places, revision: &Revision) -> Result<BTreeMap<String, Vec<u8>>, Problem> {
    let mut files = BTreeMap::new();
    let (metadata, licence, pages) = (places.metadata()?, places.licence()?, shell::pages()?);
    let add_pages = |archive: &mut Archive| {
        pages.iter().for_each(|page| archive.file(&page.path, false, page.text.clone()));
    };
    let mut archives = Vec::new();
    for (architecture, program) in places.programs()? {
        let mut archive = Archive::new(revision.time);
        archive.file("placement-guard", true, program);
        archive.file("LICENSE", false, licence.clone());
        add_pages(&mut archive);
        let (name, bytes) =
            (format!("placement-guard-v{VERSION}-linux-{}.tar.gz", architecture.name()), archive.tar_gz()?);
        archives.push((architecture, name.clone(), sha256(&bytes)));
        files.insert(name, bytes);
    }
    let mut archive = Archive::new(revision.time);
    add_pages(&mut archive);
    files.insert(format!("placement-guard-v{VERSION}-completions-and-man.tar.gz"), archive.tar_gz()?);

    let source = metadata.annotations.get(SOURCE).map_or("", String::as_str);
    files.insert(String::from("placement-guard.yaml"), krew::manifest(source, &archives)?.into_bytes());
    // Under the name by which Artifact Hub links to it.
    files.insert(String::from("policy.wasm"), places.module()?);

    let mut archive = Archive::new(revision.time);
    archive.folder("package", &places.npm())?;
    files.insert(format!("placement-guard-npm-{VERSION}.tgz"), archive.tar_gz()?);

    let mut archive = Archive::new(revision.time);
    archive.folder("", &places.image())?;
    files.insert(format!("placement-guard-image-v{VERSION}.tar"), archive.tar()?);

    if let Some(chart) = places.chart() {
        check_version(&chart.join("Chart.yaml"))?;
        let mut archive = Archive::new(revision.time);
        archive.folder("placement-guard", &chart)?;
        files.insert(format!("placement-guard-{VERSION}.tgz"), archive.tar_gz()?);
    }
    for name in ["placement-guard.cdx.json", "placement-guard.wasm.cdx.json"] {
        files.insert(name.to_owned(), read(&places.bills().join(name))?);
    }
    Ok(files)
}

/// The parts of `Chart.yaml` that name a version.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Chart {
    version: String,
    app_version: Option<String>,
}

/// A chart of another version would install another image.
fn check_version(file: &Path) -> Result<(), Problem> {
    let text = String::from_utf8_lossy(&read(file)?).into_owned();
    let chart: Chart = serde_saphyr::from_str(&text).map_err(|error| Problem::unfit(file, error.to_string()))?;
    let app_version = chart.app_version.as_deref().map(|version| version.trim_start_matches('v'));
    if chart.version != VERSION || app_version.is_some_and(|version| version != VERSION) {
        return Err(Problem::unfit(file, format!("`version` and `appVersion` must be `{VERSION}`")));
    }
    Ok(())
}
