//! What a broken or hostile host answers when the module asks about the cluster. There is always a decision, never a trap, and
//! never an acceptance that the settings do not allow. The one exception is a host that hangs until the deadline of the
//! call: then there is no answer, which no engine takes for consent.

use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use host::{CannotCall, Host, HostCalls, Limits, Memory};
use serde_json::{Value, json};
use testkit::Case;
use testkit::fake_host::{Cause, FakeHost};
use wasm_tests::{Module, Response};

fn module() -> &'static Module {
    static MODULE: OnceLock<Module> = OnceLock::new();
    MODULE.get_or_init(|| Module::built().unwrap_or_else(|error| panic!("{error}")))
}

type Answer = Result<Vec<u8>, String>;

/// Changes what a well-behaved host answers: the operation, the kind, the honest answer.
type Change = Arc<dyn Fn(&str, &str, Answer) -> Answer + Send + Sync>;

struct Hostile {
    honest: FakeHost,
    change: Change,
    asked: Arc<Mutex<Vec<String>>>,
}

impl HostCalls for Hostile {
    fn call(&self, _: &str, _: &str, operation: &str, payload: &[u8]) -> Answer {
        let asked: Value = serde_json::from_slice(payload).unwrap();
        let kind = asked["kind"].as_str().unwrap();
        self.asked.lock().unwrap().push(format!("{operation} {kind}"));
        (self.change)(operation, kind, self.honest.call(operation, payload))
    }
}

/// Narrowing is allowed, and a pod runs on a node that loses the volume.
fn in_use() -> &'static Case {
    static CASE: OnceLock<Case> = OnceLock::new();
    CASE.get_or_init(|| {
        let all = testkit::cases().unwrap();
        all.into_iter().find(|case| case.name == "volume-node-affinity/live-running-pod").expect("the case is there")
    })
}

/// The request of the case under other settings, with this change of the answers, and what was asked.
fn judged(settings: &Value, change: Change) -> (Response, Vec<String>) {
    let case = in_use();
    let asked = Arc::default();
    let hostile = Hostile { honest: case.host(), change, asked: Arc::clone(&asked) };
    let payload = json!({"settings": settings, "request": case.request()}).to_string();
    let answer = module().call_with("validate", payload.as_bytes(), hostile);
    let answer = answer.unwrap_or_else(|error| panic!("the module fails: {error}"));
    let response: Response = serde_json::from_slice(&answer).unwrap();
    let asked = asked.lock().unwrap().clone();
    for warning in response.warnings.iter().flatten() {
        assert!(!warning.contains(['\n', '\r']), "a warning travels in an HTTP header: {warning:?}");
    }
    assert!(answer.len() < 16 << 10, "an answer of {} bytes", answer.len());
    (response, asked)
}

fn findings(response: &Response) -> String {
    let annotations = serde_json::to_value(&response.audit_annotations).unwrap();
    annotations["findings"].as_str().unwrap_or_default().to_owned()
}

/// All settings under which the honest answer is a refusal.
fn strict() -> [Value; 4] {
    [
        json!({"volumeNodeAffinity": {"allow": ["widened", "narrowed"], "whileInUse": "deny"}}),
        json!({"volumeNodeAffinity": {"judgeBy": "liveNodes"}}),
        json!({"volumeNodeAffinity": {"judgeBy": "liveNodes", "topology": {"fromLiveNodes": true}}}),
        json!({"volumeNodeAffinity": {"judgeBy": "liveNodes", "whileInUse": "deny", "strandedVolumes": "deny"}}),
    ]
}

