//! What is found in one list of tolerations, in the order in which it is reported.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Taint, Toleration};

use super::settings::Tolerations;
use super::taint_space::{Found, Lists, TaintSpace};
use super::wording;
use crate::kubernetes::toleration::{
    Comparison, comparison, describe, describe_values, is_numeric, taint_text, tolerates,
};
use crate::logic::{Budget, Exhausted};
use crate::rules::decision::{Annotation, Report};
use crate::rules::finding::{Code, Few, Finding};

/// Steps for a toleration that is remembered by its spelling, or looked up by it.
const SPELLING_STEPS: usize = 30;

/// One list of tolerations before the rule.
pub struct Judgement<'t> {
    rule: &'t Tolerations,
    lists: &'t Lists<'t>,
    space: &'t TaintSpace<'t>,
    /// Where the list is in the object.
    path: &'t str,
    /// The old tolerations by their [`spelling`].
    was_there: BTreeMap<String, String>,
}

impl<'t> Judgement<'t> {
    /// # Errors
    /// When there are more tolerations than the budget allows.
    pub fn new(
        rule: &'t Tolerations,
        lists: &'t Lists<'t>,
        space: &'t TaintSpace<'t>,
        path: &'t str,
        budget: &mut Budget,
    ) -> Result<Self, Exhausted> {
        let spelled = lists.old.len().saturating_add(lists.new.len());
        budget.spend(spelled.saturating_mul(SPELLING_STEPS))?;
        // Filled one by one: collecting would bring a sort of its own into the module.
        let mut was_there = BTreeMap::new();
        for toleration in lists.old {
            was_there.insert(spelling(toleration), String::new());
        }
        Ok(Judgement { rule, lists, space, path, was_there })
    }

    /// Reports everything that is found in the list itself.
    pub fn find(&self, report: &mut Report, budget: &mut Budget) {
        if self.rule.allowed.is_some() {
            let ask = &mut |position| self.space.not_permitted(position, budget);
            self.each(Code::TolerationNotAllowed, report, ask, Self::not_allowed);
        }
        self.each(Code::TolerationDenied, report, &mut |position| self.space.denied(position, budget), Self::denied);
        if self.rule.allowed.is_some() {
            let ask = &mut |position| self.space.stays_too_long(position, budget);
            self.each(Code::TolerationSecondsExceeded, report, ask, Self::stays_too_long);
        }
        let invalid = |_, toleration: &Toleration| matches!(comparison(toleration), Comparison::NotANumber(_));
        self.each_added(Code::TolerationInvalidNumber, report, &invalid, wording::invalid_number);
        let nothing = |position, toleration: &Toleration| {
            self.space.matches_nothing(position) && !matches!(comparison(toleration), Comparison::NotANumber(_))
        };
        self.each_added(Code::TolerationMatchesNothing, report, &nothing, wording::matches_nothing);
        self.admits_everything(report, budget);
        if !self.rule.numeric_operators {
            let numeric = |_, toleration: &Toleration| is_numeric(toleration);
            self.each_added(Code::NumericOperatorDisabled, report, &numeric, wording::numeric_operator);
        }
    }

    /// Reports a node name, at this path of the object: with it the pod reaches taints that nothing permits, or that are
    /// denied. Where the settings say nothing about taints, it is the name itself that they do not allow.
    pub fn names_a_node(&self, name: &str, path: &str, report: &mut Report, budget: &mut Budget) {
        let limited = self.rule.allowed.is_some();
        let not_permitted = if limited { self.space.skipped_and_not_permitted(budget) } else { Found::Nothing };
        let found = match not_permitted {
            Found::Nothing => self.space.skipped_and_denied(budget),
            found => found,
        };
        let finding = match found {
            Found::Nothing if limited => return,
            Found::Nothing => wording::names_a_node(name, path),
            Found::Undecided => wording::undecided(Code::NodeNameSkipsTaints).at(path, ""),
            Found::Taint(taint) => {
                report.annotate(Annotation::Taint, taint_text(&taint));
                let denied = self.lists.denied.iter().find(|entry| tolerates(entry, &taint));
                wording::names_a_node_with(name, path, &taint, denied)
            }
        };
        report.find(finding);
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
        for (position, toleration) in self.lists.new.iter().enumerate() {
            match ask(position) {
                Found::Nothing => {}
                Found::Undecided => few.push_with(|| self.at(position, toleration, wording::undecided(code))),
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
        for (position, toleration) in self.lists.new.iter().enumerate() {
            if holds(position, toleration) && !self.was_there.contains_key(&spelling(toleration)) {
                few.push_with(|| self.at(position, toleration, tell(toleration)));
            }
        }
        report.find_few(few);
    }

    fn few(&self, code: Code) -> Few {
        Few::new(code, format!("tolerations in {}", self.path))
    }

    /// The finding with the place of the toleration and what it says.
    fn at(&self, position: usize, toleration: &Toleration, mut finding: Finding) -> Finding {
        let admits = format!("{} admits {}", describe(toleration), describe_values(toleration));
        let why = std::mem::take(&mut finding.details);
        let located = finding.at(format!("{}[{position}]", self.path), &admits);
        why.into_iter().fold(located, Finding::detail)
    }

    fn not_allowed(&self, toleration: &Toleration, taint: &Taint) -> Finding {
        let standard = self.lists.standard;
        let permitted = self.lists.allowed.iter().chain(&standard.added).chain(&standard.defaults);
        wording::not_allowed(toleration, taint, permitted.map(|permitted| &permitted.toleration))
    }

    fn denied(&self, _: &Toleration, taint: &Taint) -> Finding {
        wording::denied(taint, self.lists.denied.iter().find(|entry| tolerates(entry, taint)))
    }

    fn stays_too_long(&self, toleration: &Toleration, taint: &Taint) -> Finding {
        wording::stays_too_long(toleration, taint, self.space.limit(taint))
    }

    fn admits_everything(&self, report: &mut Report, budget: &mut Budget) {
        let everything = self.space.everything(budget);
        if !everything.is_empty() {
            report.find(wording::admits_everything(&everything, self.path));
        }
        let mut few = self.few(Code::TolerationAdmitsEverything);
        for (key, effects) in self.space.every_number(budget) {
            few.push_with(|| wording::admits_every_number(key, &effects, self.path));
        }
        report.find_few(few);
    }
}

/// All that a toleration says but for how long.
fn spelling(toleration: &Toleration) -> String {
    let parts = [&toleration.key, &toleration.operator, &toleration.value, &toleration.effect];
    // Each part with its length, so that no two tolerations are spelled alike.
    let spelled = parts.map(|part| part.as_deref().map_or_else(String::new, |text| format!("{}:{text}", text.len())));
    spelled.join(",")
}
