//! A search for slow requests, by hill climbing over the numbers that a request is made of.
//!
//! A request is as slow as the time that it takes to judge it, apart from reading its JSON. Only the time of the processor counts.

use std::time::{Duration, Instant};

use placement_guard::kubernetes::field::{self, Field};
use placement_guard::kubernetes::request::Request;
use placement_guard::rules::cluster::NoCluster;
use placement_guard::rules::{judge_counted, read_settings};
use testkit::shapes::{Shape, documents};

use crate::random::Random;

/// The largest request: etcd keeps no larger object.
const LARGEST_REQUEST: usize = 1_500_000;
const LARGEST_SETTINGS: usize = 500_000;

/// What a request costs.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cost {
    pub time: Duration,
    pub steps: u64,
    pub bytes: usize,
}

impl Cost {
    /// Nanoseconds of a step.
    pub fn of_step(&self) -> f64 {
        self.time.as_nanos() as f64 / self.steps.max(1) as f64
    }
}

/// The time that this thread has run.
pub fn cpu_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is valid, and of the type that the function writes.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) } != 0;
    assert!(!failed, "the system has no clock for threads");
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Judges a request of this shape. `None` when it is larger than an API server takes, or when its settings cannot be used.
pub fn cost(rule: &str, shape: &Shape) -> Option<Cost> {
    let (settings, request) = documents(rule, shape);
    let (settings, request) = (settings.to_string(), request.to_string());
    let bytes = request.len();
    if bytes > LARGEST_REQUEST || settings.len() > LARGEST_SETTINGS {
        return None;
    }
    let (settings, request) = (field::parse(settings.as_bytes()).ok()?, field::parse(request.as_bytes()).ok()?);
    let request = Field::root("", &request);
    let once = || {
        let begun = cpu_time();
        let settings = read_settings(&Field::root("settings", &settings)).ok()?;
        let (_, steps) = judge_counted(&settings, &Request::read(&request).ok()?, &NoCluster);
        Some(Cost { time: cpu_time().saturating_sub(begun), steps, bytes })
    };
    let (first, second) = (once()?, once()?);
    Some(if first.time < second.time { first } else { second })
}

/// Searches for so long, and returns the slowest shape. `say` hears of each slower one.
pub fn search(rule: &str, seed: u64, time: Duration, say: impl Fn(&Shape, &Cost)) -> (Shape, Cost) {
    let mut random = Random::from_seed(seed);
    let begun = Instant::now();
    let mut best: (Shape, Cost) = Default::default();
    let (mut here, mut in_vain): ((Shape, Cost), u32) = (Default::default(), 0);
    while begun.elapsed() < time {
        let next = if in_vain > 150 || here.1.bytes == 0 { anywhere(&mut random) } else { near(&here.0, &mut random) };
        let restarts = in_vain > 150;
        let Some(cost) = cost(rule, &next) else { continue };
        in_vain += 1;
        if restarts || cost.time > here.1.time {
            here = (next, cost);
            in_vain = 0;
        }
        if cost.time > best.1.time {
            best = (next, cost);
            say(&best.0, &best.1);
        }
    }
    best
}

fn anywhere(random: &mut Random) -> Shape {
    // As many small numbers as large ones.
    std::array::from_fn(|_| (random.number() as u16) >> random.below(16))
}

fn near(shape: &Shape, random: &mut Random) -> Shape {
    let mut next = *shape;
    for _ in 0..1 + random.below(3) {
        let number = &mut next[random.below(shape.len())];
        *number = match random.below(6) {
            0 => number.saturating_mul(2),
            1 => *number / 2,
            2 => number.saturating_add(1),
            3 => number.saturating_sub(1),
            4 => number.saturating_add(*number / 4),
            _ => (random.number() as u16) >> random.below(16),
        };
    }
    next
}
