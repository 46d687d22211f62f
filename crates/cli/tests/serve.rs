//! `serve` as a process: what it says, what it answers, and how it ends.

#![allow(clippy::restriction)]

#[path = "../../registry/tests/server/mod.rs"]
#[allow(dead_code, reason = "the other tests of the registry use the rest")]
mod registry_server;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;

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
    log: BufReader<ChildStdout>,
    loaded: Value,
    address: String,
    operations: String,
}

impl Serving {
    fn start(folder: &Path, options: &[&str]) -> Self {
        let mut process = serve(folder, options).spawn().unwrap();
        let mut log = BufReader::new(process.stdout.take().unwrap());
        let (loaded, listening) = (line(&mut log), line(&mut log));
        if listening["message"] != "listening" {
            let mut said = String::new();
            process.stderr.take().unwrap().read_to_string(&mut said).unwrap();
            panic!("{loaded} {listening} {said}");
        }
        let text = |name: &str| listening[name].as_str().unwrap().to_owned();
        let (address, operations) = (text("address"), text("operations"));
        Serving { process, log, loaded, address, operations }
    }

    /// Tells it to stop: the rest of its log, and its exit code.
    fn stop(mut self) -> (Vec<Value>, Option<i32>) {
        let told = Command::new("kill").args(["-TERM", &self.process.id().to_string()]).status().unwrap();
        assert!(told.success());
        let mut rest = Vec::new();
        loop {
            match line(&mut self.log) {
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

/// One request over TLS; the JSON of the answer.
fn post(folder: &Path, address: &str, path: &str, body: &str) -> Value {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(folder.join("tls.crt")).unwrap()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()));
    let config = config.with_safe_default_protocol_versions().unwrap().with_root_certificates(roots);
    let name = ServerName::try_from("localhost").unwrap();
    let connection = ClientConnection::new(Arc::new(config.with_no_client_auth()), name).unwrap();
    let answer = answer(StreamOwned::new(connection, TcpStream::connect(address).unwrap()), "POST", path, body);
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200 "), "{answer}");
    serde_json::from_str(body).unwrap()
}

#[test]
fn it_answers_says_so_in_one_line_and_drains() {
    let folder = folder();
    let serving = Serving::start(folder.path(), &["--module", "module.wasm"]);
    assert_eq!(serving.loaded, json!({"level": "INFO", "message": "loaded", "module": "module.wasm"}));
    let ready = answer(TcpStream::connect(&serving.operations).unwrap(), "GET", "/readyz", "");
    assert!(ready.starts_with("HTTP/1.1 200 ") && ready.ends_with("\r\n\r\nok\n"), "{ready}");

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
            "problem": "no JSON object"}),
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
    let registry = registry_server::Server::start(storage.path());
    let reference = format!("{}/placement-guard:v0", registry.host);
    let pushed = program(folder.path()).args(["push", "module.wasm", &reference, "--insecure"]).output().unwrap();
    let by_digest = String::from_utf8(pushed.stdout).unwrap().trim().to_owned();
    assert!(by_digest.contains("@sha256:"), "{}", String::from_utf8_lossy(&pushed.stderr));
    for reference in [&reference, &by_digest] {
        let module = format!("registry://{reference}");
        let serving = Serving::start(folder.path(), &["--module", &module, "--insecure"]);
        assert_eq!(serving.loaded["module"], *by_digest);
        assert_eq!(serving.stop().1, Some(0));
    }
}

#[test]
fn what_keeps_it_from_starting_is_said_with_what_to_do() {
    let folder = folder();
    std::fs::write(folder.path().join("empty"), "").unwrap();
    std::fs::write(folder.path().join("bad.yaml"), "tolerations: {alowed: []}\n").unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = listener.local_addr().unwrap().to_string();
    let pem = "give files that hold `-----BEGIN …-----`, the key of the certificate among them";
    let cases: [(&[&str], &str); 8] = [
        (
            &["--module", "none.wasm"],
            "none.wasm: cannot be read: No such file or directory (os error 2); \
                name a module file, or `HOST/REPOSITORY:TAG` in a registry",
        ),
        (
            &["--module", "empty"],
            "empty: is no WebAssembly module: failed to parse WebAssembly module: unexpected end-of-file (at offset 0x0); \
                give the file that `make module` wrote",
        ),
        (
            &["--module", "module.wasm", "--tls-cert", "none.crt"],
            &format!("serve: none.crt: cannot be read: No such file or directory (os error 2); {pem}"),
        ),
        (&["--module", "module.wasm", "--tls-cert", "empty"], &format!("serve: empty: no certificate in it; {pem}")),
        (
            &["--module", "module.wasm", "--tls-key", "empty"],
            &format!("serve: empty: no private key in it: no items found; {pem}"),
        ),
        (&["--module", "module.wasm", "--client-ca", "empty"], &format!("serve: empty: no certificate in it; {pem}")),
        (
            &["--module", "module.wasm", "--settings", "bad.yaml"],
            "bad.yaml:1:15: tolerations.alowed: is not known; known here: `allowed`, `denied`, `standard`, \
                `numericOperators`, `enforcement`, `exempt`; `placement-guard settings` prints what is known",
        ),
        (
            &["--module", "module.wasm", "--listen", &taken],
            &format!(
                "serve: `{taken}` cannot be listened on: Address already in use (os error 98); \
                    give an address of this machine that is free"
            ),
        ),
    ];
    for (options, complaint) in cases {
        let ran = serve(folder.path(), options).output().unwrap();
        let said = String::from_utf8(ran.stderr).unwrap();
        assert_eq!((said, ran.status.code()), (format!("error: {complaint}\n"), Some(2)), "{options:?}");
    }
}
