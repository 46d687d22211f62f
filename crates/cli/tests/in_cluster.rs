//! `check` and `audit` in a cluster: files with its objects, or its API server.

#![allow(clippy::restriction)]

mod program;

use std::sync::OnceLock;

use program::{Folder, Ran, assert_golden};
use serde_json::{Value, json};
use testkit::Case;
use testkit::api_server::ApiServer;

/// A volume is narrowed under a pod that runs.
fn case() -> &'static Case {
    static CASE: OnceLock<Case> = OnceLock::new();
    CASE.get_or_init(|| {
        let all = testkit::cases().unwrap();
        all.into_iter().find(|case| case.name == "volume-node-affinity/live-running-pod").expect("the case is there")
    })
}

fn list<'o>(objects: impl IntoIterator<Item = &'o Value>) -> String {
    let items: Vec<&Value> = objects.into_iter().collect();
    json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string()
}

/// A folder with the case of a volume in use: settings, request, and all objects of the cluster.
fn in_use() -> Folder {
    let (folder, case) = (Folder::new(), case());
    folder.write("settings.json", case.settings()).write("request.json", case.request().unwrap().to_string());
    folder.write("cluster.json", list(case.cluster().unwrap()));
    folder
}

fn of_kind(kinds: &[&str]) -> String {
    let case = case();
    let objects = case.cluster().unwrap().iter().filter(|object| kinds.contains(&object["kind"].as_str().unwrap()));
    list(objects.collect::<Vec<_>>())
}

const CHECK: &str = "check --settings settings.json request.json";

/// The answer with everything.
fn answer(folder: &Folder) -> Ran {
    let ran = folder.run(&format!("{CHECK} --cluster cluster.json"));
    assert_eq!((ran.code, ran.err.as_str()), (Some(1), ""));
    ran
}

#[test]
fn who_is_hurt_is_named() {
    let folder = in_use();
    assert_golden("in-use.txt", &answer(&folder).out);
    let accepted = folder.run("check --settings settings.json request.json");
    assert_golden("no-cluster.txt", &accepted.out);
    assert_eq!((accepted.code, accepted.err.as_str()), (Some(1), ""));
}

#[test]
fn a_cluster_comes_in_files_in_folders_and_in_a_pipe() {
    let folder = in_use();
    let expected = answer(&folder);
    folder.write("all/nodes.json", of_kind(&["Node"])).write("all/deeper/pods.json", of_kind(&["Pod"]));
    folder.write("all/rest.json", of_kind(&["PersistentVolumeClaim", "VolumeAttachment"]));
    folder.write("all/values.yaml", "replicas: 3\n");
    assert_eq!(folder.run(&format!("{CHECK} --cluster all")), expected);
    let one_by_one = "--cluster all/nodes.json --cluster all/deeper/pods.json --cluster all/rest.json";
    assert_eq!(folder.run(&format!("{CHECK} {one_by_one}")), expected);
    let all = std::fs::read(folder.path().join("cluster.json")).unwrap();
    assert_eq!(folder.pipe(&all, &format!("{CHECK} --cluster -")), expected);
    let yaml = serde_saphyr::to_string(&serde_json::from_slice::<Value>(&all).unwrap()).unwrap();
    assert_eq!(folder.pipe(&yaml, &format!("{CHECK} --cluster -")), expected);
}

#[test]
fn typed_lists_leave_out_what_their_items_are() {
    let folder = in_use();
    let expected = answer(&folder);
    let mut text = String::new();
    for (kind, api_version) in
        [("Node", "v1"), ("Pod", "v1"), ("PersistentVolumeClaim", "v1"), ("VolumeAttachment", "storage.k8s.io/v1")]
    {
        let mut list: Value = serde_json::from_str(&of_kind(&[kind])).unwrap();
        for item in list["items"].as_array_mut().unwrap() {
            item.as_object_mut().unwrap().retain(|name, _| name != "kind" && name != "apiVersion");
        }
        list["kind"] = json!(format!("{kind}List"));
        list["apiVersion"] = json!(api_version);
        text.push_str(&list.to_string());
        text.push('\n');
    }
    folder.write("typed.json", text);
    assert_eq!(folder.run(&format!("{CHECK} --cluster typed.json")), expected);
}

