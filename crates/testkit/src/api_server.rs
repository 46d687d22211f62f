//! A small API server on the loopback interface: it lists, page by page, gets and watches, with bookmarks, and it fails as
//! it is told to. Plain HTTP, a thread for each connection.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// How often a watch without changes says something.
const BOOKMARKS: Duration = Duration::from_millis(100);

/// Who asks, in the messages about permissions.
const USER: &str = "system:serviceaccount:placement-guard:placement-guard";

/// What it serves: the path of all objects, their `apiVersion` and `kind`.
const SERVED: [(&str, &str, &str); 15] = [
    ("/api/v1/nodes", "v1", "Node"),
    ("/api/v1/pods", "v1", "Pod"),
    ("/api/v1/persistentvolumeclaims", "v1", "PersistentVolumeClaim"),
    ("/api/v1/persistentvolumes", "v1", "PersistentVolume"),
    ("/apis/storage.k8s.io/v1/volumeattachments", "storage.k8s.io/v1", "VolumeAttachment"),
    ("/apis/storage.k8s.io/v1/storageclasses", "storage.k8s.io/v1", "StorageClass"),
    ("/apis/storage.k8s.io/v1/csinodes", "storage.k8s.io/v1", "CSINode"),
    ("/apis/apps/v1/daemonsets", "apps/v1", "DaemonSet"),
    ("/apis/apps/v1/deployments", "apps/v1", "Deployment"),
    ("/apis/apps/v1/replicasets", "apps/v1", "ReplicaSet"),
    ("/apis/apps/v1/statefulsets", "apps/v1", "StatefulSet"),
    ("/apis/batch/v1/cronjobs", "batch/v1", "CronJob"),
    ("/apis/batch/v1/jobs", "batch/v1", "Job"),
    ("/api/v1/podtemplates", "v1", "PodTemplate"),
    ("/api/v1/replicationcontrollers", "v1", "ReplicationController"),
];

