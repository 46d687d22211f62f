//! Tries to prove the decisions wrong, in ways that share as little as possible with the code that decides.
//!
//! * [`exhaustive`]: every small question, against an oracle of bit masks.
//!
//! `docs/proofs.md` says what ran and what it found. The program `proofs` runs all of it; `make` has a target for each part, and
//! `cargo test` runs a fixed slice of each.

pub mod exhaustive;
pub mod fuzz;
pub mod panics;
pub mod question;
pub mod random;
pub mod second_opinion;
pub mod worst;
