//! The program `placement-guard`, as a library: one module per subcommand, and what they share.
//!
//! It decides nothing. Files become requests as an API server would send them, the library (or a module, through `host`)
//! judges them, and the decision is printed. What cannot be judged at all is a [`complaint::Complaint`].
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

pub mod audit;
pub mod check;
pub mod complaint;
pub mod completions;
pub mod distribution;
pub mod input;
pub mod judge;
mod live_nodes;
mod manifest;
pub mod output;
mod request;
mod rollout;
pub mod serve;
pub mod settings;