/// The server, until it is dropped.
pub struct ApiServer {
    address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

/// A collection's path, and the namespace and name of an object in it.
type Key = (&'static str, String, String);

#[derive(Default)]
struct State {
    version: u64,
    objects: BTreeMap<Key, String>,
    events: Vec<Event>,
    /// Watches from before this version are told that it is gone.
    oldest: u64,
    forbidden: BTreeSet<(String, String)>,
    unserved: BTreeSet<String>,
    hangs: bool,
    silent: bool,
    running: bool,
    connections: Vec<TcpStream>,
    requests: Vec<String>,
}

struct Event {
    version: u64,
    collection: &'static str,
    line: String,
}

/// What a request asks for.
struct Asked<'p> {
    collection: (&'static str, &'static str, &'static str),
    namespace: Option<&'p str>,
    name: Option<&'p str>,
    query: BTreeMap<&'p str, &'p str>,
}

impl ApiServer {
    /// Begins to serve.
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let state = State { version: 1, ..State::default() };
        let server =
            ApiServer { address, shared: Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new() }) };
        server.accept(listener);
        server
    }

    fn accept(&self, listener: TcpListener) {
        self.state().running = true;
        let shared = Arc::clone(&self.shared);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(stream) = stream else { return };
                {
                    let mut state = shared.state();
                    if !state.running {
                        return;
                    }
                    state.connections.push(stream.try_clone().unwrap());
                }
                let shared = Arc::clone(&shared);
                std::thread::spawn(move || serve(&shared, stream));
            }
        });
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state()
    }

    /// Changes something, and wakes the watches.
    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state());
        self.shared.changed.notify_all();
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// A kubeconfig with this server.
    pub fn kubeconfig(&self) -> String {
        json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "test",
            "clusters": [{"name": "test", "cluster": {"server": format!("http://{}", self.address)}}],
            "users": [{"name": "test", "user": {"token": "test-token"}}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
        })
        .to_string()
    }

    /// Creates or replaces an object, which says its `kind`.
    pub fn put(&self, object: &Value) {
        self.change(|state| state.put(object));
    }

    /// Holds so many objects from the beginning, of which no watch is told.
    pub fn fill(&self, objects: impl Iterator<Item = Value>) {
        self.change(|state| {
            for object in objects {
                state.put(&object);
                state.events.clear();
            }
            state.oldest = state.version;
        });
    }

    /// Deletes one.
    pub fn delete(&self, kind: &str, namespace: &str, name: &str) {
        self.change(|state| {
            let (collection, ..) = SERVED.into_iter().find(|(.., served)| *served == kind).unwrap();
            let gone = state.objects.remove(&(collection, namespace.to_owned(), name.to_owned())).unwrap();
            state.tell(collection, "DELETED", serde_json::from_str(&gone).unwrap());
        });
    }

    /// Takes a permission away, for requests from now on.
    pub fn forbid(&self, verb: &str, resource: &str) {
        self.change(|state| {
            state.forbidden.insert((verb.to_owned(), resource.to_owned()));
        });
    }

    /// Gives it back.
    pub fn allow(&self, verb: &str, resource: &str) {
        self.change(|state| {
            state.forbidden.remove(&(verb.to_owned(), resource.to_owned()));
        });
    }

    /// Knows nothing of a resource, as if its API group were not served.
    pub fn unserve(&self, resource: &str) {
        self.change(|state| {
            state.unserved.insert(resource.to_owned());
        });
    }

    /// Answers nothing any more, and says nothing on watches, but keeps connections open.
    pub fn hang(&self, hangs: bool) {
        self.change(|state| state.hangs = hangs);
    }

    /// Sends no bookmarks.
    pub fn keep_silent(&self) {
        self.change(|state| state.silent = true);
    }

    /// Forgets old events and ends all watches: who wants to go on from before is told that it is gone.
    pub fn compact(&self) {
        self.change(|state| {
            state.version += 1;
            state.oldest = state.version;
            state.events.clear();
            state.disconnect();
        });
    }

    /// Ends, as a crash would.
    pub fn stop(&self) {
        self.change(|state| {
            state.running = false;
            state.disconnect();
        });
        // Wakes the thread that accepts, so that the port is free.
        drop(TcpStream::connect(self.address));
    }

    /// Serves again what it served, on the same port.
    pub fn start_again(&self) {
        for _ in 0..1_000 {
            if let Ok(listener) = TcpListener::bind(self.address) {
                return self.accept(listener);
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("the port is not free again");
    }

    /// The paths that were asked for, since this was called last.
    pub fn requests(&self) -> Vec<String> {
        std::mem::take(&mut self.state().requests)
    }
}

impl Drop for ApiServer {
    fn drop(&mut self) {
        if self.state().running {
            self.stop();
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn put(&mut self, object: &Value) {
        let (collection, ..) = SERVED.into_iter().find(|(.., kind)| object["kind"] == **kind).unwrap();
        let text = |member: &str| object["metadata"][member].as_str().unwrap_or_default().to_owned();
        let mut object = object.clone();
        let members = object.as_object_mut().unwrap();
        members.remove("apiVersion");
        members.remove("kind");
        object["metadata"]["resourceVersion"] = json!((self.version + 1).to_string());
        let key = (collection, text("namespace"), text("name"));
        let before = self.objects.insert(key, object.to_string());
        self.tell(collection, if before.is_some() { "MODIFIED" } else { "ADDED" }, object);
    }

    fn tell(&mut self, collection: &'static str, event: &str, mut object: Value) {
        self.version += 1;
        object["metadata"]["resourceVersion"] = json!(self.version.to_string());
        let (_, api_version, kind) = SERVED.into_iter().find(|(path, ..)| *path == collection).unwrap();
        object["apiVersion"] = json!(api_version);
        object["kind"] = json!(kind);
        // As the API server writes it: the type first.
        let line = format!("{{\"type\":\"{event}\",\"object\":{object}}}\n");
        self.events.push(Event { version: self.version, collection, line });
    }

    fn disconnect(&mut self) {
        for connection in self.connections.drain(..) {
            let _ = connection.shutdown(Shutdown::Both);
        }
    }

    fn is_forbidden(&self, verb: &str, asked: &Asked<'_>) -> Option<Value> {
        let resource = asked.resource();
        if !self.forbidden.contains(&(verb.to_owned(), resource.to_owned())) {
            return None;
        }
        let group = asked.collection.1.split_once('/').map_or("", |(group, _)| group);
        let place = match asked.namespace {
            Some(namespace) => format!("in the namespace \"{namespace}\""),
            None => String::from("at the cluster scope"),
        };
        let (named, name) = asked.name.map_or_else(Default::default, |name| (format!(" \"{name}\""), name.to_owned()));
        let of_group = if group.is_empty() { resource.to_owned() } else { format!("{resource}.{group}") };
        Some(json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": format!(
                "{of_group}{named} is forbidden: User \"{USER}\" cannot {verb} resource \"{resource}\" in API group \"{group}\" {place}"
            ),
            "reason": "Forbidden", "details": {"name": name, "kind": resource}, "code": 403,
        }))
    }
}

