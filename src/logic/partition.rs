//! Cuts one domain into finitely many classes. No condition can tell two values of the same class apart.
//!
//! The constants and thresholds in the conditions decide the cuts. Each constant is a class of its own. The numbers
//! between two thresholds, without the constants, are one class. All other words are one class, and so is absence. A class
//! without any valid value is left out: the only number between `> 4` and `< 6` is 5, with its 63 spellings.
//!
//! ```text
//! conditions  in (a, 7)   > 4   < 20
//! classes     absent | 0…4 | 5…19 but 7 | "7" | 20… | "a" | any other word
//! ```

use std::collections::BTreeMap;

use super::budget::{Budget, Exhausted};
use super::class_set::ClassSet;
use super::condition::Condition;
use super::domain::Domain;
use super::ordered::{ascending, pack, small, unpack, wide};

/// The classes of one domain.
#[derive(Debug)]
pub struct Partition<'a> {
    classes: Vec<Class>,
    /// The class of each constant.
    constants: BTreeMap<&'a str, u32>,
    /// The intervals of numbers, ascending: the lowest number of each, and its first class.
    intervals: Vec<(i64, u32)>,
    /// The classes that hold numbers.
    numbers: std::ops::Range<u32>,
    absent: bool,
}

#[derive(Debug)]
struct Class {
    kind: Kind,
    /// A value of the class; `None` for absence.
    example: Option<String>,
}

/// In the order in which examples are preferred: a value that someone wrote says the most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Constant,
    /// No value; or words, with the empty one as their example.
    Absent,
    Numbers,
    Words,
}

/// What cuts a domain, collected from every condition that will be used on it.
#[derive(Debug, Default)]
pub struct Cuts<'a> {
    /// The constants, as often as they were mentioned.
    constants: Vec<&'a str>,
    /// Positive numbers at which a new interval begins.
    beginnings: Vec<u64>,
    compares: bool,
}

/// Steps for each time that a constant is mentioned: it is looked up when it is collected, and for each box.
const CONSTANT: usize = 6;
/// Steps for a condition: a side of a box is made of it.
const CONDITION: usize = 5;
/// Steps for a comparison, beside those for a condition: its number begins an interval, and is looked up for each box.
const THRESHOLD: usize = 15;
/// Bytes for one more step. Long strings are compared many times, byte by byte.
const BYTES_IN_A_STEP: usize = 2;
/// Steps for each class: its example is stored, and found to be free.
const CLASS: usize = 12;

impl<'a> Cuts<'a> {
    /// Takes note of a condition, and returns the steps that it costs to collect what it mentions and to make boxes of it.
    pub fn mention(&mut self, condition: &Condition<'a>) -> usize {
        let mut steps = CONDITION;
        match condition {
            Condition::In(values) | Condition::NotIn(values) => {
                for value in values {
                    steps = steps.saturating_add(CONSTANT).saturating_add(value.len() / BYTES_IN_A_STEP);
                }
                self.constants.extend(values);
            }
            Condition::Above(number) => steps = steps.saturating_add(self.begin(number.checked_add(1))),
            Condition::Below(number) => steps = steps.saturating_add(self.begin(Some(*number))),
            Condition::Present | Condition::Absent => {}
        }
        steps
    }

    fn begin(&mut self, number: Option<i64>) -> usize {
        self.compares = true;
        let positive = number.and_then(|number| u64::try_from(number).ok()).filter(|number| *number > 0);
        self.beginnings.extend(positive);
        THRESHOLD
    }
}

impl<'a> Partition<'a> {
    /// Cuts a domain. What the mentioned constants cost has been paid for.
    ///
    /// # Errors
    /// When the budget is spent before every class is made.
    pub fn new(domain: Domain, cuts: &Cuts<'a>, budget: &mut Budget) -> Result<Self, Exhausted> {
        let mut partition = Partition {
            classes: Vec::new(),
            constants: BTreeMap::new(),
            intervals: Vec::new(),
            numbers: 0..0,
            absent: domain.may_be_absent(),
        };
        if partition.absent {
            partition.push(Kind::Absent, None);
        }
        let listed: &[&str] = if let Domain::Listed(all) = domain { all } else { &[] };
        // One by one: building a map out of a list would bring a sort of its own into the module.
        for text in cuts.constants.iter().copied().filter(|text| domain.contains(text)).chain(listed.iter().copied()) {
            partition.constants.insert(text, 0);
        }
        for text in partition.constants.keys() {
            budget.spend(CLASS.saturating_add(text.len() / BYTES_IN_A_STEP))?;
        }
        budget.spend(cuts.beginnings.len().saturating_mul(CLASS))?;
        let constants: Vec<&str> = partition.constants.keys().copied().collect();
        let first_number = partition.count();
        // Where nothing compares numbers, a number is a word like any other.
        let compares = cuts.compares && domain.has_numbers();
        if compares {
            partition.push_numbers(domain, &cuts.beginnings, &constants);
        }
        partition.numbers = first_number..partition.count();
        for word in constants.iter().filter(|text| !compares || domain.number(text).is_none()) {
            partition.push_constant(word);
        }
        if let Some(example) = domain.words().find(|word| !partition.constants.contains_key(word.as_str())) {
            let kind = if example.is_empty() { Kind::Absent } else { Kind::Words };
            partition.push(kind, Some(example));
        }
        debug_assert!(partition.intervals.is_sorted_by_key(|(low, _)| *low));
        Ok(partition)
    }

