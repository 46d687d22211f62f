//! Decides, exactly and with evidence, whether a change to where Kubernetes may place volumes and pods is safe.
//!
//! A request comes in, a decision goes out. The rules compare sets, not spellings: *is every node that the old node
//! affinity admits admitted by the new one? is every taint that this pod tolerates one that it may tolerate?* Where the
//! answer is no, the decision carries one node, or one taint, that shows it, and that example has been replayed through a
//! plain matcher before it is shown.
//!
//! # What it does not do
//!
//! * It does not validate objects: that is the API server's work, done before. What the API server would refuse is read
//!   as Kubernetes' own matchers read it, as something that matches nothing.
//! * It changes nothing: it accepts or refuses.
//! * It reads nothing but the request, the settings and, where they ask for it, the cluster through its host: no clock, no
//!   files, no network.
//!
//! # Layers
//!
//! Arrows go one way, and a test fails when one runs back:
//!
//! ```text
//! kubewarden, verdict  →  rules  →  kubernetes  →  logic
//! talk                    decides   reads          computes
//! ```
//!
//! * [`logic`] computes with sets of values, conjunctions and unions. It knows no Kubernetes name and no JSON.
//! * [`kubernetes`] reads objects into terms of that algebra, with a field path on every complaint. It never decides.
//! * [`rules`] holds one file per rule: settings and request in, findings out. It knows no engine.
//! * [`objects`] is a cluster of given objects, for programs that hold them.
//! * `kubewarden` is the waPC face, behind the feature of its name: bytes in, bytes out. [`verdict`] is the face of programs that link the library.

#[cfg(any(test, all(feature = "kubewarden", target_arch = "wasm32")))]
mod heap;
pub mod kubernetes;
#[cfg(feature = "kubewarden")]
pub mod kubewarden;
pub mod logic;
pub mod objects;
pub mod rules;
pub mod verdict;
