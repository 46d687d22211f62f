//! The files in `policies/gatekeeper/` and `policies/webhook/` beside the templates.

use std::collections::{BTreeMap, BTreeSet};

use placement_guard::verdict;
use serde_json::{Value, json};
use templates::{RULES, Rule, file, read};

fn document(path: &str) -> Value {
    let text = read(path).unwrap_or_else(|error| panic!("{error}"));
    serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn documents(path: &str) -> Vec<Value> {
    let text = read(path).unwrap_or_else(|error| panic!("{error}"));
    serde_saphyr::from_multiple(&text).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn constraint(rule: &Rule) -> Value {
    document(&format!("constraints/{}.yaml", rule.file))
}

fn names(folder: &str) -> BTreeSet<String> {
    let entries = std::fs::read_dir(file(folder)).unwrap_or_else(|error| panic!("{folder}: {error}"));
    entries.map(|entry| entry.expect("a file").file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn there_is_a_template_and_a_constraint_for_each_rule_and_no_other_file() {
    let expected: BTreeSet<String> = RULES.iter().map(|rule| format!("{}.yaml", rule.file)).collect();
    assert_eq!(names("templates"), expected);
    assert_eq!(names("constraints"), expected);
    let rego: BTreeSet<String> = RULES
        .iter()
        .map(|rule| rule.file)
        .chain(["placement_guard", "pods"])
        .map(|name| format!("{name}.rego"))
        .collect();
    assert_eq!(names("rego"), rego);
}

#[test]
fn each_constraint_begins_with_warnings_and_says_what_comes_after() {
    for rule in RULES {
        let constraint = constraint(&rule);
        assert_eq!(constraint["apiVersion"], "constraints.gatekeeper.sh/v1beta1", "{}", rule.file);
        assert_eq!(constraint["kind"], rule.kind);
        assert_eq!(constraint["metadata"]["name"], rule.file);
        let spec = &constraint["spec"];
        if rule.section == "volumeNodeAffinity" {
            let scoped = json!([{"action": "warn", "enforcementPoints": [{"name": "validation.gatekeeper.sh"}]}]);
            assert_eq!((&spec["enforcementAction"], &spec["scopedEnforcementActions"]), (&json!("scoped"), &scoped));
        } else {
            assert_eq!(spec["enforcementAction"], "warn", "{}", rule.file);
        }
        let text = read(&format!("constraints/{}.yaml", rule.file)).expect("a constraint");
        let comments: Vec<&str> = text.lines().filter_map(|line| line.trim_start().strip_prefix("# ")).collect();
        let comments = comments.join(" ");
        for sentence in ["Use it where ", "A rule that refuses also refuses the next Pod", "With `deny`"] {
            assert!(comments.contains(sentence), "{} does not say {sentence:?}", rule.file);
        }
    }
}

#[test]
fn the_parameters_are_valid_settings_of_the_rule() {
    for rule in RULES {
        let settings = json!({rule.section: constraint(&rule)["spec"]["parameters"]}).to_string();
        assert_eq!(verdict::validate_settings(&settings), Ok(()), "{}", rule.file);
    }
}

/// The kinds of the constraint are those of the same rule for Kubewarden.
#[test]
fn each_constraint_matches_the_kinds_that_its_rule_judges() {
    for rule in RULES {
        let policy = document(&format!("../kubewarden/{}.yaml", rule.file));
        let rules = policy["spec"]["rules"].as_array().expect("rules");
        let mut judged = BTreeSet::new();
        for group in rules {
            for resource in group["resources"].as_array().expect("resources") {
                let resource = resource.as_str().expect("a name").split('/').next().unwrap_or_default().to_owned();
                judged.insert((group["apiGroups"][0].as_str().expect("a group").to_owned(), resource));
            }
        }
        let mut matched = BTreeSet::new();
        let constraint = constraint(&rule);
        for group in constraint["spec"]["match"]["kinds"].as_array().expect("kinds") {
            for kind in group["kinds"].as_array().expect("kinds") {
                let lower = kind.as_str().expect("a kind").to_lowercase();
                let plural = if lower.ends_with('s') { lower + "es" } else { lower + "s" };
                matched.insert((group["apiGroups"][0].as_str().expect("a group").to_owned(), plural));
            }
        }
        assert_eq!(matched, judged, "{}", rule.file);
        let has_namespaces = policy["spec"].get("namespaceSelector").is_some();
        let excluded =
            has_namespaces.then(|| json!(["kube-system", "kube-public", "kube-node-lease", "gatekeeper-system"]));
        assert_eq!(constraint["spec"]["match"].get("excludedNamespaces"), excluded.as_ref(), "{}", rule.file);
    }
}

/// Whoever writes parameters that the rule would refuse is told when they are applied, by the schema of the template; and
/// nothing that the rule accepts is refused there, but null, which says nothing.
#[test]
fn the_schema_of_the_parameters_accepts_what_the_rule_accepts() {
    let schemas: BTreeMap<&str, jsonschema::Validator> = RULES
        .iter()
        .map(|rule| {
            let template = document(&format!("templates/{}.yaml", rule.file));
            let mut schema = template["spec"]["crd"]["spec"]["validation"]["openAPIV3Schema"].clone();
            close(&mut schema);
            (rule.section, jsonschema::validator_for(&schema).unwrap_or_else(|error| panic!("{}: {error}", rule.file)))
        })
        .collect();
    let (mut accepted, mut refused) = (0, 0);
    for case in testkit::cases().expect("cases") {
        let settings: Value = serde_json::from_slice(&case.settings()).unwrap_or_default();
        for (section, parameters) in settings.as_object().into_iter().flatten() {
            let Some(schema) = schemas.get(section.as_str()) else { continue };
            let works = verdict::validate_settings(&json!({section: parameters}).to_string());
            match (works, schema.is_valid(parameters)) {
                (Ok(()), true) => accepted += 1,
                (Ok(()), false) => assert!(parameters.to_string().contains("null"), "{}: {parameters}", case.name),
                (Err(_), false) => refused += 1,
                // What no schema can say is said by the provider, with every request.
                (Err(_), true) => {}
            }
        }
    }
    assert!(accepted > 200 && refused > 5, "{accepted} accepted, {refused} refused");
}

/// In a custom resource unknown fields are refused when it is applied; in JSON Schema only where it says so.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            members.values_mut().for_each(close);
            if members.contains_key("properties") && members.get("type").is_some_and(|name| name == "object") {
                members.insert(String::from("additionalProperties"), json!(false));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}

#[test]
fn the_provider_is_where_the_service_is_and_the_name_in_its_certificate() {
    let provider = document("provider.yaml");
    assert_eq!(provider["metadata"]["name"], "placement-guard");
    assert_eq!(provider["spec"]["url"], "https://placement-guard.gatekeeper-system.svc:8443/v1/query");
    // Three constraints may look at one pod, and Gatekeeper's webhook has three seconds.
    assert_eq!(provider["spec"]["timeout"], 1);
    assert_eq!(provider["spec"]["caBundle"], "CA_BUNDLE");
    let files = documents("deployment.yaml");
    let service = files.iter().find(|file| file["kind"] == "Service").expect("a Service");
    assert_eq!(
        (&service["metadata"]["name"], &service["metadata"]["namespace"]),
        (&json!("placement-guard"), &json!("gatekeeper-system"))
    );
    assert_eq!(service["spec"]["ports"][0]["port"], 8443);
    let certificates = documents("certificates.yaml");
    let serving =
        certificates.iter().find(|file| file["spec"]["secretName"] == "placement-guard-tls").expect("a Certificate");
    let names = serving["spec"]["dnsNames"].as_array().expect("names");
    assert!(names.contains(&json!("placement-guard.gatekeeper-system.svc")), "{names:?}");
}

#[test]
fn the_deployment_gives_away_nothing_and_stays_up() {
    let files = documents("deployment.yaml");
    let kinds: Vec<&str> = files.iter().filter_map(|file| file["kind"].as_str()).collect();
    assert_eq!(kinds, ["Deployment", "Service", "PodDisruptionBudget", "NetworkPolicy"]);
    let spec = &files[0]["spec"];
    assert_eq!(spec["replicas"], 2);
    let pod = &spec["template"]["spec"];
    assert_eq!(pod["automountServiceAccountToken"], false);
    let context = &pod["containers"][0]["securityContext"];
    assert_eq!(context["readOnlyRootFilesystem"], true);
    assert_eq!(context["allowPrivilegeEscalation"], false);
    assert_eq!(context["capabilities"], json!({"drop": ["ALL"]}));
    assert_eq!(pod["securityContext"]["runAsNonRoot"], true);
    assert_eq!(pod["topologySpreadConstraints"][0]["topologyKey"], "kubernetes.io/hostname");
    // The secret of Gatekeeper holds the key of its CA.
    let volumes = pod["volumes"].as_array().expect("volumes");
    let gatekeeper = volumes.iter().find(|volume| volume["name"] == "gatekeeper").expect("a volume");
    assert_eq!(gatekeeper["secret"]["items"], json!([{"key": "ca.crt", "path": "ca.crt"}]));
    for file in &files {
        assert_eq!(file["metadata"]["namespace"], "gatekeeper-system");
    }
}

/// The webhook asks about what the policy of all rules for Kubewarden asks about.
#[test]
fn the_webhook_is_asked_about_the_same_requests_as_the_policy_for_kubewarden() {
    let webhook = document("../webhook/webhook.yaml");
    let policy = document("../kubewarden/all-rules.yaml");
    for part in ["rules", "matchConditions"] {
        assert_eq!(webhook["webhooks"][0][part], policy["spec"][part], "{part}");
    }
    assert_eq!(webhook["webhooks"][0]["failurePolicy"], "Ignore");
    let settings = document("../webhook/settings.yaml");
    assert_eq!(verdict::validate_settings(&settings.to_string()), Ok(()));
    for (section, values) in settings.as_object().expect("sections") {
        assert_eq!(values["enforcement"], "warn", "{section}");
    }
}
