//! Questions about lists of tolerations, asked of the algebra, with one taint as evidence.
//!
//! A taint is a point in key × value × effect and a toleration is a box, so every question is one of containment. Each
//! example is replayed through the plain matcher before it leaves this file.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Taint, Toleration};

use crate::kubernetes::toleration::{EFFECTS, Seconds, TaintAxes, is_numeric, seconds, tolerates, wait};
use crate::logic::{
    Budget, Condition, Conjunction, Containment, Domain, Exhausted, Facts, Neighbours, Outline, Space, Term, Union,
    contained,
};

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
    new_boxes: Boxes,
    old_boxes: Boxes,
    permitted_boxes: Boxes,
    denied_boxes: Boxes,
}

/// The boxes of a list of tolerations. One that meets no taint has none.
struct Boxes {
    near: Neighbours,
    /// For each box the position of its toleration.
    positions: Vec<usize>,
}

impl Boxes {
    fn of<'x>(
        axes: &TaintAxes,
        space: &Space<'_>,
        tolerations: impl Iterator<Item = &'x Toleration>,
        budget: &mut Budget,
    ) -> Result<Self, Exhausted> {
        let boxes = tolerations.map(|toleration| axes.term(toleration).and_then(|term| space.conjunction(&term)));
        let boxes = boxes.enumerate().filter_map(|(position, found)| Some((position, found?)));
        let (positions, boxes): (Vec<usize>, Vec<Conjunction>) = boxes.unzip();
        Ok(Boxes { near: Neighbours::of(boxes, space, budget)?, positions })
    }

    /// The box of the toleration at this position.
    fn get(&self, position: usize) -> Option<&Conjunction> {
        self.near.get(self.positions.binary_search(&position).ok()?)
    }

    /// The chosen tolerations, by their positions, that share a taint with these, with their boxes.
    fn touching(
        &self,
        taints: &Conjunction,
        chosen: &dyn Fn(usize) -> bool,
        budget: &mut Budget,
    ) -> Result<Vec<(usize, &Conjunction)>, Exhausted> {
        let mut touching = self.near.touching(taints, budget)?;
        for (index, _) in &mut touching {
            *index = self.positions.get(*index).copied().unwrap_or_default();
        }
        touching.retain(|(position, _)| chosen(*position));
        Ok(touching)
    }

    /// What the chosen tolerations admit, as far as these taints are concerned.
    fn near(
        &self,
        taints: &Conjunction,
        chosen: &dyn Fn(usize) -> bool,
        budget: &mut Budget,
    ) -> Result<Union, Exhausted> {
        let touching = self.touching(taints, chosen, budget)?;
        Union::new(touching.into_iter().map(|(_, found)| found.clone()).collect(), budget)
    }
}

impl<'t> TaintSpace<'t> {
    /// `old` is what stood there before an UPDATE: it is permitted, each taint with its own old wait as the limit.
    ///
    /// # Errors
    /// When the budget is spent before the tolerations are in one space.
    pub fn new(
        new: &'t [Toleration],
        old: &'t [Toleration],
        permitted: &'t [Permitted],
        denied: &'t [Toleration],
        budget: &mut Budget,
    ) -> Result<Self, Exhausted> {
        let mut outline = Outline::default();
        let axes = TaintAxes::of(&mut outline);
        let of_permitted = || permitted.iter().map(|permitted| &permitted.toleration);
        for toleration in new.iter().chain(old).chain(denied).chain(of_permitted()) {
            axes.term(toleration).iter().for_each(|term| outline.mention(term));
        }
        outline.mention(&vec![(axes.value, EVERY_NUMBER)]);
        let space = outline.cut(budget)?;
        Ok(TaintSpace {
            new_boxes: Boxes::of(&axes, &space, new.iter(), budget)?,
            old_boxes: Boxes::of(&axes, &space, old.iter(), budget)?,
            permitted_boxes: Boxes::of(&axes, &space, of_permitted(), budget)?,
            denied_boxes: Boxes::of(&axes, &space, denied.iter(), budget)?,
            axes,
            space,
            new,
            old,
            permitted,
            denied,
        })
    }

