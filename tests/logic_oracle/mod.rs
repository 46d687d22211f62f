//! The oracle: is there a point in one union, outside another, that the facts allow? Found by trying points.
//!
//! It knows nothing of classes, boxes, clauses or searches. For each axis it lists values, so many that whatever the
//! conditions can tell apart is told apart by two of them, and then it tries every combination. What a condition accepts
//! is written down here once more, as Kubernetes has it: for labels in `labels.Requirement.Matches`, for taints in
//! `Toleration.ToleratesTaint`.

pub mod asked;

use std::collections::BTreeSet;

use placement_guard::logic::Domain;

pub use asked::{Answer, PLENTY};

/// The value of one axis; `None` is absence.
pub type Value<'v> = Option<&'v str>;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Condition {
    In(Vec<String>),
    NotIn(Vec<String>),
    Present,
    Absent,
    Above(i64),
    Below(i64),
}

/// Conditions on axes, which go by their position. All must be met; no condition means every point.
pub type Term = Vec<(usize, Condition)>;

/// Is every point of `inside` that the facts allow in `outside`?
#[derive(Debug, Clone)]
pub struct Question {
    pub axes: Vec<(String, Domain)>,
    pub inside: Vec<Term>,
    pub outside: Vec<Term>,
    /// What meets the first term meets the second.
    pub implications: Vec<(Term, Term)>,
    /// What has a value on the first axis has the same value on the second.
    pub ties: Vec<(usize, usize)>,
}

impl Question {
    /// A point that shows that the answer is no; `None` when every point was tried.
    pub fn counterexample(&self) -> Option<Vec<Option<String>>> {
        let choices: Vec<Vec<Option<String>>> = (0..self.axes.len()).map(|axis| self.worth_trying(axis)).collect();
        let mut point = Vec::new();
        self.complete(&mut point, &choices).then(|| point.into_iter().map(|value| value.map(str::to_owned)).collect())
    }

