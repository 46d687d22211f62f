//! `tolerations`: which taints a pod may tolerate, and for how long.
//!
//! The tolerations of a pod, or of the template of any workload, are a union of boxes in key × value × effect; what is
//! allowed is another. Compared are the two sets, not their spelling. On an UPDATE only what was added is judged: the old
//! list is permitted, each taint for as long as it was.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Taint, Toleration};

mod standard;
mod taint_space;

use self::standard::{is_mirror_pod, standard};
use self::taint_space::{Found, Permitted, TaintSpace};
use crate::kubernetes::field::{Field, Unreadable, short};
use crate::kubernetes::pod::{PodTemplate, has_pod, with_pod};
use crate::kubernetes::request::Request;
use crate::kubernetes::toleration::{
    Comparison, EFFECTS, FOR_EVER, Seconds, comparison, describe, describe_values, is_numeric, read_toleration,
    read_tolerations, seconds, taint_text, tolerates,
};
use crate::logic::{Budget, Domain};
use crate::rules::STEPS;
use crate::rules::decision::{Annotation, Report};
use crate::rules::finding::{Code, Few, Finding};
use crate::rules::rule::{Rule, Stopped};
use crate::rules::section::{choice, only_keys};

/// The section's settings.
#[derive(Debug)]
pub struct Tolerations {
    allowed: Option<Vec<Permitted>>,
    denied: Vec<Toleration>,
    standard: bool,
    numeric_operators: bool,
}

impl Tolerations {
    /// # Errors
    /// Whatever is not exactly understood, and entries that the API server would refuse as a toleration.
    pub fn read(section: &Field<'_, '_>) -> Result<Self, Unreadable> {
        only_keys(section, &["allowed", "denied", "standard", "numericOperators"])?;
        let allowed = section.get("allowed")?;
        let denied = section.get("denied")?;
        let entries: Result<Vec<Permitted>, Unreadable> = allowed.items()?.map(|item| read_allowed(&item)).collect();
        let numeric = choice(&section.get("numericOperators")?, &[("allow", true), ("deny", false)])?;
        Ok(Tolerations {
            allowed: if allowed.is_present() { Some(entries?) } else { None },
            denied: denied.items()?.map(|item| read_entry(&item, &[])).collect::<Result<_, _>>()?,
            standard: section.get("standard")?.boolean()?.unwrap_or(true),
            numeric_operators: numeric.unwrap_or(true),
        })
    }
}

fn read_allowed(item: &Field<'_, '_>) -> Result<Permitted, Unreadable> {
    let toleration = read_entry(item, &["maxTolerationSeconds"])?;
    let most = item.get("maxTolerationSeconds")?;
    let limit = match most.integer()? {
        Some(seconds) if seconds < 0 => return Err(most.unacceptable("0 or more seconds")),
        limit => limit.unwrap_or(FOR_EVER),
    };
    Ok(Permitted { toleration, limit })
}

/// An entry of the settings: a toleration that the API server would accept (`ValidateTolerations`).
fn read_entry(item: &Field<'_, '_>, more_keys: &[&str]) -> Result<Toleration, Unreadable> {
    if !item.is_present() {
        return Err(item.unreadable("is missing; must be a toleration"));
    }
    item.only(&[&["key", "operator", "value", "effect"], more_keys].concat())?;
    let toleration = read_toleration(item)?;
    let (key, operator) = (item.get("key")?, item.get("operator")?);
    let (value, effect) = (item.get("value")?, item.get("effect")?);
    match toleration.key.as_deref() {
        None if toleration.operator.as_deref() != Some("Exists") => {
            return Err(operator.unacceptable("`Exists` where there is no key, which means every taint"));
        }
        Some(name) if !Domain::Name.contains(name) => return Err(key.unacceptable("a label key")),
        _ => {}
    }
    if toleration.effect.as_deref().is_some_and(|name| !EFFECTS.contains(&name)) {
        return Err(effect.unacceptable("`NoSchedule`, `PreferNoSchedule` or `NoExecute`, or absent for all of them"));
    }
    match comparison(&toleration) {
        Comparison::Any if toleration.value.is_some() => {
            Err(value.unacceptable("absent where the operator is `Exists`"))
        }
        Comparison::Equal(text) if !Domain::Text.contains(text) => Err(value.unacceptable("a label value")),
        Comparison::NoNumber(_) => Err(value.unacceptable("an integer of 64 bits without leading zeros, as a string")),
        Comparison::Unknown(_) => Err(operator.unacceptable("`Equal`, `Exists`, `Gt` or `Lt`")),
        _ => Ok(toleration),
    }
}

