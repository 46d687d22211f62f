//! Two documents that must not be applied together: a CSIDriver that moves its tokens into `secrets`, and the DaemonSet
//! that brings the driver to the nodes. Until the last node runs a driver that reads `secrets`, mounts there get no token.
//!
//! A DaemonSet belongs to a driver when its pods name the driver in a path, as the registration socket
//! `/var/lib/kubelet/plugins/NAME/csi.sock` does, or in an argument or a variable. One that registers a driver and names
//! none may belong to any.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

use crate::manifest::Identity;

/// A CSIDriver whose tokens are in `secrets`.
#[derive(Debug)]
pub struct Switched {
    pub name: String,
    pub location: String,
}

/// A DaemonSet that may be the node plugin of a driver.
#[derive(Debug)]
pub struct NodePlugin {
    pub name: String,
    pub location: String,
    words: Vec<String>,
    names_no_driver: bool,
}

/// Two documents that must not be applied together.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NotTogether {
    pub csi_driver: String,
    pub csi_driver_at: String,
    pub daemon_set: String,
    pub daemon_set_at: String,
}

impl fmt::Display for NotTogether {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "not together: CSIDriver `{}` ({}) puts its tokens into `secrets`, and DaemonSet `{}` ({}) brings the driver \
             to the nodes; apply the DaemonSet first, wait for `kubectl rollout status`, then apply the CSIDriver",
            self.csi_driver, self.csi_driver_at, self.daemon_set, self.daemon_set_at
        )
    }
}

/// What a set of documents has of both.
#[derive(Debug, Default)]
pub struct Rollout {
    pub switched: Vec<Switched>,
    pub plugins: Vec<NodePlugin>,
}

impl Rollout {
    /// Takes in an object as it is to be applied, and as it was where that is known. What a cluster stores already (it
    /// has a `uid` and nothing is known from before) is not about to be applied.
    pub fn see(&mut self, identity: &Identity, location: impl Fn() -> String, before: Option<&str>, after: &str) {
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
                self.switched.push(Switched { name: full_name(), location: location() });
            }
        } else if old.as_ref().and_then(|old| old.pointer(POD)) != new.pointer(POD) {
            let words = words(&new);
            let registers = words.iter().any(|word| word.contains("node-driver-registrar"));
            let names_no_driver = registers && !words.iter().any(|word| word == "plugins");
            self.plugins.push(NodePlugin { name: full_name(), location: location(), words, names_no_driver });
        }
    }

    /// Every pair, in order.
    pub fn not_together(&self) -> Vec<NotTogether> {
        let pairs = self.switched.iter().flat_map(|driver| {
            let plugins = self.plugins.iter();
            let own = plugins.filter(|plugin| plugin.names_no_driver || plugin.words.contains(&driver.name));
            own.map(|plugin| NotTogether {
                csi_driver: driver.name.clone(),
                csi_driver_at: driver.location.clone(),
                daemon_set: plugin.name.clone(),
                daemon_set_at: plugin.location.clone(),
            })
        });
        let mut pairs: Vec<NotTogether> = pairs.collect();
        pairs.sort();
        pairs
    }
}

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
