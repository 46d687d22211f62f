use super::*;
use std::cell::RefCell;

const NODE: Fields = Fields(&[("metadata", Fields(&[("name", WHOLE), ("labels", WHOLE)]))]);

/// A host that answers every call alike, and what it was asked.
fn asked(answer: &Result<&str, &str>, ask: impl FnOnce(&HostCluster<'_>)) -> Vec<String> {
    let calls = RefCell::new(Vec::new());
    let call = |operation: &str, payload: &[u8]| {
        calls.borrow_mut().push(format!("{operation} {}", String::from_utf8_lossy(payload)));
        answer.map(|text| text.as_bytes().to_vec()).map_err(str::to_owned)
    };
    ask(&HostCluster { call: &call });
    calls.into_inner()
}

#[test]
fn a_call_is_what_the_sdk_sends() {
    let calls = asked(&Ok("{}"), |cluster| {
        let wanted = Wanted { fields: NODE, freshness: Freshness::Now };
        assert_eq!(cluster.get(Kind::Node, None, "a", wanted), Ok(Some(b"{}".to_vec())));
        assert_eq!(cluster.list(Kind::Pod, NODE), Ok(b"{}".to_vec()));
    });
    let probe = concat!(
        r#"get_resource {"api_version":"v1","kind":"Pod","name":"placement-guard.asks-whether-it-may-read-this-kind","#,
        r#""namespace":"default","disable_cache":true,"field_masks":["kind"]}"#
    );
    let list = concat!(
        r#"list_resources_all {"api_version":"v1","kind":"Pod","label_selector":null,"field_selector":null,"#,
        r#""field_masks":["metadata.name","metadata.labels"]}"#
    );
    let get = concat!(
        r#"get_resource {"api_version":"v1","kind":"Node","name":"a","namespace":null,"disable_cache":true,"#,
        r#""field_masks":["metadata.name","metadata.labels"]}"#
    );
    assert_eq!(calls, [get, probe, list]);
}

#[test]
fn a_kind_that_may_not_be_read_is_not_listed() {
    let forbidden = r#"Host error: Callback evaluation failure: ApiError: nodes "x" is forbidden: User "u" cannot get resource "nodes" in API group "" at the cluster scope: Forbidden (Status { code: 403 })"#;
    let calls = asked(&Err(forbidden), |cluster| {
        assert_eq!(cluster.list(Kind::Node, NODE), Err(CannotRead::Forbidden(Verb::Get)));
    });
    assert_eq!(calls.len(), 1, "{calls:?}");
}

#[test]
fn absence_is_what_the_host_says_of_this_very_object() {
    let absent = |said: &str, namespace: Option<&str>| {
        let kind = if namespace.is_some() { Kind::Pod } else { Kind::VolumeAttachment };
        let mut got = None;
        let said = format!("{FAILED}{said}");
        asked(&Err(&said), |cluster| {
            got = Some(cluster.get(kind, namespace, "a", Wanted { fields: NODE, freshness: Freshness::Held }));
        });
        got.unwrap()
    };
    let volume = "Cannot find storage.k8s.io/v1/VolumeAttachment named 'a' inside of namespace 'None'";
    assert_eq!(absent(volume, None), Ok(None));
    assert_eq!(absent(&format!("{volume}\nStack backtrace:\n 0: x"), None), Ok(None));
    assert_eq!(absent("Cannot find v1/Pod named 'a' inside of namespace 'Some(\"d\")'", Some("d")), Ok(None));
    for other in [
        "Cannot find v1/Pod named 'b' inside of namespace 'Some(\"d\")'",
        "Cannot find v1/Pod named 'a' inside of namespace 'None'",
        "x Cannot find v1/Pod named 'a' inside of namespace 'Some(\"d\")'",
    ] {
        assert_eq!(absent(other, Some("d")), Err(CannotRead::Failed), "{other}");
    }
}

#[test]
fn causes_are_told_apart() {
    for (said, expected) in [
        (
            "Host error: Policy has not been granted access to Kubernetes v1/Secret resources. The violation has been reported.",
            CannotRead::NotGranted,
        ),
        ("Host error: Callback evaluation failure: Cannot find resource v1/Nope", CannotRead::NotServed),
        (
            "Host error: Callback evaluation failure: error finding resource example.com/v1 / Widget: ApiError 404",
            CannotRead::NotServed,
        ),
        ("Host error: Callback evaluation failure: ServiceError: client error (Connect)", CannotRead::Down),
        ("Host error: Callback evaluation failure: request timed out", CannotRead::TooLong),
        (
            r#"Host error: Callback evaluation failure: ApiError: pods is forbidden: User "u" cannot list resource "pods" in API group "": code: 403"#,
            CannotRead::Forbidden(Verb::List),
        ),
        ("Host error: anything else", CannotRead::Failed),
        ("", CannotRead::Failed),
    ] {
        assert_eq!(cause(said), expected, "{said}");
    }
}
