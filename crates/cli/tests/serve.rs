//! `serve` as a process: what it says, what it answers, and how it ends.

#![allow(clippy::restriction)]

mod program;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use program::{TimeLimit, ran};
use rcgen::generate_simple_self_signed;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use serde_json::{Value, json};
use tempfile::TempDir;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn program(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_placement-guard"));
    command.env_clear().current_dir(folder).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // Where tests share what they compiled.
    command.envs(std::env::vars_os().filter(|(name, _)| name == "PLACEMENT_GUARD_COMPILED"));
    command
}

/// A folder with a certificate that signs itself, settings, and a link to the built module.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let pair = generate_simple_self_signed(vec![String::from("localhost")]).unwrap();
    std::fs::write(folder.path().join("tls.crt"), pair.cert.pem()).unwrap();
    std::fs::write(folder.path().join("tls.key"), pair.signing_key.serialize_pem()).unwrap();
    std::fs::write(folder.path().join("settings.yaml"), "volumeNodeAffinity: {}\n").unwrap();
    let module = repository().join("target/placement-guard.wasm");
    std::os::unix::fs::symlink(module, folder.path().join("module.wasm")).unwrap();
    folder
}

/// `serve` with these options, and what is usual for those that are not among them.
fn serve(folder: &Path, options: &[&str]) -> Command {
    const USUAL: [(&str, &str); 6] = [
        ("--tls-cert", "tls.crt"),
        ("--tls-key", "tls.key"),
        ("--settings", "settings.yaml"),
        ("--listen", "127.0.0.1:0"),
        ("--operations", "127.0.0.1:0"),
        ("--linger-seconds", "0"),
    ];
    let mut command = program(folder);
    command.arg("serve").args(options);
    for (option, value) in USUAL.iter().filter(|(option, _)| !options.contains(option)) {
        command.args([option, value]);
    }
    command
}

/// A server that ends with the test, also when the test fails.
struct Serving {
    process: Child,
    _limit: TimeLimit,
    log: Option<BufReader<ChildStdout>>,
    /// The lines of the log before it listened.
    begun: Vec<Value>,
    address: String,
    operations: String,
}

impl Serving {
    fn start(folder: &Path, options: &[&str]) -> Self {
        let mut process = serve(folder, options).spawn().unwrap();
        let mut log = BufReader::new(process.stdout.take().unwrap());
        let _limit = TimeLimit::on(&process);
        let mut begun = Vec::new();
        let listening = loop {
            match line(&mut log) {
                Value::Null => {
                    let _ = process.kill();
                    let mut said = String::new();
                    process.stderr.take().unwrap().read_to_string(&mut said).unwrap();
                    panic!("it does not listen: {begun:?} {said}");
                }
                line if line["message"] == "listening" => break line,
                line => begun.push(line),
            }
        };
        let text = |name: &str| listening[name].as_str().unwrap().to_owned();
        let (address, operations) = (text("address"), text("operations"));
        Serving { process, _limit, log: Some(log), begun, address, operations }
    }

    fn signal(&self, signal: &str) {
        let told = Command::new("kill").args([signal, &self.process.id().to_string()]).status().unwrap();
        assert!(told.success());
    }

    /// The value of a metric; 0 where it does not occur.
    fn metric(&self, series: &str) -> f64 {
        let text = answer(TcpStream::connect(&self.operations).unwrap(), "GET", "/metrics", "");
        let value = text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
        value.map_or(0.0, |value| value.parse().unwrap())
    }

