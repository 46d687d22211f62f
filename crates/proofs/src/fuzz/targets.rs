//! What is tried.

use serde_json::{Value, json};

use crate::random::Random;

use super::document::Document;
use super::{algebra, answers, bodies, mutate};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// Settings that change, and a request that does not.
    Settings,
    /// A request that changes, under the settings with all rules.
    Request,
    Both,
    /// Bytes that are read as two selectors and facts.
    Algebra,
    /// What clients send to the server.
    Bodies,
}

pub const TARGETS: [Target; 5] = [Target::Settings, Target::Request, Target::Both, Target::Algebra, Target::Bodies];

/// What a target is given. Requests without settings are under all rules.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    Documents(Option<Document>, Document),
    /// Settings and a request that may not be JSON.
    Texts(Option<String>, String),
    Selectors(Vec<u8>),
    Body(Document),
    /// A body that may not be JSON.
    Bytes(Vec<u8>),
}

impl Target {
    pub fn name(self) -> &'static str {
        match self {
            Target::Settings => "settings",
            Target::Request => "request",
            Target::Both => "both",
            Target::Algebra => "algebra",
            Target::Bodies => "bodies",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        TARGETS.into_iter().find(|target| target.name() == name)
    }

    /// Another input, made of this one and some of another.
    pub fn change(self, input: &Input, other: &Input, random: &mut Random) -> Input {
        match (input, other) {
            (Input::Documents(settings, request), Input::Documents(other_settings, other_request)) => {
                let (mut settings, mut request) = (settings.clone(), request.clone());
                let of_settings = match self {
                    Target::Settings => true,
                    Target::Both => random.one_in(2),
                    _ => false,
                };
                match (&mut settings, other_settings) {
                    (Some(settings), Some(other)) if of_settings => {
                        *settings = settings.changed(|settings| mutate::change(settings, other.value(), random));
                    }
                    _ => request = request.changed(|request| mutate::change(request, other_request.value(), random)),
                }
                if !random.one_in(60) {
                    return Input::Documents(settings, request);
                }
                broken(settings.as_ref().map(Document::text), request.text(), random)
            }
            (Input::Texts(settings, request), _) => broken(settings.as_deref(), request, random),
            (Input::Documents(settings, request), _) => {
                broken(settings.as_ref().map(Document::text), request.text(), random)
            }
            (Input::Selectors(bytes), other) => {
                let mut bytes = bytes.clone();
                let other = if let Input::Selectors(other) = other { other.as_slice() } else { &[] };
                algebra::change(&mut bytes, other, random);
                Input::Selectors(bytes)
            }
            (Input::Body(body), Input::Body(other)) if !random.one_in(30) => {
                Input::Body(body.changed(|body| bodies::change(body, other.value(), random)))
            }
            (Input::Body(body), _) => broken_body(body.text().as_bytes(), random),
            (Input::Bytes(bytes), _) => broken_body(bytes, random),
        }
    }
}

fn broken(settings: Option<&str>, request: &str, random: &mut Random) -> Input {
    let (mut settings, mut request) = (settings.map(str::to_owned), request.to_owned());
    match &mut settings {
        Some(settings) if random.one_in(3) => mutate::break_text(settings, random),
        _ => mutate::break_text(&mut request, random),
    }
    Input::Texts(settings, request)
}

fn broken_body(bytes: &[u8], random: &mut Random) -> Input {
    let mut bytes = bytes.to_vec();
    bodies::break_bytes(&mut bytes, random);
    Input::Bytes(bytes)
}

impl Input {
    /// Settings and request as they are given to the library. `None` for what is not a request.
    pub fn texts(&self) -> Option<(String, String)> {
        let all_rules = || answers::all_rules().text().to_owned();
        match self {
            Input::Documents(settings, request) => {
                let settings = settings.as_ref().map_or_else(all_rules, |settings| settings.text().to_owned());
                Some((settings, request.text().to_owned()))
            }
            Input::Texts(settings, request) => Some((settings.clone().unwrap_or_else(all_rules), request.clone())),
            Input::Selectors(_) | Input::Body(_) | Input::Bytes(_) => None,
        }
    }

