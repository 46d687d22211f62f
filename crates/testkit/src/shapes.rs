//! Requests that are made of a few numbers, one family for each rule: what `make worst` searches for the slowest one.

use serde_json::{Map, Value, json};

use crate::recorded;

/// The numbers of a request. What each means is up to its rule; every number is allowed.
pub type Shape = [u16; 12];

/// The rules, by their section.
pub const RULES: [&str; 6] =
    ["volumeNodeAffinity", "tolerations", "nodeTaints", "csiDriverTokens", "accessModes", "localVolumes"];

/// Settings and a request.
pub fn documents(rule: &str, shape: &Shape) -> (Value, Value) {
    let mut some = Parts(shape);
    let (section, request) = match rule {
        "volumeNodeAffinity" => some.volume(),
        "tolerations" => some.tolerations(),
        "nodeTaints" => some.taints(),
        "csiDriverTokens" => some.tokens(),
        "accessModes" => some.access_modes(),
        "localVolumes" => some.local_volumes(),
        other => panic!("`{other}` is not a section"),
    };
    let mut settings = Map::new();
    settings.insert(rule.to_owned(), section);
    (Value::Object(settings), request)
}

/// The same as the payload of `validate`.
pub fn payload(rule: &str, shape: &Shape) -> Vec<u8> {
    let (settings, request) = documents(rule, shape);
    json!({"settings": settings, "request": request}).to_string().into_bytes()
}

/// Reads a shape, and makes numbers that look random of its last number.
struct Parts<'s>(&'s Shape);

struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or_default() % end.max(1)
    }
}

const OPERATORS: [&str; 6] = ["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"];

