//! What Gatekeeper makes of the ConstraintTemplates in `policies/gatekeeper/`.

pub mod engine;
pub mod provider;
pub mod review;
