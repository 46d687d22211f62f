//! What the server is told when it starts, and what it may use.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use crate::cluster::Reading;

/// Where it listens, who it is, and whom it answers.
#[derive(Debug, Clone)]
pub struct Config {
    /// What the log calls the module.
    pub module_name: String,
    /// The TLS listener of `/v1/query` and `/v1/admit`.
    pub listen: SocketAddr,
    /// The plain listener of `/healthz`, `/readyz` and `/metrics`.
    pub operations: SocketAddr,
    /// The serving certificate with its chain, PEM.
    pub certificate: PathBuf,
    /// Its private key, PEM.
    pub key: PathBuf,
    /// Whom `/v1/query` answers; `None` for anyone who can reach it.
    pub query_clients: Option<QueryClients>,
    /// The CA whose clients `/v1/admit` answers; `None` for anyone who can reach it, as is usual for webhooks.
    pub admit_client_ca: Option<PathBuf>,
    /// The settings of `/v1/admit`, as JSON. Without them the path does not exist.
    pub settings: Option<String>,
    /// What is read of the cluster.
    pub cluster: Reading,
    pub bounds: Bounds,
}

/// Whom `/v1/query` answers.
#[derive(Debug, Clone)]
pub struct QueryClients {
    /// Certificates that sign clients, PEM.
    pub ca: PathBuf,
    /// A DNS name that a client's certificate must be for, exactly.
    pub name: String,
}

/// What one server may use. Everything that a client can make it do has a limit here.
#[derive(Debug, Clone)]
pub struct Bounds {
    /// Connections at once, on each listener. For one more, a connection without a good client certificate is closed; where
    /// there is none, the new one is.
    pub connections: usize,
    /// How many of them are kept for clients with a good certificate, where a CA says which those are.
    pub kept_for_known: usize,
    /// Evaluations that run at once.
    pub evaluations: usize,
    /// Evaluations that wait for their turn; one more is answered with a transient error. Where a CA says which clients are
    /// known, others may use half of them.
    pub queue: usize,
    /// Keys of one request.
    pub keys: usize,
    /// Bytes of one body.
    pub body: usize,
    /// Bytes of all bodies that are being read or answered at once, until the client has taken the answer. Where a CA says
    /// which clients are known, others may use half of them.
    pub bodies: usize,
    /// For the handshake.
    pub handshake: Duration,
    /// From the first byte of a request to the end of its headers.
    pub headers: Duration,
    /// From the end of the headers to the end of the body.
    pub reading: Duration,
    /// For all keys of one request, from the end of its body.
    pub answering: Duration,
    /// For a client to take a whole answer.
    pub writing: Duration,
    /// Between two requests. Above the 90 s after which Gatekeeper itself closes, so that it never writes into a
    /// connection that is just being closed.
    pub idle: Duration,
    /// The same for a client without a good certificate.
    pub idle_stranger: Duration,
    /// How often the certificate files are read again.
    pub reload: Duration,
    /// How long the server still accepts connections after the signal to stop: as long as the cluster may still send some.
    pub linger: Duration,
    /// How long it waits, after that, for requests that are not answered yet.
    pub drain: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Bounds {
            connections: 512,
            kept_for_known: 128,
            evaluations: cores.saturating_mul(2),
            queue: 2_000,
            keys: 1_000,
            body: 16 << 20,
            bodies: 64 << 20,
            handshake: Duration::from_secs(10),
            headers: Duration::from_secs(10),
            reading: Duration::from_secs(20),
            answering: Duration::from_secs(2),
            writing: Duration::from_secs(20),
            idle: Duration::from_secs(120),
            idle_stranger: Duration::from_secs(5),
            reload: Duration::from_secs(1),
            linger: Duration::from_secs(5),
            drain: Duration::from_secs(20),
        }
    }
}
