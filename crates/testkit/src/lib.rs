//! What the tests and benchmarks of all crates share: the cases that every face answers alike, golden files, and the inputs
//! that benchmarks measure.

mod case;
pub mod golden;
pub mod measured;

pub use case::{Case, cases, recorded};
