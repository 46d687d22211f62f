//! The values of the Helm chart as types, from which `values.schema.json` is generated. The settings in them are those of
//! [`crate::schema`].

use std::collections::BTreeMap;

use placement_guard::kubernetes::kind::Kind;
use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Map, Value, json};

use crate::schema::{
    AccessModes, CsiDriverTokens, LocalVolumes, NodeTaints, Settings, Tolerations, VolumeBinding, VolumeNodeAffinity,
};

/// The schema as it is committed in the chart. Helm reads draft 7 in every version that this chart supports.
///
/// # Errors
/// Never: a schema is JSON.
pub fn text() -> Result<String, String> {
    let mut schema = SchemaSettings::draft07().into_generator().into_root_schema_for::<Values>().to_value();
    schema["properties"]["readsCluster"]["items"] = json!({"enum": Kind::ALL.map(Kind::name)});
    // Empty settings are the shipped ones.
    if let Some(settings) = schema["definitions"]["Settings"].as_object_mut() {
        settings.remove("not");
    }
    as_draft_7(&mut schema);
    let text = serde_json::to_string_pretty(&schema).map_err(|error| error.to_string())?;
    Ok(text + "\n")
}

/// What draft 7 calls otherwise.
fn as_draft_7(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            if let Some(value) = members.remove("dependentSchemas") {
                members.insert(String::from("dependencies"), value);
            }
            members.values_mut().for_each(as_draft_7);
        }
        Value::Array(items) => items.iter_mut().for_each(as_draft_7),
        _ => {}
    }
}

/// An object of Kubernetes' own, which the API server checks.
type Object = Map<String, Value>;

