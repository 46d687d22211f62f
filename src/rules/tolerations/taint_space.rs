//! Questions about lists of tolerations, asked of the algebra, with one taint as evidence.
//!
//! A taint is a point in key × value × effect and a toleration is a box, so every question is one of containment. Each
//! example is replayed through the plain matcher before it leaves this file.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Taint, Toleration};

use super::side::{Entry, Permitted, Side};
use super::standard::Standard;
use crate::kubernetes::toleration::{
    Comparison, EFFECTS, FOR_EVER, Seconds, TaintAxes, canonical_number, comparison, is_numeric, tolerates,
};
use crate::logic::{
    Budget, Condition, Conjunction, Containment, Domain, Exhausted, Facts, Outline, Space, Term, Union, contained,
};
use crate::rules::replay::replay;

/// An answer with its evidence.
#[derive(Debug, Clone, PartialEq)]
pub enum Found {
    Nothing,
    Taint(Taint),
    /// The budget was spent before the answer was known.
    Undecided,
}

/// The lists of one decision.
pub struct Lists<'t> {
    pub new: &'t [Toleration],
    /// What was there before an UPDATE: it is permitted, each taint with its own old wait as the limit.
    pub old: &'t [Toleration],
    /// What the settings permit.
    pub allowed: &'t [Permitted],
    /// What Kubernetes itself adds.
    pub standard: &'t Standard,
    pub denied: &'t [Toleration],
}

/// The limit of how long a pod may stay, and where it comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    pub seconds: Seconds,
    /// Only the old object gives as much.
    pub from_old: bool,
}

/// The tolerations of one decision in one space.
pub struct TaintSpace<'t> {
    axes: TaintAxes,
    space: Space<'t>,
    new: Side<'t>,
    old: Side<'t>,
    /// What the settings permit, and what Kubernetes adds without a limit of seconds.
    permitted: Side<'t>,
    /// What Kubernetes adds with a limit that only counts where the settings admit the taint.
    defaults: Side<'t>,
    denied: Side<'t>,
}

impl<'t> TaintSpace<'t> {
    /// # Errors
    /// When there are more tolerations than the budget allows.
    pub fn new(lists: &Lists<'t>, budget: &mut Budget) -> Result<Self, Exhausted> {
        let of_pod = |list: &'t [Toleration]| list.iter().map(Entry::of_pod).collect::<Vec<_>>();
        let of_settings = |list: &'t [Permitted]| list.iter().map(Entry::of_settings);
        let sides = [
            of_pod(lists.new),
            of_pod(lists.old),
            of_settings(lists.allowed).chain(of_settings(&lists.standard.added)).collect(),
            of_settings(&lists.standard.defaults).collect(),
            of_pod(lists.denied),
        ];
        let mut outline = Outline::default();
        let axes = TaintAxes::of(&mut outline);
        for side in &sides {
            budget.spend(side.len().saturating_mul(BOX_STEPS))?;
            for entry in side {
                axes.term(entry.toleration).iter().for_each(|term| outline.mention(term));
            }
        }
        outline.mention(&vec![(axes.value, EVERY_NUMBER)]);
        let space = outline.cut(budget)?;
        let [new, old, permitted, defaults, denied] = sides;
        let mut side = |entries| Side::of(entries, &axes, &space, budget);
        let (new, old, denied) = (side(new)?, side(old)?, side(denied)?);
        let (permitted, defaults) = (side(permitted)?, side(defaults)?);
        Ok(TaintSpace { axes, space, new, old, permitted, defaults, denied })
    }

    /// Whether no taint at all meets the new toleration at this position.
    pub fn matches_nothing(&self, position: usize) -> bool {
        self.new.get(position).is_none()
    }

    /// A taint that the new toleration at this position tolerates and nothing permits.
    pub fn not_permitted(&self, position: usize, budget: &mut Budget) -> Found {
        let Some(mine) = self.new.get(position) else { return Found::Nothing };
        let claim = |taint: &Taint| self.is_tolerated_at(position, taint) && !self.is_permitted(taint);
        self.try_not_permitted(mine, budget, &claim).unwrap_or(Found::Undecided)
    }

    fn try_not_permitted(
        &self,
        mine: &Conjunction,
        budget: &mut Budget,
        claim: &dyn Fn(&Taint) -> bool,
    ) -> Result<Found, Exhausted> {
        let permitted = self.permitted.all_near(mine, budget)?.or(&self.defaults.all_near(mine, budget)?, budget)?;
        let outside = permitted.or(&self.old.all_near(mine, budget)?, budget)?;
        self.escape(&only(mine), &outside, budget, claim)
    }

