//! `package`, `push`, `pull` and `check --module REFERENCE`, against a real registry.

#![allow(clippy::restriction)]

mod program;

use program::{Folder, Ran, built_module, ran, repository};
use serde_json::{Value, json};
use testkit::registry_server::{Server, blob};

const UPDATE: &str = "pv-update-affinity-added.json";

/// With the built module, settings, and a request that they refuse.
fn folder() -> Folder {
    let folder = Folder::new();
    let request = std::fs::read(repository().join("tests/requests").join(UPDATE)).unwrap();
    folder.write("module.wasm", std::fs::read(built_module()).unwrap());
    folder.write("settings.yaml", "volumeNodeAffinity: {}\n").write("request.json", request);
    folder
}

/// The digest in what `push` and `pull` print.
fn digest(ran: &Ran, repository: &str) -> String {
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    let digest = ran.out.strip_prefix(&format!("{repository}@")).and_then(|rest| rest.strip_suffix('\n'));
    digest.unwrap_or_else(|| panic!("no digest: {}", ran.out)).to_owned()
}

/// What a run is with a module that was named by a tag, where `built_in` is the run without one.
fn warned(built_in: Ran, tag: &str, pushed: &Ran) -> Ran {
    let by_digest = pushed.out.trim_end();
    let warning = format!("warning: `{tag}` names a tag, which can move; now it leads to `{by_digest}`\n");
    Ran { err: warning + &built_in.err, ..built_in }
}

fn bytes(folder: &Folder, file: &str) -> Vec<u8> {
    std::fs::read(folder.path().join(file)).unwrap()
}

#[test]
fn a_pushed_module_comes_back_by_tag_and_by_digest_and_judges() {
    let (folder, storage) = (folder(), Folder::new());
    let server = Server::start(storage.path());
    let repository = format!("{}/team/placement-guard", server.host);
    let pushed = folder.run(&format!("push module.wasm {repository}:v0.1.0 --insecure"));
    let digest = digest(&pushed, &repository);
    for (file, reference) in [
        ("by-tag.wasm", format!("{repository}:v0.1.0")),
        ("by-digest.wasm", format!("{repository}@{digest}")),
        ("by-scheme.wasm", format!("registry://{repository}:v0.1.0")),
    ] {
        folder.run(&format!("pull {reference} --output-path {file} --insecure")).printed(0, &pushed.out);
        assert!(bytes(&folder, file) == bytes(&folder, "module.wasm"), "{reference}: other bytes");
    }
    let check =
        |module: &str| folder.run(&format!("check --settings settings.yaml --output json request.json {module}"));
    let built_in = check("");
    assert_eq!((built_in.code, built_in.err.as_str()), (Some(1), ""));
    assert_eq!(check("--module by-digest.wasm"), built_in);
    assert_eq!(check(&format!("--module {repository}@{digest} --insecure")), built_in);
    let by_tag = format!("registry://{repository}:v0.1.0");
    assert_eq!(check(&format!("--module {by_tag} --insecure")), warned(built_in, &by_tag, &pushed));

    let manifest: Value = serde_json::from_slice(&std::fs::read(blob(storage.path(), &digest)).unwrap()).unwrap();
    assert_eq!(manifest["config"]["mediaType"], json!("application/vnd.wasm.config.v1+json"));
    assert_eq!(manifest["layers"][0]["mediaType"], json!("application/vnd.wasm.content.layer.v1+wasm"));
    assert_eq!(manifest["annotations"]["io.kubewarden.policy.title"], json!("placement-guard"));

    check(&format!("--module {repository}:v9 --insecure")).complained(&format!(
        "`{repository}:v9` was not found: the registry says \"manifest unknown\"; check the repository, the tag and the digest"
    ));
    let layer = manifest["layers"][0]["digest"].as_str().unwrap();
    std::fs::write(blob(storage.path(), layer), vec![0; bytes(&folder, "module.wasm").len()]).unwrap();
    for command in [
        format!("check --settings settings.yaml request.json --module {repository}@{digest} --insecure"),
        format!("pull {repository}@{digest} --output-path changed.wasm --insecure"),
    ] {
        let refused = folder.run(&command);
        assert_eq!((refused.code, refused.out.as_str()), (Some(2), ""), "{command}");
        let begin =
            format!("error: `{repository}@{digest}` does not match its digest: the digest of the module is `sha256:");
        assert!(refused.err.starts_with(&begin), "{}", refused.err);
    }
    assert!(!folder.path().join("changed.wasm").exists());
}