    /// A line of the corpus.
    pub fn to_line(&self) -> String {
        // One character for each byte.
        let characters = |bytes: &[u8]| bytes.iter().copied().map(char::from).collect::<String>();
        let line = match self {
            Input::Documents(settings, request) => {
                json!({"settings": settings.as_ref().map(Document::value), "request": request.value()})
            }
            Input::Texts(settings, request) => json!([settings, request]),
            Input::Selectors(bytes) => json!(bytes),
            Input::Body(body) => json!({"body": body.value()}),
            Input::Bytes(bytes) => json!({"bytes": characters(bytes)}),
        };
        line.to_string()
    }

    /// Reads a line of the corpus.
    pub fn of_line(line: &str) -> Self {
        let mut line: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        if let Some(bytes) = line.get("bytes").and_then(Value::as_str) {
            return Input::Bytes(bytes.chars().map(|byte| u8::try_from(byte).expect("a byte")).collect());
        }
        if line.is_object() {
            let [settings, request, body] =
                ["settings", "request", "body"].map(|name| line.get_mut(name).map(Value::take));
            return match (settings, request, body) {
                (Some(settings), Some(request), None) => {
                    let settings = Some(settings).filter(|settings| !settings.is_null());
                    Input::Documents(settings.map(Document::from), request.into())
                }
                (None, None, Some(body)) => Input::Body(body.into()),
                _ => panic!("neither settings and a request nor a body: {line}"),
            };
        }
        match line.as_array().map(Vec::as_slice) {
            Some([settings, Value::String(request)]) if settings.is_string() || settings.is_null() => {
                Input::Texts(settings.as_str().map(str::to_owned), request.clone())
            }
            Some(bytes) => Input::Selectors(bytes.iter().map(|byte| byte.as_u64().expect("a byte") as u8).collect()),
            None => panic!("a line is an object, two strings, or bytes: {line}"),
        }
    }

    /// Asks the library, and checks the answer. Whether the input could be read.
    ///
    /// # Errors
    /// What is wrong with the answer.
    pub fn run(&self) -> Result<bool, String> {
        match self {
            Input::Documents(settings, request) => {
                answers::judge(settings.as_ref().map(Document::text), request.text())
            }
            Input::Texts(settings, request) => answers::judge(settings.as_deref(), request),
            Input::Selectors(bytes) => algebra::check(bytes).map(|()| true),
            Input::Body(body) => bodies::check(body.text().as_bytes(), Some(body.value())),
            Input::Bytes(bytes) => bodies::check(bytes, None),
        }
    }

    /// Asks in other ways, and compares. It costs more than [`Input::run`].
    ///
    /// # Errors
    /// What is different.
    pub fn run_in_other_ways(&self) -> Result<(), String> {
        match self {
            Input::Documents(settings, request) => {
                let settings = settings.as_ref().map(Document::text);
                answers::judge_twice(settings, request.text())?;
                let turned = request.changed(turn_terms);
                match turned == *request {
                    true => Ok(()),
                    false => answers::judge_in_two_orders(settings, request.text(), turned.text()),
                }
            }
            Input::Texts(settings, request) => answers::judge_twice(settings.as_deref(), request),
            Input::Selectors(_) => Ok(()),
            Input::Body(body) => bodies::judge(body.text().as_bytes()),
            Input::Bytes(bytes) => bodies::judge(bytes),
        }
    }
}

fn turn_terms(request: &mut Value) {
    for object in ["object", "oldObject"] {
        let terms = request.pointer_mut(&format!("/{object}/spec/nodeAffinity/required/nodeSelectorTerms"));
        terms.and_then(Value::as_array_mut).into_iter().for_each(|terms| terms.reverse());
    }
}
