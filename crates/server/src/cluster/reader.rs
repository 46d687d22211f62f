//! Answers what a module asks about the cluster during one evaluation.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use host::HostCalls;
use host::kubernetes::{Asked, FAILURE, Get, List, asked, not_found, not_granted};

use super::Cluster;
use super::fields::Fields;
use super::kind::{Resource, resource};
use super::mirror::Mirror;
use super::pages;
use super::trouble::{Cause, Trouble};

/// Answers the calls of one evaluation.
#[derive(Debug)]
pub struct Reader {
    cluster: Arc<Cluster>,
    /// When the evaluation has to go on by itself, to say what it could not read.
    until: Instant,
}

impl Reader {
    /// For an evaluation that begins now and may take so long. Half of that is for the API server.
    pub fn new(cluster: Arc<Cluster>, limit: Duration) -> Self {
        let now = Instant::now();
        let until = limit.checked_div(2).and_then(|half| now.checked_add(half)).unwrap_or(now);
        Reader { cluster, until }
    }

    fn mirror(&self, api_version: &str, kind: &str) -> Result<&Mirror, String> {
        let is_asked =
            |mirror: &&Arc<Mirror>| (resource(mirror.kind).api_version, mirror.kind.name()) == (api_version, kind);
        let found = self.cluster.mirrors.iter().find(is_asked);
        found.map(|mirror| &**mirror).ok_or_else(|| not_granted(api_version, kind))
    }

    fn get(&self, get: &Get) -> Result<Vec<u8>, String> {
        let mirror = self.mirror(&get.api_version, &get.kind)?;
        let (api_version, kind, name) = (&get.api_version, &get.kind, &get.name);
        if mirror.kind.is_namespaced() && get.namespace.is_none() {
            let problem = format!("Resource {api_version}/{kind} is namespaced, but no namespace was provided");
            return Err(format!("{FAILURE}{problem}"));
        }
        // Of other kinds the policy server ignores it, too.
        let namespace = get.namespace.as_deref().filter(|_| mirror.kind.is_namespaced());
        let absent = || not_found(api_version, kind, name, get.namespace.as_deref());
        if !can_be_a_name(name) || !namespace.is_none_or(can_be_a_name) {
            return Err(absent());
        }
        let Some(fields) = wanted(mirror, get.field_masks.as_ref())? else {
            // Only a part of the fields is held.
            let object = self.fetch(mirror, namespace, name).map_err(|trouble| self.failed(mirror, &trouble))?;
            return object.map(String::into_bytes).ok_or_else(absent);
        };
        let held = || mirror.read(|objects| objects.get(namespace, name).map(str::to_owned));
        let object = match get.disable_cache {
            // A request for no field asks whether the kind can be read, and what is held answers that.
            _ if asks_for_nothing(get) => held().or_else(|trouble| match trouble.cause {
                Cause::Down | Cause::TooLong => Err(trouble),
                _ => self.fetch(mirror, namespace, name),
            }),
            true => self.fetch(mirror, namespace, name),
            // The policy server does not hold that there is no object, either: it may be newer than what is held.
            false => match held() {
                Ok(Some(object)) => Ok(Some(object)),
                Ok(None) | Err(_) => self.fetch(mirror, namespace, name),
            },
        };
        let object = object.and_then(|object| object.map(|object| one(mirror, &object, &fields)).transpose());
        object.map_err(|trouble| self.failed(mirror, &trouble))?.ok_or_else(absent)
    }

    /// Asks the API server for one object.
    fn fetch(&self, mirror: &Mirror, namespace: Option<&str>, name: &str) -> Result<Option<String>, Trouble> {
        let left = self.until.saturating_duration_since(Instant::now()).min(self.cluster.limits.get);
        if left.is_zero() {
            return Err(Trouble::too_long());
        }
        let path = format!("{}/{name}", resource(mirror.kind).path(namespace));
        let request = pages::request(&path)?;
        // This is a thread that may block.
        let asked = self.cluster.runtime.block_on(async {
            let asking = self.cluster.client.request_text(request);
            tokio::time::timeout(left, asking).await
        });
        match asked {
            Err(_elapsed) => Err(Trouble::too_long()),
            Ok(Ok(object)) => Ok(Some(object)),
            Ok(Err(kube::Error::Api(status))) if is_about(&status, name) => Ok(None),
            Ok(Err(error)) => Err(Trouble::of(resource(mirror.kind), &error)),
        }
    }