#[test]
fn a_registry_with_passwords_takes_them_from_dockers_settings() {
    let (folder, storage) = (folder(), Folder::new());
    let server = Server::with_password(storage.path());
    let reference = format!("{}/placement-guard:v1", server.host);
    let run = |home: &str, arguments: &str| {
        let mut command = folder.command();
        command.env("HOME", folder.path().join(home)).args(arguments.split_whitespace());
        ran(command, b"")
    };
    let push = format!("push module.wasm {reference} --insecure");
    let config = folder.path().join("nobody/.docker/config.json");
    run("nobody", &push).complained(&format!(
        "`{host}` does not let this user push `{reference}`: no credentials were sent, because `{}` has none for this registry; \
         `docker login {host}` stores new ones",
        config.display(),
        host = server.host,
    ));
    // me:s3cret
    let auths = json!({"auths": {&server.host: {"auth": "bWU6czNjcmV0"}}});
    folder.write("home/.docker/config.json", auths.to_string());
    let pushed = run("home", &push);
    assert_eq!((pushed.code, pushed.err.as_str()), (Some(0), ""));
    let check = format!("check --settings settings.yaml request.json --module {reference} --insecure");
    let built_in = folder.run("check --settings settings.yaml request.json");
    assert_eq!(run("home", &check), warned(built_in, &reference, &pushed));
    assert_eq!(run("nobody", &check).code, Some(2));
}

#[test]
fn a_module_judges_only_with_the_proofs_that_are_asked_for() {
    let (folder, storage) = (folder(), Folder::new());
    let server = Server::start(storage.path());
    for name in ["ours", "other"] {
        let pair = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).unwrap();
        folder.write(&format!("{name}.key"), pair.serialize_pem()).write(&format!("{name}.pub"), pair.public_key_pem());
    }
    let tag = format!("{}/placement-guard:v1", server.host);
    let pushed = folder.run(&format!("push module.wasm {tag} --sign-key ours.key --insecure"));
    assert_eq!((pushed.code, pushed.err.as_str()), (Some(0), ""));
    let by_digest = pushed.out.trim_end();

    let built_in = folder.run("check --settings settings.yaml request.json");
    assert_eq!(built_in.code, Some(1));
    let check = |options: &str| folder.run(&format!("check --settings settings.yaml request.json --module {options}"));
    assert_eq!(check(&format!("{by_digest} --insecure --verify-key ours.pub --require-digest")), built_in);
    assert_eq!(check(&format!("{tag} --insecure --verify-key ours.pub")), warned(built_in, &tag, &pushed));

    let not_signed = format!(
        "`{by_digest}` is not signed with the key in `other.pub`: none of its signatures (1) was made with this key for this \
         module; `placement-guard push --sign-key` and `cosign sign --key` sign it"
    );
    check(&format!("{by_digest} --insecure --verify-key other.pub")).complained(&not_signed);
    check(&format!("{tag} --insecure --verify-key other.pub")).complained(&not_signed);
    check(&format!("{tag} --insecure --require-digest"))
        .complained(&format!("`{tag}` has no digest, but a digest is required; its digest is now `{by_digest}`"));
    folder
        .run(&format!("pull {by_digest} --output-path pulled.wasm --insecure --verify-key other.pub"))
        .complained(&not_signed);
    assert!(!folder.path().join("pulled.wasm").exists());

    // A file has neither a digest in its name nor signatures.
    for (option, value) in [("--require-digest", ""), ("--verify-key", "ours.pub")] {
        check(&format!("module.wasm {option} {value}")).complained(&format!(
            "module.wasm: `{option}` needs a module in a registry, and this is a file; name `HOST/REPOSITORY@sha256:…`"
        ));
    }
}

#[test]
fn whoever_waits_at_a_terminal_sees_the_module_on_its_way() {
    let (folder, storage) = (folder(), Folder::new());
    let server = Server::start(storage.path());
    let reference = format!("{}/placement-guard:v1", server.host);
    let total = indicatif::BinaryBytes(bytes(&folder, "module.wasm").len() as u64).to_string();
    for command in [
        format!("push module.wasm {reference} --insecure"),
        format!("pull {reference} --output-path pulled.wasm --insecure"),
    ] {
        let (code, shown) = folder.on_terminal(&[], &command);
        assert_eq!(code, Some(0), "{shown}");
        assert!(shown.contains(&format!(" of {total}, ")), "{shown:?}");
        // The bar is gone when the answer comes.
        let answer = format!("\r\x1b[2K{}/placement-guard@sha256:", server.host);
        assert!(shown.contains(&answer), "{shown:?}");
    }
}

#[test]
fn a_push_that_fails_leaves_no_tag() {
    let (folder, storage) = (folder(), Folder::new());
    let server = Server::start(storage.path());
    let reference = format!("{}/placement-guard:v1", server.host);
    // Where the registry would keep the tags is something else: module and configuration arrive, the name cannot.
    let tags = storage.path().join("storage/docker/registry/v2/repositories/placement-guard/_manifests/tags");
    std::fs::create_dir_all(tags.parent().unwrap()).unwrap();
    std::fs::write(&tags, "").unwrap();
    let failed = folder.run(&format!("push module.wasm {reference} --insecure"));
    assert_eq!((failed.code, failed.out.as_str()), (Some(2), ""));
    assert!(failed.err.starts_with(&format!("error: cannot push `{reference}`: ")), "{}", failed.err);
    std::fs::remove_file(&tags).unwrap();
    folder.run(&format!("pull {reference} --output-path pulled.wasm --insecure")).complained(&format!(
        "`{reference}` was not found: the registry says \"manifest unknown\"; check the repository, the tag and the digest"
    ));
    assert!(!folder.path().join("pulled.wasm").exists());
    server.kill();
    folder.run(&format!("push module.wasm {reference} --insecure")).complained(&format!(
        "cannot push `{reference}`: Connection refused (os error 111); check that `{}` is up, and is a registry",
        server.host
    ));
}

