//! What each finding means and how to mend it, for the pages and for the command line.

use placement_guard::rules::finding::Code;

/// What a person should know about a finding.
#[derive(Debug, Clone, Copy)]
pub struct Explained {
    pub code: Code,
    /// What is wrong, in a sentence.
    pub means: &'static str,
    /// What would be accepted, in a sentence.
    pub mend: &'static str,
}

/// Every finding, in report order. A test fails when one is missing.
pub const FINDINGS: &[Explained] = &[
    Explained {
        code: Code::NodeAffinityNarrowed,
        means: "The edit takes nodes away from the volume and gives it none.",
        mend: "Keep the old terms, declare the topology fact that makes the edit a widening, or allow `narrowed`.",
    },
    Explained {
        code: Code::NodeAffinityShifted,
        means: "The edit takes some nodes away from the volume and gives it others.",
        mend: "Keep the old terms next to the new ones, declare the topology fact that connects them, or allow `shifted`.",
    },
    Explained {
        code: Code::NodeAffinityWidened,
        means: "The edit gives nodes to the volume, and the settings do not allow that.",
        mend: "Allow `widened`.",
    },
    Explained {
        code: Code::NodeAffinityUndecided,
        means: "The relation between the old nodes and the new ones could not be decided.",
        mend: "Write fewer or simpler terms, or edit in smaller steps.",
    },
    Explained {
        code: Code::VolumeInUse,
        means: "The edit takes the volume away from a node on which it is attached or used by a pod.",
        mend: "Keep that node in the affinity, or move the pods to other nodes first.",
    },
    Explained {
        code: Code::VolumeModificationInFlight,
        means: "The claim's change to another VolumeAttributesClass has not ended, so the storage has not moved yet.",
        mend: "Edit the affinity when the status of the claim shows the new class.",
    },
    Explained {
        code: Code::NoLiveNode,
        means: "No node that is in the cluster can use the volume.",
        mend: "Write an affinity and zone labels that a node of the cluster meets.",
    },
    Explained {
        code: Code::MatchFieldsIgnored,
        means: "The scheduler ignores `matchFields` in a volume; a term that has nothing else matches every node.",
        mend: "Use `matchExpressions` on a node label, such as `kubernetes.io/hostname`.",
    },
    Explained {
        code: Code::DeadTerm,
        means: "No node can ever match this term.",
        mend: "Correct the requirement that the message names, or remove the term.",
    },
    Explained {
        code: Code::RedundantTerm,
        means: "Every node that this term matches is matched by another term.",
        mend: "Remove the term.",
    },
    Explained {
        code: Code::ZoneLabelBinds,
        means: "The new affinity admits nodes that the volume's own zone or region label keeps out.",
        mend: "Change or remove the label too.",
    },
    Explained {
        code: Code::FactsContradictVolume,
        means: "Under the declared topology facts no node could use the volume, so it was judged without them.",
        mend: "Correct `volumeNodeAffinity.topology`, or the volume.",
    },
    Explained {
        code: Code::FactsContradictNodes,
        means: "The settings declare a zone in one region, and a node of the cluster has it in another.",
        mend: "Correct `volumeNodeAffinity.topology.zones`, or the labels of the node.",
    },
    Explained {
        code: Code::TolerationNotAllowed,
        means: "The pod tolerates a taint that no allowed entry admits.",
        mend: "Narrow the toleration, or add the taint to `allowed`.",
    },
    Explained {
        code: Code::TolerationDenied,
        means: "The pod tolerates a taint that a denied entry names.",
        mend: "Narrow the toleration so that it no longer covers the denied taint.",
    },
    Explained {
        code: Code::TolerationSecondsExceeded,
        means: "The pod may stay on a node with this taint for longer than allowed.",
        mend: "Set `tolerationSeconds` to at most the limit. The first matching toleration in the list decides.",
    },
    Explained {
        code: Code::TolerationInvalidNumber,
        means: "The value of a `Gt` or `Lt` toleration is not a canonical 64-bit integer.",
        mend: "Write the integer without sign, leading zeros or fraction.",
    },
    Explained {
        code: Code::TolerationMatchesNothing,
        means: "No valid taint can meet this toleration.",
        mend: "Correct the threshold, or remove the toleration.",
    },
    Explained {
        code: Code::TolerationAdmitsEverything,
        means: "The tolerations together admit every taint of an effect, or every number of a key.",
        mend: "Name the keys and values that are meant.",
    },
    Explained {
        code: Code::NumericOperatorDisabled,
        means: "The settings say that this cluster does not support `Gt` and `Lt` in tolerations.",
        mend: "Use `Equal` or `Exists`, or set `numericOperators: allow` where the feature gate is on.",
    },
    Explained {
        code: Code::NodeNameSkipsTaints,
        means: "A pod with `spec.nodeName` skips the scheduler, so no `NoSchedule` or `PreferNoSchedule` taint keeps it away.",
        mend: "Use `nodeSelector` or node affinity, or set `tolerations.nodeName: allow`.",
    },
    Explained {
        code: Code::TolerationDoesNotAttract,
        means: "The pod may run on nodes that do not have the tainted key at all: a toleration permits, it does not attract.",
        mend: "Add required node affinity to a label that the tainted nodes carry.",
    },
    Explained {
        code: Code::TaintNotNumeric,
        means: "The value of a taint that should be a number is not one, so no `Gt` or `Lt` toleration meets it.",
        mend: "Write an integer from 0 to 9223372036854775807 without leading zeros.",
    },
    Explained {
        code: Code::TaintEvicts,
        means: "The new `NoExecute` taint evicts pods that run on the node.",
        mend: "Let the pods tolerate the taint, move them first, or raise `maxEvictions`.",
    },
    Explained {
        code: Code::TokenInVolumeContext,
        means: "The driver receives service-account tokens in `volume_context`, which is not kept secret.",
        mend: "Set `serviceAccountTokenInSecrets: true`, once every node runs a driver that reads `secrets`.",
    },
    Explained {
        code: Code::TokenAudienceNotAllowed,
        means: "The driver asks for a token for an audience that it may not use.",
        mend: "Remove the audience, or add it to an entry of `audiences` whose `drivers` match.",
    },
    Explained {
        code: Code::TokenExpirationOutOfRange,
        means: "The token would live shorter or longer than the settings allow.",
        mend: "Choose `expirationSeconds` within the limits. 3607 means a year for the API server's own audience.",
    },
    Explained {
        code: Code::TokenRepublishMissing,
        means: "Without `requiresRepublish` the driver never receives a fresh token.",
        mend: "Set `requiresRepublish: true`.",
    },
    Explained {
        code: Code::TokenRolloutIncomplete,
        means: "Tokens would move to `secrets` while a node or the driver's DaemonSet is not ready for that.",
        mend: "Upgrade the kubelets and roll out the driver first; then make the same change.",
    },
    Explained {
        code: Code::TokenBackToVolumeContext,
        means: "The edit moves tokens from `secrets` back into `volume_context`.",
        mend: "Keep `serviceAccountTokenInSecrets: true`.",
    },
    Explained {
        code: Code::SingleWriterRequired,
        means: "The claim asks for `ReadWriteOnce`, so every pod on its node may write at once.",
        mend: "Use `ReadWriteOncePod` on a CSI volume.",
    },
    Explained {
        code: Code::RwopNotAlone,
        means: "`ReadWriteOncePod` is listed next to another access mode.",
        mend: "List only `ReadWriteOncePod`, or leave it out.",
    },
    Explained {
        code: Code::RwopNotCsi,
        means: "`ReadWriteOncePod` is set on a volume that is not a CSI volume, where it does not work.",
        mend: "Use a CSI volume, or another access mode.",
    },
    Explained {
        code: Code::RwopShared,
        means: "Several pods name one `ReadWriteOncePod` claim, and only one of them can run at a time.",
        mend: "Run one pod at a time without surge, or give each pod a claim of its own.",
    },
    Explained {
        code: Code::SidecarTooOld,
        means: "The CSI sidecar is older than the first version that knows `ReadWriteOncePod`.",
        mend: "Use csi-provisioner 3.0.0, csi-attacher 3.3.0, csi-resizer 1.3.0 or later.",
    },
    Explained {
        code: Code::SidecarVersionUnknown,
        means: "The image of a CSI sidecar does not tell its upstream version.",
        mend: "Use a tag with the upstream version, without a digest; otherwise check the version yourself.",
    },
    Explained {
        code: Code::LocalPathNotAllowed,
        means: "A local volume uses a path of its node that is not allowed.",
        mend: "Use a path below one of `paths`.",
    },
    Explained {
        code: Code::LocalNotPinned,
        means: "More than one node, or none, can use a local volume, while its data is on one node.",
        mend: "Write an affinity that leaves exactly one value of one of the `pinnedBy` keys.",
    },
    Explained {
        code: Code::LocalNodeMissing,
        means: "No node of this cluster can use the local volume, so no pod can.",
        mend: "Write the label of a node that exists, or delete the volume with the node.",
    },
    Explained {
        code: Code::LocalPathOverlap,
        means: "Two volumes are the same folder of a node, or one lies within the other.",
        mend: "Give each volume of a node a path of its own.",
    },
    Explained {
        code: Code::LocalMoved,
        means: "A local volume was pinned to one node and is now pinned to another, while its data stays where it is.",
        mend: "Create another volume for the disk of the other node.",
    },
    Explained {
        code: Code::LocalForeignNode,
        means: "A requester that is bound to one node creates or changes a local volume of another node.",
        mend: "Let each node handle its own volumes; list a provisioner that serves all nodes under `exempt`.",
    },
    Explained {
        code: Code::HostPathNotAllowed,
        means: "A pod or volume uses a path of the node that is not allowed, or may write where only reading is allowed.",
        mend: "Use a path below one of `hostPaths`, and mount it as that entry asks.",
    },
    Explained {
        code: Code::HostPathNotRecursive,
        means: "The mount is read-only, but what is mounted below it on the node stays writable.",
        mend: "Set `recursiveReadOnly: Enabled` on the mount.",
    },
    Explained {
        code: Code::ImmediateBinding,
        means: "A claim is bound to a local volume before its pod has a node.",
        mend: "Use a StorageClass with `volumeBindingMode: WaitForFirstConsumer`.",
    },
    Explained {
        code: Code::ClusterUnreadable,
        means: "The settings need objects of the cluster that cannot be read.",
        mend: "Grant what the message names, or set `whenClusterUnreadable: allow`.",
    },
    Explained {
        code: Code::RequestTooLarge,
        means: "The rule could not judge the whole request within the budget of steps.",
        mend: "Write an object with fewer entries.",
    },
];
