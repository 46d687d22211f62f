//! What a module is answered that asks about the cluster.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use host::HostCalls;
use placement_guard::kubernetes::kind::Kind;
use placement_guard::rules::rule::Reads;
use serde_json::{Value, json};
use server::Metrics;
use server::cluster::{Access, Cluster, Limits, Reader};
use tempfile::TempDir;
use testkit::api_server::ApiServer;

/// What the policy server puts before an error that it was willing to look for.
const FAILURE: &str = "Callback evaluation failure: ";

pub struct Fixture {
    pub api: ApiServer,
    pub folder: TempDir,
}

impl Fixture {
    /// An API server with two nodes and two pods.
    pub fn new() -> Self {
        let fixture = Fixture::empty();
        fixture.api.put(&node("node-b", "zone-b"));
        fixture.api.put(&node("node-a", "zone-a"));
        fixture.api.put(&pod("b", "db-0", "node-a"));
        fixture.api.put(&pod("a", "web-1", "node-b"));
        fixture
    }

    /// One without objects.
    pub fn empty() -> Self {
        let fixture = Fixture { api: ApiServer::start(), folder: tempfile::tempdir().unwrap() };
        std::fs::write(fixture.folder.path().join("kubeconfig"), fixture.api.kubeconfig()).unwrap();
        fixture
    }

    pub fn access(&self) -> Access {
        Access::Kubeconfig { file: self.folder.path().join("kubeconfig"), context: None }
    }

    pub async fn begin(&self, kinds: &[Kind]) -> Arc<Cluster> {
        self.begin_with(kinds, limits()).await
    }

    async fn begin_with(&self, kinds: &[Kind], limits: Limits) -> Arc<Cluster> {
        let kinds: BTreeMap<Kind, Reads> = kinds.iter().map(|kind| (*kind, Reads::All)).collect();
        Cluster::begin(&self.access(), &kinds, limits, Arc::new(Metrics::new())).await.unwrap()
    }

    pub async fn synced(&self, kinds: &[Kind]) -> Arc<Cluster> {
        let cluster = self.begin(kinds).await;
        until("all is read", || cluster.not_ready().is_none()).await;
        cluster
    }
}

/// Limits for tests: nothing waits long, and what is silent for a second is stale.
pub fn limits() -> Limits {
    Limits {
        stale: Duration::from_secs(2),
        watch: Duration::from_secs(1),
        page: Duration::from_secs(5),
        get: Duration::from_millis(300),
        retry: (Duration::from_millis(20), Duration::from_millis(50)),
    }
}

fn node(name: &str, zone: &str) -> Value {
    json!({"kind": "Node", "metadata": {"name": name, "labels": {"zone": zone}, "uid": "u", "managedFields": [{"x": 1}]},
        "spec": {"podCIDR": "10.0.0.0/24", "taints": [{"key": "k", "effect": "NoSchedule"}]},
        "status": {"images": ["many"], "nodeInfo": {"kubeletVersion": "v1.35.0", "osImage": "linux"}}})
}

fn pod(namespace: &str, name: &str, node: &str) -> Value {
    json!({"kind": "Pod", "metadata": {"name": name, "namespace": namespace, "uid": "u"},
        "spec": {"nodeName": node, "containers": [{"name": "c", "env": [{"name": "PASSWORD", "value": "secret"}]}],
            "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data-0"}}, {"name": "none", "emptyDir": {}}]},
        "status": {"phase": "Running"}})
}

pub async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..1_000 {
        if holds() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("it never comes to be that {what}");
}

/// One call, on a thread that may block, within an evaluation of ten seconds.
async fn ask(cluster: &Arc<Cluster>, operation: &'static str, payload: Value) -> Result<String, String> {
    let reader = Reader::new(Arc::clone(cluster), Duration::from_secs(10));
    let asked = move || reader.call("kubewarden", "kubernetes", operation, payload.to_string().as_bytes());
    tokio::task::spawn_blocking(asked).await.unwrap().map(|bytes| String::from_utf8(bytes).unwrap())
}