/// Refused under every strict setting. Where the settings accept what cannot be checked, that is said, or it is refused.
#[track_caller]
fn never_accepted(what: &str, change: &Change) {
    for mut settings in strict() {
        let (response, asked) = judged(&settings, Arc::clone(change));
        assert!(!response.accepted && response.code == Some(403), "{what}: {settings}: {response:?}");
        let message = response.message.as_deref().unwrap_or_default();
        assert!(!message.is_empty() && message.len() < 8_000, "{what}: {message}");
        let lists = asked.iter().filter(|asked| asked.starts_with("list")).count();
        assert!(lists <= 3 && asked.len() <= 8, "{what}: {asked:?}");
        settings["volumeNodeAffinity"]["whenClusterUnreadable"] = json!("allow");
        let (response, _) = judged(&settings, Arc::clone(change));
        let warned = response.warnings.iter().flatten().any(|warning| warning.starts_with("cluster unreadable: "));
        assert!(!response.accepted || warned, "{what}: {settings}: {response:?}");
    }
}

fn change(change: impl Fn(&str, &str, Answer) -> Answer + Send + Sync + 'static) -> Change {
    Arc::new(change)
}

/// For lists alone; one object is answered honestly.
fn lists(answer: impl Fn(&str, Vec<u8>) -> Answer + Send + Sync + 'static) -> Change {
    change(move |operation, kind, honest| match operation {
        "list_resources_all" => answer(kind, honest?),
        _ => honest,
    })
}

/// The items of a list, changed.
fn items(edit: impl Fn(&mut Vec<Value>) + Send + Sync + 'static) -> Change {
    lists(move |_, list| {
        let mut list: Value = serde_json::from_slice(&list).unwrap();
        edit(list["items"].as_array_mut().unwrap());
        Ok(list.to_string().into_bytes())
    })
}

#[test]
fn an_honest_host_is_refused_for_what_it_says() {
    for settings in strict() {
        let (response, _) = judged(&settings, change(|_, _, honest| honest));
        assert!(!response.accepted && !findings(&response).contains("cluster-unreadable"), "{response:?}");
    }
}

#[test]
fn every_reason_not_to_answer() {
    let causes = [Cause::NotGranted, Cause::Forbidden, Cause::NotServed, Cause::Down, Cause::TookTooLong, Cause::Half];
    for cause in causes {
        let nothing = FakeHost::new(Vec::new(), [(String::from("*"), cause)].into());
        let change = change(move |operation, kind, _| {
            let payload = json!({"api_version": "v1", "kind": kind, "name": "a"}).to_string();
            nothing.call(operation, payload.as_bytes())
        });
        never_accepted(&format!("{cause:?}"), &change);
    }
    never_accepted("an empty error", &change(|_, _, _| Err(String::new())));
    never_accepted("an error of several lines", &change(|_, _, _| Err(String::from("a\nb\r\nc"))));
    never_accepted("a long error", &change(|_, _, _| Err("x".repeat(1 << 20))));
    never_accepted("only one object at a time", &lists(|_, _| Err(String::from("no lists"))));
    let only =
        change(|operation, _, honest| if operation == "get_resource" { Err(String::from("no")) } else { honest });
    never_accepted("lists alone", &only);
}

#[test]
fn a_host_that_may_not_be_asked_is_not_asked_for_lists() {
    let forbidden = FakeHost::new(Vec::new(), [(String::from("*"), Cause::Forbidden)].into());
    let change = change(move |operation, kind, _| {
        forbidden.call(operation, json!({"api_version": "v1", "kind": kind, "name": "a"}).to_string().as_bytes())
    });
    for settings in strict() {
        let (_, asked) = judged(&settings, Arc::clone(&change));
        assert!(asked.iter().all(|asked| asked.starts_with("get_resource ")), "{asked:?}");
    }
}