    /// Gives the axes that have no value yet every combination of choices, until one is a counterexample.
    fn complete<'v>(&self, point: &mut Vec<Value<'v>>, choices: &'v [Vec<Option<String>>]) -> bool {
        let Some(choices_here) = choices.get(point.len()) else { return self.is_refuted_by(point) };
        for value in choices_here {
            point.push(value.as_deref());
            if self.complete(point, choices) {
                return true;
            }
            point.pop();
        }
        false
    }

    /// Whether the point is in `inside`, not in `outside`, and allowed by the facts.
    pub fn is_refuted_by(&self, point: &[Value<'_>]) -> bool {
        self.admits(&self.inside, point) && !self.admits(&self.outside, point) && self.is_possible(point)
    }

    pub fn admits(&self, terms: &[Term], point: &[Value<'_>]) -> bool {
        terms.iter().any(|term| self.matches(term, point))
    }

    /// Whether every value is one, and every fact holds.
    pub fn is_possible(&self, point: &[Value<'_>]) -> bool {
        self.axes.len() == point.len()
            && self.axes.iter().zip(point).all(|((_, domain), value)| is_value(*domain, *value))
            && self.implications.iter().all(|(when, then)| !self.matches(when, point) || self.matches(then, point))
            && self.ties.iter().all(|(from, to)| point[*from].is_none() || point[*from] == point[*to])
    }

    fn matches(&self, term: &Term, point: &[Value<'_>]) -> bool {
        term.iter().all(|(axis, condition)| meets(self.axes[*axis].1, point[*axis], condition))
    }

    /// Values for one axis, one for each way in which the conditions on it can be answered.
    ///
    /// A condition names constants or compares with a threshold. So each named constant is tried; and of everything that
    /// lies between the constants, one more than there are constants, since then one of them is not named: words, numbers
    /// on either side of each threshold, and spellings of each number. Two values that no condition tells apart need not
    /// both be tried; nor on tied axes, when the conditions on each of them count for all.
    pub fn worth_trying(&self, axis: usize) -> Vec<Option<String>> {
        let domain = self.axes[axis].1;
        let conditions = self.conditions_on(&self.tied_with(axis));
        let mut constants: BTreeSet<String> = BTreeSet::new();
        let mut thresholds = BTreeSet::from([0]);
        for condition in &conditions {
            match condition {
                Condition::In(values) | Condition::NotIn(values) => constants.extend(values.iter().cloned()),
                Condition::Above(number) | Condition::Below(number) => _ = thresholds.insert(*number),
                Condition::Present | Condition::Absent => {}
            }
        }
        let enough = constants.len() + 1;
        let mut texts: Vec<String> = constants.into_iter().collect();
        if let Domain::Listed(all) = domain {
            texts.extend(all.iter().map(|text| (*text).to_owned()));
        }
        for threshold in thresholds {
            let reach = i64::try_from(enough).unwrap();
            for number in threshold.saturating_sub(reach)..=threshold.saturating_add(reach) {
                texts.extend((0..=enough).map(|zeros| "0".repeat(zeros) + &number.to_string()));
            }
        }
        texts.extend((0..enough).map(|count| format!("fresh{count}")));

        let values = std::iter::once(None).chain(texts.into_iter().map(Some));
        let mut told_apart = BTreeSet::new();
        let mut is_new = |value: Value<'_>| {
            let answers: Vec<bool> = conditions.iter().map(|condition| meets(domain, value, condition)).collect();
            told_apart.insert((value.is_some(), answers))
        };
        values.filter(|value| is_value(domain, value.as_deref()) && is_new(value.as_deref())).collect()
    }

    /// Every condition that is asked of one of the axes, anywhere in the question.
    pub fn conditions_on(&self, axes: &BTreeSet<usize>) -> Vec<Condition> {
        let facts = self.implications.iter().flat_map(|(when, then)| [when, then]);
        let conditions = self.inside.iter().chain(&self.outside).chain(facts).flatten();
        conditions.filter(|(axis, _)| axes.contains(axis)).map(|(_, condition)| condition.clone()).collect()
    }

    /// The axis and every other that ties connect it with.
    pub fn tied_with(&self, axis: usize) -> BTreeSet<usize> {
        let mut axes = BTreeSet::from([axis]);
        for _ in &self.axes {
            for (from, to) in &self.ties {
                if axes.contains(from) || axes.contains(to) {
                    axes.extend([*from, *to]);
                }
            }
        }
        axes
    }
}

/// Absence meets `NotIn` and `Absent` and nothing else; a value that is not a number is neither above nor below one.
pub fn meets(domain: Domain, value: Value<'_>, condition: &Condition) -> bool {
    let Some(text) = value else { return matches!(condition, Condition::NotIn(_) | Condition::Absent) };
    match condition {
        Condition::In(values) => values.iter().any(|value| value == text),
        Condition::NotIn(values) => !values.iter().any(|value| value == text),
        Condition::Present => true,
        Condition::Absent => false,
        Condition::Above(bound) => number(domain, text).is_some_and(|number| number > *bound),
        Condition::Below(bound) => number(domain, text).is_some_and(|number| number < *bound),
    }
}

/// A label is read as Go's `ParseInt` reads it, a taint only where that number would be written the same way again.
pub fn number(domain: Domain, text: &str) -> Option<i64> {
    let number: i64 = text.parse().ok()?;
    match domain {
        Domain::OptionalText => Some(number),
        Domain::Text => (number.to_string() == text).then_some(number),
        Domain::Name | Domain::Listed(_) => None,
    }
}

pub fn is_value(domain: Domain, value: Value<'_>) -> bool {
    let Some(text) = value else { return domain == Domain::OptionalText };
    match domain {
        Domain::OptionalText | Domain::Text => text.is_empty() || is_label_name(text),
        Domain::Name => match text.split('/').collect::<Vec<_>>()[..] {
            [name] => is_label_name(name),
            [prefix, name] => prefix.len() <= 253 && prefix.split('.').all(is_dns_label) && is_label_name(name),
            _ => false,
        },
        Domain::Listed(all) => all.contains(&text),
    }
}

/// `([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]`, at most 63 bytes.
fn is_label_name(text: &str) -> bool {
    let outer = |character: char| character.is_ascii_alphanumeric();
    let inner = |character: char| outer(character) || "-_.".contains(character);
    (1..=63).contains(&text.len()) && text.starts_with(outer) && text.ends_with(outer) && text.chars().all(inner)
}

/// `[a-z0-9]([-a-z0-9]*[a-z0-9])?`
fn is_dns_label(text: &str) -> bool {
    let outer = |character: char| matches!(character, 'a'..='z' | '0'..='9');
    let inner = |character: char| outer(character) || character == '-';
    text.starts_with(outer) && text.ends_with(outer) && text.chars().all(inner)
}
