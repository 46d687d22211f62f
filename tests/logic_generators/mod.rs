//! Questions small enough for the oracle, and such that their parts have something to do with each other.
//!
//! Conditions drawn from everywhere would seldom speak of the same values. So each question draws from a few constants and
//! thresholds of its own, chosen from lists whose entries collide as numbers; and half of the time a union is made from
//! the one before it, by loosening its terms, splitting them in two, or saying them of another axis.

mod exercised;

use placement_guard::logic::Domain;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{Index, select, subsequence};
use proptest::test_runner::{Config, RngSeed};

use crate::logic_oracle::{Condition, Question, Term};

const EFFECTS: Domain = Domain::Listed(&["NoSchedule", "PreferNoSchedule", "NoExecute"]);

/// Some are not label values, some are not numbers, and some are values that the library itself invents.
const TEXTS: &[&str] = &[
    "",
    "a",
    "b",
    "other",
    "-5",
    "0",
    "00",
    "5",
    "05",
    "005",
    "7",
    "9223372036854775807",
    "09223372036854775807",
    "9223372036854775808",
    "000000000000000000000000000000000000000000000000000000000000005",
    "0000000000000000000000000000000000000000000000000000000000000005",
];
const FIVES: &[&str] = &["5", "05", "005", "a"];
const NAMES: &[&str] = &["a", "5", "example.com/a", "example.com/other", "Example.com/a", "a/b/c", ""];
const LISTED: &[&str] = &["NoSchedule", "PreferNoSchedule", "NoExecute", "Other", "5"];
const THRESHOLDS: &[i64] = &[i64::MIN, -1, 0, 4, 5, 6, 7, i64::MAX - 1, i64::MAX];

/// A question, and more in its words.
#[derive(Debug, Clone)]
pub struct Case {
    pub question: Question,
    /// A union that may hold the outside one.
    pub beyond: Vec<Term>,
    pub term: Term,
}

impl Case {
    /// Inside in outside, outside in beyond, inside in beyond.
    pub fn in_a_row(&self) -> [Question; 3] {
        let Case { question, beyond, .. } = self;
        let ask = |inside: &Vec<Term>, outside: &Vec<Term>| Question {
            inside: inside.clone(),
            outside: outside.clone(),
            ..question.clone()
        };
        let Question { inside, outside, .. } = question;
        [ask(inside, outside), ask(outside, beyond), ask(inside, beyond)]
    }
}

/// The same cases on every run. `PROPTEST_CASES` and `PROPTEST_RNG_SEED` go further.
pub fn config() -> Config {
    let config = Config::default();
    let rng_seed = if config.rng_seed == RngSeed::Random { SEED } else { config.rng_seed };
    let max_shrink_iters = testkit::max_shrink_iters();
    Config { rng_seed, failure_persistence: None, max_shrink_iters, cases: config.cases.max(CASES), ..config }
}

pub const SEED: RngSeed = RngSeed::Fixed(5381);

/// As many as take a second or two for a law in an unoptimised build.
const CASES: u32 = 400;

/// Axes with their ties, and what the conditions on them may name.
#[derive(Debug, Clone)]
struct Words {
    axes: Vec<Domain>,
    ties: Vec<(usize, usize)>,
    texts: Vec<&'static str>,
    names: Vec<&'static str>,
    thresholds: Vec<i64>,
}

pub fn question() -> impl Strategy<Value = Question> {
    case().prop_map(|case| case.question)
}

pub fn case() -> impl Strategy<Value = Case> {
    let with_inside = words().prop_flat_map(|words| (terms(&words), Just(words)));
    let with_outside = with_inside.prop_flat_map(|(inside, words)| (after(&words, &inside), Just(inside), Just(words)));
    let with_rest = with_outside.prop_flat_map(|(outside, inside, words)| {
        let implications = vec(implication(&words, &inside, &outside), 1..=3);
        (
            prop_oneof![2 => Just(Vec::new()), 3 => implications],
            after(&words, &outside),
            term(&words),
            Just((words, inside, outside)),
        )
    });
    with_rest.prop_map(|(implications, beyond, term, (words, inside, outside))| {
        let axes = words.axes.into_iter().enumerate().map(|(axis, domain)| (format!("axis-{axis}"), domain)).collect();
        Case { question: Question { axes, inside, outside, implications, ties: words.ties }, beyond, term }
    })
}

