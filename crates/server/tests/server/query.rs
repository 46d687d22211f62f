//! What Gatekeeper is answered.

use serde_json::{Value, json};

use running_server::running::{bounds, built, start};

const ZONE: &str = "topology.kubernetes.io/zone";

/// A key about a volume whose zones change.
pub fn volume_key(before: &[&str], after: &[&str]) -> String {
    let volume = |zones: &[&str]| {
        let expression = json!({"key": ZONE, "operator": "In", "values": zones});
        json!({"metadata": {"name": "pv-data"}, "spec": {"nodeAffinity": {"required":
            {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}}})
    };
    json!({
        "v": 1,
        "settings": {"volumeNodeAffinity": {}},
        "request": {
            "operation": "UPDATE",
            "kind": {"group": "", "version": "v1", "kind": "PersistentVolume"},
            "name": "pv-data",
            "object": volume(after),
            "oldObject": volume(before),
        },
    })
    .to_string()
}

pub fn provider_request(keys: &[impl AsRef<str>]) -> String {
    let keys: Vec<&str> = keys.iter().map(AsRef::as_ref).collect();
    json!({"apiVersion": "externaldata.gatekeeper.sh/v1beta1", "kind": "ProviderRequest", "request": {"keys": keys}})
        .to_string()
}

pub fn provider_response(items: Value, system_error: &str) -> Value {
    json!({"apiVersion": "externaldata.gatekeeper.sh/v1beta1", "kind": "ProviderResponse",
        "response": {"idempotent": true, "items": items, "systemError": system_error}})
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_are_echoed_with_the_decision_in_order_and_once() {
    let server = start(built(), bounds(), None).await;
    let (narrowed, widened) = (volume_key(&["b", "c"], &["b"]), volume_key(&["b"], &["b", "c"]));
    let keys = [&*narrowed, &widened, "no key", &narrowed];
    let answer = server.gatekeeper().post("/v1/query", provider_request(&keys)).await;
    let message = "node affinity narrowed: a node with `topology.kubernetes.io/zone=c` loses volume `pv-data`\n  \
        spec.nodeAffinity.required: was `topology.kubernetes.io/zone in (b, c)`, becomes `topology.kubernetes.io/zone in (b)`\n  \
        accepted: unchanged, equivalent, widened";
    let items = json!([
        {"key": narrowed, "value": {
            "allowed": false,
            "code": 403,
            "message": message,
            "warnings": [],
            "findings": ["node-affinity-narrowed"],
            "annotations": {
                "findings": "node-affinity-narrowed",
                "relation": "narrowed",
                "losesNode": r#"{"topology.kubernetes.io/zone":"c"}"#,
            },
        }},
        {"key": widened, "value": {
            "allowed": true,
            "message": "",
            "warnings": [],
            "findings": [],
            "annotations": {"relation": "widened", "gainsNode": r#"{"topology.kubernetes.io/zone":"c"}"#},
        }},
        {"key": "no key", "value": {
            "allowed": false,
            "code": 422,
            "message": "the key cannot be read: it is not a question: it must be a JSON object; use the templates of this version",
            "warnings": [],
            "findings": [],
        }},
    ]);
    assert_eq!(answer, (200, provider_response(items, "")));
    let decisions =
        |rule: &str, verdict: &str| format!("placement_guard_decisions_total{{rule=\"{rule}\",verdict=\"{verdict}\"}}");
    assert_eq!(server.metric(&decisions("volumeNodeAffinity", "refused")).await, 1.0);
    assert_eq!(server.metric(&decisions("volumeNodeAffinity", "allowed")).await, 1.0);
    assert_eq!(server.metric(&decisions("none", "unreadable")).await, 1.0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_keys_are_answered_in_their_order() {
    let server = start(built(), bounds(), None).await;
    let zones = |number: usize| (format!("zone-{number}"), format!("zone-{}", number % 2));
    let keys: Vec<String> = (0..1_000)
        .map(|number| {
            let (other, zone) = zones(number);
            volume_key(&[&zone], &[&zone, &other])
        })
        .collect();
    let (status, answer) = server.gatekeeper().post("/v1/query", provider_request(&keys)).await;
    assert_eq!(status, 200, "{answer}");
    assert_eq!(answer["response"]["systemError"], "");
    let items = answer["response"]["items"].as_array().unwrap();
    let echoed: Vec<&str> = items.iter().map(|item| item["key"].as_str().unwrap()).collect();
    assert_eq!(echoed, keys);
    for (number, item) in items.iter().enumerate() {
        let relation = if number < 2 { "equivalent" } else { "widened" };
        assert_eq!(item["value"]["annotations"]["relation"], relation, "{number}");
        assert_eq!(item["value"]["allowed"], true, "{number}");
    }
    let allowed = "placement_guard_decisions_total{rule=\"volumeNodeAffinity\",verdict=\"allowed\"}";
    assert_eq!(server.metric(allowed).await, 1_000.0);
    assert_eq!(server.metric("placement_guard_evaluation_seconds_count").await, 1_000.0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_that_is_no_request_is_answered_in_a_form_that_gatekeeper_reads() {
    let server = start(built(), bounds(), None).await;
    let of = |api_version: &str, kind: &str| {
        json!({"apiVersion": api_version, "kind": kind, "request": {"keys": []}}).to_string()
    };
    let v1beta1 = "externaldata.gatekeeper.sh/v1beta1";
    let no_request = "the body is not a ProviderRequest of `externaldata.gatekeeper.sh/v1beta1`";
    let cases = [
        (String::new(), "the body is not a ProviderRequest: line 1, column 0"),
        (String::from("null"), "the body is not a ProviderRequest: it must be a JSON object"),
        (
            format!(r#"["{v1beta1}","ProviderRequest",{{"keys":[]}}]"#),
            "the body is not a ProviderRequest: it must be a JSON object",
        ),
        (String::from("{"), "the body is not a ProviderRequest: line 1, column 1"),
        ("[".repeat(1_000_000), "the body is not a ProviderRequest: it must be a JSON object"),
        (of(v1beta1, "ProviderRequest").replace("[]", "[1]"), "the body is not a ProviderRequest: line 1, column 96"),
        (of(v1beta1, "ProviderResponse"), no_request),
        (of("externaldata.gatekeeper.sh/v2", "ProviderRequest"), no_request),
    ];
    let mut connection = server.gatekeeper().open().await;
    for (body, problem) in &cases {
        let answer = connection.post("/v1/query", body.clone()).await.unwrap();
        assert_eq!(answer, (400, provider_response(json!([]), problem)), "{}", &body[..body.len().min(99)]);
    }
    assert_eq!(server.metric("placement_guard_faults_total{reason=\"request\"}").await, 8.0);
    // A request without keys is not an error: Gatekeeper omits an empty list.
    let empty = of(v1beta1, "ProviderRequest").replace(r#""keys":[]"#, "");
    for body in [of(v1beta1, "ProviderRequest"), empty] {
        assert_eq!(connection.post("/v1/query", body).await.unwrap(), (200, provider_response(json!([]), "")));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_wrong_with_a_key_is_a_refusal_and_no_fault() {
    let server = start(built(), bounds(), None).await;
    let request = r#"{"operation":"CREATE","kind":{"kind":"PersistentVolume"},"object":{}}"#;
    // In the module's own words, which the library shares.
    let said = |settings: &str, request: &str| placement_guard::verdict::check(settings, request).message.unwrap();
    let unknown = said(r#"{"volumeNodeAfinity":{}}"#, request);
    let no_kind = said(r#"{"volumeNodeAffinity":{}}"#, "{}");
    let cases = [
        (
            format!(r#"{{"v":2,"settings":{{}},"request":{request}}}"#),
            "the key cannot be read: version `2` is not supported; only 1 is; use the templates of this version",
        ),
        (
            format!(r#"{{"v":1,"request":{request}}}"#),
            "the key cannot be read: member `settings` is missing; use the templates of this version",
        ),
        (format!(r#"{{"v":1,"settings":{{"volumeNodeAfinity":{{}}}},"request":{request}}}"#), &*unknown),
        (String::from(r#"{"v":1,"settings":{"volumeNodeAffinity":{}},"request":{}}"#), &*no_kind),
    ];
    let keys: Vec<&str> = cases.iter().map(|(key, _)| &**key).collect();
    let (status, answer) = server.gatekeeper().post("/v1/query", provider_request(&keys)).await;
    assert_eq!(status, 200, "{answer}");
    assert_eq!(answer["response"]["systemError"], "");
    for ((key, message), item) in cases.iter().zip(answer["response"]["items"].as_array().unwrap()) {
        assert_eq!(item["key"], **key);
        assert_eq!((&item["value"]["allowed"], &item["value"]["code"]), (&json!(false), &json!(422)), "{item}");
        assert_eq!(item["value"]["message"], *message, "{}", &key[..key.len().min(200)]);
        assert!(item.get("error").is_none());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deep_key_is_refused() {
    let server = start(built(), bounds(), None).await;
    let deep = format!("{}1{}", r#"{"a":"#.repeat(1_000_000), "}".repeat(1_000_000));
    let key = format!(r#"{{"v":1,"settings":{{"volumeNodeAffinity":{{}}}},"request":{deep}}}"#);
    let (status, answer) = server.gatekeeper().post("/v1/query", provider_request(&[&key])).await;
    assert_eq!((status, &answer["response"]["systemError"]), (200, &json!("")));
    let value = &answer["response"]["items"][0]["value"];
    assert_eq!((&value["allowed"], &value["code"]), (&json!(false), &json!(422)));
    let message = value["message"].as_str().unwrap();
    let (start, end) =
        ("unreadable: request.a.a.", ": is not readable JSON: recursion limit exceeded at line 1 column 679");
    assert!(message.starts_with(start) && message.ends_with(end), "{message}");
    assert!(message.len() < 400, "{message}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn members_that_a_template_does_not_send_change_nothing() {
    let server = start(built(), bounds(), None).await;
    let key = volume_key(&["b"], &["b", "c"]);
    let mut more: Value = serde_json::from_str(&key).unwrap();
    more["more"] = json!({"a": [1, 2]});
    more["request"]["uid"] = json!("u");
    more["request"]["dryRun"] = json!(false);
    more["request"]["options"] = json!({"kind": "UpdateOptions"});
    let more = more.to_string();
    let (_, answer) = server.gatekeeper().post("/v1/query", provider_request(&[&key, &more])).await;
    let items = &answer["response"]["items"];
    assert_eq!(items[0]["value"]["annotations"]["relation"], "widened");
    assert_eq!(items[0]["value"], items[1]["value"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn other_paths_and_methods_are_told_what_there_is() {
    let server = start(built(), bounds(), None).await;
    let mut connection = server.gatekeeper().open().await;
    let problem = "the paths are `/v1/query` and `/v1/admit`; health and metrics have a port of their own";
    let answer = connection.send(hyper::Method::GET, "/metrics", "").await.unwrap();
    assert_eq!(answer, (404, provider_response(json!([]), problem)));
    let answer = connection.send(hyper::Method::GET, "/v1/query", "").await.unwrap();
    assert_eq!(answer, (405, provider_response(json!([]), "the method must be POST")));
    let requests =
        |path: &str, status: u16| format!("placement_guard_requests_total{{path=\"{path}\",status=\"{status}\"}}");
    assert_eq!(server.metric(&requests("other", 404)).await, 1.0);
    assert_eq!(server.metric(&requests("/v1/query", 405)).await, 1.0);
    let what = String::from("not found; the paths are /healthz, /readyz and /metrics\n");
    assert_eq!(server.operations("/").await, (404, what));
}
