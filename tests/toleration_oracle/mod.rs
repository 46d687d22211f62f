//! The oracle: which taints a list of tolerations tolerates, and for how long, taint by taint.
//!
//! It is written to be read, not to be fast: it puts every taint that could make a difference to every toleration, one by
//! one, and shares nothing with the module.

use std::collections::BTreeSet;

/// Seconds that a pod stays; `FOR_EVER` means no limit.
pub type Seconds = i64;
pub const FOR_EVER: Seconds = i64::MAX;

pub const EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

/// A toleration, or an entry of the settings, whose `seconds` are then its limit. Empty text is absent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Toleration {
    pub key: String,
    pub operator: String,
    pub value: String,
    pub effect: String,
    pub seconds: Option<i64>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Taint {
    pub key: String,
    pub value: String,
    pub effect: String,
}

/// The number in a string: no sign but a minus, no leading zero, 64 bits.
pub fn number(text: &str) -> Option<i64> {
    text.parse().ok().filter(|number: &i64| number.to_string() == text)
}

/// `Toleration.ToleratesTaint`, step by step.
pub fn tolerates(toleration: &Toleration, taint: &Taint) -> bool {
    if !toleration.effect.is_empty() && toleration.effect != taint.effect {
        return false;
    }
    if !toleration.key.is_empty() && toleration.key != taint.key {
        return false;
    }
    let numbers = || number(&taint.value).zip(number(&toleration.value));
    match toleration.operator.as_str() {
        "" | "Equal" => toleration.value == taint.value,
        "Exists" => true,
        "Gt" => numbers().is_some_and(|(taint, bound)| taint > bound),
        "Lt" => numbers().is_some_and(|(taint, bound)| taint < bound),
        _ => false,
    }
}

pub fn tolerated(tolerations: &[Toleration], taint: &Taint) -> bool {
    tolerations.iter().any(|toleration| tolerates(toleration, taint))
}

/// The taint eviction controller on a node that has just got this one taint: after how many seconds it deletes the pod.
///
/// `GetMatchingTolerations` takes, for each taint, the first toleration of the list that tolerates it; a taint that none
/// tolerates deletes the pod at once. `GetMinTolerationTime` reads no seconds, and the largest number, as for ever, and
/// anything below one as at once.
pub fn evicted_after(tolerations: &[Toleration], taint: &Taint) -> Seconds {
    match tolerations.iter().find(|toleration| tolerates(toleration, taint)) {
        None => 0,
        Some(Toleration { seconds: None, .. }) => FOR_EVER,
        Some(Toleration { seconds: Some(seconds), .. }) => (*seconds).max(0),
    }
}

/// What Kubernetes adds to every pod.
pub fn standard() -> Vec<Toleration> {
    let of = |key: &str, effect: &str| Toleration {
        key: key.to_owned(),
        operator: String::from("Exists"),
        value: String::new(),
        effect: effect.to_owned(),
        seconds: None,
    };
    vec![
        of("node.kubernetes.io/not-ready", "NoExecute"),
        of("node.kubernetes.io/unreachable", "NoExecute"),
        of("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ]
}

/// Every taint that could tell one of these lists from another: each key that occurs and one that does not, with each
/// value that occurs, both neighbours of each number, other spellings of it, the ends of the 64 bits, a number beyond
/// them, no value, a word that does not occur.
pub fn every_taint<'t>(lists: impl IntoIterator<Item = &'t [Toleration]>) -> Vec<Taint> {
    let all: Vec<&Toleration> = lists.into_iter().flatten().collect();
    let mut keys: BTreeSet<String> = all.iter().map(|toleration| toleration.key.clone()).collect();
    keys.insert(String::from("example.com/fresh"));
    let mut values: BTreeSet<String> =
        ["", "fresh", "0", "00", "9223372036854775807", "9223372036854775808"].map(str::to_owned).into();
    for toleration in &all {
        values.insert(toleration.value.clone());
        for near in -1..=1 {
            if let Some(number) = number(&toleration.value).and_then(|number| number.checked_add(near)) {
                values.extend([number.to_string(), format!("0{number}")]);
            }
        }
    }
    let mut taints = Vec::new();
    for key in keys.iter().filter(|key| is_key(key)) {
        for value in values.iter().filter(|value| is_value(value)) {
            taints.extend(EFFECTS.map(|effect| Taint {
                key: key.clone(),
                value: value.clone(),
                effect: effect.to_owned(),
            }));
        }
    }
    taints
}

/// A label value: letters and digits, and between them also `-`, `_` and `.`; or nothing.
pub fn is_value(text: &str) -> bool {
    let plain = |letter: Option<char>| letter.is_some_and(|letter| letter.is_ascii_alphanumeric());
    let letters = text.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_.".contains(letter));
    text.is_empty() || (text.len() <= 63 && letters && plain(text.chars().next()) && plain(text.chars().last()))
}

/// A label key: a name, perhaps behind a lower-case domain.
pub fn is_key(text: &str) -> bool {
    let (domain, name) = text.split_once('/').map_or((None, text), |(domain, name)| (Some(domain), name));
    let lower = |part: &str| is_value(part) && !part.is_empty() && !part.contains('_') && part == part.to_lowercase();
    domain.is_none_or(|domain| domain.split('.').all(lower)) && !name.is_empty() && is_value(name)
}