    /// Makes the classes of each interval: its numbers that are not constants, then its constants.
    fn push_numbers(&mut self, domain: Domain, beginnings: &[u64], constants: &[&'a str]) {
        let positive = ascending(beginnings.to_vec()).into_iter().filter_map(|number| i64::try_from(number).ok());
        let lows: Vec<i64> = std::iter::once(0).chain(positive).collect();
        let highs = lows.iter().skip(1).map(|next| next.saturating_sub(1)).chain(std::iter::once(i64::MAX));
        // Each constant that is a number, after the number of its interval.
        let placed = constants.iter().enumerate().filter_map(|(position, text)| {
            let number = domain.number(text)?;
            Some(pack(small(lows.partition_point(|low| *low <= number)), small(position)))
        });
        let placed = ascending(placed.collect());
        let mut placed = placed.into_iter().map(unpack).peekable();
        for (interval, (low, high)) in (1..).zip(lows.iter().zip(highs)) {
            self.intervals.push((*low, self.count()));
            if let Some(example) = unnamed_number(domain, *low, high, &self.constants) {
                self.push(Kind::Numbers, Some(example));
            }
            while let Some((_, position)) = placed.next_if(|(of, _)| *of == interval) {
                let constant = constants.get(wide(position));
                debug_assert!(constant.is_some(), "constant {position} of {}", constants.len());
                constant.into_iter().for_each(|text| self.push_constant(text));
            }
        }
    }

    fn push(&mut self, kind: Kind, example: Option<String>) {
        self.classes.push(Class { kind, example });
    }

    fn push_constant(&mut self, text: &'a str) {
        self.constants.insert(text, self.count());
        self.push(Kind::Constant, Some(text.to_owned()));
    }

    /// How many classes there are.
    pub fn count(&self) -> u32 {
        small(self.classes.len())
    }

    /// A value of the class; `None` for absence.
    pub fn example(&self, class: u32) -> Option<&str> {
        self.class(class)?.example.as_deref()
    }

    /// What the class holds.
    pub fn kind(&self, class: u32) -> Kind {
        self.class(class).map_or(Kind::Words, |class| class.kind)
    }

    fn class(&self, class: u32) -> Option<&Class> {
        self.classes.get(wide(class))
    }

    /// The class in which a value lies; `None` for what is no value of the domain.
    pub fn class_of(&self, domain: Domain, value: Option<&str>) -> Option<u32> {
        let Some(text) = value else { return self.absent() };
        if let Some(class) = self.constants.get(text) {
            return Some(*class);
        }
        if !domain.contains(text) {
            return None;
        }
        let number = domain.number(text).filter(|_| !self.intervals.is_empty());
        let class = match number {
            // A number that is no constant lies in the first class of its interval: the numbers that no condition names.
            Some(number) => {
                let after = self.intervals.partition_point(|(low, _)| *low <= number);
                self.intervals.get(after.checked_sub(1)?)?.1
            }
            None => self.count().checked_sub(1)?,
        };
        debug_assert!(self.kind(class) != Kind::Constant, "{text} lies in the class of another constant");
        Some(class)
    }

    /// The class of absence, if values may be absent.
    pub fn absent(&self) -> Option<u32> {
        self.absent.then_some(0)
    }

    /// The classes whose values meet the condition. The condition must have been mentioned before the cut.
    pub fn meeting(&self, condition: &Condition<'_>) -> ClassSet {
        let everything = 0..self.count();
        let named = |values: &[&str]| {
            if let [only] = values {
                return self.constants.get(only).map_or_else(ClassSet::default, |class| ClassSet::one(*class));
            }
            let classes = values.iter().filter_map(|text| self.constants.get(text));
            ClassSet::from_runs(classes.map(|class| *class..class.saturating_add(1)))
        };
        match condition {
            Condition::In(values) => named(values),
            Condition::NotIn(values) => named(values).complement(self.count()),
            Condition::Present => ClassSet::run(u32::from(self.absent)..everything.end),
            Condition::Absent => ClassSet::run(0..u32::from(self.absent)),
            Condition::Above(number) => match number.checked_add(1) {
                Some(lowest) => ClassSet::run(self.beginning(lowest)..self.numbers.end),
                None => ClassSet::default(),
            },
            Condition::Below(number) => ClassSet::run(self.numbers.start..self.beginning(*number)),
        }
    }

    /// The first class of the interval that begins at `number`. Of all numbers when it is not positive.
    fn beginning(&self, number: i64) -> u32 {
        let position = self.intervals.partition_point(|(low, _)| *low < number);
        let begins = self.intervals.get(position).is_some_and(|(low, _)| *low == number);
        debug_assert!(number <= 0 || begins || self.intervals.is_empty(), "{number} was not mentioned before the cut");
        self.intervals.get(position).map_or(self.numbers.end, |(_, class)| *class)
    }
}

/// A value between `low` and `high` that is not a constant: the canonical spelling of the lowest number for which it is
/// free, or else the first other spelling that is.
fn unnamed_number(domain: Domain, low: i64, high: i64, named: &BTreeMap<&str, u32>) -> Option<String> {
    // Each candidate that is not free is a constant of this interval, so the intervals together try each constant at most
    // twice.
    let free = |text: &String| !named.contains_key(text.as_str());
    let canonical = |number: i64| domain.spellings(number).next();
    (low..=high)
        .map_while(canonical)
        .find(free)
        .or_else(|| (low..=high).flat_map(|number| domain.spellings(number)).find(free))
}
