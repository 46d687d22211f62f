//! `proofs PART …`: what the targets of the Makefile run.

use std::io::{BufRead, Write};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use proofs::exhaustive::{Count, selectors, tolerations};
use proofs::fuzz::engine::{Ran, fuzz as run_fuzz};
use proofs::fuzz::targets::Target;
use proofs::panics::{Calls, is_listed_as};
use proofs::random::Random;
use proofs::second_opinion::{Comparison, generate, text};
use proofs::worst::search;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let is_right = match arguments.as_slice() {
        ["exhaustive", rest @ ..] => exhaustive(rest),
        ["questions", count, seed] => questions(number(count), number(seed)),
        ["compare"] => compare(),
        ["panics", module] => panics(module),
        ["worst", seconds, seed] => worst(number(seconds), number(seed)),
        ["fuzz", target, seconds, seed] => fuzz(target, number(seconds), number(seed)),
        _ => {
            eprintln!(
                "usage: proofs exhaustive [EVERY] | questions COUNT SEED | compare | fuzz TARGET SECONDS SEED | worst SECONDS SEED | panics MODULE"
            );
            return ExitCode::from(2);
        }
    };
    if is_right { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn number<N: std::str::FromStr>(text: &str) -> N {
    text.parse().unwrap_or_else(|_| panic!("`{text}` is not a number"))
}

/// Asks about every small question, or about one in `EVERY`. Whether both sides always agreed.
fn exhaustive(arguments: &[&str]) -> bool {
    let every = arguments.first().map_or(1, |every| number(every));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut all = Count::default();
    let mut counted = |title: &str, begun: Instant, count: Count| {
        let Count { pairs, asked, contained, disagreements } = count;
        let seconds = begun.elapsed().as_secs();
        println!(
            "{title}: {pairs} pairs in {asked} calls, {contained} of them contained, {disagreements} disagreements, {seconds} s"
        );
        all.add(count);
    };
    println!("bound: {}", tolerations::BOUND);
    counted("at most 2 tolerations", Instant::now(), tolerations::ask(2, every, threads));
    println!("bound: {}", selectors::BOUND);
    for world in selectors::WORLDS {
        let every = every * world.one_in;
        println!("{}: one question in {every}", world.name);
        for given in selectors::GIVEN {
            let begun = Instant::now();
            counted(given.name(), begun, world.ask(given, every, threads));
            let begun = Instant::now();
            counted("in spaces of their own", begun, world.ask_alone(given, every * 1_009));
        }
    }
    println!("at most 3 tolerations: one question in {}", every * 10);
    counted("at most 3 tolerations", Instant::now(), tolerations::ask(3, every * 10, threads));
    println!("in all: {} pairs in {} calls, {} disagreements", all.pairs, all.asked, all.disagreements);
    all.disagreements == 0
}

/// Writes large questions for the solver.
fn questions(count: usize, seed: u64) -> bool {
    let mut random = Random::from_seed(seed);
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    (1..=count).all(|number| writeln!(out, "{}", text::write(number, &generate::question(&mut random))).is_ok())
}

/// Answers the questions that the solver answered, and prints both times. Whether they agree.
fn compare() -> bool {
    let mut comparison = Comparison::default();
    let lines = std::io::stdin().lock().lines().map(|line| line.expect("standard input is text"));
    text::read(lines, |name, question, solved| comparison.ask(name, question, &solved));
    let Comparison { questions, contained, with_facts, undecided, unknown, disagreements, .. } = &comparison;
    println!("{questions} questions, {with_facts} of them with facts, {contained} contained");
    println!("{} disagreements", disagreements.len());
    disagreements.iter().for_each(|line| println!("  {line}"));
    let share = 100.0 * *undecided as f64 / *questions as f64;
    println!("undecided by placement-guard: {undecided} ({share:.3} %), unknown to z3: {unknown}");
    println!("{:>16} {:>10} {:>10} {:>10} {:>10}", "microseconds", "median", "99 %", "slowest", "mean");
    for (name, times) in ["placement-guard", "z3"].into_iter().zip(comparison.times()) {
        let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_micros();
        let mean = times.iter().sum::<std::time::Duration>().as_micros() / times.len() as u128;
        println!("{name:>16} {:>10} {:>10} {:>10} {mean:>10}", at(0.5), at(0.99), at(1.0));
    }
    disagreements.is_empty() && share <= 0.1 && *questions > 0
}

/// Runs one target for so many seconds of the processor. Whether nothing failed.
fn fuzz(target: &str, seconds: u64, seed: u64) -> bool {
    let named = Target::named(target).unwrap_or_else(|| panic!("`{target}` is not a target"));
    // A panic is reported with its input.
    std::panic::set_hook(Box::new(|_| {}));
    let Ran { executions, read, failures, kept, reached: (reached, places), slowest, .. } =
        run_fuzz(named, seed, Duration::from_secs(seconds), "target/fuzz".as_ref());
    println!(
        "{target}: {executions} executions in {seconds} s, {read} of them read, {failures} failures, {reached} of {places} places in the code reached, \
         {kept} inputs kept, the slowest took {slowest:?}"
    );
    failures == 0
}

/// Searches for slow requests, so many seconds for each rule.
fn worst(seconds: u64, seed: u64) -> bool {
    for rule in testkit::shapes::RULES {
        let say = |shape: &testkit::shapes::Shape, cost: &proofs::worst::Cost| {
            let proofs::worst::Cost { time, steps, bytes } = cost;
            println!("{rule}: {time:.1?}, {steps} steps, {:.1} ns a step, {bytes} bytes: {shape:?}", cost.of_step());
        };
        let (shape, cost) = search(rule, seed, Duration::from_secs(seconds), say);
        print!("slowest: ");
        say(&shape, &cost);
    }
    true
}

/// Whether the functions of a module that can panic are those of `panics.txt`, each with a reason.
fn panics(module: &str) -> bool {
    let bytes = std::fs::read(module).unwrap_or_else(|error| panic!("{module}: {error}"));
    let calls = Calls::read(&bytes).unwrap_or_else(|error| panic!("{module}: {error}"));
    assert!(calls.has_names(), "{module} has no names; `make panics` builds one that has");
    let listed: Vec<&str> =
        include_str!("../panics.txt").lines().filter_map(|line| Some(line.split_once(" # ")?.0)).collect();
    let mut panicking = calls.panicking();
    let all = panicking.len();
    let is_everywhere = |panic: &String| listed.iter().any(|name| name.strip_prefix("* ") == Some(panic));
    panicking.values_mut().for_each(|panics| panics.retain(|panic| !is_everywhere(panic)));
    panicking.retain(|_, panics| !panics.is_empty());
    let mut is_right = true;
    for (function, panics) in &panicking {
        if !listed.iter().any(|name| is_listed_as(name, function)) {
            is_right = false;
            println!("not listed: {function}, which calls {}", panics.iter().cloned().collect::<Vec<_>>().join(", "));
        }
    }
    for name in listed.iter().filter(|name| !name.starts_with("* ")) {
        if !panicking.keys().any(|function| is_listed_as(name, function)) {
            is_right = false;
            println!("listed and not there: {name}");
        }
    }
    let (functions, reach) = calls.reach();
    println!("{functions} functions: {all} call a panic, {reach} can reach one by calls");
    println!("{} call one that is not excused everywhere", panicking.len());
    is_right
}
