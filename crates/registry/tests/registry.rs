//! Push and pull against a real registry.

#![allow(clippy::restriction)]

use std::path::Path;
use std::sync::Arc;

use package::Metadata;
use registry::{Access, Progress, SignKey, Transfer, Trust, VerifyKey, pull, push, unwatched};
use serde_json::{Value, json};
use testkit::registry_server::{Server, blob};

const ACCESS: Access = Access { insecure: true, docker_config: None };

/// A module that goes in several chunks: `filling` makes it another one.
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
    let pushed = push(&module, &tagged, &ACCESS, None, &unwatched()).unwrap();
    assert_eq!(pushed.by_digest, format!("{}/team/guard@{}", server.host, pushed.digest));
    for reference in [&tagged, &pushed.by_digest] {
        let pulled = pull(reference, &ACCESS, Trust::default(), &unwatched()).unwrap();
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
            push(&module, &reference, &ACCESS, None, &progress).unwrap();
        } else {
            pull(&reference, &ACCESS, Trust::default(), &progress).unwrap();
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
            "`{host}` does not let this user {doing} `{reference}`: {credentials}; `docker login {host}` stores new \
             ones"
        )
    };
    let absent = "no credentials were sent, because there is no Docker configuration folder";
    assert_eq!(failure(push(&module, &reference, &ACCESS, None, &unwatched())), refusal("push", absent));
    // me:wrong
    let wrong = docker_config(folder.path(), host, "bWU6d3Jvbmc=");
    let user = format!("the user was `me`, from `{file}`");
    assert_eq!(failure(push(&module, &reference, &wrong, None, &unwatched())), refusal("push", &user));
    // me:s3cret
    let right = docker_config(folder.path(), host, "bWU6czNjcmV0");
    push(&module, &reference, &right, None, &unwatched()).unwrap();
    assert!(pull(&reference, &right, Trust::default(), &unwatched()).unwrap().module == module);
    assert_eq!(failure(pull(&reference, &ACCESS, Trust::default(), &unwatched())), refusal("pull", absent));
    let other = docker_config(folder.path(), "example.com", "bWU6czNjcmV0");
    let none = format!("no credentials were sent, because `{file}` has none for this registry");
    assert_eq!(failure(pull(&reference, &other, Trust::default(), &unwatched())), refusal("pull", &none));
    std::fs::write(folder.path().join("config.json"), "no JSON").unwrap();
    assert_eq!(
        failure(pull(&reference, &other, Trust::default(), &unwatched())),
        format!(
            "the credentials for `{host}` in `{file}` cannot be used: it is not a Docker configuration file; `docker \
             login {host}` writes new ones"
        )
    );
}

#[test]
fn a_registry_that_dies_in_the_middle_keeps_the_tag_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let (old, new) = (module(b'a'), module(b'b'));
    let before = Server::start(folder.path());
    push(&old, &format!("{}/guard:kept", before.host), &ACCESS, None, &unwatched()).unwrap();
    drop(before);
    for tag in ["kept", "new"] {
        let dying = Arc::new(Server::start(folder.path()));
        let killer = Arc::clone(&dying);
        let once = std::sync::Once::new();
        let progress: Progress = Arc::new(move |_| once.call_once(|| killer.kill()));
        let complaint = failure(push(&new, &format!("{}/guard:{tag}", dying.host), &ACCESS, None, &progress));
        let begin = format!("cannot push `{}/guard:{tag}`: ", dying.host);
        let end = format!("; check that `{}` is up, and is a registry", dying.host);
        assert!(complaint.starts_with(&begin) && complaint.ends_with(&end), "{complaint}");
    }
    let after = Server::start(folder.path());
    assert!(
        pull(&format!("{}/guard:kept", after.host), &ACCESS, Trust::default(), &unwatched()).unwrap().module == old
    );
    assert_eq!(
        failure(pull(&format!("{}/guard:new", after.host), &ACCESS, Trust::default(), &unwatched())),
        format!(
            "`{}/guard:new` was not found: the registry says \"manifest unknown\"; check the repository, the tag and the digest",
            after.host
        )
    );
}

#[test]
fn a_module_that_was_changed_in_the_storage_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let pushed = push(&module(b'a'), &format!("{}/guard:v1", server.host), &ACCESS, None, &unwatched()).unwrap();
    let manifest_file = blob(folder.path(), &pushed.digest);
    let manifest: Value = serde_json::from_slice(&std::fs::read(&manifest_file).unwrap()).unwrap();
    let layer = manifest["layers"][0]["digest"].as_str().unwrap().to_owned();
    std::fs::write(blob(folder.path(), &layer), module(b'b')).unwrap();
    let complaint = failure(pull(&pushed.by_digest, &ACCESS, Trust::default(), &unwatched()));
    let begin = format!("`{}` does not match its digest: the digest of the module is `sha256:", pushed.by_digest);
    assert!(complaint.starts_with(&begin) && complaint.contains(&format!("expected `{layer}`")), "{complaint}");
}

