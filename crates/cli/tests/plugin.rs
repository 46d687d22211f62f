//! The program as `kubectl placement-guard`.

#![allow(clippy::restriction)]

mod program;

use std::os::unix::fs::symlink;
use std::process::Command;

use program::{Folder, Ran, ran};
use serde_json::{Value, json};
use testkit::api_server::ApiServer;

/// A folder with the plug-in in `bin/`, and with a cluster that has two nodes, a stranded volume, and a pod in each of two namespaces.
fn plugin() -> (Folder, ApiServer) {
    let (folder, server) = (Folder::new(), ApiServer::start());
    std::fs::create_dir(folder.path().join("bin")).unwrap();
    symlink(env!("CARGO_BIN_EXE_placement-guard"), folder.path().join("bin/kubectl-placement_guard")).unwrap();
    folder.write("kubeconfig", server.kubeconfig());
    for namespace in ["shop", "stock"] {
        server.put(&json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "namespace": namespace},
            "spec": {"containers": [], "tolerations": [{"operator": "Exists"}]}}));
    }
    folder.write("settings.yaml", "tolerations: {allowed: []}\n");
    (folder, server)
}

/// Runs the plug-in as kubectl does.
fn run(folder: &Folder, arguments: &str) -> Ran {
    let mut command = Command::new(folder.path().join("bin/kubectl-placement_guard"));
    command.env_clear().env("KUBECONFIG", "kubeconfig").current_dir(folder.path()).args(arguments.split(' '));
    ran(command, b"")
}

fn pods(ran: &Ran) -> Vec<String> {
    let report: Value = serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{ran:?}"));
    let objects = report["objects"].as_array().unwrap().iter();
    objects
        .map(|object| format!("{}/{}", object["namespace"].as_str().unwrap(), object["name"].as_str().unwrap()))
        .collect()
}

#[test]
fn it_reads_the_live_cluster_by_itself() {
    let (folder, server) = plugin();
    let audit = run(&folder, "audit --settings settings.yaml -o json");
    assert_eq!((audit.code, pods(&audit)), (Some(1), vec![String::from("shop/web"), String::from("stock/web")]));
    // With the flags of kubectl.
    let audit = run(&folder, "audit --settings settings.yaml -o json --kubeconfig kubeconfig --context test -n shop");
    assert_eq!((audit.code, pods(&audit)), (Some(1), vec![String::from("shop/web")]));
    server.requests();
    // Without kubectl, the program reads standard input.
    let mut command = folder.command();
    command.env("KUBECONFIG", "kubeconfig").args(["audit", "--settings", "settings.yaml"]);
    assert_eq!(ran(command, b"").code, Some(0));
    assert_eq!(server.requests(), [""; 0]);
}

#[test]
fn a_namespace_alone_is_asked_for() {
    let (folder, server) = plugin();
    folder.write("settings.yaml", "tolerations: {allowed: []}\nnodeTaints: {numericKeys: [example.com/level]}\n");
    run(&folder, "audit --settings settings.yaml -n shop");
    let asked = server.requests();
    assert!(asked.iter().any(|path| path.starts_with("/api/v1/namespaces/shop/pods?limit=500")), "{asked:?}");
    assert!(asked.iter().all(|path| path.contains("/namespaces/shop/")), "{asked:?}");
    let wrong = run(&folder, "audit -n ../nodes");
    assert!(
        wrong.code == Some(2) && wrong.err.contains("must be 1 to 63 lower-case letters, digits and `-`"),
        "{}",
        wrong.err
    );
}

#[test]
fn manifests_without_a_namespace_belong_to_the_one_that_is_named() {
    let (folder, _server) = plugin();
    folder.write("settings.yaml", "tolerations: {allowed: [], exempt: {namespaces: [shop]}}\n");
    let pod = |metadata: &str| {
        format!("apiVersion: v1\nkind: Pod\nmetadata: {metadata}\nspec: {{tolerations: [{{operator: Exists}}]}}\n")
    };
    folder.write("pod.yaml", pod("{name: web}")).write("named.yaml", pod("{name: web, namespace: stock}"));
    let check = |arguments: &str| run(&folder, &format!("check --settings settings.yaml {arguments}")).code;
    assert_eq!(check("pod.yaml"), Some(1));
    assert_eq!(check("pod.yaml -n shop"), Some(0));
    assert_eq!(check("pod.yaml --namespace stock"), Some(1));
    assert_eq!(check("named.yaml -n shop"), Some(1), "what names a namespace stays there");
    // Objects outside of namespaces stay there.
    folder.write("settings.yaml", "nodeTaints: {numericKeys: [example.com/level], exempt: {namespaces: [shop]}}\n");
    let node = "apiVersion: v1\nkind: Node\nmetadata: {name: a}\nspec: {taints: [{key: example.com/level, value: x, effect: NoSchedule}]}\n";
    folder.write("node.yaml", node);
    assert_eq!(check("node.yaml -n shop"), Some(1));
}

#[test]
fn another_cluster_can_be_named() {
    let (folder, server) = plugin();
    folder
        .write("all.yaml", "apiVersion: v1\nkind: List\nitems: []\n")
        .write("none.yaml", "apiVersion: v1\nkind: List\nitems: []\n");
    let ran = run(&folder, "audit --settings settings.yaml --cluster all.yaml none.yaml");
    assert_eq!((ran.code, server.requests()), (Some(0), Vec::new()), "{}", ran.err);
}

#[test]
fn texts_show_what_a_person_types() {
    let (folder, _server) = plugin();
    for arguments in ["--help", "check --help", "audit --help", "check --nonsense", "explain --help"] {
        let ran = run(&folder, arguments);
        let text = ran.out + &ran.err;
        let usages: Vec<&str> =
            text.lines().filter(|line| line.contains("placement-guard ") && !line.contains('`')).collect();
        assert!(!usages.is_empty(), "{arguments}: {text}");
        let wrong: Vec<_> = usages.iter().filter(|line| !line.contains("kubectl placement-guard")).collect();
        assert!(wrong.is_empty(), "{arguments}: {wrong:?}");
    }
    let version = run(&folder, "--version");
    version.printed(0, concat!("placement-guard ", env!("CARGO_PKG_VERSION"), "\n"));
    assert!(run(&folder, "audit --help").out.contains("the default, except with `--cluster` or `--nodes`"));
}

/// The real kubectl, where it is at hand.
#[test]
fn kubectl_finds_it() {
    let (folder, _server) = plugin();
    let path = format!("{}:{}", folder.path().join("bin").display(), std::env::var("PATH").unwrap());
    let mut command = Command::new("kubectl");
    command.env("PATH", path).env("KUBECONFIG", "kubeconfig").current_dir(folder.path());
    command.args(["placement-guard", "audit", "--settings", "settings.yaml", "-o", "json", "-n", "stock"]);
    if Command::new("kubectl").args(["version", "--client"]).output().is_ok_and(|output| output.status.success()) {
        assert_eq!(pods(&ran(command, b"")), ["stock/web"]);
    } else {
        eprintln!("kubectl is not here: nothing was tried");
    }
}
