//! Changes to JSON documents that keep them JSON.

use serde_json::{Map, Value, json};

use crate::random::Random;

/// Strings that mean something somewhere.
const WORDS: [&str; 97] = [
    "In",
    "NotIn",
    "Exists",
    "DoesNotExist",
    "Gt",
    "Lt",
    "Equal",
    "gt",
    "",
    "0",
    "00",
    "5",
    "05",
    "005",
    "-0",
    "-1",
    "+5",
    "5.0",
    "1e3",
    " 5",
    "4",
    "6",
    "7",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "00000000000000000000000000000000000000000000000000000000000005",
    "a",
    "b",
    "A",
    "other",
    "other-2",
    "a_b",
    "a__b",
    "-a",
    "a/b",
    "a/b/c",
    "example.com/a",
    "Example.com/a",
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
    "kubernetes.io/hostname",
    "beta.kubernetes.io/os",
    "kubernetes.io/os",
    "us-east1-b",
    "us-east1",
    "us-east1-b__us-east1-c",
    "NoSchedule",
    "PreferNoSchedule",
    "NoExecute",
    "node.kubernetes.io/not-ready",
    "node.kubernetes.io/unreachable",
    "node-role.kubernetes.io/control-plane",
    "CREATE",
    "UPDATE",
    "DELETE",
    "CONNECT",
    "PersistentVolume",
    "Pod",
    "Deployment",
    "DaemonSet",
    "StatefulSet",
    "Job",
    "CronJob",
    "Node",
    "CSIDriver",
    "PersistentVolumeClaim",
    "StorageClass",
    "ReadWriteOnce",
    "ReadWriteOncePod",
    "ReadWriteMany",
    "ReadOnlyMany",
    "/",
    "/data",
    "/data/../etc",
    "//data/",
    "/data/.",
    "/var/log",
    "Bidirectional",
    "DirectoryOrCreate",
    "Enabled",
    "WaitForFirstConsumer",
    "Immediate",
    "kubernetes.io/no-provisioner",
    "registry.k8s.io/sig-storage/csi-provisioner:v2.9.9",
    "csi-attacher@sha256:00",
    "csi-resizer:v1.3.0-rc.1",
    "*",
    "*.csi.azure.com",
    "system:serviceaccount:kube-system:daemon-set-controller",
    "é\u{1F600}\u{7}",
    "AdmissionReview",
    "ProviderRequest",
    "admission.k8s.io/v1",
    "externaldata.gatekeeper.sh/v1beta1",
];

/// Members that some rule reads, wherever they are put.
const NAMES: [&str; 66] = [
    "matchExpressions",
    "matchFields",
    "key",
    "operator",
    "values",
    "value",
    "effect",
    "tolerationSeconds",
    "nodeSelectorTerms",
    "required",
    "nodeAffinity",
    "spec",
    "template",
    "metadata",
    "labels",
    "annotations",
    "tolerations",
    "taints",
    "volumes",
    "containers",
    "initContainers",
    "ephemeralContainers",
    "volumeMounts",
    "mountPath",
    "readOnly",
    "recursiveReadOnly",
    "mountPropagation",
    "hostPath",
    "path",
    "type",
    "local",
    "csi",
    "driver",
    "accessModes",
    "storageClassName",
    "volumeClaimTemplates",
    "ephemeral",
    "nodeName",
    "tokenRequests",
    "audience",
    "expirationSeconds",
    "requiresRepublish",
    "serviceAccountTokenInSecrets",
    "provisioner",
    "volumeBindingMode",
    "object",
    "oldObject",
    "operation",
    "userInfo",
    "groups",
    "username",
    "extra",
    "subResource",
    "kind",
    "resource",
    "name",
    "namespace",
    "deletionTimestamp",
    "ownerReferences",
    "limits",
    "apiVersion",
    "keys",
    "request",
    "settings",
    "uid",
    "v",
];

/// The most values that a document may have. Larger ones cost time and reach nothing new.
const LARGEST: usize = 3_000;

/// Changes a document in some places. Parts may be taken from `other`.
pub fn change(document: &mut Value, other: &Value, random: &mut Random) {
    let mut changes = 1;
    while changes < 12 && !random.one_in(2) {
        changes += 1;
    }
    for _ in 0..changes {
        let count = size(document);
        let mut left = random.below(count);
        if let Some(chosen) = nth(document, &mut left) {
            change_here(chosen, other, count, random);
        }
    }
}

/// How many values there are.
pub fn size(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(size).sum(),
        Value::Object(members) => members.values().map(size).sum(),
        _ => 0,
    }
}

fn nth<'v>(value: &'v mut Value, left: &mut usize) -> Option<&'v mut Value> {
    if *left == 0 {
        return Some(value);
    }
    *left -= 1;
    match value {
        Value::Array(items) => items.iter_mut().find_map(|item| nth(item, left)),
        Value::Object(members) => members.values_mut().find_map(|member| nth(member, left)),
        _ => None,
    }
}

fn change_here(value: &mut Value, other: &Value, count: usize, random: &mut Random) {
    if random.one_in(12) {
        *value = anything(random);
        return;
    }
    if random.one_in(8) {
        // A part of another document, often of the same type.
        let mut left = random.below(size(other));
        let part = part(other, &mut left).cloned().unwrap_or_default();
        if std::mem::discriminant(&part) == std::mem::discriminant(value) || random.one_in(4) {
            *value = part;
            return;
        }
    }
    match value {
        Value::String(text) => change_text(text, random),
        Value::Number(_) => *value = a_number(random),
        Value::Bool(is) => *is = !*is,
        Value::Null => *value = anything(random),
        Value::Array(items) => change_items(items, count, random),
        Value::Object(members) => change_members(members, random),
    }
}

