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

use std::collections::BTreeMap;

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
    /// The constants; the numbers beside them come later.
    constants: BTreeMap<&'a str, u32>,
    /// Positive numbers at which a new interval begins.
    beginnings: Vec<u64>,
    compares: bool,
}

impl<'a> Cuts<'a> {
    pub fn mention(&mut self, condition: &Condition<'a>) {
        match condition {
            Condition::In(values) | Condition::NotIn(values) => {
                self.constants.extend(values.iter().map(|value| (*value, 0)));
            }
            Condition::Above(number) => self.begin(number.checked_add(1)),
            Condition::Below(number) => self.begin(Some(*number)),
            Condition::Present | Condition::Absent => {}
        }
    }

    fn begin(&mut self, number: Option<i64>) {
        self.compares = true;
        let positive = number.and_then(|number| u64::try_from(number).ok()).filter(|number| *number > 0);
        self.beginnings.extend(positive);
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
        let listed: &[&str] = if let Domain::Listed(all) = domain { all } else { &[] };
        let named = cuts.constants.keys().copied().filter(|text| domain.contains(text));
        partition.constants.extend(named.chain(listed.iter().copied()).map(|text| (text, 0)));
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
        partition
    }

    /// One interval after the other: the numbers that nobody named, then the constants in it.
    fn push_numbers(&mut self, domain: Domain, beginnings: &[u64], constants: &[&'a str]) {
        let positive = ascending(beginnings.to_vec()).into_iter().filter_map(|number| i64::try_from(number).ok());
        let lows: Vec<i64> = std::iter::once(0).chain(positive).collect();
        let highs = lows.iter().skip(1).map(|next| next.saturating_sub(1)).chain(std::iter::once(i64::MAX));
        // Each constant that is a number, behind the interval that it is in.
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
                constants.get(wide(position)).into_iter().for_each(|text| self.push_constant(text));
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

    /// The class of absence, if values may be absent.
    pub fn absent(&self) -> Option<u32> {
        self.absent.then_some(0)
    }

    /// The classes whose values meet the condition. The condition must have been among the cuts.
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

    /// The first class of the interval that begins at `number`; of all numbers when it is not positive.
    fn beginning(&self, number: i64) -> u32 {
        let position = self.intervals.partition_point(|(low, _)| *low < number);
        self.intervals.get(position).map_or(self.numbers.end, |(_, class)| *class)
    }
}

/// A value between `low` and `high` that is none of the named constants: the canonical spelling of the lowest number
/// that has one free, or else the first other spelling.
fn unnamed_number(domain: Domain, low: i64, high: i64, named: &BTreeMap<&str, u32>) -> Option<String> {
    // Each refused candidate is another constant, so both loops end after as many steps as there are constants.
    let free = |text: &String| !named.contains_key(text.as_str());
    let canonical = |number: i64| domain.spellings(number).next();
    (low..=high)
        .map_while(canonical)
        .find(free)
        .or_else(|| (low..=high).flat_map(|number| domain.spellings(number)).find(free))
}