/// Many terms on a few axes of two or three values each: whether they cover everything is a close call, and the search
/// must come back from many choices to find out.
pub fn crowded() -> impl Strategy<Value = Question> {
    const AXES: usize = 6;
    let constants =
        || subsequence(&["5", "a"], 1..=2).prop_map(|values| values.into_iter().map(str::to_owned).collect());
    let condition = prop_oneof![
        4 => constants().prop_map(Condition::In),
        2 => constants().prop_map(Condition::NotIn),
        1 => Just(Condition::Absent),
        1 => Just(Condition::Above(4)),
    ];
    let term = |length| vec((0..AXES, condition.clone()), length);
    let present: Term =
        (0..AXES).map(|axis| (axis, Condition::In(vec![String::from("5"), String::from("a")]))).collect();
    let inside = vec(term(0..=2), 0..=2).prop_map(move |terms| [vec![present.clone()], terms].concat());
    let facts = vec((term(0..=2), term(1..=1)), 0..=3);
    let ties = vec((0..AXES, 0..AXES), 0..=1);
    (inside, vec(term(2..=3), 5..=25), facts, ties).prop_map(|(inside, outside, implications, ties)| {
        let axes = (0..AXES).map(|axis| (format!("axis-{axis}"), Domain::OptionalText)).collect();
        Question { axes, inside, outside, implications, ties }
    })
}

fn words() -> impl Strategy<Value = Words> {
    let labels = prop_oneof![1 => Just(1_usize), 4 => 2_usize..=4];
    let labels = labels.prop_map(|count| vec![Domain::OptionalText; count]);
    let texts = (1_usize..=3).prop_map(|count| vec![Domain::Text; count]);
    let taints = Just(vec![Domain::Name, Domain::Text, EFFECTS]);
    let axes = prop_oneof![9 => labels, 1 => texts, 2 => taints];
    let tied = axes.prop_flat_map(|axes| {
        let ties = vec(tie(&axes), 1..=3);
        (Just(axes), prop_oneof![2 => Just(Vec::new()), 3 => ties])
    });
    let texts = prop_oneof![2 => subsequence(TEXTS, 1..=4), 1 => subsequence(FIVES, 1..=3)];
    let thresholds = prop_oneof![2 => subsequence(THRESHOLDS, 1..=2), 1 => Just(vec![4, 6])];
    (tied, texts, subsequence(NAMES, 1..=2), thresholds).prop_map(|((axes, ties), texts, names, thresholds)| Words {
        axes,
        ties,
        texts,
        names,
        thresholds,
    })
}

/// Between axes of one domain; seldom of an axis with itself, where there is another.
fn tie(axes: &[Domain]) -> impl Strategy<Value = (usize, usize)> + use<> {
    let axes = axes.to_vec();
    (0..axes.len()).prop_flat_map(move |from| {
        let alike = |to: &usize| axes[*to] == axes[from];
        let others: Vec<usize> = (0..axes.len()).filter(alike).filter(|to| *to != from).collect();
        let itself = Just(from).boxed();
        let to = if others.is_empty() { itself } else { prop_oneof![1 => itself, 9 => select(others)].boxed() };
        (Just(from), to)
    })
}

fn terms(words: &Words) -> impl Strategy<Value = Vec<Term>> + use<> {
    prop_oneof![1 => Just(Vec::new()), 12 => vec(term(words), 1..=4)]
}

fn term(words: &Words) -> impl Strategy<Value = Term> + use<> {
    let words = words.clone();
    let asked = (0..words.axes.len()).prop_flat_map(move |axis| (Just(axis), condition(words.axes[axis], &words)));
    prop_oneof![1 => Just(Vec::new()), 9 => vec(asked, 1..=3)]
}

