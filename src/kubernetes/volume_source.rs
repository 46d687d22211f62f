//! What a PersistentVolume is made of: its source and its access modes.

use super::claim::AccessModes;
use super::field::{Field, Unreadable};

/// Sources of which every operation is redirected to a CSI driver, so that to the kubelet they are CSI volumes
/// (`csi-translation-lib`, and the deprecation notes of `PersistentVolumeSource`, Kubernetes 1.35). Their own code is gone
/// from Kubernetes. `rbd` and `cephfs` are gone without a successor in the same field and are not among them.
pub const MIGRATED_TO_CSI: [&str; 7] = [
    "awsElasticBlockStore",
    "azureDisk",
    "azureFile",
    "cinder",
    "gcePersistentDisk",
    "portworxVolume",
    "vsphereVolume",
];

/// The sources that are not CSI volumes.
const NOT_CSI: [&str; 14] = [
    "cephfs",
    "fc",
    "flexVolume",
    "flocker",
    "glusterfs",
    "hostPath",
    "iscsi",
    "local",
    "nfs",
    "photonPersistentDisk",
    "quobyte",
    "rbd",
    "scaleIO",
    "storageos",
];

/// What is judged of a PersistentVolume besides where it can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VolumeSource<'v> {
    pub access_modes: AccessModes<'v>,
    /// Whether it is a CSI volume, or one that migrates to CSI.
    pub is_csi: bool,
    /// The name of the source, if it is neither CSI nor a known source.
    pub other: Option<&'static str>,
    /// The path of a `local` volume.
    pub local_path: Option<&'v str>,
    /// The path of a `hostPath` volume.
    pub host_path: Option<&'v str>,
}

impl<'v> VolumeSource<'v> {
    /// Reads what is judged of a PersistentVolume.
    ///
    /// # Errors
    /// A wrong JSON type in the fragment.
    pub fn read(object: &Field<'v, '_>) -> Result<Self, Unreadable> {
        let spec = object.get("spec")?;
        let mut is_csi = spec.get("csi")?.is_present();
        for name in MIGRATED_TO_CSI {
            is_csi |= spec.get(name)?.is_present();
        }
        let mut other = None;
        for name in NOT_CSI {
            if other.is_none() && spec.get(name)?.is_present() {
                other = Some(name);
            }
        }
        Ok(VolumeSource {
            access_modes: AccessModes::read(&spec.get("accessModes")?)?,
            is_csi,
            other,
            local_path: path(&spec.get("local")?)?,
            host_path: path(&spec.get("hostPath")?)?,
        })
    }
}

fn path<'v>(source: &Field<'v, '_>) -> Result<Option<&'v str>, Unreadable> {
    let path = source.string_of("path")?.unwrap_or_default();
    Ok(source.is_present().then_some(path))
}
