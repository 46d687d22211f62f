//! The requests whose cost is measured: natively, and in the built module.

use std::fmt::{self, Display, Formatter};

use serde_json::{Value, json};

use crate::recorded;

/// A payload of `validate`, with what must be found in the answer, so that nothing is measured that went wrong.
#[derive(Clone, Copy)]
pub struct Measured {
    pub name: &'static str,
    pub payload: fn() -> Vec<u8>,
    pub answer: &'static str,
}

impl Display for Measured {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        self.name.fmt(out)
    }
}

/// What the policy is asked all day.
pub const TYPICAL: Measured = Measured { name: "typical PV update", payload: typical_update, answer: "shifted" };

/// A megabyte, nearly all of it node affinity.
pub const HOST_NAMES: Measured =
    Measured { name: "5,000 host names in 5,000", payload: || host_names(true), answer: "equivalent" };

/// The same, but for the question: what it costs less than [`HOST_NAMES`] is what the algebra costs.
pub const HOST_NAMES_UNCHANGED: Measured =
    Measured { name: "5,000 host names, unchanged", payload: || host_names(false), answer: "unchanged" };

/// Every measured request.
pub const MEASURED: [Measured; 7] = [
    TYPICAL,
    HOST_NAMES,
    HOST_NAMES_UNCHANGED,
    Measured { name: "pigeonhole, 10 keys", payload: || pigeonhole(10), answer: "widened" },
    Measured { name: "pigeonhole, 12 keys", payload: || pigeonhole(12), answer: "undecided" },
    Measured {
        name: "20 tolerations, 200 allowed",
        payload: || tolerations(20, 200),
        answer: "toleration-not-allowed",
    },
    Measured {
        name: "5,000 tolerations, 200 allowed",
        payload: || tolerations(5_000, 200),
        answer: "toleration-not-allowed",
    },
];

fn typical_update() -> Vec<u8> {
    let request = recorded("pv-update-zone-to-region").unwrap_or_else(|error| panic!("{error}"));
    payload(json!({"volumeNodeAffinity": {}}), request)
}

/// The recorded update, with other terms.
fn update(old: Vec<Value>, new: Vec<Value>) -> Vec<u8> {
    let mut request = recorded("pv-update-zone-to-region").unwrap_or_else(|error| panic!("{error}"));
    for (object, terms) in [("oldObject", old), ("object", new)] {
        request[object]["spec"]["nodeAffinity"] = json!({"required": {"nodeSelectorTerms": terms}});
        request[object]["metadata"]["labels"] = Value::Null;
    }
    payload(json!({"volumeNodeAffinity": {}}), request)
}

fn payload(settings: Value, request: Value) -> Vec<u8> {
    json!({"settings": settings, "request": request}).to_string().into_bytes()
}

fn has(key: &str, values: &[String]) -> Value {
    json!({"key": key, "operator": "In", "values": values})
}

/// 5,000 terms of one host name each, and the same again, backwards if asked.
fn host_names(backwards: bool) -> Vec<u8> {
    let term =
        |number: usize| json!({"matchExpressions": [has("kubernetes.io/hostname", &[format!("node-{number}")])]});
    let old: Vec<Value> = (0..5_000).map(term).collect();
    let new = if backwards { old.iter().rev().cloned().collect() } else { old.clone() };
    update(old, new)
}

/// The old volume gives each key one of too few values; the new one admits every node on which two keys have the same.
/// So no node is lost, which reasoning by cases takes factorial time to see.
fn pigeonhole(keys: usize) -> Vec<u8> {
    let key = |number: usize| format!("example.com/key-{number}");
    let values: Vec<String> = (1..keys).map(|number| format!("value-{number}")).collect();
    let every: Vec<Value> = (0..keys).map(|number| has(&key(number), &values)).collect();
    let mut new = Vec::new();
    for first in 0..keys {
        for second in 0..first {
            for value in &values {
                let same = [first, second].map(|number| has(&key(number), std::slice::from_ref(value)));
                new.push(json!({"matchExpressions": same}));
            }
        }
    }
    update(vec![json!({"matchExpressions": every})], new)
}

/// A pod whose tolerations are numbers of as many keys as it may tolerate, each in two halves, the last half without
/// an end.
fn tolerations(count: usize, allowed: usize) -> Vec<u8> {
    let key = |number: usize| format!("example.com/key-{}", number % (allowed / 2));
    let entries: Vec<Value> = (0..allowed)
        .map(|number| match number < allowed / 2 {
            true => json!({"key": key(number), "operator": "Lt", "value": "50", "effect": "NoExecute"}),
            false => json!({"key": key(number), "operator": "Gt", "value": "48", "effect": "NoExecute"}),
        })
        .collect();
    let wanted: Vec<Value> = (0..count)
        .map(|number| json!({"key": key(number), "operator": "Gt", "value": number.to_string(), "effect": "NoExecute"}))
        .chain([json!({"key": key(0), "operator": "Exists", "effect": "NoExecute"})])
        .collect();
    let mut request = recorded("pod-create-payment-lt5").unwrap_or_else(|error| panic!("{error}"));
    request["object"]["spec"]["tolerations"] = Value::Array(wanted);
    payload(json!({"tolerations": {"allowed": entries}}), request)
}