fn part<'v>(value: &'v Value, left: &mut usize) -> Option<&'v Value> {
    if *left == 0 {
        return Some(value);
    }
    *left -= 1;
    match value {
        Value::Array(items) => items.iter().find_map(|item| part(item, left)),
        Value::Object(members) => members.values().find_map(|member| part(member, left)),
        _ => None,
    }
}

fn anything(random: &mut Random) -> Value {
    match random.below(10) {
        0 => Value::Null,
        1 => json!(true),
        2 => json!([]),
        3 => json!({}),
        4 => a_number(random),
        5 => json!([random.pick(&WORDS)]),
        6 => json!({*random.pick(&NAMES): random.pick(&WORDS)}),
        7 => {
            json!([{"key": random.pick(&WORDS), "operator": random.pick(&WORDS[..8]), "values": [random.pick(&WORDS)]}])
        }
        _ => json!(random.pick(&WORDS)),
    }
}

fn a_number(random: &mut Random) -> Value {
    match random.below(8) {
        0 => json!(i64::MAX),
        1 => json!(i64::MIN),
        2 => json!(u64::MAX),
        3 => json!(1e308),
        4 => json!(0.5),
        5 => json!(-1),
        _ => json!(random.below(4_000)),
    }
}

fn change_text(text: &mut String, random: &mut Random) {
    match random.below(10) {
        0 => text.insert(0, '0'),
        1 => text.insert(0, *random.pick(&['-', '+', ' ', '/', '.', 'a', 'Z', 'é'])),
        2 => text.push(*random.pick(&['0', '1', '-', '_', '.', '/', 'a', '\u{0}', '…'])),
        3 => _ = text.pop(),
        4 => *text = text.repeat(1 + random.below(5)).chars().take(300).collect(),
        5 => *text = text.to_uppercase(),
        6 => match text.parse::<i64>() {
            Ok(number) => *text = number.wrapping_add(*random.pick(&[-1, 1])).to_string(),
            Err(_) => *text = random.below(10).to_string(),
        },
        _ => *text = (*random.pick(&WORDS)).to_owned(),
    }
}

fn change_items(items: &mut Vec<Value>, count: usize, random: &mut Random) {
    if items.is_empty() {
        items.push(anything(random));
        return;
    }
    let position = random.below(items.len());
    match random.below(7) {
        0 => _ = items.remove(position),
        1 => items.clear(),
        2 | 3 if count + size(&items[position]) < LARGEST => {
            let more = items[position].clone();
            items.push(more);
        }
        4 => {
            let other = random.below(items.len());
            items.swap(position, other);
        }
        5 if count < LARGEST => {
            // Many, each a little different.
            let pattern = items[position].clone();
            let most = ((LARGEST - count) / size(&pattern)).min(20);
            for number in 0..random.below(most + 1) {
                let mut next = pattern.clone();
                number_texts(&mut next, number, random);
                items.push(next);
            }
        }
        _ => items.push(anything(random)),
    }
}

/// Adds a number to some strings of a value.
pub fn number_texts(value: &mut Value, number: usize, random: &mut Random) {
    match value {
        Value::String(text) if random.one_in(2) => *text = format!("{text}{number}"),
        Value::Array(items) => items.iter_mut().for_each(|item| number_texts(item, number, random)),
        Value::Object(members) => members.values_mut().for_each(|member| number_texts(member, number, random)),
        _ => {}
    }
}

fn change_members(members: &mut Map<String, Value>, random: &mut Random) {
    let names: Vec<String> = members.keys().cloned().collect();
    if names.is_empty() || random.one_in(4) {
        members.insert((*random.pick(&NAMES)).to_owned(), anything(random));
        return;
    }
    let name = random.pick::<String>(&names);
    match random.below(5) {
        0 | 1 => _ = members.remove(name),
        2 => {
            // What was one member is another one now.
            let value = members.get(random.pick::<String>(&names)).cloned().unwrap_or_default();
            members.insert(name.clone(), value);
        }
        3 => {
            let value = members.remove(name).unwrap_or_default();
            members.insert((*random.pick(&NAMES)).to_owned(), value);
        }
        _ => _ = members.insert(name.clone(), anything(random)),
    }
    // An update that changes little has more to say than two objects that have nothing in common.
    if members.contains_key("oldObject") && members.contains_key("object") && random.one_in(3) {
        let (from, to) = if random.one_in(2) { ("object", "oldObject") } else { ("oldObject", "object") };
        let same = members.get(from).cloned().unwrap_or_default();
        members.insert(to.to_owned(), same);
    }
}

/// Changes a text so that it is perhaps no JSON any more, or has a member twice.
pub fn break_text(text: &mut String, random: &mut Random) {
    if text.is_empty() {
        return;
    }
    let at = |random: &mut Random, text: &str| {
        let mut position = random.below(text.len());
        while !text.is_char_boundary(position) {
            position -= 1;
        }
        position
    };
    let position = at(random, text);
    match random.below(5) {
        0 => text.truncate(position),
        1 => text.insert(position, *random.pick(&['{', '}', '[', ']', '"', ',', ':', '\\', '0', '-', '\u{0}', 'é'])),
        2 => _ = text.remove(position),
        3 => {
            if let Some(brace) = text[position..].find('{') {
                let name = random.pick(&NAMES);
                text.insert_str(position + brace + 1, &format!("\"{name}\":null,"));
            }
        }
        _ => {
            let depth = random.below(200);
            text.insert_str(position, &"[".repeat(depth));
        }
    }
}
