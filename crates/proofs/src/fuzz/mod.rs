//! Random input, guided by the places in the code that it reaches.
//!
//! The engine ([`engine`]) keeps inputs that reach something new, and changes them again. What was reached is counted by
//! SanitizerCoverage ([`coverage`]), which the stable compiler has too. Documents are changed as JSON ([`mutate`]), so that nearly
//! every input is readable and hits what the rules look at: operators, absence, leading zeros, lists that change between the old
//! and the new object. [`answers`], [`algebra`] and [`bodies`] say what must be true of every answer, apart from that there is one.

pub mod algebra;
pub mod answers;
pub mod bodies;
pub mod coverage;
pub mod document;
pub mod engine;
pub mod mutate;
pub mod seeds;
pub mod targets;