impl<'p> Asked<'p> {
    fn read(target: &'p str, state: &State) -> Option<Self> {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let query = query.split('&').filter_map(|pair| pair.split_once('=')).collect();
        for collection in SERVED {
            let (prefix, resource) = collection.0.rsplit_once('/').unwrap();
            if state.unserved.contains(resource) {
                continue;
            }
            let Some(rest) = path.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('/')) else { continue };
            let (namespace, rest) = match rest.strip_prefix("namespaces/").and_then(|rest| rest.split_once('/')) {
                Some((namespace, rest)) => (Some(namespace), rest),
                None => (None, rest),
            };
            let Some(rest) = rest.strip_prefix(resource) else { continue };
            if rest.is_empty() || rest.starts_with('/') {
                return Some(Asked { collection, namespace, name: rest.strip_prefix('/'), query });
            }
        }
        None
    }

    fn resource(&self) -> &'static str {
        self.collection.0.rsplit_once('/').unwrap().1
    }
}

fn serve(shared: &Shared, stream: TcpStream) {
    let mut out = stream.try_clone().unwrap();
    let mut lines = BufReader::new(stream).lines();
    loop {
        let Some(Ok(first)) = lines.next() else { return };
        for line in lines.by_ref() {
            match line {
                Ok(line) if line.is_empty() => break,
                Ok(_) => {}
                Err(_) => return,
            }
        }
        let target = first.split(' ').nth(1).unwrap_or_default();
        if answer(shared, &mut out, target).is_err() {
            return;
        }
    }
}

fn answer(shared: &Shared, out: &mut TcpStream, target: &str) -> std::io::Result<()> {
    let mut state = shared.state();
    state.requests.push(target.to_owned());
    while state.hangs && state.running {
        state = shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
    }
    let Some(asked) = Asked::read(target, &state) else {
        drop(state);
        return respond(out, 404, "text/plain", "404 page not found\n");
    };
    let is_watch = asked.query.get("watch") == Some(&"true");
    let verb = if is_watch {
        "watch"
    } else if asked.name.is_some() {
        "get"
    } else {
        "list"
    };
    if let Some(status) = state.is_forbidden(verb, &asked) {
        drop(state);
        return respond(out, 403, "application/json", &status.to_string());
    }
    if is_watch {
        return watch(shared, state, out, &asked);
    }
    let (status, body) = match asked.name {
        Some(name) => one(&state, &asked, name),
        None => list(&state, &asked),
    };
    drop(state);
    respond(out, status, "application/json", &body)
}

