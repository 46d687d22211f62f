//! Computes: sets of values, conjunctions, unions, containment, an example when the answer is no.
//!
//! Whether every node admitted by one selector is admitted by another, and whether every taint that one list of
//! tolerations tolerates is tolerated by another list, is one question: is a union of boxes contained in a union of
//! boxes? It is answered here, once, for any space. This layer knows no JSON, no object and no policy; it reads nothing
//! and writes nothing.
//!
//! ```
//! use placement_guard::logic::{Budget, Condition, Containment, Domain, Facts, Outline, contained};
//!
//! let mut outline = Outline::default();
//! let zone = outline.axis("zone", Domain::OptionalText);
//! let old = vec![(zone, Condition::In(vec!["b", "c"]))];
//! let new = vec![(zone, Condition::In(vec!["b"]))];
//! outline.mention(&old);
//! outline.mention(&new);
//! let space = outline.cut();
//!
//! let (old, new) = (space.union([&old]), space.union([&new]));
//! let mut budget = Budget::of(1_000);
//! assert_eq!(contained(&space, &new, &old, &Facts::default(), &mut budget), Containment::Contained);
//! let Containment::Escapes(point) = contained(&space, &old, &new, &Facts::default(), &mut budget) else { panic!() };
//! assert_eq!(space.value(zone, &point), Some("c"));
//! ```

mod beside;
mod budget;
mod class_set;
mod condition;
mod containment;
mod domain;
mod facts;
mod neighbours;
mod ordered;
mod partition;
mod problem;
mod search;
mod space;

pub use budget::{Budget, Exhausted};
pub use class_set::ClassSet;
pub use condition::Condition;
pub use containment::{Containment, contained, contained_plainly, covered};
pub use domain::Domain;
pub use facts::{Facts, Implication};
pub use neighbours::Neighbours;
pub use partition::Kind;
pub use space::{Axis, Conjunction, Outline, Point, Space, Term, Union};
