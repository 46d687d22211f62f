//! The image as a container runs it: its root file system is unpacked, and the server in it is started in it, as its user, with
//! what a pod mounts. `PLACEMENT_GUARD_LAYOUT` names the layout that `make image` assembled; without it, an image is assembled of
//! the program that the tests have, and gets the libraries that this one needs.

#![allow(clippy::restriction)]

#[path = "../program/mod.rs"]
mod program;

mod names;
mod root;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::sync::Arc;

use program::{TimeLimit, repository};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use root::Root;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, ServerConfig, ServerConnection, StreamOwned};
use serde_json::Value;

/// A certificate for a name, its key, and the authority that signed it, in PEM.
fn certificate(name: &str) -> (String, String, String) {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
    let certificate = params.signed_by(&key, &authority).unwrap();
    (certificate.pem(), key.serialize_pem(), authority.pem())
}

fn answer(mut stream: impl Read + Write, request: &str) -> String {
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn the_server_in_it_answers_a_request() {
    let Some(root) = Root::of_the_image() else { return };
    let (certificate, key, authority) = certificate("localhost");
    root.write("run/tls.crt", &certificate).write("run/tls.key", &key);
    root.write("run/settings.yaml", "volumeNodeAffinity: {}\n");
    let mut serve = root.program(
        "serve --module /policy.wasm --tls-cert /run/tls.crt --tls-key /run/tls.key \
        --settings /run/settings.yaml --listen 127.0.0.1:0 --operations 127.0.0.1:0 --linger-seconds 0",
    );
    let mut process = serve.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let _limit = TimeLimit::on(&process);
    let mut lines = BufReader::new(process.stdout.take().unwrap()).lines().map_while(Result::ok);
    let listening = lines.find(|line| line.contains(r#""message":"listening""#));
    let Some(listening) = listening else {
        let mut said = String::new();
        process.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        panic!("it does not listen: {said}");
    };
    let listening: Value = serde_json::from_str(&listening).unwrap();
    let ready = TcpStream::connect(listening["operations"].as_str().unwrap()).unwrap();
    let ready = answer(ready, "GET /readyz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    assert!(ready.starts_with("HTTP/1.1 200 "), "{ready}");

    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(authority.as_bytes()).unwrap()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()));
    let config = config.with_safe_default_protocol_versions().unwrap().with_root_certificates(roots);
    let name = ServerName::try_from("localhost").unwrap();
    let connection = ClientConnection::new(Arc::new(config.with_no_client_auth()), name).unwrap();
    let stream = StreamOwned::new(connection, TcpStream::connect(listening["address"].as_str().unwrap()).unwrap());
    let review = std::fs::read_to_string(repository().join("tests/requests/pv-update-zone-to-region.json")).unwrap();
    let head = format!(
        "POST /v1/admit HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        review.len()
    );
    let answered = answer(stream, &(head + &review));
    let (_, body) = answered.split_once("\r\n\r\n").unwrap();
    let body: Value = serde_json::from_str(body).unwrap();
    let request: Value = serde_json::from_str(&review).unwrap();
    assert_eq!(body["response"]["uid"], request["request"]["uid"]);
    assert_eq!(body["response"]["allowed"], false, "{body}");
    process.kill().unwrap();
    process.wait().unwrap();
}

/// Answers every request over TLS with 404, until the test ends.
fn registry(certificate: &str, key: &str) -> u16 {
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()));
    let chain = vec![CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap()];
    let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
    let config = config.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
    let config = Arc::new(config.with_single_cert(chain, key).unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let mut tls = StreamOwned::new(ServerConnection::new(Arc::clone(&config)).unwrap(), stream);
            let mut request = [0; 4096];
            if tls.read(&mut request).is_ok() {
                let _ = tls.write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
                tls.conn.send_close_notify();
                let _ = tls.flush();
            }
        }
    });
    port
}

/// What a static program is most likely to lack: looking up names, and authorities.
#[test]
fn it_finds_names_and_trusts_the_authorities_of_the_image() {
    let Some(root) = Root::of_the_image() else { return };
    let (certificate, key, authority) = certificate("registry.example");
    let port = registry(&certificate, &key);
    let name = format!("registry.example:{port}/guard:v1");
    match names::serve("registry.example") {
        Some(server) => root.write("etc/resolv.conf", &format!("nameserver {server}\n")),
        // A name server needs a port that only root may use.
        None => root.write("etc/hosts", "127.0.0.1 registry.example\n"),
    };
    let pull = || {
        let ran = program::ran(root.program(&format!("pull {name} --output-path /run/pulled.wasm")), b"");
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{}", ran.err);
        ran.err
    };
    let untrusted = pull();
    assert!(untrusted.contains("certificate"), "{untrusted}");
    let bundle = "etc/ssl/certs/ca-certificates.crt";
    root.write(bundle, &(root.read(bundle) + &authority));
    let trusted = pull();
    assert!(trusted.contains(&format!("`{name}` was not found")), "{trusted}");
}
