//! Clients and modules that mean harm. Each time the server stays up, answers others in the meantime, and counts what
//! happened.

use std::time::Duration;

use serde_json::{Value, json};
use server::Bounds;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::hostile::{self, ACCEPTS, BABBLES, EATS, LIES, LOOPS};
use crate::query::{provider_request, provider_response};
use running_server::pki::{Ca, GATEKEEPER, Pair};
use running_server::running::{Running, bounds, start};

fn accepted(key: &str) -> Value {
    json!({"key": key, "value": {"allowed": true, "message": "", "warnings": [], "findings": []}})
}

/// Another client is answered.
async fn others_are_answered(server: &Running) {
    let key = hostile::key(ACCEPTS, 0);
    let answer = server.gatekeeper().post("/v1/query", provider_request(&[&key])).await;
    assert_eq!(answer, (200, provider_response(json!([accepted(&key)]), "")));
}

async fn is_refused(server: &Running, pair: Option<&Pair>, problem: &str, reason: &str) {
    let client = pair.map_or(server.client(), |pair| server.client().with(pair));
    let series = format!("placement_guard_clients_refused_total{{reason=\"{reason}\"}}");
    let before = server.metric(&series).await;
    let answer = client.post("/v1/query", provider_request(&[hostile::key(ACCEPTS, 1)])).await;
    assert_eq!(answer, (403, provider_response(json!([]), problem)));
    assert_eq!(server.metric(&series).await, before + 1.0);
    others_are_answered(server).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_gatekeeper_is_answered() {
    let server = start(hostile::module(30), bounds(), None).await;
    let no_chain =
        "the client certificate is not signed by the required CA, not for client authentication, or not valid now";
    let ca = &server.pki.ca;
    is_refused(&server, None, "a client certificate is required but none was sent", "no-certificate").await;
    is_refused(&server, Some(&Ca::new("test CA").issue(GATEKEEPER)), no_chain, "chain").await;
    is_refused(&server, Some(&ca.issue_expired(GATEKEEPER)), no_chain, "chain").await;
    is_refused(&server, Some(&ca.issue_for_servers_only(GATEKEEPER)), no_chain, "chain").await;
    let wrong_name = "the client certificate is not for the name in `--client-name`";
    for name in ["other.gatekeeper-system.svc", "*.gatekeeper-system.svc", "gatekeeper-webhook-service"] {
        is_refused(&server, Some(&ca.issue(name)), wrong_name, "name").await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tls_1_2_is_not_enough_for_gatekeeper() {
    let server = start(hostile::module(30), bounds(), None).await;
    let answer = server.gatekeeper().tls12().post("/v1/query", provider_request(&[hostile::key(ACCEPTS, 1)])).await;
    assert_eq!(answer, (403, provider_response(json!([]), "TLS 1.3 is required")));
    assert_eq!(server.metric("placement_guard_clients_refused_total{reason=\"tls-version\"}").await, 1.0);
    others_are_answered(&server).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn plain_http_is_not_answered() {
    let server = start(hostile::module(30), bounds(), None).await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(b"POST /v1/query HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n").await.unwrap();
    let mut answer = Vec::new();
    // The end may come as a reset, which is an end too.
    let _ = stream.read_to_end(&mut answer).await;
    assert!(!answer.starts_with(b"HTTP"), "{}", String::from_utf8_lossy(&answer));
    server.comes_to("placement_guard_connections_closed_total{reason=\"handshake-failed\"}", 1.0).await;
    others_are_answered(&server).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_handshake_that_does_not_come_is_given_up() {
    let bounds = Bounds { handshake: Duration::from_millis(50), ..bounds() };
    let server = start(hostile::module(30), bounds, None).await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    assert_eq!(stream.read(&mut [0; 1]).await.unwrap_or(0), 0);
    server.comes_to("placement_guard_connections_closed_total{reason=\"handshake-too-slow\"}", 1.0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn headers_that_do_not_end_are_given_up() {
    let bounds = Bounds { headers: Duration::from_millis(300), ..bounds() };
    let server = start(hostile::module(30), bounds, None).await;
    let mut stream = server.gatekeeper().connect().await;
    stream.write_all(b"POST /v1/query HTTP/1.1\r\nhost: localhost\r\nx: ").await.unwrap();
    others_are_answered(&server).await;
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    assert_eq!(String::from_utf8_lossy(&answer), "");
    server.comes_to("placement_guard_connections_closed_total{reason=\"too-slow\"}", 1.0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_with_nothing_to_ask_is_closed_later_than_slow_headers() {
    let bounds = Bounds { headers: Duration::from_millis(50), idle: Duration::from_millis(500), ..bounds() };
    let server = start(hostile::module(30), bounds, None).await;
    let mut connection = server.gatekeeper().open().await;
    let key = hostile::key(ACCEPTS, 0);
    for _ in 0..3 {
        // Longer than headers may take.
        tokio::time::sleep(Duration::from_millis(100)).await;
        let answer = connection.post("/v1/query", provider_request(&[&key])).await.unwrap();
        assert_eq!(answer, (200, provider_response(json!([accepted(&key)]), "")));
    }
    server.comes_to("placement_guard_connections_closed_total{reason=\"idle\"}", 1.0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_that_does_not_end_is_given_up_with_an_answer() {
    let bounds = Bounds { reading: Duration::from_millis(300), ..bounds() };
    let server = start(hostile::module(30), bounds, None).await;
    let mut stream = server.gatekeeper().connect().await;
    stream.write_all(b"POST /v1/query HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n{").await.unwrap();
    others_are_answered(&server).await;
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    let answer = String::from_utf8_lossy(&answer);
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
    let expected = provider_response(json!([]), "the body did not arrive in time");
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    assert_eq!(serde_json::from_str::<Value>(body).unwrap(), expected);
    assert_eq!(server.metric("placement_guard_faults_total{reason=\"body-too-slow\"}").await, 1.0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_nobody_takes_is_given_up() {
    let bounds = Bounds { writing: Duration::from_millis(300), ..bounds() };
    let server = start(hostile::module(30), bounds, None).await;
    let mut stream = server.gatekeeper().connect().await;
    // The key comes back in the answer, which is larger than what the system keeps for a reader.
    let body = provider_request(&["x".repeat(15 << 20)]);
    let head = format!("POST /v1/query HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\n\r\n", body.len());
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(body.as_bytes()).await.unwrap();
    stream.flush().await.unwrap();
    others_are_answered(&server).await;
    server.comes_to("placement_guard_connections_closed_total{reason=\"too-slow\"}", 1.0).await;
    server.comes_to("placement_guard_connections", 0.0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_of_17_mib_is_refused_in_a_form_that_gatekeeper_reads() {
    let server = start(hostile::module(30), bounds(), None).await;
    let mut connection = server.gatekeeper().open().await;
    let key = hostile::key(ACCEPTS, 0);
    let large = provider_request(&[&*key, &"x".repeat(17 << 20)]);
    let answer = connection.post("/v1/query", large).await.unwrap();
    assert_eq!(answer, (413, provider_response(json!([]), "the body has more than 16777216 bytes")));
    assert_eq!(server.metric("placement_guard_faults_total{reason=\"body-too-large\"}").await, 1.0);
    // The same connection goes on.
    let answer = connection.post("/v1/query", provider_request(&[&key])).await.unwrap();
    assert_eq!(answer, (200, provider_response(json!([accepted(&key)]), "")));
    let server = start(hostile::module(30), bounds(), Some("{}")).await;
    let (status, answer) = server.client().post("/v1/admit", vec![b' '; 17 << 20]).await;
    let refusal =
        json!({"code": 413, "message": "the body has more than 16777216 bytes", "reason": "RequestEntityTooLarge"});
    assert_eq!((status, &answer["response"]), (200, &json!({"uid": "", "allowed": false, "status": refusal})));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bodies_have_a_bound_together() {
    let server = start(hostile::module(30), Bounds { bodies: 1 << 20, ..bounds() }, None).await;
    let large = provider_request(&["x".repeat(2 << 20)]);
    let answer = server.gatekeeper().post("/v1/query", large).await;
    let problem = "the server is already working on too many bytes; try again, and add replicas if this happens often";
    assert_eq!(answer, (503, provider_response(json!([]), problem)));
    assert_eq!(server.metric("placement_guard_faults_total{reason=\"busy\"}").await, 1.0);
    others_are_answered(&server).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn more_keys_than_1000_are_refused() {
    let server = start(hostile::module(30), bounds(), None).await;
    let keys: Vec<String> = (0..100_000).map(|salt| hostile::key(ACCEPTS, salt)).collect();
    let answer = server.gatekeeper().post("/v1/query", provider_request(&keys)).await;
    let problem = "100000 keys requested; at most 1000 are allowed";
    assert_eq!(answer, (400, provider_response(json!([]), problem)));
    assert_eq!(server.metric("placement_guard_faults_total{reason=\"request\"}").await, 1.0);
    others_are_answered(&server).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_have_a_bound() {
    let server = start(hostile::module(30), Bounds { connections: 4, ..bounds() }, None).await;
    let mut open = Vec::new();
    for _ in 0..4 {
        let mut connection = server.gatekeeper().open().await;
        let (status, _) = connection.post("/v1/query", provider_request(&[hostile::key(ACCEPTS, 0)])).await.unwrap();
        assert_eq!(status, 200);
        open.push(connection);
    }
    let mut fifth = TcpStream::connect(server.address).await.unwrap();
    assert_eq!(fifth.read(&mut [0; 1]).await.unwrap_or(0), 0);
    assert_eq!(server.metric("placement_guard_connections").await, 4.0);
    server.comes_to("placement_guard_connections_closed_total{reason=\"too-many\"}", 1.0).await;
    drop(open);
    server.comes_to("placement_guard_connections", 0.0).await;
    others_are_answered(&server).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_evaluation_that_never_ends_costs_one_request() {
    let server = start(hostile::module(5), bounds(), None).await;
    let (runs, client) = (hostile::key(LOOPS, 0), server.gatekeeper());
    let looping = tokio::spawn(async move { client.post("/v1/query", provider_request(&[runs])).await });
    server.comes_to("placement_guard_evaluations_in_flight", 1.0).await;
    others_are_answered(&server).await;
    assert!(!looping.is_finished());
    let problem = "1 of 1 keys have no decision: the evaluation was stopped at its time limit; \
        check whether the server is short of processor time";
    assert_eq!(looping.await.unwrap(), (503, provider_response(json!([]), problem)));
    assert_eq!(server.metric("placement_guard_faults_total{reason=\"deadline\"}").await, 1.0);
    assert_eq!(server.metric("placement_guard_evaluation_ticks_bucket{le=\"200.0\"}").await, 1.0);
    assert_eq!(server.metric("placement_guard_evaluation_ticks_bucket{le=\"+Inf\"}").await, 2.0);
    server.comes_to("placement_guard_evaluations_in_flight", 0.0).await;
    others_are_answered(&server).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_breaks_a_module_is_never_kept_and_costs_one_key() {
    let server = start(hostile::module(30), bounds(), None).await;
    for (behaviour, reason, problem) in [
        (EATS, "trapped", "the module trapped: "),
        (LIES, "trapped", "the evaluation failed; see the log"),
        (BABBLES, "no-decision", "the module's answer is not a decision; "),
    ] {
        let series = format!("placement_guard_faults_total{{reason=\"{reason}\"}}");
        let before = server.metric(&series).await;
        let (good, bad) = (hostile::key(ACCEPTS, 1), hostile::key(behaviour, 2));
        let (status, answer) = server.gatekeeper().post("/v1/query", provider_request(&[&bad, &good])).await;
        assert_eq!((status, &answer["response"]["items"]), (503, &json!([accepted(&good)])), "{behaviour}");
        let said = answer["response"]["systemError"].as_str().unwrap();
        assert!(said.starts_with(&format!("1 of 2 keys have no decision: {problem}")), "{behaviour}: {said}");
        assert_eq!(server.metric(&series).await, before + 1.0, "{behaviour}");
        others_are_answered(&server).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn evaluations_queue_up_to_a_bound() {
    let server = start(hostile::module(2), Bounds { evaluations: 1, queue: 1, ..bounds() }, None).await;
    let keys = [hostile::key(LOOPS, 0), hostile::key(ACCEPTS, 1), hostile::key(ACCEPTS, 2)];
    let answer = server.gatekeeper().post("/v1/query", provider_request(&keys)).await;
    let problem = "2 of 3 keys have no decision: the evaluation was stopped at its time limit; \
        check whether the server is short of processor time";
    assert_eq!(answer, (503, provider_response(json!([accepted(&keys[1])]), problem)));
    assert_eq!(server.metric("placement_guard_faults_total{reason=\"busy\"}").await, 1.0);
    assert_eq!(server.metric("placement_guard_faults_total{reason=\"deadline\"}").await, 1.0);
    others_are_answered(&server).await;
}
