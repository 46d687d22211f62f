//! Cuts one domain into finitely many classes, so fine that no condition tells two values of a class apart.
//!
//! The constants and thresholds that occur decide the cuts: each constant is a class by itself, the numbers between two
//! thresholds (constants left out) are one, all other words are one, and absence is one. A class without a single valid
//! value is not made at all: between `> 4` and `< 6` lies only 5, with its 63 spellings.
//!
//! ```text
//! conditions  in (a, 7)   > 4   < 20
//! classes     absent | 0…4 | 5…19 but 7 | "7" | 20… | "a" | any other word
//! ```

use std::collections::{BTreeMap, BTreeSet};

use super::class_set::ClassSet;
use super::condition::Condition;
use super::domain::Domain;

/// The classes of one domain.
#[derive(Debug)]
pub struct Partition<'a> {
    classes: Vec<Class>,
    /// The class of each constant.
    constants: BTreeMap<&'a str, u32>,
    /// Where each interval of numbers begins: its lowest number and its first class, ascending.
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

/// In the order in which an example is chosen: what somebody wrote is the most telling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Constant,
    /// No value, or words of which the empty one stands for all.
    Absent,
    Numbers,
    Words,
}

/// What cuts a domain: collected from every condition that will be asked of it.
#[derive(Debug, Default)]
pub struct Cuts<'a> {
    constants: BTreeSet<&'a str>,
    /// Numbers at which a new interval begins.
    beginnings: BTreeSet<i64>,
    compares: bool,
}

impl<'a> Cuts<'a> {
    pub fn mention(&mut self, condition: &Condition<'a>) {
        match condition {
            Condition::In(values) | Condition::NotIn(values) => self.constants.extend(values),
            Condition::Above(number) => {
                self.compares = true;
                self.beginnings.extend(number.checked_add(1));
            }
            Condition::Below(number) => {
                self.compares = true;
                self.beginnings.insert(*number);
            }
            Condition::Present | Condition::Absent => {}
        }
    }
}

impl<'a> Partition<'a> {
    pub fn new(domain: Domain, cuts: &Cuts<'a>) -> Self {
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
        let mut constants: BTreeSet<&str> =
            cuts.constants.iter().copied().filter(|text| domain.contains(text)).collect();
        if let Domain::Listed(all) = domain {
            constants.extend(all);
        }
        // Where nothing compares numbers, a number is a word like any other.
        let (mut numbers, words): (Vec<(i64, &str)>, Vec<&str>) = (Vec::new(), Vec::new());
        let mut words = words;
        for text in &constants {
            match domain.number(text).filter(|_| cuts.compares) {
                Some(number) => numbers.push((number, text)),
                None => words.push(text),
            }
        }
        numbers.sort_unstable();
        let first_number = partition.count();
        if cuts.compares {
            partition.push_numbers(domain, cuts, &numbers, &constants);
        }
        partition.numbers = first_number..partition.count();
        for word in words {
            partition.push_constant(word);
        }
        if let Some(example) = domain.words().find(|word| !constants.contains(word.as_str())) {
            let kind = if example.is_empty() { Kind::Absent } else { Kind::Words };
            partition.push(kind, Some(example));
        }
        partition
    }

    /// One interval after the other: the numbers that nobody named, then the constants in it.
    fn push_numbers(&mut self, domain: Domain, cuts: &Cuts<'a>, numbers: &[(i64, &'a str)], named: &BTreeSet<&str>) {
        let beginnings: Vec<i64> =
            std::iter::once(0).chain(cuts.beginnings.iter().copied().filter(|beginning| *beginning > 0)).collect();
        let ends = beginnings.iter().skip(1).map(|next| next.saturating_sub(1)).chain(std::iter::once(i64::MAX));
        let mut constants = numbers.iter().peekable();
        for (&low, high) in beginnings.iter().zip(ends) {
            self.intervals.push((low, self.count()));
            if let Some(example) = unnamed_number(domain, low, high, named) {
                self.push(Kind::Numbers, Some(example));
            }
            while let Some((_, text)) = constants.next_if(|(number, _)| *number <= high) {
                self.push_constant(text);
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
        // A document of a few megabytes names far fewer than 2³² constants.
        u32::try_from(self.classes.len()).unwrap_or(u32::MAX)
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
        self.classes.get(usize::try_from(class).ok()?)
    }

    /// The class of absence, if values may be absent.
    pub fn absent(&self) -> Option<u32> {
        self.absent.then_some(0)
    }

    /// The classes whose values meet the condition. The condition must have been among the cuts.
    pub fn meeting(&self, condition: &Condition<'_>) -> ClassSet {
        let everything = 0..self.count();
        let named = |values: &[&str]| {
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

    /// The first class of the interval that begins at `number`; of all numbers when it is not positive.
    fn beginning(&self, number: i64) -> u32 {
        let position = self.intervals.partition_point(|(low, _)| *low < number);
        self.intervals.get(position).map_or(self.numbers.end, |(_, class)| *class)
    }
}

/// A value between `low` and `high` that is none of the named constants: the canonical spelling of the lowest number
/// that has one free, or else the first other spelling.
fn unnamed_number(domain: Domain, low: i64, high: i64, named: &BTreeSet<&str>) -> Option<String> {
    // Each refused candidate is another constant, so both loops end after as many steps as there are constants.
    let free = |text: &String| !named.contains(text.as_str());
    let canonical = |number: i64| domain.spellings(number).next();
    (low..=high)
        .map_while(canonical)
        .find(free)
        .or_else(|| (low..=high).flat_map(|number| domain.spellings(number)).find(free))
}
