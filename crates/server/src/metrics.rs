//! What the server counts, in the text format of OpenMetrics. Every label has few values, and none of them comes from a request.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};

use crate::logging;
use crate::serving_pair::Validity;

/// One decision by one rule that was in force.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct Decided {
    pub rule: &'static str,
    pub verdict: &'static str,
}

/// Something that happened for one of a few reasons.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct Reason {
    pub reason: &'static str,
}

/// One answer.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct Answered {
    pub path: &'static str,
    pub status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct At {
    path: &'static str,
}

/// One attempt to load files that changed.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct Reloaded {
    pub what: &'static str,
    pub outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct What {
    what: &'static str,
}

/// What runs here.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct Build {
    pub version: &'static str,
    pub module: String,
    /// Empty without settings.
    pub settings: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfKind {
    kind: &'static str,
}

/// Objects of a kind that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Unread {
    kind: &'static str,
    reason: &'static str,
}

type Latency = Family<At, Histogram, fn() -> Histogram>;

/// Everything that is counted.
pub struct Metrics {
    registry: Registry,
    decisions: Family<Decided, Counter>,
    faults: Family<Reason, Counter>,
    requests: Family<Answered, Counter>,
    latency: Latency,
    evaluation: Histogram,
    ticks: Histogram,
    wait: Histogram,
    in_flight: Gauge,
    connections: Gauge,
    closed: Family<Reason, Counter>,
    clients: Family<Reason, Counter>,
    expiry: Family<What, Gauge>,
    reloads: Family<Reloaded, Counter>,
    log_lines: Family<Reason, Counter>,
    cluster_objects: Family<OfKind, Gauge>,
    cluster_age: Family<OfKind, Gauge<f64, AtomicU64>>,
    cluster_errors: Family<Unread, Counter>,
}

impl fmt::Debug for Metrics {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Metrics")
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

impl Metrics {
    /// Everything at zero.
    pub fn new() -> Self {
        let latency: Latency = Family::new_with_constructor(|| {
            Histogram::new([0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5])
        });
        let mut metrics = Metrics {
            registry: Registry::with_prefix("placement_guard"),
            decisions: Family::default(),
            faults: Family::default(),
            requests: Family::default(),
            latency,
            evaluation: Histogram::new([0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 2.5]),
            ticks: Histogram::new([0.0, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0]),
            wait: Histogram::new([0.0001, 0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0]),
            in_flight: Gauge::default(),
            connections: Gauge::default(),
            closed: Family::default(),
            clients: Family::default(),
            expiry: Family::default(),
            reloads: Family::default(),
            log_lines: Family::default(),
            cluster_objects: Family::default(),
            cluster_age: Family::default(),
            cluster_errors: Family::default(),
        };
        let registry = &mut metrics.registry;
        registry.register("decisions", "Decisions, counted once for each rule in force", metrics.decisions.clone());
        registry.register("faults", "Transient errors: questions without a decision", metrics.faults.clone());
        registry.register("requests", "Answers by path and status", metrics.requests.clone());
        let seconds = || Unit::Seconds;
        let about = "Time from the end of a request's headers to its answer";
        registry.register_with_unit("request", about, seconds(), metrics.latency.clone());
        registry.register_with_unit("evaluation", "Time of one evaluation", seconds(), metrics.evaluation.clone());
        let about = "Ticks of the engine during one evaluation, a hundredth of a second each";
        registry.register("evaluation_ticks", about, metrics.ticks.clone());
        let about = "Time from the arrival of a question to the start of its evaluation";
        registry.register_with_unit("evaluation_wait", about, seconds(), metrics.wait.clone());
        registry.register("evaluations_in_flight", "Evaluations that are running", metrics.in_flight.clone());
        registry.register("connections", "Connections that are open", metrics.connections.clone());
        let about = "Connections that the server refused or closed, and handshakes that failed";
        registry.register("connections_closed", about, metrics.closed.clone());
        registry.register(
            "clients_refused",
            "Requests from clients that are not allowed to ask",
            metrics.clients.clone(),
        );
        let about = "When the certificate expires, in seconds since 1970";
        registry.register("certificate_expiry_timestamp_seconds", about, metrics.expiry.clone());
        registry.register("reloads", "Attempts to load certificates whose files changed", metrics.reloads.clone());
        let about = "Log lines that were dropped: one client caused too many, or they could not be written in time";
        registry.register("log_lines_dropped", about, metrics.log_lines.clone());
        let about = "Objects of the cluster that are held";
        registry.register("cluster_objects", about, metrics.cluster_objects.clone());
        let about = "How long ago the API server was heard last about the objects of a kind; after a minute they cannot be read";
        registry.register_with_unit("cluster_age", about, seconds(), metrics.cluster_age.clone());
        let about = "Attempts to read objects of the cluster that failed";
        registry.register("cluster_errors", about, metrics.cluster_errors.clone());
        metrics
    }

