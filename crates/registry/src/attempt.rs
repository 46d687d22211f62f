//! What was being done when it failed: from an error of the protocol to a sentence.

use std::error::Error;

use oci_client::errors::{DigestError, OciDistributionError, OciErrorCode};

use crate::RegistryError;
use crate::access::Credentials;
use crate::location::Location;

/// What was being done, for sentences about its failure.
pub(crate) struct Attempt<'a> {
    /// `push` or `pull`.
    pub doing: &'static str,
    /// Whose digest is checked at this point.
    pub what: &'static str,
    pub location: &'a Location,
    pub credentials: &'a Credentials,
    pub insecure: bool,
}

impl Attempt<'_> {
    pub fn failed(&self, error: OciDistributionError) -> RegistryError {
        match error {
            OciDistributionError::AuthenticationFailure(_) | OciDistributionError::UnauthorizedError { .. } => {
                self.unauthorized()
            }
            OciDistributionError::ServerError { code: 401 | 403, .. } => self.unauthorized(),
            OciDistributionError::ServerError { code: 404, .. } => self.not_found("the registry does not have it"),
            OciDistributionError::ServerError { code, .. } => {
                self.said(&format!("the registry answered with HTTP status {code}"))
            }
            OciDistributionError::RegistryError { envelope, .. } => {
                let is = |wanted: &[OciErrorCode]| envelope.errors.iter().any(|error| wanted.contains(&error.code));
                let said: Vec<&str> = envelope.errors.iter().map(|error| error.message.as_str()).collect();
                if is(&[OciErrorCode::Unauthorized, OciErrorCode::Denied]) {
                    self.unauthorized()
                } else if is(&[
                    OciErrorCode::ManifestUnknown,
                    OciErrorCode::NameUnknown,
                    OciErrorCode::NotFound,
                    OciErrorCode::BlobUnknown,
                ]) {
                    self.not_found(&format!("the registry says \"{}\"", said.join(", ")))
                } else {
                    self.said(&format!("the registry says \"{}\"", said.join(", ")))
                }
            }
            OciDistributionError::DigestError(DigestError::VerificationError { expected, actual }) => {
                self.digest(expected, actual)
            }
            OciDistributionError::IoError(error) => self.broken(&error),
            OciDistributionError::RequestError(error) => self.broken(&error),
            other => self.said(&other.to_string()),
        }
    }

    /// The connection broke, or was never there; or the bytes that came through it are not those that were asked for.
    pub fn broken(&self, error: &(dyn Error + 'static)) -> RegistryError {
        let mut innermost = error;
        loop {
            if let Some(DigestError::VerificationError { expected, actual }) = innermost.downcast_ref() {
                return self.digest(expected.clone(), actual.clone());
            }
            // An I/O error does not count the error that it wraps among its sources.
            let wrapped = innermost.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
            match wrapped.map(|inner| inner as &(dyn Error + 'static)).or(innermost.source()) {
                Some(next) => innermost = next,
                None => return self.said(&innermost.to_string()),
            }
        }
    }

    pub fn no_policy(&self, reason: String) -> RegistryError {
        RegistryError::NotAPolicy { reference: self.reference(), reason }
    }

    fn reference(&self) -> String {
        self.location.reference.whole()
    }

    fn unauthorized(&self) -> RegistryError {
        RegistryError::Unauthorized {
            doing: self.doing,
            reference: self.reference(),
            host: self.location.host(),
            credentials: self.credentials.described.clone(),
        }
    }

    fn not_found(&self, reason: &str) -> RegistryError {
        RegistryError::NotFound { reference: self.reference(), reason: reason.to_owned() }
    }

    fn digest(&self, expected: String, actual: String) -> RegistryError {
        RegistryError::Digest { reference: self.reference(), what: self.what, expected, actual }
    }

    fn said(&self, reason: &str) -> RegistryError {
        let host = self.location.host();
        let advice = if self.insecure || !self.location.is_on_this_machine() {
            format!("check that `{host}` is up, and is a registry")
        } else {
            format!("is `{host}` up? for plain HTTP, use `--insecure`")
        };
        RegistryError::Failed { doing: self.doing, reference: self.reference(), reason: reason.to_owned(), advice }
    }
}
