//! The loop: change an input, run it, keep it when it reaches something new.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::random::Random;
use crate::worst::cpu_time;

use super::coverage::{self, Reached};
use super::seeds::{self, Documents};
use super::targets::{Input, Target};

/// What a run did.
#[derive(Debug, Default)]
pub struct Ran {
    pub executions: u64,
    pub failures: usize,
    pub kept: usize,
    /// Places in the code that were reached, and places that there are.
    pub reached: (usize, usize),
    pub slowest: Duration,
    pub slowest_input: String,
}

/// The committed corpus of a target.
pub fn corpus_file(target: Target) -> PathBuf {
    seeds::repository().join("crates/proofs/corpus").join(target.name()).with_extension("jsonl")
}

/// The committed corpus of a target. None when it has none.
pub fn corpus(target: Target) -> Vec<Input> {
    let text = std::fs::read_to_string(corpus_file(target)).unwrap_or_default();
    let all_rules = seeds::all_rules();
    let inputs = text.lines().map(|line| match Input::of_line(line) {
        Input::Documents(documents) if documents.settings.is_null() => {
            Input::Documents(Documents { settings: all_rules.clone(), ..documents })
        }
        input => input,
    });
    inputs.collect()
}

/// The line of the committed corpus. The settings of [`Target::Request`] are always the same.
fn line(target: Target, input: &Input) -> String {
    match (target, input) {
        (Target::Request, Input::Documents(documents)) => {
            Input::Documents(Documents { settings: serde_json::Value::Null, ..documents.clone() }).to_line()
        }
        _ => input.to_line(),
    }
}

/// What the committed corpus of a target may take.
const LARGEST_CORPUS: usize = 80_000;

fn seeds(target: Target) -> Vec<Input> {
    let mut random = Random::from_seed(7);
    let seeds: Vec<Input> = match target {
        Target::Algebra => (0..50).map(|_| Input::Bytes((0..60).map(|_| random.number() as u8).collect())).collect(),
        Target::Settings | Target::Both => seeds::documents().into_iter().map(Input::Documents).collect(),
        Target::Request => {
            let settings = seeds::all_rules();
            let under_all = |documents: Documents| Documents { settings: settings.clone(), ..documents };
            seeds::documents().into_iter().map(under_all).map(Input::Documents).collect()
        }
    };
    seeds.into_iter().chain(corpus(target)).collect()
}

/// Runs an input. A panic is a failure too.
fn run(input: &Input, also_in_other_order: bool) -> Result<(), String> {
    let run = || {
        input.run()?;
        if also_in_other_order { input.run_in_other_order() } else { Ok(()) }
    };
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        Err(format!("panic: {}", text.unwrap_or_default()))
    })
}

/// Runs a target for so long. Failures go to files in `folder`, and so does the corpus, reduced to what reaches most.
pub fn fuzz(target: Target, seed: u64, time: Duration, folder: &std::path::Path) -> Ran {
    let mut random = Random::from_seed(seed);
    let (mut ran, mut reached) = (Ran::default(), Reached::default());
    let mut kept: Vec<Input> = Vec::new();
    let begun = Instant::now();
    let mut said = Instant::now();
    std::fs::create_dir_all(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut once = |input: Input, kept: &mut Vec<Input>, ran: &mut Ran, is_seed: bool| {
        coverage::reset();
        let at = cpu_time();
        let result = run(&input, ran.executions.is_multiple_of(16));
        let took = cpu_time().saturating_sub(at);
        ran.executions += 1;
        let is_new = reached.add();
        if let Err(problem) = result {
            ran.failures += 1;
            if ran.failures <= 20 {
                println!("{}: {problem}", target.name());
                let file = folder.join(format!("{}-failure-{seed}-{}", target.name(), ran.failures));
                let _ = std::fs::write(file, format!("{}\n{problem}\n", input.to_line()));
            }
        } else if took > ran.slowest && again(&input) > ran.slowest {
            // Only what is slow twice is slow.
            ran.slowest = again(&input).min(took);
            ran.slowest_input = input.to_line();
        }
        if is_new || (is_seed && coverage::places() == 0) {
            kept.push(input);
        }
        ran.reached = (reached.count(), coverage::places());
    };
    for input in seeds(target) {
        once(input, &mut kept, &mut ran, true);
    }
    while begun.elapsed() < time && !kept.is_empty() {
        // The latest ones have more to give.
        let from = if random.one_in(2) { kept.len().saturating_sub(kept.len() / 5 + 1) } else { 0 };
        let position = from + random.below(kept.len() - from);
        let other = random.below(kept.len());
        let input = target.change(&kept[position], &kept[other], &mut random);
        once(input, &mut kept, &mut ran, false);
        if said.elapsed() > Duration::from_secs(20) {
            said = Instant::now();
            let Ran { executions, failures, reached: (reached, places), slowest, .. } = &ran;
            println!(
                "{}: {executions} executions, {failures} failures, {reached} of {places} places, {} inputs kept, slowest {slowest:?}",
                target.name(),
                kept.len()
            );
        }
    }
    ran.kept = kept.len();
    if coverage::places() > 0 {
        let mut left = LARGEST_CORPUS;
        let lines = reduced(kept).iter().map(|input| line(target, input)).collect::<Vec<_>>();
        let few = lines.into_iter().take_while(|line| {
            let fits = line.len() < left;
            left = left.saturating_sub(line.len() + 1);
            fits
        });
        let few: Vec<String> = few.collect();
        let _ = std::fs::write(folder.join(format!("{}.jsonl", target.name())), few.join("\n") + "\n");
    }
    let _ = std::fs::write(folder.join(format!("{}-slowest.jsonl", target.name())), &ran.slowest_input);
    ran
}

fn again(input: &Input) -> Duration {
    let begun = cpu_time();
    let _ = run(input, false);
    cpu_time().saturating_sub(begun)
}

/// As few inputs as still reach every place, short ones first.
fn reduced(mut inputs: Vec<Input>) -> Vec<Input> {
    inputs.sort_by_key(|input| input.to_line().len());
    let mut reached = Reached::default();
    inputs.retain(|input| {
        let before = reached.count();
        coverage::reset();
        let _ = run(input, false);
        reached.add();
        reached.count() > before
    });
    inputs
}
