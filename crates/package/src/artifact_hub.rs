//! `artifacthub-pkg.yml`: how Artifact Hub lists the policy, in the form in which `kwctl scaffold artifacthub` writes it.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::Metadata;

const HEADER: &str = "\
# Kubewarden Artifacthub Package config
#
# Use this config to submit the policy to https://artifacthub.io.
#
# This config can be saved to its default location with:
#   kwctl scaffold artifacthub > artifacthub-pkg.yml \n";

const CONTROLLER: &str = "https://artifacthub.io/packages/helm/kubewarden/kubewarden-controller";

/// Why metadata are not enough for Artifact Hub.
#[derive(Debug, thiserror::Error)]
pub enum NotListable {
    #[error("`annotations` has no `{0}`, without which Artifact Hub cannot list the policy; add it")]
    Missing(&'static str),
    #[error("`annotations.io.artifacthub.keywords` has an empty keyword; remove the extra comma")]
    EmptyKeyword,
    #[error(
        "`annotations.io.kubewarden.policy.author` has `{0}`; write each author as `name <email>`, with commas between"
    )]
    Author(String),
    #[error("the listing cannot be written as YAML: {0}")]
    Unwritable(String),
}

/// The fields are in the order in which Kubewarden's own tool writes them.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Listing<'m> {
    version: &'m str,
    name: &'m str,
    display_name: &'m str,
    created_at: &'m str,
    description: &'m str,
    #[serde(skip_serializing_if = "Option::is_none")]
    license: Option<&'m str>,
    #[serde(rename = "homeURL", skip_serializing_if = "Option::is_none")]
    home_url: Option<&'m str>,
    containers_images: Vec<Image>,
    #[serde(skip_serializing_if = "Option::is_none")]
    keywords: Option<Vec<&'m str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    links: Option<Vec<Link>>,
    install: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    maintainers: Option<Vec<Maintainer<'m>>>,
    provider: Provider,
    recommendations: Vec<Recommendation>,
    annotations: BTreeMap<&'static str, String>,
}

#[derive(Serialize)]
struct Image {
    name: &'static str,
    image: String,
}

#[derive(Serialize)]
struct Link {
    name: &'static str,
    url: String,
}

#[derive(Serialize)]
struct Maintainer<'m> {
    name: &'m str,
    email: &'m str,
}

#[derive(Serialize)]
struct Provider {
    name: &'static str,
}

#[derive(Serialize)]
struct Recommendation {
    url: &'static str,
}

/// The text of `artifacthub-pkg.yml`. `questions` is the text of `questions-ui.yml`; `created_at`, in the form of RFC 3339,
/// is when this version was made.
///
/// # Errors
/// What Artifact Hub requires and the annotations do not say.
pub fn artifact_hub(metadata: &Metadata, questions: Option<&str>, created_at: &str) -> Result<String, NotListable> {
    let optional = |key: &str| metadata.annotations.get(key).map(String::as_str);
    let required = |key: &'static str| optional(key).ok_or(NotListable::Missing(key));
    let version = required("io.kubewarden.policy.version")?;
    let image = format!("{}:v{version}", required("io.kubewarden.policy.ociUrl")?);
    let mut annotations = BTreeMap::from([
        ("kubewarden/mutation", metadata.mutating.to_string()),
        ("kubewarden/rules", yaml(&metadata.rules)?),
    ]);
    if !metadata.context_aware_resources.is_empty() {
        annotations.insert("kubewarden/contextAwareResources", yaml(&metadata.context_aware_resources)?);
    }
    if let Some(questions) = questions {
        annotations.insert("kubewarden/questions-ui", questions.to_owned());
    }
    if let Some(resources) = optional("io.artifacthub.resources") {
        annotations.insert("kubewarden/resources", resources.to_owned());
    }
    let listing = Listing {
        version,
        name: required("io.kubewarden.policy.title")?,
        display_name: required("io.artifacthub.displayName")?,
        created_at,
        description: required("io.kubewarden.policy.description")?,
        license: optional("io.kubewarden.policy.license"),
        home_url: optional("io.kubewarden.policy.url"),
        install: install(&image),
        containers_images: vec![Image { name: "policy", image }],
        keywords: optional("io.artifacthub.keywords").map(keywords).transpose()?,
        links: optional("io.kubewarden.policy.source").map(|source| links(source, version)),
        maintainers: optional("io.kubewarden.policy.author").map(maintainers).transpose()?,
        provider: Provider { name: "kubewarden" },
        recommendations: vec![Recommendation { url: CONTROLLER }],
        annotations,
    };
    Ok(format!("{HEADER}{}", yaml(&listing)?))
}

fn yaml<T: Serialize>(value: &T) -> Result<String, NotListable> {
    serde_yaml_ng::to_string(value).map_err(|error| NotListable::Unwritable(error.to_string()))
}

fn install(image: &str) -> String {
    format!(
        "\
The policy can be obtained using [kwctl](https://docs.kubewarden.io/howtos/install-kwctl):
```console
kwctl pull {image}
```
Then, generate the policy manifest and tune it to your liking. For example:
```console
kwctl scaffold manifest -t ClusterAdmissionPolicy registry://{image}
```
"
    )
}

fn keywords(list: &str) -> Result<Vec<&str>, NotListable> {
    let words: Vec<&str> = list.split(',').map(str::trim).collect();
    if words.contains(&"") { Err(NotListable::EmptyKeyword) } else { Ok(words) }
}

/// Where the source is on GitHub, its releases carry the module.
fn links(source: &str, version: &str) -> Vec<Link> {
    let mut links = vec![Link { name: "source", url: source.to_owned() }];
    if source.starts_with("https://github.com/") {
        let module = format!("{source}/releases/download/v{version}/policy.wasm");
        links.insert(0, Link { name: "policy", url: module });
    }
    links
}

fn maintainers(authors: &str) -> Result<Vec<Maintainer<'_>>, NotListable> {
    let one = |author| {
        let parts = str::trim(author).strip_suffix('>').and_then(|author| author.split_once('<'));
        let parts = parts.map(|(name, email)| (name.trim(), email.trim()));
        match parts.filter(|(_, email)| email.contains('@')) {
            Some((name, email)) => Ok(Maintainer { name, email }),
            None => Err(NotListable::Author(author.trim().to_owned())),
        }
    };
    authors.split(',').map(one).collect()
}
