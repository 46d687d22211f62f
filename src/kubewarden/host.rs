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
mod tests {
    use super::*;
    use std::cell::RefCell;

    const NODE: Fields = Fields(&[("metadata", Fields(&[("name", WHOLE), ("labels", WHOLE)]))]);

    /// A host that answers every call alike, and what it was asked.
    fn asked(answer: &Result<&str, &str>, ask: impl FnOnce(&HostCluster<'_>)) -> Vec<String> {
        let calls = RefCell::new(Vec::new());
        let call = |operation: &str, payload: &[u8]| {
            calls.borrow_mut().push(format!("{operation} {}", String::from_utf8_lossy(payload)));
            answer.map(|text| text.as_bytes().to_vec()).map_err(str::to_owned)
        };
        ask(&HostCluster { call: &call });
        calls.into_inner()
    }

    #[test]
    fn a_call_is_what_the_sdk_sends() {
        let calls = asked(&Ok("{}"), |cluster| {
            let wanted = Wanted { fields: NODE, freshness: Freshness::Now };
            assert_eq!(cluster.get(Kind::Node, None, "a", wanted), Ok(Some(b"{}".to_vec())));
            assert_eq!(cluster.list(Kind::Pod, NODE), Ok(b"{}".to_vec()));
        });
        let probe = concat!(
            r#"get_resource {"api_version":"v1","kind":"Pod","name":"placement-guard.asks-whether-it-may-read-this-kind","#,
            r#""namespace":"default","disable_cache":true,"field_masks":["kind"]}"#
        );
        let list = concat!(
            r#"list_resources_all {"api_version":"v1","kind":"Pod","label_selector":null,"field_selector":null,"#,
            r#""field_masks":["metadata.name","metadata.labels"]}"#
        );
        let get = concat!(
            r#"get_resource {"api_version":"v1","kind":"Node","name":"a","namespace":null,"disable_cache":true,"#,
            r#""field_masks":["metadata.name","metadata.labels"]}"#
        );
        assert_eq!(calls, [get, probe, list]);
    }

    #[test]
    fn a_kind_that_may_not_be_read_is_not_listed() {
        let forbidden = r#"Host error: Callback evaluation failure: ApiError: nodes "x" is forbidden: User "u" cannot get resource "nodes" in API group "" at the cluster scope: Forbidden (Status { code: 403 })"#;
        let calls = asked(&Err(forbidden), |cluster| {
            assert_eq!(cluster.list(Kind::Node, NODE), Err(CannotRead::Forbidden(Verb::Get)));
        });
        assert_eq!(calls.len(), 1, "{calls:?}");
    }

    #[test]
    fn absence_is_what_the_host_says_of_this_very_object() {
        let absent = |said: &str, namespace: Option<&str>| {
            let kind = if namespace.is_some() { Kind::Pod } else { Kind::VolumeAttachment };
            let mut got = None;
            let said = format!("{FAILED}{said}");
            asked(&Err(&said), |cluster| {
                got = Some(cluster.get(kind, namespace, "a", Wanted { fields: NODE, freshness: Freshness::Held }));
            });
            got.unwrap()
        };
        let volume = "Cannot find storage.k8s.io/v1/VolumeAttachment named 'a' inside of namespace 'None'";
        assert_eq!(absent(volume, None), Ok(None));
        assert_eq!(absent(&format!("{volume}\nStack backtrace:\n 0: x"), None), Ok(None));
        assert_eq!(absent("Cannot find v1/Pod named 'a' inside of namespace 'Some(\"d\")'", Some("d")), Ok(None));
        for other in [
            "Cannot find v1/Pod named 'b' inside of namespace 'Some(\"d\")'",
            "Cannot find v1/Pod named 'a' inside of namespace 'None'",
            "x Cannot find v1/Pod named 'a' inside of namespace 'Some(\"d\")'",
        ] {
            assert_eq!(absent(other, Some("d")), Err(CannotRead::Failed), "{other}");
        }
    }

    #[test]
    fn causes_are_told_apart() {
        for (said, expected) in [
            (
                "Host error: Policy has not been granted access to Kubernetes v1/Secret resources. The violation has been reported.",
                CannotRead::NotGranted,
            ),
            ("Host error: Callback evaluation failure: Cannot find resource v1/Nope", CannotRead::NotServed),
            (
                "Host error: Callback evaluation failure: error finding resource example.com/v1 / Widget: ApiError 404",
                CannotRead::NotServed,
            ),
            ("Host error: Callback evaluation failure: ServiceError: client error (Connect)", CannotRead::Down),
            ("Host error: Callback evaluation failure: request timed out", CannotRead::TooLong),
            (
                r#"Host error: Callback evaluation failure: ApiError: pods is forbidden: User "u" cannot list resource "pods" in API group "": code: 403"#,
                CannotRead::Forbidden(Verb::List),
            ),
            ("Host error: anything else", CannotRead::Failed),
            ("", CannotRead::Failed),
        ] {
            assert_eq!(cause(said), expected, "{said}");
        }
    }
}
