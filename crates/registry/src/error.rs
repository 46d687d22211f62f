//! What is said when it does not work: what, where, and what to do.

use std::error::Error;
use std::path::PathBuf;

use oci_client::errors::{DigestError, OciDistributionError, OciErrorCode};
use package::NotAModule;

use crate::access::Credentials;
use crate::place::Place;

/// Why a module was not pushed, or not pulled.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    #[error(
        "`{reference}` is not a reference to a module in a registry: {reason}; write `HOST/REPOSITORY:TAG` or \
         `HOST/REPOSITORY@sha256:…`"
    )]
    Reference { reference: String, reason: String },
    #[error("`{reference}` names a digest, which is known only once the module is pushed; write `HOST/REPOSITORY:TAG`")]
    PushToDigest { reference: String },
    #[error(
        "`--insecure` speaks plain HTTP, and `{host}` is not on this machine; leave it out, and the registry is asked \
         over HTTPS"
    )]
    InsecureElsewhere { host: String },
    #[error("cannot be pushed: {0}")]
    NotAModule(#[from] NotAModule),
    #[error(
        "cannot be pushed: the module carries no metadata, without which no policy server loads it; annotate it first, \
         with `placement-guard package`"
    )]
    NotAnnotated,
    #[error(
        "cannot be pushed: the module's metadata cannot be read: {0}; annotate it anew, with `placement-guard package`"
    )]
    Metadata(serde_json::Error),
    #[error(
        "the credentials for `{host}` in `{}` cannot be used: {reason}; `docker login {host}` writes them anew",
        file.display()
    )]
    Credentials { host: String, file: PathBuf, reason: String },
    #[error(
        "`{host}` does not let this user {doing} `{reference}`: {credentials}; `docker login {host}` stores others"
    )]
    Unauthorized { doing: &'static str, reference: String, host: String, credentials: String },
    #[error("`{reference}` is not there: {reason}; look for a mistyped repository, tag or digest")]
    NotFound { reference: String, reason: String },
    #[error(
        "`{reference}` does not match its digest: the digest of {what} is `{actual}`, expected `{expected}`; \
         nothing was kept of it; the registry's storage is damaged, or somebody changed it: push the module again"
    )]
    Digest { reference: String, what: &'static str, expected: String, actual: String },
    #[error("the key in `{}` cannot be used: {reason}", file.display())]
    Key { file: PathBuf, reason: String },
    #[error(
        "`{reference}` is not signed with the key in `{}`: {reason}; `placement-guard push --sign-key` and \
         `cosign sign --key` sign it",
        key.display()
    )]
    NotSigned { reference: String, key: PathBuf, reason: String },
    #[error("`{reference}` names no digest, and a digest is required; at this moment it is `{by_digest}`")]
    NoDigest { reference: String, by_digest: String },
    #[error("`{reference}` is not a policy module: {reason}")]
    NotAPolicy { reference: String, reason: String },
    #[error("cannot {doing} `{reference}`: {reason}; {advice}")]
    Failed { doing: &'static str, reference: String, reason: String, advice: String },
}

/// What was being done, for sentences about its failure.
pub(crate) struct Attempt<'a> {
    /// `push` or `pull`.
    pub doing: &'static str,
    /// Whose digest is checked at this point.
    pub what: &'static str,
    pub place: &'a Place,
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
            OciDistributionError::ServerError { code: 404, .. } => self.not_found("the registry does not know it"),
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
        self.place.reference.whole()
    }

    fn unauthorized(&self) -> RegistryError {
        RegistryError::Unauthorized {
            doing: self.doing,
            reference: self.reference(),
            host: self.place.host(),
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
        let host = self.place.host();
        let advice = if self.insecure || !self.place.is_on_this_machine() {
            format!("is `{host}` up, and a registry?")
        } else {
            format!("is `{host}` up? for plain HTTP, use `--insecure`")
        };
        RegistryError::Failed { doing: self.doing, reference: self.reference(), reason: reason.to_owned(), advice }
    }
}
