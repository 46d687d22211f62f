//! Clients: with and without a certificate, of either version of TLS.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::{Method, Request};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::{TcpSocket, TcpStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::version::{TLS12, TLS13};
use tokio_rustls::rustls::{ClientConfig, RootCertStore, SupportedProtocolVersion};

use crate::pki::{Ca, Pair};

#[derive(Clone)]
pub struct Client {
    address: SocketAddr,
    roots: Arc<RootCertStore>,
    pair: Option<Pair>,
    from: IpAddr,
    versions: Vec<&'static SupportedProtocolVersion>,
}

impl Client {
    pub fn new(address: SocketAddr, ca: &Ca) -> Self {
        let mut roots = RootCertStore::empty();
        roots.add(ca.der()).unwrap();
        Client { address, roots: Arc::new(roots), pair: None, from: address.ip(), versions: vec![&TLS13, &TLS12] }
    }

    pub fn with(mut self, pair: &Pair) -> Self {
        self.pair = Some(pair.clone());
        self
    }

    /// From another address of the loopback interface.
    pub fn from(mut self, last: u8) -> Self {
        self.from = [127, 0, 0, last].into();
        self
    }

    pub fn tls12(mut self) -> Self {
        self.versions = vec![&TLS12];
        self
    }

    /// A handshake.
    pub async fn connect(&self) -> TlsStream<TcpStream> {
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let config =
            config.with_protocol_versions(&self.versions).unwrap().with_root_certificates(Arc::clone(&self.roots));
        let config = match &self.pair {
            None => config.with_no_client_auth(),
            Some(pair) => {
                let (chain, key) = pair.der();
                config.with_client_auth_cert(chain, key).unwrap()
            }
        };
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind((self.from, 0).into()).unwrap();
        let stream = socket.connect(self.address).await.unwrap();
        let name = ServerName::try_from("localhost").unwrap();
        TlsConnector::from(Arc::new(config)).connect(name, stream).await.unwrap()
    }

    /// A connection for many requests.
    pub async fn open(&self) -> Connection {
        let (sender, connection) = http1::handshake(TokioIo::new(self.connect().await)).await.unwrap();
        // What ends it shows in the requests.
        tokio::spawn(async { connection.await.unwrap_or_default() });
        Connection(sender)
    }

    /// One request on a connection of its own: status and JSON.
    pub async fn post(&self, path: &str, body: impl Into<Bytes>) -> (u16, Value) {
        self.open().await.post(path, body).await.unwrap()
    }
}

pub struct Connection(SendRequest<Full<Bytes>>);

impl Connection {
    pub async fn post(&mut self, path: &str, body: impl Into<Bytes>) -> hyper::Result<(u16, Value)> {
        self.send(Method::POST, path, body).await
    }

    pub async fn send(&mut self, method: Method, path: &str, body: impl Into<Bytes>) -> hyper::Result<(u16, Value)> {
        let request = Request::builder().method(method).uri(path).header("host", "localhost");
        self.0.ready().await?;
        let response = self.0.send_request(request.body(Full::new(body.into())).unwrap()).await?;
        let status = response.status().as_u16();
        let body = response.into_body().collect().await?.to_bytes();
        let json = serde_json::from_slice(&body);
        Ok((status, json.unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&body)))))
    }
}

pub async fn get_plain(address: SocketAddr, path: &str) -> (u16, String) {
    let stream = TcpStream::connect(address).await.unwrap();
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
    let connection = tokio::spawn(async { connection.await.unwrap_or_default() });
    let request = Request::get(path).header("host", "localhost").header("connection", "close");
    let request = request.body(Full::<Bytes>::default()).unwrap();
    let response = sender.send_request(request).await.unwrap();
    let status = response.status().as_u16();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    // Both ends close it at once, so that a client that asks again and again has hardly more than one connection.
    connection.await.unwrap();
    (status, String::from_utf8(body.to_vec()).unwrap())
}
