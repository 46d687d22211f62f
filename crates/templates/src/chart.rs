//! What the Helm chart has of the files in `policies/`: copies, because a chart cannot refer to files outside of it.

use std::path::PathBuf;

use serde_json::Value;

use crate::{RULES, chart_values, read, reads, repository};

/// The folder of the chart in the repository.
pub const CHART: &str = "charts/placement-guard";

/// A path below the folder of the chart.
pub fn file(path: &str) -> PathBuf {
    repository().join(CHART).join(path)
}

/// Every generated file of the chart, with its path in the chart.
///
/// # Errors
/// When a source cannot be read.
pub fn files() -> Result<Vec<(String, String)>, String> {
    let mut files = vec![
        (String::from("values.schema.json"), chart_values::text()?),
        (String::from("files/reads.yaml"), reads::text()?),
        (String::from("files/settings.yaml"), settings()?),
        (String::from("files/webhook.yaml"), webhook()?),
    ];
    for rule in RULES {
        files.push((format!("files/templates/{}.yaml", rule.file), read(&format!("templates/{}.yaml", rule.file))?));
        // Under the name by which the values know it.
        files.push((
            format!("files/constraints/{}.yaml", rule.section),
            read(&format!("constraints/{}.yaml", rule.file))?,
        ));
    }
    Ok(files)
}

/// The settings in the ConfigMap of the plain webhook, with their comments.
fn settings() -> Result<String, String> {
    let path = "../webhook/settings.yaml";
    let map: Value = serde_saphyr::from_str(&read(path)?).map_err(|error| format!("{path}: {error}"))?;
    let text = map["data"]["settings.yaml"].as_str();
    text.map(str::to_owned).ok_or_else(|| format!("{path}: no `settings.yaml`"))
}

/// Rules and conditions of the plain webhook.
fn webhook() -> Result<String, String> {
    let path = "../webhook/webhook.yaml";
    let webhook = read(path)?;
    let (_, rules) = webhook.split_once("\n    rules:\n").ok_or_else(|| format!("{path}: no rules"))?;
    let lines = rules.lines().map(|line| format!("{}\n", line.strip_prefix("    ").unwrap_or(line)));
    Ok(std::iter::once(String::from("rules:\n")).chain(lines).collect())
}
