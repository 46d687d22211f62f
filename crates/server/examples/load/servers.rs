//! The two servers, each in a process of its own.

use std::convert::Infallible;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use bytes::Bytes;
use host::{Host, Limits, Memory};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use server::cluster::Reading;
use server::{Bounds, Config, QueryClients, Server};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::certificates::CLIENT;

/// A server that ends with the run.
pub struct Child {
    address: SocketAddr,
    process: std::process::Child,
}

impl Child {
    /// Starts this program again as one of the servers. It prints its address on standard error; its log is thrown away.
    pub fn start(server: &str, folder: &Path) -> Self {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args([server.as_ref(), folder.as_os_str()])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let address = lines.next().unwrap().unwrap();
        // A full pipe that is not read would stop the server.
        std::thread::spawn(move || lines.map_while(Result::ok).for_each(|line| eprintln!("{line}")));
        Child { address: address.parse().unwrap_or_else(|error| panic!("{address}: {error}")), process }
    }

    /// Where it listens, under the name of its certificate.
    pub fn address(&self) -> String {
        format!("localhost:{}", self.address.port())
    }

    /// Which process it is.
    pub fn id(&self) -> u32 {
        self.process.id()
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Ends this process when the one that started it ends, in any way: its end of the pipe closes with it.
fn end_with_the_run() {
    std::thread::spawn(|| {
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        std::process::exit(0);
    });
}

/// The provider as `placement-guard serve` runs it.
pub fn provider(folder: &Path) {
    end_with_the_run();
    let _log = server::logging::begin().unwrap();
    let module = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/placement-guard.wasm");
    let bounds = Bounds::default();
    let instances = u32::try_from(bounds.evaluations).unwrap() + 1;
    let host = Host::new(Limits { memory: Memory::AtMost { bytes: 64 << 20, instances }, seconds: 1 }).unwrap();
    let module = Arc::new(host.load(module).unwrap_or_else(|error| panic!("{error}")));
    let config = Config {
        module_name: String::from("target/placement-guard.wasm"),
        listen: ([127, 0, 0, 1], 0).into(),
        operations: ([127, 0, 0, 1], 0).into(),
        certificate: folder.join("tls.crt"),
        key: folder.join("tls.key"),
        query_clients: Some(QueryClients { ca: folder.join("ca.crt"), name: CLIENT.to_owned() }),
        admit_client_ca: None,
        settings: None,
        cluster: Reading::default(),
        bounds,
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let server = Server::bind(config, module).await.unwrap_or_else(|error| panic!("{error}"));
        eprintln!("{}", server.address().unwrap());
        server.run(std::future::pending()).await;
    });
}

/// The same TLS and the same HTTP, and the smallest answer that Gatekeeper's client accepts, to every request.
pub fn nothing(folder: &Path) {
    end_with_the_run();
    let certificate = CertificateDer::from_pem_file(folder.join("tls.crt")).unwrap();
    let key = PrivateKeyDer::from_pem_file(folder.join("tls.key")).unwrap();
    let tls = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let tls = tls.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
    let tls = TlsAcceptor::from(Arc::new(tls.with_single_cert(vec![certificate], key).unwrap()));
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        eprintln!("{}", listener.local_addr().unwrap());
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            stream.set_nodelay(true).unwrap();
            let tls = tls.clone();
            tokio::spawn(async move {
                let stream = TokioIo::new(tls.accept(stream).await.unwrap());
                let service = service_fn(|request: Request<Incoming>| async {
                    let _ = request.into_body().collect().await;
                    Ok::<_, Infallible>(Response::new(Full::new(Bytes::from_static(b"{}"))))
                });
                let _ = http1::Builder::new().serve_connection(stream, service).await;
            });
        }
    });
}
