//! The two listeners: connections are accepted, bounded, and served until the server drains.

use std::convert::Infallible;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Body, Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use crate::asker::{Client, Clients};
use crate::client_identity::Peer;
use crate::config::Bounds;
use crate::connection::{Deadlines, Exchange, is_deadline};
use crate::metrics::Metrics;
use crate::operations::Operations;
use crate::routes::{Caller, Routes};
use crate::slots::{Room, Slot, Slots};

/// What the connections of both listeners share.
pub struct Connections {
    pub bounds: Bounds,
    pub metrics: Arc<Metrics>,
    pub graceful: GracefulShutdown,
}

/// A pause after a failure to accept: most causes, such as too many open files, last for a while.
const PAUSE: Duration = Duration::from_millis(100);

/// The headers of one request, and how much is read at once.
const BUFFER: usize = 64 << 10;

impl Connections {
    /// Serves `routes` over TLS, until it is dropped.
    pub async fn serve(&self, listener: &TcpListener, tls: &TlsAcceptor, routes: &Arc<Routes>) {
        let knows_some = routes.query_clients.is_some() || routes.admit_clients.is_some();
        let kept = if knows_some { self.bounds.kept_for_known } else { 0 };
        let slots = Slots::new(self.bounds.connections, self.bounds.connections.saturating_sub(kept).max(1));
        let clients = Arc::new(Clients::new(Arc::clone(&self.metrics)));
        loop {
            let (stream, slot, client) = self.accept(listener, &slots).await;
            let (tls, routes, clients) = (tls.clone(), Arc::clone(routes), Arc::clone(&clients));
            let (bounds, metrics, watcher) = (self.bounds.clone(), Arc::clone(&self.metrics), self.graceful.watcher());
            tokio::spawn(async move {
                let _open = metrics.connection_opens();
                tokio::select! {
                    () = serve_one(stream, client, &tls, (&routes, &clients), &slot, (&bounds, &metrics), watcher) => {}
                    () = slot.has_to_go() => {}
                }
            });
        }
    }

    /// Serves health and metrics, plain, until it is dropped.
    pub async fn serve_operations(&self, listener: &TcpListener, operations: &Arc<Operations>) {
        // No client is known here, so the connection that was idle for the longest time makes way for a new one.
        let slots = Slots::new(self.bounds.connections, self.bounds.connections);
        loop {
            let (stream, slot, _) = self.accept(listener, &slots).await;
            let (operations, watcher) = (Arc::clone(operations), self.graceful.watcher());
            let (bounds, metrics) = (self.bounds.clone(), Arc::clone(&self.metrics));
            tokio::spawn(async move {
                let service = |request: Request<Incoming>| {
                    slot.exchange.request_begins(request.body().size_hint().exact());
                    slot.is_used(false);
                    let answer = operations.answer(&request);
                    slot.exchange.request_ends();
                    async { answer }
                };
                let run = run::<_, _, Full<Bytes>>(
                    stream,
                    service,
                    &slot.exchange,
                    (&bounds, bounds.idle_stranger),
                    &metrics,
                    watcher,
                );
                tokio::select! {
                    () = run => {}
                    () = slot.has_to_go() => {}
                }
            });
        }
    }

    /// The next connection that gets a slot. A connection without a slot is closed without an answer, before its
    /// handshake.
    async fn accept(&self, listener: &TcpListener, slots: &Arc<Slots>) -> (TcpStream, Slot, std::net::IpAddr) {
        loop {
            match listener.accept().await {
                Ok((stream, from)) => {
                    let address = from.ip().to_canonical();
                    let (room, slot) = slots.enter(address);
                    count(&self.metrics, room);
                    if let Some(slot) = slot {
                        // Answers are small, and clients wait for them; where it cannot be set they are a little later.
                        let _ = stream.set_nodelay(true);
                        return (stream, slot, address);
                    }
                }
                Err(error) => {
                    tracing::error!(%error, "cannot accept a connection");
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
    }
}

fn count(metrics: &Metrics, room: Room) {
    match room {
        Room::Free => {}
        Room::Made => metrics.closed("made-way"),
        Room::None => metrics.closed("too-many"),
    }
}

/// One TLS connection: its handshake, what that says about the client, and its requests.
async fn serve_one(
    stream: TcpStream,
    address: std::net::IpAddr,
    tls: &TlsAcceptor,
    (routes, clients): (&Arc<Routes>, &Clients),
    slot: &Slot,
    (bounds, metrics): (&Bounds, &Metrics),
    watcher: Watcher,
) {
    let stream = match tokio::time::timeout(bounds.handshake, tls.accept(stream)).await {
        Ok(Ok(stream)) => stream,
        Ok(Err(_error)) => return metrics.closed("handshake-failed"),
        Err(_elapsed) => return metrics.closed("handshake-too-slow"),
    };
    let (_, session) = stream.get_ref();
    let peer = Peer::new(session.peer_certificates(), session.protocol_version());
    let is_known = routes.knows(&peer);
    let room = slot.finishes_handshake(is_known);
    count(metrics, room);
    if room == Room::None {
        return;
    }
    let certificate = if is_known { peer.certificate() } else { None };
    let asker = clients.connects(Client { address, certificate });
    let caller = Arc::new(Caller { peer, asker, exchange: slot.exchange.clone() });
    let service = |request: Request<Incoming>| {
        caller.exchange.request_begins(request.body().size_hint().exact());
        slot.is_used(routes.knows(&caller.peer));
        let (routes, caller) = (Arc::clone(routes), Arc::clone(&caller));
        async move {
            let answer = routes.answer(request, &caller).await;
            caller.exchange.request_ends();
            answer
        }
    };
    let idle = if is_known { bounds.idle } else { bounds.idle_stranger };
    run(stream, service, &slot.exchange, (bounds, idle), metrics, watcher).await;
}

/// The requests of one connection, HTTP/1.1 as Gatekeeper and API servers speak it, until one end closes it.
async fn run<S, A, B>(
    stream: S,
    answer: impl Fn(Request<Incoming>) -> A,
    exchange: &Exchange,
    (bounds, idle): (&Bounds, Duration),
    metrics: &Metrics,
    watcher: Watcher,
) where
    S: AsyncRead + AsyncWrite + Unpin + 'static,
    A: Future<Output = Response<B>>,
    B: Body<Data = Bytes, Error = Infallible> + 'static,
{
    let stream = Deadlines::new(stream, exchange.clone(), bounds.headers, bounds.writing);
    let service = service_fn(|request| {
        let answer = answer(request);
        async { Ok::<_, Infallible>(answer.await) }
    });
    // hyper's time for headers begins when the last answer is written: it is the time between two requests.
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(idle).max_buf_size(BUFFER);
    let connection = http.serve_connection(TokioIo::new(stream), service);
    if let Err(error) = watcher.watch(connection).await {
        metrics.closed(match &error {
            error if is_deadline(error) => "too-slow",
            error if error.is_timeout() => "idle",
            error if error.is_parse() => "not-http",
            _ => "broken",
        });
    }
}
