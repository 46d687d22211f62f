//! The kinds of objects that can be read, and what is kept of each.

use placement_guard::kubernetes::kind::Kind;

use super::fields::Fields;

/// What the API server lists under one path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resource {
    pub api_version: &'static str,
    pub kind: &'static str,
    /// As paths and RBAC rules name it.
    pub plural: &'static str,
}

impl Resource {
    /// The path of all its objects, of one namespace only where one is given.
    pub fn path(self, namespace: Option<&str>) -> String {
        let Resource { api_version, plural, .. } = self;
        let prefix = if self.is_core() { "api" } else { "apis" };
        match namespace {
            Some(namespace) => format!("/{prefix}/{api_version}/namespaces/{namespace}/{plural}"),
            None => format!("/{prefix}/{api_version}/{plural}"),
        }
    }

    /// Whether it is in the group without a name.
    pub fn is_core(self) -> bool {
        !self.api_version.contains('/')
    }
}

/// How the API server serves objects of a kind.
pub fn resource(kind: Kind) -> Resource {
    Resource { api_version: kind.api_version(), kind: kind.name(), plural: kind.resource() }
}

/// The fields that are kept of the objects of a kind: what rules read, and nothing that could be secret.
pub fn kept(kind: Kind) -> Fields {
    Fields::of(match kind {
        Kind::Node => {
            &["metadata.name", "metadata.labels", "spec.taints", "spec.unschedulable", "status.nodeInfo.kubeletVersion"]
        }
        Kind::Pod => &[
            "metadata.name",
            "metadata.namespace",
            "metadata.uid",
            "metadata.deletionTimestamp",
            "metadata.ownerReferences",
            "metadata.annotations.[kubernetes.io/config.mirror]",
            "metadata.annotations.[kubernetes.io/config.source]",
            "spec.nodeName",
            "spec.priority",
            "spec.tolerations",
            "spec.volumes.name",
            "spec.volumes.persistentVolumeClaim",
            "spec.volumes.ephemeral.volumeClaimTemplate.spec.accessModes",
            "spec.volumes.ephemeral.volumeClaimTemplate.spec.storageClassName",
            "spec.volumes.hostPath",
            "status.phase",
        ],
        Kind::PersistentVolumeClaim => &[
            "metadata.name",
            "metadata.namespace",
            "metadata.uid",
            "metadata.ownerReferences",
            "metadata.annotations.[volume.beta.kubernetes.io/storage-class]",
            "spec.accessModes",
            "spec.storageClassName",
            "spec.volumeAttributesClassName",
            "spec.volumeMode",
            "spec.volumeName",
            "status.currentVolumeAttributesClassName",
            "status.modifyVolumeStatus",
            "status.phase",
        ],
        Kind::PersistentVolume => &[
            "metadata.name",
            "metadata.labels",
            "metadata.annotations",
            "spec.accessModes",
            "spec.awsElasticBlockStore",
            "spec.azureDisk",
            "spec.capacity",
            "spec.cinder",
            "spec.claimRef",
            "spec.csi.driver",
            "spec.csi.volumeHandle",
            "spec.gcePersistentDisk",
            "spec.hostPath",
            "spec.local",
            "spec.mountOptions",
            "spec.nfs",
            "spec.nodeAffinity",
            "spec.persistentVolumeReclaimPolicy",
            "spec.storageClassName",
            "spec.volumeAttributesClassName",
            "spec.volumeMode",
            "spec.vsphereVolume",
            "status.phase",
        ],
        Kind::VolumeAttachment => &[
            "metadata.name",
            "spec.attacher",
            "spec.nodeName",
            "spec.source.persistentVolumeName",
            "spec.source.inlineVolumeSpec.csi.driver",
            "spec.source.inlineVolumeSpec.csi.volumeHandle",
            "status.attached",
        ],
        Kind::StorageClass => &[
            "metadata.name",
            "metadata.labels",
            "metadata.annotations",
            "allowVolumeExpansion",
            "allowedTopologies",
            "mountOptions",
            "parameters",
            "provisioner",
            "reclaimPolicy",
            "volumeBindingMode",
        ],
        Kind::CsiNode => &["metadata.name", "spec"],
        Kind::DaemonSet => &[
            "metadata.name",
            "metadata.namespace",
            "metadata.generation",
            "spec.selector",
            "spec.updateStrategy",
            "spec.template.spec.containers.name",
            "spec.template.spec.containers.image",
            "spec.template.spec.initContainers.name",
            "spec.template.spec.initContainers.image",
            "status",
        ],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_those_of_the_api_server() {
        assert_eq!(resource(Kind::Node).path(None), "/api/v1/nodes");
        assert_eq!(resource(Kind::Pod).path(Some("ns")), "/api/v1/namespaces/ns/pods");
        assert_eq!(resource(Kind::CsiNode).path(None), "/apis/storage.k8s.io/v1/csinodes");
        assert_eq!(resource(Kind::DaemonSet).path(None), "/apis/apps/v1/daemonsets");
    }
}