    /// Waits for its end, for at most ten seconds.
    fn ends(&mut self) -> Option<i32> {
        for _ in 0..1_000 {
            if let Some(status) = self.process.try_wait().unwrap() {
                return status.code();
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("it does not end");
    }

    /// Tells it to stop: the rest of its log, and its exit code.
    fn stop(self) -> (Vec<Value>, Option<i32>) {
        self.stop_by("-TERM")
    }

    fn stop_by(mut self, signal: &str) -> (Vec<Value>, Option<i32>) {
        self.signal(signal);
        let (mut log, mut rest) = (self.log.take().unwrap(), Vec::new());
        loop {
            match line(&mut log) {
                Value::Null => break,
                line => rest.push(line),
            }
        }
        (rest, self.process.wait().unwrap().code())
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// One line of the log without what differs each time; null at its end.
fn line(log: &mut BufReader<ChildStdout>) -> Value {
    let mut text = String::new();
    log.read_line(&mut text).unwrap();
    let mut line: Value = serde_json::from_str(&text).unwrap_or_default();
    if let Some(members) = line.as_object_mut() {
        let timestamp = members.remove("timestamp").unwrap();
        assert!(timestamp.as_str().unwrap().ends_with('Z'), "{timestamp}");
        members.remove("microseconds");
    }
    line
}

fn answer(mut stream: impl Read + Write, method: &str, path: &str, body: &str) -> String {
    let length = body.len();
    let head =
        format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {length}\r\n");
    stream.write_all(format!("{head}\r\n{body}").as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// A TLS connection whose handshake comes with the first bytes.
fn connect(folder: &Path, address: &str) -> StreamOwned<ClientConnection, TcpStream> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(folder.join("tls.crt")).unwrap()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()));
    let config = config.with_safe_default_protocol_versions().unwrap().with_root_certificates(roots);
    let name = ServerName::try_from("localhost").unwrap();
    let connection = ClientConnection::new(Arc::new(config.with_no_client_auth()), name).unwrap();
    StreamOwned::new(connection, TcpStream::connect(address).unwrap())
}

/// One request over TLS; the JSON of the answer.
fn post(folder: &Path, address: &str, path: &str, body: &str) -> Value {
    let answer = answer(connect(folder, address), "POST", path, body);
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200 "), "{answer}");
    serde_json::from_str(body).unwrap()
}

#[test]
fn it_answers_says_so_in_one_line_and_drains() {
    let folder = folder();
    let serving = Serving::start(folder.path(), &["--module", "module.wasm"]);
    let module = host::sha256(&std::fs::read(folder.path().join("module.wasm")).unwrap());
    let settings = host::sha256(br#"{"volumeNodeAffinity":{}}"#);
    let loaded = json!({"level": "INFO", "message": "loaded", "module": "module.wasm", "module_digest": module,
        "settings_digest": settings});
    assert_eq!(serving.begun, [loaded]);
    let ready = answer(TcpStream::connect(&serving.operations).unwrap(), "GET", "/readyz", "");
    let about = format!("\r\n\r\nok\nmodule {module}\nsettings {settings}\n");
    assert!(ready.starts_with("HTTP/1.1 200 ") && ready.ends_with(&about), "{ready}");

    let review = std::fs::read_to_string(repository().join("tests/requests/pv-update-zone-to-region.json")).unwrap();
    let request = serde_json::from_str::<Value>(&review).unwrap()["request"].clone();
    let answered = post(folder.path(), &serving.address, "/v1/admit", &review);
    assert_eq!(answered["response"]["uid"], request["uid"]);
    assert_eq!(answered["response"]["allowed"], false);
    let key = json!({"v": 1, "settings": {"tolerations": {"allowed": []}}, "request": {
        "operation": "CREATE", "kind": {"kind": "Pod"}, "namespace": "shop", "object": {
            "metadata": {"name": "p"}, "spec": {"tolerations": [{"key": "secret-key", "operator": "Exists"}]}}}});
    let asked = json!({"apiVersion": "externaldata.gatekeeper.sh/v1beta1", "kind": "ProviderRequest",
        "request": {"keys": [key.to_string(), "secret-text"]}});
    let answered = post(folder.path(), &serving.address, "/v1/query", &asked.to_string());
    assert_eq!(answered["response"]["items"][0]["value"]["findings"], json!(["toleration-not-allowed"]));

    let (log, code) = serving.stop();
    let mut expected = vec![
        json!({"level": "INFO", "message": "decision", "face": "admit", "operation": "UPDATE", "verdict": "refused",
            "kind": "PersistentVolume", "namespace": "", "name": request["name"],
            "user": request["userInfo"]["username"], "relation": "shifted", "findings": "node-affinity-shifted"}),
        json!({"level": "INFO", "message": "decision", "face": "query", "operation": "CREATE", "verdict": "refused",
            "kind": "Pod", "namespace": "shop", "name": "", "user": "", "findings": "toleration-not-allowed"}),
        json!({"level": "INFO", "message": "key", "face": "query", "verdict": "unreadable",
            "problem": "it is not a question: it must be a JSON object"}),
        json!({"level": "INFO", "message": "stopping"}),
        json!({"level": "INFO", "message": "stopped", "drained": true}),
    ];
    // Keys are judged side by side.
    if log.get(1) == expected.get(2) {
        expected.swap(1, 2);
    }
    assert_eq!(log, expected);
    assert_eq!(code, Some(0));
}

#[test]
fn it_loads_a_module_from_a_registry_by_digest() {
    let (folder, storage) = (folder(), tempfile::tempdir().unwrap());
    let registry = testkit::registry_server::Server::start(storage.path());
    let reference = format!("{}/placement-guard:v0", registry.host);
    let mut push = program(folder.path());
    push.args(["push", "module.wasm", &reference, "--insecure"]);
    let pushed = ran(push, b"");
    let by_digest = pushed.out.trim().to_owned();
    assert!(by_digest.contains("@sha256:"), "{}", pushed.err);
    let digest = host::sha256(&std::fs::read(folder.path().join("module.wasm")).unwrap());
    let settings_digest = host::sha256(br#"{"volumeNodeAffinity":{}}"#);
    let loaded = json!({"level": "INFO", "message": "loaded", "module": by_digest, "module_digest": digest,
        "settings_digest": settings_digest});
    let by_tag = format!("registry://{reference}");
    let warning = json!({"level": "WARN", "message": "the module is named by a tag, which can move", "reference": by_tag,
        "by_digest": by_digest});
    for (module, begun) in [(by_tag, vec![warning, loaded.clone()]), (format!("registry://{by_digest}"), vec![loaded])]
    {
        let serving = Serving::start(folder.path(), &["--module", &module, "--insecure"]);
        assert_eq!(serving.begun, begun);
        assert_eq!(serving.stop().1, Some(0));
    }
}

#[test]
fn what_keeps_it_from_starting_is_said_with_a_remedy() {
    let folder = folder();
    std::fs::write(folder.path().join("empty"), "").unwrap();
    std::fs::write(folder.path().join("bad.yaml"), "tolerations: {alowed: []}\n").unwrap();
    // Said as `settings check` says it.
    let mut check = program(folder.path());
    check.args(["settings", "check", "bad.yaml"]);
    let bad_settings = ran(check, b"").err.replace("error: ", "");
    assert!(bad_settings.starts_with("bad.yaml:1:15: tolerations.alowed: "), "{bad_settings}");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = listener.local_addr().unwrap().to_string();
    let pem = "give PEM files: a certificate with its key, and for clients a CA certificate";
    let cases: [(&[&str], &str); 10] = [
        (
            &["--module", "none.wasm"],
            "none.wasm: cannot be read: No such file or directory (os error 2); \
                name a module file, or `HOST/REPOSITORY:TAG` in a registry",
        ),
        (
            &["--module", "empty"],
            "empty: is not a WebAssembly module: failed to parse WebAssembly module: unexpected end-of-file (at offset 0x0); \
                give the file that `make module` wrote",
        ),
        (
            &["--module", "module.wasm", "--tls-cert", "none.crt"],
            &format!("serve: none.crt: cannot be read: No such file or directory (os error 2); {pem}"),
        ),
        (&["--module", "module.wasm", "--tls-cert", "empty"], &format!("serve: empty: contains no certificate; {pem}")),
        (
            &["--module", "module.wasm", "--tls-key", "empty"],
            &format!("serve: empty: contains no private key: no items found; {pem}"),
        ),
        (
            &["--module", "module.wasm", "--client-ca", "empty"],
            &format!("serve: empty: contains no certificate; {pem}"),
        ),
        (&["--module", "module.wasm", "--settings", "bad.yaml"], bad_settings.trim()),
        (
            &["--module", "module.wasm", "--reads-cluster", "Node,Pod"],
            "serve: the options read `Node, Pod` of the cluster, and there is no access to it: this is not a pod with a service \
                account token: failed to read an incluster environment variable: environment variable not found; in a pod, set \
                `automountServiceAccountToken: true`; elsewhere, give `--kubeconfig`",
        ),
        (
            &["--module", "module.wasm", "--reads-cluster", "Node", "--kubeconfig", "none"],
            "serve: the options read `Node` of the cluster, and there is no access to it: none: failed to read kubeconfig from \
                '\"none\"': No such file or directory (os error 2); give a kubeconfig file with a context that names a cluster \
                and a user",
        ),
        (
            &["--module", "module.wasm", "--listen", &taken],
            &format!(
                "serve: cannot listen on `{taken}`: Address already in use (os error 98); \
                    give a free address of this machine"
            ),
        ),
    ];
    for (options, complaint) in cases {
        let ran = ran(serve(folder.path(), options), b"");
        assert_eq!((ran.err, ran.code), (format!("error: {complaint}\n"), Some(2)), "{options:?}");
    }
}

#[test]
fn it_reads_the_kinds_that_it_is_told_to_read() {
    let folder = folder();
    let api = testkit::api_server::ApiServer::start();
    api.put(&json!({"kind": "Node", "metadata": {"name": "a"}}));
    std::fs::write(folder.path().join("kubeconfig"), api.kubeconfig()).unwrap();
    let reads =
        ["--module", "module.wasm", "--reads-cluster", "Node", "--kubeconfig", "kubeconfig", "--context", "test"];
    let serving = Serving::start(folder.path(), &reads);
    let is_ready = || {
        let answer = answer(TcpStream::connect(&serving.operations).unwrap(), "GET", "/readyz", "");
        answer.starts_with("HTTP/1.1 200 ")
    };
    let begin = Instant::now();
    while !is_ready() {
        assert!(begin.elapsed() < Duration::from_secs(30), "it is never ready");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(serving.metric("placement_guard_cluster_objects{kind=\"Node\"}"), 1.0);
    assert!(api.requests().iter().all(|path| path.starts_with("/api/v1/nodes?")));
    assert_eq!(serving.stop().1, Some(0));
}

#[test]
fn a_kind_that_no_rule_reads_is_not_known() {
    let folder = folder();
    let ran = ran(serve(folder.path(), &["--module", "module.wasm", "--reads-cluster", "Node,Secret"]), b"");
    let problem = "invalid value 'Secret' for '--reads-cluster <KINDS>': must be one of Node, Pod, PersistentVolume, \
        PersistentVolumeClaim, VolumeAttachment, StorageClass, CSINode, DaemonSet";
    assert!(ran.err.contains(problem), "{}", ran.err);
    assert_eq!(ran.code, Some(2));
}

/// A `ProviderRequest` of so many keys that no two requests share.
fn keys(count: usize, salt: usize) -> String {
    let key = |number: usize| {
        json!({"v": 1, "settings": {"tolerations": {"allowed": []}}, "request": {"operation": "CREATE",
            "kind": {"kind": "Pod"}, "namespace": "x".repeat(200), "name": format!("{salt}-{number}"),
            "object": {"metadata": {"name": "p"}, "spec": {}}}})
    };
    let keys: Vec<String> = (0..count).map(|number| key(number).to_string()).collect();
    json!({"apiVersion": "externaldata.gatekeeper.sh/v1beta1", "kind": "ProviderRequest", "request": {"keys": keys}})
        .to_string()
}

const NOT_WRITTEN: &str = "placement_guard_log_lines_dropped_total{reason=\"not-written\"}";

#[test]
fn a_log_that_nobody_reads_holds_nothing_up() {
    let folder = folder();
    let mut serving = Serving::start(folder.path(), &["--module", "module.wasm"]);
    // Until there are more lines than the pipe and the queue hold together. A stranger may cause only so many a second.
    let begin = Instant::now();
    for salt in 0.. {
        let answered = post_some(folder.path(), &serving.address, &keys(100, salt));
        assert_eq!(answered["response"]["systemError"], "", "{salt}");
        if serving.metric(NOT_WRITTEN) > 0.0 {
            break;
        }
        assert!(begin.elapsed() < Duration::from_secs(120), "no line is dropped");
    }
    let healthy = answer(TcpStream::connect(&serving.operations).unwrap(), "GET", "/healthz", "");
    assert!(healthy.starts_with("HTTP/1.1 200 "), "{healthy}");
    serving.signal("-TERM");
    assert_eq!(serving.ends(), Some(0));
}

/// As [`post`], where a decision may come too late on a busy machine: then it is asked for again.
fn post_some(folder: &Path, address: &str, body: &str) -> Value {
    for _ in 0..10 {
        let answer = answer(connect(folder, address), "POST", "/v1/query", body);
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        if head.starts_with("HTTP/1.1 200 ") {
            return serde_json::from_str(body).unwrap();
        }
        assert!(body.contains("together may take"), "{answer}");
    }
    panic!("the machine is too busy");
}

#[test]
fn a_log_whose_reader_is_gone_fails_no_decision() {
    let folder = folder();
    let mut serving = Serving::start(folder.path(), &["--module", "module.wasm"]);
    drop((serving.log.take(), serving.process.stderr.take()));
    for salt in 0..3 {
        let answered = post_some(folder.path(), &serving.address, &keys(10, salt));
        assert_eq!(answered["response"]["items"][0]["value"]["allowed"], true);
    }
    assert!(serving.metric(NOT_WRITTEN) >= 20.0);
    serving.signal("-TERM");
    assert_eq!(serving.ends(), Some(0));
}

#[test]
fn it_drains_at_every_signal_that_means_the_end() {
    let folder = folder();
    for signal in ["-INT", "-HUP", "-QUIT"] {
        let (log, code) = Serving::start(folder.path(), &["--module", "module.wasm"]).stop_by(signal);
        let expected = [
            json!({"level": "INFO", "message": "stopping"}),
            json!({"level": "INFO", "message": "stopped", "drained": true}),
        ];
        assert_eq!((&*log, code), (&expected[..], Some(0)), "{signal}");
    }
}

/// The most memory that a process has used so far, in MiB.
fn most_memory(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    most.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap() / 1_024
}

#[test]
fn large_bodies_of_strangers_take_a_bounded_amount_of_memory() {
    let folder = folder();
    let serving = Serving::start(folder.path(), &["--module", "module.wasm"]);
    let before = most_memory(serving.process.id());
    let uid = "u".repeat(15 << 20);
    let review =
        format!(r#"{{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{{"uid":"{uid}"}}}}"#);
    let key = json!({"apiVersion": "externaldata.gatekeeper.sh/v1beta1", "kind": "ProviderRequest", "request": {"keys": [uid]}})
        .to_string();
    for (path, body, bound) in [("/v1/admit", &review, 300), ("/v1/query", &key, 450)] {
        let head = format!("POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\n\r\n", body.len());
        let mut slow: Vec<_> = std::thread::scope(|scope| {
            let send = || {
                let mut stream = connect(folder.path(), &serving.address);
                let sent = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes()));
                sent.map(|()| stream)
            };
            let all: Vec<_> = (0..20).map(|_| scope.spawn(send)).collect();
            all.into_iter().map(|one| one.join().unwrap()).collect()
        });
        // All of them are answered, and no answer is taken.
        let answered = |status: u16| format!("placement_guard_requests_total{{path=\"{path}\",status=\"{status}\"}}");
        for _ in 0..3_000 {
            if serving.metric(&answered(200)) + serving.metric(&answered(503)) >= 20.0 {
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(serving.metric(&answered(200)) >= 1.0, "{path}");
        let most = most_memory(serving.process.id());
        println!(
            "20 connections that send {} bytes each to {path}: {before} MiB before, {most} MiB at most",
            body.len()
        );
        assert!(most < bound, "{path}: {most} MiB");
        slow.clear();
    }
}
