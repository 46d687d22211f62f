//! Questions about lists of tolerations, asked of the algebra, with one taint as evidence.
//!
//! A taint is a point in key × value × effect and a toleration is a box, so every question is one of containment. Each
//! example is replayed through the plain matcher before it leaves this file.

use k8s_openapi::api::core::v1::{Taint, Toleration};

use crate::kubernetes::toleration::{EFFECTS, Seconds, TaintAxes, seconds, tolerates, wait};
use crate::logic::{Budget, Condition, Containment, Domain, Exhausted, Facts, Outline, Space, Term, Union, contained};

/// A toleration that settings or Kubernetes itself permit, and how long a pod may then stay.
#[derive(Debug, Clone, PartialEq)]
pub struct Permitted {
    pub toleration: Toleration,
    pub limit: Seconds,
}

/// An answer with its evidence.
#[derive(Debug, Clone, PartialEq)]
pub enum Found {
    Nothing,
    Taint(Taint),
    /// The budget was spent before the answer was known.
    Undecided,
}

/// The tolerations of one decision in one space.
pub struct TaintSpace<'t> {
    axes: TaintAxes,
    space: Space<'t>,
    new: &'t [Toleration],
    old: &'t [Toleration],
    permitted: &'t [Permitted],
    denied: &'t [Toleration],
}

impl<'t> TaintSpace<'t> {
    /// `old` is what stood there before an UPDATE: it is permitted, each taint with its own old wait as the limit.
    pub fn new(
        new: &'t [Toleration],
        old: &'t [Toleration],
        permitted: &'t [Permitted],
        denied: &'t [Toleration],
    ) -> Self {
        let mut outline = Outline::default();
        let axes = TaintAxes::of(&mut outline);
        let permitted_tolerations = permitted.iter().map(|permitted| &permitted.toleration);
        for toleration in new.iter().chain(old).chain(denied).chain(permitted_tolerations) {
            axes.term(toleration).iter().for_each(|term| outline.mention(term));
        }
        outline.mention(&vec![(axes.value, EVERY_NUMBER)]);
        TaintSpace { axes, space: outline.cut(), new, old, permitted, denied }
    }

    /// Whether no taint at all meets the toleration.
    pub fn matches_nothing(&self, toleration: &Toleration) -> bool {
        self.axes.term(toleration).and_then(|term| self.space.conjunction(&term)).is_none()
    }

    /// A taint that this toleration tolerates and nothing permits.
    pub fn not_permitted(&self, toleration: &Toleration, budget: &mut Budget) -> Found {
        let found = self.try_not_permitted(toleration, budget);
        found.unwrap_or(Found::Undecided)
    }

    fn try_not_permitted(&self, toleration: &Toleration, budget: &mut Budget) -> Result<Found, Exhausted> {
        let permitted = self.union(self.permitted_tolerations().chain(self.old), budget)?;
        let mine = self.union([toleration], budget)?;
        Ok(self.escape(&mine, &permitted, budget, |taint| {
            tolerates(toleration, taint) && !self.any(self.permitted_tolerations().chain(self.old), taint)
        }))
    }

    /// A taint that this toleration tolerates, that is denied, and that was not tolerated before.
    pub fn denied(&self, toleration: &Toleration, budget: &mut Budget) -> Found {
        self.try_denied(toleration, budget).unwrap_or(Found::Undecided)
    }

    fn try_denied(&self, toleration: &Toleration, budget: &mut Budget) -> Result<Found, Exhausted> {
        let both = self.union([toleration], budget)?.and(&self.union(self.denied, budget)?, &self.space);
        let old = self.union(self.old, budget)?;
        Ok(self.escape(&both, &old, budget, |taint| {
            tolerates(toleration, taint) && self.any(self.denied, taint) && !self.any(self.old, taint)
        }))
    }

    /// A permitted `NoExecute` taint for which the toleration at this position decides how long the pod stays, and
    /// decides for longer than permitted.
    pub fn stays_too_long(&self, position: usize, budget: &mut Budget) -> Found {
        self.try_stays_too_long(position, budget).unwrap_or(Found::Undecided)
    }

    fn try_stays_too_long(&self, position: usize, budget: &mut Budget) -> Result<Found, Exhausted> {
        let Some(toleration) = self.new.get(position) else { return Ok(Found::Nothing) };
        let stays = seconds(toleration);
        let here = self.union([toleration], budget)?.and(&self.evicting(), &self.space);
        if here.is_empty() || stays == 0 {
            return Ok(Found::Nothing);
        }
        let earlier = self.union(self.new.iter().take(position), budget)?;
        let (high, low): (Vec<&Permitted>, Vec<&Permitted>) =
            self.permitted.iter().partition(|permitted| permitted.limit >= stays);
        let high = self.union(high.into_iter().map(|permitted| &permitted.toleration), budget)?.or(&earlier);
        let claim = |taint: &Taint| {
            self.new.iter().position(|toleration| tolerates(toleration, taint)) == Some(position)
                && self.limit(taint).is_some_and(|limit| stays > limit)
        };
        // Taints that the settings admit for less, and that were not tolerated before.
        let low = self.union(low.into_iter().map(|permitted| &permitted.toleration), budget)?;
        let outside = high.or(&self.union(self.old, budget)?);
        let found = self.escape(&here.and(&low, &self.space), &outside, budget, claim);
        if found != Found::Nothing {
            return Ok(found);
        }
        // Taints for which an old toleration decided, for less.
        for (position, old) in self.old.iter().enumerate().filter(|(_, old)| seconds(old) < stays) {
            let outside = high.or(&self.union(self.old.iter().take(position), budget)?);
            let inside = here.and(&self.union([old], budget)?, &self.space);
            let found = self.escape(&inside, &outside, budget, claim);
            if found != Found::Nothing {
                return Ok(found);
            }
        }
        Ok(Found::Nothing)
    }

