//! Which places in the code were reached. Only builds with `--cfg counted` and the flags of `make fuzz` count them.

#[cfg(counted)]
mod counters {
    use std::sync::atomic::{AtomicUsize, Ordering};

    static START: AtomicUsize = AtomicUsize::new(0);
    static STOP: AtomicUsize = AtomicUsize::new(0);

    /// Called before `main`, once for each object file, always with the bounds of all counters.
    ///
    /// # Safety
    /// The compiler's own calls pass the bounds of its counters.
    #[unsafe(no_mangle)]
    unsafe extern "C" fn __sanitizer_cov_8bit_counters_init(start: *mut u8, stop: *mut u8) {
        START.store(start as usize, Ordering::Relaxed);
        STOP.store(stop as usize, Ordering::Relaxed);
    }

    #[allow(clippy::mut_from_ref, reason = "the instrumented code writes them all the time")]
    pub fn all() -> &'static mut [u8] {
        let (start, stop) = (START.load(Ordering::Relaxed), STOP.load(Ordering::Relaxed));
        if start == 0 {
            return &mut [];
        }
        // SAFETY: the compiler gave these bounds, of bytes that live as long as the program. One thread runs the engine.
        unsafe { std::slice::from_raw_parts_mut(start as *mut u8, stop - start) }
    }
}

#[cfg(not(counted))]
mod counters {
    pub fn all() -> &'static mut [u8] {
        &mut []
    }
}

/// How many places are counted; 0 in builds without counters.
pub fn places() -> usize {
    counters::all().len()
}

/// Begins to count again.
pub fn reset() {
    counters::all().fill(0);
}

/// Counters that are looked at together.
const TOGETHER: usize = 64;

/// What was reached by everything so far.
#[derive(Debug, Default)]
pub struct Reached {
    /// For each place, how often it was reached by one input: a bit for each range of numbers.
    times: Vec<u8>,
    places: usize,
}

impl Reached {
    /// Adds what was counted since [`reset`], and begins to count again. Whether a place was reached that was not reached
    /// before, or much more often.
    pub fn add(&mut self) -> bool {
        let counters = counters::all();
        self.times.resize(counters.len(), 0);
        let mut is_new = false;
        for (number, counts) in counters.chunks_mut(TOGETHER).enumerate() {
            // Most places are not reached.
            if counts.iter().fold(0, |any, count| any | count) != 0 {
                is_new |= self.add_some(number * TOGETHER, counts);
                counts.fill(0);
            }
        }
        is_new
    }

    fn add_some(&mut self, begin: usize, counts: &[u8]) -> bool {
        let mut is_new = false;
        for (count, times) in counts.iter().zip(&mut self.times[begin..]) {
            // 1, 2, 3, 4–7, 8–15, 16–31, 32–127 and 128–255 times.
            let bit = match count {
                0 => continue,
                1..=3 => count - 1,
                4..=7 => 3,
                8..=15 => 4,
                16..=31 => 5,
                32..=127 => 6,
                128..=255 => 7,
            };
            self.places += usize::from(*times == 0);
            is_new |= *times & (1 << bit) == 0;
            *times |= 1 << bit;
        }
        is_new
    }

    /// How many places were reached at all.
    pub fn count(&self) -> usize {
        self.places
    }
}
