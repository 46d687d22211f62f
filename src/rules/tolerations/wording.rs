//! What the findings about tolerations say.

use k8s_openapi::api::core::v1::{Taint, Toleration};

use super::taint_space::Limit;
use crate::kubernetes::field::short;
use crate::kubernetes::listing::first_few_of;
use crate::kubernetes::toleration::{EFFECTS, FOR_EVER, Seconds, describe, describe_values, seconds, taint_text};
use crate::rules::STEPS;
use crate::rules::finding::{Code, Finding};

pub fn not_allowed<'p>(
    toleration: &Toleration,
    taint: &Taint,
    permitted: impl Iterator<Item = &'p Toleration>,
) -> Finding {
    let headline = format!("toleration not allowed: tolerates `{}`", taint_text(taint));
    Finding::new(Code::TolerationNotAllowed, headline).detail(allowed_for(taint, toleration, permitted))
}

/// What is allowed of the example's key, in words.
fn allowed_for<'p>(taint: &Taint, toleration: &Toleration, permitted: impl Iterator<Item = &'p Toleration>) -> String {
    const MOST: usize = 5;
    let of_key = permitted.filter(|permitted| permitted.key.as_ref().is_none_or(|key| *key == taint.key));
    let mut entries: Vec<String> = of_key
        .map(|permitted| {
            let effect = permitted.effect.as_deref().unwrap_or("every effect");
            format!("{} with {effect}", describe_values(permitted))
        })
        .collect();
    entries.dedup();
    let key = short(&taint.key, 120);
    match (entries.is_empty(), toleration.key.is_some()) {
        (false, _) => {
            format!("allowed for `{key}`: {}", first_few_of(entries.into_iter(), MOST, ", ", "more"))
        }
        (true, true) => format!("allowed for `{key}`: nothing"),
        (true, false) => format!("it has no key, so it tolerates every key; allowed for `{key}`: nothing"),
    }
}

/// `entry` is what denies the taint.
pub fn denied(taint: &Taint, entry: Option<&Toleration>) -> Finding {
    let headline = format!("toleration denied: tolerates `{}`, which no pod may tolerate", taint_text(taint));
    Finding::new(Code::TolerationDenied, headline).detail(denied_by(entry))
}

fn denied_by(entry: Option<&Toleration>) -> String {
    format!("denied: {}", entry.map(describe).unwrap_or_default())
}

pub fn stays_too_long(toleration: &Toleration, taint: &Taint, limit: Option<Limit>) -> Finding {
    let (limit, from_old) = limit.map_or((0, false), |limit| (limit.seconds, limit.from_old));
    let headline = format!(
        "toleration seconds exceeded: the pod stays {} on a node with `{}`, allowed: {}{}",
        duration(seconds(toleration)),
        taint_text(taint),
        duration(limit),
        if from_old { ", as before" } else { "" }
    );
    // The API server takes seconds with this effect alone.
    let no_execute = toleration.effect.as_deref() == Some("NoExecute");
    let effect = if no_execute { "" } else { ", with `effect: NoExecute`" };
    let mut finding = Finding::new(Code::TolerationSecondsExceeded, headline)
        .detail("if several tolerations match one taint, the first in the list decides how long the pod stays");
    if from_old {
        finding = finding.detail(format!("before this change the pod could stay {}", duration(limit)));
    }
    finding.detail(format!("accepted: `tolerationSeconds` of {limit} or less{effect}"))
}

pub fn admits_everything(effects: &[&str], path: &str) -> Finding {
    let effects = if effects.len() == EFFECTS.len() {
        String::from("every taint there is")
    } else {
        format!("every taint with effect {}", effects.join(" or "))
    };
    let headline = format!("tolerations admit everything: together they tolerate {effects}");
    Finding::new(Code::TolerationAdmitsEverything, headline).at(path, "")
}

