//! Places in a JSON document, and documents that differ from another in one place.

use std::fmt::{self, Display, Formatter};

use serde_json::Value;

#[derive(Debug, Clone, PartialEq)]
pub struct Place(Vec<Step>);

#[derive(Debug, Clone, PartialEq)]
enum Step {
    Key(String),
    Index(usize),
}

/// As the module writes paths: `a.b[0].c`, and keys that would be mistaken for several in brackets.
impl Display for Place {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        for (depth, step) in self.0.iter().enumerate() {
            match step {
                Step::Key(key) if depth == 0 => write!(out, "{key}")?,
                Step::Key(key) if key.contains(['.', '/']) => write!(out, "[{key}]")?,
                Step::Key(key) => write!(out, ".{key}")?,
                Step::Index(index) => write!(out, "[{index}]")?,
            }
        }
        Ok(())
    }
}

impl Place {
    /// Whether the last step goes into a list.
    pub fn is_element(&self) -> bool {
        matches!(self.0.last(), Some(Step::Index(_)))
    }

    pub fn of<'d>(&self, document: &'d Value) -> &'d Value {
        self.0.iter().fold(document, |value, step| match step {
            Step::Key(key) => &value[key],
            Step::Index(index) => &value[index],
        })
    }

    fn of_mut<'d>(&self, document: &'d mut Value) -> &'d mut Value {
        self.0.iter().fold(document, |value, step| match step {
            Step::Key(key) => &mut value[key],
            Step::Index(index) => &mut value[index],
        })
    }

    pub fn replaced(&self, document: &Value, with: Value) -> Value {
        let mut copy = document.clone();
        *self.of_mut(&mut copy) = with;
        copy
    }

    pub fn removed(&self, document: &Value) -> Value {
        let mut copy = document.clone();
        let (last, parents) = self.0.split_last().expect("a place below the root");
        match (last, Place(parents.to_vec()).of_mut(&mut copy)) {
            (Step::Key(key), Value::Object(members)) => drop(members.remove(key)),
            (Step::Index(index), Value::Array(items)) => drop(items.remove(*index)),
            _ => panic!("there is no {self}"),
        }
        copy
    }

    /// The document's text with `text`, which need not be JSON, at this place.
    pub fn spliced(&self, document: &Value, text: &str) -> String {
        const MARK: &str = "the only string of this wording";
        self.replaced(document, MARK.into()).to_string().replace(&format!("\"{MARK}\""), text)
    }
}

/// Every place of a document below its root, in the order of the document.
pub fn places(document: &Value) -> Vec<Place> {
    let mut found = Vec::new();
    collect(document, &mut Vec::new(), &mut found);
    found
}

/// The places at or below one of the given paths.
pub fn places_below(document: &Value, paths: &[&str]) -> Vec<Place> {
    let below = |place: &String| {
        paths
            .iter()
            .any(|path| place.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '['])))
    };
    let found: Vec<Place> = places(document).into_iter().filter(|place| below(&place.to_string())).collect();
    assert!(found.len() >= paths.len(), "{paths:?} are not all there");
    found
}

/// The one place of this path.
pub fn place(document: &Value, path: &str) -> Place {
    places(document).into_iter().find(|place| place.to_string() == path).unwrap_or_else(|| panic!("there is no {path}"))
}

fn collect(value: &Value, above: &mut Vec<Step>, found: &mut Vec<Place>) {
    let mut go = |step: Step, value: &Value| {
        above.push(step);
        found.push(Place(above.clone()));
        collect(value, above, found);
        above.pop();
    };
    match value {
        Value::Object(members) => members.iter().for_each(|(key, value)| go(Step::Key(key.clone()), value)),
        Value::Array(items) => items.iter().enumerate().for_each(|(index, value)| go(Step::Index(index), value)),
        _ => {}
    }
}

/// A value of each JSON type but null, of which `value` is none.
pub fn of_other_types(value: &Value) -> Vec<Value> {
    let samples = [7.into(), "text".into(), true.into(), Value::Array(vec![]), Value::Object(Default::default())];
    let same_type = |sample: &Value| std::mem::discriminant(sample) == std::mem::discriminant(value);
    samples.into_iter().filter(|sample| !same_type(sample)).collect()
}
