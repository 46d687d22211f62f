//! Drives the provider over TLS on the loopback interface, every key another one, and in turns with it the same load on a
//! server that reads its requests and does nothing: `make load`.
//!
//! Both servers are processes of their own, so that the memory is theirs alone, and the provider logs as it always does.

mod certificates;
mod driver;
mod servers;

use driver::{Driver, Measured};
use servers::Child;

/// Requests of each server, unless the first argument says otherwise.
const REQUESTS: usize = 200_000;
/// As many connections as Gatekeeper keeps.
const CONNECTIONS: usize = 10;
/// Whatever else the machine does meets both servers alike.
const TURNS: usize = 20;
/// After so many turns everything is there that will ever be: threads, pages of the pool, buffers.
const WARM: usize = 2;

const LEAST_THROUGHPUT: f64 = 0.4;
const MOST_P99: f64 = 3.0;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["provider", folder] => servers::provider(folder.as_ref()),
        ["nothing", folder] => servers::nothing(folder.as_ref()),
        [] => end(measure(REQUESTS)),
        [requests] => end(measure(requests.parse().expect("the argument is a number of requests"))),
        _ => panic!("the argument is a number of requests"),
    }
}

/// After the servers have ended.
fn end(reached: bool) {
    if !reached {
        std::process::exit(1);
    }
}

/// Prints what it measures; whether it is what it must be.
fn measure(requests: usize) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let certificates = certificates::write(folder.path());
    let (provider, nothing) = (Child::start("provider", folder.path()), Child::start("nothing", folder.path()));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (mut ours, mut theirs) = (Measured::default(), Measured::default());
    let mut warm = 0;
    runtime.block_on(async {
        let mut to_provider = Driver::connect(provider.address, &certificates, CONNECTIONS).await;
        let mut to_nothing = Driver::connect(nothing.address, &certificates, CONNECTIONS).await;
        let each = requests / TURNS / CONNECTIONS;
        for turn in 0..TURNS {
            theirs.add(to_nothing.drive(each, |_| true).await);
            ours.add(to_provider.drive(each, |answer| answer.contains(r#""relation":"widened""#)).await);
            if turn + 1 == WARM {
                warm = provider.memory();
            }
            eprint!("\r{} of {TURNS} turns", turn + 1);
        }
        eprintln!();
    });
    let end = provider.memory();
    println!("{} requests to each on {CONNECTIONS} connections, in {TURNS} turns", ours.times.len());
    println!("            requests/s      p50      p99");
    for (name, measured) in [("nothing", &mut theirs), ("provider", &mut ours)] {
        let (p50, p99) = (measured.percentile(50), measured.percentile(99));
        println!("{name:<10} {:>11.0} {:>8.1?} {:>8.1?}", measured.throughput(), p50, p99);
    }
    let throughput = ours.throughput() / theirs.throughput();
    let p99 = ours.percentile(99).as_secs_f64() / theirs.percentile(99).as_secs_f64();
    println!("throughput: {throughput:.2} of that of nothing, at least {LEAST_THROUGHPUT}");
    println!("p99: {p99:.2} times that of nothing, at most {MOST_P99}");
    let mebibytes = |bytes: usize| bytes as f64 / f64::from(1 << 20);
    let after = ours.times.len() * WARM / TURNS;
    println!("memory: {:.1} MiB after {after} requests, {:.1} MiB at the end", mebibytes(warm), mebibytes(end));
    throughput >= LEAST_THROUGHPUT && p99 <= MOST_P99
}
