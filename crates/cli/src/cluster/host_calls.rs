//! Answers what a module asks its host about the cluster, in the words of the policy server.

use std::collections::BTreeSet;

use host::HostCalls;
use host::kubernetes::{Asked, FAILURE, Get, List, asked, not_found, not_granted};
use placement_guard::kubernetes::kind::Kind;
use placement_guard::kubernetes::picked::WHOLE;
use placement_guard::rules::cluster::{CannotRead, Cluster, Freshness, Wanted};
use serde_json::Value;

use super::Surroundings;

impl HostCalls for Surroundings {
    fn call(&self, binding: &str, namespace: &str, operation: &str, payload: &[u8]) -> Result<Vec<u8>, String> {
        match asked(binding, namespace, operation, payload)? {
            Asked::ToLog => Ok(Vec::new()),
            Asked::ForOne(get) => self.one(&get),
            Asked::ForAll(list) => self.all(&list),
        }
    }
}

impl Surroundings {
    fn one(&self, get: &Get) -> Result<Vec<u8>, String> {
        let Get { api_version, kind, name, namespace, field_masks, .. } = get;
        let known = known(api_version, kind)?;
        if known.is_namespaced() && namespace.is_none() {
            return Err(failure(&format!(
                "Resource {api_version}/{kind} is namespaced, but no namespace was provided"
            )));
        }
        let wanted = Wanted { fields: WHOLE, freshness: Freshness::Now };
        let found = Cluster::get(self, known, namespace.as_deref().filter(|_| known.is_namespaced()), name, wanted);
        match found.map_err(|cause| said(cause, known))? {
            Some(object) => masked(&object, field_masks.as_ref(), pick),
            None => Err(not_found(api_version, kind, name, namespace.as_deref())),
        }
    }

    fn all(&self, list: &List) -> Result<Vec<u8>, String> {
        let List { api_version, kind, namespace, label_selector, field_selector, field_masks } = list;
        let known = known(api_version, kind)?;
        if namespace.is_some() || label_selector.is_some() || field_selector.is_some() {
            return Err(failure("lists of a namespace or by a selector are not supported"));
        }
        let listed = Cluster::list(self, known, WHOLE).map_err(|cause| said(cause, known))?;
        masked(&listed, field_masks.as_ref(), |list, masks| {
            for item in list.get_mut("items").and_then(Value::as_array_mut).into_iter().flatten() {
                pick(item, masks);
            }
        })
    }
}

fn known(api_version: &str, kind: &str) -> Result<Kind, String> {
    let known = Kind::ALL.into_iter().find(|known| (known.api_version(), known.name()) == (api_version, kind));
    known.ok_or_else(|| not_granted(api_version, kind))
}

fn failure(problem: &str) -> String {
    format!("{FAILURE}{problem}")
}

fn said(cause: CannotRead, kind: Kind) -> String {
    let (api_version, name, plural) = (kind.api_version(), kind.name(), kind.resource());
    match cause {
        CannotRead::NotGiven | CannotRead::NotGranted => not_granted(api_version, name),
        CannotRead::Forbidden(which) => failure(&format!(
            "ApiError: {plural} is forbidden: User \"unknown\" cannot {} resource \"{plural}\" in API group \"{}\" at the cluster scope: Forbidden (Status {{ status: Some(Failure), code: 403 }})",
            which.name(),
            kind.group()
        )),
        CannotRead::NotServed => failure(&format!("Cannot find resource {api_version}/{name}")),
        CannotRead::Down => failure("ServiceError: client error (Connect)"),
        CannotRead::TooLong => failure("ServiceError: deadline has elapsed"),
        CannotRead::Garbled | CannotRead::Failed => failure("the objects cannot be read"),
    }
}

/// JSON without the fields that were not asked for: all of a large cluster would not fit into the memory of a module.
fn masked(
    json: &[u8],
    masks: Option<&BTreeSet<String>>,
    keep: impl FnOnce(&mut Value, &[&str]),
) -> Result<Vec<u8>, String> {
    let Some(masks) = masks.filter(|masks| !masks.is_empty()) else { return Ok(json.to_vec()) };
    let always = ["apiVersion", "kind", "metadata.name", "metadata.namespace"];
    let masks: Vec<&str> = masks.iter().map(String::as_str).chain(always).collect();
    let mut value: Value = serde_json::from_slice(json).map_err(|error| failure(&error.to_string()))?;
    keep(&mut value, &masks);
    serde_json::to_vec(&value).map_err(|error| failure(&error.to_string()))
}

/// As in Kubewarden's field masks, lists are passed through.
fn pick(value: &mut Value, masks: &[&str]) {
    match value {
        Value::Array(elements) => elements.iter_mut().for_each(|element| pick(element, masks)),
        Value::Object(members) => members.retain(|name, member| {
            if masks.contains(&name.as_str()) {
                return true;
            }
            let below = masks.iter().filter_map(|mask| mask.strip_prefix(name.as_str())?.strip_prefix('.'));
            let below: Vec<&str> = below.collect();
            pick(member, &below);
            !below.is_empty()
        }),
        _ => {}
    }
}
