//! The keys by which modules are signed: ECDSA on P-256 and Ed25519, in PEM, as `cosign` and `openssl` write them.

use std::path::{Path, PathBuf};

use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_ASN1, ECDSA_P256_SHA256_ASN1_SIGNING, ED25519, EcdsaKeyPair, Ed25519KeyPair, UnparsedPublicKey,
    VerificationAlgorithm,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{PrivatePkcs8KeyDer, SubjectPublicKeyInfoDer};
use x509_parser::prelude::FromDer;
use x509_parser::x509::SubjectPublicKeyInfo;

use crate::RegistryError;

/// The object identifiers of the two kinds of keys (RFC 5480, RFC 8410).
const EC_PUBLIC_KEY: &str = "1.2.840.10045.2.1";
const P256: &str = "1.2.840.10045.3.1.7";
const ED25519_KEY: &str = "1.3.101.112";

/// A key that checks signatures.
#[derive(Debug, Clone)]
pub struct VerifyKey {
    /// The file, for messages.
    pub(crate) file: PathBuf,
    algorithm: &'static dyn VerificationAlgorithm,
    bytes: Vec<u8>,
}

impl VerifyKey {
    /// Reads a `PUBLIC KEY` in PEM.
    ///
    /// # Errors
    /// A file that cannot be read, and a key of another kind.
    pub fn read(file: &Path) -> Result<Self, RegistryError> {
        let unusable = |reason: String| RegistryError::Key { file: file.to_path_buf(), reason };
        let pem = std::fs::read(file).map_err(|error| unusable(error.to_string()))?;
        let der = SubjectPublicKeyInfoDer::from_pem_slice(&pem)
            .map_err(|_| unusable(String::from("it does not hold a `PUBLIC KEY` in PEM")))?;
        let (_, info) = SubjectPublicKeyInfo::from_der(&der)
            .map_err(|_| unusable(String::from("its `PUBLIC KEY` cannot be read")))?;
        let curve = info.algorithm.parameters.as_ref().and_then(|parameters| parameters.as_oid().ok());
        let curve = curve.map(|curve| curve.to_id_string());
        let algorithm: &'static dyn VerificationAlgorithm =
            match (info.algorithm.algorithm.to_id_string().as_str(), curve.as_deref()) {
                (EC_PUBLIC_KEY, Some(P256)) => &ECDSA_P256_SHA256_ASN1,
                (ED25519_KEY, _) => &ED25519,
                _ => return Err(unusable(String::from("it must be an ECDSA key on P-256 or an Ed25519 key"))),
            };
        let bytes = info.subject_public_key.data.into_owned();
        Ok(VerifyKey { file: file.to_path_buf(), algorithm, bytes })
    }

    /// Whether `signature` is this key's over `message`.
    pub(crate) fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        UnparsedPublicKey::new(self.algorithm, &self.bytes).verify(message, signature).is_ok()
    }
}

/// A key that signs.
pub struct SignKey {
    file: PathBuf,
    pair: Pair,
}

enum Pair {
    Ecdsa(EcdsaKeyPair),
    Ed25519(Ed25519KeyPair),
}

impl SignKey {
    /// Reads a `PRIVATE KEY` in PEM: PKCS#8, not encrypted.
    ///
    /// # Errors
    /// A file that cannot be read, an encrypted key, and a key of another kind.
    pub fn read(file: &Path) -> Result<Self, RegistryError> {
        let unusable = |reason: &str| RegistryError::Key { file: file.to_path_buf(), reason: reason.to_owned() };
        let pem = std::fs::read(file).map_err(|error| unusable(&error.to_string()))?;
        let der = PrivatePkcs8KeyDer::from_pem_slice(&pem)
            .map_err(|_| unusable("it does not hold an unencrypted `PRIVATE KEY` in PEM (PKCS#8)"))?;
        let der = der.secret_pkcs8_der();
        let ecdsa = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, der, &SystemRandom::new());
        let pair = match ecdsa {
            Ok(pair) => Pair::Ecdsa(pair),
            // `openssl` leaves the public half out of Ed25519 keys.
            Err(_) => Pair::Ed25519(
                Ed25519KeyPair::from_pkcs8_maybe_unchecked(der)
                    .map_err(|_| unusable("it must be an ECDSA key on P-256 or an Ed25519 key"))?,
            ),
        };
        Ok(SignKey { file: file.to_path_buf(), pair })
    }

    /// Signs `message`.
    pub(crate) fn sign(&self, message: &[u8]) -> Result<Vec<u8>, RegistryError> {
        match &self.pair {
            Pair::Ecdsa(pair) => pair
                .sign(&SystemRandom::new(), message)
                .map(|signature| signature.as_ref().to_vec())
                .map_err(|_| RegistryError::Key { file: self.file.clone(), reason: String::from("it cannot sign") }),
            Pair::Ed25519(pair) => Ok(pair.sign(message).as_ref().to_vec()),
        }
    }
}
