//! The body of `POST /v1/query`: a ProviderRequest of Gatekeeper's external data.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, Visitor};

use crate::json;

/// The only version that is answered.
pub const API_VERSION: &str = "externaldata.gatekeeper.sh/v1beta1";

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct ProviderRequest {
    api_version: String,
    kind: String,
    request: Option<Keys>,
}

/// The member `keys` of an object, which may be absent or null. A derived reader would take a list for the object.
#[derive(Default)]
struct Keys(Option<Vec<String>>);

impl<'de> Deserialize<'de> for Keys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Keys::default())
    }
}

impl<'de> Visitor<'de> for Keys {
    type Value = Keys;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Keys, A::Error> {
        let mut keys = None;
        while let Some(name) = members.next_key::<Cow<'de, str>>()? {
            if name != "keys" {
                members.next_value::<IgnoredAny>()?;
            } else if keys.replace(members.next_value()?).is_some() {
                return Err(A::Error::duplicate_field("keys"));
            }
        }
        Ok(Keys(keys.flatten()))
    }
}

/// The keys of a request, of which there may be `most`.
///
/// # Errors
/// Why the body is not such a request: a sentence for the caller.
pub fn read(bytes: &[u8], most: usize) -> Result<Vec<String>, String> {
    let text = std::str::from_utf8(bytes).map_err(|_error| String::from("the body is not UTF-8"))?;
    let request: ProviderRequest =
        json::object(text).map_err(|problem| format!("the body is not a ProviderRequest: {problem}"))?;
    if (request.api_version.as_str(), request.kind.as_str()) != (API_VERSION, "ProviderRequest") {
        return Err(format!("the body is not a ProviderRequest of `{API_VERSION}`"));
    }
    let keys = request.request.and_then(|Keys(keys)| keys).unwrap_or_default();
    if keys.len() > most {
        return Err(format!("{} keys requested; at most {most} are allowed", keys.len()));
    }
    Ok(keys)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(request: &str) -> String {
        format!(r#"{{"apiVersion":"{API_VERSION}","kind":"ProviderRequest","request":{request}}}"#)
    }

    #[test]
    fn keys_are_read_in_their_order() {
        let keys = |request: &str| read(body(request).as_bytes(), 2);
        assert_eq!(keys(r#"{"keys":["b","a"]}"#), Ok(vec!["b".to_owned(), "a".to_owned()]));
        for none in ["null", "{}", r#"{"keys":null}"#, r#"{"keys":[]}"#] {
            assert_eq!(keys(none), Ok(Vec::new()), "{none}");
        }
        assert_eq!(keys(r#"{"keys":["a","b","c"]}"#), Err("3 keys requested; at most 2 are allowed".into()));
    }

    #[test]
    fn a_list_is_not_read_as_the_members_of_an_object() {
        let of = |problem: &str| Err(format!("the body is not a ProviderRequest: {problem}"));
        assert_eq!(read(body(r#"[["a"]]"#).as_bytes(), 2), of("line 1, column 86"));
        let whole = format!(r#"["{API_VERSION}","ProviderRequest",{{"keys":["a"]}}]"#);
        assert_eq!(read(whole.as_bytes(), 2), of("it must be a JSON object"));
    }

    #[test]
    fn keys_may_appear_once() {
        let twice = body(r#"{"keys":["a"],"keys":["b"]}"#);
        assert_eq!(read(twice.as_bytes(), 2), Err("the body is not a ProviderRequest: line 1, column 113".into()));
    }
}
