//! The server as its clients meet it: over TLS on the loopback interface, with certificates made for the test, and the
//! module that `make module` built wherever a decision matters.

#![allow(clippy::restriction)]

mod admit;
mod answers;
mod attacks;
mod cases;
mod cluster;
mod cluster_access;
mod cluster_cases;
mod cluster_manifests;
mod drain;
mod fairness;
mod hostile;
mod query;
mod reload;
mod slots;