/// The values of the chart of placement-guard. What the templates need is required: Helm checks the values together with the
/// defaults, and removes a default that a user sets to null, as an empty section does.
#[derive(JsonSchema)]
#[schemars(title = "placement-guard values", rename_all = "camelCase", deny_unknown_fields)]
pub struct Values {
    /// The API server asks the program directly.
    pub webhook: Webhook,
    /// Gatekeeper asks the program. The release belongs into the namespace of Gatekeeper.
    pub gatekeeper: Gatekeeper,
    /// The image of the program.
    pub image: Image,
    /// The policy module that the program runs.
    pub module: Module,
    /// The serving certificate.
    pub certificates: Certificates,
    /// Kinds of objects to read in addition to those that settings and parameters need.
    pub reads_cluster: Option<Vec<String>>,
    pub service_account: ServiceAccount,
    #[schemars(range(min = 0))]
    pub replicas: u32,
    /// How many evaluations run at once. Each may use 64 MiB.
    #[schemars(range(min = 1))]
    pub evaluations: u32,
    /// More arguments of `placement-guard serve`.
    pub extra_arguments: Option<Vec<String>>,
    /// Resources of the container.
    pub resources: Option<Object>,
    pub priority_class_name: Option<String>,
    /// The security context of the pod.
    pub pod_security_context: Option<Object>,
    /// The security context of the container.
    pub security_context: Option<Object>,
    pub pod_disruption_budget: PodDisruptionBudget,
    pub pod_annotations: Option<BTreeMap<String, String>>,
    pub pod_labels: Option<BTreeMap<String, String>>,
    pub node_selector: Option<BTreeMap<String, String>>,
    /// Tolerations of the pods of placement-guard itself.
    pub tolerations: Option<Vec<Object>>,
    pub affinity: Option<Object>,
    pub network_policy: NetworkPolicy,
    /// The name of the chart in names and labels.
    pub name_override: Option<String>,
    /// The name of all objects. It also names a Service.
    #[schemars(length(max = 63), regex(pattern = "^([a-z]([-a-z0-9]*[a-z0-9])?)?$"))]
    pub fullname_override: Option<String>,
    /// Helm gives it to charts within charts.
    pub global: Option<Object>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct Webhook {
    pub enabled: bool,
    /// What the rules judge. Empty means the settings of the repository, which only warn. Anything else replaces them as a
    /// whole.
    pub settings: Option<Settings>,
    /// `Fail` once the rules refuse. With `Ignore`, a request passes unjudged whenever the program does not answer in time.
    pub failure_policy: FailurePolicy,
    #[schemars(range(min = 1, max = 30))]
    pub timeout_seconds: u32,
    /// Namespaces that are not judged, in addition to that of the release.
    pub excluded_namespaces: Option<Vec<String>>,
}

#[derive(JsonSchema)]
pub enum FailurePolicy {
    Ignore,
    Fail,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct Gatekeeper {
    pub enabled: bool,
    /// The secret with Gatekeeper's CA, as `ca.crt`.
    #[schemars(length(min = 1))]
    pub secret: String,
    /// The DNS name in the certificate of Gatekeeper, if it is not that of its webhook service.
    pub client_name: Option<String>,
    /// Seconds that Gatekeeper waits for each answer.
    #[schemars(range(min = 1, max = 30))]
    pub timeout: u32,
    /// Namespaces that the constraints exclude, in addition to that of the release.
    pub excluded_namespaces: Option<Vec<String>>,
    /// When the constraints are part of the release.
    pub apply_constraints: ApplyConstraints,
    /// A constraint for each rule.
    pub constraints: Option<Constraints>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub enum ApplyConstraints {
    /// From the first `helm upgrade` on that finds their kinds: Gatekeeper makes them of the templates.
    Auto,
    /// At once, for tools that try again.
    Always,
    /// They are not part of the release.
    Never,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct Constraints {
    pub volume_node_affinity: Option<Constraint<VolumeNodeAffinity>>,
    pub tolerations: Option<Constraint<Tolerations>>,
    pub node_taints: Option<Constraint<NodeTaints>>,
    pub csi_driver_tokens: Option<Constraint<CsiDriverTokens>>,
    pub access_modes: Option<Constraint<AccessModes>>,
    pub local_volumes: Option<Constraint<LocalVolumes>>,
    pub volume_binding: Option<Constraint<VolumeBinding>>,
}

/// What is different from the constraint in `policies/gatekeeper/constraints/`.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct Constraint<Parameters> {
    /// True when absent.
    pub enabled: Option<bool>,
    /// What Gatekeeper does with a violation.
    pub enforcement_action: Option<EnforcementAction>,
    /// The section of the settings. They replace those of the file as a whole.
    pub parameters: Option<Parameters>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub enum EnforcementAction {
    /// The request is refused.
    Deny,
    /// The request passes, and the user sees a warning.
    Warn,
    /// The request passes, and an audit lists the violation.
    Dryrun,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct Image {
    #[schemars(length(min = 1))]
    pub repository: String,
    /// `v` and the version of the chart when empty.
    pub tag: Option<String>,
    /// Comes before the tag.
    #[schemars(regex(pattern = "^(sha256:[0-9a-f]{64})?$"))]
    pub digest: Option<String>,
    pub pull_policy: PullPolicy,
    /// Names of secrets.
    pub pull_secrets: Option<Vec<String>>,
}

#[derive(JsonSchema)]
pub enum PullPolicy {
    Always,
    IfNotPresent,
    Never,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct Module {
    /// `registry://HOST/REPOSITORY@sha256:…`, or the path of a file in the image. The version of the chart when empty.
    pub reference: Option<String>,
    /// A secret of type `kubernetes.io/dockerconfigjson`.
    pub registry_secret: Option<String>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct Certificates {
    /// Whether cert-manager issues the serving certificate.
    pub cert_manager: bool,
    /// Without cert-manager: the secret with `tls.crt` and `tls.key`.
    pub secret: Option<String>,
    /// The CA of the serving certificate, PEM.
    #[schemars(regex(pattern = "^(|\\s*-----BEGIN CERTIFICATE-----[\\s\\S]*)$"))]
    pub ca: Option<String>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct ServiceAccount {
    pub annotations: Option<BTreeMap<String, String>>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct PodDisruptionBudget {
    pub enabled: bool,
    #[schemars(range(min = 0))]
    pub min_available: u32,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct NetworkPolicy {
    pub enabled: bool,
    /// Addresses of the control plane, as in `10.0.0.0/28`. When empty, the port of the webhook is open to everyone.
    #[schemars(inner(regex(pattern = r"^[0-9a-fA-F.:]+/\d{1,3}$")))]
    pub control_plane: Option<Vec<String>>,
    /// The port of the API server, if settings read the cluster.
    #[schemars(range(min = 1, max = 65535))]
    pub api_server_port: u32,
    /// The port of the registry of the module.
    #[schemars(range(min = 1, max = 65535))]
    pub registry_port: u32,
    /// The namespace of Prometheus. When empty, the port of the metrics is closed.
    pub prometheus_namespace: Option<String>,
}
