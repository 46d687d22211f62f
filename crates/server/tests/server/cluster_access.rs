//! The server whose module asks about the cluster: when it starts, when it is ready, and what it counts.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use host::{Host, Limits, Memory, Module};
use placement_guard::kubernetes::kind::Kind;
use serde_json::json;
use server::cluster::{Access, Reading};

use crate::cluster::{Fixture, limits};
use crate::hostile::{self, ACCEPTS};
use crate::query::provider_request;
use running_server::running::{Running, built, refused_to_start_with, start_with};

/// A module that asks for a node, in its newest state, and accepts if it gets an answer.
fn asking(seconds: u64) -> Arc<Module> {
    let payload = r#"{"api_version":"v1","kind":"Node","name":"node-a","namespace":null,"disable_cache":true,"field_masks":["spec"]}"#;
    let text = format!(
        r#"(module
          (import "wapc" "__guest_response" (func $respond (param i32 i32)))
          (import "wapc" "__host_call" (func $call (param i32 i32 i32 i32 i32 i32 i32 i32) (result i32)))
          (memory (export "memory") 1)
          (data (i32.const 0) "kubewarden")
          (data (i32.const 16) "kubernetes")
          (data (i32.const 32) "get_resource")
          (data (i32.const 64) "{{\"accepted\":true }}")
          (data (i32.const 96) "{{\"accepted\":false}}")
          (data (i32.const 128) "{}")
          (func (export "__guest_call") (param i32 i32) (result i32)
            (call $respond
              (select (i32.const 64) (i32.const 96)
                (call $call
                  (i32.const 0) (i32.const 10) (i32.const 16) (i32.const 10)
                  (i32.const 32) (i32.const 12) (i32.const 128) (i32.const {})))
              (i32.const 18))
            (i32.const 1)))"#,
        payload.replace('"', "\\\""),
        payload.len(),
    );
    let limits = Limits { memory: Memory::AtMost { bytes: 8 << 20, instances: 8 }, seconds };
    let wasm = wat::parse_str(text).unwrap();
    Arc::new(Host::new(limits).unwrap().compile("asking", &wasm).unwrap_or_else(|error| panic!("{error}")))
}

fn reading(fixture: &Fixture, kinds: &[Kind]) -> Reading {
    Reading { access: Some(fixture.access()), kinds: kinds.iter().copied().collect(), limits: limits() }
}

async fn is_allowed(server: &Running) -> bool {
    let key = hostile::key(ACCEPTS, 0);
    let (status, answer) = server.gatekeeper().post("/v1/query", provider_request(&[&key])).await;
    assert_eq!(status, 200, "{answer}");
    answer["response"]["items"][0]["value"]["allowed"].as_bool().unwrap()
}

async fn becomes_ready(server: &Running) {
    for _ in 0..1_000 {
        if server.operations("/readyz").await.0 == 200 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{:?}", server.operations("/readyz").await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_module_reads_the_cluster_once_the_server_is_ready() {
    let fixture = Fixture::new();
    fixture.api.forbid("list", "nodes");
    let reading = reading(&fixture, &[Kind::Node]);
    let server = start_with(asking(10), |config| config.cluster = reading).await;
    server
        .comes_to_be_not_ready_for(
            "not ready: not all objects of kind Node are read yet: ApiError: nodes is forbidden: ",
        )
        .await;
    fixture.api.allow("list", "nodes");
    becomes_ready(&server).await;
    assert!(is_allowed(&server).await);
    assert_eq!(server.metric("placement_guard_cluster_objects{kind=\"Node\"}").await, 2.0);
    assert!(server.metric("placement_guard_cluster_age_seconds{kind=\"Node\"}").await < 2.0);
    assert!(server.metric("placement_guard_cluster_errors_total{kind=\"Node\",reason=\"forbidden\"}").await >= 1.0);
    fixture.api.forbid("get", "nodes");
    assert!(!is_allowed(&server).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_module_is_granted_only_the_kinds_that_are_read() {
    let fixture = Fixture::new();
    let reading = reading(&fixture, &[Kind::Pod]);
    let server = start_with(asking(10), |config| config.cluster = reading).await;
    assert!(!is_allowed(&server).await);
    assert!(fixture.api.requests().iter().all(|path| !path.contains("nodes")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hanging_api_server_leaves_the_module_time_to_say_so() {
    let fixture = Fixture::new();
    let mut reading = reading(&fixture, &[Kind::Node]);
    reading.limits.get = Duration::from_secs(60);
    let server = start_with(asking(2), |config| config.cluster = reading).await;
    becomes_ready(&server).await;
    fixture.api.hang(true);
    let begin = Instant::now();
    assert!(!is_allowed(&server).await);
    assert!(begin.elapsed() < Duration::from_secs(2), "{:?}", begin.elapsed());
    assert_eq!(server.metric("placement_guard_faults_total{reason=\"deadline\"}").await, 0.0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_access_it_does_not_start_where_access_is_needed() {
    let why = "and there is no access to it: this is not a pod with a service account token: failed to read an incluster \
               environment variable: environment variable not found";
    // Accepts any settings.
    let module = hostile::module(10);
    let error = refused_to_start_with(Arc::clone(&module), |config| {
        config.settings = Some(json!({"volumeNodeAffinity": {"whileInUse": "deny"}}).to_string());
    });
    let kinds = "`Node, Pod, PersistentVolumeClaim, VolumeAttachment`";
    assert_eq!(error.await, format!("the settings need {kinds} of the cluster, {why}"));
    let error = refused_to_start_with(Arc::clone(&module), |config| {
        config.cluster.kinds = BTreeSet::from([Kind::Node, Kind::Pod]);
    });
    assert_eq!(error.await, format!("the options read `Node, Pod` of the cluster, {why}"));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("none");
    let access = Access::Kubeconfig { file: file.clone(), context: None };
    let error = refused_to_start_with(module, |config| {
        config.cluster = Reading { access: Some(access), kinds: [Kind::Node].into(), ..Reading::default() };
    });
    let problem =
        format!("failed to read kubeconfig from '\"{0}\"': No such file or directory (os error 2)", file.display());
    let expected =
        format!("the options read `Node` of the cluster, and there is no access to it: {}: {problem}", file.display());
    assert_eq!(error.await, expected);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_such_settings_nothing_is_read() {
    let fixture = Fixture::new();
    let reading = reading(&fixture, &[]);
    let server = start_with(built(), |config| {
        config.cluster = reading;
        config.settings = Some(json!({"volumeNodeAffinity": {}}).to_string());
    })
    .await;
    assert_eq!(server.operations("/readyz").await.0, 200);
    assert_eq!(fixture.api.requests(), [""; 0]);
}
