//! What it costs the built module to read a large cluster: `make bench`.
//!
//! The host has its answers ready, as a policy server that has asked before. The time is the CPU's for this thread, so
//! other programs do not count. The memory is the least limit of an instance, in steps, with which the module answers.

use std::sync::Arc;
use std::time::{Duration, Instant};

use host::{Host, HostCalls, Limits, Memory};
use serde_json::{Value, json};
use testkit::fake_host::FakeHost;
use wasm_tests::Module;

const NODES: usize = 5_000;
const PODS: usize = 50_000;

/// A question, what must be found in its answer, and how long the answer may take.
struct Question {
    name: &'static str,
    settings: Value,
    found: &'static str,
    milliseconds: u128,
}

fn main() {
    // Not under `cargo test --benches`, nor when the benchmarks are only listed.
    if !std::env::args().any(|argument| argument == "--bench") || std::env::args().any(|argument| argument == "--list")
    {
        return;
    }
    let cluster = Answers(Arc::new(LargeCluster::new()));
    let questions = [
        Question {
            name: "judgeBy: liveNodes, 5,000 nodes",
            settings: json!({"judgeBy": "liveNodes"}),
            found: "node-affinity-narrowed",
            milliseconds: 150,
        },
        Question {
            name: "whileInUse, 5,000 nodes and 50,000 pods",
            settings: json!({"allow": ["widened", "narrowed"], "whileInUse": "deny"}),
            found: "runs on `",
            milliseconds: 400,
        },
        Question {
            name: "both",
            settings: json!({"judgeBy": "liveNodes", "allow": ["widened", "narrowed"], "whileInUse": "deny"}),
            found: "runs on `",
            milliseconds: 400,
        },
    ];
    let module = Module::load_as_policy_server(Module::built_path()).unwrap_or_else(|error| panic!("{error}"));
    for Question { name, settings, found, milliseconds } in questions {
        let payload = payload(&settings);
        let calls = |_| {
            let start = Clock::start();
            let answer = module.call_with("validate", &payload, cluster.clone()).unwrap();
            let took = start.elapsed();
            assert!(String::from_utf8_lossy(&answer).contains(found), "{}", String::from_utf8_lossy(&answer));
            took
        };
        let mut times: Vec<Duration> = (0..9).map(calls).collect();
        times.sort();
        let (median, needed) = (times[times.len() / 2], memory(&payload, &cluster));
        println!("{name}: {} ms of at most {milliseconds}, {needed} of memory", median.as_millis());
    }
    println!("lists: {:.1} MB of nodes, {:.1} MB of pods", megabytes(&cluster.0.nodes), megabytes(&cluster.0.pods));
}

/// The least memory in steps of 4 MiB with which there is an answer.
fn memory(payload: &[u8], cluster: &Answers) -> String {
    let wasm = std::fs::read(Module::built_path()).unwrap();
    let suffices = |mebibytes: usize| {
        let memory = Memory::AtMost { bytes: mebibytes << 20, instances: 1 };
        let host = Host::new(Limits { memory, seconds: 30 }).unwrap();
        host.compile("module", &wasm).unwrap().call_with("validate", payload, cluster.clone()).is_ok()
    };
    let (mut least, mut most) = (0, 64);
    while least + 1 < most {
        let middle = (least + most) / 2;
        if suffices(4 * middle) { most = middle } else { least = middle }
    }
    if most == 64 { String::from("more than 252 MiB") } else { format!("{} MiB", 4 * most) }
}

fn megabytes(list: &[u8]) -> f64 {
    list.len() as f64 / 1e6
}

/// Time of this thread on a CPU; where the system does not say that, the time that passes.
struct Clock {
    busy: Option<Duration>,
    begun: Instant,
}

impl Clock {
    fn start() -> Self {
        Clock { busy: Self::busy(), begun: Instant::now() }
    }

    fn elapsed(&self) -> Duration {
        match (self.busy, Self::busy()) {
            (Some(before), Some(now)) => now - before,
            _ => self.begun.elapsed(),
        }
    }

    fn busy() -> Option<Duration> {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
    }
}

