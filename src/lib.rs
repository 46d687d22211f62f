//! Decides, exactly and with evidence, whether a change to where Kubernetes may place volumes and pods is safe.
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::unreachable,
    clippy::todo,
    clippy::unimplemented,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::arithmetic_side_effects,
    unsafe_op_in_unsafe_fn
)]

pub mod kubernetes;
pub mod kubewarden;
pub mod logic;
pub mod rules;
