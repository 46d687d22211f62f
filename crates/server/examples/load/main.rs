//! Starts the provider, and a server with a handler that does nothing, and drives both with Gatekeeper's own client
//! (`tests/cluster/gatekeeper/load`): `make load`.
//!
//! The servers are processes of their own, so that the memory is theirs alone, and the provider logs as it always does.

#![allow(clippy::restriction)]

mod certificates;
mod servers;

use std::process::{Command, exit};

use servers::Child;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["provider", folder] => servers::provider(folder.as_ref()),
        ["nothing", folder] => servers::nothing(folder.as_ref()),
        [client, requests] => exit(i32::from(!drive(client, requests))),
        _ => panic!("the arguments are Gatekeeper's client, and how many requests it sends to each server"),
    }
}

/// Whether the client found what it must find. The servers have ended by then.
fn drive(client: &str, requests: &str) -> bool {
    let folder = tempfile::tempdir().unwrap();
    certificates::write(folder.path());
    let [nothing, provider] = ["nothing", "provider"].map(|server| Child::start(server, folder.path()));
    let mut driven = Command::new(client);
    driven.arg(requests).arg(folder.path()).args([nothing.address(), provider.address(), provider.id().to_string()]);
    driven.status().unwrap_or_else(|error| panic!("{client}: {error}")).success()
}
