//! `/healthz`, `/readyz` and `/metrics`, on a plain port that only the node and Prometheus need to reach.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Request, Response, StatusCode};

use crate::cluster::Cluster;
use crate::metrics::Metrics;
use crate::reload::Files;
use crate::serving_pair::now;

const TEXT: &str = "text/plain; charset=utf-8";
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Answers the people and programs that operate the server.
pub struct Operations {
    pub metrics: Arc<Metrics>,
    pub files: Arc<Files>,
    pub stopping: Arc<AtomicBool>,
    /// Where anything is read of it.
    pub cluster: Option<Arc<Cluster>>,
    /// What runs here, a line for each thing.
    pub about: String,
}

impl Operations {
    /// Answers one request.
    pub fn answer<B>(&self, request: &Request<B>) -> Response<Full<Bytes>> {
        let (status, kind, text) = match request.uri().path() {
            "/healthz" => (StatusCode::OK, TEXT, String::from("ok\n")),
            "/readyz" => match self.not_ready() {
                None => (StatusCode::OK, TEXT, format!("ok\n{}", self.about)),
                Some(reason) => (StatusCode::SERVICE_UNAVAILABLE, TEXT, format!("not ready: {reason}\n{}", self.about)),
            },
            "/metrics" => match self.measured() {
                Ok(text) => (StatusCode::OK, OPEN_METRICS, text),
                Err(error) => {
                    (StatusCode::INTERNAL_SERVER_ERROR, TEXT, format!("metrics cannot be written: {error}\n"))
                }
            },
            _ => {
                (StatusCode::NOT_FOUND, TEXT, String::from("not found; the paths are /healthz, /readyz and /metrics\n"))
            }
        };
        let mut response = Response::new(Full::new(Bytes::from(text)));
        *response.status_mut() = status;
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        response
    }

    fn measured(&self) -> Result<String, std::fmt::Error> {
        if let Some(cluster) = &self.cluster {
            cluster.measure();
        }
        self.metrics.text()
    }

    /// Why no requests should come here. The module needs no look: it is loaded before the server listens.
    fn not_ready(&self) -> Option<String> {
        if self.stopping.load(Ordering::Relaxed) {
            return Some(String::from("the server is stopping"));
        }
        let expired = self.files.validities().into_iter().find(|(_, validity)| !validity.holds_at(now()));
        let expired = expired.map(|(what, _)| format!("the {what} is not valid now"));
        expired.or_else(|| self.cluster.as_ref()?.not_ready())
    }
}
