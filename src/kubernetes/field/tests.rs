use super::{Field, Unreadable, parse};

fn root<T>(json: &str, read: impl FnOnce(&Field<'_, '_>) -> Result<T, Unreadable>) -> Result<T, String> {
    let value = parse(json.as_bytes()).expect("JSON");
    read(&Field::root("object", &value)).map_err(|unreadable| unreadable.to_string())
}

#[test]
fn a_key_that_appears_twice_is_refused_wherever_members_are_read() {
    for json in [
        r#"{"a": 1, "b": 2, "a": 1}"#,
        r#"{"a": null, "b": 2, "a": 1}"#,
        r#"{"b": 2, "a": {}, "a": null}"#,
        r#"{"b": 2, "a": 1, "a": 2, "b": 3}"#,
    ] {
        let refused = Err(String::from("object.a: appears twice"));
        assert_eq!(root(json, |field| field.members().map(Iterator::count)), refused.clone(), "{json}");
        assert_eq!(root(json, |field| field.only(&["a", "b"]).map(|()| 0)), refused.clone(), "{json}");
        assert_eq!(root(json, |field| field.get("a").map(|_| 0)), refused, "{json}");
    }
}

#[test]
fn each_key_once_is_read_in_the_order_of_the_document() {
    let names = root(r#"{"b": 1, "null": null, "a": 2, "B": 3}"#, |field| {
        Ok(field.members()?.map(|(name, member)| format!("{name} at {}", member.path())).collect::<Vec<_>>())
    });
    assert_eq!(names, Ok(["b at object.b", "a at object.a", "B at object.B"].map(String::from).to_vec()));
    assert_eq!(root("null", |field| field.members().map(Iterator::count)), Ok(0));
}

/// Comparing each key with each other one would take far longer than the rest of the tests.
#[test]
fn an_object_of_many_keys_is_read_in_far_less_than_its_square() {
    let members: Vec<String> = (0..100_000).map(|number| format!("\"k{number}\": 1")).collect();
    let json = |last: &str| format!("{{{}, \"{last}\": 1}}", members.join(","));
    assert_eq!(root(&json("last"), |field| field.members().map(Iterator::count)), Ok(100_001));
    let refused = Err(String::from("object.k7: appears twice"));
    assert_eq!(root(&json("k7"), |field| field.members().map(Iterator::count)), refused);
}

#[test]
fn an_unknown_key_is_refused_with_the_known_ones() {
    let refused = root(r#"{"a": 1, "c": null}"#, |field| field.only(&["a", "b"]));
    assert_eq!(refused, Err(String::from("object.c: is not a known key; expected one of `a`, `b`")));
    assert_eq!(root(r#"{"b": 1}"#, |field| field.only(&["a", "b"])), Ok(()));
}

#[test]
fn an_integer_has_64_bits_and_no_fraction() {
    for (json, read) in [
        ("9223372036854775807", Ok(Some(i64::MAX))),
        ("-9223372036854775808", Ok(Some(i64::MIN))),
        ("null", Ok(None)),
        ("3.0", Err("object: is not a 64-bit integer")),
        ("3e2", Err("object: is not a 64-bit integer")),
        ("9223372036854775808", Err("object: is not a 64-bit integer")),
        (r#""3""#, Err("object: must be a 64-bit integer, but is a string: `3`")),
    ] {
        assert_eq!(root(json, |field| field.integer()), read.map_err(String::from), "{json}");
    }
}
