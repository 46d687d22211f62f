//! The cluster as Kubewarden's host answers for it: `get_resource` and `list_resources_all`, with its error texts told apart.

use serde::Serialize;

use crate::kubernetes::kind::Kind;
use crate::kubernetes::picked::{Fields, WHOLE};
use crate::rules::cluster::{CannotRead, Cluster, Freshness, Verb, Wanted};

/// A call to the host's `kubernetes` capability: the operation and its argument as JSON. The error is the host's text.
pub type Call<'c> = &'c dyn Fn(&str, &[u8]) -> Result<Vec<u8>, String>;

/// The cluster behind a host.
pub struct HostCluster<'c> {
    pub call: Call<'c>,
}

/// `GetResourceRequest` of the SDK.
#[derive(Serialize)]
struct Get<'r> {
    api_version: &'r str,
    kind: &'r str,
    name: &'r str,
    namespace: Option<&'r str>,
    disable_cache: bool,
    field_masks: Vec<String>,
}

/// `ListAllResourcesRequest` of the SDK. Its selectors stay null and its masks constant: for each other set of them the host
/// keeps one more watch, for ever.
#[derive(Serialize)]
struct List<'r> {
    api_version: &'r str,
    kind: &'r str,
    label_selector: Option<&'r str>,
    field_selector: Option<&'r str>,
    field_masks: Vec<String>,
}

/// A name that an object can have and none has.
const NO_OBJECT: &str = "placement-guard.asks-whether-it-may-read-this-kind";

impl Cluster for HostCluster<'_> {
    fn get(
        &self,
        kind: Kind,
        namespace: Option<&str>,
        name: &str,
        wanted: Wanted,
    ) -> Result<Option<Vec<u8>>, CannotRead> {
        let request = Get {
            api_version: kind.api_version(),
            kind: kind.name(),
            name,
            namespace,
            disable_cache: wanted.freshness == Freshness::Now,
            field_masks: wanted.fields.masks(),
        };
        match self.ask("get_resource", &request) {
            Ok(answer) => Ok(Some(answer)),
            Err(said) if is_absent(&said, kind, namespace, name) => Ok(None),
            Err(said) => Err(cause(&said)),
        }
    }

    /// A list without permission never returns and takes a worker of the host with it. So an object that does not exist is
    /// asked for first: that answers at once.
    fn list(&self, kind: Kind, fields: Fields) -> Result<Vec<u8>, CannotRead> {
        let namespace = kind.is_namespaced().then_some("default");
        let nothing = Wanted { fields: Fields(&[("kind", WHOLE)]), freshness: Freshness::Now };
        self.get(kind, namespace, NO_OBJECT, nothing)?;
        let request = List {
            api_version: kind.api_version(),
            kind: kind.name(),
            label_selector: None,
            field_selector: None,
            field_masks: fields.masks(),
        };
        self.ask("list_resources_all", &request).map_err(|said| cause(&said))
    }
}

impl HostCluster<'_> {
    fn ask(&self, operation: &str, request: &impl Serialize) -> Result<Vec<u8>, String> {
        let request = serde_json::to_vec(request).map_err(|error| error.to_string())?;
        // Behind the first line a stack may follow.
        (self.call)(operation, &request).map_err(|said| said.lines().next().unwrap_or_default().to_owned())
    }
}

/// What the host puts before the text of a call that failed.
const FAILED: &str = "Host error: Callback evaluation failure: ";

/// Whether the host says that there is no such object. Exactly that: an error that only contains these words is another.
fn is_absent(said: &str, kind: Kind, namespace: Option<&str>, name: &str) -> bool {
    let namespace = namespace.map_or_else(|| String::from("None"), |namespace| format!("Some(\"{namespace}\")"));
    let absent =
        format!("Cannot find {}/{} named '{name}' inside of namespace '{namespace}'", kind.api_version(), kind.name());
    said.strip_prefix(FAILED) == Some(&absent)
}

/// Why the host did not answer, as far as its text tells (policy-server 1.36).
fn cause(said: &str) -> CannotRead {
    let Some(failure) = said.strip_prefix(FAILED) else {
        return if said.starts_with("Host error: Policy has not been granted access to Kubernetes ") {
            CannotRead::NotGranted
        } else {
            CannotRead::Failed
        };
    };
    let says = |words: &str| failure.contains(words);
    if says(" is forbidden: ") && says("code: 403") {
        CannotRead::Forbidden(match failure {
            _ if says(" cannot list resource ") => Verb::List,
            _ if says(" cannot watch resource ") => Verb::Watch,
            _ => Verb::Get,
        })
    } else if failure.starts_with("error finding resource ") || failure.starts_with("Cannot find resource ") {
        CannotRead::NotServed
    } else if says("(Connect)") {
        CannotRead::Down
    } else if says("timed out") || says("deadline") {
        CannotRead::TooLong
    } else {
        CannotRead::Failed
    }
}

#[cfg(test)]
mod tests;
