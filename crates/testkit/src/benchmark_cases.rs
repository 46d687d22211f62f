//! The requests whose cost is measured: natively, and in the built module.

use std::fmt::{self, Display, Formatter};

use serde_json::{Value, json};

use crate::recorded;

/// A payload of `validate`, with what must be found in the answer, so that nothing is measured that went wrong.
#[derive(Clone, Copy)]
pub struct BenchmarkCase {
    pub name: &'static str,
    pub payload: fn() -> Vec<u8>,
    pub answer: &'static str,
}

impl Display for BenchmarkCase {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        self.name.fmt(out)
    }
}

/// What the policy is asked all day.
pub const TYPICAL: BenchmarkCase =
    BenchmarkCase { name: "typical PV update", payload: typical_update, answer: "shifted" };

/// A megabyte, nearly all of it node affinity.
pub const HOST_NAMES: BenchmarkCase =
    BenchmarkCase { name: "5,000 host names in 5,000", payload: || host_names(true), answer: "equivalent" };

/// The same, but for the question: what it costs less than [`HOST_NAMES`] is what the algebra costs.
pub const HOST_NAMES_UNCHANGED: BenchmarkCase =
    BenchmarkCase { name: "5,000 host names, unchanged", payload: || host_names(false), answer: "unchanged" };

/// The requests of the benchmarks.
pub const BENCHMARK_CASES: [BenchmarkCase; 7] = [
    TYPICAL,
    HOST_NAMES,
    HOST_NAMES_UNCHANGED,
    BenchmarkCase { name: "pigeonhole, 10 keys", payload: || pigeonhole(10), answer: "widened" },
    BenchmarkCase { name: "pigeonhole, 12 keys", payload: || pigeonhole(12), answer: "undecided" },
    BenchmarkCase {
        name: "20 tolerations, 200 allowed",
        payload: || tolerations(20, 200),
        answer: "toleration-not-allowed",
    },
    BenchmarkCase {
        name: "5,000 tolerations, 200 allowed",
        payload: || tolerations(5_000, 200),
        answer: "request-too-large",
    },
];

/// The costliest requests known: what each makes slow, not what anyone would write.
pub const WORST: [BenchmarkCase; 24] = [
    HOST_NAMES,
    worst("5,000 tolerations, 200 allowed", || tolerations(5_000, 200)),
    worst("5,000 tolerations, 5,000 allowed", || tolerations(5_000, 5_000)),
    worst("20,000 hostPath volumes", host_paths),
    worst("20,000 sidecar containers", sidecars),
    worst("20,000 ephemeral volumes", ephemeral_volumes),
    worst("20,000 extended resources", extended_resources),
    worst("a volume of 20,000 keys in one term", || many_keys(1, 20_000)),
    worst("a volume of 20,000 keys in a term each", || many_keys(20_000, 1)),
    worst("a volume of 20,000 keys in 100 terms", || many_keys(100, 200)),
    worst("pigeonhole, 12 keys", || pigeonhole(12)),
    worst("pigeonhole, 30 keys", || pigeonhole(30)),
    worst("430 terms of 3 keys", || scattered(430, 3, 12, 4)),
    worst("2,000 terms of 2 keys with many values", || scattered(2_000, 2, 60, 20)),
    worst("60 terms of 6 keys with many values", || scattered(60, 6, 200, 80)),
    worst("3,000 overlapping lists of values", overlapping),
    worst("5,000 long label values", long_values),
    worst("10,000 thresholds", thresholds),
    worst("a grid of 18 × 18 × 18 terms", || grid(18)),
    worst("4,000 zones in labels, 4,000 terms", zone_labels),
    worst("2,000 implications in a chain", || implications(2_000)),
    worst("300 aliases in a chain", || aliases(300)),
    worst("2,000 terms, 400 facts", || facts_and_terms(2_000, 400)),
    worst("a local volume of 4,000 terms", local_volume),
];

const fn worst(name: &'static str, payload: fn() -> Vec<u8>) -> BenchmarkCase {
    BenchmarkCase { name, payload, answer: "" }
}

/// The same payload, every byte of it parsed and nothing of it judged: what it costs less is what judging costs.
pub fn only_parsed(payload: &[u8]) -> Vec<u8> {
    let mut document: Value = serde_json::from_slice(payload).unwrap_or_else(|error| panic!("{error}"));
    document["unread"] = std::mem::replace(&mut document["settings"], json!({"nodeTaints": {}}));
    document["request"]["operation"] = json!("DELETE");
    document.to_string().into_bytes()
}

fn typical_update() -> Vec<u8> {
    let request = recorded("pv-update-zone-to-region").unwrap_or_else(|error| panic!("{error}"));
    payload(json!({"volumeNodeAffinity": {}}), request)
}

/// The recorded update, with other terms.
fn update(old: Vec<Value>, new: Vec<Value>) -> Vec<u8> {
    update_under(json!({"volumeNodeAffinity": {}}), old, new)
}

