//! The settings as types, from which their JSON Schema is generated. They are read elsewhere, by the rules themselves; a
//! test holds the two against each other.
//!
//! An editor shows the documentation comment of a key next to it.

use std::collections::BTreeMap;

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Value, json};

/// The schema as it is committed in `policies/settings.schema.json`.
///
/// # Errors
/// Never: a schema is JSON.
pub fn text() -> Result<String, serde_json::Error> {
    Ok(serde_json::to_string_pretty(&schema())? + "\n")
}

/// The schema as a JSON value, whose keys are sorted.
pub fn value() -> Value {
    schema().to_value()
}

fn schema() -> schemars::Schema {
    SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<Settings>()
}

const LABEL_KEY: &str = r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$";
const LABEL_VALUE: &str = r"^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$";
/// A version as in an image's tag: a number alone only with `v`.
const VERSION: &str = r"^([0-9]+\.[0-9]+(\.[0-9]+)?([-_.+].*)?|[vV][0-9]+(\.[0-9]+){0,2}([-_.+].*)?)$";
const GLOB: &str = r"^[-a-z0-9.*]*$";
/// No segment is `.` or `..`. Without looking ahead, which the regular expressions of a custom resource cannot.
const PATH: &str = r"^(/|(/([^/\\.][^/\\]*|\.[^/\\.][^/\\]*|\.\.[^/\\]+))+)$";

/// The settings of placement-guard. A rule is off when its section is absent; at least one section must be present.
#[derive(JsonSchema)]
#[schemars(title = "placement-guard settings", rename_all = "camelCase", deny_unknown_fields, extend("not" = {
    "additionalProperties": {"type": "null"},
}))]
pub struct Settings {
    /// PersistentVolume: edits of node affinity or zone labels that take the volume away from nodes.
    pub volume_node_affinity: Option<VolumeNodeAffinity>,
    /// Pods and every workload with a pod template: which taints they may tolerate, and for how long.
    pub tolerations: Option<Tolerations>,
    /// Node: taints that should be numeric but are not.
    pub node_taints: Option<NodeTaints>,
    /// CSIDriver: which service-account tokens a driver may request, and that the tokens stay secret.
    pub csi_driver_tokens: Option<CsiDriverTokens>,
    /// Claims, claim templates, PersistentVolumes and workloads: a single writer where only one pod should write.
    pub access_modes: Option<AccessModes>,
    /// PersistentVolume, StorageClass, Pods and workloads: local volumes and paths of nodes.
    pub local_volumes: Option<LocalVolumes>,
    /// Bindings and Pods: whether a pod can reach its volumes from the node that it gets. Reads the cluster.
    pub volume_binding: Option<VolumeBinding>,
}

/// Whether a finding of the section refuses the request.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub enum Enforcement {
    /// Findings refuse the request; the default.
    Deny,
    /// Findings are warnings, and the request passes.
    Warn,
}

/// What happens to a request whose answer needs objects of the cluster that cannot be read. When absent, a setting that
/// refuses requests refuses it, and a setting that warns lets it pass with a warning.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub enum WhenClusterUnreadable {
    /// It is refused.
    Deny,
    /// It passes with a warning.
    Allow,
}

/// What a finding that reads the cluster does. Without the setting nothing is read for it.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub enum Reaction {
    /// It refuses the request.
    Deny,
    /// The request passes with a warning.
    Warn,
    /// It is not looked for; the default.
    Ignore,
}

/// Whose requests the section leaves alone: break-glass users and groups, and system namespaces.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct Exempt {
    /// Names of users, as in `userInfo.username`.
    #[schemars(inner(length(min = 1)))]
    pub users: Option<Vec<String>>,
    /// Names of groups, as in `userInfo.groups`.
    #[schemars(inner(length(min = 1)))]
    pub groups: Option<Vec<String>>,
    /// Namespaces of the objects.
    #[schemars(inner(length(min = 1)))]
    pub namespaces: Option<Vec<String>>,
}

/// Edits of node affinity or zone labels of a PersistentVolume, compared as sets of nodes.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct VolumeNodeAffinity {
    /// The relations of the new set of nodes to the old that are accepted in addition to `unchanged` and `equivalent`.
    /// Default: `[widened]`.
    pub allow: Option<Vec<Relation>>,
    /// Which nodes count: `anyNode`, every conceivable node that the topology allows; or `liveNodes`, only the nodes that are in
    /// the cluster (reads nodes).
    pub judge_by: Option<JudgeBy>,
    /// What is true of the nodes of the cluster and cannot be read from selectors.
    pub topology: Option<Topology>,
    /// A node loses the volume while the volume is attached to it, or while a pod that has not finished uses it there; also
    /// where narrowing is allowed (reads nodes, pods, claims and VolumeAttachments).
    pub while_in_use: Option<Reaction>,
    /// Refuses edits while the claim's change to another VolumeAttributesClass has not ended (reads claims).
    pub require_settled_volume_attributes: Option<bool>,
    /// No node of the cluster can use the volume; on CREATE and in audits too (reads nodes).
    pub stranded_volumes: Option<Reaction>,
    pub when_cluster_unreadable: Option<WhenClusterUnreadable>,
    pub enforcement: Option<Enforcement>,
    pub exempt: Option<Exempt>,
}

