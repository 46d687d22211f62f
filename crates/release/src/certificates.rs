//! The authorities that the program in the image trusts, when it pulls a module from a registry or reads a cluster whose
//! kubeconfig names no CA.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// Where rustls looks for them on Linux.
pub const PATH: &str = "etc/ssl/certs/ca-certificates.crt";

/// Mozilla's list, PEM, in one order.
pub fn bundle() -> Vec<u8> {
    let mut certificates: Vec<&[u8]> = webpki_root_certs::TLS_SERVER_ROOT_CERTS.iter().map(AsRef::as_ref).collect();
    certificates.sort_unstable();
    let mut bundle = Vec::new();
    for certificate in certificates {
        bundle.extend_from_slice(b"-----BEGIN CERTIFICATE-----\n");
        for line in STANDARD.encode(certificate).as_bytes().chunks(64) {
            bundle.extend_from_slice(line);
            bundle.push(b'\n');
        }
        bundle.extend_from_slice(b"-----END CERTIFICATE-----\n");
    }
    bundle
}
