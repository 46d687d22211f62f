//! How the API server is reached, and as whom.

use std::path::PathBuf;
use std::time::Duration;

use hyper_util::client::legacy::Client as Http;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use kube::client::{Body, ConfigExt};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use tower::{BoxError, ServiceBuilder};

/// How long a connection may take. The system's own limit is minutes.
const CONNECT: Duration = Duration::from_secs(5);

/// Where the address of the API server, its CA and the credentials come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Access {
    /// What Kubernetes mounts into a pod for its service account. Renewed tokens are read again.
    InCluster,
    /// A file as `kubectl` reads it, and one of its contexts; `None` for its current one.
    Kubeconfig { file: PathBuf, context: Option<String> },
    /// What `kubectl` uses by itself: the files that `KUBECONFIG` names, or the one in the home folder; without any, the
    /// service account of the pod.
    OfTheUser { context: Option<String> },
}

/// Why the API server cannot even be asked.
#[derive(Debug, thiserror::Error)]
pub enum NoAccess {
    #[error("this is not a pod with a service account token: {0}")]
    InCluster(String),
    #[error("{}: {problem}", file.display())]
    Kubeconfig { file: PathBuf, problem: String },
    #[error("there is no kubeconfig that can be used: {0}")]
    OfTheUser(String),
}

impl Access {
    /// A client for the API server. Nothing is asked yet.
    ///
    /// # Errors
    /// When files are missing or cannot be used.
    pub async fn client(&self) -> Result<Client, NoAccess> {
        let config = match self {
            Access::InCluster => Config::incluster_env().map_err(|error| self.fails(&error))?,
            Access::Kubeconfig { file, context } => {
                let kubeconfig = Kubeconfig::read_from(file).map_err(|error| self.fails(&error))?;
                self.of_context(kubeconfig, context.clone()).await?
            }
            Access::OfTheUser { context } => match (Kubeconfig::read(), Config::incluster_env()) {
                (Ok(kubeconfig), _) => self.of_context(kubeconfig, context.clone()).await?,
                (Err(_), Ok(config)) if context.is_none() => config,
                (Err(error), _) => return Err(self.fails(&error)),
            },
        };
        if config.proxy_url.is_some() {
            return Err(self.fails(&"a proxy (`proxy-url`) is not supported"));
        }
        client(&config).map_err(|error| self.fails(&error))
    }

    async fn of_context(&self, kubeconfig: Kubeconfig, context: Option<String>) -> Result<Config, NoAccess> {
        let options = KubeConfigOptions { context, ..KubeConfigOptions::default() };
        Config::from_custom_kubeconfig(kubeconfig, &options).await.map_err(|error| self.fails(&error))
    }

    fn fails(&self, error: &dyn std::fmt::Display) -> NoAccess {
        let problem = error.to_string();
        match self {
            Access::InCluster => NoAccess::InCluster(problem),
            Access::Kubeconfig { file, .. } => NoAccess::Kubeconfig { file: file.clone(), problem },
            Access::OfTheUser { .. } => NoAccess::OfTheUser(problem),
        }
    }
}

/// The client that `kube` makes by default also writes a line into the log for each failure, without the kind it is about,
/// and repeats requests. Both are done here, where it is known what for.
fn client(config: &Config) -> kube::Result<Client> {
    let mut connector = HttpConnector::new();
    connector.enforce_http(false);
    connector.set_nodelay(true);
    connector.set_connect_timeout(Some(CONNECT));
    let connector = config.rustls_https_connector_with_connector(connector)?;
    let http: Http<_, Body> = Http::builder(TokioExecutor::new()).build(connector);
    let service = ServiceBuilder::new()
        .layer(config.base_uri_layer())
        .option_layer(config.auth_layer()?)
        .layer(config.extra_headers_layer()?)
        .map_err(BoxError::from)
        .service(http);
    Ok(Client::new(service, config.default_namespace.clone()))
}
