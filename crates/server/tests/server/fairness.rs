//! Whose turn it is when many ask for much.

use std::time::{Duration, Instant};

use serde_json::json;
use server::Bounds;

use crate::hostile::{self, ACCEPTS, LOOPS};
use crate::query::{provider_request, provider_response};
use running_server::running::{bounds, start, start_with};

/// Keys that take a second each.
fn heavy(count: usize) -> Vec<String> {
    (0..count).map(|salt| hostile::key(LOOPS, salt)).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_body_of_heavy_keys_does_not_hold_up_other_connections() {
    let server = start(hostile::module(1), Bounds { evaluations: 1, ..bounds() }, None).await;
    let client = server.gatekeeper();
    let busy = tokio::spawn(async move { client.post("/v1/query", provider_request(&heavy(10))).await });
    server.comes_to("placement_guard_evaluations_in_flight", 1.0).await;
    let begin = Instant::now();
    let (status, _) = server.gatekeeper().post("/v1/query", provider_request(&[hostile::key(ACCEPTS, 99)])).await;
    println!("a bystander waits {:?} for one body of 10 keys of a second each, one at a time", begin.elapsed());
    assert_eq!(status, 200);
    assert!(!busy.is_finished());
    // The one that ran, and perhaps one more.
    assert!(server.metric("placement_guard_faults_total{reason=\"deadline\"}").await <= 3.0);
    assert!(server.metric("placement_guard_evaluation_wait_seconds_count").await >= 2.0);
    assert!(server.metric("placement_guard_evaluation_wait_seconds_sum").await > 0.1);
    busy.abort();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_connections_of_one_client_do_not_hold_up_another_client() {
    let server = start_with(hostile::module(1), |config| {
        config.query_clients = None;
        config.bounds.evaluations = 1;
    })
    .await;
    let mut busy = Vec::new();
    for salt in 0..10 {
        let client = server.client();
        let body = provider_request(&[hostile::key(LOOPS, salt)]);
        busy.push(tokio::spawn(async move { client.post("/v1/query", body).await }));
    }
    server.comes_to("placement_guard_connections", 10.0).await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    let (other, begin) = (server.client().from(2), Instant::now());
    let (status, _) = other.post("/v1/query", provider_request(&[hostile::key(ACCEPTS, 99)])).await;
    println!("a bystander waits {:?} for 10 connections of a second each, one at a time", begin.elapsed());
    assert_eq!(status, 200);
    assert!(server.metric("placement_guard_faults_total{reason=\"deadline\"}").await <= 3.0);
    busy.iter().for_each(|busy| busy.abort());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_keys_of_a_body_together_have_a_deadline() {
    assert_eq!(Bounds::default().answering, Duration::from_secs(2));
    let bounds = Bounds { evaluations: 1, answering: Duration::from_secs(2), ..bounds() };
    let server = start(hostile::module(1), bounds, None).await;
    let keys = [vec![hostile::key(ACCEPTS, 99)], heavy(20)].concat();
    let begin = Instant::now();
    let (status, answer) = server.gatekeeper().post("/v1/query", provider_request(&keys)).await;
    assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
    assert_eq!(status, 503);
    let said = answer["response"]["systemError"].as_str().unwrap();
    assert!(said.starts_with("20 of 21 keys have no decision: "), "{said}");
    let items = json!([{"key": keys[0], "value": {"allowed": true, "message": "", "warnings": [], "findings": []}}]);
    assert_eq!(answer, provider_response(items, said));
    assert!(server.metric("placement_guard_faults_total{reason=\"request-deadline\"}").await >= 15.0);
    // What was not begun by then is not begun any more.
    server.comes_to("placement_guard_evaluations_in_flight", 0.0).await;
    assert!(server.metric("placement_guard_evaluation_seconds_count").await <= 6.0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_is_refused_again_and_again_does_not_fill_the_log() {
    let server = start(hostile::module(30), bounds(), None).await;
    let mut connection = server.client().open().await;
    for _ in 0..300 {
        assert_eq!(connection.post("/v1/query", "{}").await.unwrap().0, 403);
    }
    assert_eq!(server.metric("placement_guard_clients_refused_total{reason=\"no-certificate\"}").await, 300.0);
    let suppressed = server.metric("placement_guard_log_lines_dropped_total{reason=\"flood\"}").await;
    assert!((100.0..=220.0).contains(&suppressed), "{suppressed}");
}