    fn is_permitted(&self, taint: &Taint) -> bool {
        [&self.permitted, &self.defaults, &self.old].into_iter().any(|side| side.tolerates(taint))
    }

    /// A taint that the new toleration at this position tolerates, that is denied, and that was not tolerated before.
    pub fn denied(&self, position: usize, budget: &mut Budget) -> Found {
        let Some(mine) = self.new.get(position) else { return Found::Nothing };
        let claim = |taint: &Taint| self.is_tolerated_at(position, taint) && self.is_newly_denied(taint);
        self.try_denied(mine, budget, &claim).unwrap_or(Found::Undecided)
    }

    fn try_denied(
        &self,
        mine: &Conjunction,
        budget: &mut Budget,
        claim: &dyn Fn(&Taint) -> bool,
    ) -> Result<Found, Exhausted> {
        let both = self.denied.all_near(mine, budget)?.and(&only(mine), &self.space, budget)?;
        if both.is_empty() {
            return Ok(Found::Nothing);
        }
        let old = self.old.all_near(mine, budget)?;
        self.escape(&both, &old, budget, claim)
    }

    fn is_newly_denied(&self, taint: &Taint) -> bool {
        self.denied.tolerates(taint) && !self.old.tolerates(taint)
    }

    /// A taint that keeps no pod away whose node is named, and that nothing permits.
    pub fn skipped_and_not_permitted(&self, budget: &mut Budget) -> Found {
        self.skipped(budget, &|taint| !self.is_permitted(taint), Self::try_not_permitted)
    }

    /// A taint that keeps no pod away whose node is named, that is denied, and that was not tolerated before.
    pub fn skipped_and_denied(&self, budget: &mut Budget) -> Found {
        self.skipped(budget, &|taint| self.is_newly_denied(taint), Self::try_denied)
    }

    fn skipped(&self, budget: &mut Budget, claim: &dyn Fn(&Taint) -> bool, ask: Ask<'t>) -> Found {
        let claim = |taint: &Taint| SKIPPED.contains(&taint.effect.as_str()) && claim(taint);
        let effects = SKIPPED.to_vec();
        let Some(skipped) = self.space.conjunction(&vec![(self.axes.effect, Condition::In(effects))]) else {
            return Found::Undecided;
        };
        // The taint that everyone knows tells more than one that the algebra makes up.
        let known = SKIPPED.map(|effect| Taint {
            key: String::from("node-role.kubernetes.io/control-plane"),
            effect: effect.to_owned(),
            ..Taint::default()
        });
        if let Some(known) = known.into_iter().find(|known| claim(known)) {
            return Found::Taint(known);
        }
        ask(self, &skipped, budget, &claim).unwrap_or(Found::Undecided)
    }

    /// A permitted `NoExecute` taint for which the new toleration at this position decides how long the pod stays, and
    /// decides for longer than permitted.
    pub fn stays_too_long(&self, position: usize, budget: &mut Budget) -> Found {
        self.try_stays_too_long(position, budget).unwrap_or(Found::Undecided)
    }

    fn try_stays_too_long(&self, position: usize, budget: &mut Budget) -> Result<Found, Exhausted> {
        let evicting = self.space.conjunction(&vec![(self.axes.effect, Condition::In(vec!["NoExecute"]))]);
        let mine = self.new.get(position).zip(evicting);
        let here = mine.and_then(|(mine, evicting)| mine.intersection(&evicting, &self.space));
        let stays = self.new.stays(position).unwrap_or_default();
        let (Some(here), true) = (here, stays > 0) else { return Ok(Found::Nothing) };
        let permits_it = |entry: usize| self.permitted.stays(entry).is_some_and(|limit| limit >= stays);
        let low = self.permitted.near(&here, &|entry| !permits_it(entry), budget)?;
        let low = low.and(&only(&here), &self.space, budget)?;
        let stayed_less = |entry: usize| self.old.stays(entry).is_some_and(|old| old < stays);
        let old = self.old.touching(&here, &stayed_less, budget)?;
        if low.is_empty() && old.is_empty() {
            return Ok(Found::Nothing);
        }
        let high = self.permitted.near(&here, &permits_it, budget)?;
        let high = high.or(&self.new.near(&here, &|entry| entry < position, budget)?, budget)?;
        // A default permits so long for all its taints, or for those alone that the settings do not admit.
        let defaults_permit_it = |entry: usize| self.defaults.stays(entry).is_some_and(|limit| limit >= stays);
        let high = high.or(&self.defaults.near(&here, &defaults_permit_it, budget)?, budget)?;
        let defaults = self.defaults.all_near(&here, budget)?;
        let claim = |taint: &Taint| {
            self.new.first(taint).is_some_and(|(first, _)| first == position)
                && self.limit(taint).is_some_and(|limit| stays > limit.seconds)
        };
        // Taints that the settings admit for less, and that were not tolerated before.
        let outside = high.or(&self.old.all_near(&here, budget)?, budget)?;
        let found = self.escape(&low, &outside, budget, &claim)?;
        if found != Found::Nothing {
            return Ok(found);
        }
        // Taints for which an old toleration decided, for less.
        for (entry, old) in old {
            let outside = high.or(&self.old.near(&here, &|earlier| earlier < entry, budget)?, budget)?;
            let inside = only(old).and(&only(&here), &self.space, budget)?;
            let admitted_for_less = inside.and(&low, &self.space, budget)?;
            let all_permitted = outside.or(&defaults, budget)?;
            // Where the settings admit them for less, and where nothing but the old list permits them.
            for (inside, outside) in [(admitted_for_less, &outside), (inside, &all_permitted)] {
                let found = self.escape(&inside, outside, budget, &claim)?;
                if found != Found::Nothing {
                    return Ok(found);
                }
            }
        }
        Ok(Found::Nothing)
    }

