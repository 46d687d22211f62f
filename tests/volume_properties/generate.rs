//! Updates of volumes as they are generated: small in values, rich in what can go wrong.

use std::collections::{BTreeMap, BTreeSet};

use placement_guard::kubernetes::field::{self, Field};
use placement_guard::kubernetes::volume::Volume;
use proptest::prelude::*;
use proptest::sample::{Index, select, subsequence};
use serde_json::{Value, json};

use super::judge::are_valid;

pub const ZONE: &str = "topology.kubernetes.io/zone";
pub const REGION: &str = "topology.kubernetes.io/region";
pub const BETA_ZONE: &str = "failure-domain.beta.kubernetes.io/zone";
pub const BETA_REGION: &str = "failure-domain.beta.kubernetes.io/region";
/// The built-in aliases that the generated keys can meet.
pub const SUCCESSORS: [(&str, &str); 2] = [(BETA_ZONE, ZONE), (BETA_REGION, REGION)];
pub const ZONE_LABELS: [&str; 4] = [ZONE, REGION, BETA_ZONE, BETA_REGION];
pub const DISK: &str = "example.com/disk";
pub const GENERATION: &str = "example.com/generation";

/// Requirements that do not parse.
const POISONED: &[(&str, &str, &[&str])] = &[
    (DISK, "in", &["ssd"]),
    (DISK, "In", &[]),
    (DISK, "In", &["ssd", "-x"]),
    (DISK, "Exists", &["ssd"]),
    (DISK, "Gt", &["ssd"]),
    (DISK, "Lt", &["1", "2"]),
    ("a/b/c", "Exists", &[]),
];

#[derive(Debug, Clone, PartialEq)]
pub struct Requirement {
    pub key: &'static str,
    pub operator: &'static str,
    pub values: Vec<&'static str>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Term {
    pub expressions: Vec<Requirement>,
    /// The operator of a requirement on the node's name, if there is one.
    pub field: Option<&'static str>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Pv {
    /// `None`: no node affinity.
    pub terms: Option<Vec<Term>>,
    pub labels: BTreeMap<&'static str, &'static str>,
}

#[derive(Debug, Clone)]
pub enum Fact {
    Zone { zone: &'static str, region: &'static str },
    Alias { old: &'static str, new: &'static str },
    Implies { when: Option<Requirement>, then: Requirement },
}

#[derive(Debug, Clone)]
pub struct Update {
    pub before: Pv,
    pub after: Pv,
    pub facts: Vec<Fact>,
}

/// Keys that are used together, so that a world stays small.
#[derive(Debug, Clone, Copy)]
pub enum Palette {
    /// Zones and regions under both generations of keys.
    Places,
    /// Zones, disks and numbers.
    Things,
}

impl Palette {
    fn keys(self) -> &'static [&'static str] {
        match self {
            Palette::Places => &[ZONE, ZONE, BETA_ZONE, REGION, BETA_REGION],
            Palette::Things => &[ZONE, DISK, GENERATION, GENERATION],
        }
    }

    fn values(key: &str) -> &'static [&'static str] {
        match key {
            ZONE | BETA_ZONE => &["b", "c"],
            REGION | BETA_REGION => &["east", "west"],
            DISK => &["", "ssd"],
            _ => &["5", "05", "7", "9223372036854775807", "9223372036854775808", "word"],
        }
    }
}

pub fn requirement(palette: Palette) -> impl Strategy<Value = Requirement> {
    let good = select(palette.keys()).prop_flat_map(|key| {
        let listed = subsequence(Palette::values(key), 1..=2);
        let threshold = select(&["0", "4", "5", "06", "7", "9223372036854775806", "9223372036854775807"][..]);
        let numeric = if key == GENERATION { 6 } else { 0 };
        prop_oneof![
            6 => listed.clone().prop_map(|values| ("In", values)),
            3 => listed.prop_map(|values| ("NotIn", values)),
            2 => Just(("Exists", vec![])),
            2 => Just(("DoesNotExist", vec![])),
            numeric => threshold.clone().prop_map(|value| ("Gt", vec![value])),
            numeric => threshold.prop_map(|value| ("Lt", vec![value])),
        ]
        .prop_map(move |(operator, values)| Requirement { key, operator, values })
    });
    let poisoned =
        select(POISONED).prop_map(|(key, operator, values)| Requirement { key, operator, values: values.to_vec() });
    prop_oneof![40 => good, 1 => poisoned]
}