#[test]
fn half_an_answer_at_every_length() {
    let honest = in_use().host().call("list_resources_all", br#"{"api_version":"v1","kind":"Node"}"#).unwrap();
    for length in (0..honest.len()).step_by(97) {
        let cut = lists(move |_, list| Ok(list[..length.min(list.len().saturating_sub(1))].to_vec()));
        never_accepted(&format!("{length} bytes"), &cut);
    }
    never_accepted("more behind it", &lists(|_, list| Ok([&list[..], b"x"].concat())));
    never_accepted("twice", &lists(|_, list| Ok([&list[..], &list[..]].concat())));
}

#[test]
fn what_is_no_list() {
    let no_lists = [
        "",
        "null",
        "true",
        "7",
        "[]",
        "{}",
        "\"\"",
        r#"{"items":null}"#,
        r#"{"items":{}}"#,
        r#"{"items":"none"}"#,
        r#"{"items":[null]}"#,
        r#"{"items":[[]]}"#,
        r#"{"items":[7]}"#,
        r#"{"items":[],"items":[]}"#,
        r#"{"Items":[]}"#,
        "\u{feff}{\"items\":[]}",
    ];
    for text in no_lists {
        never_accepted(text, &lists(move |_, _| Ok(text.into())));
    }
    never_accepted("no text", &lists(|_, _| Ok(vec![0xff; 100])));
    never_accepted(
        "a name that is no text",
        &lists(|_, _| Ok(b"{\"items\":[{\"metadata\":{\"name\":\"\xff\"}}]}".to_vec())),
    );
    let deep = |opening: &'static str, times: usize| {
        lists(move |_, _| Ok(format!("{{\"items\":[{}", opening.repeat(times)).into()))
    };
    never_accepted("deep lists", &deep("[", 1 << 20));
    never_accepted("deep objects", &deep("{\"metadata\":", 1 << 20));
    never_accepted("deep labels", &deep("{\"metadata\":{\"labels\":[", 1 << 18));
}

#[test]
fn objects_of_wrong_types() {
    for wrong in [json!(null), json!(7), json!([]), json!({}), json!(true)] {
        let shown = wrong.to_string();
        let metadata = {
            let wrong = wrong.clone();
            items(move |items| items.iter_mut().for_each(|item| item["metadata"] = wrong.clone()))
        };
        let name = {
            let wrong = wrong.clone();
            items(move |items| items.iter_mut().for_each(|item| item["metadata"]["name"] = wrong.clone()))
        };
        never_accepted(&format!("metadata: {shown}"), &metadata);
        never_accepted(&format!("name: {shown}"), &name);
    }
    let labels = items(|items| {
        items.iter_mut().for_each(|item| item["metadata"]["labels"] = json!({"topology.kubernetes.io/zone": 7}))
    });
    let settings = json!({"volumeNodeAffinity": {"judgeBy": "liveNodes"}});
    let (response, _) = judged(&settings, labels);
    assert_eq!(findings(&response), "cluster-unreadable", "{response:?}");
    for wrong in [json!(7), json!([]), json!({"a": 1}), json!(true)] {
        for (pointer, kind) in [
            ("/spec/nodeName", "Pod"),
            ("/spec/volumes", "Pod"),
            ("/status", "Pod"),
            ("/spec/source", "VolumeAttachment"),
        ] {
            if pointer == "/spec/volumes" && wrong == json!([]) || pointer != "/spec/nodeName" && wrong.is_object() {
                // That says something else.
                continue;
            }
            let (changed, wrong) = (wrong.clone(), wrong.clone());
            let change = lists(move |of, list| {
                let mut list: Value = serde_json::from_slice(&list).unwrap();
                if of == kind {
                    let items = list["items"].as_array_mut().unwrap();
                    items.iter_mut().filter_map(|item| item.pointer_mut(pointer)).for_each(|at| *at = changed.clone());
                }
                Ok(list.to_string().into_bytes())
            });
            let (response, _) = judged(&strict()[0], change);
            assert!(
                !response.accepted && findings(&response).contains("cluster-unreadable"),
                "{kind} {pointer} {wrong}: {response:?}"
            );
        }
    }
}

