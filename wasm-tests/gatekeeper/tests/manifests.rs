//! The files in `policies/gatekeeper/` and `policies/webhook/`, except the templates.

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

/// The schema of the template rejects parameters that the rule would refuse, when they are applied. It accepts everything
/// that the rule accepts, except null, which has no effect.
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

/// The documents of a kind in a file.
fn of_kind(path: &str, kind: &str) -> Vec<Value> {
    documents(path).into_iter().filter(|document| document["kind"] == kind).collect()
}

/// The only document of a kind in a file.
fn the(path: &str, kind: &str) -> Value {
    let mut found = of_kind(path, kind);
    assert_eq!(found.len(), 1, "{path}: {kind}");
    found.remove(0)
}

/// The names in the serving certificate, and those that its CA may sign.
fn certificates(path: &str) -> (Value, Value) {
    let certificates = of_kind(path, "Certificate");
    let of = |secret: &str| {
        let found = certificates.iter().find(|certificate| certificate["spec"]["secretName"] == secret);
        found.unwrap_or_else(|| panic!("{path}: no certificate `{secret}`")).clone()
    };
    let (serving, ca) = (of("placement-guard-tls"), of("placement-guard-ca"));
    assert_eq!(serving["spec"]["issuerRef"]["name"], "placement-guard-ca", "{path}");
    assert_eq!((&ca["spec"]["isCA"], &ca["spec"]["nameConstraints"]["critical"]), (&json!(true), &json!(true)));
    (serving["spec"]["dnsNames"].clone(), ca["spec"]["nameConstraints"]["permitted"]["dnsDomains"].clone())
}

#[test]
fn the_provider_is_where_the_service_is_and_the_name_in_its_certificate() {
    let provider = document("provider.yaml");
    assert_eq!(provider["metadata"]["name"], "placement-guard");
    assert_eq!(provider["spec"]["url"], "https://placement-guard.gatekeeper-system.svc:8443/v1/query");
    assert_eq!(provider["spec"]["caBundle"], "CA_BUNDLE");
    let service = the("deployment.yaml", "Service");
    assert_eq!(
        (&service["metadata"]["name"], &service["metadata"]["namespace"]),
        (&json!("placement-guard"), &json!("gatekeeper-system"))
    );
    assert_eq!(service["spec"]["ports"][0]["port"], 8443);
    let name = json!(["placement-guard.gatekeeper-system.svc"]);
    assert_eq!(certificates("certificates.yaml"), (name.clone(), name));
}

/// The webhook calls the Service by the only name in its certificate: with another name every call would fail.
#[test]
fn the_webhook_calls_the_service_by_the_name_in_its_certificate() {
    let webhook = document("../webhook/webhook.yaml");
    let called = &webhook["webhooks"][0]["clientConfig"]["service"];
    let service = the("../webhook/deployment.yaml", "Service");
    assert_eq!(
        (&called["name"], &called["namespace"]),
        (&service["metadata"]["name"], &service["metadata"]["namespace"])
    );
    assert_eq!(called["port"], service["spec"]["ports"][0]["port"]);
    assert_eq!(called["path"], "/v1/admit");
    let name = json!([format!("{}.{}.svc", called["name"].as_str().unwrap(), called["namespace"].as_str().unwrap())]);
    assert_eq!(certificates("../webhook/certificates.yaml"), (name.clone(), name));
    let serving = "placement-guard/placement-guard";
    assert_eq!(webhook["metadata"]["annotations"]["cert-manager.io/inject-ca-from"], serving);
    let certificates = of_kind("../webhook/certificates.yaml", "Certificate");
    assert!(certificates.iter().any(|certificate| {
        certificate["metadata"]["namespace"] == "placement-guard"
            && certificate["metadata"]["name"] == "placement-guard"
    }));
}

/// Gatekeeper evaluates one constraint after another, and each may wait for the provider until its timeout.
#[test]
fn the_constraints_that_judge_one_request_cannot_outlast_the_webhook() {
    let mut constraints_of: BTreeMap<(String, String), u64> = BTreeMap::new();
    for rule in RULES {
        for group in constraint(&rule)["spec"]["match"]["kinds"].as_array().expect("kinds") {
            for kind in group["kinds"].as_array().expect("kinds") {
                let kind = (group["apiGroups"][0].to_string(), kind.to_string());
                *constraints_of.entry(kind).or_default() += 1;
            }
        }
    }
    let most = *constraints_of.values().max().expect("kinds");
    let timeout = document("provider.yaml")["spec"]["timeout"].as_u64().expect("whole seconds");
    let values = document("gatekeeper-values.yaml");
    let webhook = values["validatingWebhookTimeoutSeconds"].as_u64().expect("whole seconds");
    // Gatekeeper takes a timeout of 0 for one that is over already. A second is left for everything else.
    assert!(timeout >= 1 && most * timeout < webhook, "{most} constraints of {timeout} s, the webhook has {webhook} s");
    assert!(webhook <= 30, "Kubernetes allows at most 30 s");
    assert_eq!(values["validatingWebhookFailurePolicy"], "Fail");
    assert_eq!(values.as_object().map(|values| values.len()), Some(2));
}

