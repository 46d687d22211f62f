//! What is tried, and what must be true of every answer.

use k8s_openapi::api::core::v1::NodeSelectorTerm;
use placement_guard::kubernetes::affinity::Affinity;
use placement_guard::kubernetes::node_selector::{Labels, term_matches};
use placement_guard::rules::STEPS;
use placement_guard::verdict::{Verdict, check, validate_settings};
use serde_json::Value;

use crate::question::{Answer, Question, Topology, requirement, term};
use crate::random::Random;

use super::mutate;
use super::seeds::Documents;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// Settings that change, and a request that does not.
    Settings,
    /// A request that changes, under the settings with all rules.
    Request,
    Both,
    /// Bytes that are read as two selectors and facts.
    Algebra,
}

pub const TARGETS: [Target; 4] = [Target::Settings, Target::Request, Target::Both, Target::Algebra];

/// What a target is given.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    Documents(Documents),
    /// Settings and a request that may not be JSON.
    Texts(String, String),
    Bytes(Vec<u8>),
}

impl Target {
    pub fn name(self) -> &'static str {
        match self {
            Target::Settings => "settings",
            Target::Request => "request",
            Target::Both => "both",
            Target::Algebra => "algebra",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        TARGETS.into_iter().find(|target| target.name() == name)
    }

    /// Another input, made of this one and some of another.
    pub fn change(self, input: &Input, other: &Input, random: &mut Random) -> Input {
        match (input, other) {
            (Input::Documents(documents), Input::Documents(other)) => {
                let mut changed = documents.clone();
                if self == Target::Settings || (self == Target::Both && random.one_in(2)) {
                    mutate::change(&mut changed.settings, &other.settings, random);
                } else {
                    mutate::change(&mut changed.request, &other.request, random);
                }
                if !random.one_in(60) {
                    return Input::Documents(changed);
                }
                let (mut settings, mut request) = (changed.settings.to_string(), changed.request.to_string());
                mutate::break_text(if random.one_in(3) { &mut settings } else { &mut request }, random);
                Input::Texts(settings, request)
            }
            (Input::Texts(settings, request), _) => {
                let (mut settings, mut request) = (settings.clone(), request.clone());
                mutate::break_text(if random.one_in(3) { &mut settings } else { &mut request }, random);
                Input::Texts(settings, request)
            }
            (Input::Bytes(bytes), other) => {
                let mut bytes = bytes.clone();
                change_bytes(&mut bytes, other, random);
                Input::Bytes(bytes)
            }
            (Input::Documents(documents), _) => Input::Documents(documents.clone()),
        }
    }
}

impl Input {
    /// Settings and request as they are given to the library.
    pub fn texts(&self) -> (String, String) {
        match self {
            Input::Documents(documents) => (documents.settings.to_string(), documents.request.to_string()),
            Input::Texts(settings, request) => (settings.clone(), request.clone()),
            Input::Bytes(_) => (String::new(), String::new()),
        }
    }

    /// A line of the corpus.
    pub fn to_line(&self) -> String {
        match self {
            Input::Documents(documents) => {
                serde_json::json!({"settings": documents.settings, "request": documents.request}).to_string()
            }
            Input::Texts(settings, request) => serde_json::json!([settings, request]).to_string(),
            Input::Bytes(bytes) => serde_json::json!(bytes).to_string(),
        }
    }

    /// Reads a line of the corpus.
    pub fn of_line(line: &str) -> Self {
        let mut line: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        if line.is_object() {
            let [settings, request] = ["settings", "request"].map(|name| line[name].take());
            return Input::Documents(Documents { settings, request });
        }
        if let Some([settings, request]) =
            line.as_array().and_then(|texts| <&[Value; 2]>::try_from(texts.as_slice()).ok())
            && let (Some(settings), Some(request)) = (settings.as_str(), request.as_str())
        {
            return Input::Texts(settings.to_owned(), request.to_owned());
        }
        let bytes = line.as_array().expect("a line is an object, two strings, or bytes");
        Input::Bytes(bytes.iter().map(|byte| byte.as_u64().expect("a byte") as u8).collect())
    }