#[test]
fn a_kind_that_is_not_among_the_objects_is_said_once() {
    let folder = in_use();
    folder.write("nodes.json", of_kind(&["Node"])).write("none.json", list([]));
    let ran = folder.run("check --settings settings.json --cluster nodes.json request.json request.json");
    let none = |kind: &str, among: &str| {
        format!("warning: no {kind} {among} of `--cluster`: the cluster counts as one without any\n")
    };
    let expected: String =
        ["Pod", "PersistentVolumeClaim", "VolumeAttachment"].map(|kind| none(kind, "among the 3 objects")).concat();
    assert_eq!(ran.err, expected);
    let ran = folder.run(&format!("{CHECK} --cluster none.json"));
    assert!(ran.err.starts_with(&none("Node", "among the 0 objects")), "{}", ran.err);
}

#[test]
fn nodes_alone_say_nothing_of_pods() {
    let folder = in_use();
    folder.write("nodes.json", of_kind(&["Node"]));
    let ran = folder.run(&format!("{CHECK} --nodes nodes.json"));
    assert_eq!((ran.code, ran.err.as_str()), (Some(1), ""));
    assert!(
        ran.out.contains("cluster unreadable: cannot read `volumeattachments`: no cluster was given"),
        "{}",
        ran.out
    );
    folder.write("settings.json", r#"{"volumeNodeAffinity": {"judgeBy": "liveNodes"}}"#);
    assert_golden("live-nodes.txt", &folder.run(&format!("{CHECK} --nodes nodes.json")).out);
}

#[test]
fn a_cluster_that_cannot_be_read_is_not_taken_for_an_empty_one() {
    let folder = in_use();
    folder.write("empty.yaml", "# nothing\n").write("values.yaml", "replicas: 3\n");
    folder.write("broken/nodes.yaml", "apiVersion: v1\nkind: Node\nmetadata: {name: a\n");
    folder.write("number.yaml", "apiVersion: v1\nkind: Node\nmetadata: {name: a, labels: {zone: 5}}\n");
    folder.write("nameless.yaml", "---\napiVersion: v1\nkind: Pod\nmetadata: {namespace: a}\n");
    let remedy = "give what `kubectl get … -A -o yaml` prints";
    let cluster = |path: &str| folder.run(&format!("{CHECK} --cluster {path}"));
    cluster("empty.yaml").complained(&format!("empty.yaml: holds no document; {remedy}"));
    cluster("number.yaml").complained(&format!(
        "number.yaml:1: metadata.labels.zone: must be a string, but is a number: `5`; write it in quotes; {remedy}"
    ));
    cluster("nameless.yaml").complained(&format!("nameless.yaml:2: is a `Pod` without a name; {remedy}"));
    for path in ["values.yaml", "broken", "absent.yaml", "cluster.json --cluster values.yaml"] {
        let ran = cluster(path);
        assert_eq!((ran.code, ran.out.as_str(), ran.err.lines().count()), (Some(2), "", 1), "{path}: {}", ran.err);
    }
    folder
        .run("check --settings settings.json --cluster - -")
        .complained("standard input: is read twice; give the other as a file");
    folder.run("audit --cluster -").complained("standard input: is read twice; give the other as a file");
    for (arguments, names) in [
        ("--cluster cluster.json --nodes cluster.json", "--nodes"),
        ("--cluster cluster.json --live", "--live"),
        ("--context a", "--live"),
        ("--kubeconfig a", "--live"),
    ] {
        let ran = folder.run(&format!("{CHECK} {arguments}"));
        assert!(ran.code == Some(2) && ran.err.contains(names), "{arguments}: {}", ran.err);
    }
}

/// The API server of the case, and the folder with its kubeconfig.
fn live() -> (Folder, ApiServer) {
    let (folder, server, case) = (in_use(), ApiServer::start(), case());
    case.cluster().unwrap().iter().for_each(|object| server.put(object));
    folder.write("kubeconfig", server.kubeconfig());
    (folder, server)
}

const LIVE: &str = "check --settings settings.json request.json --live --kubeconfig kubeconfig";

#[test]
fn a_live_cluster_answers_what_its_objects_in_files_answer() {
    let (folder, server) = live();
    assert_eq!(folder.run(LIVE), answer(&folder));
    let mut asked = server.requests();
    asked.sort();
    let paths: Vec<&str> = asked.iter().map(|path| path.split('?').next().unwrap()).collect();
    let needed = [
        "/api/v1/nodes",
        "/api/v1/persistentvolumeclaims",
        "/api/v1/pods",
        "/apis/storage.k8s.io/v1/volumeattachments",
    ];
    assert_eq!(paths, needed);
    assert!(asked.iter().all(|path| path.contains("limit=500")), "{asked:?}");
}

#[test]
fn the_users_own_kubeconfig_is_used_and_contexts_are_chosen() {
    let (folder, server) = live();
    let expected = answer(&folder);
    let run = |variables: &[(&str, &str)], arguments: &str| {
        let mut command = folder.command();
        command.envs(variables.iter().copied()).args(CHECK.split(' ')).args(arguments.split(' '));
        program::ran(command, b"")
    };
    assert_eq!(run(&[("KUBECONFIG", "kubeconfig")], "--live"), expected);
    folder.write(".kube/config", server.kubeconfig());
    let home = folder.path().display().to_string();
    assert_eq!(run(&[("HOME", &home)], "--live"), expected);
    assert_eq!(run(&[("HOME", &home)], "--live --context test"), expected);
    let ran = run(&[("HOME", &home)], "--live --context other");
    assert!(ran.code == Some(2) && ran.out.is_empty() && ran.err.contains("other"), "{}", ran.err);
    assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
}

#[test]
fn what_keeps_a_live_cluster_from_answering_is_said_with_what_to_do() {
    let (folder, server) = live();
    let none = folder.run(&format!("{CHECK} --live"));
    let begins = |ran: &Ran, begin: &str, end: &str| {
        assert_eq!((ran.code, ran.out.as_str(), ran.err.lines().count()), (Some(2), "", 1), "{}", ran.err);
        assert!(ran.err.starts_with(begin) && ran.err.trim_end().ends_with(end), "{}", ran.err);
    };
    let or_files = "or give its objects with `--cluster`";
    begins(
        &none,
        "error: --live: there is no kubeconfig that can be used: ",
        &format!("; name a kubeconfig with `--kubeconfig`, {or_files}"),
    );
    server.forbid("list", "pods");
    begins(
        &folder.run(LIVE),
        "error: --live: pods cannot be read: pods is forbidden: User \"system:serviceaccount:placement-guard:placement-guard\" cannot list resource \"pods\" in API group \"\" at the cluster scope; ",
        &format!("grant it in a ClusterRole, `{{apiGroups: [\"\"], resources: [pods], verbs: [list]}}`, {or_files}"),
    );
    server.allow("list", "pods");
    server.unserve("volumeattachments");
    begins(
        &folder.run(LIVE),
        "error: --live: volumeattachments cannot be read: ",
        "; name another context with `--context`",
    );
    server.stop();
    begins(
        &folder.run(LIVE),
        "error: --live: nodes cannot be read: ",
        &format!("; see whether `kubectl get nodes` works, {or_files}"),
    );
    folder.write("kubeconfig", "clusters: 7\n");
    begins(&folder.run(LIVE), "error: --live: kubeconfig: ", or_files);
}

#[test]
fn live_nodes_are_named_though_no_setting_needs_them() {
    let (folder, server) = live();
    folder.write("settings.json", r#"{"volumeNodeAffinity": {}}"#);
    let ran = folder.run(&format!("{LIVE} --output json"));
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(report["objects"][0]["verdict"]["annotations"]["losesLiveNodes"], "node-c-1,node-c-2", "{}", ran.err);
    // They change no decision, so that they cannot be read changes none either.
    server.forbid("list", "nodes");
    let without = folder.run(&format!("{LIVE} --output json"));
    let report: Value = serde_json::from_str(&without.out).unwrap();
    assert_eq!(
        (without.code, &report["objects"][0]["verdict"]["annotations"]["losesLiveNodes"]),
        (ran.code, &Value::Null)
    );
}

fn volume(name: &str, zone: &str) -> Value {
    let terms =
        json!([{"matchExpressions": [{"key": "topology.kubernetes.io/zone", "operator": "In", "values": [zone]}]}]);
    json!({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name},
        "spec": {"capacity": {"storage": "1Gi"}, "csi": {"driver": "d.example.com", "volumeHandle": name},
            "nodeAffinity": {"required": {"nodeSelectorTerms": terms}}}})
}

#[test]
fn an_audit_of_a_live_cluster_needs_no_pipe() {
    let (folder, server) = live();
    folder.write("settings.json", r#"{"volumeNodeAffinity": {"strandedVolumes": "deny"}}"#);
    for number in 0..600 {
        server.put(&volume(&format!("pv-{number:03}"), "us-east1-b"));
    }
    server.put(&volume("pv-stranded", "us-west1-a"));
    let audit = "audit --settings settings.json --live --kubeconfig kubeconfig";
    let ran = folder.run(audit);
    assert_eq!((ran.code, ran.err.as_str()), (Some(1), ""));
    assert_golden("audit-live.txt", &ran.out);
    let asked = server.requests();
    assert_eq!(asked.iter().filter(|path| path.starts_with("/api/v1/persistentvolumes?")).count(), 2, "{asked:?}");
    assert!(asked.iter().all(|path| path.contains("nodes?") || path.contains("persistentvolumes?")), "{asked:?}");
    // Files are audited in the same cluster.
    folder.write("volume.json", volume("pv-new", "us-west1-a").to_string());
    let of_files = folder.run(&format!("{audit} volume.json"));
    assert!(
        of_files.code == Some(1) && of_files.out.contains("PersistentVolume pv-new (volume.json:1)"),
        "{}",
        of_files.out
    );
    server.forbid("list", "persistentvolumes");
    let ran = folder.run(audit);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.starts_with("error: --live: persistentvolumes cannot be read: "), "{}", ran.err);
    assert!(ran.out.starts_with("objects: 0, "), "{}", ran.out);
}

#[test]
fn an_audit_of_files_is_judged_in_the_cluster_of_other_files() {
    let folder = in_use();
    folder.write("settings.json", r#"{"volumeNodeAffinity": {"strandedVolumes": "deny"}}"#);
    folder.write("nodes.json", of_kind(&["Node"]));
    let volumes = [volume("pv-good", "us-east1-b"), volume("pv-stranded", "us-west1-a")];
    folder.write("volumes.json", list(&volumes));
    let audit = "audit --settings settings.json --cluster nodes.json";
    let ran = folder.run(&format!("{audit} volumes.json"));
    assert_eq!((ran.code, ran.err.as_str()), (Some(1), ""));
    assert!(ran.out.contains("PersistentVolume pv-stranded") && !ran.out.contains("pv-good"), "{}", ran.out);
    let piped = folder.pipe(list(&volumes), audit);
    assert_eq!(piped.out.replace("standard input", "volumes.json"), ran.out);
}

#[test]
fn a_module_is_told_of_the_cluster_too() {
    let (folder, _server) = live();
    folder.write("module.wasm", std::fs::read(program::built_module()).unwrap());
    let expected = answer(&folder);
    assert_eq!(folder.run(&format!("{CHECK} --cluster cluster.json --module module.wasm")), expected);
    assert_eq!(folder.run(&format!("{LIVE} --module module.wasm")), expected);
}