/// A list of tolerations, with its path and with what Kubernetes itself may have added to it.
struct Listed {
    tolerations: Vec<Toleration>,
    path: String,
    standard: Vec<Permitted>,
    is_mirror: bool,
}

impl Listed {
    fn read(request: &Request<'_, '_>, pod: &PodTemplate<'_, '_>) -> Result<Self, Unreadable> {
        let list = pod.spec.get("tolerations")?;
        Ok(Listed {
            tolerations: read_tolerations(&list)?,
            path: list.path_in_object(),
            standard: standard(request, &pod.metadata, &pod.spec)?,
            is_mirror: request.kind == "Pod" && is_mirror_pod(request, &pod.metadata)?,
        })
    }
}

impl Rule for Tolerations {
    fn judge(&self, request: &Request<'_, '_>, budget: &mut Budget, report: &mut Report) -> Result<(), Stopped> {
        if !request.stores() || request.sub_resource.is_some() || !has_pod(request.group, request.kind) {
            return Ok(());
        }
        let read =
            |object: &Field<'_, '_>| with_pod(object, request.group, request.kind, |pod| Listed::read(request, pod));
        let Some(new) = read(request.new_state()?)? else { return Ok(()) };
        let old = match request.old_state()? {
            Some(object) => read(object)?.map(|old| old.tolerations).unwrap_or_default(),
            None => Vec::new(),
        };
        if new.is_mirror || new.tolerations == old {
            return Ok(());
        }
        let standard = if self.standard { new.standard.as_slice() } else { &[] };
        let permitted: Vec<Permitted> = self.allowed.iter().flatten().chain(standard).cloned().collect();
        // Filled one by one: collecting would bring a sort of its own into the module.
        let mut stood_there = BTreeMap::new();
        for toleration in &old {
            stood_there.insert(spelling(toleration), String::new());
        }
        let judgement = Judgement {
            rule: self,
            space: TaintSpace::new(&new.tolerations, &old, &permitted, &self.denied, budget)?,
            permitted: &permitted,
            new: &new,
            stood_there,
        };
        judgement.find(report, budget);
        Ok(())
    }
}

/// One list of tolerations before the rule.
struct Judgement<'t> {
    rule: &'t Tolerations,
    space: TaintSpace<'t>,
    permitted: &'t [Permitted],
    new: &'t Listed,
    /// The old tolerations by their [`spelling`].
    stood_there: BTreeMap<String, String>,
}

