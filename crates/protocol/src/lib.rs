//! Reads what Gatekeeper and API servers send to the server: bytes in, borrowed parts of them out.
//!
//! It has no network, so that random input can be given to it. It does not look into settings and requests: the module does.

mod json;
pub mod key;
pub mod provider_request;
pub mod review;