    /// How long a pod may stay once this taint is there; `None` when nothing permits it.
    pub fn limit(&self, taint: &Taint) -> Option<Seconds> {
        let permitted = self.permitted.iter().filter(|permitted| tolerates(&permitted.toleration, taint));
        permitted.map(|permitted| permitted.limit).chain(wait(self.old, taint)).max()
    }

    /// The effects for which the pod's tolerations together tolerate every taint, and did not before.
    pub fn everything(&self, budget: &mut Budget) -> Vec<&'static str> {
        let effects = EFFECTS.into_iter().filter(|effect| {
            let all = vec![(self.axes.effect, Condition::In(vec![effect]))];
            self.newly_covers(&all, budget)
        });
        effects.collect()
    }

    /// The keys and effects for which the pod's tolerations together tolerate every number, though not every value, and
    /// did not before. Only keys that are compared are looked at: `Exists` says itself that it means everything.
    pub fn every_number(&self, budget: &mut Budget) -> Vec<(&'t str, &'static str)> {
        let mut keys: Vec<&str> = Vec::new();
        for toleration in self.new.iter().filter(|toleration| crate::kubernetes::toleration::is_numeric(toleration)) {
            keys.extend(toleration.key.as_deref().filter(|key| !keys.contains(key)));
        }
        let mut found = Vec::new();
        for key in keys {
            for effect in EFFECTS {
                let mut term =
                    vec![(self.axes.key, Condition::In(vec![key])), (self.axes.effect, Condition::In(vec![effect]))];
                let all = self.space.union([&term]);
                term.push((self.axes.value, EVERY_NUMBER));
                if self.newly_covers(&term, budget) && !self.covers(&all, self.new, budget) {
                    found.push((key, effect));
                }
            }
        }
        found
    }

    fn newly_covers(&self, term: &Term<'_>, budget: &mut Budget) -> bool {
        let all = self.space.union([term]);
        !all.is_empty() && self.covers(&all, self.new, budget) && !self.covers(&all, self.old, budget)
    }

    /// Whether the tolerations together are known to tolerate all these taints.
    fn covers(&self, taints: &Union, tolerations: &[Toleration], budget: &mut Budget) -> bool {
        let answer = self.union(tolerations, budget).map(|union| self.contained(taints, &union, budget));
        answer == Ok(Containment::Contained)
    }

    fn permitted_tolerations(&self) -> impl Iterator<Item = &'t Toleration> {
        self.permitted.iter().map(|permitted| &permitted.toleration)
    }

    fn any(&self, tolerations: impl IntoIterator<Item = &'t Toleration>, taint: &Taint) -> bool {
        tolerations.into_iter().any(|toleration| tolerates(toleration, taint))
    }

    /// The taints that evict.
    fn evicting(&self) -> Union {
        self.space.union([&vec![(self.axes.effect, Condition::In(vec!["NoExecute"]))]])
    }

    fn union<'x>(
        &self,
        tolerations: impl IntoIterator<Item = &'x Toleration>,
        budget: &mut Budget,
    ) -> Result<Union, Exhausted> {
        let terms: Vec<Term<'x>> =
            tolerations.into_iter().filter_map(|toleration| self.axes.term(toleration)).collect();
        budget.spend(terms.len().saturating_mul(UNION_STEPS))?;
        Ok(self.space.union(&terms))
    }

    fn contained(&self, inside: &Union, outside: &Union, budget: &mut Budget) -> Containment {
        contained(&self.space, inside, outside, &Facts::default(), budget)
    }

    /// A taint of `inside` that is not in `outside`. One that does not stand up to the plain matcher is a mistake of
    /// ours, and no answer.
    fn escape(&self, inside: &Union, outside: &Union, budget: &mut Budget, claim: impl Fn(&Taint) -> bool) -> Found {
        match self.contained(inside, outside, budget) {
            Containment::Contained => Found::Nothing,
            Containment::Undecided => Found::Undecided,
            Containment::Escapes(point) => {
                let valid = |taint: &Taint| {
                    Domain::Name.contains(&taint.key)
                        && Domain::Text.contains(taint.value.as_deref().unwrap_or_default())
                };
                let taint = self.axes.taint(&self.space, &point).filter(|taint| valid(taint) && claim(taint));
                taint.map_or(Found::Undecided, Found::Taint)
            }
        }
    }
}

/// Steps for one toleration of a union that is built: about as much work as looking at so many literals of a search.
const UNION_STEPS: usize = 20;

/// A taint's number is never negative: its value is a label value.
const EVERY_NUMBER: Condition<'static> = Condition::Above(-1);
