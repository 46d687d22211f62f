//! Who a client is. The handshake asks for a certificate, and each request judges it afterwards: a certificate that is not
//! good enough for one path does not close another that needs none.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use host::sha256;
use tokio_rustls::rustls::client::danger::HandshakeSignatureValid;
use tokio_rustls::rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use tokio_rustls::rustls::pki_types::{CertificateDer, UnixTime};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use tokio_rustls::rustls::{
    DigitallySignedStruct, DistinguishedName, Error, ProtocolVersion, RootCertStore, SignatureScheme,
};
use x509_parser::extensions::GeneralName;
use x509_parser::parse_x509_certificate;

use crate::serving_pair::{CannotUse, Validity, certificates, now};

/// Takes every certificate whose holder proves to have its key. [`Clients`] says what the certificate is worth.
#[derive(Debug)]
pub struct AskedFor(pub Arc<CryptoProvider>);

impl ClientCertVerifier for AskedFor {
    fn client_auth_mandatory(&self) -> bool {
        false
    }

    /// None: a client that is given names might not send a certificate that a reloaded CA would accept.
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, cert, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, cert, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

/// The certificates of one CA file, as they were read last.
#[derive(Debug)]
pub struct Authority {
    verifier: Arc<dyn ClientCertVerifier>,
    /// Of the certificate that is valid for the longest.
    pub validity: Validity,
}

impl Authority {
    /// Reads the certificates that sign clients.
    ///
    /// A leaf certificate is refused: as a trust anchor it would accept only itself, no matter who signed it.
    pub fn read(file: &Path, pem: &[u8], cryptography: &Arc<CryptoProvider>) -> Result<Self, CannotUse> {
        let mut roots = RootCertStore::empty();
        let mut validity: Option<Validity> = None;
        for certificate in certificates(file, pem)? {
            let its = Validity::of(&certificate).map_err(|problem| CannotUse::new(file, problem))?;
            validity = Some(validity.filter(|validity| validity.until >= its.until).unwrap_or(its));
            signs_others(&certificate).map_err(|problem| CannotUse::new(file, problem))?;
            let not_usable =
                |error| CannotUse::new(file, format!("contains a certificate that cannot be used as a CA: {error}"));
            roots.add(certificate).map_err(not_usable)?;
        }
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(cryptography)).build();
        let verifier = verifier.map_err(|error| CannotUse::new(file, error.to_string()))?;
        let validity = validity.ok_or_else(|| CannotUse::new(file, "contains no certificate"))?;
        Ok(Authority { verifier, validity })
    }
}

/// The clients that a path answers.
#[derive(Debug)]
pub struct Clients {
    pub authority: Arc<ArcSwap<Authority>>,
    /// The DNS name that the certificate must be for; `None` where the chain is enough.
    pub name: Option<String>,
}

/// Why a client is not answered. The messages are for the person who sets it up; they reveal nothing about the CA.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotAnswered {
    #[error("a client certificate is required but none was sent")]
    None,
    #[error("the client certificate is not signed by the required CA, not for client authentication, or not valid now")]
    Chain,
    #[error("the client certificate is not for the name in `--client-name`")]
    Name,
    #[error("TLS 1.3 is required")]
    OldTls,
}

impl NotAnswered {
    /// For metrics.
    pub fn reason(self) -> &'static str {
        match self {
            NotAnswered::None => "no-certificate",
            NotAnswered::Chain => "chain",
            NotAnswered::Name => "name",
            NotAnswered::OldTls => "tls-version",
        }
    }
}

/// The other end of a connection.
#[derive(Debug)]
pub struct Peer {
    chain: Vec<CertificateDer<'static>>,
    is_tls13: bool,
    /// What the last request was told, and how long that is valid: a chain is checked again only when the CA was
    /// reloaded or something has expired.
    known: Mutex<Vec<Known>>,
}

#[derive(Debug)]
struct Known {
    authority: Arc<Authority>,
    validity: Validity,
    verdict: Result<(), NotAnswered>,
}

impl Peer {
    pub fn new(chain: Option<&[CertificateDer<'_>]>, version: Option<ProtocolVersion>) -> Self {
        let chain = chain.unwrap_or_default().iter().map(|certificate| certificate.clone().into_owned()).collect();
        Peer { chain, is_tls13: version == Some(ProtocolVersion::TLSv1_3), known: Mutex::new(Vec::new()) }
    }

    /// The digest of its own certificate, whatever that is worth.
    pub fn certificate(&self) -> Option<String> {
        self.chain.first().map(|leaf| sha256(leaf))
    }

    /// Gatekeeper always speaks TLS 1.3.
    pub fn speaks_tls13(&self) -> Result<(), NotAnswered> {
        if self.is_tls13 { Ok(()) } else { Err(NotAnswered::OldTls) }
    }

    /// Whether it is one of these clients, now.
    pub fn is_one_of(&self, clients: &Clients) -> Result<(), NotAnswered> {
        let authority = clients.authority.load_full();
        let now = now();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let still =
            known.iter().find(|known| Arc::ptr_eq(&known.authority, &authority) && known.validity.holds_at(now));
        if let Some(known) = still {
            return known.verdict;
        }
        let verdict = self.check(&authority, clients.name.as_deref());
        known.retain(|known| !Arc::ptr_eq(&known.authority, &authority));
        if let Some(validity) = self.validity() {
            // At most one for each path that knows its clients.
            known.truncate(1);
            known.push(Known { authority, validity, verdict });
        }
        verdict
    }

    fn validity(&self) -> Option<Validity> {
        let all = self.chain.iter().map(|certificate| Validity::of(certificate).ok());
        all.reduce(|one, other| Some(one?.and(other?))).flatten()
    }

    fn check(&self, authority: &Authority, name: Option<&str>) -> Result<(), NotAnswered> {
        let (leaf, intermediates) = self.chain.split_first().ok_or(NotAnswered::None)?;
        let verified = authority.verifier.verify_client_cert(leaf, intermediates, UnixTime::now());
        verified.map_err(|_reason| NotAnswered::Chain)?;
        match name {
            Some(name) if !is_for(leaf, name) => Err(NotAnswered::Name),
            _ => Ok(()),
        }
    }
}

/// Whether a certificate may sign others.
fn signs_others(certificate: &CertificateDer<'_>) -> Result<(), String> {
    let (_, certificate) = parse_x509_certificate(certificate)
        .map_err(|error| format!("contains a certificate that cannot be read: {error}"))?;
    let is_ca = certificate.is_ca();
    let usage = certificate.key_usage().ok().flatten();
    if is_ca && usage.is_none_or(|usage| usage.value.key_cert_sign()) {
        return Ok(());
    }
    let subject: String = certificate.subject().to_string().chars().take(100).collect();
    Err(format!("the certificate of `{subject}` is not a CA certificate"))
}

/// Whether one of the certificate's own DNS names is exactly this one. A wildcard does not name a client.
fn is_for(certificate: &CertificateDer<'_>, name: &str) -> bool {
    let Ok((_, certificate)) = parse_x509_certificate(certificate) else { return false };
    let Ok(Some(names)) = certificate.subject_alternative_name() else { return false };
    names.value.general_names.iter().any(|it| matches!(it, GeneralName::DNSName(dns) if dns.eq_ignore_ascii_case(name)))
}