#[test]
fn another_object_is_not_the_one_that_was_asked_for() {
    let settings =
        json!({"volumeNodeAffinity": {"allow": ["widened", "narrowed"], "requireSettledVolumeAttributes": true}});
    let claim = json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data", "namespace": "db"}, "spec": {"volumeName": "pv-data"}});
    let answered = |object: Value| {
        judged(
            &settings,
            change(
                move |operation, _, honest| {
                    if operation == "get_resource" { Ok(object.to_string().into()) } else { honest }
                },
            ),
        )
        .0
    };
    assert!(answered(claim.clone()).accepted);
    for (pointer, value) in [
        ("/metadata/name", json!("other")),
        ("/metadata/name", json!(null)),
        ("/metadata/name", json!(["data"])),
        ("/kind", json!("Secret")),
        ("/metadata", json!({})),
        ("/spec", json!(7)),
        ("/spec/volumeName", json!({})),
    ] {
        let mut object = claim.clone();
        *object.pointer_mut(pointer).unwrap() = value.clone();
        let response = answered(object);
        assert!(!response.accepted && findings(&response) == "cluster-unreadable", "{pointer} {value}: {response:?}");
    }
}

#[test]
fn two_nodes_of_one_name_are_no_answer() {
    for backwards in [false, true] {
        let twice = items(move |items| {
            let Some(mut again) = items.first().cloned() else { return };
            again["metadata"]["labels"] = json!({"topology.kubernetes.io/zone": "us-east1-b"});
            items.push(again);
            if backwards {
                items.reverse();
            }
        });
        for settings in strict().iter().skip(1) {
            let (response, _) = judged(settings, Arc::clone(&twice));
            assert!(!response.accepted && findings(&response).contains("cluster-unreadable"), "{response:?}");
        }
    }
}

#[test]
fn pods_and_attachments_that_are_listed_twice_are_named_once() {
    let honest = judged(&strict()[0], change(|_, _, honest| honest)).0;
    let change = lists(|kind, list| {
        let mut list: Value = serde_json::from_slice(&list).unwrap();
        let items = list["items"].as_array_mut().unwrap();
        if kind != "Node" {
            items.extend(items.clone());
        }
        Ok(list.to_string().into_bytes())
    });
    assert_eq!(judged(&strict()[0], change).0, honest);
}

/// Only the very words of the host about this very object mean that it does not exist.
#[test]
fn errors_that_try_to_look_like_an_absent_object() {
    let absent = "Cannot find v1/PersistentVolumeClaim named 'data' inside of namespace 'Some(\"db\")'";
    let failure = "Callback evaluation failure: ";
    let settings =
        json!({"volumeNodeAffinity": {"allow": ["widened", "narrowed"], "requireSettledVolumeAttributes": true}});
    let said = |text: String| {
        judged(
            &settings,
            change(move |operation, _, honest| if operation == "get_resource" { Err(text.clone()) } else { honest }),
        )
        .0
    };
    assert!(said(format!("{failure}{absent}")).accepted, "a claim that is not there has no change in flight");
    for text in [
        absent.to_owned(),
        format!("{failure}ApiError: {absent}"),
        format!("{failure}{absent} (timed out)"),
        format!("{failure}{failure}{absent}"),
        format!("Host error: {failure}{absent}"),
        format!(" {failure}{absent}"),
        format!("x\n{failure}{absent}"),
        format!("{failure}{}", absent.replace("'data'", "'other'")),
        format!("{failure}{}", absent.replace("Some(\"db\")", "None")),
        format!("{failure}{}", absent.replace("PersistentVolumeClaim", "Pod")),
        format!("{failure}{}", absent.to_uppercase()),
    ] {
        let response = said(text.clone());
        assert!(!response.accepted && findings(&response) == "cluster-unreadable", "{text}: {response:?}");
    }
}