fn one(state: &State, asked: &Asked<'_>, name: &str) -> (u16, String) {
    let (collection, api_version, kind) = asked.collection;
    let key = (collection, asked.namespace.unwrap_or_default().to_owned(), name.to_owned());
    match state.objects.get(&key) {
        Some(object) => (200, object.replacen('{', &format!(r#"{{"apiVersion":"{api_version}","kind":"{kind}","#), 1)),
        None => {
            let resource = asked.resource();
            let status = json!({
                "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
                "message": format!("{resource} \"{name}\" not found"), "reason": "NotFound",
                "details": {"name": name, "kind": resource}, "code": 404,
            });
            (404, status.to_string())
        }
    }
}

fn list(state: &State, asked: &Asked<'_>) -> (u16, String) {
    let (collection, api_version, kind) = asked.collection;
    let number = |name: &str| asked.query.get(name).and_then(|value| value.parse::<usize>().ok());
    let (limit, skipped) = (number("limit").unwrap_or(usize::MAX), number("continue").unwrap_or(0));
    let of_namespace = |key: &Key| asked.namespace.is_none_or(|namespace| key.1 == namespace);
    let first = (collection, String::new(), String::new());
    let all =
        state.objects.range(first..).take_while(|(key, _)| key.0 == collection).filter(|(key, _)| of_namespace(key));
    let mut rest = all.skip(skipped).map(|(_, object)| &**object);
    let items: Vec<&str> = rest.by_ref().take(limit).collect();
    let more = match rest.next() {
        Some(_) => format!(r#","continue":"{}""#, skipped + items.len()),
        None => String::new(),
    };
    let body = format!(
        r#"{{"kind":"{kind}List","apiVersion":"{api_version}","metadata":{{"resourceVersion":"{}"{more}}},"items":[{}]}}"#,
        state.version,
        items.join(",")
    );
    (200, body)
}

fn watch<'s>(
    shared: &'s Shared,
    mut state: MutexGuard<'s, State>,
    out: &mut TcpStream,
    asked: &Asked<'_>,
) -> std::io::Result<()> {
    let number = |name: &str| asked.query.get(name).and_then(|value| value.parse::<u64>().ok());
    let mut version = number("resourceVersion").unwrap_or(0);
    let end = Instant::now() + Duration::from_secs(number("timeoutSeconds").unwrap_or(300));
    out.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n")?;
    let (collection, api_version, kind) = asked.collection;
    if version < state.oldest {
        let message = format!("too old resource version: {version} ({})", state.oldest);
        let status = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message,
            "reason": "Expired", "code": 410});
        chunk(out, &format!("{{\"type\":\"ERROR\",\"object\":{status}}}\n"))?;
        return out.write_all(b"0\r\n\r\n");
    }
    while state.running && Instant::now() < end {
        if !state.hangs {
            let new = state.events.iter().filter(|event| event.collection == collection && event.version > version);
            let mut lines: String = new.map(|event| &*event.line).collect();
            let has_changed = !lines.is_empty();
            version = version.max(state.version);
            if !has_changed && !state.silent {
                let metadata = json!({"resourceVersion": version.to_string(), "creationTimestamp": null});
                let object = json!({"kind": kind, "apiVersion": api_version, "metadata": metadata, "spec": {}});
                lines = format!("{{\"type\":\"BOOKMARK\",\"object\":{object}}}\n");
            }
            if !lines.is_empty() {
                drop(state);
                chunk(out, &lines)?;
                state = shared.state();
            }
            if has_changed {
                continue;
            }
        }
        let left = end.saturating_duration_since(Instant::now());
        let waited = shared.changed.wait_timeout(state, BOOKMARKS.min(left));
        state = waited.unwrap_or_else(PoisonError::into_inner).0;
    }
    drop(state);
    out.write_all(b"0\r\n\r\n")
}

fn chunk(out: &mut TcpStream, text: &str) -> std::io::Result<()> {
    out.write_all(format!("{:x}\r\n{text}\r\n", text.len()).as_bytes())
}

fn respond(out: &mut TcpStream, status: u16, kind: &str, body: &str) -> std::io::Result<()> {
    let reason = if status == 200 { "OK" } else { "Not OK" };
    let head = format!("HTTP/1.1 {status} {reason}\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n", body.len());
    out.write_all(head.as_bytes())?;
    out.write_all(body.as_bytes())
}
