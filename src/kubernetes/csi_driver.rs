//! A CSIDriver, as far as it decides which service-account tokens the kubelet hands to the driver, and how.
//!
//! Follows `csi_mounter.go` and the `CSIDriver` type of `storage.k8s.io/v1`, Kubernetes 1.36.

use super::field::{Field, Unreadable};

/// How long a token lives that is requested without `expirationSeconds`: what the API server makes of an absent value.
pub const DEFAULT_EXPIRATION_SECONDS: i64 = 3600;

/// The `expirationSeconds` that the API server accepts.
pub const EXPIRATION_SECONDS: std::ops::RangeInclusive<i64> = 600..=4_294_967_296;

/// What is judged of a CSIDriver.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CsiDriver<'v> {
    pub token_requests: Vec<TokenRequest<'v>>,
    /// `serviceAccountTokenInSecrets`. Tokens go to `secrets` when it is true, to `volume_context` when it is false or
    /// absent, never to both.
    pub token_in_secrets: Option<bool>,
    /// `requiresRepublish`. Only when it is true does the driver get fresh tokens for a volume that is mounted already.
    pub requires_republish: Option<bool>,
}

/// One kind of token that the driver is given for each pod.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenRequest<'v> {
    /// The empty audience is the API server's own.
    pub audience: &'v str,
    pub expiration_seconds: Option<i64>,
}

impl<'v> CsiDriver<'v> {
    /// Reads what is judged of a CSIDriver.
    ///
    /// # Errors
    /// A wrong JSON type in the fragment.
    pub fn read(object: &Field<'v, '_>) -> Result<Self, Unreadable> {
        let spec = object.get("spec")?;
        let requests = spec.get("tokenRequests")?;
        let read_request = |item: &Field<'v, '_>| {
            Ok(TokenRequest {
                audience: item.string_of("audience")?.unwrap_or_default(),
                expiration_seconds: item.get("expirationSeconds")?.integer()?,
            })
        };
        Ok(CsiDriver {
            token_requests: requests.each(read_request)?,
            token_in_secrets: spec.boolean_of("serviceAccountTokenInSecrets")?,
            requires_republish: spec.boolean_of("requiresRepublish")?,
        })
    }

    /// The audiences for which tokens reach the driver in `volume_context`.
    pub fn audiences_in_volume_context(&self) -> Vec<&'v str> {
        if self.token_in_secrets == Some(true) { Vec::new() } else { self.audiences() }
    }

    /// The audiences for which the driver gets a token when a volume is first mounted, and no fresh one after that.
    pub fn audiences_without_republish(&self) -> Vec<&'v str> {
        if self.requires_republish == Some(true) { Vec::new() } else { self.audiences() }
    }

    fn audiences(&self) -> Vec<&'v str> {
        self.token_requests.iter().map(|request| request.audience).collect()
    }
}

impl TokenRequest<'_> {
    /// How long the tokens live, in seconds.
    pub fn seconds(&self) -> i64 {
        self.expiration_seconds.unwrap_or(DEFAULT_EXPIRATION_SECONDS)
    }
}