/// A volume loses one of three zones.
fn payload(settings: &Value) -> Vec<u8> {
    let volume = |zones: &[&str]| {
        let zones = json!({"key": "topology.kubernetes.io/zone", "operator": "In", "values": zones});
        json!({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "pv-data"},
            "spec": {"csi": {"driver": "ebs.csi.aws.com", "volumeHandle": "vol-1"},
                "claimRef": {"namespace": "team-000", "name": "data-service-0-7d9f8b6c5-45000"},
                "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [zones]}]}}}})
    };
    let (before, after) = (volume(&["us-east-1a", "us-east-1b", "us-east-1c"]), volume(&["us-east-1b", "us-east-1c"]));
    let kind = json!({"group": "", "version": "v1", "kind": "PersistentVolume"});
    let request = json!({"uid": "u", "operation": "UPDATE", "kind": kind, "name": "pv-data",
        "userInfo": {"username": "admin"}, "oldObject": before, "object": after});
    json!({"settings": {"volumeNodeAffinity": settings}, "request": request}).to_string().into_bytes()
}

struct LargeCluster {
    nodes: Vec<u8>,
    pods: Vec<u8>,
    attachments: Vec<u8>,
    /// Answers for single objects.
    one: FakeHost,
}

impl LargeCluster {
    fn new() -> Self {
        let claim = json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim",
            "metadata": {"namespace": "team-000", "name": "data-service-0-7d9f8b6c5-45000"},
            "spec": {"volumeName": "pv-data"}});
        LargeCluster {
            nodes: list((0..NODES).map(node)),
            pods: list((0..PODS).map(pod)),
            attachments: list((0..PODS).filter(|number| has_volume(*number)).map(attachment)),
            one: FakeHost::new(vec![claim], Default::default()),
        }
    }
}

/// The answers, made once.
#[derive(Clone)]
struct Answers(Arc<LargeCluster>);

impl HostCalls for Answers {
    fn call(&self, _: &str, _: &str, operation: &str, payload: &[u8]) -> Result<Vec<u8>, String> {
        if operation == "get_resource" {
            return self.0.one.call(operation, payload);
        }
        let asked: Value = serde_json::from_slice(payload).unwrap();
        match asked["kind"].as_str().unwrap() {
            "Node" => Ok(self.0.nodes.clone()),
            "Pod" => Ok(self.0.pods.clone()),
            "VolumeAttachment" => Ok(self.0.attachments.clone()),
            kind => panic!("kind {kind} is not asked for"),
        }
    }
}

fn list(items: impl Iterator<Item = Value>) -> Vec<u8> {
    let items: Vec<Value> = items.collect();
    json!({"apiVersion": "v1", "kind": "List", "metadata": {}, "items": items}).to_string().into_bytes()
}

fn node_name(number: usize) -> String {
    format!("ip-10-{}-{}-{}.ec2.internal", number / 65_536, number / 256 % 256, number % 256)
}

/// A cloud provider's node with what its operators' programs add: 2.2 kB of names and labels.
fn node(number: usize) -> Value {
    let (name, zone) = (node_name(number), format!("us-east-1{}", ["a", "b", "c"][number % 3]));
    let mut labels = json!({
        "beta.kubernetes.io/arch": "amd64", "beta.kubernetes.io/instance-type": "m5.xlarge", "beta.kubernetes.io/os": "linux",
        "eks.amazonaws.com/capacityType": "ON_DEMAND", "eks.amazonaws.com/nodegroup": "workers",
        "eks.amazonaws.com/nodegroup-image": "ami-0123456789abcdef0",
        "failure-domain.beta.kubernetes.io/region": "us-east-1", "failure-domain.beta.kubernetes.io/zone": zone,
        "k8s.io/cloud-provider-aws": "0123456789abcdef0123456789abcdef", "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "node.kubernetes.io/instance-type": "m5.xlarge",
        "topology.ebs.csi.aws.com/zone": zone, "topology.k8s.aws/zone-id": "use1-az1",
        "topology.kubernetes.io/region": "us-east-1", "topology.kubernetes.io/zone": zone});
    for feature in 0..25 {
        labels[format!("feature.node.kubernetes.io/cpu-cpuid.FEATURE{feature:02}")] = json!("true");
    }
    json!({"metadata": {"name": name, "labels": labels}})
}

fn has_volume(number: usize) -> bool {
    number.is_multiple_of(5)
}

fn pod_name(number: usize) -> String {
    format!("service-{}-7d9f8b6c5-{number:05}", number % 900)
}

/// What is asked of a pod.
fn pod(number: usize) -> Value {
    let name = pod_name(number);
    let mut volumes = vec![json!({"name": "kube-api-access-x7f2k"}), json!({"name": "configuration"})];
    if has_volume(number) {
        volumes.push(json!({"name": "data", "persistentVolumeClaim": {"claimName": format!("data-{name}")}}));
    }
    json!({"metadata": {"name": name, "namespace": format!("team-{:03}", number % 300)},
        "spec": {"nodeName": node_name(number % NODES), "volumes": volumes}, "status": {"phase": "Running"}})
}

fn attachment(number: usize) -> Value {
    json!({"metadata": {"name": format!("csi-{number:064}")},
        "spec": {"nodeName": node_name(number % NODES), "source": {"persistentVolumeName": format!("pvc-{number:036}")}}})
}
