//! Push and pull against a real registry.

#![allow(clippy::restriction)]

mod server;

use std::path::Path;
use std::sync::Arc;

use package::Metadata;
use registry::{Access, Progress, Transfer, pull, push, unwatched};
use serde_json::{Value, json};
use server::{Server, blob};

const ACCESS: Access = Access { insecure: true, docker_config: None };

/// A module that goes in several pieces: `filling` makes it another one.
fn module(filling: u8) -> Vec<u8> {
    let yaml = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../metadata.yml")).unwrap();
    // The smallest module there is, and a section of 200,000 bytes with an empty name.
    let mut plain = b"\0asm\x01\0\0\0\0\xc1\x9a\x0c\0".to_vec();
    plain.extend(std::iter::repeat_n(filling, 200_000));
    package::annotate(&plain, &Metadata::parse(&yaml).unwrap()).unwrap()
}

fn failure<T: std::fmt::Debug>(result: Result<T, registry::RegistryError>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn what_was_pushed_comes_back_by_tag_and_by_digest_under_the_manifest_that_kubewarden_writes() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let module = module(b'a');
    let tagged = format!("registry://{}/team/guard:v1", server.host);
    let pushed = push(&module, &tagged, &ACCESS, &unwatched()).unwrap();
    assert_eq!(pushed.by_digest, format!("{}/team/guard@{}", server.host, pushed.digest));
    for reference in [&tagged, &pushed.by_digest] {
        let pulled = pull(reference, &ACCESS, &unwatched()).unwrap();
        assert!(pulled.module == module, "{reference}: other bytes");
        assert_eq!((pulled.by_digest, pulled.digest), (pushed.by_digest.clone(), pushed.digest.clone()));
    }

    let stored = std::fs::read_to_string(blob(folder.path(), &pushed.digest)).unwrap();
    let manifest: Value = serde_json::from_str(&stored).unwrap();
    let yaml = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../metadata.yml")).unwrap();
    let mut annotations = Metadata::parse(&yaml).unwrap().annotations;
    annotations
        .insert(String::from("org.opencontainers.image.source"), annotations["io.kubewarden.policy.source"].clone());
    let digest = manifest["layers"][0]["digest"].clone();
    assert!(std::fs::read(blob(folder.path(), digest.as_str().unwrap())).unwrap() == module);
    assert_eq!(
        manifest,
        json!({
            "annotations": annotations,
            "config": {
                "digest": "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",
                "mediaType": "application/vnd.wasm.config.v1+json",
                "size": 2,
            },
            "layers": [{
                "digest": digest,
                "mediaType": "application/vnd.wasm.content.layer.v1+wasm",
                "size": module.len(),
            }],
            "schemaVersion": 2,
        })
    );
    assert!(stored.starts_with(r#"{"annotations":{"io.artifacthub.displayName":"#), "{stored}");
}

#[test]
fn progress_ends_with_everything() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let module = module(b'a');
    let total = module.len() as u64;
    let reference = format!("{}/guard:v1", server.host);
    for go in [true, false] {
        let seen = Arc::new(std::sync::Mutex::new(Vec::new()));
        let sink = Arc::clone(&seen);
        let progress: Progress = Arc::new(move |transfer| sink.lock().unwrap().push(transfer));
        if go {
            push(&module, &reference, &ACCESS, &progress).unwrap();
        } else {
            pull(&reference, &ACCESS, &progress).unwrap();
        }
        let seen = seen.lock().unwrap();
        assert_eq!(seen.last(), Some(&Transfer { done: total, total }));
        assert!(seen.windows(2).all(|pair| pair[0].done <= pair[1].done), "{seen:?}");
    }
}

fn docker_config(folder: &Path, host: &str, auth: &str) -> Access {
    std::fs::write(folder.join("config.json"), json!({"auths": {host: {"auth": auth}}}).to_string()).unwrap();
    Access { insecure: true, docker_config: Some(folder.to_path_buf()) }
}

#[test]
fn a_registry_with_passwords_wants_the_right_one() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::with_password(folder.path());
    let (host, module) = (&server.host, module(b'a'));
    let reference = format!("{host}/guard:v1");
    let file = folder.path().join("config.json");
    let file = file.display();
    let refusal = |doing: &str, credentials: &str| {
        format!(
            "`{host}` does not let this user {doing} `{reference}`: {credentials}; `docker login {host}` stores others"
        )
    };
    let absent = "no credentials were sent, since there is no folder of Docker's settings";
    assert_eq!(failure(push(&module, &reference, &ACCESS, &unwatched())), refusal("push", absent));
    // me:wrong
    let wrong = docker_config(folder.path(), host, "bWU6d3Jvbmc=");
    let user = format!("the user was `me`, from `{file}`");
    assert_eq!(failure(push(&module, &reference, &wrong, &unwatched())), refusal("push", &user));
    // me:s3cret
    let right = docker_config(folder.path(), host, "bWU6czNjcmV0");
    push(&module, &reference, &right, &unwatched()).unwrap();
    assert!(pull(&reference, &right, &unwatched()).unwrap().module == module);
    assert_eq!(failure(pull(&reference, &ACCESS, &unwatched())), refusal("pull", absent));
    let other = docker_config(folder.path(), "example.com", "bWU6czNjcmV0");
    let none = format!("no credentials were sent, since `{file}` has none for it");
    assert_eq!(failure(pull(&reference, &other, &unwatched())), refusal("pull", &none));
    std::fs::write(folder.path().join("config.json"), "no JSON").unwrap();
    assert_eq!(
        failure(pull(&reference, &other, &unwatched())),
        format!(
            "the credentials for `{host}` in `{file}` cannot be used: it is not Docker's JSON; `docker login {host}` \
             writes them anew"
        )
    );
}

