//! One connection to a registry, as somebody, for one purpose.

use std::time::Duration;

use oci_client::client::{ClientConfig, ClientProtocol};
use oci_client::{Client, RegistryOperation};

use crate::access::{Access, Credentials};
use crate::attempt::Attempt;
use crate::location::Location;
use crate::{RegistryError, RegistryError::Failed};

/// A registry that does not even accept the connection for so long is not there.
const CONNECT: Duration = Duration::from_secs(10);

/// What a connection needs to know before anything is sent.
pub(crate) struct Connection {
    pub location: Location,
    pub credentials: Credentials,
    doing: &'static str,
    insecure: bool,
    /// How long the registry may be silent.
    patience: Duration,
}

impl Connection {
    /// Reads the reference and the credentials; sends nothing yet.
    pub fn prepare(
        doing: &'static str,
        reference: &str,
        access: &Access,
        patience: Duration,
    ) -> Result<Self, RegistryError> {
        let location = Location::read(reference, access.insecure)?;
        let credentials = access.credentials(&location)?;
        Ok(Connection { location, credentials, doing, insecure: access.insecure, patience })
    }

    /// What is being tried, when the digest of `what` is at stake.
    pub fn attempt(&self, what: &'static str) -> Attempt<'_> {
        let Connection { location, credentials, doing, insecure, .. } = self;
        Attempt { doing, what, location, credentials, insecure: *insecure }
    }

    /// A client that has shown its credentials.
    pub async fn open(&self, operation: RegistryOperation) -> Result<Client, RegistryError> {
        let client = Client::try_from(ClientConfig {
            protocol: if self.insecure { ClientProtocol::Http } else { ClientProtocol::Https },
            // One request for the module, whose progress can be seen; every registry must understand it.
            use_monolithic_push: true,
            // A policy is one artefact; this crate does not choose among several.
            platform_resolver: None,
            connect_timeout: Some(CONNECT),
            read_timeout: Some(self.patience),
            user_agent: concat!("placement-guard/", env!("CARGO_PKG_VERSION")),
            ..ClientConfig::default()
        });
        let attempt = self.attempt("the manifest");
        let client = client.map_err(|error| attempt.failed(error))?;
        let authenticated = client.auth(&self.location.reference, &self.credentials.auth, operation).await;
        authenticated.map_err(|error| attempt.failed(error))?;
        Ok(client)
    }

    /// Runs `work` to its end. On a thread of its own, since a caller that is itself asynchronous may not block.
    pub fn run<T: Send>(
        &self,
        work: impl AsyncFnOnce(&Self) -> Result<T, RegistryError> + Send,
    ) -> Result<T, RegistryError> {
        // The cryptography for TLS; where the program has chosen one already, that one stays.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let failed = |reason: String| Failed {
            doing: self.doing,
            reference: self.location.reference.whole(),
            reason,
            advice: String::from("try again, and report it if it happens again"),
        };
        let on_its_thread = || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.map_err(|error| failed(error.to_string()))?.block_on(work(self))
        };
        let finished = std::thread::scope(|scope| scope.spawn(on_its_thread).join());
        finished.unwrap_or_else(|_panic| Err(failed(String::from("the transfer stopped unexpectedly"))))
    }
}