#[test]
fn what_cannot_be_pushed_is_said_before_anything_is_sent() {
    let push = |module: &[u8], reference: &str| failure(push(module, reference, &ACCESS, None, &unwatched()));
    let digest = format!("localhost:1/guard@sha256:{}", "a".repeat(64));
    assert_eq!(
        push(&module(b'a'), &digest),
        format!("`{digest}` has a digest, but the digest is known only after the push; write `HOST/REPOSITORY:TAG`")
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

/// A key pair in two files, PEM: `signing` and `verifying`.
fn key_pair(folder: &Path, name: &str, algorithm: &'static rcgen::SignatureAlgorithm) -> (SignKey, VerifyKey) {
    let pair = rcgen::KeyPair::generate_for(algorithm).unwrap();
    let (signing, verifying) = (folder.join(format!("{name}.key")), folder.join(format!("{name}.pub")));
    std::fs::write(&signing, pair.serialize_pem()).unwrap();
    std::fs::write(&verifying, pair.public_key_pem()).unwrap();
    (SignKey::read(&signing).unwrap(), VerifyKey::read(&verifying).unwrap())
}

#[test]
fn a_signed_module_is_pulled_with_its_key_and_with_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let (module, tagged) = (module(b'a'), format!("{}/guard:v1", server.host));
    let (ecdsa, of_ecdsa) = key_pair(folder.path(), "ecdsa", &rcgen::PKCS_ECDSA_P256_SHA256);
    let (ed25519, of_ed25519) = key_pair(folder.path(), "ed25519", &rcgen::PKCS_ED25519);
    let (_, of_another) = key_pair(folder.path(), "another", &rcgen::PKCS_ECDSA_P256_SHA256);
    let pulled = |reference: &str, key: &VerifyKey| {
        let trust = Trust { digest_required: false, key: Some(key) };
        pull(reference, &ACCESS, trust, &unwatched()).map(|pulled| pulled.module == module)
    };
    let unsigned = |digest: &str, key: &str, reason: &str| {
        format!(
            "`{}/guard@{digest}` is not signed with the key in `{}`: {reason}; `placement-guard push --sign-key` and \
             `cosign sign --key` sign it",
            server.host,
            folder.path().join(key).display()
        )
    };

    let pushed = push(&module, &tagged, &ACCESS, None, &unwatched()).unwrap();
    let absent = format!("`{}/guard:{}.sig` is not in the registry", server.host, pushed.digest.replace(':', "-"));
    assert_eq!(failure(pulled(&tagged, &of_ecdsa)), unsigned(&pushed.digest, "ecdsa.pub", &absent));

    push(&module, &tagged, &ACCESS, Some(&ecdsa), &unwatched()).unwrap();
    let none = "none of its signatures (1) was made with this key for this module";
    assert!(pulled(&tagged, &of_ecdsa).unwrap());
    assert_eq!(failure(pulled(&pushed.by_digest, &of_ed25519)), unsigned(&pushed.digest, "ed25519.pub", none));
    // A second signature does not take the first one away.
    push(&module, &tagged, &ACCESS, Some(&ed25519), &unwatched()).unwrap();
    assert!(pulled(&tagged, &of_ecdsa).unwrap());
    assert!(pulled(&pushed.by_digest, &of_ed25519).unwrap());
    let none = "none of its signatures (2) was made with this key for this module";
    assert_eq!(failure(pulled(&tagged, &of_another)), unsigned(&pushed.digest, "another.pub", none));
}

/// Anyone who can write to the registry can copy a signature to another module's place.
#[test]
fn the_signature_of_another_module_does_not_count() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let (key, verifying) = key_pair(folder.path(), "ecdsa", &rcgen::PKCS_ECDSA_P256_SHA256);
    let signed = push(&module(b'a'), &format!("{}/guard:v1", server.host), &ACCESS, Some(&key), &unwatched()).unwrap();
    let other = push(&module(b'b'), &format!("{}/guard:v2", server.host), &ACCESS, None, &unwatched()).unwrap();
    let tags = folder.path().join("storage/docker/registry/v2/repositories/guard/_manifests/tags");
    let tag = |digest: &str| tags.join(format!("{}.sig", digest.replace(':', "-")));
    let copied = std::process::Command::new("cp").arg("-r").arg(tag(&signed.digest)).arg(tag(&other.digest)).status();
    assert!(copied.unwrap().success());
    let trust = Trust { digest_required: false, key: Some(&verifying) };
    let pulled = pull(&other.by_digest, &ACCESS, trust, &unwatched());
    let complaint = failure(pulled.map(|pulled| pulled.digest));
    assert!(complaint.contains("none of its signatures (1) was made with this key for this module"), "{complaint}");
}

#[test]
fn a_required_digest_must_be_in_the_reference() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let tagged = format!("{}/guard:v1", server.host);
    let pushed = push(&module(b'a'), &tagged, &ACCESS, None, &unwatched()).unwrap();
    let trust = Trust { digest_required: true, key: None };
    assert_eq!(
        failure(pull(&tagged, &ACCESS, trust, &unwatched()).map(|pulled| pulled.digest)),
        format!("`{tagged}` has no digest, but a digest is required; its digest is now `{}`", pushed.by_digest)
    );
    assert_eq!(pull(&pushed.by_digest, &ACCESS, trust, &unwatched()).unwrap().digest, pushed.digest);
}

#[test]
fn keys_of_other_kinds_are_refused_with_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("key.pem");
    let write = |text: &str| std::fs::write(&file, text).unwrap();
    let said = |reason: &str| format!("the key in `{}` cannot be used: {reason}", file.display());
    let p384 = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P384_SHA384).unwrap();
    let kind = said("it must be an ECDSA key on P-256 or an Ed25519 key");
    write(&p384.public_key_pem());
    assert_eq!(failure(VerifyKey::read(&file)), kind);
    write(&p384.serialize_pem());
    assert_eq!(SignKey::read(&file).err().unwrap().to_string(), kind);
    assert_eq!(failure(VerifyKey::read(&file)), said("it does not hold a `PUBLIC KEY` in PEM"));
    write("-----BEGIN ENCRYPTED SIGSTORE PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED SIGSTORE PRIVATE KEY-----\n");
    let encrypted = said("it does not hold an unencrypted `PRIVATE KEY` in PEM (PKCS#8)");
    assert_eq!(SignKey::read(&file).err().unwrap().to_string(), encrypted);
}