    /// Whether no taint at all meets the new toleration at this position.
    pub fn matches_nothing(&self, position: usize) -> bool {
        self.new_boxes.get(position).is_none()
    }

    /// A taint that the new toleration at this position tolerates and nothing permits.
    pub fn not_permitted(&self, position: usize, budget: &mut Budget) -> Found {
        let Some(mine) = self.new_boxes.get(position) else { return Found::Nothing };
        let found = self.try_not_permitted(position, mine, budget);
        found.unwrap_or(Found::Undecided)
    }

    fn try_not_permitted(&self, position: usize, mine: &Conjunction, budget: &mut Budget) -> Result<Found, Exhausted> {
        let permitted = self.permitted_boxes.near(mine, &|_| true, budget)?;
        let outside = permitted.or(&self.old_boxes.near(mine, &|_| true, budget)?, budget)?;
        self.escape(&only(mine), &outside, budget, &|taint| {
            let permitted = || self.permitted.iter().map(|permitted| &permitted.toleration);
            self.is_tolerated_at(position, taint) && !permitted().chain(self.old).any(|entry| tolerates(entry, taint))
        })
    }

    /// A taint that the new toleration at this position tolerates, that is denied, and that was not tolerated before.
    pub fn denied(&self, position: usize, budget: &mut Budget) -> Found {
        let Some(mine) = self.new_boxes.get(position) else { return Found::Nothing };
        self.try_denied(position, mine, budget).unwrap_or(Found::Undecided)
    }

    fn try_denied(&self, position: usize, mine: &Conjunction, budget: &mut Budget) -> Result<Found, Exhausted> {
        let both = self.denied_boxes.near(mine, &|_| true, budget)?.and(&only(mine), &self.space, budget)?;
        if both.is_empty() {
            return Ok(Found::Nothing);
        }
        let old = self.old_boxes.near(mine, &|_| true, budget)?;
        self.escape(&both, &old, budget, &|taint| {
            let tolerated = |list: &[Toleration]| list.iter().any(|entry| tolerates(entry, taint));
            self.is_tolerated_at(position, taint) && tolerated(self.denied) && !tolerated(self.old)
        })
    }

    /// A permitted `NoExecute` taint for which the new toleration at this position decides how long the pod stays, and
    /// decides for longer than permitted.
    pub fn stays_too_long(&self, position: usize, budget: &mut Budget) -> Found {
        self.try_stays_too_long(position, budget).unwrap_or(Found::Undecided)
    }

