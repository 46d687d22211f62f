//! What must be true of every verdict.

use placement_guard::kubernetes::field::{self, Field, Unreadable};
use placement_guard::kubernetes::node_selector::Labels;
use placement_guard::rules::cluster::NoCluster;
use placement_guard::rules::read_settings;
use placement_guard::rules::settings::Settings;
use placement_guard::verdict::{Verdict, check, examine};

use super::document::Document;
use super::seeds;

/// The settings with every section, as they are written and as they were read.
struct AllRules {
    document: Document,
    settings: Settings,
}

thread_local! {
    static ALL_RULES: AllRules = {
        let document = Document::from(seeds::all_rules());
        let settings = read(document.text()).unwrap_or_else(|error| panic!("{error}"));
        AllRules { document, settings }
    };
}

/// The settings with every section.
pub fn all_rules() -> Document {
    ALL_RULES.with(|all| all.document.clone())
}

fn read(settings: &str) -> Result<Settings, Unreadable> {
    read_settings(&Field::root("settings", &field::parse(settings.as_bytes())?))
}

/// The verdict on a request, as a program gets it that reads settings once. Without settings it is under all rules.
fn verdict(settings: Option<&str>, request: &str) -> Result<Verdict, String> {
    let Some(text) = settings else {
        return Ok(ALL_RULES.with(|all| examine(&all.settings, request, &NoCluster).0));
    };
    match read(text) {
        Ok(settings) => Ok(examine(&settings, request, &NoCluster).0),
        Err(unreadable) => {
            let verdict = check(text, request);
            if verdict.allowed || verdict.code != Some(422) {
                return Err(format!("settings cannot be used, {unreadable}, and the answer is {verdict:?}"));
            }
            Ok(verdict)
        }
    }
}

/// Asks for a verdict, and checks it. Whether settings and request could be read.
///
/// # Errors
/// What is wrong with it.
pub fn judge(settings: Option<&str>, request: &str) -> Result<bool, String> {
    let verdict = verdict(settings, request)?;
    check_verdict(&verdict)?;
    Ok(verdict.code != Some(422))
}

/// The same, and settings that are read for this request alone must make no difference.
///
/// # Errors
/// What is wrong or different.
pub fn judge_twice(settings: Option<&str>, request: &str) -> Result<(), String> {
    let once = verdict(settings, request)?;
    let again = match settings {
        Some(settings) => check(settings, request),
        None => check(all_rules().text(), request),
    };
    if once != again {
        return Err(format!("settings that were read before change the answer: {once:?} and {again:?}"));
    }
    check_verdict(&once)
}

/// Whether the order of node selector terms changes the decision: the same request, with and without its terms turned round.
///
/// # Errors
/// What is different.
pub fn judge_in_two_orders(settings: Option<&str>, request: &str, turned: &str) -> Result<(), String> {
    let [one, other] = [verdict(settings, request)?, verdict(settings, turned)?];
    let is_unfinished = |verdict: &Verdict| {
        verdict.findings.iter().any(|code| code == "request-too-large" || code == "node-affinity-undecided")
    };
    if is_unfinished(&one) || is_unfinished(&other) {
        return Ok(());
    }
    let relation = |verdict: &Verdict| verdict.annotations.get("relation").cloned();
    if (one.allowed, one.code, relation(&one)) != (other.allowed, other.code, relation(&other)) {
        return Err(format!("the order of terms changes the decision: {one:?} and {other:?}"));
    }
    Ok(())
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
