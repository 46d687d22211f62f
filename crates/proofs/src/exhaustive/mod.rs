//! Every small question, against an oracle that is written to be read.
//!
//! A *list* is a node selector or a list of tolerations. A question is a pair of lists: is everything that the first one admits
//! admitted by the second? Each side answers in its own way:
//!
//! * The oracle ([`oracle`]) writes down every object that could matter, as values of labels or as taints. A list is then the set
//!   of the objects that it admits, as one bit each, and a question is one operation on two numbers.
//! * The library is asked through its public interface: the readers of `kubernetes` make terms, and `logic` compares their unions.
//!
//! # How so many questions are asked
//!
//! All lists are brought into one space, and lists whose merged unions are equal values are asked about once.
//! `logic::contained` merges both unions before it does anything else, and its answer depends on its arguments only. So it is
//! the answer for each of these lists. Lists count as one only where the oracle also gives them the same objects. Nothing else is
//! left out. A part of the questions is also asked as the rules ask them: unmerged, in a space of the two lists alone.

pub mod oracle;
pub mod selectors;
pub mod tolerations;

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use placement_guard::logic::{Budget, Containment, Facts, Point, Space, Union, contained};

use oracle::Objects;

/// Steps that no small question needs.
const PLENTY: u64 = 1_000_000;

/// What was asked, and how often both sides did not agree.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Count {
    /// Pairs of lists that the questions stand for.
    pub pairs: u64,
    /// Calls of the library.
    pub asked: u64,
    pub contained: u64,
    pub disagreements: u64,
}

impl Count {
    pub fn add(&mut self, other: Count) {
        self.pairs += other.pairs;
        self.asked += other.asked;
        self.contained += other.contained;
        self.disagreements += other.disagreements;
    }
}

/// Lists that are the same to both sides.
struct Alike {
    union: Union,
    objects: Objects,
    /// How many lists these are.
    lists: u64,
}

/// All lists, in one space.
pub struct Family<'s> {
    space: &'s Space<'s>,
    facts: &'s Facts,
    /// The objects that the facts allow.
    possible: Objects,
    alike: Vec<Alike>,
    /// The object of the oracle at a point.
    object_at: &'s (dyn Fn(&Point) -> Objects + Sync),
}

impl<'s> Family<'s> {
    pub fn new(
        (space, facts): (&'s Space<'s>, &'s Facts),
        lists: impl IntoIterator<Item = (Union, Objects)>,
        possible: Objects,
        object_at: &'s (dyn Fn(&Point) -> Objects + Sync),
    ) -> Self {
        let mut positions: HashMap<(String, Objects), usize> = HashMap::new();
        let mut alike: Vec<Alike> = Vec::new();
        for (union, objects) in lists {
            let union = union.merged(space, &mut Budget::of(PLENTY)).expect("a small union is soon merged");
            let position = *positions.entry((format!("{:?}", union.boxes()), objects)).or_insert(alike.len());
            match alike.get_mut(position) {
                Some(same) => {
                    assert_eq!(same.union, union, "different unions are written alike");
                    same.lists += 1;
                }
                None => alike.push(Alike { union, objects, lists: 1 }),
            }
        }
        Family { space, facts, possible, alike, object_at }
    }

    /// How many lists differ.
    pub fn different(&self) -> usize {
        self.alike.len()
    }

    /// Asks about each pair, or about one pair in `every`.
    pub fn ask(&self, every: usize, threads: usize, progress: &(dyn Fn(usize, usize) + Sync)) -> Count {
        let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let work = || {
            let mut count = Count::default();
            loop {
                let row = next.fetch_add(1, Ordering::Relaxed);
                let Some(inside) = self.alike.get(row) else { return count };
                // The pairs are numbered row by row.
                let skipped = (every - row * self.alike.len() % every) % every;
                for outside in self.alike.iter().skip(skipped).step_by(every) {
                    self.ask_one(inside, outside, &mut count);
                }
                progress(done.fetch_add(1, Ordering::Relaxed) + 1, self.alike.len());
            }
        };
        let mut all = Count::default();
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            for thread in threads {
                all.add(thread.join().expect("the library does not panic"));
            }
        });
        all
    }

    fn ask_one(&self, inside: &Alike, outside: &Alike, count: &mut Count) {
        count.asked += 1;
        count.pairs += inside.lists * outside.lists;
        let lost = inside.objects & !outside.objects & self.possible;
        let budget = &mut Budget::of(PLENTY);
        let agree = match contained(self.space, &inside.union, &outside.union, self.facts, budget) {
            Containment::Contained => {
                count.contained += 1;
                lost == 0
            }
            // The example must be one of the objects that are lost.
            Containment::Escapes(point) => (self.object_at)(&point) & lost != 0,
            Containment::Undecided => false,
        };
        if !agree {
            count.disagreements += 1;
            if count.disagreements <= 5 {
                println!("disagreement: {:?} in {:?}, oracle: {lost:b}", inside.union, outside.union);
            }
        }
    }
}

/// Prints how far a run is, about every ten seconds.
pub fn progress(title: &str) -> impl Fn(usize, usize) + Sync + use<'_> {
    let begun = Instant::now();
    let said = AtomicUsize::new(0);
    move |done, of| {
        let tens = (begun.elapsed().as_secs() / 10) as usize;
        if said.fetch_max(tens, Ordering::Relaxed) < tens {
            println!("  {title}: {done} of {of}, {} s", begun.elapsed().as_secs());
        }
    }
}
