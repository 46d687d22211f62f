//! Every pair of small lists of tolerations.

use k8s_openapi::api::core::v1::Toleration;
use placement_guard::kubernetes::toleration::{EFFECTS, TaintAxes};
use placement_guard::logic::{Budget, Facts, Outline, Point};

use super::oracle::{Objects, Taint, objects_that, tolerate};
use super::{Count, Family, progress};

/// The bound, as it is printed.
pub const BOUND: &str = "lists of at most 2 tolerations, of one key or every key, of 2 effects or every effect: `Exists`, `Equal` with each of 3 \
                         values, one `Gt`, one `Lt`, a `Gt` of a word, an operator that does not exist";

const KEY: &str = "key";
/// Tolerations name the first two effects.
const NAMED_EFFECTS: [Option<&str>; 3] = [None, Some(EFFECTS[0]), Some(EFFECTS[1])];
/// `Equal` is also the operator of a toleration without one.
const ASKED: [(Option<&str>, Option<&str>); 8] = [
    (Some("Exists"), None),
    (Some("Equal"), Some("5")),
    (None, Some("a")),
    (Some("Equal"), None),
    (Some("Gt"), Some("4")),
    (Some("Lt"), Some("6")),
    (Some("Gt"), Some("a")),
    (Some("Near"), Some("5")),
];

/// What a taint can be: each key and value that is named and another one, numbers on each side of the thresholds, numbers that
/// count as words.
const KEYS: [&str; 2] = [KEY, "example.com/other"];
const VALUES: [&str; 8] = ["", "5", "a", "b", "4", "6", "05", "9223372036854775808"];

fn taint(number: usize) -> Taint<'static> {
    let (values, effects) = (VALUES.len(), EFFECTS.len());
    Taint {
        key: KEYS[number / effects / values],
        value: VALUES[number / effects % values],
        effect: EFFECTS[number % effects],
    }
}

const TAINTS: usize = KEYS.len() * VALUES.len() * EFFECTS.len();

fn tolerations() -> Vec<Toleration> {
    let mut all = Vec::new();
    for key in [None, Some(KEY)] {
        for effect in NAMED_EFFECTS {
            all.extend(ASKED.map(|(operator, value)| {
                let [key, operator, value, effect] = [key, operator, value, effect].map(|text| text.map(str::to_owned));
                Toleration { key, operator, value, effect, toleration_seconds: None }
            }));
        }
    }
    all
}

/// Every list of at most so many tolerations, in any order.
fn lists(most: usize) -> Vec<Vec<Toleration>> {
    let all = tolerations();
    // Positions, none smaller than the one before it.
    let mut lists: Vec<Vec<usize>> = vec![Vec::new()];
    let mut begin = 0;
    for _ in 0..most {
        let end = lists.len();
        for list in begin..end {
            let longer = |next: usize| lists[list].iter().copied().chain([next]).collect();
            let first = lists[list].last().copied().unwrap_or(0);
            let more: Vec<Vec<usize>> = (first..all.len()).map(longer).collect();
            lists.extend(more);
        }
        begin = end;
    }
    lists.into_iter().map(|list| list.into_iter().map(|position| all[position].clone()).collect()).collect()
}

/// Asks about every pair of lists of at most so many tolerations, or one pair of different unions in `every`.
pub fn ask(most: usize, every: usize, threads: usize) -> Count {
    let lists = lists(most);
    let budget = &mut Budget::of(u64::MAX);
    let mut outline = Outline::default();
    let axes = TaintAxes::of(&mut outline);
    let terms: Vec<Vec<_>> =
        lists.iter().map(|list| list.iter().filter_map(|entry| axes.term(entry)).collect()).collect();
    terms.iter().flatten().for_each(|term| outline.mention(term));
    let space = outline.cut(budget).expect("the budget is large");
    // The taint at each point, found by what the tolerations say of it.
    let [keys, values, effects] = [axes.key, axes.value, axes.effect].map(|axis| {
        (0..space.count(axis)).map(|class| space.example(axis, class).expect("taints lack nothing")).collect::<Vec<_>>()
    });
    let mut places = Vec::new();
    for key in &keys {
        for value in &values {
            places.extend(effects.iter().map(|effect| like(Taint { key, value, effect })));
        }
    }
    let taint_at = |point: &Point| -> Objects {
        let class = |axis| point.class(axis).map(|class| class as usize);
        let [Some(key), Some(value), Some(effect)] = [axes.key, axes.value, axes.effect].map(class) else { return 0 };
        places.get((key * values.len() + value) * effects.len() + effect).copied().unwrap_or_default()
    };
    let members = terms.iter().zip(&lists).map(|(terms, list)| {
        let objects = objects_that(TAINTS, |number| tolerate(list, taint(number)));
        (space.union(terms, budget).expect("the budget is large"), objects)
    });
    let facts = Facts::default();
    let family = Family::new((&space, &facts), members.collect::<Vec<_>>(), Objects::MAX, &taint_at);
    println!("{} lists of tolerations, {} different ones", lists.len(), family.different());
    family.ask(every, threads, &progress("tolerations"))
}

/// The taints that every toleration treats like this one.
fn like(found: Taint<'_>) -> Objects {
    let entries = tolerations();
    let answers =
        |taint: Taint<'_>| entries.iter().map(|entry| super::oracle::tolerates(entry, taint)).collect::<Vec<_>>();
    let wanted = answers(found);
    objects_that(TAINTS, |number| taint(number).effect == found.effect && answers(taint(number)) == wanted)
}