impl Judgement<'_> {
    fn find(&self, report: &mut Report, budget: &mut Budget) {
        if self.rule.allowed.is_some() {
            let ask = &mut |position| self.space.not_permitted(position, budget);
            self.each(Code::TolerationNotAllowed, report, ask, Self::not_allowed);
        }
        self.each(Code::TolerationDenied, report, &mut |position| self.space.denied(position, budget), Self::denied);
        if self.rule.allowed.is_some() {
            let ask = &mut |position| self.space.stays_too_long(position, budget);
            self.each(Code::TolerationSecondsExceeded, report, ask, Self::stays_too_long);
        }
        let invalid = |_, toleration: &Toleration| matches!(comparison(toleration), Comparison::NoNumber(_));
        self.each_added(Code::TolerationInvalidNumber, report, &invalid, invalid_number);
        let nothing = |position, toleration: &Toleration| {
            self.space.matches_nothing(position) && !matches!(comparison(toleration), Comparison::NoNumber(_))
        };
        self.each_added(Code::TolerationMatchesNothing, report, &nothing, matches_nothing);
        self.admits_everything(report, budget);
        if !self.rule.numeric_operators {
            let numeric = |_, toleration: &Toleration| is_numeric(toleration);
            self.each_added(Code::NumericOperatorDisabled, report, &numeric, numeric_operator);
        }
    }

    /// Asks of each toleration, by its position, and reports what it has with the taint that shows it.
    fn each(
        &self,
        code: Code,
        report: &mut Report,
        ask: &mut dyn FnMut(usize) -> Found,
        tell: fn(&Self, &Toleration, &Taint) -> Finding,
    ) {
        let mut few = self.few(code);
        for (position, toleration) in self.new.tolerations.iter().enumerate() {
            match ask(position) {
                Found::Nothing => {}
                Found::Undecided => few.push_with(|| self.at(position, toleration, undecided(code))),
                Found::Taint(taint) => few.push_with(|| {
                    report.annotate(Annotation::Taint, taint_text(&taint));
                    self.at(position, toleration, tell(self, toleration, &taint))
                }),
            }
        }
        report.find_few(few);
    }

    /// Reports the tolerations of which something holds, unless they were there before, whatever their seconds.
    fn each_added(
        &self,
        code: Code,
        report: &mut Report,
        holds: &dyn Fn(usize, &Toleration) -> bool,
        tell: fn(&Toleration) -> Finding,
    ) {
        let mut few = self.few(code);
        for (position, toleration) in self.new.tolerations.iter().enumerate() {
            if holds(position, toleration) && !self.stood_there.contains_key(&spelling(toleration)) {
                few.push_with(|| self.at(position, toleration, tell(toleration)));
            }
        }
        report.find_few(few);
    }

    fn few(&self, code: Code) -> Few {
        Few::new(code, format!("tolerations in {}", self.new.path))
    }

    /// The finding with the place of the toleration and what it says.
    fn at(&self, position: usize, toleration: &Toleration, mut finding: Finding) -> Finding {
        let admits = format!("{} admits {}", describe(toleration), describe_values(toleration));
        finding.details.insert(0, format!("{}[{position}]: {admits}", self.new.path));
        finding
    }

    fn not_allowed(&self, toleration: &Toleration, taint: &Taint) -> Finding {
        let headline = format!("toleration not allowed: tolerates `{}`", taint_text(taint));
        Finding::new(Code::TolerationNotAllowed, headline).detail(self.allowed_for(taint, toleration))
    }

    /// What is allowed of the example's key, in words.
    fn allowed_for(&self, taint: &Taint, toleration: &Toleration) -> String {
        const MOST: usize = 5;
        let of_key = |permitted: &&Permitted| permitted.toleration.key.as_ref().is_none_or(|key| *key == taint.key);
        let mut entries: Vec<String> = self
            .permitted
            .iter()
            .filter(of_key)
            .map(|permitted| {
                let effect = permitted.toleration.effect.as_deref().unwrap_or("every effect");
                format!("{} with {effect}", describe_values(&permitted.toleration))
            })
            .collect();
        entries.dedup();
        let more = entries.len().saturating_sub(MOST);
        entries.truncate(MOST);
        if more > 0 {
            entries.push(format!("+{more} more"));
        }
        let key = short(&taint.key, 120);
        match (entries.is_empty(), toleration.key.is_some()) {
            (false, _) => format!("allowed for `{key}`: {}", entries.join(", ")),
            (true, true) => format!("allowed for `{key}`: nothing"),
            (true, false) => format!("it names no key and so tolerates every key; allowed for `{key}`: nothing"),
        }
    }

    fn denied(&self, _: &Toleration, taint: &Taint) -> Finding {
        let headline = format!("toleration denied: tolerates `{}`, which nobody may", taint_text(taint));
        let entry = self.rule.denied.iter().find(|entry| tolerates(entry, taint)).map(describe);
        Finding::new(Code::TolerationDenied, headline).detail(format!("denied: {}", entry.unwrap_or_default()))
    }

    fn stays_too_long(&self, toleration: &Toleration, taint: &Taint) -> Finding {
        let limit = self.space.limit(taint).unwrap_or_default();
        let headline = format!(
            "toleration seconds exceeded: may stay {} once `{}` is there, allowed: {}",
            duration(seconds(toleration)),
            taint_text(taint),
            duration(limit)
        );
        // The API server takes seconds beside this effect alone.
        let no_execute = toleration.effect.as_deref() == Some("NoExecute");
        let beside = if no_execute { "" } else { ", beside `effect: NoExecute`" };
        Finding::new(Code::TolerationSecondsExceeded, headline)
            .detail("of several tolerations of one taint the first in the list decides how long the pod stays")
            .detail(format!("accepted: `tolerationSeconds` of {limit} or less{beside}"))
    }

    fn admits_everything(&self, report: &mut Report, budget: &mut Budget) {
        let everything = self.space.everything(budget);
        let path = &self.new.path;
        if !everything.is_empty() {
            let effects = if everything.len() == EFFECTS.len() {
                String::from("every taint there is")
            } else {
                format!("every taint with effect {}", everything.join(" or "))
            };
            let headline = format!("tolerations admit everything: together they tolerate {effects}");
            report.find(Finding::new(Code::TolerationAdmitsEverything, headline).detail(path.clone()));
        }
        let mut few = self.few(Code::TolerationAdmitsEverything);
        for (key, effects) in self.space.every_number(budget) {
            few.push_with(|| {
                let headline = format!(
                    "tolerations admit everything numeric: together they tolerate every number of `{}` with {}",
                    short(key, 120),
                    effects.join(" or ")
                );
                Finding::new(Code::TolerationAdmitsEverything, headline)
                    .detail(path.clone())
                    .detail("this is not `Exists`: taint values that are no canonical numbers are not tolerated")
            });
        }
        report.find_few(few);
    }
}

