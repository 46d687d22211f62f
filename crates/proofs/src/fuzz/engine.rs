//! The loop: change an input, run it, keep it when it reaches something new.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

use crate::random::Random;
use crate::worst::cpu_time;

use super::coverage::{self, Reached};
use super::seeds;
use super::targets::{Input, Target};

/// What a run did.
#[derive(Debug, Default)]
pub struct Ran {
    pub executions: u64,
    /// Of them those that were not refused as unreadable.
    pub read: u64,
    pub failures: usize,
    pub kept: usize,
    /// Places in the code that were reached, and places that there are.
    pub reached: (usize, usize),
    pub slowest: Duration,
    pub slowest_input: String,
}

/// Every so many inputs one is also asked in other ways.
const IN_OTHER_WAYS: u64 = 16;

/// The committed corpus of a target. None when it has none.
pub fn corpus(target: Target) -> Vec<Input> {
    let file = seeds::repository().join("crates/proofs/corpus").join(target.name()).with_extension("jsonl");
    std::fs::read_to_string(file).unwrap_or_default().lines().map(Input::of_line).collect()
}

/// What the committed corpus of a target may take.
const LARGEST_CORPUS: usize = 80_000;

/// Runs an input, and says whether it could be read. A panic is a failure too.
fn run(input: &Input, also_in_other_ways: bool) -> Result<bool, String> {
    let run = || {
        let is_read = input.run()?;
        if also_in_other_ways {
            input.run_in_other_ways()?;
        }
        Ok(is_read)
    };
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        Err(format!("panic: {}", text.unwrap_or_default()))
    })
}

/// An input that reached something new, and how long it took.
struct Kept {
    input: Input,
    took: Duration,
    is_read: bool,
}

/// An input that takes longer is changed less often.
const SLOW: Duration = Duration::from_micros(120);

/// A target, while it runs.
struct Run<'f> {
    target: Target,
    seed: u64,
    folder: &'f Path,
    ran: Ran,
    reached: Reached,
    kept: Vec<Kept>,
}

impl Run<'_> {
    fn once(&mut self, input: Input, is_seed: bool) {
        let also_in_other_ways = is_seed || self.ran.executions.is_multiple_of(IN_OTHER_WAYS);
        coverage::reset();
        let begun = Instant::now();
        let result = run(&input, also_in_other_ways);
        let took = begun.elapsed();
        let is_new = self.reached.add();
        self.ran.executions += 1;
        let is_read = result == Ok(true);
        self.ran.read += u64::from(is_read);
        if let Err(problem) = result {
            self.fail(&input, &problem);
        } else if took > self.ran.slowest {
            // The clock on the wall counts what else the machine does, so only what is slow by itself, twice, is slow.
            let again = processor_time(&input).min(processor_time(&input));
            if again > self.ran.slowest {
                self.ran.slowest = again;
                self.ran.slowest_input = input.to_line();
            }
        }
        if is_new || (is_seed && coverage::places() == 0) {
            self.kept.push(Kept { input, took, is_read });
        }
        self.ran.reached = (self.reached.count(), coverage::places());
    }

    fn fail(&mut self, input: &Input, problem: &str) {
        self.ran.failures += 1;
        if self.ran.failures <= 20 {
            println!("{}: {problem}", self.target.name());
            let name = format!("{}-failure-{}-{}", self.target.name(), self.seed, self.ran.failures);
            let _ = std::fs::write(self.folder.join(name), format!("{}\n{problem}\n", input.to_line()));
        }
    }

    /// An input to change. The latest ones have more to give. What is slow or cannot be read is changed less often.
    fn pick(&self, random: &mut Random) -> &Input {
        let latest = self.kept.len().saturating_sub(self.kept.len() / 5 + 1);
        let from = if random.one_in(2) { latest } else { 0 };
        let mut tries = 0;
        loop {
            tries += 1;
            let kept = &self.kept[from + random.below(self.kept.len() - from)];
            let is_wanted = (kept.took < SLOW || random.one_in(30)) && (kept.is_read || random.one_in(4));
            if is_wanted || tries > 20 {
                return &kept.input;
            }
        }
    }

    fn progress(&self) -> String {
        let Ran { executions, read, failures, reached: (reached, places), slowest, .. } = &self.ran;
        let (name, kept) = (self.target.name(), self.kept.len());
        format!(
            "{name}: {executions} executions, {read} of them read, {failures} failures, {reached} of {places} places, {kept} inputs kept, slowest {slowest:?}"
        )
    }
}

/// Runs a target for so long, in time of the processor. Failures go to files in `folder`, and so does the corpus, reduced to
/// what reaches most.
pub fn fuzz(target: Target, seed: u64, time: Duration, folder: &Path) -> Ran {
    let mut random = Random::from_seed(seed);
    std::fs::create_dir_all(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let (ran, reached, kept) = (Ran::default(), Reached::default(), Vec::new());
    let mut run = Run { target, seed, folder, ran, reached, kept };
    let begun = cpu_time();
    for input in seeds::of(target).into_iter().chain(corpus(target)) {
        run.once(input, true);
    }
    let mut said = Instant::now();
    while !run.kept.is_empty() && cpu_time().saturating_sub(begun) < time {
        for _ in 0..256 {
            let input = target.change(run.pick(&mut random), run.pick(&mut random), &mut random);
            run.once(input, false);
        }
        if said.elapsed() > Duration::from_secs(20) {
            said = Instant::now();
            println!("{}", run.progress());
        }
    }
    let Run { mut ran, kept, .. } = run;
    ran.kept = kept.len();
    if coverage::places() > 0 {
        let lines = corpus_of(kept.into_iter().map(|kept| kept.input).collect());
        let _ = std::fs::write(folder.join(format!("{}.jsonl", target.name())), lines.join("\n") + "\n");
    }
    let _ = std::fs::write(folder.join(format!("{}-slowest.jsonl", target.name())), &ran.slowest_input);
    ran
}

fn processor_time(input: &Input) -> Duration {
    let begun = cpu_time();
    let _ = run(input, false);
    cpu_time().saturating_sub(begun)
}

/// The lines of as few inputs as still reach every place, short ones first, as far as a corpus may grow.
fn corpus_of(inputs: Vec<Input>) -> Vec<String> {
    let mut lines: Vec<(String, Input)> = inputs.into_iter().map(|input| (input.to_line(), input)).collect();
    lines.sort_by_key(|(line, _)| line.len());
    let mut reached = Reached::default();
    let mut left = LARGEST_CORPUS;
    lines.retain(|(line, input)| {
        let before = reached.count();
        coverage::reset();
        let _ = run(input, true);
        reached.add();
        let fits = reached.count() > before && line.len() < left;
        left -= if fits { line.len() + 1 } else { 0 };
        fits
    });
    lines.into_iter().map(|(line, _)| line).collect()
}
