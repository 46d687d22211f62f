//! A key of Gatekeeper's external data: the whole question, in canonical JSON.
//!
//! ```json
//! {"v":1,"settings":{…},"request":{"operation":…,"kind":…,"object":…,"oldObject":…,…}}
//! ```
//!
//! The module gets `settings` and `request` byte by byte as they are in the key.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::json;

/// The only version that is answered.
pub const VERSION: u64 = 1;

/// What is asked. Members that this version does not know are not read.
#[derive(Debug)]
pub struct Question<'k> {
    pub settings: &'k RawValue,
    pub request: &'k RawValue,
}

#[derive(Deserialize)]
struct Written<'k> {
    #[serde(borrow)]
    v: Option<&'k RawValue>,
    #[serde(borrow)]
    settings: Option<&'k RawValue>,
    #[serde(borrow)]
    request: Option<&'k RawValue>,
}

/// Reads a key.
///
/// # Errors
/// What makes it one that cannot be answered: a sentence for the template's author.
pub fn read(key: &str) -> Result<Question<'_>, String> {
    let written: Written<'_> = json::object(key).map_err(|problem| format!("it is not a question: {problem}"))?;
    let version = written.v.ok_or("member `v` is missing")?.get();
    if version != VERSION.to_string() {
        let shown: String = version.chars().take(20).collect();
        return Err(format!("version `{shown}` is not supported; only {VERSION} is"));
    }
    Ok(Question {
        settings: written.settings.ok_or("member `settings` is missing")?,
        request: written.request.ok_or("member `request` is missing")?,
    })
}

/// What the log says about a question.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Subject {
    pub operation: String,
    pub kind: String,
    pub namespace: String,
    pub name: String,
    pub user: String,
}

impl Subject {
    /// The subject of a request. A field that cannot be read is empty here, and the module refuses it.
    pub fn of(request: &RawValue) -> Self {
        #[derive(Deserialize, Default)]
        #[serde(default, rename_all = "camelCase")]
        struct Request {
            operation: Option<String>,
            kind: Option<Kind>,
            namespace: Option<String>,
            name: Option<String>,
            user_info: Option<User>,
        }
        #[derive(Deserialize, Default)]
        #[serde(default)]
        struct Kind {
            kind: Option<String>,
        }
        #[derive(Deserialize, Default)]
        #[serde(default)]
        struct User {
            username: Option<String>,
        }
        /// Names are at most this long in Kubernetes.
        const LONGEST: usize = 253;
        let request: Request = json::object(request.get()).unwrap_or_default();
        let cut = |text: Option<String>| -> String {
            let mut text = text.unwrap_or_default();
            if let Some((end, _)) = text.char_indices().nth(LONGEST) {
                text.truncate(end);
            }
            text
        };
        Subject {
            operation: cut(request.operation),
            kind: cut(request.kind.and_then(|kind| kind.kind)),
            namespace: cut(request.namespace),
            name: cut(request.name),
            user: cut(request.user_info.and_then(|user| user.username)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_and_request_are_passed_on_byte_by_byte() {
        let key = r#"{"more":[1],"request":{"b":9007199254740993,"a":null},"settings":{"x": 1e2},"v":1}"#;
        let question = read(key).unwrap();
        assert_eq!(question.settings.get(), r#"{"x": 1e2}"#);
        assert_eq!(question.request.get(), r#"{"b":9007199254740993,"a":null}"#);
    }

    #[test]
    fn a_key_that_cannot_be_answered_says_why() {
        let deep = "[".repeat(100_000);
        let cases = [
            ("", "it is not a question: line 1, column 0"),
            ("pv-data", "it is not a question: it must be a JSON object"),
            (r#"[1,{},{}]"#, "it is not a question: it must be a JSON object"),
            (&deep, "it is not a question: it must be a JSON object"),
            ("{", "it is not a question: line 1, column 1"),
            (r#"{"settings":{},"request":{}}"#, "member `v` is missing"),
            (r#"{"v":2,"settings":{},"request":{}}"#, "version `2` is not supported; only 1 is"),
            (r#"{"v":"1","settings":{},"request":{}}"#, "version `\"1\"` is not supported; only 1 is"),
            (r#"{"v":1.0,"settings":{},"request":{}}"#, "version `1.0` is not supported; only 1 is"),
            (r#"{"v":1,"request":{}}"#, "member `settings` is missing"),
            (r#"{"v":1,"settings":{}}"#, "member `request` is missing"),
            (r#"{"v":1,"v":1,"settings":{},"request":{}}"#, "it is not a question: line 1, column 10"),
            (r#"{"v":1,"settings":{},"request":{}} {}"#, "it is not a question: line 1, column 36"),
        ];
        for (key, problem) in cases {
            assert_eq!(read(key).map(|_| ()), Err(String::from(problem)), "{}", key.get(..80).unwrap_or(key));
        }
    }

    #[test]
    fn a_subject_is_what_can_be_read() {
        let request = r#"{"operation":"UPDATE","kind":{"kind":"PersistentVolume"},"name":"pv-data","namespace":null,
            "userInfo":{"username":"me","groups":["a"]},"object":{"spec":{}}}"#;
        let subject = Subject {
            operation: "UPDATE".into(),
            kind: "PersistentVolume".into(),
            namespace: String::new(),
            name: "pv-data".into(),
            user: "me".into(),
        };
        assert_eq!(Subject::of(serde_json::from_str(request).unwrap()), subject);
        assert_eq!(Subject::of(serde_json::from_str("[1]").unwrap()), Subject::default());
    }
}
