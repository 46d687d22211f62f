//! What each finding means and how to mend it: the one table for the pages and for the command line.

use placement_guard::rules::finding::{Code, Severity};

/// What a person should know about a finding.
#[derive(Debug, Clone, Copy)]
pub struct Explained {
    /// The code that machines read.
    pub name: &'static str,
    /// The code of the rule that finds it; `None` where only the command line can, because no single request shows it.
    pub code: Option<Code>,
    /// What it does unless the settings say otherwise.
    pub severity: Severity,
    /// What is wrong, in a sentence.
    pub means: &'static str,
    /// What would be accepted, in a sentence.
    pub mend: &'static str,
    /// Settings and manifests with which it is found, as in a case; `None` where a short example does not show it.
    pub example: Option<&'static str>,
}

/// The page of the findings, for links. Each has a heading of its own.
pub const PAGE: &str = "https://github.com/placement-guard/placement-guard/blob/main/docs/findings.md";

impl Explained {
    const fn of(code: Code, means: &'static str, mend: &'static str, example: Option<&'static str>) -> Self {
        Explained { name: code.name(), code: Some(code), severity: code.severity(), means, mend, example }
    }

    const fn of_the_command_line(
        name: &'static str,
        severity: Severity,
        means: &'static str,
        mend: &'static str,
    ) -> Self {
        Explained { name, code: None, severity, means, mend, example: None }
    }

    /// Where it is explained.
    pub fn link(&self) -> String {
        format!("{PAGE}#{}", self.name)
    }

    /// Its heading, a few words for people: the code without dashes.
    pub fn title(&self) -> String {
        self.name.replace('-', " ")
    }
}

/// Everything that can be found, those of the command line first.
pub fn all() -> impl Iterator<Item = &'static Explained> {
    OF_THE_COMMAND_LINE.iter().chain(FINDINGS)
}

/// The finding with this code.
pub fn named(name: &str) -> Option<&'static Explained> {
    all().find(|explained| explained.name == name)
}

/// An object that cannot be read: admission refuses it with code 422.
pub const UNREADABLE: &str = "unreadable";
/// Two documents of one change that must not be applied together.
pub const NOT_TOGETHER: &str = "not-together";
/// A CSIDriver that is switched to tokens in `secrets`.
pub const SECRETS_NEED_SERVERS: &str = "token-secrets-need-servers";
/// A silence that names no code or gives no reason.
pub const IGNORE_NOT_UNDERSTOOD: &str = "ignore-not-understood";

/// What only the command line finds.
pub const OF_THE_COMMAND_LINE: &[Explained] = &[
    Explained::of_the_command_line(
        UNREADABLE,
        Severity::Refuses,
        "The object cannot be read, for instance because a field has another JSON type. Admission refuses it with code 422.",
        "Correct the field that the message names.",
    ),
    Explained::of_the_command_line(
        NOT_TOGETHER,
        Severity::Refuses,
        "One change moves the tokens of a CSI driver into `secrets` and brings another version of the driver to the nodes. Until \
         the last node runs it, mounts there get no token.",
        "Apply the DaemonSet first, wait for `kubectl rollout status`, then apply the CSIDriver.",
    ),
    Explained::of_the_command_line(
        SECRETS_NEED_SERVERS,
        Severity::Warns,
        "The change sets `serviceAccountTokenInSecrets`. API servers before 1.35 drop the field, and a kubelet or a driver that \
         does not know `secrets` passes no token.",
        "Upgrade the API servers and the kubelets to 1.35 or later, then the driver on every node, then apply this change.",
    ),
    Explained::of_the_command_line(
        IGNORE_NOT_UNDERSTOOD,
        Severity::Warns,
        "The annotation `placement-guard.dev/ignore` names no known code or gives no reason, so it silences nothing.",
        "Write `CODE: reason`, one on each line.",
    ),
];

