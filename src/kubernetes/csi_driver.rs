//! The part of a CSIDriver that decides which service-account tokens the kubelet hands to the driver, and how.
//!
//! Follows `csi_mounter.go` (`podServiceAccountTokenAttrs`) and the `CSIDriver` type of `storage.k8s.io/v1`, Kubernetes 1.36.

use super::field::{Field, Unreadable};
use crate::logic::{Budget, Exhausted};

/// How long a token lives that is requested without `expirationSeconds`: what the API server makes of an absent value.
pub const DEFAULT_EXPIRATION_SECONDS: i64 = 3600;

/// The `expirationSeconds` that the API server accepts.
pub const EXPIRATION_SECONDS: std::ops::RangeInclusive<i64> = 600..=4_294_967_296;

/// The one number of seconds that the API server extends (`WarnOnlyBoundTokenExpirationSeconds`).
pub const EXTENDED_SECONDS: i64 = 3607;

/// How long such a token lives: a year (`ExpirationExtensionSeconds`).
pub const SECONDS_AFTER_EXTENSION: i64 = 365 * 24 * 60 * 60;

/// Steps for one token request: reading it, and looking it up among those of the old object.
const STEPS_FOR_A_REQUEST: usize = 80;

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
    /// Reads what is judged of a CSIDriver, and spends the steps that judging it takes.
    ///
    /// # Errors
    /// A wrong JSON type in the fragment; within the result, more token requests than the budget allows.
    pub fn read(object: &Field<'v, '_>, budget: &mut Budget) -> Result<Result<Self, Exhausted>, Unreadable> {
        let spec = object.get("spec")?;
        let requests = spec.get("tokenRequests")?;
        if budget.spend(requests.items()?.len().saturating_mul(STEPS_FOR_A_REQUEST)).is_err() {
            return Ok(Err(Exhausted));
        }
        let read_request = |item: &Field<'v, '_>| {
            Ok(TokenRequest {
                audience: item.string_of("audience")?.unwrap_or_default(),
                expiration_seconds: item.get("expirationSeconds")?.integer()?,
            })
        };
        Ok(Ok(CsiDriver {
            token_requests: requests.each(read_request)?,
            token_in_secrets: spec.boolean_of("serviceAccountTokenInSecrets")?,
            requires_republish: spec.boolean_of("requiresRepublish")?,
        }))
    }

    /// The audiences for which tokens reach the driver in `volume_context`.
    pub fn audiences_in_volume_context(&self) -> Vec<&'v str> {
        if self.token_in_secrets == Some(true) { Vec::new() } else { self.audiences().collect() }
    }

    /// The audiences for which the driver gets a token when a volume is first mounted, and no fresh one after that.
    pub fn audiences_without_republish(&self) -> Vec<&'v str> {
        if self.requires_republish == Some(true) { Vec::new() } else { self.audiences().collect() }
    }

    /// The audiences of all token requests, in the order of the object.
    pub fn audiences(&self) -> impl Iterator<Item = &'v str> {
        self.token_requests.iter().map(|request| request.audience)
    }
}

impl TokenRequest<'_> {
    /// How long the tokens live, in seconds. `is_api_server` says whether an audience is one of the API server's own.
    ///
    /// `TokenREST.Create` (`pkg/registry/core/serviceaccount/storage/token.go`) extends a token of exactly
    /// [`EXTENDED_SECONDS`] when it is bound to a pod, as every token for a CSI driver is, and all its audiences are the API
    /// server's own (`isKubeAudiences`). `--service-account-extend-token-expiration` is on by default.
    pub fn lifetime(&self, is_api_server: impl FnOnce(&str) -> bool) -> i64 {
        match self.expiration_seconds.unwrap_or(DEFAULT_EXPIRATION_SECONDS) {
            EXTENDED_SECONDS if is_api_server(self.audience) => SECONDS_AFTER_EXTENSION,
            seconds => seconds,
        }
    }
}
