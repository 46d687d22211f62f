//! What the tests and benchmarks of all crates share: the cases that every face answers alike, golden files, the inputs
//! that benchmarks measure, and the switch for shrinking.

mod case;
pub mod golden;
pub mod measured;
pub mod registry_server;
pub mod shapes;
mod shrinking;

pub use case::{Case, cases, recorded};
pub use shrinking::max_shrink_iters;
