//! What the tests and benchmarks of all crates share: the cases that every face answers alike, golden files, the inputs
//! that benchmarks measure, servers that stand in for real ones, and the switch for shrinking.

pub mod api_server;
pub mod benchmark_cases;
mod case;
mod costs;
pub mod fake_host;
pub mod golden;
pub mod registry_server;
pub mod shapes;
mod shrinking;

pub use case::{Case, cases, recorded};
pub use costs::print_costs;
pub use shrinking::max_shrink_iters;
