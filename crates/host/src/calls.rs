//! What a module asks its host while it judges.

use crate::kubernetes::{Asked, asked, not_granted};

/// Answers the waPC calls that a module makes to its host.
pub trait HostCalls: Send + Sync {
    /// Answers one call, on the thread that runs the module.
    ///
    /// # Errors
    /// A message for the module. The library for waPC inside the module puts `Host error: ` before it.
    fn call(&self, binding: &str, namespace: &str, operation: &str, payload: &[u8]) -> Result<Vec<u8>, String>;
}

/// Answers as the policy server answers a policy whose `contextAwareResources` are empty.
#[derive(Debug, Clone, Copy)]
pub struct NothingGranted;

impl HostCalls for NothingGranted {
    fn call(&self, binding: &str, namespace: &str, operation: &str, payload: &[u8]) -> Result<Vec<u8>, String> {
        match asked(binding, namespace, operation, payload)? {
            Asked::ToLog => Ok(Vec::new()),
            Asked::ForOne(get) => Err(not_granted(&get.api_version, &get.kind)),
            Asked::ForAll(list) => Err(not_granted(&list.api_version, &list.kind)),
        }
    }
}