/// How the new set of nodes relates to the old.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub enum Relation {
    /// Only gains.
    Widened,
    /// Only losses.
    Narrowed,
    /// Gains and losses.
    Shifted,
    /// Not decided within the budget of steps.
    Undecided,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub enum JudgeBy {
    /// Every conceivable node that the topology allows; the default.
    AnyNode,
    /// The nodes that are in the cluster.
    LiveNodes,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub enum Ignore {
    Ignore,
}

/// Facts about the nodes of the cluster. They are judged together: some node must be able to satisfy all of them.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct Topology {
    /// Region to zones: a node in one of these zones carries that region. A zone lies in one region.
    #[schemars(extend("propertyNames" = {"pattern": LABEL_VALUE}, "additionalProperties" = {
        "type": ["array", "null"], "items": {"type": "string", "pattern": LABEL_VALUE},
    }))]
    pub zones: Option<BTreeMap<String, Option<Vec<String>>>>,
    /// Old label to new: a node that carries the old one carries the new one with the same value. The beta labels of zone,
    /// region, os, arch and instance type are built-in aliases of their successors.
    #[schemars(extend("propertyNames" = {"pattern": LABEL_KEY}, "additionalProperties" = {
        "type": ["string", "null"], "pattern": LABEL_KEY,
    }))]
    pub aliases: Option<BTreeMap<String, String>>,
    /// A node that matches the one term matches the other too.
    pub implications: Option<Vec<Implication>>,
    /// Whether the region in which the nodes of the cluster have a zone is a fact too (reads nodes). A zone that nodes have in
    /// two regions is left out, and what `zones` declares counts first.
    pub from_live_nodes: Option<bool>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct Implication {
    /// The nodes to which the implication applies; every node when absent.
    #[schemars(rename = "if")]
    pub when: Option<Term>,
    /// What such a node matches.
    pub then: Term,
}

/// A node selector term on labels.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct Term {
    /// All of these must be met.
    #[schemars(length(min = 1))]
    pub match_expressions: Vec<Requirement>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields, transform = values_as_the_operator_takes_them)]
pub struct Requirement {
    /// The label of the node.
    #[schemars(regex(pattern = LABEL_KEY))]
    pub key: String,
    pub operator: NodeOperator,
    /// At least one for `In` and `NotIn`, none for `Exists` and `DoesNotExist`, one integer for `Gt` and `Lt`.
    #[schemars(inner(regex(pattern = LABEL_VALUE_OR_EMPTY)))]
    pub values: Option<Vec<String>>,
}

#[derive(JsonSchema)]
pub enum NodeOperator {
    In,
    NotIn,
    Exists,
    DoesNotExist,
    Gt,
    Lt,
}

fn values_as_the_operator_takes_them(schema: &mut schemars::Schema) {
    let when = |operators: &[&str], then: Value| json!({"if": {"properties": {"operator": {"enum": operators}}}, "then": then});
    schema.insert(
        String::from("allOf"),
        json!([
            when(
                &["In", "NotIn"],
                json!({"required": ["values"], "properties": {"values": {"type": "array", "minItems": 1}}})
            ),
            when(&["Exists", "DoesNotExist"], json!({"properties": {"values": {"maxItems": 0}}})),
            when(
                &["Gt", "Lt"],
                json!({"required": ["values"], "properties": {"values": {
                    "type": "array", "minItems": 1, "maxItems": 1, "items": {"pattern": "^[0-9]+$"}
                }}})
            ),
        ]),
    );
}