    fn try_stays_too_long(&self, position: usize, budget: &mut Budget) -> Result<Found, Exhausted> {
        let evicting = self.space.conjunction(&vec![(self.axes.effect, Condition::In(vec!["NoExecute"]))]);
        let mine = self.new_boxes.get(position).zip(evicting);
        let here = mine.and_then(|(mine, evicting)| mine.intersection(&evicting, &self.space));
        let stays = self.new.get(position).map_or(0, seconds);
        let (Some(here), true) = (here, stays > 0) else { return Ok(Found::Nothing) };
        let permits_it = |entry: usize| self.permitted.get(entry).is_some_and(|permitted| permitted.limit >= stays);
        let low = self.permitted_boxes.near(&here, &|entry| !permits_it(entry), budget)?;
        let stayed_less = |entry: usize| self.old.get(entry).is_some_and(|old| seconds(old) < stays);
        let old = self.old_boxes.touching(&here, &stayed_less, budget)?;
        if low.is_empty() && old.is_empty() {
            return Ok(Found::Nothing);
        }
        let high = self.permitted_boxes.near(&here, &permits_it, budget)?;
        let high = high.or(&self.new_boxes.near(&here, &|entry| entry < position, budget)?, budget)?;
        let claim = |taint: &Taint| {
            self.new.iter().position(|toleration| tolerates(toleration, taint)) == Some(position)
                && self.limit(taint).is_some_and(|limit| stays > limit)
        };
        // Taints that the settings admit for less, and that were not tolerated before.
        let outside = high.or(&self.old_boxes.near(&here, &|_| true, budget)?, budget)?;
        let found = self.escape(&low.and(&only(&here), &self.space, budget)?, &outside, budget, &claim)?;
        if found != Found::Nothing {
            return Ok(found);
        }
        // Taints for which an old toleration decided, for less.
        for (entry, old) in old {
            let outside = high.or(&self.old_boxes.near(&here, &|earlier| earlier < entry, budget)?, budget)?;
            let inside = only(old).and(&only(&here), &self.space, budget)?;
            let found = self.escape(&inside, &outside, budget, &claim)?;
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

    /// The keys, and for each the effects, for which the pod's tolerations together tolerate every number, though not
    /// every value, and did not before. Only keys that are compared are looked at: `Exists` says itself that it means
    /// everything.
    pub fn every_number(&self, budget: &mut Budget) -> Vec<(&'t str, Vec<&'static str>)> {
        let mut seen: BTreeMap<&str, u32> = BTreeMap::new();
        let numeric = self.new.iter().filter(|toleration| is_numeric(toleration));
        let keys = numeric.filter_map(|toleration| toleration.key.as_deref());
        let found = keys.filter(|key| seen.insert(key, 0).is_none()).map(|key| {
            let effects = EFFECTS.into_iter().filter(|effect| {
                let mut term =
                    vec![(self.axes.key, Condition::In(vec![key])), (self.axes.effect, Condition::In(vec![effect]))];
                let all = self.space.conjunction(&term);
                term.push((self.axes.value, EVERY_NUMBER));
                self.newly_covers(&term, budget) && !all.is_some_and(|all| self.covers(&all, &self.new_boxes, budget))
            });
            (key, effects.collect::<Vec<&'static str>>())
        });
        found.filter(|(_, effects)| !effects.is_empty()).collect()
    }

    fn newly_covers(&self, term: &Term<'_>, budget: &mut Budget) -> bool {
        self.space.conjunction(term).is_some_and(|all| {
            self.covers(&all, &self.new_boxes, budget) && !self.covers(&all, &self.old_boxes, budget)
        })
    }

    /// Whether the tolerations of a list together are known to tolerate all these taints.
    fn covers(&self, taints: &Conjunction, list: &Boxes, budget: &mut Budget) -> bool {
        let union = list.near(taints, &|_| true, budget);
        union.is_ok_and(|union| self.contained(&only(taints), &union, budget) == Containment::Contained)
    }

    fn is_tolerated_at(&self, position: usize, taint: &Taint) -> bool {
        self.new.get(position).is_some_and(|toleration| tolerates(toleration, taint))
    }

    fn contained(&self, inside: &Union, outside: &Union, budget: &mut Budget) -> Containment {
        contained(&self.space, inside, outside, &Facts::default(), budget)
    }

    /// A taint of `inside` that is not in `outside`. One that does not stand up to the plain matcher is a mistake of
    /// ours, and no answer.
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
                // The claim is held against every list there is.
                let lists = [self.new.len(), self.old.len(), self.permitted.len(), self.denied.len()];
                budget.spend(lists.iter().sum::<usize>() / CLAIMS_IN_A_STEP)?;
                let valid = |taint: &Taint| {
                    Domain::Name.contains(&taint.key)
                        && Domain::Text.contains(taint.value.as_deref().unwrap_or_default())
                };
                let taint = self.axes.taint(&self.space, &point).filter(|taint| valid(taint) && claim(taint));
                taint.map_or(Found::Undecided, Found::Taint)
            }
        })
    }
}

fn only(taints: &Conjunction) -> Union {
    taints.clone().into()
}

/// Tolerations that the plain matcher looks at for one step.
const CLAIMS_IN_A_STEP: usize = 4;

/// A taint's number is never negative: its value is a label value.
const EVERY_NUMBER: Condition<'static> = Condition::Above(-1);
