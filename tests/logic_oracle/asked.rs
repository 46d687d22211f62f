//! A question, put to the library; and every counterexample that comes back, replayed.

use placement_guard::logic::{
    self, Axis, Budget, Containment, Facts, Implication, Outline, Space, Union, contained, contained_plainly,
};

use super::{Condition, Question, Term};

/// Steps that no question of these tests needs.
pub const PLENTY: u64 = 1_000_000_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    Contained,
    /// The value of each axis. It has been replayed.
    Escapes(Vec<Option<String>>),
    Undecided,
}

/// A question in the library's terms.
pub struct Asked<'q> {
    pub question: &'q Question,
    pub axes: Vec<Axis>,
    pub space: Space<'q>,
    pub inside: Union,
    pub outside: Union,
    pub facts: Facts,
}

impl Question {
    pub fn ask(&self) -> Asked<'_> {
        self.ask_within(&mut Budget::of(PLENTY))
    }

    /// The same, with a budget that is large enough.
    pub fn ask_within(&self, plenty: &mut Budget) -> Asked<'_> {
        let mut outline = Outline::default();
        let axes: Vec<Axis> = self.axes.iter().map(|(name, domain)| outline.axis(name, *domain)).collect();
        for (from, to) in &self.ties {
            outline.share(axes[*from], axes[*to]);
        }
        let (inside, outside) = (written(&axes, &self.inside), written(&axes, &self.outside));
        let implications: Vec<Implication<'_>> = self
            .implications
            .iter()
            .map(|(when, then)| Implication { when: write(&axes, when), then: write(&axes, then) })
            .collect();
        let facts = implications.iter().flat_map(|implication| [&implication.when, &implication.then]);
        inside.iter().chain(&outside).chain(facts).for_each(|term| outline.mention(term));
        let space = outline.cut(plenty).unwrap();
        let ties = self.ties.iter().map(|(from, to)| (axes[*from], axes[*to]));
        Asked {
            question: self,
            inside: space.union(&inside, plenty).unwrap(),
            outside: space.union(&outside, plenty).unwrap(),
            facts: Facts::new(&space, &implications, ties, plenty).unwrap(),
            axes,
            space,
        }
    }

    pub fn answer(&self) -> Answer {
        self.ask().within(&mut Budget::of(PLENTY))
    }
}

impl Asked<'_> {
    pub fn within(&self, budget: &mut Budget) -> Answer {
        self.replayed(contained(&self.space, &self.inside, &self.outside, &self.facts, budget))
    }

    pub fn plainly_within(&self, budget: &mut Budget) -> Answer {
        self.replayed(contained_plainly(&self.space, &self.inside, &self.outside, &self.facts, budget))
    }

    fn replayed(&self, answer: Containment) -> Answer {
        let point = match answer {
            Containment::Contained => return Answer::Contained,
            Containment::Undecided => return Answer::Undecided,
            Containment::Escapes(point) => point,
        };
        assert!(self.axes.iter().all(|axis| point.class(*axis).is_some_and(|class| class < self.space.count(*axis))));
        let values: Vec<Option<&str>> = self.axes.iter().map(|axis| self.space.value(*axis, &point)).collect();
        for (value, (_, domain)) in values.iter().zip(&self.question.axes) {
            let valid = value.map_or(domain.may_be_absent(), |text| domain.contains(text));
            assert!(valid, "{value:?} is no value of {domain:?}");
        }
        assert!(self.question.is_refuted_by(&values), "{values:?} is no counterexample to {:?}", self.question);
        Answer::Escapes(values.into_iter().map(|value| value.map(str::to_owned)).collect())
    }
}

fn written<'q>(axes: &[Axis], terms: &'q [Term]) -> Vec<logic::Term<'q>> {
    terms.iter().map(|term| write(axes, term)).collect()
}

/// A term in the library's words.
pub fn write<'q>(axes: &[Axis], term: &'q Term) -> logic::Term<'q> {
    term.iter().map(|(axis, condition)| (axes[*axis], translate(condition))).collect()
}

fn translate(condition: &Condition) -> logic::Condition<'_> {
    match condition {
        Condition::In(values) => logic::Condition::In(values.iter().map(String::as_str).collect()),
        Condition::NotIn(values) => logic::Condition::NotIn(values.iter().map(String::as_str).collect()),
        Condition::Present => logic::Condition::Present,
        Condition::Absent => logic::Condition::Absent,
        Condition::Above(number) => logic::Condition::Above(*number),
        Condition::Below(number) => logic::Condition::Below(*number),
    }
}
