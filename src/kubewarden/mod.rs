//! The Kubewarden face: JSON bytes in, JSON bytes out, registered with waPC when the module starts.
//!
//! No function here returns an error: the answer itself refuses what cannot be read. The host would turn a guest error
//! into a status of 500, and a trap into a message without content.

pub mod host;

use std::mem::ManuallyDrop;

use serde::Serialize;

use self::host::{Call, HostCluster};
use crate::kubernetes::field::{self, Field};
use crate::rules;
use crate::rules::cluster::Cluster;
#[cfg(not(target_arch = "wasm32"))]
use crate::rules::cluster::NoCluster;
use crate::rules::decision::{Decision, SettingsVerdict};

/// `validate`: judges the request in `{"settings": …, "request": …}`, where the cluster cannot be read.
#[cfg(not(target_arch = "wasm32"))]
pub fn validate(payload: &[u8]) -> Vec<u8> {
    to_json(&judge(payload, &NoCluster))
}

/// `validate`, in a cluster that is read through calls to a host.
pub fn validate_with(payload: &[u8], call: Call<'_>) -> Vec<u8> {
    to_json(&judge(payload, &HostCluster { call }))
}

fn judge(payload: &[u8], cluster: &dyn Cluster) -> Decision {
    let document = match field::parse(payload) {
        // The instance ends with the call, and its memory with it: taking the document apart first is time for nothing.
        Ok(document) => ManuallyDrop::new(document),
        Err(unreadable) => return Decision::unreadable(&unreadable),
    };
    let root = Field::root("", &document);
    match (root.get("settings"), root.get("request")) {
        (Ok(settings), Ok(request)) => rules::judge_documents(&settings, &request, cluster),
        (Err(unreadable), _) | (_, Err(unreadable)) => Decision::unreadable(&unreadable),
    }
}

/// `validate_settings`: whether the settings can be used, and if not, why, in a sentence.
pub fn validate_settings(payload: &[u8]) -> Vec<u8> {
    let read = field::parse(payload)
        .and_then(|document| rules::read_settings(&Field::root("settings", &document)).map(|_settings| ()));
    to_json(&SettingsVerdict::from(read))
}

/// `protocol_version`: the version of Kubewarden's protocol that this module speaks.
pub fn protocol_version() -> Vec<u8> {
    to_json(&"v1")
}

fn to_json(answer: &impl Serialize) -> Vec<u8> {
    // The answers are plain structs with string keys, which always serialise; were that ever untrue, no answer at all
    // is what the host refuses.
    serde_json::to_vec(answer).unwrap_or_default()
}

/// Called by the host on every fresh instance.
#[cfg(target_arch = "wasm32")]
#[unsafe(no_mangle)]
pub extern "C" fn wapc_init() {
    wapc_guest::register_function("validate", |payload| {
        Ok(validate_with(payload, &|operation, payload| {
            wapc_guest::host_call("kubewarden", "kubernetes", operation, payload).map_err(|error| error.to_string())
        }))
    });
    wapc_guest::register_function("validate_settings", |payload| Ok(validate_settings(payload)));
    wapc_guest::register_function("protocol_version", |_| Ok(protocol_version()));
}
