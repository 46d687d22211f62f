//! The kinds of objects that rules read from the cluster.

/// A kind of object, with the names under which the API server knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Node,
    Pod,
    PersistentVolume,
    PersistentVolumeClaim,
    VolumeAttachment,
}

impl Kind {
    pub const ALL: [Kind; 5] =
        [Kind::Node, Kind::Pod, Kind::PersistentVolume, Kind::PersistentVolumeClaim, Kind::VolumeAttachment];

    /// As in `kind`.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Node => "Node",
            Kind::Pod => "Pod",
            Kind::PersistentVolume => "PersistentVolume",
            Kind::PersistentVolumeClaim => "PersistentVolumeClaim",
            Kind::VolumeAttachment => "VolumeAttachment",
        }
    }

    /// As in RBAC rules.
    pub fn resource(self) -> &'static str {
        match self {
            Kind::Node => "nodes",
            Kind::Pod => "pods",
            Kind::PersistentVolume => "persistentvolumes",
            Kind::PersistentVolumeClaim => "persistentvolumeclaims",
            Kind::VolumeAttachment => "volumeattachments",
        }
    }

    /// The API group; empty for the core.
    pub fn group(self) -> &'static str {
        match self {
            Kind::Node | Kind::Pod | Kind::PersistentVolume | Kind::PersistentVolumeClaim => "",
            Kind::VolumeAttachment => "storage.k8s.io",
        }
    }

    /// As in `apiVersion`.
    pub fn api_version(self) -> &'static str {
        match self {
            Kind::Node | Kind::Pod | Kind::PersistentVolume | Kind::PersistentVolumeClaim => "v1",
            Kind::VolumeAttachment => "storage.k8s.io/v1",
        }
    }

    /// Whether its objects lie in namespaces.
    pub fn is_namespaced(self) -> bool {
        matches!(self, Kind::Pod | Kind::PersistentVolumeClaim)
    }
}
