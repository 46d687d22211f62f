//! Clients that ask one question after the other, and what they measure.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper::body::Bytes;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::ClientConfig;
use tokio_rustls::rustls::pki_types::ServerName;

/// Connections to one server.
pub struct Driver {
    connections: Vec<SendRequest<Full<Bytes>>>,
    /// Of the next question, so that no key comes twice.
    number: usize,
}

/// What was measured of one server.
#[derive(Default)]
pub struct Measured {
    pub times: Vec<Duration>,
    pub took: Duration,
}

impl Measured {
    pub fn add(&mut self, more: Measured) {
        self.times.extend(more.times);
        self.took += more.took;
    }

    /// Requests in a second.
    pub fn throughput(&self) -> f64 {
        self.times.len() as f64 / self.took.as_secs_f64()
    }

    pub fn percentile(&mut self, percent: usize) -> Duration {
        self.times.sort_unstable();
        self.times[(self.times.len() - 1) * percent / 100]
    }
}

impl Driver {
    pub async fn connect(address: SocketAddr, certificates: &Arc<ClientConfig>, count: usize) -> Self {
        let mut connections = Vec::new();
        for _ in 0..count {
            let stream = TcpStream::connect(address).await.unwrap();
            stream.set_nodelay(true).unwrap();
            let name = ServerName::try_from("localhost").unwrap();
            let stream = TlsConnector::from(Arc::clone(certificates)).connect(name, stream).await.unwrap();
            let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
            tokio::spawn(async { connection.await.unwrap() });
            connections.push(sender);
        }
        Driver { connections, number: 0 }
    }

    /// Asks `each` questions on every connection; every answer must be one that `is_right` knows.
    pub async fn drive(&mut self, each: usize, is_right: fn(&str) -> bool) -> Measured {
        let begin = Instant::now();
        let mut asking = Vec::new();
        for mut connection in self.connections.drain(..) {
            let first = self.number;
            self.number += each;
            asking.push(tokio::spawn(async move {
                let mut times = Vec::with_capacity(each);
                for number in first..first + each {
                    let request = request(number);
                    let begin = Instant::now();
                    connection.ready().await.unwrap();
                    let response = connection.send_request(request).await.unwrap();
                    let answer = response.into_body().collect().await.unwrap().to_bytes();
                    times.push(begin.elapsed());
                    let answer = std::str::from_utf8(&answer).unwrap();
                    assert!(is_right(answer), "{answer}");
                }
                (connection, times)
            }));
        }
        let mut times = Vec::new();
        for asked in asking {
            let (connection, its) = asked.await.unwrap();
            self.connections.push(connection);
            times.extend(its);
        }
        Measured { times, took: begin.elapsed() }
    }
}

/// A question about a volume of its own: a zone is added to its node affinity.
fn request(number: usize) -> Request<Full<Bytes>> {
    let volume = |zones: &str| {
        format!(
            r#"{{"metadata":{{"name":"pv-{number}"}},"spec":{{"nodeAffinity":{{"required":{{"nodeSelectorTerms":[{{"matchExpressions":[{{"key":"topology.kubernetes.io/zone","operator":"In","values":[{zones}]}}]}}]}}}}}}}}"#
        )
    };
    let (before, after) = (volume(r#""us-east1-b""#), volume(r#""us-east1-b","us-east1-c""#));
    let key = format!(
        r#"{{"request":{{"kind":{{"group":"","kind":"PersistentVolume","version":"v1"}},"name":"pv-{number}","object":{after},"oldObject":{before},"operation":"UPDATE"}},"settings":{{"volumeNodeAffinity":{{}}}},"v":1}}"#
    );
    let body = serde_json::json!({"apiVersion": "externaldata.gatekeeper.sh/v1beta1", "kind": "ProviderRequest",
        "request": {"keys": [key]}});
    let request = Request::post("/v1/query").header("host", "localhost").header("content-type", "application/json");
    request.body(Full::new(Bytes::from(body.to_string()))).unwrap()
}
