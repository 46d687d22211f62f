//! One list of tolerations of a decision: its entries for the plain matcher, and its boxes for the algebra.

use k8s_openapi::api::core::v1::{Taint, Toleration};

use crate::kubernetes::toleration::{Seconds, TaintAxes, seconds, tolerates};
use crate::logic::{Budget, Conjunction, Exhausted, Neighbours, Space, Union};

/// A toleration that settings or Kubernetes itself permit, and how long a pod may then stay.
#[derive(Debug, Clone, PartialEq)]
pub struct Permitted {
    pub toleration: Toleration,
    pub limit: Seconds,
}

/// One toleration of a list, with the seconds that a pod stays or may stay.
pub struct Entry<'t> {
    pub toleration: &'t Toleration,
    pub stays: Seconds,
}

impl<'t> Entry<'t> {
    pub fn of_pod(toleration: &'t Toleration) -> Self {
        Entry { toleration, stays: seconds(toleration) }
    }

    pub fn of_settings(permitted: &'t Permitted) -> Self {
        Entry { toleration: &permitted.toleration, stays: permitted.limit }
    }
}

/// A list of tolerations and its boxes. A toleration that meets no taint has none.
pub struct Side<'t> {
    pub entries: Vec<Entry<'t>>,
    near: Neighbours,
    /// For each box the position of its toleration.
    positions: Vec<usize>,
}

impl<'t> Side<'t> {
    /// # Errors
    /// When the budget is spent.
    pub fn of(
        entries: Vec<Entry<'t>>,
        axes: &TaintAxes,
        space: &Space<'_>,
        budget: &mut Budget,
    ) -> Result<Self, Exhausted> {
        let boxes = entries.iter().map(|entry| axes.term(entry.toleration).and_then(|term| space.conjunction(&term)));
        let boxes = boxes.enumerate().filter_map(|(position, found)| Some((position, found?)));
        let (positions, boxes): (Vec<usize>, Vec<Conjunction>) = boxes.unzip();
        Ok(Side { near: Neighbours::of(boxes, space, budget)?, positions, entries })
    }

    /// The box of the toleration at this position.
    pub fn get(&self, position: usize) -> Option<&Conjunction> {
        self.near.get(self.positions.binary_search(&position).ok()?)
    }

    pub fn stays(&self, position: usize) -> Option<Seconds> {
        self.entries.get(position).map(|entry| entry.stays)
    }

    /// The chosen tolerations, by their positions, that share a taint with these, with their boxes.
    ///
    /// # Errors
    /// When the budget is spent.
    pub fn touching(
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
    ///
    /// # Errors
    /// When the budget is spent.
    pub fn near(
        &self,
        taints: &Conjunction,
        chosen: &dyn Fn(usize) -> bool,
        budget: &mut Budget,
    ) -> Result<Union, Exhausted> {
        let touching = self.touching(taints, chosen, budget)?;
        Union::new(touching.into_iter().map(|(_, found)| found.clone()).collect(), budget)
    }

    /// What the list admits, as far as these taints are concerned.
    ///
    /// # Errors
    /// When the budget is spent.
    pub fn all_near(&self, taints: &Conjunction, budget: &mut Budget) -> Result<Union, Exhausted> {
        self.near(taints, &|_| true, budget)
    }

    /// The tolerations that tolerate a taint, by the plain matcher.
    fn matching(&self, taint: &Taint) -> impl Iterator<Item = (usize, &Entry<'t>)> {
        self.entries.iter().enumerate().filter(|(_, entry)| tolerates(entry.toleration, taint))
    }

    pub fn tolerates(&self, taint: &Taint) -> bool {
        self.matching(taint).next().is_some()
    }

    /// The most seconds that a toleration of this taint says.
    pub fn most(&self, taint: &Taint) -> Option<Seconds> {
        self.matching(taint).map(|(_, entry)| entry.stays).max()
    }

    /// The toleration that decides how long a pod stays: the first in the list that tolerates the taint.
    pub fn first(&self, taint: &Taint) -> Option<(usize, Seconds)> {
        self.matching(taint).next().map(|(position, entry)| (position, entry.stays))
    }
}