/// Which taints pods may tolerate, and for how long. A toleration permits, it does not attract.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct Tolerations {
    /// The taints that may be tolerated, written as tolerations: the pod must not tolerate any other taint. When
    /// absent, every taint is allowed; an empty list allows none.
    pub allowed: Option<Vec<Allowed>>,
    /// The taints that no pod may tolerate, written as tolerations.
    pub denied: Option<Vec<Denied>>,
    /// Whether the tolerations that Kubernetes itself adds are allowed, for the pods to which it adds
    /// them. True when absent.
    pub standard: Option<bool>,
    /// Whether `Gt` and `Lt` may be used. Set `deny` if the feature gate is off. `allow` when absent.
    pub numeric_operators: Option<NumericOperators>,
    /// Whether a pod may name its node: `nodeName` skips the scheduler, and with it every `NoSchedule` and
    /// `PreferNoSchedule` taint. `deny` when absent.
    pub node_name: Option<NodeName>,
    /// A new `Gt` or `Lt` toleration of a pod that may also run on nodes without the taint: a toleration permits, it does
    /// not attract. Reads nodes.
    pub attraction: Option<Attraction>,
    pub when_cluster_unreadable: Option<WhenClusterUnreadable>,
    pub enforcement: Option<Enforcement>,
    pub exempt: Option<Exempt>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub enum NumericOperators {
    Allow,
    Deny,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub enum NodeName {
    Allow,
    /// Refused unless `allowed` covers every `NoSchedule` and `PreferNoSchedule` taint and `denied` none.
    Deny,
}

/// Whether a toleration that does not attract is reported.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub enum Attraction {
    /// The request passes with a warning.
    Warn,
    /// It is not looked for; the default.
    Ignore,
}

/// A toleration that is allowed.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields, transform = value_as_the_operator_takes_it)]
pub struct Allowed {
    /// The taint's key; absent with `Exists` for every taint.
    #[schemars(regex(pattern = LABEL_KEY_OR_EMPTY))]
    pub key: Option<String>,
    /// `Equal` when absent. `Lt 20` lets a pod stay where the taint's number is below 20.
    pub operator: Option<TolerationOperator>,
    /// The value, as a string also where it is a number.
    pub value: Option<String>,
    /// Every effect when absent.
    pub effect: Option<Effect>,
    /// How many seconds a pod may stay on a node with such a `NoExecute` taint. No limit when absent. With `standard`,
    /// never less than 300 seconds for not-ready and unreachable.
    #[schemars(range(min = 0))]
    pub max_toleration_seconds: Option<i64>,
}

/// A toleration that is denied.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields, transform = value_as_the_operator_takes_it)]
pub struct Denied {
    /// The taint's key; absent with `Exists` for every taint.
    #[schemars(regex(pattern = LABEL_KEY_OR_EMPTY))]
    pub key: Option<String>,
    /// `Equal` when absent.
    pub operator: Option<TolerationOperator>,
    /// The value, as a string also where it is a number.
    pub value: Option<String>,
    /// Every effect when absent.
    pub effect: Option<Effect>,
}

const LABEL_KEY_OR_EMPTY: &str = r"^(([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$";
const LABEL_VALUE_OR_EMPTY: &str = r"^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$";

#[derive(JsonSchema)]
pub enum TolerationOperator {
    Equal,
    Exists,
    Gt,
    Lt,
    /// As `Equal`.
    #[schemars(rename = "")]
    Unsaid,
}

#[derive(JsonSchema)]
pub enum Effect {
    NoSchedule,
    PreferNoSchedule,
    NoExecute,
    /// Every effect.
    #[schemars(rename = "")]
    Every,
}

fn value_as_the_operator_takes_it(schema: &mut schemars::Schema) {
    let operator =
        |operator: serde_json::Value| json!({"required": ["operator"], "properties": {"operator": operator}});
    let value = |value: serde_json::Value| json!({"properties": {"value": value}});
    let a_number = json!({"type": "string", "pattern": "^(0|-?[1-9][0-9]*)$"});
    schema.insert(
        String::from("allOf"),
        json!([
            {"if": operator(json!({"const": "Exists"})), "then": value(json!({"enum": [null, ""]}))},
            {
                "if": operator(json!({"enum": ["Gt", "Lt"]})),
                "then": {"required": ["value"], "properties": {"value": a_number}},
                "else": value(json!({"pattern": LABEL_VALUE_OR_EMPTY})),
            },
            {
                "if": {"properties": {"key": {"enum": [null, ""]}}},
                "then": operator(json!({"const": "Exists"})),
            },
        ]),
    );
}

/// Taints that should be numeric, and taints that evict pods. No `Gt` and no `Lt` tolerates a taint with another value.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct NodeTaints {
    /// Taints with these keys must carry an integer from 0 without leading zeros.
    #[schemars(inner(regex(pattern = LABEL_KEY)))]
    pub numeric_keys: Option<Vec<String>>,
    /// New or changed `NoExecute` taints that evict pods from the node. The finding says which pods, and when. Reads pods.
    pub evictions: Option<Reaction>,
    /// How many pods may go before `evictions: deny` refuses the taint; 0 when absent. Has no effect without `evictions`.
    #[schemars(range(min = 0))]
    pub max_evictions: Option<i64>,
    pub when_cluster_unreadable: Option<WhenClusterUnreadable>,
    pub enforcement: Option<Enforcement>,
    pub exempt: Option<Exempt>,
}