pub fn admits_every_number(key: &str, effects: &[&str], path: &str) -> Finding {
    let headline = format!(
        "tolerations admit everything numeric: together they tolerate every numeric value of `{}` with {}",
        short(key, 120),
        effects.join(" or ")
    );
    Finding::new(Code::TolerationAdmitsEverything, headline)
        .at(path, "")
        .detail("this is not `Exists`: taint values that are not canonical numbers are not tolerated")
}

pub fn invalid_number(toleration: &Toleration) -> Finding {
    let value = toleration.value.as_deref().unwrap_or_default();
    let headline =
        format!("toleration with an invalid number: `{}` is not a canonical 64-bit integer", short(value, 80));
    Finding::new(Code::TolerationInvalidNumber, headline)
        .detail("accepted: decimal digits without leading zeros or a plus sign, such as `5` or `950`")
}

pub fn matches_nothing(toleration: &Toleration) -> Finding {
    let headline = format!("toleration matches nothing: no taint can match {}", describe(toleration));
    let reason = match toleration.operator.as_deref().unwrap_or_default() {
        "Gt" | "Lt" => "a taint's value is a label value, so as a number it is between 0 and 9223372036854775807",
        "" | "Equal" | "Exists" => {
            "a taint has a label key, a label value, and the effect `NoSchedule`, `PreferNoSchedule` or `NoExecute`"
        }
        _ => "its operator is not `Equal`, `Exists`, `Gt` or `Lt`",
    };
    Finding::new(Code::TolerationMatchesNothing, headline).detail(reason)
}

pub fn numeric_operator(toleration: &Toleration) -> Finding {
    let operator = toleration.operator.as_deref().unwrap_or_default();
    let key = short(toleration.key.as_deref().unwrap_or_default(), 120);
    let headline = format!("numeric operator disabled: `{operator}` in a toleration of `{key}`");
    Finding::new(Code::NumericOperatorDisabled, headline)
        .detail("`numericOperators: deny` is set: the cluster might not support `Gt` and `Lt`")
        .detail("accepted: `Equal` or `Exists`")
}

/// A node name where the settings allow every taint but no node name.
pub fn names_a_node(name: &str, path: &str) -> Finding {
    let headline =
        format!("node name skips taints: node `{}` gets the pod whatever its `NoSchedule` taints are", short(name, 63));
    Finding::new(Code::NodeNameSkipsTaints, headline).at(path, SKIPS).detail(ACCEPTED)
}

/// A node name with a taint that keeps the pod away no longer; `denied` is the entry that denies it, if one does.
pub fn names_a_node_with(name: &str, path: &str, taint: &Taint, denied: Option<&Toleration>) -> Finding {
    let headline = format!(
        "node name skips taints: node `{}` gets the pod even if it has the taint `{}`",
        short(name, 63),
        taint_text(taint)
    );
    let why = match denied {
        Some(entry) => denied_by(Some(entry)),
        None => String::from("the settings do not allow every `NoSchedule` and `PreferNoSchedule` taint"),
    };
    Finding::new(Code::NodeNameSkipsTaints, headline).at(path, SKIPS).detail(why).detail(ACCEPTED)
}

const SKIPS: &str = "a pod that names its node skips the scheduler, and the kubelet checks `NoExecute` taints only";

const ACCEPTED: &str =
    "accepted: no `nodeName`; use a node selector or node affinity, so that the scheduler chooses the node";

/// The budget was spent before the question behind this code was answered.
pub fn undecided(code: Code) -> Finding {
    let question = match code {
        Code::TolerationDenied => "it is denied",
        Code::TolerationSecondsExceeded => "this duration is allowed",
        Code::NodeNameSkipsTaints => "a node may be named",
        _ => "it is allowed",
    };
    let headline = format!("toleration not decided: could not decide within {STEPS} steps whether {question}");
    Finding::new(code, headline).detail("accepted: fewer tolerations")
}

fn duration(seconds: Seconds) -> String {
    match seconds {
        FOR_EVER => String::from("forever"),
        seconds => format!("{seconds} s"),
    }
}
