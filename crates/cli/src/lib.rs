//! The program `placement-guard`, as a library: one module per subcommand, and what they share.
//!
//! It decides nothing. Files become requests as an API server would send them, the library (or a module, through `host`)
//! judges them, and the decision is printed. What cannot be judged at all is a [`complaint::Complaint`].

pub mod audit;
pub mod check;
pub mod cluster;
pub mod command_line;
pub mod complaint;
pub mod completions;
mod config;
mod coverage;
pub mod distribution;
pub mod explain;
pub mod input;
pub mod judge;
mod kinds;
mod manifest;
pub mod module;
mod nearest;
pub mod origin;
pub mod output;
mod pairs;
mod plain;
pub mod plugin;
mod reading;
pub mod report;
pub mod report_html;
mod request;
mod rollout;
#[cfg(feature = "server")]
pub mod serve;
pub mod settings;
mod template;
mod transfer;

/// What to do if you need wasmtime or the server and this build lacks them.
#[cfg(not(feature = "server"))]
pub const WITHOUT_SERVER: &str = "it was built without the feature `server`; `make build` builds one with it";
