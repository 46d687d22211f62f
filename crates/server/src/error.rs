//! What keeps the server from starting, and what to do about it.

use std::net::SocketAddr;

use host::CannotCall;
use tokio_rustls::rustls;

use crate::cluster::NoAccess;
use crate::serving_pair::CannotUse;

/// Why the server does not start.
#[derive(Debug, thiserror::Error)]
pub enum CannotServe {
    #[error("{0}")]
    Certificates(#[from] CannotUse),
    #[error("TLS cannot be set up: {0}")]
    Tls(#[from] rustls::Error),
    #[error("cannot listen on `{address}`: {error}")]
    Listen { address: SocketAddr, error: std::io::Error },
    #[error("{0}")]
    Settings(String),
    #[error("{what} `{kinds}` of the cluster, and there is no access to it: {why}")]
    Cluster {
        /// What reads it, for people.
        what: &'static str,
        kinds: String,
        why: NoAccess,
    },
    #[error("the module does not answer: {0}")]
    Module(#[from] CannotCall),
    #[error("the operating system does not let the server run: {0}")]
    System(#[from] std::io::Error),
}

impl CannotServe {
    /// What to do about the error.
    pub fn remedy(&self) -> &'static str {
        match self {
            CannotServe::Certificates(_) => {
                "give PEM files: a certificate with its key, and for clients a CA certificate"
            }
            CannotServe::Tls(_) => "give another certificate",
            CannotServe::Listen { .. } => "give a free address of this machine",
            CannotServe::Settings(_) => "write settings that this module accepts",
            CannotServe::Cluster { why: NoAccess::InCluster(_), .. } => {
                "in a pod, set `automountServiceAccountToken: true`; elsewhere, give `--kubeconfig`"
            }
            CannotServe::Cluster { why: NoAccess::Kubeconfig { .. } | NoAccess::OfTheUser(_), .. } => {
                "give a kubeconfig file with a context that names a cluster and a user"
            }
            CannotServe::Module(_) => "give a module of this program's version",
            CannotServe::System(_) => "make sure the process may create threads and handle signals",
        }
    }
}
