//! The settings that read the cluster: the templates know them all, and so do the files that grant what they read.

use std::collections::{BTreeMap, BTreeSet};

use gatekeeper_tests::engine::Template;
use gatekeeper_tests::provider::{Reply, body};
use gatekeeper_tests::review;
use placement_guard::kubernetes::field::{self, Field};
use placement_guard::kubernetes::kind::Kind;
use placement_guard::rules::read_settings;
use serde_json::{Value, json};
use templates::{RULES, read, schema};

/// Each setting that reads the cluster, with one of its values, and the kinds that it reads.
const LIVE: [(&str, &str); 31] = [
    ("accessModes.sharedClaims = deny", "Pod PersistentVolumeClaim"),
    ("accessModes.sharedClaims = warn", "Pod PersistentVolumeClaim"),
    ("csiDriverTokens.rollout = {}", "Node CSINode"),
    ("csiDriverTokens.rollout.minKubelet = 1.35", "Node CSINode"),
    ("csiDriverTokens.rollout.nodePlugins = []", "Node CSINode DaemonSet"),
    ("localVolumes.missingNode = deny", "Node"),
    ("localVolumes.missingNode = warn", "Node"),
    ("localVolumes.overlap = deny", "PersistentVolume"),
    ("localVolumes.overlap = warn", "PersistentVolume"),
    ("nodeTaints.evictions = deny", "Pod"),
    ("nodeTaints.evictions = warn", "Pod"),
    ("tolerations.attraction = warn", "Node"),
    ("volumeBinding = {}", BINDING),
    ("volumeBinding.enforcement = deny", BINDING),
    ("volumeBinding.enforcement = warn", BINDING),
    ("volumeBinding.exempt = {}", BINDING),
    ("volumeBinding.exempt.groups = []", BINDING),
    ("volumeBinding.exempt.namespaces = []", BINDING),
    ("volumeBinding.exempt.users = []", BINDING),
    ("volumeBinding.unreachableTogether = deny", TOGETHER),
    ("volumeBinding.unreachableTogether = ignore", BINDING),
    ("volumeBinding.unreachableTogether = warn", TOGETHER),
    ("volumeBinding.whenClusterUnreadable = allow", BINDING),
    ("volumeBinding.whenClusterUnreadable = deny", BINDING),
    ("volumeNodeAffinity.judgeBy = liveNodes", "Node"),
    ("volumeNodeAffinity.requireSettledVolumeAttributes = true", "PersistentVolumeClaim"),
    ("volumeNodeAffinity.strandedVolumes = deny", "Node"),
    ("volumeNodeAffinity.strandedVolumes = warn", "Node"),
    ("volumeNodeAffinity.topology.fromLiveNodes = true", "Node"),
    ("volumeNodeAffinity.whileInUse = deny", "Node Pod PersistentVolumeClaim VolumeAttachment"),
    ("volumeNodeAffinity.whileInUse = warn", "Node Pod PersistentVolumeClaim VolumeAttachment"),
];

/// What `volumeBinding` reads whatever its settings, and what it reads of Pods without a node.
const BINDING: &str = "Node Pod PersistentVolume PersistentVolumeClaim";
const TOGETHER: &str = "Node Pod PersistentVolume PersistentVolumeClaim StorageClass";

/// One setting alone: its path, its value, and the settings that contain nothing else.
struct Setting {
    path: String,
    value: Value,
    settings: Value,
}

impl Setting {
    fn shown(&self) -> String {
        let value = self.value.as_str().map_or_else(|| self.value.to_string(), str::to_owned);
        format!("{} = {value}", self.path)
    }

    /// The kinds that it needs; `None` when it cannot stand alone.
    fn needs(&self) -> Option<Vec<Kind>> {
        let text = self.settings.to_string();
        let document = field::parse(text.as_bytes()).expect("settings are JSON");
        read_settings(&Field::root("settings", &document))
            .ok()
            .map(|settings| settings.needs().into_iter().map(|(kind, _)| kind).collect())
    }

