//! Measures what the server holds of a large cluster: `make cluster-memory`.
//!
//! The API server is a process of its own, so that the memory measured here is the server's alone.

#![allow(clippy::restriction)]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use host::HostCalls;
use placement_guard::kubernetes::kind::Kind;
use placement_guard::rules::rule::Reads;
use serde_json::{Value, json};
use server::Metrics;
use server::cluster::{Access, Cluster, Limits, Reader};
use testkit::api_server::ApiServer;

const NODES: usize = 5_000;
const PODS: usize = 50_000;

fn main() {
    if std::env::args().nth(1).as_deref() == Some("api-server") {
        return serve();
    }
    let program = std::env::current_exe().unwrap();
    let mut api = Command::new(program);
    let mut api = api.arg("api-server").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut kubeconfig = String::new();
    BufReader::new(api.stdout.take().unwrap()).read_line(&mut kubeconfig).unwrap();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), kubeconfig).unwrap();
    let access = Access::Kubeconfig { file: file.path().to_owned(), context: None };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    measure(&runtime, &access);
    // It ends when its input does.
    drop(api.stdin.take());
    api.wait().unwrap();
}

fn measure(runtime: &tokio::runtime::Runtime, access: &Access) {
    let before = memory("VmRSS");
    for (kinds, what) in [
        (&[Kind::Node][..], format!("{NODES} nodes")),
        (&[Kind::Node, Kind::Pod], format!("{NODES} nodes and {PODS} pods")),
    ] {
        let begin = Instant::now();
        let kinds: BTreeMap<Kind, Reads> = kinds.iter().map(|kind| (*kind, Reads::All)).collect();
        let begun = Cluster::begin(access, &kinds, Limits::default(), Arc::new(Metrics::new()));
        let cluster = runtime.block_on(begun).unwrap();
        while cluster.not_ready().is_some() {
            std::thread::sleep(Duration::from_millis(10));
        }
        let took = begin.elapsed();
        let held = memory("VmRSS").saturating_sub(before);
        println!("{what}: read in {took:.1?}, {held} MiB resident more than before, {} MiB at most", memory("VmHWM"));
        list(&cluster, "Node", &["metadata.labels", "spec.taints"]);
        if kinds.contains_key(&Kind::Pod) {
            let masks = ["spec.nodeName", "spec.volumes.name", "spec.volumes.persistentVolumeClaim", "status.phase"];
            list(&cluster, "Pod", &masks);
            list(&cluster, "Pod", &["metadata.ownerReferences", "spec.nodeName", "spec.tolerations", "status.phase"]);
        }
    }
}

/// Lists as a module does, a few times.
fn list(cluster: &Arc<Cluster>, kind: &str, masks: &[&str]) {
    let payload = json!({"api_version": "v1", "kind": kind, "field_masks": masks}).to_string();
    let list = || {
        let reader = Reader::new(Arc::clone(cluster), Duration::from_secs(10));
        let begin = Instant::now();
        let answer = reader.call("kubewarden", "kubernetes", "list_resources_all", payload.as_bytes()).unwrap();
        (begin.elapsed(), answer.len())
    };
    let (took, bytes) = (0..5).map(|_| list()).min().unwrap();
    println!("  a list of kind {kind} with {}: {took:.1?}, {:.1} MB", masks.join(", "), bytes as f64 / 1e6);
}

/// Of this process, in MiB.
fn memory(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).unwrap();
    line.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap() / 1_024
}

fn serve() {
    let api = ApiServer::start();
    api.fill((0..NODES).map(node));
    api.fill((0..PODS).map(pod));
    println!("{}", api.kubeconfig());
    let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
}

/// As a cloud provider's node: about 5 kB.
fn node(number: usize) -> Value {
    let name = format!("ip-10-{}-{}-{}.ec2.internal", number / 65_536, number / 256 % 256, number % 256);
    let zone = format!("us-east-1{}", ["a", "b", "c"][number % 3]);
    let images: Vec<Value> = (0..20)
        .map(|image| json!({"names": [format!("registry.example.com/team/image-{image}@sha256:{image:064}")], "sizeBytes": 1}))
        .collect();
    json!({"kind": "Node", "metadata": {"name": name, "uid": format!("{number:036}"), "labels": {
            "beta.kubernetes.io/arch": "amd64", "beta.kubernetes.io/instance-type": "m5.xlarge", "beta.kubernetes.io/os": "linux",
            "failure-domain.beta.kubernetes.io/region": "us-east-1", "failure-domain.beta.kubernetes.io/zone": zone,
            "kubernetes.io/arch": "amd64", "kubernetes.io/hostname": name, "kubernetes.io/os": "linux",
            "node.kubernetes.io/instance-type": "m5.xlarge", "topology.ebs.csi.aws.com/zone": zone,
            "topology.kubernetes.io/region": "us-east-1", "topology.kubernetes.io/zone": zone, "eks.amazonaws.com/nodegroup": "workers"},
            "managedFields": [{"manager": "kubelet", "fieldsV1": {"f:status": {"f:conditions": "x".repeat(500)}}}]},
        "spec": {"podCIDR": "10.0.0.0/24", "providerID": format!("aws:///{zone}/i-{number:017}"),
            "taints": [{"key": "dedicated", "value": "storage", "effect": "NoSchedule"}]},
        "status": {"nodeInfo": {"kubeletVersion": "v1.35.1", "osImage": "Bottlerocket"}, "images": images}})
}

/// As a Deployment's or a StatefulSet's pod: about 3 kB.
fn pod(number: usize) -> Value {
    let name = format!("service-{}-7d9f8b6c5-{number:05}", number % 900);
    let tolerations = json!([
        {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300},
        {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}]);
    let mut volumes = vec![json!({"name": "kube-api-access-x7f2k", "projected": {"sources": ["x".repeat(400)]}})];
    if number.is_multiple_of(5) {
        volumes.push(json!({"name": "data", "persistentVolumeClaim": {"claimName": format!("data-{name}")}}));
    }
    json!({"kind": "Pod", "metadata": {"name": name, "namespace": format!("team-{:03}", number % 300), "uid": format!("{number:036}"),
            "labels": {"app.kubernetes.io/name": "service", "pod-template-hash": "7d9f8b6c5"},
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "service-7d9f8b6c5", "uid": format!("{number:036}"),
                "controller": true, "blockOwnerDeletion": true}],
            "managedFields": [{"manager": "kube-controller-manager", "fieldsV1": {"f:spec": "x".repeat(800)}}]},
        "spec": {"nodeName": format!("ip-10-0-{}-{}.ec2.internal", number / 256 % 20, number % 256), "priority": 0,
            "containers": [{"name": "service", "image": "registry.example.com/team/service:v1", "env": ["x".repeat(600)]}],
            "tolerations": tolerations, "volumes": volumes},
        "status": {"phase": "Running", "podIP": "10.0.0.1", "containerStatuses": ["x".repeat(500)]}})
}