/// Service-account tokens of CSI drivers. This rule judges drivers that ask for tokens.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct CsiDriverTokens {
    /// With `tokenRequests`, `serviceAccountTokenInSecrets` must be true. Needs API servers of 1.35.
    pub require_secrets: Option<bool>,
    /// The audiences for which drivers may request tokens. Not judged when absent. Where several entries match a driver, it
    /// may request what any of them allows; a driver that no entry matches may request no audience.
    pub audiences: Option<Vec<Audiences>>,
    /// How long a token may live. An absent `expirationSeconds` counts as 3600 seconds. 3607 seconds for an audience of the
    /// API server count as a year: the API server extends exactly that number.
    pub expiration_seconds: Option<Seconds>,
    /// The audiences of the API server, as `--api-audiences` lists them. `""` is always one. When absent:
    /// `[https://kubernetes.default.svc, https://kubernetes.default.svc.cluster.local]`.
    pub api_server_audiences: Option<Vec<String>>,
    /// With `tokenRequests`, `requiresRepublish` must be true, so that tokens are renewed.
    pub require_republish: Option<bool>,
    /// When `serviceAccountTokenInSecrets` becomes true, every node that has the driver must be ready for it. Reads nodes,
    /// CSINodes and DaemonSets.
    pub rollout: Option<Rollout>,
    pub when_cluster_unreadable: Option<WhenClusterUnreadable>,
    pub enforcement: Option<Enforcement>,
    pub exempt: Option<Exempt>,
}

/// What makes a node ready for tokens in `secrets`.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct Rollout {
    /// The first version of the kubelet that is accepted. `"1.35"` when absent: older kubelets ignore the field.
    #[schemars(regex(pattern = VERSION))]
    pub min_kubelet: Option<String>,
    /// The DaemonSets that bring drivers to the nodes. When present, a driver that no entry names is refused.
    pub node_plugins: Option<Vec<NodePlugin>>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct NodePlugin {
    /// The name of the CSIDriver.
    #[schemars(length(min = 1))]
    pub driver: String,
    /// The namespace of the DaemonSet.
    #[schemars(length(min = 1))]
    pub namespace: String,
    #[schemars(length(min = 1))]
    pub daemon_set: String,
    /// The container of the driver.
    #[schemars(length(min = 1))]
    pub container: String,
    /// The first version of the driver that reads `secrets`. The tag of the container's image must say that it is this
    /// version or a later one.
    #[schemars(regex(pattern = VERSION))]
    pub min_version: String,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct Audiences {
    /// Names of drivers, in which `*` matches any characters.
    #[schemars(length(min = 1), inner(regex(pattern = GLOB)))]
    pub drivers: Vec<String>,
    /// The audiences; `""` is the API server itself. An empty list allows none.
    pub allow: Vec<String>,
}

/// At least one of the two.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields, extend("anyOf" = [
    {"required": ["min"], "properties": {"min": {"type": "integer"}}},
    {"required": ["max"], "properties": {"max": {"type": "integer"}}},
]))]
pub struct Seconds {
    #[schemars(range(min = 600, max = 4_294_967_296i64))]
    pub min: Option<i64>,
    #[schemars(range(min = 600, max = 4_294_967_296i64))]
    pub max: Option<i64>,
}

/// A single writer where only one pod should write. The rule always reports `ReadWriteOncePod` next to another mode, or
/// on a volume that is not CSI.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct AccessModes {
    /// Which claims should use `ReadWriteOncePod`. The rule reports those that ask for `ReadWriteOnce` and not for
    /// `ReadWriteMany`. If several entries match, the strictest applies.
    pub single_writer: Option<Vec<SingleWriter>>,
    /// CSI sidecars must know `ReadWriteOncePod`: csi-provisioner 3.0.0, csi-attacher 3.3.0, csi-resizer 1.3.0 or later. An
    /// image with a digest, or with a vendor's own versions, is a warning.
    pub csi_sidecars: Option<bool>,
    /// Several pods that name one `ReadWriteOncePod` claim: those of a workload, and a pod next to one that uses the claim
    /// already. Reads pods and claims.
    pub shared_claims: Option<Reaction>,
    pub when_cluster_unreadable: Option<WhenClusterUnreadable>,
    pub enforcement: Option<Enforcement>,
    pub exempt: Option<Exempt>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct SingleWriter {
    /// Names of StorageClasses, in which `*` matches any characters; `""` is a claim that names none. Every class when
    /// absent.
    #[schemars(length(min = 1), inner(regex(pattern = GLOB)))]
    pub storage_classes: Option<Vec<String>>,
    /// Namespaces, in which `*` matches any characters. Every namespace when absent.
    #[schemars(length(min = 1), inner(regex(pattern = GLOB)))]
    pub namespaces: Option<Vec<String>>,
    pub level: Level,
}