#[test]
fn a_registry_that_dies_in_the_middle_keeps_the_tag_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let (old, new) = (module(b'a'), module(b'b'));
    let before = Server::start(folder.path());
    push(&old, &format!("{}/guard:kept", before.host), &ACCESS, &unwatched()).unwrap();
    drop(before);
    for tag in ["kept", "new"] {
        let dying = Arc::new(Server::start(folder.path()));
        let killer = Arc::clone(&dying);
        let once = std::sync::Once::new();
        let progress: Progress = Arc::new(move |_| once.call_once(|| killer.kill()));
        let complaint = failure(push(&new, &format!("{}/guard:{tag}", dying.host), &ACCESS, &progress));
        let begin = format!("cannot push `{}/guard:{tag}`: ", dying.host);
        let end = format!("; is `{}` up, and a registry?", dying.host);
        assert!(complaint.starts_with(&begin) && complaint.ends_with(&end), "{complaint}");
    }
    let after = Server::start(folder.path());
    assert!(pull(&format!("{}/guard:kept", after.host), &ACCESS, &unwatched()).unwrap().module == old);
    assert_eq!(
        failure(pull(&format!("{}/guard:new", after.host), &ACCESS, &unwatched())),
        format!(
            "`{}/guard:new` is not there: the registry says \"manifest unknown\"; look for a mistyped repository, tag or \
             digest",
            after.host
        )
    );
}

#[test]
fn a_module_that_was_changed_in_the_storage_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let pushed = push(&module(b'a'), &format!("{}/guard:v1", server.host), &ACCESS, &unwatched()).unwrap();
    let manifest_file = blob(folder.path(), &pushed.digest);
    let manifest: Value = serde_json::from_slice(&std::fs::read(&manifest_file).unwrap()).unwrap();
    let layer = manifest["layers"][0]["digest"].as_str().unwrap().to_owned();
    std::fs::write(blob(folder.path(), &layer), module(b'b')).unwrap();
    let complaint = failure(pull(&pushed.by_digest, &ACCESS, &unwatched()));
    let begin = format!("`{}` is not what it says it is: the digest of the module is `sha256:", pushed.by_digest);
    assert!(complaint.starts_with(&begin) && complaint.contains(&format!("expected was `{layer}`")), "{complaint}");
}

#[test]
fn what_cannot_be_pushed_is_said_before_anything_is_sent() {
    let push = |module: &[u8], reference: &str| failure(push(module, reference, &ACCESS, &unwatched()));
    let digest = format!("localhost:1/guard@sha256:{}", "a".repeat(64));
    assert_eq!(
        push(&module(b'a'), &digest),
        format!(
            "`{digest}` names a digest, which is known only once the module is pushed; write `HOST/REPOSITORY:TAG`"
        )
    );
    assert_eq!(
        push(b"\0asm\x01\0\0\0", "localhost:1/guard:v1"),
        "cannot be pushed: the module carries no metadata, without which no policy server loads it; annotate it first, \
         with `placement-guard package`"
    );
    assert!(push(b"text", "localhost:1/guard:v1").starts_with("cannot be pushed: not a WebAssembly module: "));
    let unreachable = push(&module(b'a'), "localhost:1/guard:v1");
    assert!(unreachable.starts_with("cannot push `localhost:1/guard:v1`: "), "{unreachable}");
}
