//! What an audit of a large cluster takes: 50,000 real-sized pods in one List, in JSON and in YAML as `kubectl` prints them.
//! In the same run, `jq length` shows how long the JSON takes to read where `jq` is installed. With `WRITE_ONLY=FOLDER` it only
//! writes the two files, for measurements by other programs.

#![allow(clippy::restriction)]

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::{Value, json};
use wait4::Wait4;

const OBJECTS: usize = 50_000;

/// What it may take. The seconds are for two processors, the memory is for any machine.
const SECONDS: f64 = 20.0;
const MIB: u64 = 64;
/// Of the processor time of `jq length` on the same file.
const OF_JQ: f64 = 1.5;

fn main() {
    let kept = std::env::var_os("WRITE_ONLY").map(std::path::PathBuf::from);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let place = kept.as_deref().unwrap_or(folder.path());
    let (json, yaml) = (place.join("cluster.json"), place.join("cluster.yaml"));
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
    if kept.is_none() {
        let is_fine = [json, yaml].map(|file| measure(&file));
        assert!(is_fine.iter().all(|fine| *fine), "that is more than it may take");
    }
}

fn write(path: &Path, content: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>) {
    let mut out = BufWriter::new(File::create(path).expect("a file in a temporary folder"));
    content(&mut out).and_then(|()| out.flush()).expect("room for a hundred megabytes");
}

/// What a program took: seconds, seconds of processor, and MiB.
fn run(mut command: Command) -> Option<(f64, f64, u64)> {
    let started = Instant::now();
    let used = command.stdout(Stdio::null()).spawn().ok()?.wait4().expect("its end");
    assert_eq!(used.status.code(), Some(0), "{command:?}");
    let processor = used.rusage.utime + used.rusage.stime;
    Some((started.elapsed().as_secs_f64(), processor.as_secs_f64(), used.rusage.maxrss / (1 << 20)))
}

/// Whether an audit of this file takes no more than it may.
fn measure(file: &Path) -> bool {
    let mut audit = Command::new(env!("CARGO_BIN_EXE_placement-guard"));
    audit.arg("audit").arg(file);
    let (took, processor, peak) = run(audit).expect("the program");
    let bytes = file.metadata().expect("the file").len() / 1_000_000;
    let ending = file.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    println!(
        "audit of {OBJECTS} objects, {ending} of {bytes} MB: {took:.1} s of at most {SECONDS:.0} ({processor:.1} s of \
         processor), {peak} MiB of at most {MIB}"
    );
    let mut jq = Command::new("jq");
    jq.arg("length").arg(file);
    let of_jq = if ending == "json" { run(jq) } else { None };
    let ratio = of_jq.map(|(_, of_jq, _)| processor / of_jq);
    if let Some(ratio) = ratio {
        println!("that is {ratio:.2} times the processor time of `jq length`, of at most {OF_JQ}");
    }
    took <= SECONDS && peak <= MIB && ratio.is_none_or(|ratio| ratio <= OF_JQ)
}

/// A pod with what a cluster writes into it: conditions, statuses of containers, and who manages which field.
fn object(number: usize) -> Value {
    let standing =
        |key: &str| json!({"effect": "NoExecute", "key": key, "operator": "Exists", "tolerationSeconds": 300});
    let condition = |kind: &str| json!({"lastProbeTime": null, "lastTransitionTime": "2026-01-01T00:00:00Z", "observedGeneration": 1, "status": "True", "type": kind});
    let container = |name: &str| {
        json!({
            "args": ["--port=5432", "--data=/var/lib/database"],
            "env": [
                {"name": "POD_NAME", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}}},
                {"name": "NODE_NAME", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "spec.nodeName"}}},
            ],
            "image": format!("registry.example.com/{name}:v1.2.3"),
            "imagePullPolicy": "IfNotPresent",
            "livenessProbe": {"failureThreshold": 3, "httpGet": {"path": "/healthz", "port": 8080, "scheme": "HTTP"}, "periodSeconds": 10},
            "name": name,
            "resources": {"limits": {"memory": "1Gi"}, "requests": {"cpu": "250m", "memory": "1Gi"}},
            "securityContext": {"allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}},
            "terminationMessagePath": "/dev/termination-log",
            "terminationMessagePolicy": "File",
            "volumeMounts": [
                {"mountPath": "/var/lib/database", "name": "data"},
                {"mountPath": "/var/run/secrets/kubernetes.io/serviceaccount", "name": "kube-api-access", "readOnly": true},
            ],
        })
    };
    let status = |name: &str| {
        json!({
            "containerID": format!("containerd://{number:064}"),
            "image": format!("registry.example.com/{name}:v1.2.3"),
            "imageID": format!("registry.example.com/{name}@sha256:{number:064}"),
            "lastState": {}, "name": name, "ready": true, "restartCount": 0, "started": true,
            "state": {"running": {"startedAt": "2026-01-01T00:00:10Z"}},
        })
    };
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "annotations": {"checksum/config": format!("{number:064}")},
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "generateName": "database-",
            "labels": {"app.kubernetes.io/name": "database", "app.kubernetes.io/instance": format!("database-{}", number % 500), "pod-template-hash": "5d9c7b8f6"},
            "name": format!("database-{number}"),
            "namespace": format!("team-{}", number % 50),
            "ownerReferences": [{"apiVersion": "apps/v1", "blockOwnerDeletion": true, "controller": true, "kind": "ReplicaSet", "name": "database", "uid": format!("00000000-0000-4000-9000-{number:012}")}],
            "resourceVersion": number.to_string(),
            "uid": format!("00000000-0000-4000-8000-{number:012}"),
        },
        "spec": {
            "containers": [container("database"), container("exporter")],
            "dnsPolicy": "ClusterFirst",
            "enableServiceLinks": true,
            "nodeName": format!("node-{}", number % 500),
            "preemptionPolicy": "PreemptLowerPriority",
            "priority": 0,
            "restartPolicy": "Always",
            "schedulerName": "default-scheduler",
            "securityContext": {"runAsNonRoot": true},
            "serviceAccount": "database",
            "serviceAccountName": "database",
            "terminationGracePeriodSeconds": 30,
            "tolerations": [standing("node.kubernetes.io/not-ready"), standing("node.kubernetes.io/unreachable")],
            "volumes": [
                {"name": "data", "persistentVolumeClaim": {"claimName": format!("data-{number}")}},
                {"name": "kube-api-access", "projected": {"defaultMode": 420, "sources": [
                    {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
                    {"configMap": {"items": [{"key": "ca.crt", "path": "ca.crt"}], "name": "kube-root-ca.crt"}},
                ]}},
            ],
        },
        "status": {
            "conditions": [condition("PodReadyToStartContainers"), condition("Initialized"), condition("Ready"), condition("ContainersReady"), condition("PodScheduled")],
            "containerStatuses": [status("database"), status("exporter")],
            "hostIP": "10.0.0.1",
            "phase": "Running",
            "podIP": "10.1.0.1",
            "podIPs": [{"ip": "10.1.0.1"}],
            "qosClass": "Burstable",
            "startTime": "2026-01-01T00:00:00Z",
        },
    })
}