    /// How long a pod may stay once this taint is there; `None` when nothing permits it.
    pub fn limit(&self, taint: &Taint) -> Option<Limit> {
        let written = self.permitted.most(taint);
        let default = self.defaults.most(taint).map(|least| if written.is_some() { least } else { FOR_EVER });
        let by_rule = written.max(default);
        let before = self.old.first(taint).map(|(_, stayed)| stayed);
        let seconds = by_rule.max(before)?;
        Some(Limit { seconds, from_old: by_rule < before })
    }

    /// The effects for which the pod's tolerations together tolerate every taint, and did not before.
    pub fn everything(&self, budget: &mut Budget) -> Vec<&'static str> {
        let effects = EFFECTS.into_iter().filter(|effect| {
            let all = vec![(self.axes.effect, Condition::In(vec![effect]))];
            self.newly_covers(&all, budget)
        });
        effects.collect()
    }

    /// The keys, and for each the effects, for which the pod's tolerations together tolerate every number, though not
    /// every value, and did not before. Keys with `Exists` do not count: `Exists` already says that it means
    /// everything.
    pub fn every_number(&self, budget: &mut Budget) -> Vec<(&'t str, Vec<&'static str>)> {
        let mut seen: BTreeMap<&str, u32> = BTreeMap::new();
        let numeric = self.new.entries.iter().map(|entry| entry.toleration).filter(|entry| is_numeric(entry));
        let keys = numeric.filter_map(|toleration| toleration.key.as_deref());
        let found = keys.filter(|key| seen.insert(key, 0).is_none()).map(|key| {
            let effects = EFFECTS.into_iter().filter(|effect| {
                let mut term =
                    vec![(self.axes.key, Condition::In(vec![key])), (self.axes.effect, Condition::In(vec![effect]))];
                let all = self.space.conjunction(&term);
                term.push((self.axes.value, EVERY_NUMBER));
                self.newly_covers(&term, budget) && !all.is_some_and(|all| self.covers(&all, &self.new, budget))
            });
            (key, effects.collect::<Vec<&'static str>>())
        });
        found.filter(|(_, effects)| !effects.is_empty()).collect()
    }

    fn newly_covers(&self, term: &Term<'_>, budget: &mut Budget) -> bool {
        self.space
            .conjunction(term)
            .is_some_and(|all| self.covers(&all, &self.new, budget) && !self.covers(&all, &self.old, budget))
    }

    /// Whether the tolerations of a list together are known to tolerate all these taints.
    fn covers(&self, taints: &Conjunction, list: &Side<'_>, budget: &mut Budget) -> bool {
        let union = list.all_near(taints, budget);
        union.is_ok_and(|union| self.contained(&only(taints), &union, budget) == Containment::Contained)
    }

    fn is_tolerated_at(&self, position: usize, taint: &Taint) -> bool {
        self.new.entries.get(position).is_some_and(|entry| tolerates(entry.toleration, taint))
    }

    fn contained(&self, inside: &Union, outside: &Union, budget: &mut Budget) -> Containment {
        contained(&self.space, inside, outside, &Facts::default(), budget)
    }

    /// A taint of `inside` that is not in `outside`. One that the plain matcher does not confirm is a mistake of ours, and
    /// no answer.
    fn escape(
        &self,
        inside: &Union,
        outside: &Union,
        budget: &mut Budget,
        claim: &dyn Fn(&Taint) -> bool,
    ) -> Result<Found, Exhausted> {
        Ok(match self.contained(inside, outside, budget) {
            Containment::Contained => Found::Nothing,
            Containment::Undecided => Found::Undecided,
            Containment::Escapes(point) => {
                // Every list is checked, for the example and for each value that could appear in it.
                budget.spend(self.sides().map(|side| side.entries.len().saturating_mul(CLAIM_STEPS)).sum())?;
                let claim = |taint: &Taint| is_valid(taint) && claim(taint);
                let taint = self.axes.taint(&self.space, &point).and_then(|taint| replay(taint, claim));
                taint.map_or(Found::Undecided, |taint| Found::Taint(self.plain(taint, &claim)))
            }
        })
    }

    fn sides(&self) -> impl Iterator<Item = &Side<'t>> {
        [&self.new, &self.old, &self.permitted, &self.defaults, &self.denied].into_iter()
    }

    /// The same example with a value that says nothing of its own where that shows the same: the algebra takes any value of
    /// its class, which may be one that an entry about another key names.
    fn plain(&self, taint: Taint, claim: &dyn Fn(&Taint) -> bool) -> Taint {
        let Some(value) = taint.value.as_deref() else { return taint };
        let number = canonical_number(value).map(|number| self.lowest_alike(&taint.key, number).to_string());
        let values = [None, number, Domain::Text.words().nth(1)];
        let plainer = values.into_iter().map(|value| Taint { value, ..taint.clone() }).find(|plain| claim(plain));
        plainer.unwrap_or(taint)
    }

    /// The lowest number that no entry about this key tells from this one.
    fn lowest_alike(&self, key: &str, number: i64) -> i64 {
        let entries = self.sides().flat_map(|side| &side.entries).map(|entry| entry.toleration);
        let cuts =
            entries.filter(|entry| entry.key.as_deref() == Some(key)).filter_map(|entry| match comparison(entry) {
                Comparison::Above(bound) => bound.checked_add(1),
                Comparison::Below(bound) => Some(bound),
                Comparison::Equal(text) => canonical_number(text)
                    .filter(|named| *named <= number)
                    .map(|named| named.saturating_add(1).min(number)),
                _ => None,
            });
        cuts.filter(|cut| *cut <= number).max().unwrap_or_default().max(0)
    }
}

