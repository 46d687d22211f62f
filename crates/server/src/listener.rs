//! The two listeners: connections are accepted, bounded, and served until the server drains.

use std::convert::Infallible;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_rustls::TlsAcceptor;

use crate::client_identity::Peer;
use crate::config::Bounds;
use crate::connection::{Deadlines, Phase, is_deadline};
use crate::metrics::Metrics;
use crate::operations::Operations;
use crate::routes::Routes;

/// What the connections of both listeners share.
pub struct Connections {
    pub bounds: Bounds,
    pub metrics: Arc<Metrics>,
    pub graceful: GracefulShutdown,
}

/// A pause after a failure to accept: most of them, like too many open files, go on for a while.
const BREATH: Duration = Duration::from_millis(100);

impl Connections {
    /// Serves `routes` over TLS, for ever.
    pub async fn serve(&self, listener: &TcpListener, tls: &TlsAcceptor, routes: &Arc<Routes>) {
        let places = self.places();
        loop {
            let (stream, place) = self.accept(listener, &places).await;
            let (tls, routes, watcher) = (tls.clone(), Arc::clone(routes), self.graceful.watcher());
            let (bounds, metrics) = (self.bounds.clone(), Arc::clone(&self.metrics));
            tokio::spawn(async move {
                let _open = (place, metrics.connection_opens());
                let stream = match tokio::time::timeout(bounds.handshake, tls.accept(stream)).await {
                    Ok(Ok(stream)) => stream,
                    Ok(Err(_error)) => return metrics.closed("handshake-failed"),
                    Err(_elapsed) => return metrics.closed("handshake-too-slow"),
                };
                let (_, session) = stream.get_ref();
                let peer = Arc::new(Peer::new(session.peer_certificates(), session.protocol_version()));
                let phase = Phase::default();
                let service = |request| {
                    phase.request_begins();
                    let (routes, peer, phase) = (Arc::clone(&routes), Arc::clone(&peer), phase.clone());
                    async move {
                        let answer = routes.answer(request, &peer).await;
                        phase.request_ends();
                        answer
                    }
                };
                run(stream, service, &phase, &bounds, &metrics, watcher).await;
            });
        }
    }

    /// Serves health and metrics, plain, for ever.
    pub async fn serve_operations(&self, listener: &TcpListener, operations: &Arc<Operations>) {
        let places = self.places();
        loop {
            let (stream, place) = self.accept(listener, &places).await;
            let (operations, watcher) = (Arc::clone(operations), self.graceful.watcher());
            let (bounds, metrics) = (self.bounds.clone(), Arc::clone(&self.metrics));
            tokio::spawn(async move {
                let _open = place;
                let phase = Phase::default();
                let service = |request: Request<Incoming>| {
                    phase.request_begins();
                    let answer = operations.answer(&request);
                    phase.request_ends();
                    async { answer }
                };
                run(stream, service, &phase, &bounds, &metrics, watcher).await;
            });
        }
    }

    fn places(&self) -> Arc<Semaphore> {
        Arc::new(Semaphore::new(self.bounds.connections.min(Semaphore::MAX_PERMITS)))
    }

    /// The next connection for which there is a place. One for which there is none is closed: whoever waits in vain
    /// cannot say so.
    async fn accept(&self, listener: &TcpListener, places: &Arc<Semaphore>) -> (TcpStream, OwnedSemaphorePermit) {
        loop {
            match listener.accept().await {
                Ok((stream, _)) => match Arc::clone(places).try_acquire_owned() {
                    Ok(place) => {
                        // Small answers, waited for; where it cannot be set they come a little later.
                        let _ = stream.set_nodelay(true);
                        return (stream, place);
                    }
                    Err(_full) => self.metrics.closed("too-many"),
                },
                Err(error) => {
                    tracing::error!(%error, "a connection cannot be accepted");
                    tokio::time::sleep(BREATH).await;
                }
            }
        }
    }
}

/// One connection, HTTP/1.1 as Gatekeeper and API servers speak it, until one end closes it.
async fn run<S, A>(
    stream: S,
    answer: impl Fn(Request<Incoming>) -> A,
    phase: &Phase,
    bounds: &Bounds,
    metrics: &Metrics,
    watcher: Watcher,
) where
    S: AsyncRead + AsyncWrite + Unpin + 'static,
    A: Future<Output = Response<Full<Bytes>>>,
{
    let stream = Deadlines::new(stream, phase.clone(), bounds.headers, bounds.writing);
    let service = service_fn(|request| {
        let answer = answer(request);
        async { Ok::<_, Infallible>(answer.await) }
    });
    // hyper's time for headers begins to run when the last answer has gone: it is the time between two requests.
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(bounds.idle);
    let connection = http.serve_connection(TokioIo::new(stream), service);
    if let Err(error) = watcher.watch(connection).await {
        metrics.closed(match &error {
            error if is_deadline(error) => "too-slow",
            error if error.is_timeout() => "idle",
            error if error.is_parse() => "no-http",
            _ => "broken-off",
        });
    }
}
