//! The server as a whole: put together, run, and ended without losing a request.

use std::collections::BTreeMap;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use host::Module;
use hyper_util::server::graceful::GracefulShutdown;
use placement_guard::kubernetes::kind::Kind;
use placement_guard::rules::rule::Reads;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;

use crate::admit::Admit;
use crate::body::Bodies;
use crate::client_identity::{AskedFor, Clients};
use crate::cluster::{Access, Cluster, Reading};
use crate::config::Config;
use crate::error::CannotServe;
use crate::evaluation::Pool;
use crate::judge::Judge;
use crate::listener::Connections;
use crate::metrics::{Build, Metrics};
use crate::operations::Operations;
use crate::query::Query;
use crate::reload::Files;
use crate::routes::Routes;
use crate::serving_pair::Shown;
use crate::settings::CheckedSettings;

/// A server that listens, but does not answer yet.
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
    /// Everything that would keep the server from answering.
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
            cluster: reading,
            bounds,
        } = config;
        let kinds = reading.kinds_under(settings.as_deref());
        let settings = settings.map(|settings| CheckedSettings::check(&module, settings)).transpose()?;
        let build = Build {
            version: env!("CARGO_PKG_VERSION"),
            module: module.digest().to_owned(),
            settings: settings.as_ref().map(|settings| settings.digest().to_owned()).unwrap_or_default(),
        };
        let mut metrics = Metrics::new();
        metrics.describe(build.clone());
        let metrics = Arc::new(metrics);
        let cluster = match kinds.is_empty() {
            true => None,
            false => Some(read_cluster(reading, &kinds, Arc::clone(&metrics)).await?),
        };
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
        let judge = Arc::new(Judge::new(module, cluster.clone(), Arc::clone(&metrics)));
        // Where some clients are known, strangers cannot use up what those need.
        let knows_some = query_clients.is_some() || admit_clients.is_some();
        let for_strangers = |all: usize| if knows_some { all / 2 } else { all };
        let queue = (bounds.queue, for_strangers(bounds.queue));
        let pool = Arc::new(Pool::new(bounds.evaluations, queue, Arc::clone(&metrics)));
        let bodies = (bounds.bodies, for_strangers(bounds.bodies));
        let stopping = Arc::new(AtomicBool::new(false));
        let routes = Routes {
            query: Query {
                judge: Arc::clone(&judge),
                pool: Arc::clone(&pool),
                metrics: Arc::clone(&metrics),
                most_keys: bounds.keys,
                time: bounds.answering,
            },
            query_clients,
            admit: settings.map(|settings| Admit {
                judge,
                pool,
                metrics: Arc::clone(&metrics),
                settings: Arc::new(settings),
            }),
            admit_clients,
            bodies: Bodies::new(bounds.body, bodies, bounds.reading),
            metrics: Arc::clone(&metrics),
            stopping: Arc::clone(&stopping),
        };
        let about = match &*build.settings {
            "" => format!("module {}\n", build.module),
            settings => format!("module {}\nsettings {settings}\n", build.module),
        };
        let operations_paths = Operations {
            metrics: Arc::clone(&metrics),
            files: Arc::new(files),
            stopping: Arc::clone(&stopping),
            cluster,
            about,
        };
        let (listener, operations_listener) = (listener(listen).await?, listener(operations).await?);
        let settings_digest = Some(build.settings).filter(|digest| !digest.is_empty());
        tracing::info!(module = module_name, module_digest = build.module, settings_digest, "loaded");
        Ok(Server {
            listener,
            operations_listener,
            tls,
            routes: Arc::new(routes),
            operations: Arc::new(operations_paths),
            connections: Connections { bounds, metrics, graceful: GracefulShutdown::new() },
            stopping,
        })
    }

    /// The address of `/v1/query` and `/v1/admit`.
    ///
    /// # Errors
    /// When the system cannot tell.
    pub fn address(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// The address of health and metrics.
    ///
    /// # Errors
    /// When the system cannot tell.
    pub fn operations_address(&self) -> std::io::Result<SocketAddr> {
        self.operations_listener.local_addr()
    }

    /// Answers until `stop` completes, and then drains: it says that it is not ready, still accepts connections for as long
    /// as the cluster may send some, then accepts no more, and waits for the requests that have begun. True when all of
    /// them were answered in time.
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
                // Files are read on a thread that may block; a panic there ends only this look.
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

async fn read_cluster(
    reading: Reading,
    kinds: &BTreeMap<Kind, Reads>,
    metrics: Arc<Metrics>,
) -> Result<Arc<Cluster>, CannotServe> {
    let access = reading.access.unwrap_or(Access::InCluster);
    let what =
        if kinds.keys().all(|kind| reading.kinds.contains(kind)) { "the options read" } else { "the settings need" };
    let names = kinds.keys().map(|kind| kind.name()).collect::<Vec<_>>().join(", ");
    let begun = Cluster::begin(&access, kinds, reading.limits, metrics).await;
    begun.map_err(|why| CannotServe::Cluster { what, kinds: names, why })
}

async fn listener(address: SocketAddr) -> Result<TcpListener, CannotServe> {
    TcpListener::bind(address).await.map_err(|error| CannotServe::Listen { address, error })
}
