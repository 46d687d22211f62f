//! What an audit of a large cluster takes: 50,000 objects in one List, in JSON and in YAML as `kubectl` prints them.

#![allow(clippy::restriction)]

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::{Value, json};
use wait4::Wait4;

const OBJECTS: usize = 50_000;

/// What it may take.
const SECONDS: f64 = 10.0;
const MIB: u64 = 1024;

fn main() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (json, yaml) = (folder.path().join("cluster.json"), folder.path().join("cluster.yaml"));
    write(&json, |out| {
        // One after the other: what this program holds when it starts the audit counts as the audit's own peak.
        write!(out, "{{\n\"apiVersion\": \"v1\",\n\"items\": [")?;
        for number in 0..OBJECTS {
            write!(out, "{}{:#}", if number == 0 { "\n" } else { ",\n" }, object(number))?;
        }
        writeln!(out, "\n],\n\"kind\": \"List\",\n\"metadata\": {{\"resourceVersion\": \"\"}}\n}}")
    });
    write(&yaml, |out| {
        writeln!(out, "apiVersion: v1\nitems:")?;
        for number in 0..OBJECTS {
            let item = serde_saphyr::to_string(&[object(number)]).map_err(std::io::Error::other)?;
            writeln!(out, "{}", item.trim_end())?;
        }
        writeln!(out, "kind: List\nmetadata:\n  resourceVersion: \"\"")
    });
    for file in [json, yaml] {
        measure(&file);
    }
}

fn write(path: &Path, content: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>) {
    let mut out = BufWriter::new(File::create(path).expect("a file in a temporary folder"));
    content(&mut out).and_then(|()| out.flush()).expect("room for a hundred megabytes");
}

fn measure(file: &Path) {
    let started = Instant::now();
    let mut audit = Command::new(env!("CARGO_BIN_EXE_placement-guard"));
    let mut child = audit.arg("audit").arg(file).stdout(Stdio::null()).spawn().expect("the program");
    let used = child.wait4().expect("its end");
    let took = started.elapsed().as_secs_f64();
    assert_eq!(used.status.code(), Some(0), "nothing of this is refused");
    let processor = used.rusage.utime + used.rusage.stime;
    let peak = used.rusage.maxrss / (1 << 20);
    let bytes = file.metadata().expect("the file").len() / 1_000_000;
    let ending = file.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    println!(
        "audit of {OBJECTS} objects, {ending} of {bytes} MB: {took:.1} s of at most {SECONDS:.0} ({:.1} s of processor), \
         {peak} MiB of at most {MIB}",
        processor.as_secs_f64()
    );
    if took > SECONDS || peak > MIB {
        println!("that is more than it may take");
    }
}

/// Two pods for each volume, with what a cluster writes into them.
fn object(number: usize) -> Value {
    let mut metadata = json!({
        "creationTimestamp": "2026-01-01T00:00:00Z",
        "labels": {"app": "database", "topology.kubernetes.io/zone": format!("us-east1-{}", number % 3)},
        "name": format!("object-{number}"),
        "resourceVersion": number.to_string(),
        "uid": format!("00000000-0000-4000-8000-{number:012}"),
    });
    if number.is_multiple_of(3) {
        return json!({
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": metadata,
            "spec": {
                "accessModes": ["ReadWriteOnce"],
                "capacity": {"storage": "10Gi"},
                "csi": {"driver": "disk.csi.example.com", "volumeHandle": format!("disk-{number}")},
                "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [{
                    "key": "topology.kubernetes.io/zone", "operator": "In", "values": [format!("us-east1-{}", number % 3)],
                }]}]}},
                "persistentVolumeReclaimPolicy": "Delete",
                "volumeMode": "Filesystem",
            },
            "status": {"phase": "Bound"},
        });
    }
    metadata["namespace"] = json!(format!("team-{}", number % 50));
    let standing =
        |key: &str| json!({"effect": "NoExecute", "key": key, "operator": "Exists", "tolerationSeconds": 300});
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {
            "containers": [{
                "args": ["--port=5432", "--data=/var/lib/database"],
                "env": [{"name": "POD_NAME", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}}}],
                "image": "registry.example.com/database:v1.2.3",
                "name": "database",
                "resources": {"limits": {"memory": "1Gi"}, "requests": {"cpu": "250m", "memory": "1Gi"}},
                "terminationMessagePath": "/dev/termination-log",
                "volumeMounts": [{"mountPath": "/var/lib/database", "name": "data"}],
            }],
            "nodeName": format!("node-{}", number % 500),
            "tolerations": [standing("node.kubernetes.io/not-ready"), standing("node.kubernetes.io/unreachable")],
            "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": format!("data-{number}")}}],
        },
        "status": {
            "conditions": [{"lastTransitionTime": "2026-01-01T00:00:00Z", "status": "True", "type": "Ready"}],
            "phase": "Running",
            "podIP": "10.0.0.1",
        },
    })
}