fn invalid_number(toleration: &Toleration) -> Finding {
    let value = toleration.value.as_deref().unwrap_or_default();
    let headline =
        format!("toleration with an invalid number: `{}` is no canonical integer of 64 bits", short(value, 80));
    Finding::new(Code::TolerationInvalidNumber, headline)
        .detail("accepted: decimal digits without leading zeros or a plus sign, such as `5` or `950`")
}

fn matches_nothing(toleration: &Toleration) -> Finding {
    let headline = format!("toleration matches nothing: no taint can meet {}", describe(toleration));
    let reason = match toleration.operator.as_deref().unwrap_or_default() {
        "Gt" | "Lt" => "a taint's value is a label value: as a number it lies between 0 and 9223372036854775807",
        "" | "Equal" | "Exists" => "a taint has a label key, a label value and one of the effects that there are",
        _ => "its operator is none of `Equal`, `Exists`, `Gt` or `Lt`",
    };
    Finding::new(Code::TolerationMatchesNothing, headline).detail(reason)
}

fn numeric_operator(toleration: &Toleration) -> Finding {
    let operator = toleration.operator.as_deref().unwrap_or_default();
    let key = short(toleration.key.as_deref().unwrap_or_default(), 120);
    let headline = format!("numeric operator disabled: `{operator}` in a toleration of `{key}`");
    Finding::new(Code::NumericOperatorDisabled, headline)
        .detail("`numericOperators: deny` is set: the cluster may not understand `Gt` and `Lt`")
        .detail("accepted: `Equal` or `Exists`")
}

/// All that a toleration says but for how long.
fn spelling(toleration: &Toleration) -> String {
    let parts = [&toleration.key, &toleration.operator, &toleration.value, &toleration.effect];
    // Each part with its length, so that no two tolerations are spelled alike.
    let spelled = parts.map(|part| part.as_deref().map_or_else(String::new, |text| format!("{}:{text}", text.len())));
    spelled.join(",")
}

fn undecided(code: Code) -> Finding {
    let question = match code {
        Code::TolerationDenied => "denied",
        Code::TolerationSecondsExceeded => "allowed for so long",
        _ => "allowed",
    };
    Finding::new(code, format!("toleration not decided: whether it is {question} is not known after {STEPS} steps"))
        .detail("accepted: fewer tolerations")
}

fn duration(seconds: Seconds) -> String {
    match seconds {
        FOR_EVER => String::from("for ever"),
        seconds => format!("{seconds} s"),
    }
}