/// Whether a claim that may have several writers is refused.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub enum Level {
    /// It is refused.
    Require,
    /// It passes with a warning.
    Prefer,
}

/// Volumes that live on a single node.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields, extend("dependentSchemas" = {"pinnedBy": {"anyOf": [
    {"properties": {"pinnedBy": {"type": "null"}}},
    {"required": ["pinned"], "properties": {"pinned": {"const": true}}},
    {"required": ["ownNodeOnly"], "properties": {"ownNodeOnly": {"const": true}}},
]}, "provisioners": {"anyOf": [
    {"properties": {"provisioners": {"type": "null"}}},
    {"required": ["waitForFirstConsumer"], "properties": {"waitForFirstConsumer": {"const": true}}},
]}}))]
pub struct LocalVolumes {
    /// The affinity of a local volume must leave exactly one value of one of the keys of `pinnedBy`, and an update must keep it.
    /// Where `hostPaths` or `paths` judges `hostPath` volumes, the same holds for them.
    pub pinned: Option<bool>,
    /// The labels that name a node. `[kubernetes.io/hostname]` when absent. The host name takes precedence,
    /// then the first key.
    #[schemars(length(min = 1), inner(regex(pattern = LABEL_KEY)))]
    pub pinned_by: Option<Vec<String>>,
    /// A requester that is bound to a node, such as a kubelet or any pod, makes and changes `local` and `hostPath` volumes of
    /// that node only. Exempt the clients that handle the volumes of all nodes.
    pub own_node_only: Option<bool>,
    /// The paths of nodes that `local` volumes may use. Where absent, `hostPaths` applies to them; without either they are not
    /// judged. An empty list allows no path.
    #[schemars(inner(regex(pattern = PATH)))]
    pub paths: Option<Vec<String>>,
    /// The paths of nodes that volumes and pods may use as `hostPath`. Where absent, `paths` applies to them; without either
    /// they are not judged. An empty list allows no path.
    pub host_paths: Option<Vec<HostPath>>,
    /// Classes of `kubernetes.io/no-provisioner` must bind with `WaitForFirstConsumer`, and `local` volumes must have a class.
    pub wait_for_first_consumer: Option<bool>,
    /// A `local` or `hostPath` volume that no node of the cluster can use. Reads nodes.
    pub missing_node: Option<Reaction>,
    /// Two `local` or `hostPath` volumes that a node can use both, where the path of the one lies within that of the other.
    /// Reads PersistentVolumes.
    pub overlap: Option<Reaction>,
    /// More provisioners whose classes must bind with `WaitForFirstConsumer`, such as those that make `local` volumes.
    #[schemars(inner(length(min = 1)))]
    pub provisioners: Option<Vec<String>>,
    pub when_cluster_unreadable: Option<WhenClusterUnreadable>,
    pub enforcement: Option<Enforcement>,
    pub exempt: Option<Exempt>,
}

/// Whether a pod can reach its volumes from the node that it gets: from a Binding, or because the Pod names it. Where the
/// section is present, this is always judged. Reads pods, claims, PersistentVolumes and nodes, one by one. When the cluster
/// cannot be read, a binding is refused unless `whenClusterUnreadable` says otherwise.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct VolumeBinding {
    /// A new Pod whose volumes, together with its node selector and required node affinity, no node could reach. Where nodes
    /// can be read: that no node of the cluster can reach. Reads nodes, claims, PersistentVolumes and StorageClasses.
    pub unreachable_together: Option<Reaction>,
    pub when_cluster_unreadable: Option<WhenClusterUnreadable>,
    pub enforcement: Option<Enforcement>,
    pub exempt: Option<Exempt>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct HostPath {
    /// The path, with everything below it. Compared segment by segment.
    #[schemars(regex(pattern = PATH))]
    pub prefix: String,
    /// `true` accepts read-only mounts and warns of those that are not recursive; `recursive` requires
    /// `recursiveReadOnly: Enabled`. False when absent.
    #[schemars(extend("type" = ["boolean", "string", "null"], "enum" = [true, false, "recursive", null]))]
    pub read_only: Option<bool>,
}
