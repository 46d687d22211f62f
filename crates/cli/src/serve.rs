//! `serve`: the server of Gatekeeper's external data and of admission webhooks, until it is told to stop.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use host::{Limits, Memory};
use server::{Bounds, Config, QueryClients};

use crate::complaint::{Complaint, Outcome};
use crate::input::Source;
use crate::module::engine::{self, Compiled};
use crate::settings;

#[derive(clap::Args)]
pub struct Arguments {
    /// A module file, or `HOST/REPOSITORY:TAG` or `HOST/REPOSITORY@sha256:…` in a registry
    #[arg(long)]
    module: String,
    /// Pull the module over plain HTTP, from a registry on this machine
    #[arg(long)]
    insecure: bool,
    /// The serving certificate with its chain, PEM; loaded again when it changes
    #[arg(long)]
    tls_cert: PathBuf,
    /// Its private key, PEM; loaded again when it changes
    #[arg(long)]
    tls_key: PathBuf,
    /// Answer `/v1/query` only to clients with a certificate that this CA signed, PEM; loaded again when it changes
    #[arg(long)]
    client_ca: Option<PathBuf>,
    /// The DNS name that a client's certificate must be for
    #[arg(long, default_value = "gatekeeper-webhook-service.gatekeeper-system.svc", requires = "client_ca")]
    client_name: String,
    /// Answer `/v1/admit` only to clients with a certificate that this CA signed, PEM; loaded again when it changes
    #[arg(long)]
    admit_client_ca: Option<PathBuf>,
    /// The settings for `/v1/admit`, YAML or JSON; without them it refuses everything
    #[arg(long)]
    settings: Option<PathBuf>,
    /// Where `/v1/query` and `/v1/admit` are answered, over TLS
    #[arg(long, default_value = "0.0.0.0:8443")]
    listen: SocketAddr,
    /// Where `/healthz`, `/readyz` and `/metrics` are answered, in plain HTTP
    #[arg(long, default_value = "127.0.0.1:8081")]
    operations: SocketAddr,
    /// Evaluations at once [default: two per core]
    #[arg(long)]
    evaluations: Option<u32>,
    /// Evaluations that wait for their turn; more are answered as a fault of the moment
    #[arg(long, default_value_t = 2_000)]
    queue: u32,
    /// Seconds after which an evaluation is stopped
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=30))]
    evaluation_seconds: u64,
    /// Seconds for which connections are still taken after SIGTERM, as long as the cluster may still send some
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(0..=600))]
    linger_seconds: u64,
    /// Memory of an evaluation, in MiB
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=4096))]
    evaluation_memory: u32,
}

/// Serves until SIGTERM or SIGINT, and then drains.
///
/// # Errors
/// What keeps it from starting, and requests that were still not answered at the end.
pub fn run(arguments: &Arguments) -> Result<Outcome, Complaint> {
    server::logging::begin();
    let bounds = Bounds::default();
    let evaluations =
        arguments.evaluations.map_or(bounds.evaluations, |count| usize::try_from(count).unwrap_or(1)).max(1);
    let Compiled { module, known_as } = module(arguments, evaluations)?;
    let settings = arguments.settings.as_deref().map(|path| settings::usable(&Source::read(path)?)).transpose()?;
    let linger = Duration::from_secs(arguments.linger_seconds);
    let client_name = || arguments.client_name.clone();
    let config = Config {
        module_name: known_as,
        listen: arguments.listen,
        operations: arguments.operations,
        certificate: arguments.tls_cert.clone(),
        key: arguments.tls_key.clone(),
        query_clients: arguments.client_ca.clone().map(|ca| QueryClients { ca, name: client_name() }),
        admit_client_ca: arguments.admit_client_ca.clone(),
        settings,
        bounds: Bounds { evaluations, queue: usize::try_from(arguments.queue).unwrap_or(1), linger, ..bounds },
    };
    let drained = server::serve(config, Arc::new(module));
    let drained = drained.map_err(|error| failed(&error, error.remedy()))?;
    if drained { Ok(Outcome::Accepted) } else { Err(failed(&"some requests were not answered in time", "see the log")) }
}

fn failed(problem: &dyn std::fmt::Display, remedy: &str) -> Complaint {
    Complaint::new("serve", problem, remedy)
}

/// The module, which may use what the command line grants an evaluation.
fn module(arguments: &Arguments, evaluations: usize) -> Result<Compiled, Complaint> {
    let bytes = usize::try_from(u64::from(arguments.evaluation_memory) << 20).unwrap_or(usize::MAX);
    // One more than evaluations: the settings are checked in an instance of their own.
    let instances = u32::try_from(evaluations).unwrap_or(u32::MAX).saturating_add(1);
    let limits = Limits { memory: Memory::AtMost { bytes, instances }, seconds: arguments.evaluation_seconds };
    engine::compile(&arguments.module, arguments.insecure, limits, "allow it more address space, or fewer evaluations")
}
