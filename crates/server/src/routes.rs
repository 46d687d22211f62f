//! Paths of the TLS listener, and who is answered there.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{ALLOW, CONNECTION, CONTENT_TYPE, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};

use crate::admit::{self, Admit};
use crate::body::{Bodies, NotRead};
use crate::client_identity::{Clients, NotAnswered, Peer};
use crate::metrics::Metrics;
use crate::query::{self, Query};

/// Everything that the TLS listener answers.
pub struct Routes {
    pub query: Query,
    pub query_clients: Option<Clients>,
    pub admit: Admit,
    pub admit_clients: Option<Clients>,
    pub bodies: Bodies,
    pub metrics: Arc<Metrics>,
    /// Set when the server has begun to stop: each answer is then the last on its connection, so that clients go
    /// elsewhere by themselves.
    pub stopping: Arc<AtomicBool>,
}

impl Routes {
    /// Answers one request.
    pub async fn answer(&self, request: Request<Incoming>, peer: &Peer) -> Response<Full<Bytes>> {
        let begin = Instant::now();
        let (path, (status, body)) = match (request.uri().path(), request.method() == Method::POST) {
            ("/v1/query", true) => ("/v1/query", self.query(request, peer).await),
            ("/v1/admit", true) => ("/v1/admit", self.admit(request, peer).await),
            ("/v1/query", false) => ("/v1/query", wrong_method()),
            ("/v1/admit", false) => ("/v1/admit", wrong_method()),
            _ => {
                let problem = "there are `/v1/query` and `/v1/admit`; health and metrics are on a port of their own";
                ("other", query::system_error(StatusCode::NOT_FOUND, problem))
            }
        };
        self.metrics.answered(path, status.as_u16(), begin.elapsed().as_secs_f64());
        let mut response = Response::new(Full::new(Bytes::from(body)));
        *response.status_mut() = status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if status == StatusCode::METHOD_NOT_ALLOWED {
            headers.insert(ALLOW, HeaderValue::from_static("POST"));
        }
        if self.stopping.load(Ordering::Relaxed) {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }

    async fn query(&self, request: Request<Incoming>, peer: &Peer) -> query::Answer {
        let known = match &self.query_clients {
            Some(clients) => peer.speaks_tls13().and_then(|()| peer.is_one_of(clients)),
            None => peer.speaks_tls13(),
        };
        if let Err(not_answered) = known {
            return query::system_error(StatusCode::FORBIDDEN, self.refuse("query", not_answered));
        }
        match self.bodies.read(request.into_body()).await {
            Ok(body) => self.query.answer(&body.bytes).await,
            Err(not_read) => query::system_error(status(not_read), self.unread(not_read)),
        }
    }

    /// A webhook answers with a review and status 200 whatever comes, but for clients that it does not answer.
    async fn admit(&self, request: Request<Incoming>, peer: &Peer) -> query::Answer {
        if let Some(Err(not_answered)) = self.admit_clients.as_ref().map(|clients| peer.is_one_of(clients)) {
            return (StatusCode::FORBIDDEN, admit::unread(403, &self.refuse("admit", not_answered)));
        }
        let answer = match self.bodies.read(request.into_body()).await {
            Ok(body) => self.admit.answer(body.bytes.clone()).await,
            Err(not_read) => admit::unread(status(not_read).as_u16(), &self.unread(not_read)),
        };
        (StatusCode::OK, answer)
    }

    fn refuse(&self, face: &'static str, not_answered: NotAnswered) -> String {
        self.metrics.client_refused(not_answered.reason());
        tracing::warn!(face, reason = not_answered.reason(), "client not answered");
        not_answered.to_string()
    }

    fn unread(&self, not_read: NotRead) -> String {
        self.metrics.fault(not_read.reason());
        not_read.to_string()
    }
}

fn status(not_read: NotRead) -> StatusCode {
    match not_read {
        NotRead::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
        NotRead::TooSlow => StatusCode::REQUEST_TIMEOUT,
        NotRead::Broken => StatusCode::BAD_REQUEST,
        NotRead::Busy => StatusCode::SERVICE_UNAVAILABLE,
    }
}

fn wrong_method() -> query::Answer {
    query::system_error(StatusCode::METHOD_NOT_ALLOWED, "only POST is answered")
}