    pub fn decided(&self, rule: &'static str, verdict: &'static str) {
        self.decisions.get_or_create(&Decided { rule, verdict }).inc();
    }

    pub fn fault(&self, reason: &'static str) {
        self.faults.get_or_create(&Reason { reason }).inc();
    }

    pub fn answered(&self, path: &'static str, status: u16, seconds: f64) {
        self.requests.get_or_create(&Answered { path, status }).inc();
        self.latency.get_or_create(&At { path }).observe(seconds);
    }

    pub fn evaluated(&self, seconds: f64, ticks: u64) {
        self.evaluation.observe(seconds);
        self.ticks.observe(f64::from(u32::try_from(ticks).unwrap_or(u32::MAX)));
    }

    pub fn waited(&self, seconds: f64) {
        self.wait.observe(seconds);
    }

    pub fn cluster_error(&self, kind: &'static str, reason: &'static str) {
        self.cluster_errors.get_or_create(&Unread { kind, reason }).inc();
    }

    /// What is held of a kind, and how long ago it was heard of, if ever.
    pub fn cluster_held(&self, kind: &'static str, objects: usize, age: Option<Duration>) {
        self.cluster_objects.get_or_create(&OfKind { kind }).set(i64::try_from(objects).unwrap_or(i64::MAX));
        if let Some(age) = age {
            self.cluster_age.get_or_create(&OfKind { kind }).set(age.as_secs_f64());
        }
    }

    pub fn log_line_suppressed(&self) {
        self.log_lines.get_or_create(&Reason { reason: "flood" }).inc();
    }

    /// Says what runs here. Called once.
    pub fn describe(&mut self, build: Build) {
        let about = "The program's version, and the digests of the module and of the settings";
        self.registry.register("build", about, Info::new(build));
    }

    /// Until it is dropped.
    pub fn evaluation_begins(&self) -> Present {
        Present::count(&self.in_flight)
    }

    /// Until it is dropped.
    pub fn connection_opens(&self) -> Present {
        Present::count(&self.connections)
    }

    pub fn closed(&self, reason: &'static str) {
        self.closed.get_or_create(&Reason { reason }).inc();
    }

    pub fn client_refused(&self, reason: &'static str) {
        self.clients.get_or_create(&Reason { reason }).inc();
    }

    pub fn loaded(&self, what: &'static str, validity: Validity) {
        self.expiry.get_or_create(&What { what }).set(validity.until);
    }

    pub fn reloaded(&self, what: &'static str, outcome: &'static str) {
        self.reloads.get_or_create(&Reloaded { what, outcome }).inc();
    }

    /// The text for Prometheus.
    pub fn text(&self) -> Result<String, fmt::Error> {
        let not_written = self.log_lines.get_or_create(&Reason { reason: "not-written" });
        not_written.inner().store(logging::dropped(), Ordering::Relaxed);
        // A lock that encoding takes too.
        drop(not_written);
        let mut text = String::new();
        encode(&mut text, &self.registry)?;
        Ok(text)
    }
}

/// One more in a gauge, until it is dropped.
#[derive(Debug)]
pub struct Present(Gauge);

impl Present {
    fn count(gauge: &Gauge) -> Self {
        gauge.inc();
        Present(gauge.clone())
    }
}

impl Drop for Present {
    fn drop(&mut self) {
        self.0.dec();
    }
}
