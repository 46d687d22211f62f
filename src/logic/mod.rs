//! Computes: sets of values, conjunctions, unions, containment, and an example when the answer is no.
//!
//! Does one selector admit every node that another admits? Does one list of tolerations tolerate every taint that another
//! tolerates? Both ask the same: is a union of boxes contained in a union of boxes? This layer answers that, for any space.
//! It knows no JSON, no object and no policy, and it reads and writes nothing.
//!
//! All work is paid for out of a [`Budget`] of steps. Mentioning terms is paid for when the space is cut.
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
//! let mut budget = Budget::of(1_000);
//! let space = outline.cut(&mut budget).unwrap();
//!
//! let (old, new) = (space.union([&old], &mut budget).unwrap(), space.union([&new], &mut budget).unwrap());
//! assert_eq!(contained(&space, &new, &old, &Facts::default(), &mut budget), Containment::Contained);
//! let Containment::Escapes(point) = contained(&space, &old, &new, &Facts::default(), &mut budget) else { panic!() };
//! assert_eq!(space.value(zone, &point), Some("c"));
//! ```

mod budget;
mod class_set;
mod condition;
mod containment;
mod domain;
mod facts;
mod neighbours;
mod one_clause;
mod ordered;
mod partition;
mod problem;
mod search;
mod space;
mod union;

pub use budget::{Budget, Exhausted};
pub use class_set::ClassSet;
pub use condition::Condition;
pub use containment::{Containment, contained, contained_plainly, covered};
pub use domain::Domain;
pub use facts::{Facts, Implication};
pub use neighbours::Neighbours;
pub use partition::Kind;
pub use space::{Axis, Conjunction, Outline, Point, Space, Term};
pub use union::Union;