pub fn term(palette: Palette) -> impl Strategy<Value = Term> {
    let expressions = prop_oneof![
        1 => Just(vec![]),
        24 => prop::collection::vec(requirement(palette), 1..=3),
        match palette { Palette::Places => 0, Palette::Things => 4 } => only_five(),
    ];
    let field = prop_oneof![20 => Just(None), 2 => Just(Some("In")), 1 => Just(Some("Exists"))];
    (expressions, field).prop_map(|(expressions, field)| Term { expressions, field })
}

/// Nothing but spellings of 5, with or without the plain ones.
fn only_five() -> impl Strategy<Value = Vec<Requirement>> {
    let requirement = |operator, values| Requirement { key: GENERATION, operator, values };
    subsequence(&["5", "05"][..], 0..=2).prop_map(move |spellings| {
        let mut between = vec![requirement("Gt", vec!["4"]), requirement("Lt", vec!["06"])];
        if !spellings.is_empty() {
            between.push(requirement("NotIn", spellings));
        }
        between
    })
}

fn labels(palette: Palette) -> BoxedStrategy<BTreeMap<&'static str, &'static str>> {
    let label = select(&ZONE_LABELS[..]).prop_flat_map(|key| {
        let values: &[&str] =
            if key.ends_with("zone") { &["b", "c", "b__c", "b____c"] } else { &["east", "east__west", "east____"] };
        (Just(key), select(values))
    });
    match palette {
        Palette::Places => prop_oneof![
            1 => Just(BTreeMap::new()),
            1 => prop::collection::vec(label, 1..=2).prop_map(|labels| labels.into_iter().collect()),
        ]
        .boxed(),
        Palette::Things => Just(BTreeMap::new()).boxed(),
    }
}

pub fn pv(palette: Palette) -> impl Strategy<Value = Pv> {
    let terms = prop_oneof![1 => Just(None), 9 => prop::collection::vec(term(palette), 0..=3).prop_map(Some)];
    (terms, labels(palette)).prop_map(|(terms, labels)| Pv { terms, labels })
}

pub fn fact(palette: Palette) -> impl Strategy<Value = Fact> {
    let places = match palette {
        Palette::Places => 4,
        Palette::Things => 0,
    };
    let zone =
        (select(&["b", "c"][..]), select(&["east", "west"][..])).prop_map(|(zone, region)| Fact::Zone { zone, region });
    // The other way round it is built in.
    let alias = select(&[(ZONE, BETA_ZONE), (REGION, BETA_REGION)][..]).prop_map(|(old, new)| Fact::Alias { old, new });
    let parses = move || requirement(palette).prop_filter("a fact parses", |requirement| !is_poisoned(requirement));
    let implication =
        (prop::option::weighted(0.8, parses()), parses()).prop_map(|(when, then)| Fact::Implies { when, then });
    prop_oneof![places => zone, places => alias, 2 => implication]
}

fn is_poisoned(requirement: &Requirement) -> bool {
    let Requirement { key, operator, values } = requirement;
    let numbers = matches!(*operator, "Gt" | "Lt");
    *key == "a/b/c"
        || *operator == "in"
        || values.contains(&"-x")
        || (numbers && (values.len() != 1 || values[0].parse::<i64>().is_err()))
        || (matches!(*operator, "In" | "NotIn") && values.is_empty())
        || (matches!(*operator, "Exists" | "DoesNotExist") && !values.is_empty())
}

/// A small edit of a volume.
#[derive(Debug, Clone)]
pub enum Edit {
    AddTerm(Term),
    DropTerm(Index),
    AddRequirement(Index, Requirement),
    DropRequirement(Index),
    MoveToSuccessor,
    MoveToRegion,
    Relabel(BTreeMap<&'static str, &'static str>),
    DropAffinity,
}

fn edit(palette: Palette) -> impl Strategy<Value = Edit> {
    prop_oneof![
        3 => term(palette).prop_map(Edit::AddTerm),
        2 => any::<Index>().prop_map(Edit::DropTerm),
        3 => (any::<Index>(), requirement(palette)).prop_map(|(at, what)| Edit::AddRequirement(at, what)),
        2 => any::<Index>().prop_map(Edit::DropRequirement),
        2 => Just(Edit::MoveToSuccessor),
        3 => Just(Edit::MoveToRegion),
        2 => labels(palette).prop_map(Edit::Relabel),
        1 => Just(Edit::DropAffinity),
    ]
}

