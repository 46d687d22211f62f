//! Who gets a connection, and for how long, when others want them all.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use server::Bounds;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

use crate::hostile::{self, ACCEPTS};
use crate::query::{provider_request, provider_response};
use running_server::running::{Running, bounds, start};

async fn is_answered(server: &Running) {
    let key = hostile::key(ACCEPTS, 0);
    let (status, _) = server.gatekeeper().post("/v1/query", provider_request(&[&key])).await;
    assert_eq!(status, 200);
}

async fn is_closed(stream: &mut TlsStream<TcpStream>, within: Duration) -> bool {
    let closed = async { while stream.read(&mut [0; 1_024]).await.unwrap_or(0) > 0 {} };
    tokio::time::timeout(within, closed).await.is_ok()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn idle_strangers_do_not_lock_gatekeeper_out() {
    let bounds = Bounds { connections: 32, kept_for_known: 8, ..bounds() };
    let server = start(hostile::module(30), bounds, None).await;
    let mut kept = server.gatekeeper().open().await;
    let key = hostile::key(ACCEPTS, 0);
    assert_eq!(kept.post("/v1/query", provider_request(&[&key])).await.unwrap().0, 200);
    let mut strangers = Vec::new();
    for _ in 0..40 {
        strangers.push(server.client().connect().await);
    }
    server.comes_to("placement_guard_connections", 25.0).await;
    let mut longest = Duration::ZERO;
    for _ in 0..10 {
        let begin = Instant::now();
        is_answered(&server).await;
        longest = longest.max(begin.elapsed());
    }
    println!("Gatekeeper is answered on a new connection within {longest:?}, while strangers hold all others");
    assert_eq!(kept.post("/v1/query", provider_request(&[&key])).await.unwrap().0, 200);
    assert!(server.metric("placement_guard_connections_closed_total{reason=\"made-way\"}").await >= 16.0);
    // The oldest went first.
    assert!(is_closed(&mut strangers[0], Duration::from_secs(5)).await);
    assert!(!is_closed(strangers.last_mut().unwrap(), Duration::from_millis(100)).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_without_a_handshake_do_not_lock_gatekeeper_out() {
    let server = start(hostile::module(30), Bounds { connections: 8, kept_for_known: 2, ..bounds() }, None).await;
    let mut silent = Vec::new();
    for _ in 0..20 {
        silent.push(TcpStream::connect(server.address).await.unwrap());
    }
    is_answered(&server).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn idle_connections_to_health_and_metrics_make_way() {
    let server = start(hostile::module(30), Bounds { connections: 8, ..bounds() }, None).await;
    let mut idle = Vec::new();
    for _ in 0..20 {
        idle.push(TcpStream::connect(server.operations).await.unwrap());
    }
    assert_eq!(server.operations("/healthz").await, (200, String::from("ok\n")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stranger_may_be_idle_for_less_time_than_gatekeeper() {
    assert_eq!(Bounds::default().idle_stranger, Duration::from_secs(5));
    let bounds = Bounds { idle_stranger: Duration::from_millis(200), ..bounds() };
    let server = start(hostile::module(30), bounds, None).await;
    let (mut stranger, mut known) = (server.client().connect().await, server.gatekeeper().connect().await);
    assert!(is_closed(&mut stranger, Duration::from_secs(10)).await);
    assert!(!is_closed(&mut known, Duration::from_millis(500)).await);
    server.comes_to("placement_guard_connections_closed_total{reason=\"idle\"}", 1.0).await;
}

/// One answer, as it is read from the connection.
async fn answer(stream: &mut TlsStream<TcpStream>) -> (String, Value) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    let head = String::from_utf8(head).unwrap();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap_or("0");
    let mut body = vec![0; length.parse().unwrap()];
    stream.read_exact(&mut body).await.unwrap();
    (head.lines().next().unwrap().to_owned(), serde_json::from_slice(&body).unwrap_or_default())
}

fn request(body: &str) -> String {
    format!("POST /v1/query HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

fn chunked(body: &str) -> String {
    let head = "POST /v1/query HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n";
    format!("{head}{:x}\r\n{body}\r\n0\r\n\r\n", body.len())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn headers_sent_behind_a_request_have_a_deadline_too() {
    let bounds = Bounds { headers: Duration::from_millis(300), ..bounds() };
    let server = start(hostile::module(30), bounds, None).await;
    let body = provider_request(&[hostile::key(ACCEPTS, 0)]);
    for first in [request(&body), chunked(&body)] {
        let mut stream = server.gatekeeper().connect().await;
        stream.write_all(format!("{first}POST /v1/query HTTP/1.1\r\nhost: ").as_bytes()).await.unwrap();
        assert_eq!(answer(&mut stream).await.0, "HTTP/1.1 200 OK", "{first}");
        assert!(is_closed(&mut stream, Duration::from_secs(10)).await, "{first}");
    }
    server.comes_to("placement_guard_connections_closed_total{reason=\"too-slow\"}", 2.0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_are_answered_however_they_are_cut() {
    let server = start(hostile::module(30), bounds(), None).await;
    let keys = [hostile::key(ACCEPTS, 1), hostile::key(ACCEPTS, 2), hostile::key(ACCEPTS, 3)];
    let bodies: Vec<String> = keys.iter().map(|key| provider_request(&[key])).collect();
    let all = format!("{}{}\r\n{}", request(&bodies[0]), chunked(&bodies[1]), request(&bodies[2]));
    for size in [1, 7, 100, all.len()] {
        let mut stream = server.gatekeeper().connect().await;
        for piece in all.as_bytes().chunks(size) {
            stream.write_all(piece).await.unwrap();
            stream.flush().await.unwrap();
        }
        for key in &keys {
            let items = json!([{"key": key, "value":
                {"allowed": true, "message": "", "warnings": [], "findings": []}}]);
            let expected = (String::from("HTTP/1.1 200 OK"), provider_response(items, ""));
            assert_eq!(answer(&mut stream).await, expected, "in pieces of {size}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_that_is_too_large_is_not_asked_for() {
    let server = start(hostile::module(30), bounds(), Some("{}")).await;
    let head = |path: &str, length: usize| {
        format!("POST {path} HTTP/1.1\r\nhost: localhost\r\nexpect: 100-continue\r\ncontent-length: {length}\r\n\r\n")
    };
    for path in ["/v1/query", "/v1/admit"] {
        let mut stream = server.gatekeeper().connect().await;
        stream.write_all(head(path, 17 << 20).as_bytes()).await.unwrap();
        let refused = tokio::time::timeout(Duration::from_secs(5), answer(&mut stream)).await.unwrap();
        assert_eq!(refused.0, "HTTP/1.1 413 Payload Too Large", "{path}");
        assert!(is_closed(&mut stream, Duration::from_secs(5)).await, "{path}");
    }
    let mut stream = server.gatekeeper().connect().await;
    let body = provider_request(&[hostile::key(ACCEPTS, 0)]);
    stream.write_all(head("/v1/query", body.len()).as_bytes()).await.unwrap();
    assert_eq!(answer(&mut stream).await.0, "HTTP/1.1 100 Continue");
    stream.write_all(body.as_bytes()).await.unwrap();
    assert_eq!(answer(&mut stream).await.0, "HTTP/1.1 200 OK");
}
