//! The server as a whole: put together, run, and brought to an end without losing a request.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use host::{CannotCall, Module};
use hyper_util::server::graceful::GracefulShutdown;
use placement_guard::rules::decision::SettingsVerdict;
use serde_json::value::RawValue;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::{self, ServerConfig};

use crate::admit::Admit;
use crate::body::Bodies;
use crate::client_identity::{AskedFor, Clients};
use crate::config::Config;
use crate::evaluation::Pool;
use crate::judge::Judge;
use crate::listener::Connections;
use crate::metrics::Metrics;
use crate::operations::Operations;
use crate::query::Query;
use crate::reload::Files;
use crate::routes::Routes;
use crate::serving_pair::{CannotUse, Shown};

/// Why the server does not start.
#[derive(Debug, thiserror::Error)]
pub enum CannotServe {
    #[error("{0}")]
    Certificates(#[from] CannotUse),
    #[error("TLS cannot be set up: {0}")]
    Tls(#[from] rustls::Error),
    #[error("`{address}` cannot be listened on: {error}")]
    Listen { address: SocketAddr, error: std::io::Error },
    #[error("{0}")]
    Settings(String),
    #[error("the module gives no answer: {0}")]
    Module(#[from] CannotCall),
    #[error("the system does not let it run: {0}")]
    System(#[from] std::io::Error),
}

impl CannotServe {
    /// What to do about it.
    pub fn remedy(&self) -> &'static str {
        match self {
            CannotServe::Certificates(_) => {
                "give files that hold `-----BEGIN …-----`, the key of the certificate among them"
            }
            CannotServe::Tls(_) => "give another certificate",
            CannotServe::Listen { .. } => "give an address of this machine that is free",
            CannotServe::Settings(_) => "write settings that this module knows",
            CannotServe::Module(_) => "give a module of this program",
            CannotServe::System(_) => "allow it threads and signals",
        }
    }
}

/// A server that listens and answers nobody yet.
pub struct Server {
    listener: TcpListener,
    operations_listener: TcpListener,
    tls: TlsAcceptor,
    routes: Arc<Routes>,
    operations: Arc<Operations>,
    connections: Connections,
    stopping: Arc<AtomicBool>,
}

impl Server {
    /// Loads everything and begins to listen.
    ///
    /// # Errors
    /// Everything that would keep it from answering.
    pub async fn bind(config: Config, module: Arc<Module>) -> Result<Self, CannotServe> {
        let Config {
            module_name,
            listen,
            operations,
            certificate,
            key,
            query_clients,
            admit_client_ca,
            settings,
            bounds,
        } = config;
        let metrics = Arc::new(Metrics::new());
        let settings = settings.map(|settings| usable(&module, settings)).transpose()?;
        let cryptography = Arc::new(ring::default_provider());
        let mut files = Files::load((certificate, key), Arc::clone(&cryptography), Arc::clone(&metrics))?;
        let query_clients = match query_clients {
            None => None,
            Some(clients) => {
                let authority = files.load_authority("client CA", clients.ca)?;
                Some(Clients { authority, name: Some(clients.name) })
            }
        };
        let admit_clients = match admit_client_ca {
            None => None,
            Some(file) => Some(Clients { authority: files.load_authority("admit client CA", file)?, name: None }),
        };
        let tls =
            ServerConfig::builder_with_provider(Arc::clone(&cryptography)).with_safe_default_protocol_versions()?;
        let tls = tls.with_client_cert_verifier(Arc::new(AskedFor(cryptography)));
        let tls = TlsAcceptor::from(Arc::new(tls.with_cert_resolver(Arc::new(Shown(files.pair())))));
        let judge = Arc::new(Judge::new(module, Arc::clone(&metrics)));
        let pool = Arc::new(Pool::new(bounds.evaluations, bounds.queue, Arc::clone(&metrics)));
        let stopping = Arc::new(AtomicBool::new(false));
        let routes = Routes {
            query: Query {
                judge: Arc::clone(&judge),
                pool: Arc::clone(&pool),
                metrics: Arc::clone(&metrics),
                most_keys: bounds.keys,
            },
            query_clients,
            admit: Admit { judge, pool, metrics: Arc::clone(&metrics), settings },
            admit_clients,
            bodies: Bodies::new(bounds.body, bounds.bodies, bounds.reading),
            metrics: Arc::clone(&metrics),
            stopping: Arc::clone(&stopping),
        };
        let asked =
            Operations { metrics: Arc::clone(&metrics), files: Arc::new(files), stopping: Arc::clone(&stopping) };
        let (listener, operations_listener) = (listener(listen).await?, listener(operations).await?);
        tracing::info!(module = module_name, "loaded");
        Ok(Server {
            listener,
            operations_listener,
            tls,
            routes: Arc::new(routes),
            operations: Arc::new(asked),
            connections: Connections { bounds, metrics, graceful: GracefulShutdown::new() },
            stopping,
        })
    }

    /// Where `/v1/query` and `/v1/admit` are.
    ///
    /// # Errors
    /// When the system cannot say.
    pub fn address(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Where health and metrics are.
    ///
    /// # Errors
    /// When the system cannot say.
    pub fn operations_address(&self) -> std::io::Result<SocketAddr> {
        self.operations_listener.local_addr()
    }

    /// Answers until `stop` comes true, and then drains: it says that it is not ready, takes connections for as long as
    /// some may still be sent here, then no more, and waits for the requests that are there. True when all of them were
    /// answered in time.
    pub async fn run(self, stop: impl Future<Output = ()>) -> bool {
        if let (Ok(address), Ok(operations)) = (self.address(), self.operations_address()) {
            tracing::info!(%address, %operations, "listening");
        }
        let Server { listener, operations_listener, tls, routes, operations, connections, stopping } = self;
        let bounds = connections.bounds.clone();
        let files = Arc::clone(&operations.files);
        let reloading = tokio::spawn(async move {
            loop {
                tokio::time::sleep(bounds.reload).await;
                let files = Arc::clone(&files);
                // Files are read on a thread that may wait for them; a panic there ends nothing but this look.
                let _ = tokio::task::spawn_blocking(move || files.look()).await;
            }
        });
        let stopped = async {
            stop.await;
            stopping.store(true, Ordering::Relaxed);
            tracing::info!("stopping");
            tokio::time::sleep(bounds.linger).await;
        };
        tokio::select! {
            () = connections.serve(&listener, &tls, &routes) => {}
            () = connections.serve_operations(&operations_listener, &operations) => {}
            () = stopped => {}
        }
        drop((listener, operations_listener));
        let drained = tokio::time::timeout(bounds.drain, connections.graceful.shutdown()).await.is_ok();
        reloading.abort();
        tracing::info!(drained, "stopped");
        drained
    }
}

async fn listener(address: SocketAddr) -> Result<TcpListener, CannotServe> {
    TcpListener::bind(address).await.map_err(|error| CannotServe::Listen { address, error })
}

/// Settings that the module knows.
fn usable(module: &Module, settings: String) -> Result<Arc<RawValue>, CannotServe> {
    let answer = module.call("validate_settings", settings.as_bytes())?;
    let verdict = serde_json::from_slice::<SettingsVerdict>(&answer)
        .map_err(|error| CannotServe::Settings(format!("the module answers what is no verdict: {error}")))?;
    verdict.into_result().map_err(CannotServe::Settings)?;
    let settings = RawValue::from_string(settings).map_err(|error| CannotServe::Settings(error.to_string()))?;
    Ok(Arc::from(settings))
}
