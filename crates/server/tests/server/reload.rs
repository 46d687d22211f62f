//! Certificates that change while the server answers.

use serde_json::json;

use crate::hostile::{self, ACCEPTS};
use crate::query::{provider_request, provider_response};
use running_server::pki::{Ca, GATEKEEPER};
use running_server::running::{bounds, start};

const LOADED: &str = "placement_guard_reloads_total{what=\"serving certificate\",outcome=\"loaded\"}";
const FAILED: &str = "placement_guard_reloads_total{what=\"serving certificate\",outcome=\"failed\"}";
const CA_LOADED: &str = "placement_guard_reloads_total{what=\"client CA\",outcome=\"loaded\"}";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_serving_pair_fails_no_request_and_drops_no_connection() {
    let server = start(hostile::module(30), bounds(), None).await;
    let client = server.gatekeeper();
    let key = hostile::key(ACCEPTS, 0);
    let expected = (
        200,
        provider_response(
            json!([{"key": key, "value":
        {"allowed": true, "message": "", "warnings": [], "findings": []}}]),
            "",
        ),
    );
    let mut kept = client.open().await;
    let shown =
        |stream: &tokio_rustls::client::TlsStream<_>| stream.get_ref().1.peer_certificates().unwrap()[0].clone();
    let first = shown(&client.connect().await);
    for round in 1..=5 {
        let pair = server.pki.ca.issue("localhost");
        server.pki.mount(&pair, &server.pki.ca.certificate);
        // Requests go on until the new pair is shown, and one more time after that.
        loop {
            assert_eq!(kept.post("/v1/query", provider_request(&[&key])).await.unwrap(), expected);
            let stream = client.connect().await;
            assert_eq!(client.post("/v1/query", provider_request(&[&key])).await, expected);
            if shown(&stream) == pair.der().0[0] {
                break;
            }
        }
        assert_ne!(pair.der().0[0], first);
        server.comes_to(LOADED, f64::from(round)).await;
    }
    assert_eq!(server.metric(FAILED).await, 0.0);
    let expiry =
        server.metric("placement_guard_certificate_expiry_timestamp_seconds{what=\"serving certificate\"}").await;
    assert!(expiry > 4e9, "{expiry}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_used_leaves_the_old_pair_in_force() {
    let module = hostile::module(30);
    let about = format!("module {}\n", module.digest());
    let server = start(module, bounds(), None).await;
    let (mut broken, other) = (server.pki.ca.issue("localhost"), server.pki.ca.issue("localhost"));
    broken.key = other.key;
    server.pki.mount(&broken, &server.pki.ca.certificate);
    server.comes_to(FAILED, 1.0).await;
    broken.certificate = String::from("no PEM");
    server.pki.mount(&broken, &server.pki.ca.certificate);
    server.comes_to(FAILED, 2.0).await;
    std::fs::remove_file(server.pki.path("tls.key")).unwrap();
    server.comes_to(FAILED, 3.0).await;
    let key = hostile::key(ACCEPTS, 0);
    let (status, _) = server.gatekeeper().post("/v1/query", provider_request(&[&key])).await;
    assert_eq!(status, 200);
    assert_eq!(server.operations("/readyz").await, (200, format!("ok\n{about}")));
    // Nothing is tried again that has not changed.
    assert_eq!(server.metric(FAILED).await, 3.0);
    assert_eq!(server.metric(LOADED).await, 0.0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_client_ca_is_in_force_for_the_next_request_also_on_old_connections() {
    let server = start(hostile::module(30), bounds(), None).await;
    let new = Ca::new("new CA");
    let (old_client, new_client) = (server.gatekeeper(), server.client().with(&new.issue(GATEKEEPER)));
    let request = provider_request(&[hostile::key(ACCEPTS, 0)]);
    let mut kept = old_client.open().await;
    assert_eq!(kept.post("/v1/query", request.clone()).await.unwrap().0, 200);
    assert_eq!(new_client.post("/v1/query", request.clone()).await.0, 403);
    let pair = server.pki.ca.issue("localhost");
    server.pki.mount(&pair, &format!("{}{}", server.pki.ca.certificate, new.certificate));
    server.comes_to(CA_LOADED, 1.0).await;
    assert_eq!(kept.post("/v1/query", request.clone()).await.unwrap().0, 200);
    assert_eq!(new_client.post("/v1/query", request.clone()).await.0, 200);
    server.pki.mount(&pair, &new.certificate);
    server.comes_to(CA_LOADED, 2.0).await;
    assert_eq!(kept.post("/v1/query", request.clone()).await.unwrap().0, 403);
    assert_eq!(new_client.post("/v1/query", request).await.0, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_whose_certificate_has_expired_is_not_ready() {
    let module = hostile::module(30);
    let about = format!("module {}\n", module.digest());
    let server = start(module, bounds(), None).await;
    assert_eq!(server.operations("/readyz").await, (200, format!("ok\n{about}")));
    server.pki.mount(&server.pki.ca.issue_expired("localhost"), &server.pki.ca.certificate);
    server.comes_to(LOADED, 1.0).await;
    let not_ready = format!("not ready: the serving certificate is not valid now\n{about}");
    assert_eq!(server.operations("/readyz").await, (503, not_ready));
    assert_eq!(server.operations("/healthz").await, (200, String::from("ok\n")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_says_what_it_runs() {
    let module = hostile::module(30);
    let (digest, settings) = (module.digest().to_owned(), host::sha256(b"{}"));
    assert!(digest.strip_prefix("sha256:").is_some_and(|hex| hex.len() == 64), "{digest}");
    assert_eq!(settings, "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a");
    let server = start(module, bounds(), Some("{}")).await;
    let about = format!("ok\nmodule {digest}\nsettings {settings}\n");
    assert_eq!(server.operations("/readyz").await, (200, about));
    let version = env!("CARGO_PKG_VERSION");
    let labels = format!("version=\"{version}\",module=\"{digest}\",settings=\"{settings}\"");
    assert_eq!(server.metric(&format!("placement_guard_build_info{{{labels}}}")).await, 1.0);
}