#[test]
fn a_packaged_module_is_the_one_that_make_module_leaves() {
    let folder = Folder::new();
    folder.write("plain.wasm", std::fs::read(repository().join("target/placement-guard.plain.wasm")).unwrap());
    folder.write("metadata.yml", std::fs::read(repository().join("metadata.yml")).unwrap());
    folder.run("package plain.wasm --output-path module.wasm").printed(0, "");
    assert!(bytes(&folder, "module.wasm") == std::fs::read(built_module()).unwrap());
    folder.run("package --metadata metadata.yml -o again.wasm module.wasm").printed(0, "");
    assert!(bytes(&folder, "again.wasm") == bytes(&folder, "module.wasm"));
}

#[test]
fn what_cannot_be_packaged_pushed_or_kept_is_said_and_nothing_is_left() {
    let folder = folder();
    let metadata = std::fs::read_to_string(repository().join("metadata.yml")).unwrap();
    folder.write("text.wasm", "text").write("empty.wasm", b"\0asm\x01\0\0\0").write("metadata.yml", &metadata);
    folder.write("unknown.yml", format!("{metadata}unknown: 1\n"));
    folder.write("latin.yml", b"rules: \xe4\n");
    let magic = "not a WebAssembly module: magic header not detected: bad magic number - expected=[ 0x0, 0x61, 0x73, 0x6d, ] \
                 actual=[ 0x74, 0x65, 0x78, 0x74, ] (at offset 0x0); give the file that the compiler wrote";
    let not_there = "No such file or directory (os error 2)";
    let cases = [
        ("package absent.wasm -o out.wasm", format!("absent.wasm: cannot be read: {not_there}; name a readable file")),
        (
            "package empty.wasm -o out.wasm --metadata absent.yml",
            format!("absent.yml: cannot be read: {not_there}; name a file, or `-`"),
        ),
        ("package text.wasm -o out.wasm", format!("text.wasm: {magic}")),
        (
            "package empty.wasm -o out.wasm --metadata unknown.yml",
            format!(
                "unknown.yml: not the metadata of a policy: unknown field `unknown`, expected one of rules, annotations, \
                 mutating, backgroundAudit, executionMode, policyType, contextAwareResources, hostCapabilities at line {}, \
                 column 1; correct it",
                metadata.lines().count() + 1
            ),
        ),
        (
            "package empty.wasm -o out.wasm --metadata latin.yml",
            String::from("latin.yml: is not UTF-8 at byte 7; save it as UTF-8"),
        ),
        (
            "package empty.wasm -o absent/out.wasm",
            format!("absent/out.wasm: cannot be written: {not_there}; name a writable file"),
        ),
        (
            "push absent.wasm localhost:1/guard:v1",
            format!("absent.wasm: cannot be read: {not_there}; name a readable file"),
        ),
        (
            "push empty.wasm localhost:1/guard:v1",
            String::from(
                "cannot be pushed: the module carries no metadata, without which no policy server loads it; annotate it \
                 first, with `placement-guard package`",
            ),
        ),
        ("push text.wasm localhost:1/guard:v1", format!("cannot be pushed: {magic}")),
        (
            "push module.wasm ghcr.io/guard:v1 --insecure",
            String::from(
                "`--insecure` speaks plain HTTP, and `ghcr.io` is not on this machine; without this option, the \
                 program uses HTTPS",
            ),
        ),
        (
            "pull localhost:1/Guard:v1 -o out.wasm",
            String::from(
                "`localhost:1/Guard:v1` is not a reference to a module in a registry: invalid reference format; write \
                 `HOST/REPOSITORY:TAG` or `HOST/REPOSITORY@sha256:…`",
            ),
        ),
        (
            "pull localhost:1/guard:v1 -o out.wasm",
            String::from(
                "cannot pull `localhost:1/guard:v1`: Connection refused (os error 111); is `localhost:1` up? for plain \
                 HTTP, use `--insecure`",
            ),
        ),
    ];
    let files = |folder: &Folder| std::fs::read_dir(folder.path()).unwrap().count();
    let before = files(&folder);
    for (arguments, complaint) in cases {
        folder.run(arguments).complained(&complaint);
        assert_eq!(files(&folder), before, "{arguments}");
    }
}