/// A file with a Deployment, the namespace of all of its objects, and which kinds it has.
const DEPLOYMENTS: [(&str, &str, &[&str]); 2] = [
    ("deployment.yaml", "gatekeeper-system", &["Deployment", "Service", "PodDisruptionBudget", "NetworkPolicy"]),
    (
        "../webhook/deployment.yaml",
        "placement-guard",
        &["Namespace", "ServiceAccount", "Deployment", "Service", "PodDisruptionBudget", "NetworkPolicy"],
    ),
];

#[test]
fn each_deployment_gives_away_nothing_and_stays_up() {
    for (path, namespace, kinds) in DEPLOYMENTS {
        let files = documents(path);
        let found: Vec<&str> = files.iter().filter_map(|file| file["kind"].as_str()).collect();
        assert_eq!(found, kinds);
        for file in &files {
            let of =
                if file["kind"] == "Namespace" { &file["metadata"]["name"] } else { &file["metadata"]["namespace"] };
            assert_eq!(of, namespace, "{path}");
        }
        let deployment = the(path, "Deployment");
        let spec = &deployment["spec"];
        assert_eq!(spec["replicas"], 2);
        let pod = &spec["template"]["spec"];
        assert_eq!(pod["automountServiceAccountToken"], false);
        assert_eq!(pod["securityContext"]["runAsNonRoot"], true);
        assert_eq!(pod["topologySpreadConstraints"][0]["topologyKey"], "kubernetes.io/hostname");
        let container = &pod["containers"][0];
        let context = &container["securityContext"];
        assert_eq!(context["readOnlyRootFilesystem"], true);
        assert_eq!(context["allowPrivilegeEscalation"], false);
        assert_eq!(context["capabilities"], json!({"drop": ["ALL"]}));
        // A liveness probe alone would kill a program that still compiles its module.
        assert_eq!(container["startupProbe"]["httpGet"]["path"], "/readyz");
        assert_eq!(container["readinessProbe"]["httpGet"]["path"], "/readyz");
        assert_eq!(container["livenessProbe"]["httpGet"]["path"], "/healthz");
        let service = the(path, "Service");
        let of_pod = &spec["template"]["metadata"]["labels"];
        assert_eq!(&service["spec"]["selector"], of_pod);
        for kind in ["PodDisruptionBudget", "NetworkPolicy"] {
            let selector = if kind == "NetworkPolicy" { "podSelector" } else { "selector" };
            assert_eq!(&the(path, kind)["spec"][selector]["matchLabels"], of_pod, "{path}: {kind}");
        }
        let ports: Vec<&Value> =
            container["ports"].as_array().expect("ports").iter().map(|port| &port["name"]).collect();
        assert!(ports.contains(&&service["spec"]["ports"][0]["targetPort"]), "{path}: {ports:?}");
    }
}

/// The secret of Gatekeeper also contains the key of its CA.
#[test]
fn the_provider_sees_only_the_certificate_of_gatekeepers_ca() {
    let deployment = the("deployment.yaml", "Deployment");
    let volumes = deployment["spec"]["template"]["spec"]["volumes"].as_array().expect("volumes").clone();
    let gatekeeper = volumes.iter().find(|volume| volume["name"] == "gatekeeper").expect("a volume");
    assert_eq!(gatekeeper["secret"]["items"], json!([{"key": "ca.crt", "path": "ca.crt"}]));
}

/// What the container of the webhook reads is mounted where its arguments say.
#[test]
fn the_webhook_reads_its_settings_and_certificates_where_they_are_mounted() {
    let deployment = the("../webhook/deployment.yaml", "Deployment");
    let pod = &deployment["spec"]["template"]["spec"];
    let arguments: Vec<&str> =
        pod["containers"][0]["args"].as_array().expect("arguments").iter().filter_map(Value::as_str).collect();
    for argument in
        ["--settings=/settings/settings.yaml", "--tls-cert=/certificates/tls.crt", "--tls-key=/certificates/tls.key"]
    {
        assert!(arguments.contains(&argument), "{argument} is not in {arguments:?}");
    }
    let mounts: Vec<&Value> = pod["containers"][0]["volumeMounts"]
        .as_array()
        .expect("mounts")
        .iter()
        .map(|mount| &mount["mountPath"])
        .collect();
    assert_eq!(mounts, [&json!("/certificates"), &json!("/settings")]);
    assert_eq!(pod["volumes"][0]["secret"]["secretName"], "placement-guard-tls");
    let settings = the("../webhook/settings.yaml", "ConfigMap");
    assert_eq!(pod["volumes"][1]["configMap"]["name"], settings["metadata"]["name"]);
    assert_eq!(settings["metadata"]["namespace"], "placement-guard");
    assert_eq!(the("../webhook/deployment.yaml", "ServiceAccount")["metadata"]["name"], pod["serviceAccountName"]);
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
}

#[test]
fn the_webhook_begins_with_warnings() {
    let settings = the("../webhook/settings.yaml", "ConfigMap");
    let settings = settings["data"]["settings.yaml"].as_str().expect("a string");
    let settings: Value = serde_saphyr::from_str(settings).expect("YAML");
    assert_eq!(verdict::validate_settings(&settings.to_string()), Ok(()));
    for (section, values) in settings.as_object().expect("sections") {
        assert_eq!(values["enforcement"], "warn", "{section}");
    }
}
