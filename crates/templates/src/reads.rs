//! Which settings read which kinds of the cluster, for files in which no program can ask the library.

use std::fmt::Write as _;

use placement_guard::kubernetes::field::{self, Field};
use placement_guard::kubernetes::kind::Kind;
use placement_guard::rules::read_settings;
use serde_json::{Value, json};

/// The path of each setting that can read the cluster, with the least value that makes it do so. A test fails when one is
/// missing.
const SWITCHES: [(&str, &str); 14] = [
    ("volumeNodeAffinity.judgeBy", r#""liveNodes""#),
    ("volumeNodeAffinity.topology.fromLiveNodes", "true"),
    ("volumeNodeAffinity.strandedVolumes", r#""warn""#),
    ("volumeNodeAffinity.whileInUse", r#""warn""#),
    ("volumeNodeAffinity.requireSettledVolumeAttributes", "true"),
    ("tolerations.attraction", r#""warn""#),
    ("nodeTaints.evictions", r#""warn""#),
    ("csiDriverTokens.rollout", "{}"),
    ("csiDriverTokens.rollout.nodePlugins", "[]"),
    ("accessModes.sharedClaims", r#""warn""#),
    ("localVolumes.missingNode", r#""warn""#),
    ("localVolumes.overlap", r#""warn""#),
    ("volumeBinding", "{}"),
    ("volumeBinding.unreachableTogether", r#""warn""#),
];

/// Values of these settings that read nothing. An absent setting and null read nothing either.
const OFF: [&str; 2] = ["ignore", "anyNode"];

/// The kinds that settings need, as the library says.
///
/// # Errors
/// When the settings are not valid.
pub fn needs(settings: &Value) -> Result<Vec<Kind>, String> {
    let text = settings.to_string();
    let document = field::parse(text.as_bytes()).map_err(|error| format!("{text}: {error:?}"))?;
    let settings = read_settings(&Field::root("settings", &document)).map_err(|error| format!("{text}: {error:?}"))?;
    Ok(settings.needs().into_iter().map(|(kind, _)| kind).collect())
}

/// The same by the table, for valid settings: what the templates of the chart compute.
///
/// # Errors
/// When a switch is not valid.
pub fn by_table(settings: &Value) -> Result<Vec<Kind>, String> {
    let mut kinds = Vec::new();
    for (path, value) in SWITCHES {
        let given = path.split('.').try_fold(settings, |value, name| value.get(name));
        let is_off = |value: &Value| {
            value.is_null() || *value == json!(false) || value.as_str().is_some_and(|name| OFF.contains(&name))
        };
        if given.is_some_and(|given| !is_off(given)) {
            kinds.extend(kinds_of(path, value)?);
        }
    }
    kinds.sort_unstable();
    kinds.dedup();
    Ok(kinds)
}

/// The table as a file of the chart.
///
/// # Errors
/// When a switch is not valid.
pub fn text() -> Result<String, String> {
    let mut text = String::from(
        "# Which settings read which kinds of the cluster, unless they are `ignore`, `anyNode` or false. `make bless` writes it.\n\
         settings:\n",
    );
    for (path, value) in SWITCHES {
        let names: Vec<&str> = kinds_of(path, value)?.into_iter().map(Kind::name).collect();
        let _ = writeln!(text, "  - {{path: [{}], kinds: [{}]}}", path.replace('.', ", "), names.join(", "));
    }
    text.push_str("kinds:\n");
    for kind in Kind::ALL {
        let _ = writeln!(text, "  {}: {{group: \"{}\", resource: {}}}", kind.name(), kind.group(), kind.resource());
    }
    Ok(text)
}

/// The kinds that one setting alone needs.
fn kinds_of(path: &str, value: &str) -> Result<Vec<Kind>, String> {
    let value: Value = serde_json::from_str(value).map_err(|error| format!("{path}: {error}"))?;
    needs(&path.rsplit('.').fold(value, |value, name| json!({name: value})))
}
