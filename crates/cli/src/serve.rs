//! `serve`: the server of Gatekeeper's external data and of admission webhooks, until it is told to stop.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use host::{Limits, Memory};
use placement_guard::kubernetes::kind::Kind;
use server::cluster::{Access, Reading};
use server::{Bounds, Config, QueryClients};

use crate::complaint::{Complaint, Outcome};
use crate::input::Source;
use crate::module::engine::{self, Compiled};
use crate::origin::Origin;
use crate::settings;

const SIGNALS: &str = "\
Signals:
  SIGTERM, SIGINT, SIGHUP, SIGQUIT  answer the requests that are still running, then exit
  Certificate files are loaded again when they change, without a signal. To change the settings or the module, restart
  the program.";

#[derive(clap::Args)]
#[command(after_help = SIGNALS)]
pub struct Arguments {
    /// A module file, or `HOST/REPOSITORY:TAG` or `HOST/REPOSITORY@sha256:…` in a registry
    #[arg(long)]
    module: String,
    #[command(flatten)]
    origin: Origin,
    /// The serving certificate with its chain, PEM; loaded again when the file changes
    #[arg(long)]
    tls_cert: PathBuf,
    /// The private key of the serving certificate, PEM; loaded again when the file changes
    #[arg(long)]
    tls_key: PathBuf,
    /// Answer `/v1/query` only for clients whose certificate this CA signed, PEM; loaded again when the file changes
    #[arg(long)]
    client_ca: Option<PathBuf>,
    /// The DNS name that the certificate of a client of `/v1/query` must contain
    #[arg(long, default_value = "gatekeeper-webhook-service.gatekeeper-system.svc", requires = "client_ca")]
    client_name: String,
    /// Answer `/v1/admit` only for clients whose certificate this CA signed, PEM; loaded again when the file changes
    #[arg(long)]
    admit_client_ca: Option<PathBuf>,
    /// The settings for `/v1/admit`, YAML or JSON; without them there is no `/v1/admit`
    #[arg(long)]
    settings: Option<PathBuf>,
    /// Kinds of objects to read from the cluster besides those that `--settings` needs, as in `Node,Pod`: for constraints of
    /// Gatekeeper whose parameters need them
    #[arg(long, value_name = "KINDS", value_delimiter = ',', value_parser = kind)]
    reads_cluster: Vec<Kind>,
    /// How to reach the cluster, where anything is read from it [default: the service account of the pod]
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// The context of the kubeconfig [default: its current context]
    #[arg(long, requires = "kubeconfig")]
    context: Option<String>,
    /// The address for `/v1/query` and `/v1/admit`, over TLS
    #[arg(long, default_value = "0.0.0.0:8443")]
    listen: SocketAddr,
    /// The address for `/healthz`, `/readyz` and `/metrics`, plain HTTP
    #[arg(long, default_value = "127.0.0.1:8081")]
    operations: SocketAddr,
    /// Evaluations that run at once [default: two per core]
    #[arg(long)]
    evaluations: Option<u32>,
    /// Evaluations that may wait for their turn; beyond that, the answer is a transient error
    #[arg(long, default_value_t = 2_000)]
    queue: u32,
    /// Seconds after which one evaluation is stopped
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=30))]
    evaluation_seconds: u64,
    /// Seconds for which the server keeps accepting connections after the signal to stop
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(0..=600))]
    linger_seconds: u64,
    /// Memory for one evaluation, in MiB
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=4096))]
    evaluation_memory: u32,
}

/// Serves until SIGTERM, SIGINT, SIGHUP or SIGQUIT, and then drains.
///
/// # Errors
/// What keeps the server from starting, and requests that were not answered before the end.
pub fn run(arguments: &Arguments) -> Result<Outcome, Complaint> {
    let log = server::logging::begin();
    let _log = log.map_err(|error| failed(&error, "make sure the process may create threads"))?;
    let bounds = Bounds::default();
    let evaluations =
        arguments.evaluations.map_or(bounds.evaluations, |count| usize::try_from(count).unwrap_or(1)).max(1);
    let Compiled { module, known_as, by_tag } = module(arguments, evaluations)?;
    if by_tag {
        server::logging::warn_of_tag(&arguments.module, &known_as);
    }
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
        cluster: Reading {
            access: access(arguments),
            kinds: arguments.reads_cluster.iter().copied().collect(),
            ..Reading::default()
        },
        bounds: Bounds { evaluations, queue: usize::try_from(arguments.queue).unwrap_or(1), linger, ..bounds },
    };
    let drained = server::serve(config, Arc::new(module));
    let drained = drained.map_err(|error| failed(&error, error.remedy()))?;
    if drained { Ok(Outcome::Accepted) } else { Err(failed(&"some requests were not answered in time", "see the log")) }
}

fn access(arguments: &Arguments) -> Option<Access> {
    let file = arguments.kubeconfig.clone()?;
    Some(Access::Kubeconfig { file, context: arguments.context.clone() })
}

fn kind(name: &str) -> Result<Kind, String> {
    let names = || Kind::ALL.map(Kind::name).join(", ");
    Kind::named(name).ok_or_else(|| format!("must be one of {}", names()))
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
    engine::compile(&arguments.module, &arguments.origin, limits, "allow it more address space, or fewer evaluations")
}