fn update_under(settings: Value, old: Vec<Value>, new: Vec<Value>) -> Vec<u8> {
    let mut request = recorded("pv-update-zone-to-region").unwrap_or_else(|error| panic!("{error}"));
    for (object, terms) in [("oldObject", old), ("object", new)] {
        request[object]["spec"]["nodeAffinity"] = json!({"required": {"nodeSelectorTerms": terms}});
        request[object]["metadata"]["labels"] = Value::Null;
    }
    payload(settings, request)
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

/// The recorded creation of a pod, with another spec, updated from the same with `was` of it otherwise.
fn pod(settings: Value, spec: Value, was: Option<Value>) -> Vec<u8> {
    let mut request = recorded("pod-create-payment-lt5").unwrap_or_else(|error| panic!("{error}"));
    request["object"]["spec"] = spec;
    if let Some(was) = was {
        request["operation"] = json!("UPDATE");
        request["oldObject"] = request["object"].clone();
        request["oldObject"]["spec"] = was;
    }
    payload(settings, request)
}

fn host_paths() -> Vec<u8> {
    let spec = |at: &str| {
        let (volumes, mounts): (Vec<Value>, Vec<Value>) = (0..20_000)
            .map(|number| {
                let name = format!("v{number}");
                let mount = json!({"name": name, "mountPath": format!("/m/{number}")});
                (json!({"name": name, "hostPath": {"path": format!("{at}/{number}")}}), mount)
            })
            .unzip();
        json!({"volumes": volumes, "containers": [{"name": "c", "image": "i", "volumeMounts": mounts}]})
    };
    pod(json!({"localVolumes": {"hostPaths": [{"prefix": "/a"}]}}), spec("/b"), Some(spec("/c")))
}

fn sidecars() -> Vec<u8> {
    let spec = |tag: &str| {
        let image = |number: usize| format!("registry.k8s.io/sig-storage/csi-provisioner:v{tag}.{number}");
        let containers: Vec<Value> =
            (0..20_000).map(|number| json!({"name": format!("c{number}"), "image": image(number)})).collect();
        json!({"containers": containers})
    };
    pod(json!({"accessModes": {"csiSidecars": true}}), spec("1.0"), Some(spec("1.1")))
}

fn ephemeral_volumes() -> Vec<u8> {
    let spec = |mode: &str| {
        let volume = |number: usize| json!({"name": format!("v{number}"), "ephemeral": {"volumeClaimTemplate": {"spec": {"accessModes": [mode]}}}});
        json!({"volumes": (0..20_000).map(volume).collect::<Vec<Value>>()})
    };
    let settings = json!({"accessModes": {"singleWriter": [{"level": "require"}]}});
    pod(settings, spec("ReadWriteOnce"), Some(spec("ReadWriteMany")))
}

fn extended_resources() -> Vec<u8> {
    let amounts: serde_json::Map<String, Value> =
        (0..20_000).map(|number| (format!("example.com/r{number}"), json!("1"))).collect();
    let tolerations: Vec<Value> =
        (0..200).map(|number| json!({"key": format!("example.com/r{number}"), "operator": "Exists"})).collect();
    let spec = json!({
        "containers": [{"name": "c", "image": "i", "resources": {"requests": amounts}}],
        "tolerations": tolerations,
    });
    pod(json!({"tolerations": {"allowed": []}}), spec, None)
}

/// So many terms of so many keys, each key in one term only, and the same with one value changed.
fn many_keys(terms: usize, keys: usize) -> Vec<u8> {
    let all = |last: &str| -> Vec<Value> {
        (0..terms)
            .map(|term| {
                let key = |number: usize| format!("example.com/k{}", term * keys + number);
                let value = |number: usize| String::from(if number + 1 == keys { last } else { "a" });
                let requirements: Vec<Value> = (0..keys).map(|number| has(&key(number), &[value(number)])).collect();
                json!({"matchExpressions": requirements})
            })
            .collect()
    };
    update(all("a"), all("b"))
}

/// Numbers that look random and are always the same.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or_default() % bound
    }
}

/// So many terms over as many keys, each with some of so many values; and others like them.
fn scattered(terms: usize, keys: usize, values: usize, listed: usize) -> Vec<u8> {
    let mut numbers = Numbers(terms as u64);
    let mut some = |terms: usize| -> Vec<Value> {
        let mut requirement = |key: usize| {
            let listed: Vec<String> = (0..listed).map(|_| format!("v{}", numbers.below(values))).collect();
            has(&format!("k{key}"), &listed)
        };
        (0..terms).map(|_| json!({"matchExpressions": (0..keys).map(&mut requirement).collect::<Vec<_>>()})).collect()
    };
    let old = some(terms / 8 + 1);
    update(old, some(terms))
}

fn overlapping() -> Vec<u8> {
    let values: Vec<String> = (0..60).map(|number| format!("v{number}")).collect();
    let term = |number: usize| {
        let (low, high) = (number % 40, 41 + number / 40 % 19);
        json!({"matchExpressions": [has("a", &values[low..high]), has(&format!("b{}", number % 7), &values[..number % 59 + 1])]})
    };
    update((0..3_000).map(term).collect(), (0..3_000).rev().map(term).collect())
}

