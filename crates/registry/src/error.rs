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
    #[error("`{reference}` has a digest, but the digest is known only after the push; write `HOST/REPOSITORY:TAG`")]
    PushToDigest { reference: String },
    #[error(
        "`--insecure` speaks plain HTTP, and `{host}` is not on this machine; without this option, the program uses \
         HTTPS"
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
        "cannot be pushed: the module's metadata cannot be read: {0}; annotate it again, with `placement-guard package`"
    )]
    Metadata(serde_json::Error),
    #[error(
        "the credentials for `{host}` in `{}` cannot be used: {reason}; `docker login {host}` writes new ones",
        file.display()
    )]
    Credentials { host: String, file: PathBuf, reason: String },
    #[error(
        "`{host}` does not let this user {doing} `{reference}`: {credentials}; `docker login {host}` stores new ones"
    )]
    Unauthorized { doing: &'static str, reference: String, host: String, credentials: String },
    #[error("`{reference}` was not found: {reason}; check the repository, the tag and the digest")]
    NotFound { reference: String, reason: String },
    #[error(
        "`{reference}` does not match its digest: the digest of {what} is `{actual}`, expected `{expected}`; \
         nothing was written; the registry's storage is damaged, or somebody changed it; push the module again"
    )]
    Digest { reference: String, what: &'static str, expected: String, actual: String },
    #[error("`{}` is not an image that can be pushed: {reason}; `make image` assembles one", folder.display())]
    Layout { folder: PathBuf, reason: String },
    #[error("the key in `{}` cannot be used: {reason}", file.display())]
    Key { file: PathBuf, reason: String },
    #[error(
        "`{reference}` is not signed with the key in `{}`: {reason}; `placement-guard push --sign-key` and \
         `cosign sign --key` sign it",
        key.display()
    )]
    NotSigned { reference: String, key: PathBuf, reason: String },
    #[error("`{reference}` has no digest, but a digest is required; its digest is now `{by_digest}`")]
    NoDigest { reference: String, by_digest: String },
    #[error("`{reference}` is not a policy module: {reason}")]
    NotAPolicy { reference: String, reason: String },
    #[error("cannot {doing} `{reference}`: {reason}; {advice}")]
    Failed { doing: &'static str, reference: String, reason: String, advice: String },
}