impl Parts<'_> {
    fn at(&self, position: usize) -> usize {
        usize::from(self.0[position])
    }

    /// A number of the shape, between 1 and `most`.
    fn upto(&self, position: usize, most: usize) -> usize {
        1 + self.at(position) % most
    }

    fn numbers(&self) -> Numbers {
        Numbers(u64::from(self.0[11]) * 7_919 + 1)
    }

    /// 0 old terms, 1 new terms, 2 requirements of a term, 3 keys, 4 values of a requirement, 5 values that there are,
    /// 6 operators as bits, 7 how the new terms come from the old ones, 8 implications, 9 aliases, 10 length of a value.
    fn volume(&mut self) -> (Value, Value) {
        let mut numbers = self.numbers();
        let (keys, listed, values) = (self.upto(3, 3_000), self.upto(4, 400), self.upto(5, 3_000));
        let padding = "x".repeat(self.at(10) % 50);
        let operators: Vec<&str> =
            (0..6).filter(|bit| self.at(6) & (1 << bit) != 0).map(|bit| OPERATORS[bit]).collect();
        let requirement = |numbers: &mut Numbers| {
            let operator = if operators.is_empty() { "In" } else { operators[numbers.below(operators.len())] };
            let values: Vec<String> = match operator {
                "In" | "NotIn" => (0..listed).map(|_| format!("v{padding}{}", numbers.below(values))).collect(),
                "Gt" | "Lt" => vec![numbers.below(values).to_string()],
                _ => Vec::new(),
            };
            json!({"key": format!("k{}", numbers.below(keys)), "operator": operator, "values": values})
        };
        let in_a_term = self.upto(2, 200);
        let term = |numbers: &mut Numbers| json!({"matchExpressions": (0..in_a_term).map(|_| requirement(numbers)).collect::<Vec<_>>()});
        let old: Vec<Value> = (0..self.upto(0, 6_000)).map(|_| term(&mut numbers)).collect();
        let mut new: Vec<Value> = match self.at(7) % 4 {
            0 => (0..self.upto(1, 6_000)).map(|_| term(&mut numbers)).collect(),
            1 => old.iter().rev().cloned().collect(),
            // Each old term in two parts.
            2 => {
                let both = |term: &Value, operator: &str, number: usize| {
                    let mut part = term.clone();
                    let more = json!({"key": format!("k{}", number % keys), "operator": operator});
                    part["matchExpressions"].as_array_mut().into_iter().for_each(|all| all.push(more.clone()));
                    part
                };
                let parts = old.iter().enumerate();
                parts.flat_map(|(at, term)| ["Exists", "DoesNotExist"].map(|half| both(term, half, at))).collect()
            }
            _ => old.iter().skip(1).cloned().collect(),
        };
        if self.at(7) % 8 > 3 {
            new.push(term(&mut numbers));
        }
        let fact = |number: usize| json!({"matchExpressions": [{"key": format!("k{}", number % keys), "operator": "In", "values": [format!("v{padding}{}", number % values)]}]});
        let implications: Vec<Value> =
            (0..self.at(8) % 2_000).map(|number| json!({"if": fact(number), "then": fact(number + 1)})).collect();
        let aliases: Map<String, Value> =
            (0..self.at(9) % 400).map(|number| (format!("k{number}"), json!(format!("k{}", number + 1)))).collect();
        let mut request = recorded("pv-update-zone-to-region").unwrap_or_else(|error| panic!("{error}"));
        for (object, terms) in [("oldObject", old), ("object", new)] {
            request[object]["spec"]["nodeAffinity"] = json!({"required": {"nodeSelectorTerms": terms}});
            request[object]["metadata"]["labels"] = Value::Null;
        }
        (json!({"topology": {"implications": implications, "aliases": aliases}}), request)
    }

    /// 0 new, 1 old, 2 allowed and 3 denied tolerations, 4 keys, 5 values, 6 operators as bits, 7 effects as bits, 8 kinds of
    /// seconds, 9 every so many without a key, 10 length of a key.
    fn tolerations(&mut self) -> (Value, Value) {
        let mut numbers = self.numbers();
        let (keys, values, seconds) = (self.upto(4, 5_000), self.upto(5, 5_000), self.at(8) % 5_000);
        let padding = "x".repeat(self.at(10) % 40);
        let kinds = ["Exists", "Equal", "Gt", "Lt"];
        let operators: Vec<&str> = (0..4).filter(|bit| self.at(6) & (1 << bit) != 0).map(|bit| kinds[bit]).collect();
        let all = ["", "NoSchedule", "PreferNoSchedule", "NoExecute"];
        let effects: Vec<&str> = (0..4).filter(|bit| self.at(7) & (1 << bit) != 0).map(|bit| all[bit]).collect();
        let without = self.at(9);
        let mut entry = |limit: &str| {
            let operator = if operators.is_empty() { "Equal" } else { operators[numbers.below(operators.len())] };
            let effect = if effects.is_empty() { "NoExecute" } else { effects[numbers.below(effects.len())] };
            let mut entry = json!({"key": format!("k{padding}{}", numbers.below(keys)), "operator": operator});
            if operator != "Exists" {
                entry["value"] = json!(numbers.below(values).to_string());
            } else if without > 0 && numbers.below(without) == 0 {
                entry = json!({"operator": "Exists"});
            }
            if !effect.is_empty() {
                entry["effect"] = json!(effect);
            }
            if seconds > 0 && effect == "NoExecute" && !limit.is_empty() {
                entry[limit] = json!(numbers.below(seconds));
            }
            entry
        };
        let mut list = |count: usize, limit: &str| (0..count).map(|_| entry(limit)).collect::<Vec<_>>();
        let new = list(self.upto(0, 8_000), "tolerationSeconds");
        let old = list(self.at(1) % 8_000, "tolerationSeconds");
        let section = json!({"allowed": list(self.at(2) % 5_000, "maxTolerationSeconds"), "denied": list(self.at(3) % 2_000, "")});
        (section, of_pod(json!({"tolerations": new}), json!({"tolerations": old})))
    }

    /// 0 new and 1 old taints, 2 numeric keys, 3 keys that there are, 4 length of a value.
    fn taints(&mut self) -> (Value, Value) {
        let mut numbers = self.numbers();
        let (keys, value) = (self.upto(3, 10_000), "x".repeat(self.at(4) % 60));
        let mut list = |count: usize| {
            let taint =
                |number: usize| json!({"key": format!("k{}", number % keys), "value": value, "effect": "NoSchedule"});
            (0..count).map(|_| taint(numbers.below(keys))).collect::<Vec<_>>()
        };
        let mut request = recorded("node-update-taint-changed").unwrap_or_else(|error| panic!("{error}"));
        request["object"]["spec"]["taints"] = Value::Array(list(self.upto(0, 12_000)));
        request["oldObject"]["spec"]["taints"] = Value::Array(list(self.at(1) % 12_000));
        let numeric: Vec<String> = (0..self.at(2) % 8_000).map(|number| format!("k{number}")).collect();
        (json!({"numericKeys": numeric}), request)
    }

    /// 0 new and 1 old token requests, 2 entries of audiences, 3 globs of an entry, 4 stars of a glob, 5 audiences of an entry,
    /// 6 length of the driver's name, 7 audiences of the API server.
    fn tokens(&mut self) -> (Value, Value) {
        let mut numbers = self.numbers();
        let mut list = |count: usize| {
            let token =
                |number: usize| json!({"audience": format!("audience-{number}"), "expirationSeconds": 300 + number});
            (0..count).map(|_| token(numbers.below(20_000))).collect::<Vec<_>>()
        };
        let mut request = recorded("csidriver-update-audience-added").unwrap_or_else(|error| panic!("{error}"));
        request["object"]["spec"]["tokenRequests"] = Value::Array(list(self.upto(0, 12_000)));
        request["oldObject"]["spec"]["tokenRequests"] = Value::Array(list(self.at(1) % 12_000));
        let name = "a".repeat(self.upto(6, 250));
        for object in ["object", "oldObject"] {
            request[object]["metadata"]["name"] = json!(name);
        }
        request["name"] = json!(name);
        let glob = format!("{}b", "*a".repeat(self.at(4) % 120));
        let entry = |number: usize| {
            let globs: Vec<String> =
                (0..self.upto(3, 200)).map(|at| format!("{glob}{}", at + number)).chain([String::from("*")]).collect();
            let allow: Vec<String> = (0..self.at(5) % 2_000).map(|at| format!("allowed-{}", at + number)).collect();
            json!({"drivers": globs, "allow": allow})
        };
        let audiences: Vec<Value> = (0..self.at(2) % 500).map(entry).collect();
        let of_server: Vec<String> = (0..self.at(7) % 3_000).map(|number| format!("https://server-{number}")).collect();
        (
            json!({"requireSecrets": true, "audiences": audiences, "expirationSeconds": {"min": 600, "max": 700}, "apiServerAudiences": of_server}),
            request,
        )
    }

    /// 0 containers, 1 old containers, 2 volumes, 3 old volumes, 4 entries of `singleWriter`, 5 globs of an entry, 6 stars of a
    /// glob, 7 length of the class, 8 length of an image.
    fn access_modes(&mut self) -> (Value, Value) {
        let glob = format!("{}b", "*a".repeat(self.at(6) % 120));
        let class = "a".repeat(self.upto(7, 250));
        let host = "h".repeat(self.at(8) % 200);
        let spec = |containers: usize, volumes: usize, minor: usize| {
            let image = |number: usize| json!({"name": format!("c{number}"), "image": format!("{host}.example.com/csi-provisioner:v1.{minor}.{number}")});
            let claim =
                json!({"volumeClaimTemplate": {"spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": class}}});
            let volume = |number: usize| json!({"name": format!("v{number}"), "ephemeral": claim});
            json!({"containers": (0..containers).map(image).collect::<Vec<_>>(), "volumes": (0..volumes).map(volume).collect::<Vec<_>>()})
        };
        let entry = |number: usize| {
            let globs: Vec<String> = (0..self.upto(5, 100)).map(|at| format!("{glob}{}", at + number)).collect();
            json!({"storageClasses": globs, "namespaces": ["*"], "level": "require"})
        };
        let writers: Vec<Value> = (0..self.at(4) % 500).map(entry).collect();
        let new = spec(self.at(0) % 12_000, self.at(2) % 8_000, 0);
        (
            json!({"singleWriter": writers, "csiSidecars": true}),
            of_pod(new, spec(self.at(1) % 12_000, self.at(3) % 8_000, 1)),
        )
    }

    /// 0 volumes, 1 old volumes, 2 containers, 3 mounts of a container, 4 prefixes, 5 segments of a path, 6 terms and 7 keys of
    /// a local volume, 8 keys that pin, 9 whether it is a pod or a volume.
    fn local_volumes(&mut self) -> (Value, Value) {
        let path = |number: usize| format!("/{}{number}", "a/".repeat(self.at(5) % 300));
        let prefixes: Vec<Value> =
            (0..self.at(4) % 4_000).map(|number| json!({"prefix": path(number), "readOnly": true})).collect();
        let pinned_by: Vec<String> = (0..self.upto(8, 200)).map(|number| format!("k{number}")).collect();
        let section = json!({"pinned": true, "pinnedBy": pinned_by, "hostPaths": prefixes, "paths": ["/mnt"]});
        if self.at(9) % 2 == 1 {
            let mut numbers = self.numbers();
            let keys = self.upto(7, 300);
            let mut term = |_| {
                let more = json!({"key": format!("k{}", numbers.below(keys)), "operator": "In", "values": [format!("v{}", numbers.below(50))]});
                json!({"matchExpressions": [{"key": "k0", "operator": "In", "values": ["one"]}, more]})
            };
            let mut request = recorded("pv-create-local").unwrap_or_else(|error| panic!("{error}"));
            request["object"]["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"] =
                (0..self.upto(6, 6_000)).map(&mut term).collect();
            return (section, request);
        }
        let spec = |volumes: usize, at: usize| {
            let volume = |number: usize| json!({"name": format!("v{number}"), "hostPath": {"path": path(number + at)}});
            let mount = |number: usize| json!({"name": format!("v{}", number % volumes.max(1)), "mountPath": format!("/m{number}")});
            let mounts: Vec<Value> = (0..self.at(3) % 5_000).map(mount).collect();
            let container = |number: usize| json!({"name": format!("c{number}"), "image": "i", "volumeMounts": mounts});
            json!({"volumes": (0..volumes).map(volume).collect::<Vec<_>>(), "containers": (0..self.upto(2, 50)).map(container).collect::<Vec<_>>()})
        };
        (section, of_pod(spec(self.upto(0, 8_000), 0), spec(self.at(1) % 8_000, 5)))
    }
}

/// The recorded creation of a pod, as an update from `old` to `new`.
fn of_pod(new: Value, old: Value) -> Value {
    let mut request = recorded("pod-create-payment-lt5").unwrap_or_else(|error| panic!("{error}"));
    request["operation"] = json!("UPDATE");
    request["oldObject"] = request["object"].clone();
    request["object"]["spec"] = new;
    request["oldObject"]["spec"] = old;
    request
}
