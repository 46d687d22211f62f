//! The certificate and the key that this server shows.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arc_swap::ArcSwap;
use tokio_rustls::rustls::crypto::CryptoProvider;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::{ClientHello, ResolvesServerCert};
use tokio_rustls::rustls::sign::CertifiedKey;
use x509_parser::parse_x509_certificate;

/// What is wrong with a file of certificates or keys.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {problem}", file.display())]
pub struct CannotUse {
    pub file: PathBuf,
    pub problem: String,
}

impl CannotUse {
    pub fn new(file: &Path, problem: impl Into<String>) -> Self {
        CannotUse { file: file.to_path_buf(), problem: problem.into() }
    }
}

/// From when to when a certificate is valid, in seconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Validity {
    pub from: i64,
    pub until: i64,
}

impl Validity {
    /// Reads it from a certificate.
    pub fn of(certificate: &CertificateDer<'_>) -> Result<Self, String> {
        let (_, certificate) = parse_x509_certificate(certificate)
            .map_err(|error| format!("contains a certificate that cannot be read: {error}"))?;
        let validity = certificate.validity();
        Ok(Validity { from: validity.not_before.timestamp(), until: validity.not_after.timestamp() })
    }

    pub fn holds_at(self, now: i64) -> bool {
        (self.from..=self.until).contains(&now)
    }

    /// When both are valid.
    pub fn and(self, other: Validity) -> Validity {
        Validity { from: self.from.max(other.from), until: self.until.min(other.until) }
    }
}

/// Seconds since 1970.
pub fn now() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}

/// Every certificate of a PEM file, at least one.
pub fn certificates(file: &Path, pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, CannotUse> {
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let read = read.map_err(|error| CannotUse::new(file, format!("is not PEM: {error}")))?;
    if read.is_empty() {
        return Err(CannotUse::new(file, "contains no certificate"));
    }
    Ok(read)
}

/// A certificate with its key.
#[derive(Debug)]
pub struct ServingPair {
    key: Arc<CertifiedKey>,
    pub validity: Validity,
}

impl ServingPair {
    /// Reads a pair that belongs together.
    pub fn read(
        (certificate_file, certificate): (&Path, &[u8]),
        (key_file, key): (&Path, &[u8]),
        cryptography: &CryptoProvider,
    ) -> Result<Self, CannotUse> {
        let chain = certificates(certificate_file, certificate)?;
        let leaf = chain.first().ok_or_else(|| CannotUse::new(certificate_file, "contains no certificate"))?;
        let validity = Validity::of(leaf).map_err(|problem| CannotUse::new(certificate_file, problem))?;
        let key = PrivateKeyDer::from_pem_slice(key)
            .map_err(|error| CannotUse::new(key_file, format!("contains no private key: {error}")))?;
        let key = CertifiedKey::from_der(chain, key, cryptography).map_err(|error| {
            CannotUse::new(
                key_file,
                format!("is not the key of the certificate in `{}`: {error}", certificate_file.display()),
            )
        })?;
        Ok(ServingPair { key: Arc::new(key), validity })
    }
}

/// Shows whichever pair was loaded last, to each handshake that begins.
#[derive(Debug)]
pub struct Shown(pub Arc<ArcSwap<ServingPair>>);

impl ResolvesServerCert for Shown {
    fn resolve(&self, _hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.0.load().key))
    }
}