    /// Asks the library, and checks the answer.
    ///
    /// # Errors
    /// What is wrong with the answer.
    pub fn run(&self) -> Result<(), String> {
        match self {
            Input::Bytes(bytes) => check_algebra(bytes),
            _ => {
                let (settings, request) = self.texts();
                let verdict = check(&settings, &request);
                check_verdict(&verdict)?;
                let usable = validate_settings(&settings);
                if let Err(unreadable) = &usable
                    && (verdict.allowed || verdict.code != Some(422))
                {
                    return Err(format!("settings cannot be used, {unreadable}, and the answer is {verdict:?}"));
                }
                Ok(())
            }
        }
    }

    /// Whether the order of node selector terms changes the decision; costs as much as [`Input::run`].
    ///
    /// # Errors
    /// What is different.
    pub fn run_in_other_order(&self) -> Result<(), String> {
        let Input::Documents(documents) = self else { return Ok(()) };
        let mut turned = documents.request.clone();
        for object in ["object", "oldObject"] {
            let terms = turned.pointer_mut(&format!("/{object}/spec/nodeAffinity/required/nodeSelectorTerms"));
            terms.and_then(Value::as_array_mut).into_iter().for_each(|terms| terms.reverse());
        }
        if turned == documents.request {
            return Ok(());
        }
        let settings = documents.settings.to_string();
        let [one, other] = [&documents.request, &turned].map(|request| check(&settings, &request.to_string()));
        let unfinished = |verdict: &Verdict| {
            verdict.findings.iter().any(|code| code == "request-too-large" || code == "node-affinity-undecided")
        };
        if unfinished(&one) || unfinished(&other) {
            return Ok(());
        }
        let relation = |verdict: &Verdict| verdict.annotations.get("relation").cloned();
        if (one.allowed, one.code, relation(&one)) != (other.allowed, other.code, relation(&other)) {
            return Err(format!("the order of terms changes the decision: {one:?} and {other:?}"));
        }
        Ok(())
    }
}

/// A verdict that says what every verdict says.
fn check_verdict(verdict: &Verdict) -> Result<(), String> {
    let complain = |problem: &str| Err(format!("{problem}: {verdict:?}"));
    match (verdict.allowed, verdict.code, verdict.message.as_deref()) {
        (true, None, None) => {}
        (false, Some(422), Some(message)) if !message.trim().is_empty() => {}
        (false, Some(403), Some(message)) if !message.trim().is_empty() => {
            if verdict.findings.is_empty() {
                return complain("a refusal without a finding");
            }
        }
        _ => return complain("allowed, code and message do not go together"),
    }
    for node in ["losesNode", "gainsNode"].iter().filter_map(|name| verdict.annotations.get(*name)) {
        if serde_json::from_str::<Labels>(node).is_err() {
            return complain("a node that is not an object of labels");
        }
    }
    let relations = ["unchanged", "equivalent", "widened", "narrowed", "shifted", "undecided"];
    if verdict.annotations.get("relation").is_some_and(|relation| !relations.contains(&relation.as_str())) {
        return complain("an unknown relation");
    }
    if verdict.message.as_ref().is_some_and(|message| message.len() > LONGEST_MESSAGE) {
        return complain("a message that is too long to read");
    }
    Ok(())
}

const LONGEST_MESSAGE: usize = 40_000;

fn change_bytes(bytes: &mut Vec<u8>, other: &Input, random: &mut Random) {
    for _ in 0..1 + random.below(6) {
        let position = random.below(bytes.len() + 1);
        match random.below(6) {
            0 => bytes.insert(position, random.number() as u8),
            1 if position < bytes.len() => _ = bytes.remove(position),
            2 => {
                let end = (position + random.below(12)).min(bytes.len());
                let copied = bytes[position..end].to_vec();
                bytes.extend(copied);
            }
            3 => {
                if let Input::Bytes(other) = other
                    && !other.is_empty()
                {
                    bytes.truncate(position);
                    bytes.extend(&other[random.below(other.len())..]);
                }
            }
            _ if position < bytes.len() => bytes[position] = random.number() as u8,
            _ => bytes.push(random.number() as u8),
        }
    }
    bytes.truncate(400);
}

