//! JSON documents that are cheap to keep and to try again.

use std::rc::Rc;

use serde_json::Value;

/// A JSON document and its text. Copies share both.
#[derive(Debug, Clone)]
pub struct Document {
    value: Rc<Value>,
    text: Rc<str>,
}

impl PartialEq for Document {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl From<Value> for Document {
    fn from(value: Value) -> Self {
        Document { text: value.to_string().into(), value: Rc::new(value) }
    }
}

impl Document {
    pub fn value(&self) -> &Value {
        &self.value
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// The document after a change.
    pub fn changed(&self, change: impl FnOnce(&mut Value)) -> Self {
        let mut value = Value::clone(&self.value);
        change(&mut value);
        value.into()
    }
}

/// Settings and a request.
#[derive(Debug, Clone, PartialEq)]
pub struct Documents {
    pub settings: Document,
    pub request: Document,
}
