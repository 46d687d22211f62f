//! What is said when it does not work: what, where, and what to do.

use std::path::PathBuf;

use package::NotAModule;

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