fn long_values() -> Vec<u8> {
    let key = format!("{}/{}", "a".repeat(63), "k".repeat(63));
    let value = |number: usize| format!("{}{number:05}", "v".repeat(58));
    let term = |number: usize| json!({"matchExpressions": [has(&key, &[value(number), value(number + 1)])]});
    update((0..5_000).map(term).collect(), (0..5_000).rev().map(term).collect())
}

fn thresholds() -> Vec<u8> {
    let term = |number: usize| {
        let beyond = |operator: &str, by: usize| json!({"key": "n", "operator": operator, "values": [(number * 3 + by).to_string()]});
        json!({"matchExpressions": [beyond("Gt", 0), beyond("Lt", 3)]})
    };
    update((0..5_000).map(term).collect(), (1..5_000).rev().map(term).collect())
}

/// Every combination of three keys with so many values each: unions that merge, one key after the other.
fn grid(values: usize) -> Vec<u8> {
    let cell = |number: usize| {
        let value = |key: usize| format!("v{}", number / values.pow(key as u32) % values);
        json!({"matchExpressions": (0..3).map(|key| has(&format!("k{key}"), &[value(key)])).collect::<Vec<_>>()})
    };
    let cells = values.pow(3);
    update((0..cells).map(cell).collect(), (1..cells).rev().map(cell).collect())
}

fn zone_labels() -> Vec<u8> {
    let mut request = recorded("pv-update-zone-to-region").unwrap_or_else(|error| panic!("{error}"));
    let zones: Vec<String> = (0..4_000).map(|number| format!("zone-{number}")).collect();
    let term =
        |zone: &String| json!({"matchExpressions": [has("topology.kubernetes.io/zone", std::slice::from_ref(zone))]});
    for (object, skipped) in [("oldObject", 1), ("object", 0)] {
        let terms: Vec<Value> = zones.iter().skip(skipped).map(term).collect();
        request[object]["spec"]["nodeAffinity"] = json!({"required": {"nodeSelectorTerms": terms}});
        let listed = zones[skipped..].join("__");
        request[object]["metadata"]["labels"] = json!({
            "topology.kubernetes.io/zone": listed, "topology.kubernetes.io/region": listed,
            "failure-domain.beta.kubernetes.io/zone": listed, "failure-domain.beta.kubernetes.io/region": listed,
        });
    }
    payload(json!({"volumeNodeAffinity": {}}), request)
}

fn implications(count: usize) -> Vec<u8> {
    let at = |number: usize| json!({"matchExpressions": [has(&format!("k{number}"), &[String::from("a")])]});
    let steps: Vec<Value> = (0..count).rev().map(|number| json!({"if": at(number), "then": at(number + 1)})).collect();
    update_under(json!({"volumeNodeAffinity": {"topology": {"implications": steps}}}), vec![at(0)], vec![at(count)])
}

fn aliases(count: usize) -> Vec<u8> {
    let of: serde_json::Map<String, Value> =
        (0..count).map(|number| (format!("k{number}"), json!(format!("k{}", number + 1)))).collect();
    let values: Vec<String> = (0..50).map(|number| format!("v{number}")).collect();
    let settings = json!({"volumeNodeAffinity": {"topology": {"aliases": of}}});
    let term = |key: usize, values: &[String]| json!({"matchExpressions": [has(&format!("k{key}"), values)]});
    update_under(settings, vec![term(0, &values)], vec![term(count, &values[1..])])
}

/// Zones and their regions, terms of zones that become terms of regions.
fn facts_and_terms(terms: usize, facts: usize) -> Vec<u8> {
    let regions: serde_json::Map<String, Value> = (0..facts / 4)
        .map(|region| {
            let zones: Vec<String> = (0..4).map(|zone| format!("z{}", region * 4 + zone)).collect();
            (format!("r{region}"), json!(zones))
        })
        .collect();
    let term = |key: &str, letter: &str, by: usize| {
        (0..terms)
            .map(|number| {
                let rack = has("rack", &[format!("x{number}")]);
                json!({"matchExpressions": [has(key, &[format!("{letter}{}", number % facts / by)]), rack]})
            })
            .collect()
    };
    let settings = json!({"volumeNodeAffinity": {"topology": {"zones": regions}}});
    update_under(settings, term("topology.kubernetes.io/zone", "z", 1), term("topology.kubernetes.io/region", "r", 4))
}

fn local_volume() -> Vec<u8> {
    let mut request = recorded("pv-create-local").unwrap_or_else(|error| panic!("{error}"));
    let term = |number: usize| {
        let others = has(&format!("k{number}"), &[String::from("a")]);
        json!({"matchExpressions": [has("kubernetes.io/hostname", &[String::from("node-1")]), others]})
    };
    request["object"]["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"] = (0..4_000).map(term).collect();
    let settings = json!({"localVolumes": {"pinned": true, "pinnedBy": ["kubernetes.io/hostname", "k0", "k1", "k2"]}});
    payload(settings, request)
}
