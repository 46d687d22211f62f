//! A server as its clients meet it: over TLS on the loopback interface, with certificates made for the test.

pub mod client;
pub mod pki;
pub mod running;
