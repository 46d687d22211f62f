//! The paths of the TLS listener, and which clients they answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::header::{ALLOW, CONNECTION, CONTENT_TYPE, EXPECT, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};

use crate::admit::{self, Admit};
use crate::answer::Answer;
use crate::asker::Asker;
use crate::body::{Bodies, NotRead, Share};
use crate::client_identity::{Clients, NotAnswered, Peer};
use crate::connection::Exchange;
use crate::metrics::Metrics;
use crate::query::{self, Query};

/// Everything that the TLS listener answers.
pub struct Routes {
    pub query: Query,
    pub query_clients: Option<Clients>,
    /// Without settings there is no `/v1/admit`.
    pub admit: Option<Admit>,
    pub admit_clients: Option<Clients>,
    pub bodies: Bodies,
    pub metrics: Arc<Metrics>,
    /// Set when the server has begun to stop. Each answer is then the last on its connection, so that clients connect to
    /// another replica by themselves.
    pub stopping: Arc<AtomicBool>,
}

/// One connection, as those see it who answer its requests.
pub struct Caller {
    pub peer: Peer,
    pub asker: Arc<Asker>,
    pub exchange: Exchange,
}

impl Routes {
    /// Whether one of the paths knows this client. Such clients keep their connections when others have to go.
    pub fn knows(&self, peer: &Peer) -> bool {
        let queries = self.query_clients.as_ref().is_some_and(|clients| may_query(peer, Some(clients)).is_ok());
        let reviews = || self.admit_clients.as_ref().is_some_and(|clients| peer.is_one_of(clients).is_ok());
        queries || (self.admit.is_some() && reviews())
    }

    /// Answers one request.
    pub async fn answer(&self, request: Request<Incoming>, caller: &Caller) -> Response<Answer> {
        let begin = Instant::now();
        let mut share = None;
        let post = request.method() == Method::POST;
        let (path, (status, body)) = match (request.uri().path(), &self.admit) {
            ("/v1/query", _) if post => ("/v1/query", self.query(request, caller, &mut share).await),
            ("/v1/admit", Some(admit)) if post => ("/v1/admit", self.admit(admit, request, caller, &mut share).await),
            ("/v1/admit", None) => {
                let problem = "there is no `/v1/admit`; start `serve` with `--settings`";
                ("/v1/admit", (StatusCode::NOT_FOUND, admit::unread(404, problem)))
            }
            ("/v1/query", _) => ("/v1/query", wrong_method()),
            ("/v1/admit", _) => ("/v1/admit", wrong_method()),
            _ => {
                let problem = "the paths are `/v1/query` and `/v1/admit`; health and metrics have a port of their own";
                ("other", query::system_error(StatusCode::NOT_FOUND, problem))
            }
        };
        self.metrics.answered(path, status.as_u16(), begin.elapsed().as_secs_f64());
        let mut response = Response::new(Answer::new(body, share, caller.exchange.clone()));
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

    async fn query(&self, request: Request<Incoming>, caller: &Caller, share: &mut Option<Share>) -> query::Answer {
        if let Err(not_answered) = may_query(&caller.peer, self.query_clients.as_ref()) {
            return query::system_error(StatusCode::FORBIDDEN, self.refuse("query", not_answered, caller));
        }
        match self.read(request, caller, share).await {
            Ok(bytes) => self.query.answer(bytes, &caller.asker).await,
            Err(not_read) => query::system_error(status(not_read), self.unread(not_read)),
        }
    }

    /// A webhook answers any body with a review and status 200, except to clients that it does not answer.
    async fn admit(
        &self,
        admit: &Admit,
        request: Request<Incoming>,
        caller: &Caller,
        share: &mut Option<Share>,
    ) -> query::Answer {
        let clients = self.admit_clients.as_ref();
        if let Some(Err(not_answered)) = clients.map(|clients| caller.peer.is_one_of(clients)) {
            return (StatusCode::FORBIDDEN, admit::unread(403, &self.refuse("admit", not_answered, caller)));
        }
        match self.read(request, caller, share).await {
            Ok(bytes) => (StatusCode::OK, admit.answer(bytes, &caller.asker).await),
            Err(not_read) => {
                let code = status(not_read);
                // A body that was not even asked for is refused in HTTP's own terms.
                let status = if matches!(not_read, NotRead::NotAskedFor(_)) { code } else { StatusCode::OK };
                (status, admit::unread(code.as_u16(), &self.unread(not_read)))
            }
        }
    }

    async fn read(
        &self,
        request: Request<Incoming>,
        caller: &Caller,
        share: &mut Option<Share>,
    ) -> Result<Bytes, NotRead> {
        let waits = request.headers().contains_key(EXPECT);
        let held = self.bodies.read(request.into_body(), waits, caller.asker.is_known()).await;
        caller.exchange.body_is_read();
        let held = held?;
        *share = held.share;
        Ok(held.bytes)
    }

    fn refuse(&self, face: &'static str, not_answered: NotAnswered, caller: &Caller) -> String {
        self.metrics.client_refused(not_answered.reason());
        if caller.asker.may_log_complaint() {
            let address = caller.asker.client.address;
            tracing::warn!(face, %address, reason = not_answered.reason(), "client not answered");
        }
        not_answered.to_string()
    }

    fn unread(&self, not_read: NotRead) -> String {
        self.metrics.fault(not_read.reason());
        not_read.to_string()
    }
}

fn may_query(peer: &Peer, clients: Option<&Clients>) -> Result<(), NotAnswered> {
    peer.speaks_tls13()?;
    clients.map_or(Ok(()), |clients| peer.is_one_of(clients))
}

fn status(not_read: NotRead) -> StatusCode {
    match not_read {
        NotRead::TooLarge(_) | NotRead::NotAskedFor(_) => StatusCode::PAYLOAD_TOO_LARGE,
        NotRead::TooSlow => StatusCode::REQUEST_TIMEOUT,
        NotRead::Incomplete => StatusCode::BAD_REQUEST,
        NotRead::Busy => StatusCode::SERVICE_UNAVAILABLE,
    }
}

fn wrong_method() -> query::Answer {
    query::system_error(StatusCode::METHOD_NOT_ALLOWED, "the method must be POST")
}
