//! The host of a case, for a module.

use host::HostCalls;
use testkit::fake_host::FakeHost;

/// Answers what a module asks, through waPC, as the host of a case answers the library.
#[derive(Debug, Clone)]
pub struct FakeCalls(pub FakeHost);

impl HostCalls for FakeCalls {
    fn call(&self, binding: &str, namespace: &str, operation: &str, payload: &[u8]) -> Result<Vec<u8>, String> {
        assert_eq!((binding, namespace), ("kubewarden", "kubernetes"), "{operation}");
        self.0.call(operation, payload)
    }
}
