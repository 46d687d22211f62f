//! Certificates in a folder of their own.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, KeyUsagePurpose,
    date_time_ymd,
};
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// Whom Gatekeeper's own certificate is for, and what `--client-name` is unless it is said.
pub const GATEKEEPER: &str = "gatekeeper-webhook-service.gatekeeper-system.svc";

/// A certificate and its key, as PEM.
#[derive(Clone)]
pub struct Pair {
    pub certificate: String,
    pub key: String,
}

impl Pair {
    pub fn der(&self) -> (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>) {
        let certificate = CertificateDer::from_pem_slice(self.certificate.as_bytes()).unwrap();
        (vec![certificate], PrivateKeyDer::from_pem_slice(self.key.as_bytes()).unwrap())
    }
}

/// One that signs.
pub struct Ca {
    pub certificate: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Ca {
    pub fn new(name: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        params.distinguished_name.push(DnType::CommonName, name);
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap().pem();
        Ca { certificate, issuer: Issuer::new(params, key) }
    }

    pub fn der(&self) -> CertificateDer<'static> {
        CertificateDer::from_pem_slice(self.certificate.as_bytes()).unwrap()
    }

    /// A certificate for both uses, as Gatekeeper's is.
    pub fn issue(&self, name: &str) -> Pair {
        self.issue_with(name, |_| ())
    }

    pub fn issue_expired(&self, name: &str) -> Pair {
        self.issue_with(name, |params| {
            params.not_before = date_time_ymd(2020, 1, 1);
            params.not_after = date_time_ymd(2021, 1, 1);
        })
    }

    pub fn issue_for_servers_only(&self, name: &str) -> Pair {
        self.issue_with(name, |params| params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth])
    }

    fn issue_with(&self, name: &str, change: impl FnOnce(&mut CertificateParams)) -> Pair {
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        change(&mut params);
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap().pem();
        Pair { certificate, key: key.serialize_pem() }
    }
}

/// What a server and its clients need, in files as Kubernetes mounts them: `NAME` is a link into `..data`, which is a
/// link to a folder that is swapped as a whole.
pub struct Pki {
    pub folder: tempfile::TempDir,
    pub ca: Arc<Ca>,
}

impl Default for Pki {
    fn default() -> Self {
        let pki = Pki { folder: tempfile::tempdir().unwrap(), ca: Arc::new(Ca::new("test CA")) };
        for name in ["tls.crt", "tls.key", "ca.crt"] {
            std::os::unix::fs::symlink(Path::new("..data").join(name), pki.path(name)).unwrap();
        }
        pki.mount(&pki.ca.issue("localhost"), &pki.ca.certificate);
        pki
    }
}

impl Pki {
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Puts other files into place, all at once.
    pub fn mount(&self, pair: &Pair, ca: &str) {
        let data = tempfile::Builder::new().prefix("..").tempdir_in(&self.folder).unwrap().keep();
        for (name, text) in [("tls.crt", &*pair.certificate), ("tls.key", &pair.key), ("ca.crt", ca)] {
            std::fs::write(data.join(name), text).unwrap();
        }
        let link = self.path("..data_tmp");
        std::os::unix::fs::symlink(data.file_name().unwrap(), &link).unwrap();
        std::fs::rename(link, self.path("..data")).unwrap();
    }
}