/// A question about a box of taints, whose answer is claimed of the example.
type Ask<'t> = fn(&TaintSpace<'t>, &Conjunction, &mut Budget, &dyn Fn(&Taint) -> bool) -> Result<Found, Exhausted>;

fn is_valid(taint: &Taint) -> bool {
    Domain::Name.contains(&taint.key) && Domain::Text.contains(taint.value.as_deref().unwrap_or_default())
}

fn only(taints: &Conjunction) -> Union {
    taints.clone().into()
}

/// The effects that only the scheduler looks at.
const SKIPPED: [&str; 2] = ["NoSchedule", "PreferNoSchedule"];

/// Steps for one toleration that becomes a box.
const BOX_STEPS: usize = 60;

/// Steps for one toleration that the plain matcher compares with an example and with the values that could appear in it.
const CLAIM_STEPS: usize = 2;

/// A taint's number is never negative: its value is a label value.
const EVERY_NUMBER: Condition<'static> = Condition::Above(-1);

#[cfg(test)]
mod tests {
    use super::*;

    fn exists(key: &str) -> Toleration {
        let (key, operator) = (Some(key.to_owned()), Some(String::from("Exists")));
        Toleration { key, operator, ..Toleration::default() }
    }

    /// What the search finds is an answer only where the plain matcher agrees.
    #[test]
    fn an_example_that_the_matcher_does_not_confirm_is_no_answer() {
        let (new, standard) = ([exists("k")], Standard::default());
        let lists = Lists { new: &new, old: &[], allowed: &[], standard: &standard, denied: &[] };
        let budget = &mut Budget::of(10_000);
        let space = TaintSpace::new(&lists, budget).expect("one toleration is within the budget");
        let everything = Union::everything();
        let mut ask = |claim: &dyn Fn(&Taint) -> bool| space.escape(&everything, &Union::default(), budget, claim);
        assert_eq!(ask(&|_| false), Ok(Found::Undecided));
        assert!(matches!(ask(&|_| true), Ok(Found::Taint(_))));
    }
}
