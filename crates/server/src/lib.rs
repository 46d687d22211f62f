//! The server behind `placement-guard serve`: one listener, over TLS, that answers Gatekeeper's external data requests and
//! the API server's admission webhooks with a policy module.
//!
//! It judges nothing. The crate `protocol` reads a body, the module (through `host`, a fresh instance each time) makes a
//! decision of it, and the server writes the decision in the words of the protocol: [`query`](self) for Gatekeeper, `admit`
//! for the API server. Its parts, one subject per file:
//!
//! ```text
//! server ─▶ listener ─▶ connection ─▶ routes ─┬─▶ query ─┬─▶ evaluation ─▶ judge ─▶ host
//!              │ slots     deadlines            └─▶ admit ─┘   queue            ├─▶ metrics, one line of the log
//!              ├─ serving_pair, client_identity, asker                          └─▶ cluster, where the module asks
//!              └─ reload (files that change)        operations: /healthz /readyz /metrics
//! ```
//!
//! # Faults
//!
//! If something is wrong with a key, that is a refusal, and Gatekeeper may cache it. A transient error (no room, a deadline,
//! a module that traps) is a `systemError`, and the key has no item at all: Gatekeeper caches nothing of a `systemError`,
//! but every item that it gets next to one. The server never uses an item's `error`.

mod admit;
mod answer;
mod asker;
mod body;
mod client_identity;
pub mod cluster;
mod config;
mod connection;
mod error;
mod evaluation;
mod judge;
mod listener;
pub mod logging;
mod metrics;
mod operations;
mod process;
mod query;
mod queue;
mod reload;
mod routes;
mod server;
mod serving_pair;
mod settings;
mod slots;

pub use config::{Bounds, Config, QueryClients};
pub use error::CannotServe;
pub use metrics::Metrics;
pub use process::serve;
pub use server::Server;
