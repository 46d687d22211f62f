//! A CA, the servers' certificate and Gatekeeper's, for one run.

use std::path::Path;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair};
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

pub const CLIENT: &str = "gatekeeper-webhook-service.gatekeeper-system.svc";

/// Writes what the servers read, and makes what a client needs.
pub fn write(folder: &Path) -> Arc<ClientConfig> {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    let ca = params.self_signed(&key).unwrap();
    let issuer = Issuer::new(params, key);
    let issue = |name: &str| {
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        let key = KeyPair::generate().unwrap();
        (params.signed_by(&key, &issuer).unwrap(), key)
    };
    let (server, server_key) = issue("localhost");
    let files = [("ca.crt", ca.pem()), ("tls.crt", server.pem()), ("tls.key", server_key.serialize_pem())];
    for (name, text) in files {
        std::fs::write(folder.join(name), text).unwrap();
    }
    let mut roots = RootCertStore::empty();
    roots.add(ca.der().clone()).unwrap();
    let (client, client_key) = issue(CLIENT);
    let chain = vec![CertificateDer::from(client)];
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let config = config.with_safe_default_protocol_versions().unwrap().with_root_certificates(roots);
    let key = PrivatePkcs8KeyDer::from(client_key.serialize_der());
    Arc::new(config.with_client_auth_cert(chain, key.into()).unwrap())
}
