//! A CA, the servers' certificate and Gatekeeper's, for one run.

use std::path::Path;

use rcgen::{BasicConstraints, CertificateParams, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair};

pub const CLIENT: &str = "gatekeeper-webhook-service.gatekeeper-system.svc";

/// Writes what the servers read, and what a client needs.
pub fn write(folder: &Path) {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    let ca = params.self_signed(&key).unwrap();
    let issuer = Issuer::new(params, key);
    std::fs::write(folder.join("ca.crt"), ca.pem()).unwrap();
    for (file, name) in [("tls", "localhost"), ("client", CLIENT)] {
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &issuer).unwrap();
        std::fs::write(folder.join(file).with_extension("crt"), certificate.pem()).unwrap();
        std::fs::write(folder.join(file).with_extension("key"), key.serialize_pem()).unwrap();
    }
}