fn condition(domain: Domain, words: &Words) -> impl Strategy<Value = Condition> + use<> {
    let constants = match domain {
        Domain::OptionalText | Domain::Text => words.texts.clone(),
        Domain::Name => words.names.clone(),
        Domain::Listed(_) => LISTED.to_vec(),
    };
    let values = vec(select(constants).prop_map(str::to_owned), 1..=3);
    let values = prop_oneof![1 => Just(Vec::new()), 20 => values];
    let threshold = select(words.thresholds.clone());
    prop_oneof![
        3 => values.clone().prop_map(Condition::In),
        3 => values.prop_map(Condition::NotIn),
        1 => Just(Condition::Present),
        1 => Just(Condition::Absent),
        2 => threshold.clone().prop_map(Condition::Above),
        2 => threshold.prop_map(Condition::Below),
    ]
}

/// Either anything, or what these terms become when each is edited, and perhaps one piece is lost.
fn after(words: &Words, before: &[Term]) -> impl Strategy<Value = Vec<Term>> + use<> {
    let edits = vec((0_u8..8, any::<Index>(), term(words)), before.len());
    let (before, ties) = (before.to_vec(), words.ties.clone());
    let edited = (edits, option::weighted(0.3, any::<Index>())).prop_map(move |(edits, lost)| {
        let mut pieces: Vec<Term> = Vec::new();
        for (term, (edit, which, other)) in before.iter().zip(edits) {
            match edit {
                0 => pieces.push(term.clone()),
                1 => pieces.push(loosened(term, which)),
                2..=4 if !ties.is_empty() => pieces.push(carried(term, &ties)),
                _ => pieces.extend(split(term, &other)),
            }
        }
        if let Some(lost) = lost.filter(|_| !pieces.is_empty()) {
            pieces.remove(lost.index(pieces.len()));
        }
        pieces
    });
    prop_oneof![terms(words), edited]
}

/// What the term says of the first axis of a tie, said of the second.
fn carried(term: &Term, ties: &[(usize, usize)]) -> Term {
    let over = |axis: usize| ties.iter().find(|(from, _)| *from == axis).map_or(axis, |(_, to)| *to);
    term.iter().map(|(axis, condition)| (over(*axis), condition.clone())).collect()
}

fn loosened(term: &Term, which: Index) -> Term {
    let mut term = term.clone();
    if !term.is_empty() {
        term.remove(which.index(term.len()));
    }
    term
}

/// The part of the term where the other's first condition is met, and the part where it is not.
fn split(term: &Term, other: &Term) -> Vec<Term> {
    let Some((axis, condition)) = other.first() else { return vec![term.clone()] };
    let opposite = match condition.clone() {
        Condition::In(values) => Condition::NotIn(values),
        Condition::NotIn(values) => Condition::In(values),
        Condition::Present => Condition::Absent,
        Condition::Absent => Condition::Present,
        // The opposite among numbers.
        Condition::Above(number) => Condition::Below(number.saturating_add(1)),
        Condition::Below(number) => Condition::Above(number.saturating_sub(1)),
    };
    let with = |condition| term.iter().cloned().chain([(*axis, condition)]).collect();
    vec![with(condition.clone()), with(opposite)]
}

/// Either anything, or what could decide the question, perhaps together with the ties: inside terms imply outside ones.
fn implication(words: &Words, inside: &[Term], outside: &[Term]) -> impl Strategy<Value = (Term, Term)> + use<> {
    let (inside, outside, ties) = (inside.to_vec(), outside.to_vec(), words.ties.clone());
    let choice = (0_u8..4, any::<Index>(), any::<Index>(), term(words), term(words));
    let telling = choice.prop_map(move |(over, when, then, if_none, then_none)| {
        let pick = |terms: &[Term], index: Index, none: Term| {
            if terms.is_empty() { none } else { terms[index.index(terms.len())].clone() }
        };
        let when = pick(&inside, when, if_none);
        (if over < 3 { carried(&when, &ties) } else { when }, pick(&outside, then, then_none))
    });
    prop_oneof![1 => (term(words), term(words)), 3 => telling]
}