/// Every finding of the rules, in report order. A test fails when one is missing.
pub const FINDINGS: &[Explained] = &[
    Explained::of(
        Code::NodeAffinityNarrowed,
        "The edit takes nodes away from the volume and gives it none.",
        "Keep the old terms, declare the topology fact that makes the edit a widening, or allow `narrowed`.",
        Some(include_str!("../examples/node-affinity-narrowed.yaml")),
    ),
    Explained::of(
        Code::NodeAffinityShifted,
        "The edit takes some nodes away from the volume and gives it others.",
        "Keep the old terms next to the new ones, declare the topology fact that connects them, or allow `shifted`.",
        Some(include_str!("../examples/node-affinity-shifted.yaml")),
    ),
    Explained::of(
        Code::NodeAffinityWidened,
        "The edit gives nodes to the volume, and the settings do not allow that.",
        "Allow `widened`.",
        Some(include_str!("../examples/node-affinity-widened.yaml")),
    ),
    Explained::of(
        Code::NodeAffinityUndecided,
        "The relation between the old nodes and the new ones could not be decided.",
        "Write fewer or simpler terms, or edit in smaller steps.",
        None,
    ),
    Explained::of(
        Code::VolumeInUse,
        "The edit takes the volume away from a node on which it is attached or used by a pod.",
        "Keep that node in the affinity, or move the pods to other nodes first.",
        Some(include_str!("../examples/volume-in-use.yaml")),
    ),
    Explained::of(
        Code::VolumeModificationInFlight,
        "The claim's change to another VolumeAttributesClass has not ended, so the storage has not moved yet.",
        "Edit the affinity when the status of the claim shows the new class.",
        Some(include_str!("../examples/volume-modification-in-flight.yaml")),
    ),
    Explained::of(
        Code::NoLiveNode,
        "No node that is in the cluster can use the volume.",
        "Write an affinity and zone labels that a node of the cluster meets.",
        Some(include_str!("../examples/no-live-node.yaml")),
    ),
    Explained::of(
        Code::NodeAffinityWithoutRequired,
        "The node affinity has no `required`, so it restricts nothing. The API server refuses it.",
        "Correct the misspelt key, or remove `nodeAffinity`.",
        Some(include_str!("../examples/node-affinity-without-required.yaml")),
    ),
    Explained::of(
        Code::MatchFieldsIgnored,
        "The scheduler ignores `matchFields` in a volume; a term that has nothing else matches every node.",
        "Use `matchExpressions` on a node label, such as `kubernetes.io/hostname`.",
        Some(include_str!("../examples/match-fields-ignored.yaml")),
    ),
    Explained::of(
        Code::DeadTerm,
        "No node can ever match this term.",
        "Correct the requirement that the message names, or remove the term.",
        Some(include_str!("../examples/dead-term.yaml")),
    ),
    Explained::of(
        Code::RedundantTerm,
        "Every node that this term matches is matched by another term.",
        "Remove the term.",
        Some(include_str!("../examples/redundant-term.yaml")),
    ),
    Explained::of(
        Code::ZoneLabelBinds,
        "The new affinity admits nodes that the volume's own zone or region label keeps out.",
        "Change or remove the label too.",
        Some(include_str!("../examples/zone-label-binds.yaml")),
    ),
    Explained::of(
        Code::FactsContradictVolume,
        "Under the declared topology facts no node could use the volume, so it was judged without them.",
        "Correct `volumeNodeAffinity.topology`, or the volume.",
        Some(include_str!("../examples/facts-contradict-volume.yaml")),
    ),
    Explained::of(
        Code::FactsContradictNodes,
        "The settings declare a zone in one region, and a node of the cluster has it in another.",
        "Correct `volumeNodeAffinity.topology.zones`, or the labels of the node.",
        Some(include_str!("../examples/facts-contradict-nodes.yaml")),
    ),
    Explained::of(
        Code::TolerationNotAllowed,
        "The pod tolerates a taint that no allowed entry admits.",
        "Narrow the toleration, or add the taint to `allowed`.",
        Some(include_str!("../examples/toleration-not-allowed.yaml")),
    ),
    Explained::of(
        Code::TolerationDenied,
        "The pod tolerates a taint that a denied entry names.",
        "Narrow the toleration so that it no longer covers the denied taint.",
        Some(include_str!("../examples/toleration-denied.yaml")),
    ),
    Explained::of(
        Code::TolerationSecondsExceeded,
        "The pod may stay on a node with this taint for longer than allowed.",
        "Set `tolerationSeconds` to at most the limit. The first matching toleration in the list decides.",
        Some(include_str!("../examples/toleration-seconds-exceeded.yaml")),
    ),
    Explained::of(
        Code::TolerationInvalidNumber,
        "The value of a `Gt` or `Lt` toleration is not a canonical 64-bit integer.",
        "Write the integer without sign, leading zeros or fraction.",
        Some(include_str!("../examples/toleration-invalid-number.yaml")),
    ),
    Explained::of(
        Code::TolerationMatchesNothing,
        "No valid taint can meet this toleration.",
        "Correct the threshold, or remove the toleration.",
        Some(include_str!("../examples/toleration-matches-nothing.yaml")),
    ),
    Explained::of(
        Code::TolerationAdmitsEverything,
        "The tolerations together admit every taint of an effect, or every number of a key.",
        "Name the keys and values that are meant.",
        Some(include_str!("../examples/toleration-admits-everything.yaml")),
    ),
    Explained::of(
        Code::NumericOperatorDisabled,
        "The settings say that this cluster does not support `Gt` and `Lt` in tolerations.",
        "Use `Equal` or `Exists`, or set `numericOperators: allow` where the feature gate is on.",
        Some(include_str!("../examples/numeric-operator-disabled.yaml")),
    ),
    Explained::of(
        Code::NodeNameSkipsTaints,
        "A pod with `spec.nodeName` skips the scheduler, so no `NoSchedule` or `PreferNoSchedule` taint keeps it away.",
        "Use `nodeSelector` or node affinity, or set `tolerations.nodeName: allow`.",
        Some(include_str!("../examples/node-name-skips-taints.yaml")),
    ),
    Explained::of(
        Code::TolerationDoesNotAttract,
        "The pod may run on nodes that do not have the tainted key at all: a toleration permits, it does not attract.",
        "Add required node affinity to a label that the tainted nodes carry.",
        Some(include_str!("../examples/toleration-does-not-attract.yaml")),
    ),
    Explained::of(
        Code::TaintNotNumeric,
        "The value of a taint that should be a number is not one, so no `Gt` or `Lt` toleration meets it.",
        "Write an integer from 0 to 9223372036854775807 without leading zeros.",
        Some(include_str!("../examples/taint-not-numeric.yaml")),
    ),
    Explained::of(
        Code::TaintEvicts,
        "The new `NoExecute` taint evicts pods that run on the node.",
        "Let the pods tolerate the taint, move them first, or raise `maxEvictions`.",
        Some(include_str!("../examples/taint-evicts.yaml")),
    ),
    Explained::of(
        Code::TokenInVolumeContext,
        "The driver receives service-account tokens in `volume_context`, which is not kept secret.",
        "Set `serviceAccountTokenInSecrets: true`, once every node runs a driver that reads `secrets`.",
        Some(include_str!("../examples/token-in-volume-context.yaml")),
    ),
    Explained::of(
        Code::TokenAudienceNotAllowed,
        "The driver asks for a token for an audience that it may not use.",
        "Remove the audience, or add it to an entry of `audiences` whose `drivers` match.",
        Some(include_str!("../examples/token-audience-not-allowed.yaml")),
    ),
    Explained::of(
        Code::TokenExpirationOutOfRange,
        "The token would live shorter or longer than the settings allow.",
        "Choose `expirationSeconds` within the limits. 3607 means a year for the API server's own audience.",
        Some(include_str!("../examples/token-expiration-out-of-range.yaml")),
    ),
    Explained::of(
        Code::TokenRepublishMissing,
        "Without `requiresRepublish` the driver never receives a fresh token.",
        "Set `requiresRepublish: true`.",
        Some(include_str!("../examples/token-republish-missing.yaml")),
    ),
    Explained::of(
        Code::TokenRolloutIncomplete,
        "Tokens would move to `secrets` while a node or the driver's DaemonSet is not ready for that.",
        "Upgrade the kubelets and roll out the driver first; then make the same change.",
        Some(include_str!("../examples/token-rollout-incomplete.yaml")),
    ),
    Explained::of(
        Code::TokenBackToVolumeContext,
        "The edit moves tokens from `secrets` back into `volume_context`.",
        "Keep `serviceAccountTokenInSecrets: true`.",
        Some(include_str!("../examples/token-back-to-volume-context.yaml")),
    ),
    Explained::of(
        Code::SingleWriterRequired,
        "The claim asks for `ReadWriteOnce`, so every pod on its node may write at once.",
        "Use `ReadWriteOncePod` on a CSI volume.",
        Some(include_str!("../examples/single-writer-required.yaml")),
    ),
    Explained::of(
        Code::RwopNotAlone,
        "`ReadWriteOncePod` is listed next to another access mode.",
        "List only `ReadWriteOncePod`, or leave it out.",
        Some(include_str!("../examples/rwop-not-alone.yaml")),
    ),
    Explained::of(
        Code::RwopNotCsi,
        "`ReadWriteOncePod` is set on a volume that is not a CSI volume, where it does not work.",
        "Use a CSI volume, or another access mode.",
        Some(include_str!("../examples/rwop-not-csi.yaml")),
    ),
    Explained::of(
        Code::RwopShared,
        "Several pods name one `ReadWriteOncePod` claim, and only one of them can run at a time.",
        "Run one pod at a time without surge, or give each pod a claim of its own.",
        Some(include_str!("../examples/rwop-shared.yaml")),
    ),
    Explained::of(
        Code::SidecarTooOld,
        "The CSI sidecar is older than the first version that knows `ReadWriteOncePod`.",
        "Use csi-provisioner 3.0.0, csi-attacher 3.3.0, csi-resizer 1.3.0 or later.",
        Some(include_str!("../examples/sidecar-too-old.yaml")),
    ),
    Explained::of(
        Code::SidecarVersionUnknown,
        "The image of a CSI sidecar does not tell its upstream version.",
        "Use a tag with the upstream version, without a digest; otherwise check the version yourself.",
        Some(include_str!("../examples/sidecar-version-unknown.yaml")),
    ),
    Explained::of(
        Code::LocalPathNotAllowed,
        "A local volume uses a path of its node that is not allowed.",
        "Use a path below one of `paths`.",
        Some(include_str!("../examples/local-path-not-allowed.yaml")),
    ),
    Explained::of(
        Code::LocalNotPinned,
        "More than one node, or none, can use a local volume, while its data is on one node.",
        "Write an affinity that leaves exactly one value of one of the `pinnedBy` keys.",
        Some(include_str!("../examples/local-not-pinned.yaml")),
    ),
    Explained::of(
        Code::LocalNodeMissing,
        "No node of this cluster can use the local volume, so no pod can.",
        "Write the label of a node that exists, or delete the volume with the node.",
        Some(include_str!("../examples/local-node-missing.yaml")),
    ),
    Explained::of(
        Code::LocalPathOverlap,
        "Two volumes are the same folder of a node, or one lies within the other.",
        "Give each volume of a node a path of its own.",
        Some(include_str!("../examples/local-path-overlap.yaml")),
    ),
    Explained::of(
        Code::LocalMoved,
        "A local volume was pinned to one node and is now pinned to another, while its data stays where it is.",
        "Create another volume for the disk of the other node.",
        Some(include_str!("../examples/local-moved.yaml")),
    ),
    Explained::of(
        Code::LocalForeignNode,
        "A requester that is bound to one node creates or changes a local volume of another node.",
        "Let each node handle its own volumes; list a provisioner that serves all nodes under `exempt`.",
        None,
    ),
    Explained::of(
        Code::HostPathNotAllowed,
        "A pod or volume uses a path of the node that is not allowed, or may write where only reading is allowed.",
        "Use a path below one of `hostPaths`, and mount it as that entry asks.",
        Some(include_str!("../examples/host-path-not-allowed.yaml")),
    ),
    Explained::of(
        Code::HostPathNotRecursive,
        "The mount is read-only, but what is mounted below it on the node stays writable.",
        "Set `recursiveReadOnly: Enabled` on the mount.",
        Some(include_str!("../examples/host-path-not-recursive.yaml")),
    ),
    Explained::of(
        Code::ImmediateBinding,
        "A claim is bound to a local volume before its pod has a node.",
        "Use a StorageClass with `volumeBindingMode: WaitForFirstConsumer`.",
        Some(include_str!("../examples/immediate-binding.yaml")),
    ),
    Explained::of(
        Code::BindingUnreachable,
        "A pod gets a node from which it cannot reach one of its volumes.",
        "The scheduler retries a Binding by itself. A Pod that names its node needs another node, or none.",
        Some(include_str!("../examples/binding-unreachable.yaml")),
    ),
    Explained::of(
        Code::VolumesUnreachableTogether,
        "No node can reach all volumes of the pod and meet its node selector and required node affinity.",
        "Use volumes that one node can reach, or another node selector.",
        Some(include_str!("../examples/volumes-unreachable-together.yaml")),
    ),
    Explained::of(
        Code::ClusterUnreadable,
        "The settings need objects of the cluster that cannot be read.",
        "Grant what the message names, or set `whenClusterUnreadable: allow`.",
        Some(include_str!("../examples/cluster-unreadable.yaml")),
    ),
    Explained::of(
        Code::RequestTooLarge,
        "The rule could not judge the whole request within the budget of steps.",
        "Write an object with fewer entries.",
        None,
    ),
];