impl Pv {
    pub fn edited(&self, edit: &Edit) -> Pv {
        let mut pv = self.clone();
        match edit {
            Edit::AddTerm(term) => pv.terms.get_or_insert_default().push(term.clone()),
            Edit::DropTerm(at) => {
                if let Some(terms) = pv.terms.as_mut().filter(|terms| !terms.is_empty()) {
                    terms.remove(at.index(terms.len()));
                }
            }
            Edit::AddRequirement(at, requirement) => {
                pv.change(*at, |term| term.expressions.push(requirement.clone()));
            }
            Edit::DropRequirement(at) => pv.change(*at, |term| drop(term.expressions.pop())),
            Edit::MoveToSuccessor => {
                for requirement in pv.terms.iter_mut().flatten().flat_map(|term| &mut term.expressions) {
                    requirement.key = match requirement.key {
                        BETA_ZONE => ZONE,
                        BETA_REGION => REGION,
                        other => other,
                    };
                }
            }
            Edit::MoveToRegion => {
                let requirements = pv.terms.iter_mut().flatten().flat_map(|term| &mut term.expressions);
                for requirement in requirements.filter(|requirement| matches!(requirement.key, ZONE | BETA_ZONE)) {
                    if requirement.operator == "In" {
                        (requirement.key, requirement.values) = (REGION, vec!["east"]);
                    }
                }
            }
            Edit::Relabel(labels) => pv.labels = labels.clone(),
            Edit::DropAffinity => pv.terms = None,
        }
        pv
    }

    fn change(&mut self, at: Index, change: impl FnOnce(&mut Term)) {
        if let Some(terms) = self.terms.as_mut().filter(|terms| !terms.is_empty()) {
            let at = at.index(terms.len());
            change(&mut terms[at]);
        }
    }

    pub fn manifest(&self) -> Value {
        let terms = self.terms.as_ref().map(|terms| terms.iter().map(Term::json).collect::<Vec<_>>());
        let affinity = terms.map(|terms| json!({"required": {"nodeSelectorTerms": terms}}));
        json!({"metadata": {"name": "pv", "labels": self.labels}, "spec": {"nodeAffinity": affinity}})
    }

    pub fn volume(&self) -> Volume {
        let text = self.manifest().to_string();
        let document = field::parse(text.as_bytes()).expect("it is JSON");
        Volume::read(&Field::root("object", &document)).expect("it is readable")
    }
}

impl Requirement {
    pub fn json(&self) -> Value {
        json!({"key": self.key, "operator": self.operator, "values": self.values})
    }
}

impl Term {
    fn json(&self) -> Value {
        let expressions: Vec<Value> = self.expressions.iter().map(Requirement::json).collect();
        let field = |operator| json!({"key": "metadata.name", "operator": operator, "values": ["n"]});
        json!({"matchExpressions": expressions, "matchFields": self.field.map(field).into_iter().collect::<Vec<_>>()})
    }
}

pub fn palette() -> impl Strategy<Value = Palette> {
    select(&[Palette::Places, Palette::Things][..])
}

pub fn facts(palette: Palette) -> impl Strategy<Value = Vec<Fact>> {
    let facts = prop::collection::vec(fact(palette), 0..=5);
    facts.prop_map(consistent).prop_filter("the settings are valid", |facts| are_valid(facts))
}

/// Of facts about the same zone, or the same alias, the first.
pub fn consistent(facts: Vec<Fact>) -> Vec<Fact> {
    let mut seen = BTreeSet::new();
    let mut kept: Vec<Fact> = facts
        .into_iter()
        .filter(|fact| match fact {
            Fact::Zone { zone, .. } => seen.insert(*zone),
            Fact::Alias { old, .. } => seen.insert(*old),
            Fact::Implies { .. } => true,
        })
        .collect();
    kept.sort_by_key(|fact| match fact {
        Fact::Zone { zone, .. } => (0, *zone),
        Fact::Alias { old, .. } => (1, *old),
        Fact::Implies { .. } => (2, ""),
    });
    kept
}

pub fn update() -> impl Strategy<Value = Update> {
    palette().prop_flat_map(|palette| {
        let edited = (pv(palette), prop::collection::vec(edit(palette), 1..=3)).prop_map(|(before, edits)| {
            let after = edits.iter().fold(before.clone(), |pv, edit| pv.edited(edit));
            (before, after)
        });
        let states = prop_oneof![1 => (pv(palette), pv(palette)), 3 => edited];
        (states, facts(palette)).prop_map(|((before, after), facts)| Update { before, after, facts })
    })
}
