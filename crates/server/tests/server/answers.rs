//! Answers that clients do not take, and what they keep others from.

use std::time::Duration;

use server::Bounds;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

use crate::hostile::{self, ACCEPTS};
use crate::query::provider_request;
use running_server::running::{Running, bounds, start};

/// A request whose key comes back in the answer: more than the system keeps for a reader.
const LARGE: usize = 15 << 20;

async fn asks(server: &Running) -> TlsStream<TcpStream> {
    let mut stream = server.gatekeeper().connect().await;
    let body = provider_request(&["x".repeat(LARGE)]);
    let head = format!("POST /v1/query HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\n\r\n", body.len());
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(body.as_bytes()).await.unwrap();
    stream.flush().await.unwrap();
    stream
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_has_its_share_until_the_answer_is_taken() {
    let server = start(hostile::module(30), Bounds { bodies: 20 << 20, ..bounds() }, None).await;
    let mut slow = asks(&server).await;
    server.comes_to("placement_guard_requests_total{path=\"/v1/query\",status=\"200\"}", 1.0).await;
    // It is answered, and hyper has dropped the body, but the client has not taken it.
    let large = provider_request(&["y".repeat(LARGE)]);
    assert_eq!(server.gatekeeper().post("/v1/query", large.clone()).await.0, 503);
    let small = provider_request(&[hostile::key(ACCEPTS, 0)]);
    assert_eq!(server.gatekeeper().post("/v1/query", small).await.0, 200);
    let mut taken = vec![0; LARGE];
    slow.read_exact(&mut taken).await.unwrap();
    // What is left fits into buffers of the system.
    for _ in 0..1_000 {
        if server.gatekeeper().post("/v1/query", large.clone()).await.0 == 200 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the share is not given back");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_is_taken_little_by_little_is_given_up() {
    let server = start(hostile::module(30), Bounds { writing: Duration::from_millis(500), ..bounds() }, None).await;
    let mut slow = asks(&server).await;
    let taking = async {
        let mut taken = 0;
        let mut piece = vec![0; 16 << 10];
        while let Ok(bytes @ 1..) = slow.read(&mut piece).await {
            taken += bytes;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        taken
    };
    let taken = tokio::time::timeout(Duration::from_secs(60), taking).await.unwrap();
    assert!(taken < LARGE, "{taken}");
    server.comes_to("placement_guard_connections_closed_total{reason=\"too-slow\"}", 1.0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bodies_of_strangers_leave_room_for_gatekeeper() {
    let server = start(hostile::module(30), Bounds { bodies: 2 << 20, ..bounds() }, Some("{}")).await;
    let mut unfinished = Vec::new();
    for _ in 0..4 {
        let mut stream = server.client().connect().await;
        let head = format!("POST /v1/admit HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\n\r\n", 900 << 10);
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(&vec![b' '; 800 << 10]).await.unwrap();
        stream.flush().await.unwrap();
        unfinished.push(stream);
    }
    let body = provider_request(&["x".repeat(900 << 10)]);
    assert_eq!(server.gatekeeper().post("/v1/query", body).await.0, 200);
}