/// The claim's name comes from the request, and would be part of what the host says.
#[test]
fn names_that_try_to_look_like_another_error() {
    let case = in_use();
    let settings = json!({"volumeNodeAffinity": {"allow": ["widened", "narrowed"], "whileInUse": "deny", "requireSettledVolumeAttributes": true}});
    for name in [
        "data' inside of namespace 'Some(\"db\")'",
        "data\nHost error: Policy has not been granted access to Kubernetes ",
        "x is forbidden: cannot list resource code: 403",
        "../nodes/node-b-1",
        "a?watch=true",
        "%2e%2e",
        "",
        "DATA",
        &"a".repeat(300),
        &"a".repeat(100_000),
    ] {
        let mut request = case.request().unwrap().clone();
        for state in ["object", "oldObject"] {
            request[state]["spec"]["claimRef"]["name"] = json!(name);
        }
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let hostile = Hostile { honest: case.host(), change: change(|_, _, honest| honest), asked: Arc::clone(&asked) };
        let payload = json!({"settings": settings, "request": request}).to_string();
        let answer = module().call_with("validate", payload.as_bytes(), hostile).unwrap();
        let response: Response = serde_json::from_slice(&answer).unwrap();
        // The attachment to the node that loses the volume is there whatever the claim is called.
        assert!(!response.accepted && findings(&response).contains("volume-in-use"), "{name:?}: {response:?}");
        assert!(answer.len() < 8 << 10, "{} bytes", answer.len());
        let gets = asked.lock().unwrap().iter().filter(|asked| *asked == "get_resource PersistentVolumeClaim").count();
        assert_eq!(gets, 0, "{name:?} is no name of an object and was asked for");
    }
}

#[test]
fn fifty_megabytes() {
    const LENGTH: usize = 50 << 20;
    let begin = r#"{"items":[{"metadata":{"name":"a"}}"#;
    let many = |item: &str| format!("{begin}{}", format!(",{item}").repeat(LENGTH / (item.len() + 1)));
    let texts = [
        ("spaces", format!("{}{begin}", " ".repeat(LENGTH))),
        ("one string", format!("{begin},\"{}", "x".repeat(LENGTH))),
        ("one name", format!("{}{}\"}}}}]}}", r#"{"items":[{"metadata":{"name":""#, "x".repeat(LENGTH))),
        ("empty objects", many("{}")),
        ("equal nodes", many(r#"{"metadata":{"name":"b"}}"#)),
        ("numbers", many("1")),
    ];
    let roomy = Host::new(Limits { memory: Memory::AtMost { bytes: 1 << 30, instances: 4 }, seconds: 60 }).unwrap();
    let roomy = roomy.load(Module::built_path()).unwrap();
    let payload = json!({"settings": strict()[3], "request": in_use().request()}).to_string();
    for (what, text) in texts {
        let bytes = text.into_bytes();
        let hostile = || Hostile {
            honest: in_use().host(),
            change: {
                let bytes = bytes.clone();
                lists(move |_, _| Ok(bytes.clone()))
            },
            asked: Arc::default(),
        };
        let answer = roomy.call_with("validate", payload.as_bytes(), hostile());
        let answer = answer.unwrap_or_else(|error| panic!("{what}: the module fails: {error}"));
        let response: Response = serde_json::from_slice(&answer).unwrap();
        assert!(!response.accepted, "{what}: {response:?}");
        // Where there is less memory than that, there is no answer.
        if let Ok(answer) = module().call_with("validate", payload.as_bytes(), hostile()) {
            let response: Response = serde_json::from_slice(&answer).unwrap();
            assert!(!response.accepted, "{what}: {response:?}");
        }
    }
}

#[test]
fn a_host_that_hangs_ends_in_the_deadline_and_in_no_acceptance() {
    struct Hangs(FakeHost);
    impl HostCalls for Hangs {
        fn call(&self, _: &str, _: &str, operation: &str, payload: &[u8]) -> Answer {
            std::thread::sleep(Duration::from_millis(1_500));
            self.0.call(operation, payload)
        }
    }
    let impatient = Host::new(Limits { memory: Memory::AtMost { bytes: 64 << 20, instances: 1 }, seconds: 1 }).unwrap();
    let impatient = impatient.load(Module::built_path()).unwrap();
    let payload = json!({"settings": strict()[0], "request": in_use().request()}).to_string();
    let answer = impatient.call_with("validate", payload.as_bytes(), Hangs(in_use().host()));
    assert!(matches!(answer, Err(CannotCall::Deadline)), "{answer:?}");
}
