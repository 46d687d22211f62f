//! Two documents that must not be applied together: a CSIDriver that moves its tokens into `secrets`, and the DaemonSet
//! that brings the driver to the nodes. Until the last node runs a driver that reads `secrets`, mounts there get no token.
//!
//! A DaemonSet belongs to a driver when its pods name the driver in a path, as the registration socket
//! `/var/lib/kubelet/plugins/NAME/csi.sock` does, or in an argument or a variable. One that registers a driver and names
//! none may belong to any.

use serde_json::Value;
use templates::findings::{NOT_TOGETHER, SECRETS_NEED_SERVERS};

use crate::input::{Document, shown};
use crate::manifest::Identity;
use crate::plain::plain;
use crate::report::{Effect, Found, Report, Subject};

/// A CSIDriver whose tokens are in `secrets`.
#[derive(Debug)]
struct Switched {
    name: String,
    subject: Subject,
    line: usize,
    column: usize,
}

/// A DaemonSet that may be the node plugin of a driver.
#[derive(Debug)]
struct NodePlugin {
    name: String,
    location: String,
    words: Vec<String>,
    names_no_driver: bool,
}

/// What a set of documents has of both.
#[derive(Debug, Default)]
pub struct Rollout {
    switched: Vec<Switched>,
    plugins: Vec<NodePlugin>,
}

impl Rollout {
    /// Takes in an object as it is to be applied, and as it was where that is known. What a cluster stores already (it
    /// has a `uid` and nothing is known from before) is not about to be applied.
    pub fn see(&mut self, identity: &Identity, document: &Document, before: Option<&str>, after: &str) {
        let kind = (identity.group.as_str(), identity.kind.as_str());
        if !matches!(kind, ("storage.k8s.io", "CSIDriver") | ("apps", "DaemonSet")) {
            return;
        }
        let parsed = |json: &str| serde_json::from_str::<Value>(json).unwrap_or_default();
        let (old, new) = (before.map(parsed), parsed(after));
        if old.is_none() && new.pointer("/metadata/uid").is_some() {
            return;
        }
        let full_name = || match (&identity.namespace, identity.name.as_deref().unwrap_or_default()) {
            (Some(namespace), name) => format!("{namespace}/{name}"),
            (None, name) => name.to_owned(),
        };
        if kind.1 == "CSIDriver" {
            if in_secrets(&new) && !old.as_ref().is_some_and(in_secrets) {
                let subject = Subject::of(identity, None, document);
                let place = document.find(IN_SECRETS).key;
                self.switched.push(Switched { name: full_name(), subject, line: place.line, column: place.column });
            }
        } else if old.as_ref().and_then(|old| old.pointer(POD)) != new.pointer(POD) {
            let words = words(&new);
            let registers = words.iter().any(|word| word.contains("node-driver-registrar"));
            let names_no_driver = registers && !words.iter().any(|word| word == "plugins");
            let location = format!("{}:{}", plain(shown(&document.file)), document.line);
            self.plugins.push(NodePlugin { name: full_name(), location, words, names_no_driver });
        }
    }

    /// Adds what is found to the report. `is_change` says whether the documents are about to be applied: then a driver that is
    /// switched alone is warned of too.
    pub fn find(&self, is_change: bool, report: &mut Report) {
        for driver in &self.switched {
            let is_own = |plugin: &&NodePlugin| plugin.names_no_driver || plugin.words.contains(&driver.name);
            let mut own: Vec<&NodePlugin> = self.plugins.iter().filter(is_own).collect();
            own.sort_by_key(|plugin| &plugin.name);
            for plugin in &own {
                let message = format!(
                    "not together: CSIDriver `{}` puts its tokens into `secrets`, and DaemonSet `{}` ({}) brings the driver to \
                     the nodes",
                    driver.name, plugin.name, plugin.location
                );
                let accepted =
                    "accepted: apply the DaemonSet first, wait for `kubectl rollout status`, then apply the CSIDriver";
                report.find_at(&driver.subject, driver.found(NOT_TOGETHER, Effect::Refuses, message, accepted));
            }
            if is_change && own.is_empty() {
                let message = format!(
                    "tokens in `secrets` need new servers: CSIDriver `{}` puts its tokens into `secrets`, which API servers \
                     and kubelets know from 1.35 on",
                    driver.name
                );
                let accepted = "upgrade API servers and kubelets to 1.35 or later first, then the driver on every node, then \
                    apply this: an older API server drops the field";
                report.find_at(&driver.subject, driver.found(SECRETS_NEED_SERVERS, Effect::Warns, message, accepted));
            }
        }
    }
}

impl Switched {
    fn found(&self, code: &str, effect: Effect, message: String, accepted: &str) -> Found {
        let details = vec![format!("{IN_SECRETS}: `true`"), accepted.to_owned()];
        Found {
            code: code.to_owned(),
            effect,
            message,
            details,
            field: Some(IN_SECRETS.to_owned()),
            line: self.line,
            column: self.column,
            silenced: None,
            in_baseline: false,
        }
    }
}

/// The field that moves the tokens.
const IN_SECRETS: &str = "spec.serviceAccountTokenInSecrets";

const POD: &str = "/spec/template/spec";

fn in_secrets(driver: &Value) -> bool {
    let asks = driver.pointer("/spec/tokenRequests").and_then(Value::as_array).is_some_and(|asked| !asked.is_empty());
    asks && driver.pointer("/spec/serviceAccountTokenInSecrets") == Some(&Value::Bool(true))
}

/// What appears between slashes, equals signs and the like in images, arguments, variables and paths of a DaemonSet's pods.
fn words(daemon_set: &Value) -> Vec<String> {
    let list = |pointer: &str| daemon_set.pointer(pointer).and_then(Value::as_array).into_iter().flatten();
    let containers = list("/spec/template/spec/containers").chain(list("/spec/template/spec/initContainers"));
    let mut texts: Vec<&Value> = Vec::new();
    for container in containers {
        texts.extend(container.get("image"));
        for arguments in ["command", "args"] {
            texts.extend(container.get(arguments).and_then(Value::as_array).into_iter().flatten());
        }
        let variables = container.get("env").and_then(Value::as_array).into_iter().flatten();
        texts.extend(variables.filter_map(|variable| variable.get("value")));
    }
    texts.extend(list("/spec/template/spec/volumes").filter_map(|volume| volume.pointer("/hostPath/path")));
    let texts = texts.iter().filter_map(|text| text.as_str());
    texts.flat_map(|text| text.split(['/', '=', ':', ',', ' '])).map(str::to_owned).collect()
}
