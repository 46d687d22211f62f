//! The kinds of objects that rules read from the cluster.

/// A kind of object, with the names under which the API server knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Node,
    Pod,
    PersistentVolume,
    PersistentVolumeClaim,
    VolumeAttachment,
    StorageClass,
    CsiNode,
    DaemonSet,
}

impl Kind {
    pub const ALL: [Kind; 8] = [
        Kind::Node,
        Kind::Pod,
        Kind::PersistentVolume,
        Kind::PersistentVolumeClaim,
        Kind::VolumeAttachment,
        Kind::StorageClass,
        Kind::CsiNode,
        Kind::DaemonSet,
    ];

    /// As in `kind`.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Node => "Node",
            Kind::Pod => "Pod",
            Kind::PersistentVolume => "PersistentVolume",
            Kind::PersistentVolumeClaim => "PersistentVolumeClaim",
            Kind::VolumeAttachment => "VolumeAttachment",
            Kind::StorageClass => "StorageClass",
            Kind::CsiNode => "CSINode",
            Kind::DaemonSet => "DaemonSet",
        }
    }

    /// The kind of this name.
    pub fn named(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// As in RBAC rules.
    pub fn resource(self) -> &'static str {
        match self {
            Kind::Node => "nodes",
            Kind::Pod => "pods",
            Kind::PersistentVolume => "persistentvolumes",
            Kind::PersistentVolumeClaim => "persistentvolumeclaims",
            Kind::VolumeAttachment => "volumeattachments",
            Kind::StorageClass => "storageclasses",
            Kind::CsiNode => "csinodes",
            Kind::DaemonSet => "daemonsets",
        }
    }

    /// The API group; empty for the core.
    pub fn group(self) -> &'static str {
        self.api_version().split_once('/').map_or("", |(group, _)| group)
    }

    /// As in `apiVersion`.
    pub fn api_version(self) -> &'static str {
        match self {
            Kind::Node | Kind::Pod | Kind::PersistentVolume | Kind::PersistentVolumeClaim => "v1",
            Kind::VolumeAttachment | Kind::StorageClass | Kind::CsiNode => "storage.k8s.io/v1",
            Kind::DaemonSet => "apps/v1",
        }
    }

    /// Whether its objects lie in namespaces.
    pub fn is_namespaced(self) -> bool {
        matches!(self, Kind::Pod | Kind::PersistentVolumeClaim | Kind::DaemonSet)
    }
}
