//! A manifest in JSON as `kubectl` sends it: of equal keys the last one counts, and `3.0` is `3`.

use serde_json_borrow::Value;

use super::document::Document;
use super::written::{Repeated, Syntax};
use super::yaml::below;
use super::yaml_scalar::push_text;

impl Document {
    /// Makes the JSON what `kubectl` would send, where a manifest was written in JSON. YAML is that already.
    pub fn settle(&mut self) {
        if self.written.syntax != Syntax::Json || self.json.is_some() {
            return;
        }
        let Ok(value) = serde_json::from_str::<Value<'_>>(&self.written.text) else { return };
        if is_settled(&value) {
            return;
        }
        let (mut json, mut paths) = (String::new(), Vec::new());
        write(&value, "", &mut json, &mut paths);
        self.json = Some(json);
        let repeated = paths.into_iter().map(|path| Repeated { place: self.find(&path).key, path });
        self.repeated = repeated.collect();
    }
}

fn is_settled(value: &Value<'_>) -> bool {
    match value {
        Value::Array(items) => items.iter().all(is_settled),
        Value::Object(members) => {
            let keys: Vec<&str> = members.iter().map(|(key, _)| key).collect();
            !twice(keys) && members.iter().all(|(_, value)| is_settled(value))
        }
        Value::Number(number) => {
            !number.as_f64().is_some_and(|_| number.as_i64().is_none() && number.as_u64().is_none())
        }
        _ => true,
    }
}

fn twice(mut keys: Vec<&str>) -> bool {
    if keys.len() <= 12 {
        let rest = |index: usize| keys.iter().skip(index.saturating_add(1));
        return keys.iter().enumerate().any(|(index, key)| rest(index).any(|other| other == key));
    }
    keys.sort_unstable();
    keys.windows(2).any(|pair| matches!(pair, [one, other] if one == other))
}

fn write(value: &Value<'_>, path: &str, json: &mut String, repeated: &mut Vec<String>) {
    match value {
        Value::Array(items) => {
            json.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    json.push(',');
                }
                write(item, &format!("{path}[{index}]"), json, repeated);
            }
            json.push(']');
        }
        Value::Object(members) => {
            let mut last: Vec<(&str, &Value<'_>)> = Vec::new();
            let mut at = std::collections::BTreeMap::new();
            for (key, value) in members.iter() {
                match at.get(key).and_then(|number: &usize| last.get_mut(*number)) {
                    Some(known) => {
                        known.1 = value;
                        repeated.push(below(path, key));
                    }
                    None => {
                        at.insert(key, last.len());
                        last.push((key, value));
                    }
                }
            }
            json.push('{');
            for (number, (key, value)) in last.into_iter().enumerate() {
                if number > 0 {
                    json.push(',');
                }
                push_text(json, key);
                json.push(':');
                write(value, &below(path, key), json, repeated);
            }
            json.push('}');
        }
        Value::Number(number) => match (number.as_i64(), number.as_u64(), number.as_f64()) {
            (None, None, Some(float)) if float.is_finite() => {
                // A finite number has a form in JSON.
                let _never = super::yaml_scalar::Scalar::Float(float).push(json);
            }
            _ => json.push_str(&number.to_string()),
        },
        other => json.push_str(&other.to_string()),
    }
}