fn get(kind: &str, namespace: Option<&str>, name: &str, is_fresh: bool, masks: &[&str]) -> Value {
    json!({"api_version": "v1", "kind": kind, "name": name, "namespace": namespace, "disable_cache": is_fresh,
        "field_masks": masks})
}

async fn list(cluster: &Arc<Cluster>, kind: &str, masks: &[&str]) -> Result<String, String> {
    let payload = json!({"api_version": "v1", "kind": kind, "label_selector": null, "field_selector": null,
        "field_masks": masks});
    ask(cluster, "list_resources_all", payload).await
}

async fn zones(cluster: &Arc<Cluster>) -> Result<String, String> {
    list(cluster, "Node", &["metadata.labels"]).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lists_are_in_the_order_of_names_and_have_the_fields_that_were_asked_for() {
    let fixture = Fixture::new();
    let cluster = fixture.synced(&[Kind::Node, Kind::Pod]).await;
    let nodes = concat!(
        r#"{"apiVersion":"v1","kind":"NodeList","metadata":{},"items":["#,
        r#"{"metadata":{"labels":{"zone":"zone-a"},"name":"node-a"},"spec":{"taints":[{"effect":"NoSchedule","key":"k"}]}},"#,
        r#"{"metadata":{"labels":{"zone":"zone-b"},"name":"node-b"},"spec":{"taints":[{"effect":"NoSchedule","key":"k"}]}}]}"#,
    );
    assert_eq!(list(&cluster, "Node", &["metadata.labels", "spec.taints"]).await.as_deref(), Ok(nodes));
    let pods = concat!(
        r#"{"apiVersion":"v1","kind":"PodList","metadata":{},"items":["#,
        r#"{"metadata":{"name":"web-1","namespace":"a"},"spec":{"volumes":[{"persistentVolumeClaim":{"claimName":"data-0"}},{}]}},"#,
        r#"{"metadata":{"name":"db-0","namespace":"b"},"spec":{"volumes":[{"persistentVolumeClaim":{"claimName":"data-0"}},{}]}}]}"#,
    );
    let masks = ["spec.volumes.persistentVolumeClaim.claimName"];
    assert_eq!(list(&cluster, "Pod", &masks).await.as_deref(), Ok(pods));
    let of_namespace = json!({"api_version": "v1", "kind": "Pod", "namespace": "b", "label_selector": null,
        "field_selector": null, "field_masks": ["status.phase"]});
    let listed = ask(&cluster, "list_resources_by_namespace", of_namespace).await;
    let of_b = r#"{"apiVersion":"v1","kind":"PodList","metadata":{},"items":[{"metadata":{"name":"db-0","namespace":"b"},"status":{"phase":"Running"}}]}"#;
    assert_eq!(listed.as_deref(), Ok(of_b));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_object_is_the_same_from_what_is_held_and_from_the_api_server() {
    let fixture = Fixture::new();
    let cluster = fixture.synced(&[Kind::Node, Kind::Pod]).await;
    fixture.api.requests();
    let masks = ["spec.taints", "status.nodeInfo"];
    let expected = r#"{"apiVersion":"v1","kind":"Node","metadata":{"name":"node-a"},"spec":{"taints":[{"effect":"NoSchedule","key":"k"}]},"status":{"nodeInfo":{"kubeletVersion":"v1.35.0"}}}"#;
    let held = ask(&cluster, "get_resource", get("Node", None, "node-a", false, &masks)).await;
    assert_eq!(held.as_deref(), Ok(expected));
    assert!(fixture.api.requests().iter().all(|path| !path.contains("node-a")));
    let fresh = ask(&cluster, "get_resource", get("Node", None, "node-a", true, &masks)).await;
    assert_eq!(fresh.as_deref(), Ok(expected));
    assert!(fixture.api.requests().contains(&String::from("/api/v1/nodes/node-a")));
    // Without masks it is the whole object, which only the API server has.
    let whole = ask(&cluster, "get_resource", get("Pod", Some("a"), "web-1", false, &[])).await.unwrap();
    let whole: Value = serde_json::from_str(&whole).unwrap();
    assert_eq!((&whole["kind"], &whole["spec"]["containers"][0]["name"]), (&json!("Pod"), &json!("c")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_changes_is_seen() {
    let fixture = Fixture::new();
    let cluster = fixture.synced(&[Kind::Node, Kind::Pod]).await;
    fixture.api.put(&node("node-a", "zone-c"));
    fixture.api.put(&node("node-c", "zone-c"));
    fixture.api.delete("Node", "", "node-b");
    fixture.api.delete("Pod", "a", "web-1");
    let expected = concat!(
        r#"{"apiVersion":"v1","kind":"NodeList","metadata":{},"items":["#,
        r#"{"metadata":{"labels":{"zone":"zone-c"},"name":"node-a"}},{"metadata":{"labels":{"zone":"zone-c"},"name":"node-c"}}]}"#,
    );
    for _ in 0..500 {
        if zones(&cluster).await.as_deref() == Ok(expected) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(zones(&cluster).await.as_deref(), Ok(expected));
    // Also what happens during many watches, one after the other.
    tokio::time::sleep(Duration::from_millis(2_500)).await;
    fixture.api.put(&node("node-b", "zone-b"));
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert!(zones(&cluster).await.unwrap().contains("node-b"));
    assert_eq!(list(&cluster, "Pod", &["status.phase"]).await.unwrap().matches("name").count(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_version_that_is_gone_is_listed_again() {
    let fixture = Fixture::new();
    let cluster = fixture.synced(&[Kind::Node]).await;
    fixture.api.put(&node("node-d", "zone-d"));
    fixture.api.compact();
    let mut lists = 0;
    for _ in 0..500 {
        lists += fixture.api.requests().iter().filter(|path| path.contains("limit=")).count();
        if lists >= 2 && zones(&cluster).await.is_ok_and(|nodes| nodes.contains("node-d")) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{lists} lists: {:?}", zones(&cluster).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_a_long_outage_a_version_that_is_gone_is_listed_at_once() {
    let fixture = Fixture::new();
    let retry = (Duration::from_millis(20), Duration::from_secs(60));
    let cluster = fixture.begin_with(&[Kind::Node], Limits { retry, ..limits() }).await;
    until("all is read", || cluster.not_ready().is_none()).await;
    fixture.api.stop();
    // Each attempt waits twice as long as the one before.
    tokio::time::sleep(Duration::from_millis(1_400)).await;
    fixture.api.put(&node("node-d", "zone-d"));
    fixture.api.compact();
    fixture.api.requests();
    fixture.api.start_again();
    let mut requests = Vec::new();
    let mut is_asked = |what: &str| {
        requests.extend(fixture.api.requests());
        requests.iter().any(|path| path.contains(what))
    };
    until("the watch goes on", || is_asked("watch=true")).await;
    let told = Instant::now();
    until("all is read again", || is_asked("limit=")).await;
    assert!(told.elapsed() < Duration::from_secs(1), "{:?}", told.elapsed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn long_lists_come_page_by_page() {
    let fixture = Fixture::new();
    for number in 0..1_200 {
        fixture.api.put(&pod("many", &format!("pod-{number:04}"), "node-a"));
    }
    let cluster = fixture.synced(&[Kind::Pod]).await;
    let pages = fixture.api.requests();
    assert_eq!(pages.iter().filter(|path| path.starts_with("/api/v1/pods?limit=500")).count(), 3, "{pages:?}");
    let pods = list(&cluster, "Pod", &["metadata.name"]).await.unwrap();
    assert_eq!(serde_json::from_str::<Value>(&pods).unwrap()["items"].as_array().unwrap().len(), 1_202);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn errors_are_those_of_the_policy_server() {
    let fixture = Fixture::new();
    let cluster = fixture.synced(&[Kind::Node, Kind::Pod]).await;
    let masks = ["metadata.name"];
    let fails = |text: &str| Err(format!("{FAILURE}{text}"));
    let not_granted = |kind: &str| {
        Err(format!(
            "Policy has not been granted access to Kubernetes {kind} resources. The violation has been reported."
        ))
    };
    for is_fresh in [false, true] {
        let absent = ask(&cluster, "get_resource", get("Node", None, "nobody", is_fresh, &masks)).await;
        assert_eq!(absent, fails("Cannot find v1/Node named 'nobody' inside of namespace 'None'"));
        let absent = ask(&cluster, "get_resource", get("Pod", Some("a"), "db-0", is_fresh, &masks)).await;
        assert_eq!(absent, fails("Cannot find v1/Pod named 'db-0' inside of namespace 'Some(\"a\")'"));
        let hostile = ask(&cluster, "get_resource", get("Node", None, "../pods", is_fresh, &masks)).await;
        assert_eq!(hostile, fails("Cannot find v1/Node named '../pods' inside of namespace 'None'"));
    }
    let homeless = ask(&cluster, "get_resource", get("Pod", None, "db-0", false, &masks)).await;
    assert_eq!(homeless, fails("Resource v1/Pod is namespaced, but no namespace was provided"));
    let secret = ask(&cluster, "get_resource", get("Secret", Some("a"), "s", true, &masks)).await;
    assert_eq!(secret, not_granted("v1/Secret"));
    assert_eq!(list(&cluster, "PersistentVolume", &masks).await, not_granted("v1/PersistentVolume"));
    let in_namespace = json!({"api_version": "v1", "kind": "Node", "namespace": "a", "field_masks": masks});
    let within = ask(&cluster, "list_resources_by_namespace", in_namespace).await;
    assert_eq!(within, fails("resource v1/Node is cluster wide. Cannot search for it inside of a namespace"));
    // What is not held is never left out without a word.
    let not_held = "the field `spec.podCIDR` of v1/Node is not held; use a module of this program's version";
    assert_eq!(list(&cluster, "Node", &["spec.podCIDR"]).await, fails(not_held));
    let needs_masks = "only some fields of v1/Node are held; the list needs field masks";
    assert_eq!(list(&cluster, "Node", &[]).await, fails(needs_masks));
    let selected = json!({"api_version": "v1", "kind": "Pod", "label_selector": "a=b", "field_masks": masks});
    let selected = ask(&cluster, "list_resources_all", selected).await;
    assert_eq!(selected, fails("lists by selector are not supported"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whether_a_kind_can_be_read_is_known_without_asking() {
    let fixture = Fixture::new();
    fixture.api.forbid("list", "pods");
    let cluster = fixture.begin(&[Kind::Node, Kind::Pod]).await;
    until("it is known", || cluster.not_ready().is_some_and(|reason| reason.contains("pods is forbidden"))).await;
    until_readable(&cluster).await;
    // As the module asks before it lists a kind. Where nothing is held, the API server knows.
    let pods = || ask(&cluster, "get_resource", get("Pod", Some("default"), "none", true, &["kind"]));
    let absent = "Cannot find v1/Pod named 'none' inside of namespace 'Some(\"default\")'";
    assert_eq!(pods().await, Err(format!("{FAILURE}{absent}")));
    fixture.api.forbid("get", "pods");
    assert!(pods().await.unwrap_err().contains(" cannot get resource \"pods\""));
    fixture.api.hang(true);
    fixture.api.requests();
    let begin = Instant::now();
    let nodes = ask(&cluster, "get_resource", get("Node", None, "none", true, &["kind"])).await;
    assert_eq!(nodes, Err(format!("{FAILURE}Cannot find v1/Node named 'none' inside of namespace 'None'")));
    assert!(begin.elapsed() < Duration::from_millis(300), "{:?}", begin.elapsed());
    assert!(fixture.api.requests().iter().all(|path| !path.contains("none")));
}

/// As kube prints the status of the API server; the policy server uses the same library.
fn forbidden(verb: &str, resource: &str, named: &str, name: &str) -> String {
    let user = "system:serviceaccount:placement-guard:placement-guard";
    let message = format!(
        "{resource}{named} is forbidden: User \"{user}\" cannot {verb} resource \"{resource}\" in API group \"\" at the cluster scope"
    );
    format!(
        "{FAILURE}ApiError: {message}: Forbidden (Status {{ status: Some(Failure), code: 403, message: {message:?}, \
         metadata: Some(ListMeta {{ continue_: None, remaining_item_count: None, resource_version: None, self_link: None }}), \
         reason: \"Forbidden\", details: Some(StatusDetails {{ name: {name:?}, group: \"\", kind: {resource:?}, uid: \"\", causes: [], retry_after_seconds: 0 }}) }})"
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_forbidden_is_said_at_once_and_works_when_it_is_granted() {
    let fixture = Fixture::new();
    fixture.api.forbid("list", "pods");
    fixture.api.forbid("get", "nodes");
    let cluster = fixture.begin(&[Kind::Node, Kind::Pod]).await;
    until("it is known", || cluster.not_ready().is_some_and(|reason| reason.contains("forbidden"))).await;
    let reason = cluster.not_ready().unwrap();
    assert!(
        reason.starts_with("not all objects of kind Pod are read yet: ApiError: pods is forbidden: User "),
        "{reason}"
    );
    let begin = Instant::now();
    assert_eq!(list(&cluster, "Pod", &["status.phase"]).await, Err(forbidden("list", "pods", "", "")));
    let fresh = ask(&cluster, "get_resource", get("Node", None, "node-a", true, &["spec"])).await;
    assert_eq!(fresh, Err(forbidden("get", "nodes", " \"node-a\"", "node-a")));
    assert!(begin.elapsed() < Duration::from_secs(1), "{:?}", begin.elapsed());
    // A kind that cannot be listed can still be asked for one by one.
    let one = ask(&cluster, "get_resource", get("Pod", Some("a"), "web-1", false, &["spec.nodeName"])).await;
    assert!(one.unwrap().contains("node-b"));
    fixture.api.allow("list", "pods");
    until("all is read", || cluster.not_ready().is_none()).await;
    assert!(list(&cluster, "Pod", &["status.phase"]).await.is_ok());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_permission_that_is_taken_away_ends_the_answers() {
    let fixture = Fixture::new();
    let cluster = fixture.synced(&[Kind::Node]).await;
    fixture.api.forbid("watch", "nodes");
    fixture.api.forbid("list", "nodes");
    let begin = Instant::now();
    let error = loop {
        match zones(&cluster).await {
            Ok(_) => tokio::time::sleep(Duration::from_millis(20)).await,
            Err(error) => break error,
        }
        assert!(begin.elapsed() < Duration::from_secs(20));
    };
    assert_eq!(error, forbidden("watch", "nodes", "", ""));
    fixture.api.allow("watch", "nodes");
    fixture.api.allow("list", "nodes");
    until_readable(&cluster).await;
}

async fn until_readable(cluster: &Arc<Cluster>) {
    for _ in 0..1_000 {
        if zones(cluster).await.is_ok() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{:?}", zones(cluster).await);
}

async fn until_unreadable(cluster: &Arc<Cluster>) -> String {
    for _ in 0..2_000 {
        if let Err(error) = zones(cluster).await {
            return error;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("old objects are answered for ever");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_api_server_that_is_down_is_not_answered_for() {
    let fixture = Fixture::new();
    let cluster = fixture.synced(&[Kind::Node]).await;
    fixture.api.stop();
    // Not at once: a restart of the API server refuses nothing.
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert!(zones(&cluster).await.is_ok());
    let down = format!("{FAILURE}ServiceError: client error (Connect)");
    assert_eq!(until_unreadable(&cluster).await, down);
    let one = ask(&cluster, "get_resource", get("Node", None, "node-a", false, &["spec"])).await;
    assert_eq!(one, Err(down));
    // What was read once is still ready: no other server could answer either.
    assert_eq!(cluster.not_ready(), None);
    fixture.api.start_again();
    until_readable(&cluster).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_api_server_that_hangs_holds_no_evaluation() {
    let fixture = Fixture::new();
    let cluster = fixture.synced(&[Kind::Node]).await;
    fixture.api.hang(true);
    let too_long = format!("{FAILURE}ServiceError: deadline has elapsed");
    let begin = Instant::now();
    let one = ask(&cluster, "get_resource", get("Node", None, "node-a", true, &["spec"])).await;
    assert_eq!(one, Err(too_long.clone()));
    assert!(begin.elapsed() < Duration::from_secs(2), "{:?}", begin.elapsed());
    // The connection of the watch stays open and says nothing.
    assert_eq!(until_unreadable(&cluster).await, too_long);
    // All calls of one evaluation together have half of its time.
    let reader = Arc::new(Reader::new(Arc::clone(&cluster), Duration::from_millis(400)));
    let begin = Instant::now();
    for _ in 0..5 {
        let (reader, payload) = (Arc::clone(&reader), get("Node", None, "node-a", true, &["spec"]).to_string());
        let asked = move || reader.call("kubewarden", "kubernetes", "get_resource", payload.as_bytes());
        assert_eq!(tokio::task::spawn_blocking(asked).await.unwrap(), Err(too_long.clone()));
    }
    assert!(begin.elapsed() < Duration::from_secs(1), "{:?}", begin.elapsed());
    fixture.api.hang(false);
    until_readable(&cluster).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_quiet_cluster_is_no_dead_one() {
    let fixture = Fixture::new();
    fixture.api.keep_silent();
    let cluster = fixture.synced(&[Kind::Node]).await;
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_secs(4) {
        assert!(zones(&cluster).await.is_ok());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kind_that_is_not_served_is_named() {
    let fixture = Fixture::new();
    fixture.api.unserve("csinodes");
    fixture.api.unserve("nodes");
    let cluster = fixture.begin(&[Kind::CsiNode, Kind::Node]).await;
    until("both are known", || {
        cluster
            .not_ready()
            .is_some_and(|reason| reason == "not all objects of kind Node are read yet: Cannot find resource v1/Node")
    })
    .await;
    assert_eq!(zones(&cluster).await, Err(format!("{FAILURE}Cannot find resource v1/Node")));
    let one = ask(&cluster, "get_resource", get("Node", None, "node-a", false, &["spec"])).await;
    assert_eq!(one, Err(format!("{FAILURE}Cannot find resource v1/Node")));
    let payload = json!({"api_version": "storage.k8s.io/v1", "kind": "CSINode", "name": "n", "namespace": null,
        "disable_cache": false, "field_masks": ["spec.drivers"]});
    let group = ask(&cluster, "get_resource", payload).await.unwrap_err();
    let begin = format!(
        "{FAILURE}error finding resource storage.k8s.io/v1 / CSINode: ApiError: 404 page not found: Failed to parse error data (Status {{"
    );
    assert!(group.starts_with(&begin) && group.contains("code: 404"), "{group}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_can_be_read_once() {
    let fixture = Fixture::new();
    let access = fixture.access();
    let read = move || {
        let mut read = Vec::new();
        let done = [Kind::Node, Kind::Pod].into_iter().try_for_each(|kind| {
            server::cluster::read_once(&access, server::cluster::resource(kind), None, |object| {
                let object: Value = serde_json::from_str(&object).unwrap();
                assert_eq!(object["kind"], kind.name());
                read.push(object["metadata"]["name"].as_str().unwrap().to_owned());
            })
        });
        (done.map_err(|error| error.to_string()), read)
    };
    let (done, names) = tokio::task::spawn_blocking(read.clone()).await.unwrap();
    assert_eq!((done, names.join(" ")), (Ok(()), String::from("node-a node-b web-1 db-0")));
    fixture.api.forbid("list", "pods");
    let (done, _) = tokio::task::spawn_blocking(read).await.unwrap();
    assert!(done.unwrap_err().starts_with("pods cannot be read: ApiError: pods is forbidden: User "));
}
