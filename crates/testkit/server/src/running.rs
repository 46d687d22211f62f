//! A server that runs, and ends with the test.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use host::{Host, Limits, Memory, Module};
use server::cluster::Reading;
use server::{Bounds, Config, QueryClients, Server};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::client;
use crate::pki::{GATEKEEPER, Pki};

pub struct Running {
    pub address: SocketAddr,
    pub operations: SocketAddr,
    pub pki: Pki,
    pub stop: Option<oneshot::Sender<()>>,
    pub task: JoinHandle<bool>,
}

/// The built module, compiled once for all tests.
pub fn built() -> Arc<Module> {
    static MODULE: OnceLock<Arc<Module>> = OnceLock::new();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../target/placement-guard.wasm");
    // Long enough that only what never ends is stopped, also on a busy machine.
    let limits = Limits { memory: Memory::AtMost { bytes: 64 << 20, instances: 64 }, seconds: 30 };
    let load = || Arc::new(Host::new(limits).unwrap().load(path).unwrap_or_else(|error| panic!("{error}")));
    Arc::clone(MODULE.get_or_init(load))
}

/// Bounds for tests: nothing waits longer than it must, and only a test of a deadline meets it.
pub fn bounds() -> Bounds {
    Bounds {
        reload: Duration::from_millis(20),
        linger: Duration::ZERO,
        // Other tests take the processors meanwhile.
        answering: Duration::from_secs(60),
        ..Bounds::default()
    }
}

/// A server for Gatekeeper, and for API servers under `settings`.
pub async fn start(module: Arc<Module>, bounds: Bounds, settings: Option<&str>) -> Running {
    start_with(module, |config| {
        config.bounds = bounds;
        config.settings = settings.map(str::to_owned);
    })
    .await
}

/// What keeps a server from starting with a changed configuration.
pub async fn refused_to_start(change: impl FnOnce(&mut Config)) -> String {
    refused_to_start_with(built(), change).await
}

/// The same for another module.
pub async fn refused_to_start_with(module: Arc<Module>, change: impl FnOnce(&mut Config)) -> String {
    let pki = Pki::default();
    let mut config = config(&pki);
    change(&mut config);
    Server::bind(config, module).await.err().unwrap().to_string()
}

fn config(pki: &Pki) -> Config {
    Config {
        module_name: String::from("test"),
        listen: ([127, 0, 0, 1], 0).into(),
        operations: ([127, 0, 0, 1], 0).into(),
        certificate: pki.path("tls.crt"),
        key: pki.path("tls.key"),
        query_clients: Some(QueryClients { ca: pki.path("ca.crt"), name: GATEKEEPER.to_owned() }),
        admit_client_ca: None,
        settings: None,
        cluster: Reading::default(),
        bounds: bounds(),
    }
}

pub async fn start_with(module: Arc<Module>, change: impl FnOnce(&mut Config)) -> Running {
    let pki = Pki::default();
    let mut config = config(&pki);
    change(&mut config);
    let server = Server::bind(config, module).await.unwrap_or_else(|error| panic!("{error}"));
    let (address, operations) = (server.address().unwrap(), server.operations_address().unwrap());
    let (stop, stopped) = oneshot::channel();
    let task = tokio::spawn(server.run(async move {
        // A test that ends without a word ends the server too.
        let _ = stopped.await;
    }));
    Running { address, operations, pki, stop: Some(stop), task }
}

impl Running {
    /// A client with Gatekeeper's certificate.
    pub fn gatekeeper(&self) -> client::Client {
        self.client().with(&self.pki.ca.issue(GATEKEEPER))
    }

    /// A client without one, as API servers are.
    pub fn client(&self) -> client::Client {
        client::Client::new(self.address, &self.pki.ca)
    }

    /// Status and text of one of the plain paths.
    pub async fn operations(&self, path: &str) -> (u16, String) {
        client::get_plain(self.operations, path).await
    }

    /// Waits until a series has a value.
    pub async fn comes_to(&self, series: &str, value: f64) {
        for _ in 0..1_000 {
            if self.metric(series).await == value {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("`{series}` stays {}, not {value}", self.metric(series).await);
    }

    /// Waits until the server says that it is not ready.
    pub async fn comes_to_be_not_ready(&self, reason: &str) {
        for _ in 0..1_000 {
            let (status, text) = self.operations("/readyz").await;
            if status == 503 {
                assert_eq!(text, reason);
                return;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        panic!("the server stays ready");
    }

    /// Waits until the server is not ready for a reason that begins like this.
    pub async fn comes_to_be_not_ready_for(&self, begin: &str) {
        for _ in 0..1_000 {
            let (status, text) = self.operations("/readyz").await;
            if status == 503 && text.starts_with(begin) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("{:?}", self.operations("/readyz").await);
    }

    /// The value of one series, `name{labels}` as it is written; 0 where it does not occur yet.
    pub async fn metric(&self, series: &str) -> f64 {
        let (status, text) = self.operations("/metrics").await;
        assert_eq!(status, 200, "{text}");
        let values: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix(series)?.strip_prefix(' ')).collect();
        match values[..] {
            [] => 0.0,
            [value] => value.parse().unwrap(),
            _ => panic!("`{series}` occurs more than once in:\n{text}"),
        }
    }
}