    fn list(&self, list: &List) -> Result<Vec<u8>, String> {
        let mirror = self.mirror(&list.api_version, &list.kind)?;
        let (api_version, kind) = (&list.api_version, &list.kind);
        if list.namespace.is_some() && !mirror.kind.is_namespaced() {
            let problem = "is cluster wide. Cannot search for it inside of a namespace";
            return Err(format!("{FAILURE}resource {api_version}/{kind} {problem}"));
        }
        if list.label_selector.is_some() || list.field_selector.is_some() {
            return Err(format!("{FAILURE}lists by selector are not supported"));
        }
        let Some(fields) = wanted(mirror, list.field_masks.as_ref())? else {
            let problem = format!("only some fields of {api_version}/{kind} are held; the list needs field masks");
            return Err(format!("{FAILURE}{problem}"));
        };
        let answer = mirror.read(|objects| {
            let head = format!(r#"{{"apiVersion":"{api_version}","kind":"{kind}List","metadata":{{}},"items":["#);
            let mut out = String::with_capacity(objects.bytes().saturating_add(head.len()).saturating_add(2));
            out.push_str(&head);
            let mut is_first = true;
            for object in objects.each(list.namespace.as_deref()) {
                if !is_first {
                    out.push(',');
                }
                is_first = false;
                fields.pick(object, &mut out).map_err(|error| Trouble::garbled(&error))?;
            }
            out.push_str("]}");
            Ok(out.into_bytes())
        });
        answer.and_then(|answer| answer).map_err(|trouble| self.failed(mirror, &trouble))
    }

    fn failed(&self, mirror: &Mirror, trouble: &Trouble) -> String {
        self.cluster.metrics.cluster_error(mirror.kind.name(), trouble.cause.name());
        failure(trouble)
    }
}

impl HostCalls for Reader {
    fn call(&self, binding: &str, namespace: &str, operation: &str, payload: &[u8]) -> Result<Vec<u8>, String> {
        match asked(binding, namespace, operation, payload)? {
            Asked::ToLog => Ok(Vec::new()),
            Asked::ForOne(get) => self.get(&get),
            Asked::ForAll(list) => self.list(&list),
        }
    }
}

fn failure(trouble: &Trouble) -> String {
    format!("{FAILURE}{}", trouble.text)
}

/// What every object says, whatever is held of it.
const ALWAYS: [&str; 2] = ["apiVersion", "kind"];

/// The fields that are asked for; none for all of them.
fn wanted(mirror: &Mirror, masks: Option<&BTreeSet<String>>) -> Result<Option<Fields>, String> {
    let Some(masks) = masks.filter(|masks| !masks.is_empty()) else { return Ok(None) };
    let is_held = |mask: &String| ALWAYS.contains(&&**mask) || mirror.kept.contain(mask);
    match masks.iter().find(|mask| !is_held(mask)) {
        None => Ok(Some(Fields::of_masks(masks))),
        Some(mask) => {
            let Resource { api_version, kind, .. } = resource(mirror.kind);
            let problem = format!("the field `{mask}` of {api_version}/{kind} is not held");
            Err(format!("{FAILURE}{problem}; use a module of this program's version"))
        }
    }
}

fn asks_for_nothing(get: &Get) -> bool {
    let masks = get.field_masks.as_ref();
    masks.is_some_and(|masks| !masks.is_empty() && masks.iter().all(|mask| ALWAYS.contains(&&**mask)))
}

/// An object as the answer to a get: the list that it came from has no kind for each of its items.
fn one(mirror: &Mirror, object: &str, fields: &Fields) -> Result<Vec<u8>, Trouble> {
    let mut kept = String::with_capacity(object.len());
    let garbled = |error: serde_json::Error| Trouble::garbled(&error);
    // What comes from the API server has more than what is held.
    mirror.kept.pick(object, &mut kept).map_err(garbled)?;
    let mut picked = String::with_capacity(kept.len());
    fields.pick(&kept, &mut picked).map_err(garbled)?;
    let Resource { api_version, kind, .. } = resource(mirror.kind);
    let members = picked.strip_prefix('{').unwrap_or(&picked);
    let separator = if members.starts_with('}') { "" } else { "," };
    Ok(format!(r#"{{"apiVersion":"{api_version}","kind":"{kind}"{separator}{members}"#).into_bytes())
}

/// Whether an answer of 404 is about the object, and not about its kind.
fn is_about(status: &kube::core::Status, name: &str) -> bool {
    const NOT_FOUND: u16 = 404;
    let details = status.details.as_ref();
    status.code == NOT_FOUND && details.is_some_and(|details| details.name == name)
}

/// Whether an object can have this name, so that it can be a part of a path.
fn can_be_a_name(name: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'.');
    !name.is_empty() && name.len() <= 253 && name.bytes().all(is_allowed) && !name.starts_with('.')
}