    fn section(&self) -> &str {
        self.path.split('.').next().unwrap_or_default()
    }
}

/// Every setting of the schema with every value that it can have, as far as the schema names them.
fn settings() -> Vec<Setting> {
    let schema = schema::value();
    let mut found = Vec::new();
    for rule in RULES {
        collect(&schema, rule.section, &schema["properties"][rule.section], &mut found);
    }
    found
}

fn collect(schema: &Value, path: &str, member: &Value, found: &mut Vec<Setting>) {
    let member = resolve(schema, member);
    let mut values: Vec<Value> = member["enum"].as_array().cloned().unwrap_or_default();
    values.extend(member["oneOf"].as_array().into_iter().flatten().map(|one| one["const"].clone()));
    let is =
        |name: &str| member["type"] == name || member["type"].as_array().is_some_and(|all| all.contains(&json!(name)));
    for (name, value) in [
        ("boolean", json!(true)),
        ("integer", json!(1)),
        ("string", json!("1.35")),
        ("array", json!([])),
        ("object", json!({})),
    ] {
        if is(name) && values.is_empty() {
            values.push(value);
        }
    }
    for value in values {
        let settings = path.rsplit('.').fold(value.clone(), |value, key| json!({key: value}));
        found.push(Setting { path: path.to_owned(), value, settings });
    }
    for (name, below) in member["properties"].as_object().into_iter().flatten() {
        collect(schema, &format!("{path}.{name}"), below, found);
    }
}

/// A schema without the reference and the alternative of null that it may hide behind.
fn resolve<'s>(schema: &'s Value, member: &'s Value) -> &'s Value {
    let mut alternatives = member["anyOf"].as_array().into_iter().flatten();
    let member = alternatives.find(|one| one["$ref"].is_string()).unwrap_or(member);
    match member["$ref"].as_str().and_then(|path| path.strip_prefix("#/$defs/")) {
        Some(name) => &schema["$defs"][name],
        None => member,
    }
}

/// A request that each rule judges whatever its settings.
fn request(section: &str) -> Value {
    let (group, kind, object) = match section {
        "volumeNodeAffinity" => ("", "PersistentVolume", json!({"spec": {"nodeAffinity": {"required": {}}}})),
        "tolerations" => ("", "Pod", json!({"spec": {"tolerations": [{"key": "a", "operator": "Gt", "value": "5"}]}})),
        "nodeTaints" => ("", "Node", json!({"spec": {"taints": [{"key": "a", "effect": "NoExecute"}]}})),
        "csiDriverTokens" => ("storage.k8s.io", "CSIDriver", json!({"spec": {"tokenRequests": [{"audience": ""}]}})),
        "accessModes" => ("", "PersistentVolumeClaim", json!({"spec": {"accessModes": ["ReadWriteOnce"]}})),
        "localVolumes" => ("", "PersistentVolume", json!({"spec": {"local": {"path": "/mnt/disks/a"}}})),
        "volumeBinding" => ("", "Binding", json!({"target": {"kind": "Node", "name": "node-a"}})),
        other => panic!("no request for `{other}`"),
    };
    json!({
        "uid": "a-request", "operation": "CREATE", "kind": {"group": group, "version": "v1", "kind": kind},
        "name": "a", "userInfo": {"username": "alice"}, "object": object,
    })
}

/// The key with which the template of a rule asks the provider under a setting.
fn key(templates: &BTreeMap<&str, Template>, setting: &Setting) -> Value {
    let provider = |key: &str| Reply::Http(200, body(&[json!({"key": key, "value": {"allowed": true}})]));
    let review = review::at_admission(&request(setting.section()));
    let parameters = &setting.settings[setting.section()];
    let judged = templates[setting.section()].judge(&review, parameters, provider).expect("a judgement");
    assert_eq!((judged.keys.len(), judged.violations.len()), (1, 0), "{}: {judged:?}", setting.shown());
    serde_json::from_str(&judged.keys[0]).expect("a key is JSON")
}

