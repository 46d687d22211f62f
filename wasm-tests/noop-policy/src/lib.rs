//! The least that a Kubewarden policy does: reads the request as its SDK reads it, and accepts.
//!
//! The benchmark compares the module under test with this one, so that the figures hold on any machine.

use kubewarden_policy_sdk::request::ValidationRequest;
use kubewarden_policy_sdk::settings::Validatable;
use kubewarden_policy_sdk::wapc_guest::{CallResult, register_function};
use kubewarden_policy_sdk::{accept_request, protocol_version_guest, validate_settings};

/// Takes the settings of the module under test, and does nothing with them.
#[derive(Debug, Default, serde::Deserialize, serde::Serialize)]
struct Settings {}

impl Validatable for Settings {
    fn validate(&self) -> Result<(), String> {
        Ok(())
    }
}

fn validate(payload: &[u8]) -> CallResult {
    let _request = ValidationRequest::<Settings>::new(payload)?;
    accept_request()
}

/// Called by the host on every fresh instance.
#[unsafe(no_mangle)]
pub extern "C" fn wapc_init() {
    register_function("validate", validate);
    register_function("validate_settings", validate_settings::<Settings>);
    register_function("protocol_version", protocol_version_guest);
}