const KEYS: [&str; 5] = ["a", "b", "example.com/c", "d", "topology.kubernetes.io/zone"];
const VALUES: [&str; 14] = [
    "a",
    "b",
    "",
    "0",
    "00",
    "5",
    "05",
    "7",
    "9223372036854775807",
    "9223372036854775808",
    "other",
    "not a label",
    "x.y_z-1",
    "000000000000000000000000000000000000000000000000000000000000005",
];
const THRESHOLDS: [&str; 10] =
    ["0", "4", "5", "6", "-1", "-9223372036854775808", "9223372036854775806", "9223372036854775807", "05", "many"];

/// Reads bytes as a question. All bytes are one.
pub fn question_of(bytes: &[u8]) -> Question {
    let mut bytes = bytes.iter().copied().map(usize::from);
    let mut question = Question {
        inside: Affinity::Required(Vec::new()),
        outside: Affinity::Required(Vec::new()),
        topology: Topology::default(),
    };
    while let Some(byte) = bytes.next() {
        let mut next = |of: usize| bytes.next().unwrap_or(0) % of;
        match byte % 16 {
            0 => {
                let (from, to) = (next(KEYS.len()), next(KEYS.len()));
                question.topology.aliases.push((KEYS[from].to_owned(), KEYS[to].to_owned()));
            }
            1 => {
                let facts = [read_term(&mut next), read_term(&mut next)];
                // A fact that does not parse is refused with the settings.
                if facts.iter().all(|fact| placement_guard::kubernetes::node_selector::conditions(fact).is_ok()) {
                    let [when, then] = facts;
                    question.topology.implications.push((when, then));
                }
            }
            side => {
                let read = read_term(&mut next);
                let side = if side % 2 == 0 { &mut question.inside } else { &mut question.outside };
                match side {
                    Affinity::Required(terms) => terms.push(read),
                    Affinity::Absent => {}
                }
            }
        }
    }
    question
}

fn read_term(next: &mut impl FnMut(usize) -> usize) -> NodeSelectorTerm {
    let requirements: Vec<_> = (0..next(5))
        .map(|_| {
            let key = KEYS[next(KEYS.len())];
            let operator = ["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Near"][next(13) % 7];
            let values: Vec<&str> = match operator {
                "In" | "NotIn" => (0..1 + next(4)).map(|_| VALUES[next(VALUES.len())]).collect(),
                "Gt" | "Lt" => vec![THRESHOLDS[next(THRESHOLDS.len())]],
                _ => Vec::new(),
            };
            requirement(key, operator, &values)
        })
        .collect();
    term(&requirements.iter().collect::<Vec<_>>())
}

/// The answer of the algebra against the plain matcher: at its own example, and at nodes that have nothing to do with it.
fn check_algebra(bytes: &[u8]) -> Result<(), String> {
    let question = question_of(bytes);
    let is_possible = |node: &Labels| {
        let Topology { implications, aliases } = &question.topology;
        implications.iter().all(|(when, then)| !term_matches(when, node) || term_matches(then, node))
            && aliases.iter().all(|(from, to)| node.get(from).is_none_or(|value| node.get(to) == Some(value)))
    };
    let is_lost = |node: &Labels| question.inside.admits(node) && !question.outside.admits(node) && is_possible(node);
    match question.ask(STEPS) {
        Answer::Escapes(node) if is_lost(&node) => Ok(()),
        Answer::Escapes(node) => Err(format!("{node:?} is no counterexample to {question:?}")),
        Answer::Undecided => Err(format!("undecided: {question:?}")),
        Answer::Contained => {
            let seed = bytes.iter().fold(17_u64, |seed, byte| seed.wrapping_mul(31).wrapping_add(u64::from(*byte)));
            let mut random = Random::from_seed(seed);
            let numbers = ["1", "8", "05", "9223372036854775805", "fresh"];
            for _ in 0..24 {
                let mut node = Labels::new();
                let mut last = "a";
                for key in KEYS {
                    last = match random.below(8) {
                        0 | 1 => continue,
                        2 | 3 => last,
                        4 => random.pick::<&str>(&numbers),
                        _ => random.pick::<&str>(&VALUES[..11]),
                    };
                    node.insert(key.to_owned(), last.to_owned());
                }
                if is_lost(&node) {
                    return Err(format!("{node:?} is lost, and the answer to {question:?} is yes"));
                }
            }
            Ok(())
        }
    }
}
