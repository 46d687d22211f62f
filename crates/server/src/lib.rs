//! The server behind `placement-guard serve`: one listener, over TLS, that answers Gatekeeper's external data requests and
//! the API server's admission webhooks with a policy module.
//!
//! It judges nothing. A request becomes bytes, the module (through `host`, a fresh instance each time) turns them into a
//! decision, and the decision is put into words of the protocol: [`query`](self) for Gatekeeper, `admit` for the API
//! server. What it is made of, one subject per file:
//!
//! ```text
//! server ─▶ listener ─▶ connection ─▶ routes ─┬─▶ query ─┬─▶ judge ─▶ evaluation ─▶ host
//!              │  TLS     deadlines             └─▶ admit ─┘    │         bounded
//!              ├─ serving_pair, client_identity                └─▶ metrics, one line of the log
//!              └─ reload (files that change)        operations: /healthz /readyz /metrics
//! ```
//!
//! # Faults
//!
//! What is wrong with a key is a refusal, and Gatekeeper may keep it. What is wrong with this moment (no room, a deadline,
//! a module that breaks) is a `systemError`, of which Gatekeeper keeps nothing, and the key has no item at all: Gatekeeper
//! keeps every item that it gets, also beside a `systemError`. Nothing is ever an item's `error`.

mod admit;
mod body;
mod client_identity;
mod config;
mod connection;
mod evaluation;
mod judge;
mod key;
mod listener;
pub mod logging;
mod metrics;
mod operations;
mod process;
mod query;
mod reload;
mod routes;
mod server;
mod serving_pair;

pub use config::{Bounds, Config, QueryClients};
pub use process::serve;
pub use server::{CannotServe, Server};
