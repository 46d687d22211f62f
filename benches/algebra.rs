//! What the algebra costs, natively, on the questions that grow. `wasm-tests/benches/evaluation.rs` asks the same of the
//! built module.

#![allow(clippy::restriction)]

use divan::{Bencher, black_box};
use placement_guard::logic::{
    Axis, Budget, Condition, Containment, Domain, Facts, Outline, Space, Term, Union, contained,
};
use placement_guard::rules::STEPS;

fn main() {
    divan::main();
}

/// 5,000 terms of one host name each, in 5,000 terms of one host name each, listed backwards.
#[divan::bench]
fn hostnames_5000_in_5000(bencher: Bencher) {
    let names = names("node-", 5_000);
    let mut outline = Outline::default();
    let hostname = outline.axis("kubernetes.io/hostname", Domain::OptionalText);
    let one = |name| vec![(hostname, Condition::In(vec![name]))];
    let (old, new): (Vec<Term>, Vec<Term>) = (
        names.iter().map(String::as_str).map(one).collect(),
        names.iter().rev().map(String::as_str).map(one).collect(),
    );
    old.iter().chain(&new).for_each(|term| outline.mention(term));
    let budget = &mut Budget::of(STEPS);
    let space = outline.cut(budget).unwrap();
    let (old, new) = (space.union(&old, budget).unwrap(), space.union(&new, budget).unwrap());
    bencher.bench(|| assert_eq!(ask(&space, &old, &new), Containment::Contained));
}

/// Each of `keys` keys has one of `keys - 1` values, and no two keys have the same. No node is like that, but a search
/// case by case takes long to see it.
#[divan::bench(args = [6, 8, 10])]
fn pigeonhole(bencher: Bencher, keys: usize) {
    let (keys, values) = (names("key-", keys), names("value-", keys - 1));
    bencher.bench(|| {
        let mut outline = Outline::default();
        let axes: Vec<Axis> = keys.iter().map(|key| outline.axis(key, Domain::OptionalText)).collect();
        let every = Condition::In(values.iter().map(String::as_str).collect());
        let inside: Term = axes.iter().map(|axis| (*axis, every.clone())).collect();
        let mut outside: Vec<Term> = Vec::new();
        for (position, first) in axes.iter().enumerate() {
            for second in &axes[..position] {
                let same = |value| vec![(*first, Condition::In(vec![value])), (*second, Condition::In(vec![value]))];
                outside.extend(values.iter().map(String::as_str).map(same));
            }
        }
        outline.mention(&inside);
        outside.iter().for_each(|term| outline.mention(term));
        let budget = &mut Budget::of(STEPS);
        let space = outline.cut(budget).unwrap();
        let (inside, outside) = (space.union([&inside], budget).unwrap(), space.union(&outside, budget).unwrap());
        let answer = ask(&space, &inside, &outside);
        assert_eq!(answer, Containment::Contained);
    });
}

fn ask(space: &Space<'_>, inside: &Union, outside: &Union) -> Containment {
    contained(space, black_box(inside), black_box(outside), &Facts::default(), &mut Budget::of(STEPS))
}

fn names(prefix: &str, count: usize) -> Vec<String> {
    (0..count).map(|number| format!("{prefix}{number}")).collect()
}