/// An answer that depends on the cluster must not come from Gatekeeper's cache, and any other may.
#[test]
fn a_key_carries_the_uid_of_its_request_exactly_where_a_setting_reads_the_cluster() {
    let templates: BTreeMap<&str, Template> = RULES
        .iter()
        .map(|rule| (rule.section, Template::read(rule).unwrap_or_else(|error| panic!("{}: {error}", rule.file))))
        .collect();
    let mut live = BTreeMap::new();
    let mut others = 0;
    for setting in settings() {
        let Some(kinds) = setting.needs() else { continue };
        let uid = key(&templates, &setting)["request"].get("uid").cloned();
        let expected = (!kinds.is_empty()).then(|| json!("a-request"));
        assert_eq!(uid, expected, "{}: `reads_cluster` of placement_guard.rego is wrong", setting.shown());
        if kinds.is_empty() {
            others += 1;
        } else {
            live.insert(setting.shown(), kinds.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(" "));
        }
    }
    let expected: BTreeMap<String, String> =
        LIVE.iter().map(|(setting, kinds)| ((*setting).to_owned(), (*kinds).to_owned())).collect();
    assert_eq!(live, expected);
    assert!(others > 40, "only {others} settings that do not read the cluster were tried");
}

/// The settings that the comment above each rule of a role names, by resource.
fn named_in_comments(path: &str) -> BTreeMap<String, BTreeSet<String>> {
    let text = read(path).unwrap_or_else(|error| panic!("{error}"));
    let (_, rules) = text.split_once("\nrules:\n").expect("rules");
    let mut found = BTreeMap::new();
    let mut names = BTreeSet::new();
    for line in rules.lines().take_while(|line| *line != "---") {
        match line.split_once("resources: [").and_then(|(_, rest)| rest.split_once(']')) {
            Some((resource, _)) => drop(found.insert(resource.to_owned(), std::mem::take(&mut names))),
            None => names.extend(line.split('`').skip(1).step_by(2).map(str::to_owned)),
        }
    }
    found
}

/// Anyone who uses a setting finds each permission that it needs by its name.
#[test]
fn the_roles_name_the_settings_that_need_each_permission() {
    let mut expected: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for setting in settings() {
        for kind in setting.needs().unwrap_or_default() {
            expected.entry(kind.resource().to_owned()).or_default().insert(setting.path.clone());
        }
    }
    // The whole of a setting is named instead of its parts, where these read nothing else.
    for names in expected.values_mut() {
        let all = names.clone();
        names.retain(|name| name.rsplit_once('.').is_none_or(|(above, _)| !all.contains(above)));
    }
    for path in ["cluster-reader.yaml", "../webhook/cluster-reader.yaml", "../kubewarden/cluster-reader.yaml"] {
        assert_eq!(named_in_comments(path), expected, "{path}");
    }
}

/// The constraints and the settings of the webhook need no permission, so their deployments have none. A rule that can do
/// nothing without the cluster says so in its constraint.
#[test]
fn nothing_that_is_shipped_needs_a_cluster_reader() {
    let needs = |settings: Value| Setting { path: String::new(), value: Value::Null, settings }.needs();
    for rule in RULES {
        let text = read(&format!("constraints/{}.yaml", rule.file)).expect("a constraint");
        let constraint: Value = serde_saphyr::from_str(&text).expect("YAML");
        let settings = json!({rule.section: constraint["spec"]["parameters"]});
        let needed = needs(settings).expect("valid settings");
        assert_eq!(needed.is_empty(), !rule.needs_cluster, "{}", rule.file);
        assert_eq!(text.contains("cluster-reader.yaml"), rule.needs_cluster, "{}", rule.file);
    }
    let map: Value = serde_saphyr::from_str(&read("../webhook/settings.yaml").expect("settings")).expect("YAML");
    let settings = map["data"]["settings.yaml"].as_str().expect("a string");
    assert_eq!(needs(serde_saphyr::from_str(settings).expect("YAML")), Some(Vec::new()));
}
