//! The end of a server.

use std::time::Duration;

use serde_json::json;
use server::Bounds;
use tokio::net::TcpStream;

use crate::hostile::{self, ACCEPTS, LOOPS};
use crate::query::{provider_request, provider_response};
use running_server::running::{bounds, start};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_asked_before_the_end_is_answered() {
    let bounds = Bounds { linger: Duration::from_millis(500), ..bounds() };
    let module = hostile::module(3);
    let digest = module.digest().to_owned();
    let mut server = start(module, bounds, None).await;
    let client = server.gatekeeper();
    let (mut idle, mut busy) = (client.open().await, client.open().await);
    let key = hostile::key(ACCEPTS, 0);
    let looping =
        tokio::spawn(async move { busy.post("/v1/query", provider_request(&[hostile::key(LOOPS, 0)])).await });
    server.comes_to("placement_guard_evaluations_in_flight", 1.0).await;
    server.stop.take().unwrap().send(()).unwrap();
    // For a while requests still come, are answered, and are the last on their connections.
    let stopping = format!("not ready: the server is stopping\nmodule {digest}\n");
    server.comes_to_be_not_ready(&stopping).await;
    assert_eq!(client.post("/v1/query", provider_request(&[&key])).await.0, 200);
    assert_eq!(idle.post("/v1/query", provider_request(&[&key])).await.unwrap().0, 200);
    assert!(idle.post("/v1/query", provider_request(&[&key])).await.is_err());
    let (status, answer) = looping.await.unwrap().unwrap();
    let problem = "1 of 1 keys have no decision: the evaluation was stopped at its time limit; \
        check whether the server is short of processor time";
    assert_eq!((status, answer), (503, provider_response(json!([]), problem)));
    assert!(server.task.await.unwrap(), "not drained");
    assert!(TcpStream::connect(server.address).await.is_err());
    assert!(TcpStream::connect(server.operations).await.is_err());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_does_not_end_is_not_waited_for_for_ever() {
    let bounds = Bounds { drain: Duration::from_millis(100), ..bounds() };
    let mut server = start(hostile::module(4), bounds, None).await;
    let client = server.gatekeeper();
    let looping = tokio::spawn(async move {
        client.open().await.post("/v1/query", provider_request(&[hostile::key(LOOPS, 0)])).await
    });
    server.comes_to("placement_guard_evaluations_in_flight", 1.0).await;
    server.stop.take().unwrap().send(()).unwrap();
    assert!(!server.task.await.unwrap(), "drained");
    looping.abort();
}
